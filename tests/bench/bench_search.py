"""Searching 10,000 memories of 5 KB and 200 transcripts of 190 KB over REST, snippets included."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path

from made_vault import Writer, make_vault
from rich.console import Console
from rich.table import Table

from daemon_process import Daemon, daemon

MEMORIES, LONG = 10_000, 200
ASKED = 300


def run(data: Path | None, memories: int = MEMORIES, long: int = LONG) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        vault = Path(place) / "vault"
        print("making the vault", flush=True)
        make_vault(vault, [(memories, 5_000), (long, 190_000)])
        table = Table("what", "measured", "must be", box=None, padding=(0, 3, 0, 0))
        with daemon(vault, Path(place) / "state") as running:
            began = time.perf_counter()
            while running.get("/api/status")["state"] != "ready":
                time.sleep(0.1)
            table.add_row("keywords searchable", f"{time.perf_counter() - began:.1f} s", "")
            while running.get("/api/status")["index"]["vector_behind"]:
                time.sleep(0.2)
            table.add_row("everything searchable", f"{time.perf_counter() - began:.1f} s", "")
            questions = made_questions()
            for question in questions[:20]:
                running.search(question)
            table.add_row("search, idle, p50 / p95", spread(ask(running, questions)), "12 / 30 ms")
            table.add_row(
                "the same, while saves arrive",
                spread(while_saving(running, questions)),
                "– / 60 ms",
            )
        Console().print(table)


def made_questions() -> list[str]:
    """Questions of two to seven words, rare and frequent ones mixed."""
    writer = Writer(1)
    asker = Writer(9)
    lengths = [2, 3, 4, 5, 7]
    return [
        " ".join(w if w in writer.words else writer.words[0] for w in asker.some(lengths[i % 5]))
        if i % 2
        else " ".join(writer.some(lengths[i % 5]))
        for i in range(ASKED)
    ]


def ask(running: Daemon, questions: list[str]) -> list[float]:
    """Seconds that each question took, as a client sees it."""
    times = []
    for question in questions:
        began = time.perf_counter()
        running.search(question)
        times.append(time.perf_counter() - began)
    return times


def while_saving(running: Daemon, questions: list[str]) -> list[float]:
    """The same while a conversation is saved every second."""
    writer, end = Writer(3), threading.Event()

    def save() -> None:
        while not end.wait(1.0):
            answer = running.http.post("/api/memory", json={"transcript": writer.talk(20_000)})
            assert answer.status_code == 201, answer.text

    thread = threading.Thread(target=save)
    thread.start()
    try:
        times: list[float] = []
        began = time.perf_counter()
        while time.perf_counter() - began < 20:
            times += ask(running, questions[len(times) % 200 :][:20])
            time.sleep(0.1)
        return times
    finally:
        end.set()
        thread.join()


def spread(times: list[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    ordered = sorted(times)
    tail = ordered[round(0.95 * (len(ordered) - 1))]
    return f"{statistics.median(ordered) * 1000:.1f} / {tail * 1000:.1f} ms"
