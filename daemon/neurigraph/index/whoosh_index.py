"""A Whoosh index folder whose table of contents carries a checksum and survives a power cut."""

from __future__ import annotations

import os
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

from whoosh.fields import Schema
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.index import TOC, FileIndex

from neurigraph.index.array_file import IndexDamaged, sync_folder
from neurigraph.index.whoosh_codec import SEGMENT_SUFFIX, schema


class CheckedTOC(TOC):
    """Whoosh's table of contents with a CRC-32 and its length at the end."""

    _tail = struct.Struct("<4sIQ")
    _mark = b"NHtc"

    def write(self, storage: Any, indexname: str) -> None:
        """Write it under another name, seal it, make it durable and give it its name."""
        final = self._filename(indexname, self.generation)
        draft = _Renamed(storage, final)
        super().write(draft, indexname)
        path = Path(storage.folder) / draft.held
        data = path.read_bytes()
        with path.open("ab") as file:
            file.write(self._tail.pack(self._mark, zlib.crc32(data), len(data)))
            file.flush()
            os.fsync(file.fileno())
        path.replace(path.with_name(final))
        sync_folder(path.parent)

    @classmethod
    def check(cls, storage: Any, indexname: str) -> None:
        """Raise `IndexDamaged` where the newest one does not carry its checksum."""
        name = cls._filename(indexname, cls._latest_generation(storage, indexname))
        path = Path(storage.folder) / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise IndexDamaged(str(path), str(error)) from error
        body, tail = data[: -cls._tail.size], data[-cls._tail.size :]
        if tail != cls._tail.pack(cls._mark, zlib.crc32(body), len(body)):
            raise IndexDamaged(str(path), "it does not carry its checksum")


class _Renamed:
    """The storage, but the last step of writing the table is left to its caller."""

    def __init__(self, storage: Any, final: str) -> None:
        self._storage, self._final = storage, final
        self.held = ""

    def create_file(self, name: str) -> Any:
        return self._storage.create_file(name)

    def rename_file(self, old: str, new: str, safe: bool = False) -> None:
        self.held = old


class ArrayStorage(FileStorage):
    """A folder of files. Nothing of ours is ever too large for memory, so there is no folder
    for Whoosh's temporary files."""

    def temp_storage(self, name: str | None = None) -> RamStorage:
        return RamStorage()


class ArrayIndex(FileIndex):
    """An index folder whose table of contents is checked whenever it is read."""

    @classmethod
    def create(cls, storage: Any, schema: Schema, indexname: str = "MAIN") -> ArrayIndex:
        CheckedTOC(schema, [], 0).write(storage, indexname)
        return cls(storage, indexname=indexname)

    def __init__(self, storage: Any, schema: Schema | None = None, indexname: str = "MAIN") -> None:
        CheckedTOC.check(storage, indexname)
        super().__init__(storage, schema, indexname)

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return Path(str(self.storage.folder))  # type: ignore[attr-defined]

    def _read_toc(self) -> TOC:
        CheckedTOC.check(self.storage, self.indexname)
        toc: TOC = TOC.read(self.storage, self.indexname, schema=self._schema)
        return toc


def clear(folder: Path) -> None:
    """Remove all that an index has left in a folder."""
    for path in folder.glob("*"):
        if path.is_file() and path.suffix in (".toc", SEGMENT_SUFFIX):
            path.unlink(missing_ok=True)


_UNREADABLE: tuple[type[Exception], ...] = (
    pickle.UnpicklingError,
    AttributeError,
    ImportError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    OSError,
)
"""What unpickling raises for a table of contents that other code has written."""


def open_index(folder: Path, version: str) -> ArrayIndex:
    storage = ArrayStorage(str(folder))
    name = f"v{version}"
    for pattern in (f".*{SEGMENT_SUFFIX}", "_*.toc.*"):  # drafts of a merge or commit cut off
        for path in folder.glob(pattern):
            path.unlink()
    if TOC._latest_generation(storage, name) < 0:
        clear(folder)
        return ArrayIndex.create(storage, schema(), name)
    try:
        return ArrayIndex(storage, schema(), name)
    except _UNREADABLE as error:
        raise IndexDamaged(str(folder), str(error)) from error


def read_toc(index: ArrayIndex) -> Any:
    try:
        return index._read_toc()
    except _UNREADABLE as error:
        raise IndexDamaged(str(index.folder), str(error)) from error
