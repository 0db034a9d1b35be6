"""Measures sync: two machines, a thousand changed notes, three hundred changed on both."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from daemon_process import Daemon, daemon
from sync_machines import git

NOTES, BOTH = 1_000, 300
PARAGRAPH = (
    "Words of a note about many things, among them number {0} and what follows from {0}.\n\n"
)


def run(data: Path | None) -> dict[str, float]:
    """Measure and print; answers seconds by name."""
    with tempfile.TemporaryDirectory() as folder:
        return _measure(Path(folder))


def _measure(folder: Path) -> dict[str, float]:
    remote = folder / "remote.git"
    git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
    vaults = [folder / name for name in ("laptop", "desktop")]
    for vault in vaults:
        vault.mkdir()
    _write(vaults[0], NOTES)
    quiet = {"NEURIGRAPH_VAULT_SETTLE_SECONDS": "0"}
    found: dict[str, float] = {}
    with (
        daemon(vaults[0], folder / "s1", **quiet) as here,
        daemon(vaults[1], folder / "s2", **quiet) as there,
    ):
        here.ready(vectors=False)
        there.ready(vectors=False)
        _order(here, init=True, remote=str(remote))
        found["first sync of 1,000 notes, sent"] = _timed(lambda: _order(here))
        started = time.perf_counter()
        _order(there, init=True, remote=str(remote))
        _until_found(there, "number 999")
        found["and received, searchable"] = time.perf_counter() - started
        for daemon_ in (here, there):
            daemon_.ready()

        _change(vaults[0], range(NOTES), "zebra")
        here.until(lambda: here.search("zebra999"), "the edit here")
        started = time.perf_counter()
        _order(here)
        _order(there)
        _until_found(there, "zebra999")
        found["1,000 changed notes, from here to there, searchable"] = time.perf_counter() - started
        for daemon_ in (here, there):
            daemon_.ready()

        _change(vaults[0], range(BOTH), "giraffe")
        _change(vaults[1], range(BOTH), "lion", at_end=True)
        here.until(lambda: here.search(f"giraffe{BOTH - 1}"), "the edit here")
        there.until(lambda: there.search(f"lion{BOTH - 1}"), "the edit there")
        _order(here)
        started = time.perf_counter()
        report = _order(there)
        found["300 notes changed on both sides, merged and pushed"] = time.perf_counter() - started
        assert report["merged"] == BOTH, report
        assert not report["kept_twice"]
        text = (vaults[1] / _path(7)).read_text("utf-8")
        assert "giraffe7" in text
        assert "lion7" in text
    for name, seconds in found.items():
        print(f"{name:<55} {seconds:7.2f} s")
    return found


def _path(number: int) -> str:
    return f"Area {number % 10}/Topic {number % 40}/2026-11-{number % 28 + 1:02} note {number}.md"


def _write(vault: Path, count: int) -> None:
    for number in range(count):
        path = vault / _path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        body = PARAGRAPH.format(number) * 12
        path.write_text(
            f"---\ntags:\n  - t{number % 7}\ncreated: 2026-11-01\n---\n# Note {number}\n\n{body}",
            "utf-8",
        )


def _change(vault: Path, numbers: range, word: str, *, at_end: bool = False) -> None:
    for number in numbers:
        path = vault / _path(number)
        text = path.read_text("utf-8")
        tags = f"tags:\n  - {word}\n"
        if at_end:
            text = f"{text}Then {word}{number} came.\n"
        else:
            text = text.replace("\n\nWords", f"\n\n{word}{number} was first.\n\nWords", 1)
        path.write_text(text.replace("tags:\n", tags, 1), "utf-8")


def _order(running: Daemon, **order: Any) -> dict[str, Any]:
    """Sync now, and the report of it."""
    answer = running.http.post("/api/sync", json=order)
    assert answer.status_code == 202, answer.text
    while True:
        job: dict[str, Any] = running.get("/api/jobs/sync")
        if job["state"] == "failed":
            raise AssertionError(job["error"])
        if job["state"] == "done":
            result: dict[str, Any] = job["result"]
            return result
        time.sleep(0.05)


def _until_found(running: Daemon, query: str) -> None:
    running.until(lambda: running.search(query), query)


def _timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
