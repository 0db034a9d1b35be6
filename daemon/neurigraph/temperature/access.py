"""When each memory was last opened and how often, kept on this machine.

A note's frontmatter carries a report of it; this log is what counts between reports.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

_TABLE = """
create table if not exists access (
  id text primary key, opened real, count integer not null default 0, warmed real,
  told real, shown real
) without rowid
"""
_COLUMNS = "id, opened, count, warmed, told, shown"
_LATER = ("told", "shown")
"""Columns that logs of the first days lack."""

_AHEAD = timedelta(days=1)
"""An opening further ahead than this was noted under a wrong clock."""


@dataclass(frozen=True, slots=True)
class Access:
    """What is known of a memory's use: last opening, how many there were, last warming by a
    neighbour; when its note was last told of them, and when Obsidian last had it open."""

    opened: datetime | None = None
    count: int = 0
    warmed: datetime | None = None
    told: datetime | None = None
    shown: datetime | None = None


_NEVER = Access()


class AccessLog:
    """All openings and warmings. Safe to use from several threads; a damaged file starts anew."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self.replaced = False
        try:
            self._open(path)
        except sqlite3.DatabaseError:
            self.replaced = True
            path.replace(path.with_name(path.name + ".damaged"))
            self._open(path)

    def _open(self, path: Path) -> None:
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=normal")
        self._db.execute(_TABLE)
        there = {row[1] for row in self._db.execute("pragma table_info(access)")}
        for column in _LATER:
            if column not in there:
                self._db.execute(f"alter table access add column {column} real")
        rows = self._db.execute(f"select {_COLUMNS} from access").fetchall()
        self._known = {
            i: Access(_moment(o), c, _moment(w), _moment(t), _moment(s))
            for i, o, c, w, t, s in rows
        }

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def of(self, memory_id: str) -> Access:
        """What is known of this memory; never-opened ones answer an empty `Access`."""
        return self._known.get(memory_id, _NEVER)

    def opened(self, memory_id: str, now: datetime, counted: int = 0) -> Access:
        """Count one opening, after as many as the note reports (`counted`)."""
        with self._lock:
            old = self._known.get(memory_id, Access())
            newest = old.opened
            if newest is None or newest < now or newest - now > _AHEAD:
                newest = now
            return self._set(
                memory_id, replace(old, opened=newest, count=max(old.count, counted) + 1)
            )

    def warmed(self, memory_id: str, now: datetime) -> Access:
        """Note that a neighbour's opening warmed this one."""
        with self._lock:
            return self._set(memory_id, replace(self._known.get(memory_id, Access()), warmed=now))

    def shown(self, memory_id: str, now: datetime) -> Access:
        """Note that Obsidian has this one open."""
        with self._lock:
            return self._set(memory_id, replace(self._known.get(memory_id, Access()), shown=now))

    def told(self, memory_ids: Iterable[str], now: datetime) -> None:
        """Note that these memories' notes were told of their use."""
        with self._lock:
            self._db.execute("begin")
            for memory_id in memory_ids:
                self._set(memory_id, replace(self._known.get(memory_id, Access()), told=now))
            self._db.execute("commit")

    def moved(self, old: str, new: str) -> None:
        """An id changed (a person's note was moved): its history goes along."""
        with self._lock:
            known = self._known.pop(old, None)
            if known is not None:
                self._db.execute("delete from access where id=?", (old,))
                self._set(new, known)

    def forget(self, memory_id: str) -> None:
        """Remove all that is known of a memory, from the file's free space too."""
        with self._lock:
            self._known.pop(memory_id, None)
            self._db.execute("delete from access where id=?", (memory_id,))
            self._db.execute("vacuum")
            self._db.execute("pragma wal_checkpoint(truncate)")

    def _set(self, memory_id: str, access: Access) -> Access:
        self._known[memory_id] = access
        self._db.execute(
            f"insert or replace into access ({_COLUMNS}) values (?, ?, ?, ?, ?, ?)",
            (
                memory_id,
                _seconds(access.opened),
                access.count,
                _seconds(access.warmed),
                _seconds(access.told),
                _seconds(access.shown),
            ),
        )
        return access


def _moment(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment is not None else None
