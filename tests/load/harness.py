"""`make load`: everything at once on one daemon, and afterwards nothing may be missing.

    python tests/load/harness.py [--minutes 10] [--memories 10000] [--clients 20]

Ten thousand memories; clients that save and search over MCP; a person who edits five notes a
second; a git checkout that replaces a thousand files; cooling cycles; readers of the event stream.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from daemon_process import Daemon, daemon
from faults.ledger import Ledger, conversation
from faults.rounds import diagnosis
from load.made import WORDS, checkout_of, make_vault

SEARCH_MS = 150.0
"""What a search may take at the 95th percentile."""

MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
EDITS_A_SECOND = 5


@dataclass
class Load:
    """What is asked for, and what came of it."""

    minutes: float = 10
    memories: int = 10_000
    clients: int = 20
    files: int = 1_000
    pause: float = 1.0
    """Mean seconds that an MCP client waits between two calls."""
    seed: int = 1

    ledger: Ledger = field(default_factory=Ledger)
    edited: dict[Path, str] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    searches: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    events: int = 0
    ready_mb: float = 0
    faults: list[str] = field(default_factory=list)

    def report(self) -> list[tuple[str, str, str]]:
        """What was measured, and what it must be."""
        settled = self.memory_mb[len(self.memory_mb) // 4 :] or [0.0]
        grown = settled[-1] - settled[0]
        return [
            ("memories at the end", f"{self.memories + len(self.ledger.acknowledged):,}", ""),
            ("calls", ", ".join(f"{n:,} {name}" for name, n in self.calls.items()), ""),
            ("events heard", f"{self.events:,}", ""),
            ("errors", str(self.errors.total()), "0"),
            ("lost, doubled or unequal", str(len(self.faults)), "0"),
            ("search p50", f"{percentile(self.searches, 50):.0f} ms", ""),
            ("search p95", f"{percentile(self.searches, 95):.0f} ms", f"{SEARCH_MS:.0f} ms"),
            ("save p95", f"{percentile(self.saves, 95):.0f} ms", ""),
            ("memory when ready, PSS", f"{self.ready_mb:.0f} MB", ""),
            ("memory at most, PSS", f"{max(self.memory_mb, default=0):.0f} MB", "bounded"),
            ("grown over the last three quarters", f"{grown:.0f} MB", ""),
        ]


def percentile(values: list[float], which: int) -> float:
    """The nearest-rank percentile; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(which / 100 * len(ordered)))] if ordered else 0.0


def run(load: Load, place: Path) -> None:
    """Do all of it, and then compare daemon and vault."""
    vault = place / "vault"
    make_vault(vault, load.memories, load.seed)
    settings = {
        "NEURIGRAPH_TEMPERATURE_AGREED": "true",
        "NEURIGRAPH_VAULT_SETTLE_SECONDS": "5",
    }
    with daemon(vault, place / "state", **settings) as running:
        with patient():
            running.ready()
        load.ready_mb = family_mb(running)
        with all_at_once(load, running):
            time.sleep(load.minutes * 60)
        with patient():
            running.ready()
            load.faults += compared(load, running)


@contextmanager
def patient() -> Iterator[None]:
    """Wait as long as ten thousand memories take."""
    import daemon_process

    usual, daemon_process.PATIENCE = daemon_process.PATIENCE, 1800.0
    try:
        yield
    finally:
        daemon_process.PATIENCE = usual


@contextmanager
def all_at_once(load: Load, running: Daemon) -> Iterator[None]:
    """Everybody is at work within."""
    over = threading.Event()
    work: list[Callable[[Load, Daemon, threading.Event], None]] = [
        clients,
        person,
        checkout,
        cycles,
        watch_events,
        watch_memory,
    ]
    threads = [
        threading.Thread(target=_survive, args=(load, running, over, one), name=one.__name__)
        for one in work
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(120)
            if thread.is_alive():
                load.faults.append(f"{thread.name} did not end")


def _survive(
    load: Load,
    running: Daemon,
    over: threading.Event,
    work: Callable[[Load, Daemon, threading.Event], None],
) -> None:
    try:
        work(load, running, over)
    except Exception as error:  # noqa: BLE001  # whatever ends one of them is what is looked for
        load.errors[f"{work.__name__}: {error!r}"] += 1


# -- who is at work


def clients(load: Load, running: Daemon, over: threading.Event) -> None:
    """MCP clients over streamable HTTP, each with a connection of its own."""

    async def all_of_them() -> None:
        await asyncio.gather(*(one_client(load, running, over, n) for n in range(load.clients)))

    asyncio.run(all_of_them())


async def one_client(load: Load, running: Daemon, over: threading.Event, number: int) -> None:
    """Searches four times out of five, else saves what no other has."""
    chance = random.Random(f"{load.seed} {number}")
    async with httpx.AsyncClient(base_url=running.address, timeout=60) as http:
        count = 0
        while not over.is_set():
            count += 1
            await asyncio.sleep(chance.expovariate(1 / load.pause))
            if chance.random() < 0.8:
                query = " ".join(chance.sample(WORDS, 2))
                found, took = await call(load, http, "search_memory", query=query, limit=5)
                if found is not None:
                    load.searches.append(took)
            else:
                text = conversation(f"zq{number}x{count}y", turns=chance.choice((6, 20, 60)))
                saved, took = await call(
                    load,
                    http,
                    "save_conversation",
                    content=text,
                    broad_topic=f"Topic {chance.randrange(9)}",
                    focused_topic=f"Part {chance.randrange(31)}",
                )
                if saved is not None:
                    load.saves.append(took)
                    load.ledger.acknowledged[saved["id"]] = text


async def call(
    load: Load, http: httpx.AsyncClient, tool: str, **arguments: Any
) -> tuple[dict[str, Any] | None, float]:
    """One call of a tool (MCP, `tools/call`): its structured answer and the milliseconds."""
    load.calls[tool] += 1
    body = {
        "jsonrpc": "2.0",
        "id": load.calls.total(),
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    began = time.perf_counter()
    try:
        answer = await http.post("/mcp", json=body, headers=MCP_HEADERS)
        result = answered(answer)
    except (httpx.HTTPError, ValueError, KeyError) as error:
        load.errors[f"{tool}: {error!r}"] += 1
        return None, 0.0
    took = (time.perf_counter() - began) * 1000
    if result.get("isError"):
        load.errors[f"{tool}: {result['content'][0]['text']}"] += 1
        return None, took
    return dict(result["structuredContent"]), took


def answered(answer: httpx.Response) -> dict[str, Any]:
    """The result in an answer, which is JSON or the last of a stream of events."""
    answer.raise_for_status()
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        lines = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
        text = next(line for line in reversed(lines) if '"result"' in line or '"error"' in line)
    message = json.loads(text)
    if "error" in message:
        raise ValueError(message["error"]["message"])
    return dict(message["result"])


def person(load: Load, running: Daemon, over: threading.Event) -> None:
    """Writes a new word into some note or other, five times a second."""
    chance = random.Random(load.seed)
    notes = sorted((running.vault / "Topic 0").rglob("*.md"))
    count = 0
    while not over.wait(1 / EDITS_A_SECOND):
        count += 1
        path = chance.choice(notes)
        word = f"zp{count}edit"
        path.write_text(f"{path.read_text('utf-8').rstrip()}\n\nSaw {word} today.\n", "utf-8")
        load.edited[path] = word
        load.calls["edits by a person"] += 1


def checkout(load: Load, running: Daemon, over: threading.Event) -> None:
    """Git replaces a thousand files at once, there and back."""
    switch = checkout_of(running.vault, load.files)
    while not over.wait(min(20.0, load.minutes * 60 / 3)):
        for branch in ("other", "main"):
            switch(branch)
            load.calls["checkouts"] += 1
            if over.wait(min(20.0, load.minutes * 60 / 6)):
                break
    switch("main")


def cycles(load: Load, running: Daemon, over: threading.Event) -> None:
    """A cooling cycle over the old memories, now and then."""
    with httpx.Client(base_url=running.address, timeout=120) as http:
        while not over.wait(min(60.0, load.minutes * 60 / 3)):
            answer = http.post("/api/temperature/maintenance", params={"agree": "true"})
            if answer.status_code not in (202, 409):
                load.errors[f"cooling: {answer.text}"] += 1
            load.calls["cooling cycles"] += 1


def watch_events(load: Load, running: Daemon, over: threading.Event) -> None:
    """The viewer's stream, open all the time."""
    with httpx.stream("GET", f"{running.address}/api/events", timeout=30) as stream:
        for line in stream.iter_lines():
            load.events += line.startswith("event:")
            if over.is_set():
                return


def watch_memory(load: Load, running: Daemon, over: threading.Event) -> None:
    """What daemon and worker hold, every few seconds."""
    while not over.wait(min(5.0, load.minutes * 6)):
        load.memory_mb.append(family_mb(running))


def family_mb(running: Daemon) -> float:
    """The daemon and its workers together, PSS in MB."""
    main = psutil.Process(running.process.pid)
    found = 0.0
    for process in (main, *main.children(recursive=True)):
        try:
            found += process.memory_full_info().pss / 1e6
        except psutil.Error:
            continue
    return found


# -- afterwards


def compared(load: Load, running: Daemon) -> list[str]:
    """Whatever the vault, the daemon and its indexes do not agree on."""
    faults = load.ledger.faults_on_disk(running.vault)
    faults += load.ledger.faults_in(running, sample=200)
    for path, word in list(load.edited.items())[-100:]:
        found = [hit["path"] for hit in running.search(word)]
        if path.relative_to(running.vault).as_posix() not in found:
            faults.append(f"{path.name} is not found by {word}")
    faults += [f"doctor: {d['path']}: {d['problem']}" for d in diagnosis(running)]
    return faults


def main() -> int:
    """Read the words, run, print; 1 when anything was not as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--pause", type=float, default=1.0)
    chosen = parser.parse_args()
    load = Load(chosen.minutes, chosen.memories, chosen.clients, pause=chosen.pause)
    with tempfile.TemporaryDirectory() as place:
        run(load, Path(place))
    for what, measured, wanted in load.report():
        print(f"{what:<36} {measured}" + (f"   (must be: {wanted})" if wanted else ""))
    for error, count in load.errors.most_common(20):
        print(f"error, {count} times: {error}")
    for fault in load.faults[:20]:
        print(f"fault: {fault}")
    slow = percentile(load.searches, 95) > SEARCH_MS
    return 1 if load.errors or load.faults or slow else 0


if __name__ == "__main__":
    sys.exit(main())
