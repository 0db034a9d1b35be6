"""Finds the folders that a machine has renamed, so that what another put into them follows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from neurigraph.sync.pairing import Side, in_recall
from neurigraph.vault.layout import NODE_ID

_NODE_NOTE = 1000
"""A node's note says more about where its folder went than any number of the notes in it."""


@dataclass(frozen=True, slots=True)
class FolderMoves:
    """Folders that went, by their old path, each with its new one."""

    moved: Mapping[str, str]

    def follow(self, path: str) -> str:
        """Where a file belongs that somebody put into a folder which has moved."""
        folder = path.rpartition("/")[0]
        while folder:
            if folder in self.moved:
                return self.moved[folder] + path[len(folder) :]
            folder = folder.rpartition("/")[0]
        return path

    def backward(self, path: str, before: set[str]) -> str:
        """Where a file in a folder of a new name would have been under the old one."""
        origins = {new: old for old, new in self.moved.items() if new not in before}
        return FolderMoves(origins).follow(path)

    def without(self, other: FolderMoves) -> FolderMoves:
        """Those of which the other side says nothing."""
        return FolderMoves({k: v for k, v in self.moved.items() if k not in other.moved})


def folder_moves(base: Side, side: Side, before: set[str], after: set[str]) -> FolderMoves:
    """The folders that are gone from a side, and where most of their notes went.

    `before` and `after` are all folders of the two versions.
    """
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    gone = before - after
    if not gone:
        return FolderMoves({})
    for key, old in base.path.items():
        new = side.path.get(key)
        if new is None or new == old or in_recall(old):
            continue
        folder = old.rpartition("/")[0]
        if folder in gone and NODE_ID.fullmatch(key):
            votes[folder][new.rpartition("/")[0]] += _NODE_NOTE
        while folder:
            rest = old[len(folder) :]
            if folder in gone and new.endswith(rest):
                votes[folder][new[: -len(rest)]] += 1
            folder = folder.rpartition("/")[0]
    best = {
        folder: max(sorted(counted), key=lambda new, c=counted: c[new])  # type: ignore[misc]  # the default binds the loop's value
        for folder, counted in votes.items()
    }
    return FolderMoves({old: new for old, new in best.items() if new and new != old})
