"""The daemon's log files in the state directory, when something in them is to be forgotten."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path


def scrub(folder: Path, words: Collection[str]) -> int:
    """Take every line that holds one of these words out of all logs; answers how many.

    The log that is open is rewritten in place: it is appended to, so it goes on from there.
    """
    wanted = [word.encode("utf-8", "surrogateescape") for word in words if word]
    removed = 0
    for handler in logging.getLogger().handlers:
        handler.acquire()
    try:
        for path in sorted(folder.rglob("*.log*")):
            with suppress(OSError):
                removed += _scrub_one(path, wanted)
    finally:
        for handler in logging.getLogger().handlers:
            handler.release()
    return removed


def _scrub_one(path: Path, words: list[bytes]) -> int:
    with path.open("r+b") as file:
        lines = file.readlines()
        kept = [line for line in lines if not any(word in line for word in words)]
        if len(kept) < len(lines):
            file.seek(0)
            file.writelines(kept)
            file.truncate()
    return len(lines) - len(kept)
