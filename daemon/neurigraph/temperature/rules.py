"""How hot a memory is, and what is to be done about it. Pure: `now` is a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from neurigraph.clock import to_note_date
from neurigraph.model import Temperature
from neurigraph.settings import TemperatureSettings
from neurigraph.vault.packing import MOST_BYTES

Form = Literal["plain", "gzip", "both"]

REPORT_EVERY = timedelta(days=1)
"""How often a note is told about openings that change nothing in how it is stored."""

_UNSEEN = timedelta(days=1)
"""A moment further ahead than this comes from a clock that was wrong, not from a person."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What a memory's note says of its temperature, and what is true.

    `temperature`, `accessed` and `count` are what the note says; `true_accessed` and `true_count`
    what it should. `form` is how it names the transcript: "link", "path", or empty when it names
    none. `written` is when it was last told.
    """

    temperature: str
    accessed: datetime | None
    count: int
    form: str
    written: datetime | None
    true_accessed: datetime | None
    true_count: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules need to know of one memory.

    `used` is the newest of last access and warming, or the memory's own date; `opened` is the last
    opening on this machine. `transcript` and `artifacts` say how they are stored: "plain", "gzip",
    "both" (an interruption, or a person, left a transcript twice), or None where there are none
    of ours. `noted` is left out for notes that are never written to.
    """

    id: str
    used: datetime
    pinned: bool = False
    transcript: Form | None = None
    artifacts: Form | None = None
    opened: datetime | None = None
    noted: Noted | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done about one memory: make one of two transcripts, gzip the transcript, gzip
    the artifacts, make both plain again, tell the note."""

    id: str
    resolve: bool = False
    compress: bool = False
    deepen: bool = False
    restore: bool = False
    report: bool = False

    @property
    def needed(self) -> bool:
        """Whether there is anything to do."""
        return self.resolve or self.compress or self.deepen or self.restore or self.report

    @property
    def cools(self) -> bool:
        """Whether anything becomes colder."""
        return self.compress or self.deepen


def newest(moments: Iterable[datetime | None], now: datetime) -> datetime | None:
    """The newest of some moments; those that lie more than a day ahead do not count."""
    return max((m for m in moments if m is not None and m - now < _UNSEEN), default=None)


def by_age(used: datetime, now: datetime, settings: TemperatureSettings) -> Temperature:
    """The temperature that the time since the last use asks for."""
    age = now - used
    if age < timedelta(minutes=settings.hot_minutes):
        return Temperature.HOT
    if age < timedelta(days=settings.cold_after_days):
        return Temperature.WARM
    if age < timedelta(days=settings.deep_cold_after_days):
        return Temperature.COLD
    return Temperature.DEEP_COLD


def temperature_of(reading: Reading, now: datetime, settings: TemperatureSettings) -> Temperature:
    """The temperature of a memory, which for ours does not contradict how it is stored.

    A plain transcript is at most warm until a cycle has compressed it, a compressed one is cold
    until it is opened, and only compressed artifacts make a memory deep-cold. One that was just
    opened is hot at once: its text is in memory while the file is being unpacked.
    """
    age = by_age(reading.used, now, settings)
    if reading.pinned:
        return Temperature.HOT if age is Temperature.HOT else Temperature.WARM
    if reading.transcript is None:
        return age
    if reading.transcript != "gzip":
        return age if age.rank <= Temperature.WARM.rank else Temperature.WARM
    if _just_opened(reading, now, settings):
        return Temperature.HOT
    if age is Temperature.DEEP_COLD and reading.artifacts != "plain":
        return Temperature.DEEP_COLD
    return Temperature.COLD


def step_for(
    reading: Reading, now: datetime, settings: TemperatureSettings, *, cooling: bool = True
) -> Step:
    """What is to be done about one memory now; with `cooling` false nothing becomes colder."""
    age = by_age(reading.used, now, settings)
    stays = reading.pinned or _just_opened(reading, now, settings)
    compress = (
        cooling
        and not stays
        and reading.transcript in ("plain", "both")
        and age.rank >= Temperature.COLD.rank
    )
    deepen = (
        cooling
        and not stays
        and reading.artifacts == "plain"
        and (compress or reading.transcript == "gzip")
        and age is Temperature.DEEP_COLD
    )
    restore = stays and "gzip" in (reading.transcript, reading.artifacts)
    told = replace(reading, transcript="gzip") if compress else reading
    told = replace(told, artifacts="gzip") if deepen else told
    if restore:
        told = replace(
            reading,
            transcript="plain" if reading.transcript else None,
            artifacts="plain" if reading.artifacts else None,
        )
    return Step(
        id=reading.id,
        resolve=reading.transcript == "both",
        compress=compress,
        deepen=deepen,
        restore=restore,
        report=is_to_be_told(told, now, settings),
    )


def is_to_be_told(reading: Reading, now: datetime, settings: TemperatureSettings) -> bool:
    """Whether a note is to be told its temperature now: at once when cold begins or ends, for all
    else at most once a day."""
    noted = reading.noted
    if noted is None or reading.transcript is None:
        return False
    true = temperature_of(reading, now, settings)
    cold = reading.transcript == "gzip"
    if noted.form == ("link" if cold else "path"):
        return True
    if noted.temperature != true and not {noted.temperature, true} <= {"hot", "warm"}:
        return True
    same = (
        noted.temperature == true
        and noted.count == noted.true_count
        and same_second(noted.accessed, noted.true_accessed)
    )
    return not same and (noted.written is None or now - noted.written >= REPORT_EVERY)


def same_second(a: datetime | None, b: datetime | None) -> bool:
    """Whether a note would hold the same text for both."""
    if a is None or b is None:
        return a is b
    return to_note_date(a) == to_note_date(b)


def _just_opened(reading: Reading, now: datetime, settings: TemperatureSettings) -> bool:
    opened = newest((reading.opened,), now)
    return opened is not None and by_age(opened, now, settings) is Temperature.HOT


def form_of(artifacts: Iterable[tuple[str, int, bool]]) -> Form | None:
    """How the artifacts of a memory are stored, from (name, bytes as stored, compressed).

    What is a `.gz` by itself, or too large to be unpacked within bounds, is left as it is.
    """
    forms = {
        compressed
        for name, size, compressed in artifacts
        if compressed or (not name.lower().endswith(".gz") and size <= MOST_BYTES)
    }
    return None if not forms else "plain" if False in forms else "gzip"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a cycle is to do, memory by memory. `plain` is how many transcripts are plain now."""

    steps: tuple[Step, ...] = ()
    plain: int = 0

    @property
    def compress(self) -> list[str]:
        """Ids of the memories whose transcripts are to be gzipped."""
        return [s.id for s in self.steps if s.compress]

    @property
    def deepen(self) -> list[str]:
        """Ids of the memories whose artifacts are to be gzipped."""
        return [s.id for s in self.steps if s.deepen]

    @property
    def restore(self) -> list[str]:
        """Ids of the memories that are to be plain again: pinned, or opened just now."""
        return [s.id for s in self.steps if s.restore]

    @property
    def report(self) -> list[str]:
        """Ids of the memories whose notes are to be told."""
        return [s.id for s in self.steps if s.report]


def plan(
    readings: Iterable[Reading],
    now: datetime,
    settings: TemperatureSettings,
    *,
    cooling: bool = True,
) -> Plan:
    """What is to be done about all memories now."""
    steps, plain = [], 0
    for reading in readings:
        plain += reading.transcript in ("plain", "both")
        step = step_for(reading, now, settings, cooling=cooling)
        if step.needed:
            steps.append(step)
    return Plan(tuple(steps), plain)
