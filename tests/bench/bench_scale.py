"""Measures where one machine stops serving: a growing vault, from taking it up to searching it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import psutil
from bench_search import ask, made_questions
from made_vault import make_vault
from rich.console import Console
from rich.table import Table

from daemon_process import Daemon, daemon

SIZES = tuple(int(n) for n in os.environ.get("NEURIGRAPH_SCALE", "10000 50000").split())
"""Memories; each has a transcript of 4 KB, which makes about seven passages."""


def run(data: Path | None) -> None:
    """Measure and print."""
    table = Table("", *(f"{size:,} memories" for size in SIZES), box=None, padding=(0, 3, 0, 0))
    columns = [measure(size) for size in SIZES]
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)


def measure(size: int) -> dict[str, str]:
    """What a vault of this many memories costs."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        vault, state = Path(place) / "vault", Path(place) / "state"
        make_vault(vault, [(size, 4_000)])
        began = time.perf_counter()
        with daemon(vault, state) as running:
            _wait(running, "keyword_behind", ready=True)
            found["keywords searchable"] = f"{time.perf_counter() - began:.0f} s"
            _wait(running, "vector_behind")
            found["vectors too"] = f"{time.perf_counter() - began:.0f} s"
            questions = made_questions()
            ask(running, questions[:20])
            times = sorted(ask(running, questions))
            found["a search, half / 95 of 100 within"] = (
                f"{times[len(times) // 2] * 1000:.0f} / "
                f"{times[int(len(times) * 0.95)] * 1000:.0f} ms"
            )
            found |= _memory(running)
            files = [p for p in state.rglob("*") if p.is_file()]
            found["indexes on disk"] = f"{sum(p.stat().st_size for p in files) / 1e6:,.0f} MB"
            print(found, flush=True)
        began = time.perf_counter()
        with daemon(vault, state) as running:
            _wait(running, "keyword_behind", ready=True)
            found["ready after a restart"] = f"{time.perf_counter() - began:.1f} s"
            print(found, flush=True)
    return found


def _wait(running: Daemon, behind: str, *, ready: bool = False) -> None:
    while True:
        status = running.get("/api/status")
        if not status["index"][behind] and (not ready or status["state"] == "ready"):
            return
        time.sleep(0.2)


def _memory(running: Daemon) -> dict[str, str]:
    process = psutil.Process(running.process.pid)
    own = process.memory_info().rss
    others = sum(child.memory_info().rss for child in process.children(recursive=True))
    return {
        "memory of the daemon": f"{own / 1e6:,.0f} MB",
        "memory of the vectors' worker": f"{others / 1e6:,.0f} MB",
    }
