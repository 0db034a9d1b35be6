"""Careful access to fields of an export, which may be missing or of another kind."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SPACES = re.compile(r"\s+")


def mapping(value: object) -> Mapping[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list, leaving out all else."""
    return [item for item in items(value) if isinstance(item, dict)]


def text(value: object) -> str:
    """The value when it is text, else nothing; always encodable and without NUL."""
    return clean(value) if isinstance(value, str) else ""


def line(value: object, most: int = 200) -> str:
    """Text on one line, for names and ids; nothing where there is none."""
    return _SPACES.sub(" ", text(value)).strip()[:most]


def first_text(value: Mapping[str, Any], *keys: str) -> str:
    """The first of these keys that holds text that is not blank."""
    for key in keys:
        found = text(value.get(key))
        if found.strip():
            return found
    return ""


def clean(found: str) -> str:
    """Text that any file can hold: half surrogates joined or replaced, NUL replaced, line breaks
    as `\\n`."""
    try:
        found.encode()
    except UnicodeEncodeError:
        found = found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\r" in found:
        found = found.replace("\r\n", "\n").replace("\r", "\n")
    return found.replace("\0", "\ufffd") if "\0" in found else found


def title(value: object) -> str | None:
    """A title on one line, at most 300 characters; None where there is none."""
    return line(value, 300) or None


def first_line(said: str, folder: str = "") -> str | None:
    """A title for a conversation that has none: how it begins, at most 80 characters, after the
    name of the folder that it was held in."""
    begins = next((found.strip() for found in said.split("\n") if found.strip()), "")
    begins = begins if len(begins) <= 80 else begins[:79].rstrip() + "…"
    name = re.split(r"[\\/]", folder.rstrip("\\/"))[-1]
    return title(f"{name}: {begins}" if name else begins)


def moment(value: object) -> datetime | None:
    """A time from epoch seconds, epoch milliseconds or ISO 8601; None for anything else.

    A time without a zone counts as UTC, as every export writes it.
    """
    if isinstance(value, str):
        value = value.strip()
        if _NUMBER.fullmatch(value):
            value = float(value)
        else:
            try:
                found = datetime.fromisoformat(value)
            except ValueError:
                return None
            found = found if found.tzinfo else found.replace(tzinfo=UTC)
            try:
                value = found.timestamp()
            except (OverflowError, ValueError, OSError):
                return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = float(value) if abs(value) < 1e300 else math.inf
    if seconds > 1e11:
        seconds /= 1000
    if not _EARLIEST < seconds < _LATEST:  # NaN fails too
        return None
    return datetime.fromtimestamp(seconds, UTC)


def plain_json(value: object) -> str:
    """A value as JSON for people to read."""
    return clean(json.dumps(value, ensure_ascii=False, indent=2, default=str))
