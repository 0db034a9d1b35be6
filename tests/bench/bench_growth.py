"""How it grows: 1,000, 10,000 and 50,000 memories of five kilobytes through a real daemon.

`GROWTH` in the environment names other sizes, as in `GROWTH=1000,10000`.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from bench_vault import PeakMemory, percentile
from rich.console import Console
from rich.table import Table

from daemon_process import Daemon, daemon
from load.harness import family_mb, patient
from load.made import WORDS, make_vault

SIZES = (1_000, 10_000, 50_000)
BYTES = 5_000
SEARCHES = 200
AGREED = {"NEURIGRAPH_TEMPERATURE_AGREED": "true", "NEURIGRAPH_VAULT_SETTLE_SECONDS": "0"}


def run(data: Path | None) -> None:
    """Measure and print, a column a size."""
    named = os.environ.get("GROWTH", "")
    sizes = [int(n) for n in named.split(",")] if named else list(SIZES)
    rows: dict[str, list[str]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as place, patient():
            for what, figure in measure(Path(place), size).items():
                rows.setdefault(what, []).append(figure)
    table = Table("", *(f"{n:,}" for n in sizes), box=None, padding=(0, 3, 0, 0))
    for what, figures in rows.items():
        table.add_row(what, *figures)
    Console().print(table)


def measure(place: Path, size: int) -> dict[str, str]:
    """The figures of one size."""
    vault, state = place / "vault", place / "state"
    make_vault(vault, size, size=BYTES)
    found: dict[str, str] = {}
    began = time.perf_counter()
    with daemon(vault, state, **AGREED) as running:
        peak = PeakMemory(running)
        running.ready(vectors=False)
        found["keywords searchable"] = f"{time.perf_counter() - began:.1f} s"
        running.ready()
        found["everything searchable"] = f"{time.perf_counter() - began:.1f} s"
        found["memory at most while indexing"] = f"{peak.stop():.0f} MB"
    began = time.perf_counter()
    with daemon(vault, state, **AGREED) as running:
        running.until(lambda: answers(running), "an answer")
        found["restart to first answer"] = f"{time.perf_counter() - began:.2f} s"
        running.ready()
        found["restart to all"] = f"{time.perf_counter() - began:.2f} s"
        times = [searched(running, number) for number in range(SEARCHES)]
        found["search p50"] = f"{statistics.median(times):.1f} ms"
        found["search p95"] = f"{percentile(times, 95):.1f} ms"
        found["memory, PSS"] = f"{family_mb(running):.0f} MB"
        found["vault on disk"] = f"{megabytes(vault):.0f} MB"
        found["state on disk"] = f"{megabytes(state):.0f} MB"
        began = time.perf_counter()
        running.http.post("/api/temperature/maintenance", params={"agree": "true"})
        running.until(lambda: running.get("/api/jobs/cool")["state"] == "done", "the cycle")
        job = running.get("/api/jobs/cool")["result"]
        took = time.perf_counter() - began
        found["cooling cycle"] = f"{took:.1f} s for {job['compressed']:,}"
        found["vault on disk, cooled"] = f"{megabytes(vault):.0f} MB"
    return found


def answers(running: Daemon) -> bool:
    """Whether a search is answered yet."""
    return running.http.get("/api/search", params={"q": WORDS[0]}).status_code == 200


def searched(running: Daemon, number: int) -> float:
    """Milliseconds that a search of two words takes over REST."""
    query = f"{WORDS[number * 7 % len(WORDS)]} {WORDS[number * 13 % len(WORDS)]}"
    began = time.perf_counter()
    running.search(query)
    return (time.perf_counter() - began) * 1000


def megabytes(folder: Path) -> float:
    """What the files in a folder hold."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6
