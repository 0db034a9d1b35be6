"""One round: a daemon is busy, dies at a random moment, starts again, and all must be there."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from daemon_process import Daemon
from faults.faulty_daemon import PROGRAM
from faults.ledger import TOPICS, Ledger, conversation, leftovers

COLD_AT_ONCE = {
    "NEURIGRAPH_TEMPERATURE_COLD_AFTER_DAYS": "0.1",
    "NEURIGRAPH_TEMPERATURE_DEEP_COLD_AFTER_DAYS": "0.2",
    "NEURIGRAPH_TEMPERATURE_AGREED": "true",
    "NEURIGRAPH_VAULT_SETTLE_SECONDS": "0",
}
"""Settings under which every cycle compresses all that was not opened since the last one, for
between cycles hours pass on the daemon's clock."""

BETWEEN_CYCLES = 6 * 3600

LONGEST = 2.5
"""Seconds of work before the daemon is killed, at most."""

FEWEST = 24
"""Memories that a trial has before anything is done to them."""


@dataclass
class Trial:
    """A vault that lives through many rounds, and what is known of it."""

    vault: Path
    state: Path
    seed: int
    settings: dict[str, str] = field(default_factory=lambda: dict(COLD_AT_ONCE))
    ledger: Ledger = field(default_factory=Ledger)
    edited: dict[Path, str] = field(default_factory=dict)
    """The newest word that a person has written into each note of theirs."""
    number: int = 0
    ahead: int = 0
    """Seconds by which the daemon's clock is ahead."""

    def start(self) -> Daemon:
        """A daemon on this vault."""
        clock = self.vault.with_name("clock")
        return Daemon(self.vault, self.state, {**self.settings, "FAULT_CLOCK": str(clock)}, PROGRAM)

    def let_time_pass(self, seconds: int) -> None:
        """Put the daemon's clock forward."""
        self.ahead += seconds
        place = self.vault.with_name("clock")
        new = place.with_name("clock.new")
        new.write_text(str(self.ahead), "ascii")
        new.replace(place)

    def name(self) -> str:
        """A word that was never used before."""
        self.number += 1
        return f"zq{self.seed}x{self.number}y"


def saving(trial: Trial, running: Daemon, chance: random.Random) -> Iterator[Callable[[], None]]:
    """Three clients that save conversations, some with a transcript of hundreds of turns."""

    def work() -> None:
        with httpx.Client(base_url=running.address, timeout=30) as http:
            while running.process.poll() is None:
                text = conversation(trial.name(), turns=chance.choice((6, 6, 40, 400)))
                if not trial.ledger.save(http, text, chance.choice(TOPICS)):
                    return

    yield from [work] * 3


def indexing(trial: Trial, running: Daemon, chance: random.Random) -> Iterator[Callable[[], None]]:
    """A person who makes, edits, renames and deletes notes as fast as a script can."""

    def work() -> None:
        while running.process.poll() is None:
            word = trial.name()
            folder = trial.vault / "Diary" / f"Part {chance.randrange(5)}"
            folder.mkdir(parents=True, exist_ok=True)
            known = list(trial.edited)
            if known and chance.random() < 0.5:
                path = chance.choice(known)
                if chance.random() < 0.2:
                    moved = folder / f"moved {word}.md"
                    path.rename(moved)
                    trial.edited[moved] = trial.edited.pop(path)
                    continue
                path.write_text(f"{path.read_text('utf-8')}\n{word} too\n", "utf-8")
            else:
                path = folder / f"{word}.md"
                path.write_text(f"# A day\n\nI saw {word} at the sea.\n", "utf-8")
            trial.edited[path] = word
            time.sleep(0.005)

    yield work


def cooling(trial: Trial, running: Daemon, chance: random.Random) -> Iterator[Callable[[], None]]:
    """Cycles that compress, and a reader who opens what was compressed."""

    def cycles() -> None:
        with httpx.Client(base_url=running.address, timeout=30) as http:
            while running.process.poll() is None:
                trial.let_time_pass(BETWEEN_CYCLES)
                try:
                    http.post("/api/temperature/maintenance", params={"agree": "true"})
                except httpx.HTTPError:
                    return
                time.sleep(0.05)

    def warming() -> None:
        with httpx.Client(base_url=running.address, timeout=30) as http:
            while running.process.poll() is None:
                for topic in TOPICS:
                    try:
                        node = http.get("/api/search", params={"q": topic.split("/")[1]})
                        http.post(f"/api/temperature/warm/{topic.split('/')[1]}")
                        for hit in node.json()["results"][:3]:
                            http.get(f"/api/memory/chunk/{hit['id']}/transcript")
                    except httpx.HTTPError:
                        return

    yield from (cycles, warming)


ACTIVITIES = {"saving": saving, "indexing": indexing, "cooling": cooling}


@contextmanager
def busy(trial: Trial, running: Daemon, activity: str, chance: random.Random) -> Iterator[None]:
    """The activity goes on within, and ends with the daemon."""
    threads = [
        threading.Thread(target=work, daemon=True)
        for work in ACTIVITIES[activity](trial, running, chance)
    ]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), f"{activity} did not end with the daemon"


def killed(trial: Trial, activity: str, chance: random.Random) -> list[str]:
    """Work for a random time, kill, look at the vault, start again, look again: what is wrong."""
    running = trial.start()
    running.ready(vectors=False)
    while len(trial.ledger.acknowledged) < FEWEST:
        trial.ledger.save(running.http, conversation(trial.name()), chance.choice(TOPICS))
    with busy(trial, running, activity, chance):
        time.sleep(chance.random() * LONGEST)
        running.kill()
    faults = [f"at the kill: {f}" for f in trial.ledger.faults_on_disk(trial.vault)]
    running = trial.start()
    try:
        running.ready(vectors=False)
        trial.ledger.again(running.http)
        faults += all_is_well(trial, running)
    finally:
        code = running.stop()
    faults += leftovers(trial.vault)
    if code != 0:
        faults.append(f"a clean stop ended with {code}: {running.tail()}")
    return faults


def all_is_well(trial: Trial, running: Daemon) -> list[str]:
    """Every acknowledged save and every edit is served, and the doctor has nothing to say."""
    running.ready(vectors=False)
    faults = trial.ledger.faults_in(running) + trial.ledger.faults_on_disk(trial.vault)
    for path, word in list(trial.edited.items())[-10:]:
        found = [hit["path"] for hit in running.search(word)]
        if path.relative_to(trial.vault).as_posix() not in found:
            faults.append(f"{path.name} is not found by {word}")
    known = trial.ledger.acknowledged
    for found in diagnosis(running):
        # a save that was cut short leaves a transcript without a note, which is kept and listed
        if found["path"].removeprefix("_recall/") in known or "_recall/m-" not in found["path"]:
            faults.append(f"doctor: {found['path']}: {found['problem']}")
    return faults


def diagnosis(running: Daemon, **query: str) -> list[dict[str, str]]:
    """What the doctor says about everything."""
    running.http.post("/api/doctor", params=query)

    def look() -> list[list[dict[str, str]]] | None:
        job = running.get("/api/jobs/doctor")
        assert job["state"] != "failed", job
        return [job["result"]] if job["state"] == "done" else None

    return running.until(look, "the doctor")[0]
