"""Cooling beside a bare loop, opening cold and hot, searching an all-cold vault.

10,000 memories of 20 KB, fewer with TEMPERATURE_MEMORIES=n. One Memory in this process, no vectors.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from neurigraph.edits.compose import MemoryDraft, memory_note
from neurigraph.memory import Memory
from neurigraph.settings import Settings

MEMORIES = int(os.environ.get("TEMPERATURE_MEMORIES", "10000"))
BYTES = 20_000
LARGE, LARGE_BYTES = 24, 190_000
CREATED = datetime.now(UTC).replace(microsecond=0) - timedelta(days=100)


def run(_: Path | None) -> None:
    """Measure and print."""
    table = Table("what", "measured", "must be", box=None, padding=(0, 3, 0, 0))
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        writer = Writer(root / "vault")
        for number in range(MEMORIES):
            writer.write(number, BYTES)
        large = [writer.write(MEMORIES + n, LARGE_BYTES) for n in range(LARGE)]
        bare = root / "bare"
        shutil.copytree(root / "vault" / "_recall", bare)
        (root / "state").mkdir()
        settings = Settings.model_validate(
            {"index": {"embedder": "none"}, "temperature": {"agreed": True, "warm_limit": 0}}
        )
        now = [CREATED + timedelta(days=1)]
        memory = Memory(root / "vault", root / "state", settings, lambda: now[0])
        memory.open()
        memory.catch_up()
        memory.wait_warm(600)
        measure(memory, now, bare, large, table)
        memory.close()
    Console().print(table)


def measure(
    memory: Memory, now: list[datetime], bare: Path, large: list[str], table: Table
) -> None:
    """All figures, in the order in which a vault ages."""
    queries = make_queries()
    hot_hits, hot_ms = searched(memory, queries)
    hot_open = [opened(memory, i) for i in large for _ in range(3)][2::3]
    now[0] += timedelta(days=40)
    os.sync()
    loop = timed(lambda: bare_loop(bare))
    os.sync()
    began = time.perf_counter()
    result = memory.cool()
    cycle = time.perf_counter() - began
    count = result.compressed
    assert count == MEMORIES + LARGE, result
    table.add_row("bare loop: gzip, sync, rename", f"{count / loop:,.0f} memories/s", "")
    table.add_row("cooling cycle, notes included", f"{count / cycle:,.0f} memories/s", "")
    table.add_row("cycle beside the loop", f"{loop / cycle:.0%}", "70%")
    idle = statistics.median(timed(lambda: memory.cool()) for _ in range(5))
    table.add_row("cycle with nothing to do", f"{idle:.2f} s", "1 s")
    table.add_row("status of temperature", f"{timed(memory.temperature_status) * 1000:.0f} ms", "")
    cold_hits, cold_ms = searched(memory, queries)
    assert cold_hits == hot_hits, "cold memories are found like the rest"
    ratio = statistics.median(cold_ms) / statistics.median(hot_ms)
    table.add_row(
        "search, hot and all cold, median",
        f"{statistics.median(hot_ms):.1f} and {statistics.median(cold_ms):.1f} ms ({ratio:.2f}×)",
        "1.5×",
    )
    cold_open = [opened(memory, i) for i in large]
    slower = statistics.median(cold_open) - statistics.median(hot_open)
    table.add_row("cold 190 KB transcript, slower by", f"{slower:.1f} ms", "20 ms")


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def opened(memory: Memory, memory_id: str) -> float:
    """Milliseconds until a transcript is there; what follows in the background is waited for."""
    took = timed(lambda: memory.transcript(memory_id)) * 1000
    memory.wait_warm(60)
    return took


Hits = list[list[tuple[str, str]]]


def searched(memory: Memory, queries: list[str]) -> tuple[Hits, list[float]]:
    """Ids and snippets of all answers, and milliseconds of each; asked twice, the second counts."""
    hits, times = [], []
    for query in queries * 2:
        result = memory.search(query)
        hits.append([(h.id, h.snippet) for h in result.hits])
        times.append(result.took_ms)
    return hits[len(queries) :], times[len(queries) :]


def bare_loop(folder: Path) -> None:
    """What the cycle is compared with: one thread, no checks, no notes."""
    for place in sorted(folder.iterdir()):
        plain = place / "transcript.md"
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        data = packer.compress(plain.read_bytes()) + packer.flush()
        temporary = place / "transcript.tmp"
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(place / "transcript.md.gz")
        plain.unlink()


def make_queries() -> list[str]:
    """Words and questions of which some are rare."""
    chance = random.Random(5)
    words = [f"word{i}" for i in range(5000)]
    return [" ".join(chance.sample(words, 3)) for _ in range(40)] + [
        f"token{chance.randrange(MEMORIES)}" for _ in range(40)
    ]


class Writer:
    """Writes memories as saving does, without saving."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault
        self._chance = random.Random(1)
        self._words = [f"word{i}" for i in range(5000)]

    def write(self, number: int, size: int) -> str:
        """One memory of about this many bytes, and its id."""
        memory_id = f"m-20250101-{number:08x}"
        lines, left = [f"## User\n\nAbout token{number}.\n"], size
        while left > 0:
            words = " ".join(self._chance.choices(self._words, k=60))
            speaker = "Assistant" if len(lines) % 2 else "User"
            lines.append(f"## {speaker}\n\n{words}.\n")
            left -= len(lines[-1]) + 1
        folder = self._vault / "_recall" / memory_id
        folder.mkdir(parents=True)
        (folder / "transcript.md").write_text("\n".join(lines), "utf-8")
        topic = self._vault / f"Topic {number % 7}" / f"Part {number % 31}"
        topic.mkdir(parents=True, exist_ok=True)
        note = memory_note(
            MemoryDraft(
                id=memory_id,
                title=f"Memory {number}",
                created=CREATED,
                source_model="claude",
                source_id=f"bench-{number}",
                keywords=self._chance.choices(self._words, k=5),
                token_count=size // 4,
                transcript_sha256="0" * 64,
                summary=" ".join(self._chance.choices(self._words, k=120)),
                summary_by="claude",
                decisions="",
                open_questions="",
                artifacts=(),
                accessed=CREATED,
            )
        )
        (topic / f"Memory {number}.md").write_bytes(note)
        return memory_id
