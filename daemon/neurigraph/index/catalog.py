"""What is known of every file, kept in SQLite so that a restart reads nothing twice.

The catalog holds nothing that the vault cannot give back: a damaged one is set aside and built
again. Its rows say what each index is known to hold of a note, so a lost index is noticed.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from neurigraph.index.record import Record, Sections, from_json, to_json

_FORMAT = 2
"""Raised when rows change their meaning; an older catalog is rebuilt."""

_TABLES = """
create table if not exists notes (
  path text primary key, id text not null, record text not null, sections text not null,
  keyword text not null default '', vector text not null default ''
) without rowid;
create index if not exists notes_by_id on notes (id);
create table if not exists folders (path text primary key) without rowid;
create table if not exists redirects (old text primary key, new text not null) without rowid;
create table if not exists facts (name text primary key, value text not null) without rowid;
"""


class CatalogDamaged(Exception):
    """The catalog cannot be read or written; `Catalog.open` sets it aside and begins a new one."""


class Catalog:
    """The table of notes. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Open or make the catalog in this file. Raises `CatalogDamaged`."""
        self._lock = threading.RLock()
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("pragma journal_mode=wal")
            self._db.execute("pragma synchronous=normal")
            version = self._db.execute("pragma user_version").fetchone()[0]
            if version not in (0, _FORMAT):
                raise CatalogDamaged(f"format {version}")
            self._db.executescript(_TABLES)
            self._db.execute(f"pragma user_version={_FORMAT}")
            check = self._db.execute("pragma quick_check(1)").fetchone()[0]
            if check != "ok":
                raise CatalogDamaged(str(check))
        except sqlite3.DatabaseError as error:
            raise CatalogDamaged(str(error)) from error

    @classmethod
    def open(cls, path: Path) -> tuple[Catalog, bool]:
        """The catalog in this file, and whether a damaged one had to be set aside first."""
        try:
            return cls(path), False
        except CatalogDamaged:
            for suffix in ("", "-wal", "-shm"):
                file = path.with_name(path.name + suffix)
                if file.exists():
                    file.replace(path.with_name(path.name + ".damaged" + suffix))
            return cls(path), True

    def close(self) -> None:
        """Write what is pending and let go of the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes within become one."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self._db.execute("begin")
            try:
                yield
                self._db.execute("commit")
            except sqlite3.DatabaseError as error:
                with suppress(sqlite3.Error):
                    self._db.execute("rollback")
                raise CatalogDamaged(str(error)) from error
            except BaseException:
                self._db.execute("rollback")
                raise

    def load(self) -> list[Record]:
        """All records, without their sections. A row that does not read is dropped."""
        records = []
        with self._lock:
            rows = self._db.execute("select path, record from notes").fetchall()
        torn = []
        for path, text in rows:
            try:
                records.append(from_json(text))
            except (ValueError, KeyError, TypeError):
                torn.append(path)
        if torn:
            self.remove(torn)
        return records

    def put(self, records: Iterable[Record]) -> None:
        """Add or replace these records; what indexes hold of them is kept as known."""
        with self.transaction():
            self._db.executemany(
                "insert into notes (path, id, record, sections) values (?, ?, ?, ?) "
                "on conflict (path) do update set "
                "id=excluded.id, record=excluded.record, sections=excluded.sections",
                [(r.path, r.id, to_json(r), _sections_json(r.sections)) for r in records],
            )

    def restamp(self, records: Iterable[Record]) -> None:
        """Replace these records, whose texts are the same as before."""
        with self.transaction():
            self._db.executemany(
                "update notes set record=? where path=?", [(to_json(r), r.path) for r in records]
            )

    def remove(self, paths: Iterable[str]) -> None:
        """Forget these files."""
        with self.transaction():
            self._db.executemany("delete from notes where path=?", [(p,) for p in paths])

    def sections(self, paths: Iterable[str]) -> dict[str, Sections]:
        """The named parts of these notes' text, by path."""
        found = {}
        with self._lock:
            for path in paths:
                row = self._db.execute(
                    "select sections from notes where path=?", (path,)
                ).fetchone()
                if row:
                    found[path] = Sections(*json.loads(row[0]))
        return found

    def held(self, index: str) -> dict[str, str]:
        """By id, the version of each note that this index (`keyword`, `vector`) holds."""
        column = _column(index)
        with self._lock:
            rows = self._db.execute(f"select id, {column} from notes where {column}<>''")
            return dict(rows.fetchall())

    def set_held(self, index: str, versions: Mapping[str, str]) -> None:
        """Note what this index now holds; an empty version means nothing."""
        column = _column(index)
        with self.transaction():
            self._db.executemany(
                f"update notes set {column}=? where id=?", [(v, i) for i, v in versions.items()]
            )

    def clear_held(self, index: str) -> None:
        """This index was lost: it holds nothing."""
        with self._lock:
            self._db.execute(f"update notes set {_column(index)}=''")

    def purge(self) -> None:
        """Leave nothing in the file of what was removed from it."""
        with self._lock:
            self._db.execute("vacuum")
            self._db.execute("pragma wal_checkpoint(truncate)")

    def folders(self) -> set[str]:
        """All folders that were seen, relative paths."""
        with self._lock:
            return {row[0] for row in self._db.execute("select path from folders")}

    def set_folders(self, paths: Iterable[str]) -> None:
        """Replace the list of folders."""
        with self.transaction():
            self._db.execute("delete from folders")
            self._db.executemany("insert or ignore into folders values (?)", [(p,) for p in paths])

    def redirect(self, old: str, new: str) -> None:
        """Let an id that moved go on being found."""
        with self.transaction():
            self._db.execute("update redirects set new=? where new=?", (new, old))
            self._db.execute("delete from redirects where old=?", (new,))
            self._db.execute("insert or replace into redirects values (?, ?)", (old, new))

    def redirects(self) -> dict[str, str]:
        """All ids that moved, old to new."""
        with self._lock:
            return dict(self._db.execute("select old, new from redirects").fetchall())

    def fact(self, name: str) -> str:
        """A remembered fact about the vault or an index, or an empty text."""
        with self._lock:
            row = self._db.execute("select value from facts where name=?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def set_fact(self, name: str, value: str) -> None:
        """Remember a fact."""
        with self._lock:
            self._db.execute("insert or replace into facts values (?, ?)", (name, value))


def _sections_json(sections: Sections) -> str:
    parts = (sections.summary, sections.decisions, sections.open_questions, sections.notes)
    return json.dumps(parts, ensure_ascii=True)


def _column(index: str) -> str:
    if index not in ("keyword", "vector"):
        raise ValueError(f"no index '{index}'")
    return index
