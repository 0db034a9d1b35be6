"""The contents of files of a repository while a merge is worked out, new ones included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from neurigraph.errors import TooLarge
from neurigraph.sync.git import Entry
from neurigraph.vault.packing import Damaged, gunzip

_NEW = "new "


class Contents:
    """Bytes by their id. What is `add`ed gets an id of our own until it is stored."""

    def __init__(self, read: Callable[[Iterable[str]], Mapping[str, bytes]]) -> None:
        self._read = read
        self._held: dict[str, bytes] = {}
        self._unpacked: dict[str, bytes] = {}

    def load(self, oids: Iterable[str]) -> None:
        """Fetch these at once."""
        missing = [oid for oid in dict.fromkeys(oids) if oid not in self._held]
        if missing:
            self._held |= self._read(missing)

    def __getitem__(self, oid: str) -> bytes:
        if oid not in self._held:
            self.load([oid])
        return self._held[oid]

    def unpacked(self, oid: str) -> bytes:
        """What a gzip file holds; a damaged one as it is."""
        if oid not in self._unpacked:
            try:
                self._unpacked[oid] = gunzip(self[oid])
            except (Damaged, TooLarge):
                self._unpacked[oid] = self[oid]
        return self._unpacked[oid]

    def add(self, data: bytes, mode: str = "100644") -> Entry:
        """A file with new bytes."""
        oid = f"{_NEW}{len(self._held)}"
        self._held[oid] = data
        return Entry(mode, oid)

    def is_new(self, oid: str) -> bool:
        """Whether the repository does not hold these bytes yet."""
        return oid.startswith(_NEW)
