"""A real vault through a real daemon: how long until it is searchable, and what it costs.

The vault is `obsidian-hub.tar.gz` in the folder that is handed in, or one that is made up.
"""

from __future__ import annotations

import hashlib
import os
import random
import statistics
import tarfile
import tempfile
import threading
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from daemon_process import Daemon, daemon

EDITS = 40


def run(data: Path | None) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        vault = make_vault(Path(place), data)
        before = picture(vault)
        table = Table("what", "measured", "must be", box=None, padding=(0, 3, 0, 0))
        table.add_row("notes", f"{len([p for p in before if p.endswith('.md')]):,}", "")
        state = Path(place) / "state"
        first_start(vault, state, table)
        restart(vault, state, table)
        edits(vault, state, table)
        after = picture(vault)
        changed = [p for p in before if before[p] != after.get(p)]
        table.add_row("files changed by a byte", str(len(changed)), "0")
        Console().print(table)


def make_vault(place: Path, data: Path | None) -> Path:
    """Unpack the real vault, or make one up."""
    archive = next(data.rglob("obsidian-hub.tar.gz"), None) if data else None
    if archive is not None:
        with tarfile.open(archive) as tar:
            tar.extractall(place, filter="data")
        return next(p for p in place.iterdir() if p.is_dir())
    vault = place / "vault"
    words = [f"word{i}" for i in range(5000)]
    chance = random.Random(1)
    for number in range(2000):
        folder = vault / f"Topic {number % 9}" / f"Part {number % 31}"
        folder.mkdir(parents=True, exist_ok=True)
        text = " ".join(chance.choices(words, k=350))
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")
    return vault


def picture(vault: Path) -> dict[str, str]:
    """The hash of every file."""
    return {
        str(p.relative_to(vault)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in vault.rglob("*")
        if p.is_file()
    }


class PeakMemory:
    """The most that the daemon and its workers together hold, PSS in MB."""

    def __init__(self, running: Daemon) -> None:
        self.peak, self._running, self._end = 0.0, running, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._end.wait(0.3):
            try:
                main = psutil.Process(self._running.process.pid)
                family = [main, *main.children(recursive=True)]
                total = sum(p.memory_full_info().pss for p in family) / 1e6
            except psutil.Error:
                continue
            self.peak = max(self.peak, total)

    def stop(self) -> float:
        self._end.set()
        self._thread.join()
        return self.peak


def first_start(vault: Path, state: Path, table: Table) -> None:
    """From nothing to everything searchable."""
    began = time.perf_counter()
    with daemon(vault, state) as running:
        memory = PeakMemory(running)
        table.add_row("first answer", f"{time.perf_counter() - began:.2f} s", "1 s")
        while running.get("/api/status")["state"] != "ready":
            time.sleep(0.05)
        table.add_row("keywords searchable", f"{time.perf_counter() - began:.1f} s", "60 s (15)")
        while running.get("/api/status")["index"]["vector_behind"]:
            time.sleep(0.1)
        table.add_row("everything searchable", f"{time.perf_counter() - began:.1f} s", "90 s (45)")
        running.search("obsidian plugin")
        table.add_row("peak memory, PSS", f"{memory.stop():.0f} MB", "600 MB")


def restart(vault: Path, state: Path, table: Table) -> None:
    """With nothing changed."""
    began = time.perf_counter()
    with daemon(vault, state) as running:
        answered = None
        while answered is None:
            if running.http.get("/api/search", params={"q": "obsidian"}).status_code == 200:
                answered = time.perf_counter() - began
        table.add_row("restart: keyword search answers", f"{answered:.2f} s", "2 s")
        while True:
            status = running.get("/api/status")
            if status["state"] == "ready" and status["embedder"]["ready"]:
                break
            time.sleep(0.02)
        assert not status["index"]["vector_behind"]
        table.add_row("restart: everything", f"{time.perf_counter() - began:.2f} s", "6 s")


def edits(vault: Path, state: Path, table: Table) -> None:
    """From an editor's save until the answer has the new word; the notes are put back."""
    chance = random.Random(2)
    found = (p for p in sorted(vault.rglob("*.md")) if "/." not in p.as_posix())
    notes = [p for p in found if p.stat().st_size < 1_000_000]
    waits, searches = [], []
    with daemon(vault, state) as running:
        running.ready()
        for number in range(EDITS):
            note = chance.choice(notes)
            original, stamp = note.read_bytes(), note.stat()
            word = f"zebra{number}quagga"
            began = time.perf_counter()
            note.write_bytes(original + f"\n{word}\n".encode())
            while not finds(running, word, note):
                time.sleep(0.01)
            waits.append(time.perf_counter() - began)
            note.write_bytes(original)
            os.utime(note, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            while finds(running, word, note):
                time.sleep(0.01)
        for word in ("plugin settings", "how to theme", "zettelkasten", "daily notes template"):
            for _ in range(20):
                began = time.perf_counter()
                running.search(word)
                searches.append((time.perf_counter() - began) * 1000)
    table.add_row("edit to answer, p95", f"{percentile(waits, 95):.2f} s", "1 s (0.5)")
    table.add_row(
        "search, p50 and p95",
        f"{statistics.median(searches):.1f} and {percentile(searches, 95):.1f} ms",
        "",
    )


def finds(running: Daemon, word: str, note: Path) -> bool:
    """Whether the note is among the answers; others may be near it in meaning."""
    hits = running.search(word)
    return any(note.as_posix().endswith(f"/{hit['path']}") for hit in hits)


def percentile(values: list[float], which: int) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(which / 100 * len(ordered)))]
