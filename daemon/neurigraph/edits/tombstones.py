"""Remembers what a person deleted, so that no import, save or sync brings it back.

`.neurigraph-tombstones` travels with the vault: one line a deleted source id or transcript, as
hashes, so that the file tells nothing. Two machines' files merge as the union of their lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from neurigraph.vault.files import VaultFiles

PATH = ".neurigraph-tombstones"


class Tombstones:
    """The file of tombstones; read anew when it changed."""

    def __init__(self, files: VaultFiles) -> None:
        self._files = files
        self._read_of: tuple[int, int] | None = None
        self._lines: frozenset[str] = frozenset()

    def covers(self, source_id: str, transcripts: Sequence[str]) -> bool:
        """Whether this source was deleted, or every one of these transcripts (SHA-256) was."""
        lines = self._load()
        if source_id and _source(source_id) in lines:
            return True
        return bool(transcripts) and all(f"transcript {t}" in lines for t in transcripts)

    def add(self, source_id: str, transcripts: Iterable[str]) -> None:
        """Remember that these were deleted."""
        self._change(add=lines_for(source_id, transcripts), remove=set())

    def remove(self, source_id: str, transcripts: Iterable[str]) -> None:
        """These were restored."""
        self._change(add=set(), remove=lines_for(source_id, transcripts))

    def _load(self) -> frozenset[str]:
        path = self._files.path(PATH)
        try:
            status = path.stat()
        except FileNotFoundError:
            self._read_of, self._lines = None, frozenset()
            return self._lines
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self._read_of:
            text = self._files.read(PATH).decode("utf-8", "replace")
            self._read_of, self._lines = stamp, frozenset(text.split("\n")) - {""}
        return self._lines

    def _change(self, add: set[str], remove: set[str]) -> None:
        lines = set(self._load())
        new = (lines | add) - remove
        if new == lines:
            return
        data = "".join(f"{line}\n" for line in sorted(new)).encode()
        if self._files.exists(PATH):
            self._files.edit(PATH, lambda _: data)
        else:
            self._files.create(PATH, data)
        self._read_of = None


def lines_for(source_id: str, transcripts: Iterable[str]) -> set[str]:
    """The lines that say that a source, and these transcripts (SHA-256), were deleted."""
    lines = {f"transcript {t}" for t in transcripts if t}
    return lines | ({_source(source_id)} if source_id else set())


def _source(source_id: str) -> str:
    return f"source {hashlib.sha256(source_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
