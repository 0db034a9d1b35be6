"""What became of everything in an import: a row for each conversation, and how many of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from neurigraph.edits.save import EDITED, HELD_NOTE

What = Literal["imported", "updated", "unchanged", "left_out", "failed"]
ORDER: tuple[What, ...] = ("imported", "updated", "unchanged", "left_out", "failed")

SHOWN = 200
"""Rows that an event carries; the rest are asked for."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one conversation, or in a dry run would. `path` is its note, or the folder
    that it would go to; `reason` says more in words; `id` is its memory."""

    title: str
    what: What
    path: str = ""
    reason: str = ""
    id: str = ""
    source_id: str = ""
    created: str = ""


@dataclass(slots=True)
class Report:
    """An import as far as it has come.

    `error` is why it ended before its end, if it did; `again` when only the vault was in the way.
    """

    path: str
    dry_run: bool = False
    rows: list[Row] = field(default_factory=list)
    skipped: Mapping[str, int] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    error: str = ""
    again: bool = False
    stopped: bool = False
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each, all named."""
        found = Counter(row.what for row in self.rows)
        return {what: found.get(what, 0) for what in ORDER}

    @property
    def held(self) -> int:
        """How many of what came in are held out of git for what looks like a secret."""
        return sum(HELD_NOTE in row.reason for row in self.rows)

    @property
    def changed(self) -> bool:
        """Whether anything was stored."""
        return any(row.what in ("imported", "updated") for row in self.rows)

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.error) or any(row.what == "failed" for row in self.rows)

    def summary(self) -> dict[str, Any]:
        """Everything but the rows, JSON-ready, and the rows that a person should read."""
        worth = [
            row
            for row in self.rows
            if row.what in ("failed", "left_out", "updated") or row.reason == EDITED
        ]
        worth.sort(key=lambda row: -ORDER.index(row.what))
        return {
            "path": self.path,
            "dry_run": self.dry_run,
            "kinds": list(self.kinds),
            "counts": self.counts,
            "held": self.held,
            "skipped": dict(self.skipped),
            "error": self.error,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 1),
            "rows": [row_json(row) for row in worth[:SHOWN]],
        }

    def words(self) -> str:
        """The counts in one line."""
        said = [
            f"{count:,} {what.replace('_', ' ')}" for what, count in self.counts.items() if count
        ]
        return ", ".join(said) or "nothing was found in it"


def row_json(row: Row) -> dict[str, str]:
    """A row, with every key."""
    return {
        "title": row.title,
        "what": row.what,
        "path": row.path,
        "reason": row.reason,
        "id": row.id,
        "source_id": row.source_id,
        "created": row.created,
    }
