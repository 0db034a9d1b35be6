"""All that has to do with temperature in one vault, behind one door: openings, warming, cycles."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from neurigraph.clock import system_clock
from neurigraph.edits.desk import Desk
from neurigraph.events import EventBus
from neurigraph.index.catalog import Catalog
from neurigraph.index.library import Place
from neurigraph.index.record import Record, Sections
from neurigraph.model import Temperature
from neurigraph.temperature.access import AccessLog
from neurigraph.temperature.agreement import FILE, Agreement
from neurigraph.temperature.clock_guard import BootClock, ClockGuard, boot_clock
from neurigraph.temperature.cycle import Cycle, Planned, Result
from neurigraph.temperature.journal import Journal, LastCycle
from neurigraph.temperature.leaves import is_workspace, just_shown
from neurigraph.temperature.rules import temperature_of
from neurigraph.temperature.shelf import ReadingOf, Shelf
from neurigraph.temperature.survey import Survey
from neurigraph.temperature.texts import Texts
from neurigraph.temperature.warming import Warmed, Warmer
from neurigraph.vault.layout import transcript_path

TextOf = Callable[[Record], str]
"""Reads a memory's transcript, or the body of its note, from the file."""


@dataclass(frozen=True, slots=True)
class ClimateStatus:
    """How things stand. `counts` and `bytes` (on disk, notes included) are by temperature;
    `held` says why cooling is stopped, or is None."""

    counts: dict[Temperature, int]
    bytes: dict[Temperature, int]
    agreed: bool
    cool: str
    next_cycle: datetime | None
    last_cycle: LastCycle | None
    planned: Planned
    held: str | None


class Climate:
    """Opens, warms and cools the memories of one vault."""

    def __init__(
        self,
        desk: Desk,
        catalog: Catalog,
        access: AccessLog,
        reading_of: ReadingOf,
        text_of: TextOf,
        body_of: TextOf,
        state: Path,
        events: EventBus,
        edits: threading.RLock,
        whole: Callable[[], bool],
        boot: BootClock | None = None,
    ) -> None:
        if boot is None:
            # a clock that is handed in keeps its own time, which no boot clock can check
            real = desk.clock is system_clock
            boot = boot_clock if real else lambda: desk.clock().timestamp()
        self._desk, self._catalog, self._access = desk, catalog, access
        self._reading_of, self._events = reading_of, events
        self._text_of, self._body_of = text_of, body_of
        self._stop = threading.Event()
        self._journal = Journal.open(state / "temperature.json")
        self._agreement = Agreement(desk.files, desk.settings.temperature)
        self._guard = ClockGuard(desk.clock, boot, self._journal)
        self._shelf = Shelf(desk, reading_of)
        self.texts = Texts()
        self._warmer = Warmer(
            desk,
            self._shelf,
            catalog,
            access,
            self.texts,
            text_of,
            body_of,
            events,
            edits,
            self._stop,
        )
        self._cycle = Cycle(
            desk,
            self._shelf,
            reading_of,
            access,
            self.texts,
            self._agreement,
            self._guard,
            self._journal,
            events,
            edits,
            self._stop,
        )
        self._survey = Survey(desk, self._shelf, self._journal, edits, self._stop, whole)
        self.next_cycle: Callable[[], datetime | None] = lambda: None

    # -- life

    def start(self) -> None:
        """Begin to warm in the background; what an interruption left is finished first."""
        self._warmer.later("survey", self.survey)
        self._warmer.start()
        self.look_at_leaves()

    def wind_down(self) -> None:
        """Ask everything that runs to end at its next step."""
        self._stop.set()

    def end(self) -> None:
        """End what runs in the background."""
        self._warmer.end()

    def wait_idle(self, timeout: float = 10) -> bool:
        """Wait until all that openings asked for is done."""
        return self._warmer.wait_idle(timeout)

    # -- opening

    def opened(self, record: Record, text: str | None = None) -> None:
        """A memory was opened; `text` is what was read, where it was."""
        self._access.opened(record.id, self._desk.clock(), record.noted_count)
        if text is not None and record.kind == "memory":
            self.texts.put(record, text=text)
        self._events.publish("temperature", ids=[record.id])
        self._warmer.opened(record)

    def is_unpacked_by_hand(self, before: Record, after: Record) -> bool:
        """Whether somebody else made a memory's transcript plain between these two."""
        was, now = before.transcript, after.transcript
        if was is None or now is None or (was.form, now.form) != ("gzip", "plain"):
            return False
        return not self._shelf.unpacked(after.id, now.mtime_ns)

    def entered(self, place: Place) -> None:
        """A topic was entered."""
        self._warmer.entered(place)

    def pinned(self, record: Record) -> None:
        """A memory was pinned."""
        self._warmer.pinned(record.id)

    def look_at_leaves(self) -> None:
        """Count what Obsidian has open as opened."""
        desk = self._desk
        now = desk.clock()
        for record in just_shown(desk.files, desk.library, self._access, now):
            self.opened(record)

    def noticed(self, paths: Iterable[str]) -> None:
        """Files changed on disk that say something about openings or about cooling."""
        paths = list(paths)
        if any(map(is_workspace, paths)):
            self.look_at_leaves()
        if FILE in paths:
            self._agreement.read_again()
            self._events.publish("temperature", ids=[])

    def text(self, record: Record) -> str:
        """A memory's transcript, or the body of a person's note: from memory when it is hot."""
        if record.kind != "memory":
            return self.body(record)
        held = self.texts.text(record)
        return held if held is not None and self._stands(record) else self._text_of(record)

    def body(self, record: Record) -> str:
        """The body of a memory's note: from memory when it is hot."""
        held = self.texts.body(record)
        known = held is not None and self._stands(record, note=True)
        return held if held is not None and known else self._body_of(record)

    def _stands(self, record: Record, *, note: bool = False) -> bool:
        """Whether a text's file is still the one that is known; somebody may just have saved."""
        stamp, place = record.transcript, record.path
        size, mtime_ns = record.stamp.size, record.stamp.mtime_ns
        if not note and stamp is not None:
            size, mtime_ns = stamp.size, stamp.mtime_ns
            place = transcript_path(record.id) + (".gz" if stamp.form == "gzip" else "")
        try:
            status = self._desk.files.path(place).stat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (size, mtime_ns)

    def sections(self, records: Sequence[Record]) -> dict[str, Sections]:
        """The named parts of these memories' notes, by path: from memory where they are held."""
        found = {r.path: held for r in records if (held := self.texts.sections(r)) is not None}
        missing = [r.path for r in records if r.path not in found]
        return found | self._catalog.sections(missing) if missing else found

    # -- warming and cooling

    def warm(self, records: Sequence[Record]) -> Warmed:
        """Unpack the cold ones among these, newest first, up to a bound."""
        return self._warmer.warm(records)

    def planned(self) -> Planned:
        """What a cycle would do now."""
        return self._cycle.planned()

    def cool(self, *, agree: bool = False, wait: bool = True) -> Result:
        """Run a cycle. `agree` is a person's yes. Raises `CycleRunning` without `wait`."""
        self.look_at_leaves()
        return self._cycle.run(agree=agree, wait=wait)

    def survey(self) -> None:
        """Look through `_recall` for what no note accounts for."""
        self._survey.run(may_trash=not self._guard.doubt())

    def came_and_went(self, came: Iterable[str], went: Iterable[str]) -> None:
        """Notes of these memories appeared and disappeared."""
        self._survey.found(came)
        self._survey.missed(went)

    def status(self) -> ClimateStatus:
        """Counts and bytes by temperature, the last cycle and the next one."""
        now, settings = self._desk.clock(), self._desk.settings.temperature
        counts: Counter[Temperature] = Counter()
        sizes: Counter[Temperature] = Counter()
        owned = []
        for record in self._desk.library.memories():
            reading = self._reading_of(record)
            temperature = temperature_of(reading, now, settings)
            if record.kind == "memory":
                owned.append(reading)
            counts[temperature] += 1
            stamp = record.transcript
            stored = stamp.size + sum(size for _, size, _ in stamp.artifacts) if stamp else 0
            sizes[temperature] += record.stamp.size + stored
        planned = self._cycle.planned(owned)
        held = self._journal.held
        return ClimateStatus(
            counts={t: counts[t] for t in Temperature},
            bytes={t: sizes[t] for t in Temperature},
            agreed=self._agreement.agreed,
            cool=self._agreement.cool,
            next_cycle=self.next_cycle(),
            last_cycle=self._journal.last,
            planned=planned,
            held=held.reason if held else None,
        )
