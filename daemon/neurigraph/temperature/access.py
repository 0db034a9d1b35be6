"""When each memory was last opened and how often, kept on this machine.

A note's frontmatter carries a report of it; this log is what counts between reports.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

_TABLE = """
create table if not exists access (
  id text primary key, opened real, count integer not null default 0, warmed real
) without rowid
"""


@dataclass(frozen=True, slots=True)
class Access:
    """What is known of a memory's use: last opening, last warming by a neighbour, openings."""

    opened: datetime | None = None
    count: int = 0
    warmed: datetime | None = None


class AccessLog:
    """All openings and warmings. Safe to use from several threads; a damaged file starts anew."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._open(path)
        except sqlite3.DatabaseError:
            path.replace(path.with_name(path.name + ".damaged"))
            self._open(path)

    def _open(self, path: Path) -> None:
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=normal")
        self._db.execute(_TABLE)
        rows = self._db.execute("select id, opened, count, warmed from access").fetchall()
        self._known = {i: Access(_moment(o), c, _moment(w)) for i, o, c, w in rows}

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def of(self, memory_id: str) -> Access:
        """What is known of this memory; never-opened ones answer an empty `Access`."""
        return self._known.get(memory_id, Access())

    def opened(self, memory_id: str, now: datetime) -> Access:
        """Count one opening."""
        with self._lock:
            old = self._known.get(memory_id, Access())
            newest = max(now, old.opened) if old.opened else now
            return self._set(memory_id, replace(old, opened=newest, count=old.count + 1))

    def warmed(self, memory_id: str, now: datetime) -> Access:
        """Note that a neighbour's opening warmed this one."""
        with self._lock:
            return self._set(memory_id, replace(self._known.get(memory_id, Access()), warmed=now))

    def moved(self, old: str, new: str) -> None:
        """An id changed (a person's note was moved): its history goes along."""
        with self._lock:
            known = self._known.pop(old, None)
            if known is not None:
                self._db.execute("delete from access where id=?", (old,))
                self._set(new, known)

    def forget(self, memory_id: str) -> None:
        """Remove all that is known of a memory."""
        with self._lock:
            self._known.pop(memory_id, None)
            self._db.execute("delete from access where id=?", (memory_id,))

    def _set(self, memory_id: str, access: Access) -> Access:
        self._known[memory_id] = access
        self._db.execute(
            "insert or replace into access values (?, ?, ?, ?)",
            (memory_id, _seconds(access.opened), access.count, _seconds(access.warmed)),
        )
        return access


def _moment(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment is not None else None
