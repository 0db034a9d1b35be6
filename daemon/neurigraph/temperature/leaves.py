"""Which memories Obsidian has open: each counts as opened, once a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from neurigraph.index.library import Library
from neurigraph.index.record import Record
from neurigraph.temperature.access import AccessLog
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.layout import RECALL

LATELY = timedelta(hours=2)
"""Obsidian's word for what is open stands after it was closed; it counts for this long."""

ONCE_IN = timedelta(days=1)


def is_workspace(path: str) -> bool:
    """Whether this file says what Obsidian has open."""
    return path.startswith(".obsidian/workspace")


def just_shown(
    files: VaultFiles, library: Library, access: AccessLog, now: datetime
) -> Iterator[Record]:
    """The memories that Obsidian has open and that were not counted today; they are now."""
    for path, said in files.open_in_obsidian().items():
        if abs(now - said) > LATELY:
            continue
        record = library.at(path)
        if record is None and path.startswith(f"{RECALL}/"):
            record = library.find(path.split("/")[1])
        if record is None or record.kind == "node":
            continue
        shown = access.of(record.id).shown
        if shown is None or abs(now - shown) >= ONCE_IN:
            access.shown(record.id, now)
            yield record
