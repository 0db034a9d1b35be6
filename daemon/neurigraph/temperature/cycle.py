"""The cooling cycle: plans for all memories, then goes through them in small batches.

Within a batch all memories go forward together from one syncing of the disk to the next, and a
few threads share the gzipping. Between batches whoever wants to edit the vault gets in.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.events import EventBus
from neurigraph.index.record import Record
from neurigraph.temperature.access import AccessLog
from neurigraph.temperature.agreement import Agreement
from neurigraph.temperature.clock_guard import ClockGuard
from neurigraph.temperature.journal import Journal, LastCycle
from neurigraph.temperature.rules import Plan, Reading, plan
from neurigraph.temperature.shelf import Done, ReadingOf, Shelf
from neurigraph.temperature.texts import Texts
from neurigraph.vault.layout import RECALL
from neurigraph.vault.steps import together

log = logging.getLogger(__name__)

SMALLEST, LARGEST = 24, 240
"""Memories between two moments at which an edit can get in; as many as the disk makes in time."""

BATCH_SECONDS = 0.2

THREADS = 2
"""Gzip lets another thread run; with more than two they only wait for each other."""

BREATH = 0.002
"""Seconds between batches: enough for an edit that waits to take the lock."""

_TRANSCRIPT_SAVES, _ARTIFACT_SAVES = 0.6, 0.2
"""What gzip usually takes off conversations, and off files that are mostly compressed already."""

NEEDS_YES = "nothing is compressed before you have said yes once: neurigraph cool --yes"
OFF = 'cooling is switched off: temperature.cool is "never" in neurigraph.toml'
HELD = (
    "cooling is stopped because {}; look at the date, and when it is right: neurigraph cool --yes"
)


class CycleRunning(NeurigraphError):
    """Another cycle is under way."""

    code = "cycle_running"

    def __init__(self) -> None:
        super().__init__("a cooling cycle is under way already; wait for it to end")


@dataclass(frozen=True, slots=True)
class Planned:
    """What a cycle would do now. `bytes` is an estimate of what it would save; `problem` says why
    it would not compress anything, or is None."""

    plan: Plan = field(default_factory=Plan)
    bytes: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a cycle did. `saved_bytes` on disk; `skipped` counts what was left, by reason;
    `problem` says why it did not do what it planned, or is None."""

    at: datetime
    compressed: int = 0
    deepened: int = 0
    restored: int = 0
    told: int = 0
    saved_bytes: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    problem: str | None = None


class Cycle:
    """Runs cycles, one at a time. `stop` ends one at its next batch."""

    def __init__(
        self,
        desk: Desk,
        shelf: Shelf,
        reading_of: ReadingOf,
        access: AccessLog,
        texts: Texts,
        agreement: Agreement,
        guard: ClockGuard,
        journal: Journal,
        events: EventBus,
        edits: threading.RLock,
        stop: threading.Event,
    ) -> None:
        self._desk, self._shelf, self._reading_of = desk, shelf, reading_of
        self._access, self._texts = access, texts
        self._agreement, self._guard = agreement, guard
        self._journal, self._events, self._edits, self._stop = journal, events, edits, stop
        self._settings = desk.settings.temperature
        self._running = threading.Lock()

    def planned(self, readings: Iterable[Reading] | None = None) -> Planned:
        """What a cycle would do at this moment, were it allowed to.

        `readings` are those of all memories of ours, for a caller who has them.
        """
        found = self._plan(readings, cooling=self._agreement.cool != "never")
        return Planned(found, self._estimate(found), self._objection(found))

    def run(self, *, agree: bool = False, wait: bool = True) -> Result:
        """Do everything that is due.

        `agree` is a person's yes: to cooling in this vault, and to the time on the clock. Raises
        `CycleRunning` when another cycle is under way and `wait` is false.
        """
        if not self._running.acquire(blocking=wait):
            raise CycleRunning
        try:
            if agree:
                self._agree()
            return self._run()
        finally:
            self._running.release()

    def _agree(self) -> None:
        with self._edits:
            self._agreement.agree()
        self._guard.accept()
        self._journal.save()

    def _run(self) -> Result:
        self._resolve_pairs()
        found = self._plan(None, cooling=self._agreement.cool != "never")
        problem = self._objection(found)
        if problem is not None:
            found = self._plan(None, cooling=False)
        result = self._work(found, cooling=problem is None)
        result = replace(result, problem=result.problem or problem)
        self._conclude(result)
        return result

    def _plan(self, readings: Iterable[Reading] | None, *, cooling: bool) -> Plan:
        if readings is None:
            readings = map(self._reading_of, self._owned())
        return plan(readings, self._desk.clock(), self._settings, cooling=cooling)

    def _owned(self) -> Iterable[Record]:
        return (r for r in self._desk.library.memories() if r.kind == "memory")

    def _objection(self, found: Plan) -> str | None:
        """Why nothing may become colder now, or None."""
        if self._agreement.cool == "never":
            return OFF
        doubt = self._guard.doubt(len(found.compress), found.plain)
        if not found.compress and not found.deepen:
            return None
        if not self._agreement.agreed:
            return NEEDS_YES
        return HELD.format(doubt) if doubt else None

    def _resolve_pairs(self) -> None:
        """Make one of the transcripts that are there twice, once nobody is at work on them."""
        for record in self._owned():
            stamp = record.transcript
            if stamp is None or stamp.form != "both" or self._stop.is_set():
                continue
            with self._edits:
                if self._shelf.resolve(record.id, self._desk.clock(), self._shelf.open_now()):
                    self._desk.indexer.look([record.path])

    def _work(self, found: Plan, *, cooling: bool) -> Result:
        # one moment for the whole cycle: a clock that jumps meanwhile changes nothing
        now = self._desk.clock()
        result = Result(now)
        ids = [step.id for step in found.steps if not step.resolve]
        if not ids:
            return result
        skipped: Counter[str] = Counter()
        with ThreadPoolExecutor(THREADS, thread_name_prefix="cooling") as pool:
            at, size = 0, SMALLEST
            while at < len(ids):
                if self._stop.wait(BREATH if at else 0):
                    break
                began = time.monotonic()
                done = self._batch(pool, ids[at : at + size], now, cooling=cooling)
                at = min(at + size, len(ids))
                size = _next_size(size, time.monotonic() - began)
                result = _with(result, done)
                skipped.update(d.skipped for d in done if d.skipped)
                self._tell(done, at, len(ids))
                if broken := [d.skipped for d in done if d.broken]:
                    result = replace(result, problem=broken[0])
                    break
        return replace(result, skipped=dict(skipped))

    def _batch(
        self, pool: Executor, ids: Sequence[str], now: datetime, *, cooling: bool
    ) -> list[Done]:
        with self._edits:
            if self._stop.is_set():
                return []
            open_now = self._shelf.open_now()
            handling = partial(self._shelf.handling, now=now, open_now=open_now, cooling=cooling)
            done = together(list(map(handling, ids)), pool)
            take_up(self._desk, self._access, done, now)
        for item in done:
            if item.compressed:
                self._texts.forget(item.id)
        return done

    def _tell(self, done: Sequence[Done], at: int, total: int) -> None:
        self._events.publish("progress", job="cool", done=at, total=total, text="cooling")
        changed = [d.id for d in done if d.changed]
        if changed:
            self._events.publish("temperature", ids=changed)

    def _conclude(self, result: Result) -> None:
        self._journal.last = LastCycle(
            result.at, result.compressed, result.deepened, result.saved_bytes, result.problem
        )
        if self._journal.held is None:
            self._guard.passed()
        self._journal.save()
        held = self._journal.held
        self._desk.indexer.note_problem(RECALL, HELD.format(held.reason) if held else "")
        self._events.publish("temperature", ids=[])

    def _estimate(self, found: Plan) -> int:
        total = 0.0
        for step in found.steps:
            record = self._desk.library.find(step.id)
            stamp = record.transcript if record else None
            if stamp is None:
                continue
            if step.compress:
                total += stamp.size * _TRANSCRIPT_SAVES
            if step.deepen:
                plain = sum(size for _, size, compressed in stamp.artifacts if not compressed)
                total += plain * _ARTIFACT_SAVES
        return int(total)


def take_up(desk: Desk, access: AccessLog, done: Iterable[Done], now: datetime) -> None:
    """Let records follow what was done to files, without reading the notes again."""
    done = list(done)
    desk.indexer.restamp([d.files for d in done if d.files is not None and not d.look])
    access.told([d.id for d in done if d.told], now)
    others = [r.path for d in done if d.look and (r := desk.library.find(d.id)) is not None]
    if others:
        desk.indexer.look(others)


def _next_size(size: int, took: float) -> int:
    wanted = int(size * BATCH_SECONDS / max(took, 0.001))
    return max(SMALLEST, min(wanted, size * 2, LARGEST))


def _with(result: Result, done: Iterable[Done]) -> Result:
    done = list(done)
    return replace(
        result,
        compressed=result.compressed + sum(d.compressed for d in done),
        deepened=result.deepened + sum(d.deepened for d in done),
        restored=result.restored + sum(d.restored for d in done),
        told=result.told + sum(d.told for d in done),
        saved_bytes=result.saved_bytes + sum(d.saved for d in done),
    )
