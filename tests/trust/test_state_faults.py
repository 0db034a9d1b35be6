"""What is derived from the vault is damaged, deleted or starved: it is said and comes back."""

from __future__ import annotations

import random
import resource
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon_process import Daemon, daemon
from faults.ledger import TOPICS, Ledger, conversation
from faults.rounds import diagnosis

WORDS = ("quince", "medlar", "damson", "bullace", "sorb", "loquat")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Ledger]:
    """A vault and its state, with vectors, that each test gets a copy of."""
    place = tmp_path_factory.mktemp("made")
    vault, ledger = place / "vault", Ledger()
    (vault / "Diary").mkdir(parents=True)
    (vault / "Diary" / "sea.md").write_text("A walk by the sea with a pelican.\n", "utf-8")
    with daemon(vault, place / "state") as running:
        running.ready(vectors=False)
        for number, word in enumerate(WORDS):
            assert ledger.save(running.http, conversation(word), TOPICS[number % len(TOPICS)])
        running.ready()
    return vault, place / "state", ledger


@pytest.fixture
def trial(made: tuple[Path, Path, Ledger], tmp_path: Path) -> tuple[Path, Path, Ledger]:
    """The same vault at the same place (its state is keyed by it), and the state as it was."""
    vault, state, ledger = made
    copied = tmp_path / "state"
    shutil.copytree(state, copied, symlinks=True)
    return vault, copied, ledger


def everything_is_back(running: Daemon, ledger: Ledger, *notices: str) -> None:
    """The damage was said, and all is served as before."""
    running.ready()
    said = " ".join(running.get("/api/status")["notices"])
    assert [n for n in notices if n not in said] == [], said
    assert not ledger.faults_in(running)
    assert running.search("pelican")
    assert not diagnosis(running)


def inside(state: Path) -> Path:
    """The one state directory that there is."""
    return next(p.parent for p in state.glob("*/catalog.sqlite"))


def overwrite(path: Path, at: float, data: bytes) -> None:
    """Put bytes over others, `at` a share of the file."""
    with path.open("r+b") as file:
        file.seek(int(path.stat().st_size * at))
        file.write(data)


def chroma(state: Path) -> list[Path]:
    """All files of the vector store; the newest pages of its database may be in the log beside."""
    return [p for p in (state / "vectors" / "chroma").rglob("*") if p.is_file()]


def segments(folder: Path) -> list[Path]:
    """The largest files of the full-text index, which hold the documents."""
    files = [p for p in folder.iterdir() if p.suffix not in (".lock", ".toc") and p.is_file()]
    return sorted(files, key=lambda p: -p.stat().st_size)


NOISE = random.Random(1).randbytes(4096)
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "segment overwritten": (
        lambda s: overwrite(segments(s / "keyword")[0], 0.3, NOISE),
        "full-text index was damaged",
    ),
    "segment cut short": (
        lambda s: _truncate(segments(s / "keyword")[0]),
        "full-text index was damaged",
    ),
    "segment gone": (lambda s: segments(s / "keyword")[0].unlink(), "full-text index was damaged"),
    "catalog overwritten": (
        lambda s: overwrite(s / "catalog.sqlite", 0.0, NOISE),
        "catalog was damaged",
    ),
    "catalog cut short": (lambda s: _truncate(s / "catalog.sqlite"), "catalog was damaged"),
    "vector store overwritten": (
        lambda s: [overwrite(p, 0.0, NOISE) for p in chroma(s)],
        "vector store",
    ),
    "vector store cut short": (
        # what is left may be an older state of it, which is whole: what is missing is fed again
        lambda s: [_truncate(p) for p in chroma(s)],
        "",
    ),
    "access log overwritten": (lambda s: overwrite(s / "access.sqlite", 0.0, NOISE), "access"),
}


def _truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 3)


@pytest.mark.parametrize("way", ["overwritten", "cut short", "gone"])
def test_damaged_indexes_are_set_aside_rebuilt_and_said(
    trial: tuple[Path, Path, Ledger], way: str
) -> None:
    vault, state, ledger = trial
    chosen = [d for d in DAMAGES if d.endswith(way)]
    for damage in chosen:
        DAMAGES[damage][0](inside(state))
    with daemon(vault, state) as running:
        running.ready()
        everything_is_back(running, ledger, *(DAMAGES[d][1] for d in chosen))


@pytest.mark.parametrize("way", ["overwritten", "cut short"])
def test_damage_while_the_daemon_runs_is_survived(
    trial: tuple[Path, Path, Ledger], way: str
) -> None:
    vault, state, made = trial
    ledger = Ledger(dict(made.acknowledged))
    name = f"rowan{way[:3]}"
    with daemon(vault, state) as running:
        running.ready()
        for damage in (d for d in DAMAGES if d.endswith(way) and "access" not in d):
            DAMAGES[damage][0](inside(state))
        for _ in range(3):
            running.http.get("/api/search", params={"q": "quince patience"})
        memory_id = ledger.save(running.http, conversation(name))
        assert memory_id, ledger.refusals
        assert not ledger.faults_on_disk(vault)
        running.until(lambda: running.search(name), f"finding {name}")
    with daemon(vault, state) as running:
        running.ready()
        assert not ledger.faults_in(running)
        assert not diagnosis(running)
        forget(running, memory_id)


def forget(running: Daemon, memory_id: str) -> None:
    """Take back what a test saved into the vault that the others share."""
    gone = running.http.delete(f"/api/memory/chunk/{memory_id}", headers={"If-Match": "*"})
    gone.raise_for_status()


def test_a_state_directory_that_is_deleted_while_running_is_made_anew(
    trial: tuple[Path, Path, Ledger],
) -> None:
    vault, state, made = trial
    ledger = Ledger(dict(made.acknowledged))
    with daemon(vault, state) as running:
        running.ready()
        shutil.rmtree(inside(state))
        memory_id = ledger.save(running.http, conversation("whitebeam"))
        assert memory_id, ledger.refusals
        assert not ledger.faults_on_disk(vault)
        running.until(lambda: running.get("/api/status")["notices"], "a notice")
        everything_is_back(running, ledger, "state directory")
        assert running.cli_json("status")["state"] == "ready"
        forget(running, memory_id)


@pytest.fixture
def crowd() -> Iterator[list[socket.socket]]:
    """Connections that take the daemon's file handles, closed at the end."""
    sockets: list[socket.socket] = []
    yield sockets
    for one in sockets:
        one.close()


def test_when_file_handles_run_out_it_is_said_and_over_when_there_are_some_again(
    trial: tuple[Path, Path, Ledger], crowd: list[socket.socket]
) -> None:
    vault, state, made = trial
    ledger = Ledger(dict(made.acknowledged))
    with daemon(vault, state) as running:
        running.ready()
        host, port = running.address.removeprefix("http://").split(":")
        _, hard = resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE)
        open_now = len(list(Path(f"/proc/{running.process.pid}/fd").iterdir()))
        resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (open_now + 8, hard))
        try:
            crowd += [socket.create_connection((host, int(port)), timeout=5) for _ in range(20)]
            saved = ledger.save(running.http, conversation("spindle"))
            assert saved or all("503" in r and "\n" not in r for r in ledger.refusals)
            assert not ledger.faults_on_disk(vault)
            for one in crowd:
                one.close()
            running.until(lambda: running.search("quince"), "serving again")
            ledger.again(running.http)
        finally:
            resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
        saved = saved or ledger.save(running.http, conversation("spindle"))
        running.ready()
        assert not ledger.faults_in(running)
        assert not diagnosis(running)
        forget(running, saved)
