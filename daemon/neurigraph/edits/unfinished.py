"""Memories whose transcript is stored while their note is not written yet.

A note comes after its transcript. When a save or an import ends in between, this list tells which
folders in `_recall` nobody was told of, so that saving the same text again takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class Unfinished:
    """The list, in a file of the state directory; losing it leaves such folders to the survey.

    What an earlier process, or a save that was refused, left behind can be taken over. The caller
    holds the lock on the vault's edits.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._under_way: dict[str, str] = {}
        self._left: dict[str, str] = _load(file)

    def begin(self, memory_id: str, digest: str) -> None:
        """The transcript with this SHA-256 is about to be stored."""
        self._under_way[memory_id] = digest
        # a state directory that cannot be written to is noticed elsewhere, and must not cost a save
        with suppress(OSError), self._file.open("a", encoding="ascii") as file:
            file.write(f"{memory_id} {digest}\n")

    def end(self, memory_ids: Iterable[str]) -> None:
        """These have their notes."""
        for memory_id in memory_ids:
            self._under_way.pop(memory_id, None)
        if not self._under_way:
            self._write()

    def leave(self, memory_ids: Iterable[str]) -> list[str]:
        """The notes of these will not be written; answers those of which that is new."""
        left = [i for i in memory_ids if i in self._under_way]
        self._left |= {self._under_way.pop(memory_id): memory_id for memory_id in left}
        if not self._under_way:
            self._write()
        return left

    def take(self, digest: str) -> str:
        """The id under which this very text was left behind, once; else nothing."""
        return self._left.pop(digest, "")

    def _write(self) -> None:
        lines = "".join(f"{memory_id} {digest}\n" for digest, memory_id in self._left.items())
        with suppress(OSError):
            if not lines:
                self._file.unlink(missing_ok=True)
                return
            draft = self._file.with_name(f"{self._file.name}.new")
            draft.write_text(lines, "ascii")
            draft.replace(self._file)


def _load(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text("ascii", "replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split(" ") for line in lines)
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}
