"""An export of 2,000 conversations through a real daemon: time, memory, answers meanwhile.

The export is made up (100 MB of JSON, half of it text), or `import.zip` in the folder handed in.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx
import psutil
from bench_vault import PeakMemory, percentile
from make_export import make_export
from rich.console import Console
from rich.table import Table

from daemon_process import Daemon, daemon

CONVERSATIONS, MEGABYTES = 2_000, 100


def run(data: Path | None) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        export = next(data.rglob("import.zip"), None) if data else None
        if export is None:
            export = Path(place) / "export.zip"
            make_export(export, CONVERSATIONS, MEGABYTES)
        vault = Path(place) / "vault"
        vault.mkdir()
        table = Table("what", "measured", "must be", box=None, padding=(0, 3, 0, 0))
        with daemon(vault, Path(place) / "state") as running:
            running.ready()
            first(running, export, table)
            again(running, export, table)
        Console().print(table)


def first(running: Daemon, export: Path, table: Table) -> None:
    """From the request until everything is searchable, with somebody asking all the while."""
    memory, asking = PeakMemory(running), Asking(running)
    processor = Processor(running)
    began = time.perf_counter()
    counts = import_and_wait(running, export)
    table.add_row("imported", f"{counts['imported']:,}, {counts['failed']} failed", "all")
    table.add_row("on disk", f"{time.perf_counter() - began:.1f} s", "60 s")
    table.add_row("processor time until then", f"{processor.seconds():.0f} s", "")
    while any(running.get("/api/status")["index"].values()):
        time.sleep(0.1)
    table.add_row("searchable, meaning too", f"{time.perf_counter() - began:.1f} s", "180 s")
    table.add_row("peak memory, PSS", f"{memory.stop():.0f} MB", "600 MB")
    for what, waits in asking.stop().items():
        shown = f"{statistics.median(waits):.0f}, {percentile(waits, 99):.0f}, {max(waits):.0f} ms"
        table.add_row(f"{what} meanwhile, p50 p99 max", shown, "200 ms")


def again(running: Daemon, export: Path, table: Table) -> None:
    """The same export once more: nothing is to be done."""
    began = time.perf_counter()
    counts = import_and_wait(running, export)
    table.add_row(
        "imported again", f"{time.perf_counter() - began:.1f} s, {counts['unchanged']:,} known", ""
    )


def import_and_wait(running: Daemon, export: Path) -> dict[str, int]:
    """Ask for an import and wait until it is done."""
    answer = running.http.post("/api/import", json={"path": str(export), "topic": "Old/Chats"})
    assert answer.status_code == 202, answer.text
    while (job := running.get("/api/jobs/import"))["state"] == "running":
        time.sleep(0.1)
    counts: dict[str, int] = job["result"]["counts"]
    assert not job["result"]["error"], job["result"]["error"]
    return counts


class Processor:
    """The processor time that the daemon and its workers take, in seconds."""

    def __init__(self, running: Daemon) -> None:
        self._process = psutil.Process(running.process.pid)
        self._before = self._now()

    def _now(self) -> float:
        times = self._process.cpu_times()
        total = times.user + times.system + times.children_user + times.children_system
        for child in self._process.children(recursive=True):
            used = child.cpu_times()
            total += used.user + used.system
        return float(total)

    def seconds(self) -> float:
        """What was used since the beginning."""
        return self._now() - self._before


class Asking:
    """Somebody who asks for status, a list and a search, over and over, and notes the waits."""

    def __init__(self, running: Daemon) -> None:
        self._waits: dict[str, list[float]] = {"status": [], "list": [], "search": []}
        self._end = threading.Event()
        self._address = running.address
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        addresses = {
            "status": "/api/status",
            "list": "/api/memory?per_page=50",
            "search": "/api/search?q=sourdough+crust",
        }
        with httpx.Client(base_url=self._address, timeout=60) as client:
            while not self._end.wait(0.05):
                for what, address in addresses.items():
                    began = time.perf_counter()
                    client.get(address).raise_for_status()
                    self._waits[what].append((time.perf_counter() - began) * 1000)

    def stop(self) -> dict[str, list[float]]:
        """The waits in milliseconds."""
        self._end.set()
        self._thread.join()
        return self._waits
