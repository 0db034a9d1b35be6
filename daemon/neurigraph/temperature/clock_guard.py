"""Doubts the time of day: a clock that jumps must never cool everything at once.

The wall clock is compared with one that nobody sets: the time since the machine was booted, sleep
included.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from neurigraph.clock import Clock
from neurigraph.temperature.journal import Held, Journal

BootClock = Callable[[], float]
"""Seconds since some fixed moment; nothing sets it, and it runs on while the machine sleeps."""

AHEAD = timedelta(hours=1)
"""What the wall clock may gain on the boot clock while the daemon runs."""

BEHIND = timedelta(minutes=5)
"""What it may lose: more than a time server ever takes back from a clock that runs well."""

LONG_GAP, MANY = timedelta(days=45), 50
"""After this long without a cycle, more than this many and half of all at once are a doubt."""


def boot_clock() -> float:
    """This machine's boot clock. On Windows, and where there is none, sleep may stop it."""
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC") if sys.platform != "win32" else ():
        if hasattr(time, name):
            return time.clock_gettime(getattr(time, name))
    return time.monotonic()


class ClockGuard:
    """Says whether the present moment can be trusted; what it doubted once it doubts until a
    person accepts it or the clock is right again."""

    def __init__(self, clock: Clock, boot: BootClock, journal: Journal) -> None:
        self._clock, self._boot, self._journal = clock, boot, journal
        self._began, self._booted = clock(), boot()

    def doubt(self, compress: int = 0, plain: int = 0) -> str:
        """Why cooling must wait, a line for people, or an empty text.

        `compress` of the `plain` transcripts are to be gzipped at once.
        """
        now = self._clock()
        self._forget_if_mended(now)
        if self._journal.held is not None:
            return self._journal.held.reason
        gained, checked = self._gained(now), self._journal.checked
        if gained > AHEAD:
            return self._hold(f"the clock jumped ahead by {_span(gained)}", now, ahead=True)
        if gained < -BEHIND:
            return self._hold(f"the clock went back by {_span(-gained)}", now, ahead=False)
        if checked is not None and now < checked - BEHIND:
            reason = f"the clock is {_span(checked - now)} behind the last cycle"
            return self._hold(reason, now, ahead=False)
        long_gap = checked is not None and now - checked > LONG_GAP
        if checked is not None and long_gap and compress > MANY and compress * 2 > plain:
            reason = (
                f"the last cycle was {_span(now - checked)} ago and {compress:,} of {plain:,} "
                "transcripts would be compressed at once"
            )
            return self._hold(reason, now, ahead=True)
        return ""

    def passed(self) -> None:
        """A cycle ran at a time that was not doubted."""
        self._journal.checked = self._clock()

    def accept(self) -> None:
        """A person says that the clock is right."""
        self._began, self._booted = self._clock(), self._boot()
        self._journal.checked, self._journal.held = self._began, None

    def _gained(self, now: datetime) -> timedelta:
        return now - self._began - timedelta(seconds=self._boot() - self._booted)

    def _hold(self, reason: str, now: datetime, *, ahead: bool) -> str:
        self._journal.held = Held(reason, now, ahead)
        self._journal.save()
        return reason

    def _forget_if_mended(self, now: datetime) -> None:
        held, checked = self._journal.held, self._journal.checked
        if held is None:
            return
        if not -BEHIND <= self._gained(now) <= AHEAD:
            return
        in_order = checked is None or now >= checked - BEHIND
        if in_order and (now < held.at if held.ahead else checked is not None):
            self._journal.held = None
            self._journal.save()


def _span(time_: timedelta) -> str:
    hours = time_.total_seconds() / 3600
    if hours < 2:
        return f"{round(hours * 60)} minutes"
    return f"{round(hours)} hours" if hours < 72 else f"{round(hours / 24)} days"
