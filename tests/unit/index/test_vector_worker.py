"""The worker process: killed, damaged, orphaned, cut off from any network."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from neurigraph.index.vector import PassageText, VectorIndex, VectorIndexFailed

DAEMON = str(Path(__file__).resolve().parents[3] / "daemon")


def note(*texts: str) -> list[PassageText]:
    return [PassageText(n, n + 1, text, "note") for n, text in enumerate(texts)]


def kill_worker(index: VectorIndex) -> None:
    """Kill it and wait until the index has noticed."""
    pid = index.state()["pid"]
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while index.state()["pid"] == pid and time.monotonic() < until:
        time.sleep(0.005)


class Listener:
    """Keeps what an index says, and lets a test wait for it."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self._changed = threading.Condition()

    def __call__(self, kind: str, text: str) -> None:
        with self._changed:
            self.said.append((kind, text))
            self._changed.notify_all()

    def wait_for(self, words: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: any(words in t for _, t in self.said), 60)


Opener = Callable[..., VectorIndex]


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Opener]:
    opened: list[VectorIndex] = []

    def open_it(listener: Listener | None = None) -> VectorIndex:
        index = VectorIndex(tmp_path / "vectors", embedder="hash", on_event=listener)
        opened.append(index)
        index.start()
        assert index.wait_ready(60)
        return index

    yield open_it
    for index in opened:
        index.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that holds 200 memories, closed."""
    folder = tmp_path_factory.mktemp("filled") / "vectors"
    index = VectorIndex(folder, embedder="hash")
    index.start()
    index.put({f"m-{n}": note(*(f"word{n} text{i}" for i in range(10))) for n in range(200)})
    index.close()
    return folder


def test_a_killed_worker_is_replaced_and_loses_nothing_acknowledged(open_index: Opener) -> None:
    heard = Listener()
    index = open_index(heard)
    generation = index.generation
    acknowledged: list[str] = []
    failed: list[Exception] = []

    def write() -> None:
        try:
            for n in range(60):
                index.put({f"m-{n}": note(f"word{n}", "more", "and more")})
                acknowledged.append(f"m-{n}")
        except VectorIndexFailed as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(2):
        reached = len(acknowledged) + 5
        while len(acknowledged) < reached and writer.is_alive():
            time.sleep(0.005)
        kill_worker(index)
    writer.join()
    assert failed == []
    assert len(acknowledged) == 60
    assert index.contents() == {f"m-{n}": 3 for n in range(60)}
    assert index.search("word7", 1)[0].id == "m-7"
    assert index.generation == generation
    assert index.state()["restarts"] == 2
    assert len(heard.said) == 1  # that it was empty, at the start


def test_being_killed_again_and_again_never_costs_the_store(open_index: Opener) -> None:
    index = open_index()
    index.put({"m-1": note("alpha")})
    for _ in range(3):
        assert index.wait_ready(60)
        kill_worker(index)
    assert index.wait_ready(60)
    assert index.contents() == {"m-1": 1}


def test_ctrl_c_in_the_terminal_does_not_end_the_worker(open_index: Opener) -> None:
    index = open_index()
    os.kill(index.state()["pid"], signal.SIGINT)
    index.put({"m-1": note("alpha")})
    assert index.search("alpha", 1)[0].id == "m-1"
    assert index.state()["restarts"] == 0


@pytest.mark.parametrize("how", ["no database", "broken graph", "lost graph"])
def test_a_damaged_store_is_set_aside_and_a_fresh_one_begun(
    filled: Path, tmp_path: Path, open_index: Opener, how: str
) -> None:
    folder = tmp_path / "vectors"
    shutil.copytree(filled, folder)
    store = folder / "chroma"
    graph = next(path for path in store.iterdir() if path.is_dir())
    if how == "no database":
        for file in store.glob("chroma.sqlite3*"):
            file.write_bytes(b"this is no database at all" * 1000)
    elif how == "broken graph":
        size = (graph / "data_level0.bin").stat().st_size
        (graph / "data_level0.bin").write_bytes(os.urandom(size))
    else:
        (graph / "index_metadata.pickle").unlink()
    heard = Listener()
    index = open_index(heard)
    (kind, text) = heard.said[0]
    assert kind == "vector_store_replaced"
    (aside,) = folder.glob("chroma.damaged-*")
    assert aside.name in text
    index.put({"m-1": note("alpha")})
    assert index.contents() == {"m-1": 1}
    assert index.state()["problem"] == ""


def test_a_store_removed_under_the_worker_is_begun_anew(tmp_path: Path, open_index: Opener) -> None:
    heard = Listener()
    index = open_index(heard)
    index.put({"m-1": note("alpha")})
    shutil.rmtree(tmp_path / "vectors")
    index.put({"m-2": note("beta")})
    heard.wait_for("holds nothing yet")
    assert len(heard.said) == 2
    assert index.contents() == {"m-2": 1}
    assert (tmp_path / "vectors" / "chroma" / "chroma.sqlite3").exists()


def test_the_worker_ends_with_a_daemon_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from neurigraph.index.vector import PassageText, VectorIndex\n"
        "index = VectorIndex(Path(sys.argv[1]), embedder='hash')\n"
        "index.start()\n"
        "index.wait_ready()\n"
        "print(index.state()['pid'], flush=True)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1\n"
        "    passages = [PassageText(i, i, f'w{n} {i}', 'note') for i in range(50)]\n"
        "    index.put({f'm-{n}': passages})\n"
    )
    daemon = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        env={"PYTHONPATH": DAEMON},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert daemon.stdout is not None
    with daemon.stdout:
        worker = psutil.Process(int(daemon.stdout.readline()))
        assert worker.is_running()
        daemon.kill()
        daemon.wait()
    gone, alive = psutil.wait_procs([worker], timeout=20)
    assert (len(gone), alive) == (1, [])


def test_the_worker_reaches_for_no_network_and_loads_nothing_it_does_not_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python reads this file at its start, so it sees every look at the network of the worker
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "OUT = os.environ['AUDIT_FILE']\n"
        "def hook(event, args):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'):\n"
        "        open(OUT, 'a').write(f'{event} {args}\\n')\n"
        "    if event == 'import' and args[0] in ('onnxruntime', 'kubernetes', 'posthog'):\n"
        "        open(OUT, 'a').write(f'import {args[0]}\\n')\n"
        "sys.addaudithook(hook)\n"
        "open(OUT, 'a').write('hooked\\n')\n"
    )
    seen = tmp_path / "seen"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("AUDIT_FILE", str(seen))
    # whatever a person's shell says about Chroma is not for us
    monkeypatch.setenv("CHROMA_SERVER_HOST", "example.org")
    index = VectorIndex(tmp_path / "vectors", embedder="wordllama")
    index.start()
    index.put({"m-1": note("alpha", "beta")})
    assert index.search("alpha", 1)[0].id == "m-1"
    process = psutil.Process(index.state()["pid"])
    assert not process.net_connections("inet")
    environ = process.environ()
    assert environ["ORT_DISABLE_TELEMETRY"] == "1"
    index.close()
    assert seen.read_text() == "hooked\n"


def test_the_worker_is_smaller_than_it_may_be(open_index: Opener) -> None:
    index = open_index()
    index.put({"m-1": note("alpha")})
    used = psutil.Process(index.state()["pid"]).memory_full_info().pss
    assert used < 250e6
