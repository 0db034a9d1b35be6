"""The vector index on a real Chroma server on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neurigraph.errors import NotReady
from neurigraph.index.vector import PassageText, VectorIndex


def note(*texts: str) -> list[PassageText]:
    return [PassageText(n, n + 1, text, "note") for n, text in enumerate(texts)]


class Server:
    """A `chroma run` of the test's own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self.start()

    def start(self) -> None:
        command = shutil.which("chroma", path=str(Path(sys.executable).parent))
        assert command is not None
        self.process = subprocess.Popen(
            [command, "run", "--path", str(self._folder), "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
        )
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()


def test_a_server_holds_the_vectors_of_two_vaults_apart(server: Server, tmp_path: Path) -> None:
    indexes = [
        VectorIndex(tmp_path / name, embedder="hash", chroma_url=server.url) for name in "ab"
    ]
    for index in indexes:
        index.start()
    # fifty equal vectors would make islands in the server's approximate graph
    indexes[0].put({f"m-{n}": note(f"word{n}", f"shared by{n}") for n in range(50)})
    indexes[0].put({"m-1": note("changed")})
    indexes[0].delete(["m-2"])
    indexes[1].put({"m-other": note("word7")})
    first, second = indexes
    assert first.search("word7", 1)[0].id == "m-7"
    assert {m.id for m in first.search("shared", 5, ["m-9", "m-8"])} == {"m-8", "m-9"}
    assert first.best("word4", ["m-4", "m-5"])["m-4"].score == pytest.approx(1, abs=1e-4)
    assert len(first.contents()) == 49
    assert second.contents() == {"m-other": 1}
    generation = first.generation
    assert not (tmp_path / "a" / "chroma" / "chroma.sqlite3").exists()
    first.close()
    second.close()

    again = VectorIndex(tmp_path / "a", embedder="hash", chroma_url=server.url)
    again.start()
    assert again.wait_ready(60)
    assert again.generation == generation
    assert len(again.contents()) == 49
    again.close()


def test_a_server_that_is_away_is_a_problem_until_it_is_back(
    server: Server, tmp_path: Path
) -> None:
    index = VectorIndex(tmp_path / "c", embedder="hash", chroma_url=server.url)
    index.start()
    index.put({"m-1": note("alpha")})
    index.close()
    server.stop()

    index = VectorIndex(tmp_path / "c", embedder="hash", chroma_url=server.url)
    index.start()
    until = time.monotonic() + 30
    while not index.state()["problem"] and time.monotonic() < until:
        index.wait_ready(0.05)
    assert server.url in index.state()["problem"]
    with pytest.raises(NotReady):
        index.search("alpha", 1)
    server.start()
    assert index.wait_ready(60)
    assert index.state()["problem"] == ""
    assert index.search("alpha", 1)[0].id == "m-1"

    server.stop()
    server.start()  # it went away and came back while nobody asked
    assert index.search("alpha", 1)[0].id == "m-1"
    index.close()
