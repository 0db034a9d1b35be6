"""A model that hangs, a clock that jumps, a process that is killed: saving goes on."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon_process import daemon
from faults.faulty_daemon import PROGRAM
from faults.ledger import Ledger, conversation
from faults.rounds import ACTIVITIES, COLD_AT_ONCE, Trial, diagnosis, killed

NO_VECTORS = {"NEURIGRAPH_INDEX_EMBEDDER": "none"}


@pytest.fixture
def hanging() -> Iterator[str]:
    """A server that takes every connection and never says a word."""
    server = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []

    def take() -> None:
        while True:
            try:
                taken.append(server.accept()[0])
            except OSError:
                return

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    # close() alone does not wake a thread that waits in accept()
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)
    for one in taken:
        one.close()


def test_an_ollama_that_hangs_holds_nothing_up(tmp_path: Path, hanging: str) -> None:
    ledger, vault = Ledger(), tmp_path / "vault"
    vault.mkdir()
    settings = {
        "NEURIGRAPH_INDEX_EMBEDDER": "ollama:nomic-embed-text",
        "NEURIGRAPH_INDEX_OLLAMA_URL": hanging,
        "NEURIGRAPH_SUMMARIZE_PROVIDER": "ollama",
        "NEURIGRAPH_SUMMARIZE_OLLAMA_MODEL": "llama3",
    }
    with daemon(vault, tmp_path / "state", **settings) as running:
        running.ready(vectors=False)
        began = time.monotonic()
        assert ledger.save(running.http, conversation("quince")), ledger.refusals
        assert running.search("quince")
        assert time.monotonic() - began < 20
        assert not ledger.faults_on_disk(vault)
        assert not ledger.faults_in(running)
        began = time.monotonic()
        assert running.stop() == 0
        assert time.monotonic() - began < 25


@pytest.mark.parametrize("jump", [400 * 86_400, -400 * 86_400])
def test_a_clock_that_jumps_compresses_nothing_and_loses_nothing(tmp_path: Path, jump: int) -> None:
    ledger, vault, clock = Ledger(), tmp_path / "vault", tmp_path / "clock"
    vault.mkdir()
    clock.write_text("0", "ascii")
    settings = {**NO_VECTORS, **COLD_AT_ONCE, "FAULT_CLOCK": str(clock)}
    with daemon(vault, tmp_path / "state", PROGRAM, **settings) as running:
        running.ready(vectors=False)
        assert ledger.save(running.http, conversation("quince"))
        clock.write_text(str(jump), "ascii")
        running.http.post("/api/temperature/maintenance").raise_for_status()
        running.until(lambda: running.get("/api/jobs/cool")["state"] == "done", "the cycle")
        assert not list((vault / "_recall").rglob("*.gz"))
        assert ledger.save(running.http, conversation("medlar"))
        clock.write_text("0", "ascii")
        assert ledger.save(running.http, conversation("damson"))
        assert not ledger.faults_on_disk(vault)
        assert not ledger.faults_in(running)
        assert not [d for d in diagnosis(running) if d["path"] in ("full text", "vectors")]


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_a_daemon_that_is_killed_at_work_lost_nothing(tmp_path: Path, activity: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    trial = Trial(vault, tmp_path / "state", seed=len(activity))
    trial.settings.update(NO_VECTORS)
    assert not killed(trial, activity, random.Random(activity))
