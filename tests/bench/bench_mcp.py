"""MCP as a client meets it: saving 190 KB, recalling among 10,000 memories, starting the proxy."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastmcp import Client
from rich.console import Console
from rich.table import Table

from daemon_process import Daemon, daemon

MEMORIES = 10_000
SAVES, CONTEXTS, STARTS = 40, 150, 8
LONG = 190_000
WORDS_FROM = 20_000

NOTE = """---
type: memory
id: {id}
title: "{title}"
created: {created}
source_model: bench
keywords:
  - {keyword}
  - {other}
temperature: warm
summary_source: bench 00000000
---
## Summary
{summary}

## Decisions
- {decision}
"""


def run(data: Path | None) -> None:
    """Measure and print."""
    chance = random.Random(5)
    table = Table("what", "measured (p50, p95)", "must be", box=None, padding=(0, 3, 0, 0))
    with tempfile.TemporaryDirectory() as place:
        vault = Path(place) / "vault"
        speech = Speech(chance)
        make_vault(vault, chance, speech)
        with daemon(vault, Path(place) / "state") as running:
            until_ready(running)
            asyncio.run(measure(running, chance, speech, table))
            starts(running, table)
        cold_start(running, table)
    Console().print(table)


class Speech:
    """Made-up words as common as real ones are (Zipf's law)."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = [
            "".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(WORDS_FROM)
        ]
        self._weights = [1 / (rank + 2) for rank in range(WORDS_FROM)]

    def some(self, many: int) -> list[str]:
        """Words."""
        return self._chance.choices(self.words, self._weights, k=many)

    def sentences(self, many: int) -> str:
        """Sentences of a dozen words."""
        return " ".join(f"{' '.join(self.some(12)).capitalize()}." for _ in range(many))

    def talk(self, size: int) -> str:
        """A conversation of about so many bytes."""
        turns: list[str] = []
        held = 0
        while held < size:
            turn = f"## User\n\n{self.sentences(2)}\n\n## Assistant\n\n{self.sentences(8)}\n\n"
            turns.append(turn)
            held += len(turn)
        return "".join(turns)


def make_vault(vault: Path, chance: random.Random, speech: Speech) -> None:
    """10,000 memories in 10 broad and 100 focused topics, every tenth with a transcript."""
    for number in range(MEMORIES):
        folder = vault / f"Broad {number % 10}" / f"Focused {number % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        memory_id = f"m-2026{number % 12 + 1:02}{number % 28 + 1:02}-{number:08x}"
        words = speech.some(4)
        note = NOTE.format(
            id=memory_id,
            title=f"{' '.join(words)} {number}",
            created=f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T10:00:00",
            keyword=words[0],
            other=words[1],
            summary=speech.sentences(12),
            decision=speech.sentences(1),
        )
        (folder / f"Memory {number}.md").write_text(note, "utf-8")
        if number % 10 == 0:
            recall = vault / "_recall" / memory_id
            recall.mkdir(parents=True)
            (recall / "transcript.md").write_text(speech.talk(8_000), "utf-8")


def until_ready(running: Daemon) -> None:
    """Wait until all is indexed, vectors included; a made-up vault takes its time."""
    while True:
        status = running.get("/api/status")
        if status["state"] == "ready" and not any(status["index"].values()):
            return
        time.sleep(0.5)


async def measure(running: Daemon, chance: random.Random, speech: Speech, table: Table) -> None:
    """Through FastMCP's client over HTTP."""
    async with Client(f"{running.address}/mcp") as client:
        await saving(client, running, speech, table)
        asked = [" ".join(speech.some(chance.randint(2, 6))) for _ in range(CONTEXTS)]

        async def timed(tool: str, arguments: Callable[[int], dict[str, Any]]) -> list[float]:
            took = []
            for number in range(CONTEXTS):
                began = time.perf_counter()
                await client.call_tool(tool, arguments(number))
                took.append((time.perf_counter() - began) * 1000)
            return took

        topic = "Broad 3"
        rows: list[tuple[str, str, Callable[[int], dict[str, Any]], str]] = [
            ("get_context, query", "get_context", lambda n: {"query": asked[n]}, "150 ms"),
            (
                "get_context, query and topic",
                "get_context",
                lambda n: {"query": asked[n], "broad_topic": topic},
                "150 ms",
            ),
            ("get_context, topic", "get_context", lambda n: {"broad_topic": topic}, "150 ms"),
            ("get_context, nothing", "get_context", lambda n: {}, "150 ms"),
            ("search_memory", "search_memory", lambda n: {"query": asked[n]}, ""),
            ("list_topics", "list_topics", lambda n: {}, ""),
        ]
        for name, tool, arguments, bound in rows:
            table.add_row(name, both(await timed(tool, arguments)), bound)


async def saving(client: Client[Any], running: Daemon, speech: Speech, table: Table) -> None:
    """How long until a save is acknowledged, and until it is found."""
    acknowledged, found = [], []
    for number in range(SAVES):
        word = f"zebra{number}quagga"
        talk = f"## User\n\nTell me of the {word}.\n\n{speech.talk(LONG)}"
        began = time.perf_counter()
        answer = await client.call_tool("save_conversation", {"content": talk})
        acknowledged.append((time.perf_counter() - began) * 1000)
        assert answer.structured_content is not None
        while not running.search(word):
            await asyncio.sleep(0.02)
        found.append((time.perf_counter() - began) * 1000)
    table.add_row("190 KB saved, acknowledged", both(acknowledged), "300 ms")
    table.add_row("190 KB saved, searchable", both(found), "3000 ms")


@contextmanager
def proxy(env: dict[str, str]) -> Iterator[float]:
    """`neurigraph mcp` that has answered initialize; yields the milliseconds that it took."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "neurigraph", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    hello = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}\n'
    )
    process.stdin.write(hello)
    process.stdin.flush()
    process.stdout.readline()
    yield (time.perf_counter() - began) * 1000
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


def starts(running: Daemon, table: Table) -> None:
    """The proxy while the daemon runs."""
    took = []
    for _ in range(STARTS):
        with proxy(running.env) as milliseconds:
            took.append(milliseconds)
    table.add_row("stdio initialize, daemon running", both(took), "2000 ms")


def cold_start(running: Daemon, table: Table) -> None:
    """The proxy when it must start the daemon."""
    with proxy(running.env) as milliseconds:
        table.add_row("stdio initialize, daemon started", f"{milliseconds:.0f} ms", "10000 ms")
    down = [sys.executable, "-m", "neurigraph", "down"]
    subprocess.run(down, env={**os.environ, **running.env}, check=False, stdout=subprocess.DEVNULL)


def both(values: list[float]) -> str:
    """The median and the nearest-rank 95th percentile, in milliseconds."""
    ordered = sorted(values)
    p50, p95 = (ordered[min(len(ordered) - 1, round(q * len(ordered)))] for q in (0.5, 0.95))
    return f"{p50:.0f}, {p95:.0f} ms"
