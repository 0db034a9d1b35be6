"""How hot a memory is, from when it was used and how it is stored. Pure: `now` is a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from neurigraph.model import Temperature
from neurigraph.settings import TemperatureSettings


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules need to know of one memory.

    `used` is the newest of last access and warming, or the memory's own date. `transcript` and
    `artifacts` say how they are stored: "plain", "gzip", or None where there are none of ours.
    """

    id: str
    used: datetime
    pinned: bool = False
    transcript: str | None = None
    artifacts: str | None = None


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
    """The temperature of a memory, which for ours never contradicts how it is stored.

    A plain transcript is at most warm until a cycle has compressed it, a compressed one is cold
    until it is opened, and only compressed artifacts make a memory deep-cold.
    """
    age = by_age(reading.used, now, settings)
    if reading.pinned:
        return Temperature.HOT if age is Temperature.HOT else Temperature.WARM
    if reading.transcript is None:
        return age
    if reading.transcript == "plain":
        return age if age.rank <= Temperature.WARM.rank else Temperature.WARM
    if age is Temperature.DEEP_COLD and reading.artifacts != "plain":
        return Temperature.DEEP_COLD
    return Temperature.COLD
