"""The time of day as a value that can be handed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Answers the present moment, always aware and in UTC."""


def system_clock() -> datetime:
    """The machine's own time."""
    return datetime.now(UTC)


def to_note_date(moment: datetime) -> str:
    """A moment as Obsidian's date-time property has it: local time, no zone, whole seconds."""
    return moment.astimezone().replace(tzinfo=None, microsecond=0).isoformat()


def from_note_date(text: str) -> datetime | None:
    """Read a date or date-time from a note, in UTC; a value without a zone is local time.

    `None` where the text is no date. ISO 8601 and the space-separated form are read.
    """
    text = text.strip()
    if not text or not text[0].isdigit():
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
