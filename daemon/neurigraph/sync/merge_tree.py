"""Merges two versions of a whole vault: what moved is followed, what both changed is merged.

Pure: trees and contents in, the differences from their tree out. A file that one side alone
changed is taken as it is; what could not be merged lies beside its file as a conflict copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from neurigraph.edits.tombstones import lines_for
from neurigraph.sync.contents import Contents
from neurigraph.sync.git import Entry
from neurigraph.sync.links_after import follow_links, same_targets
from neurigraph.sync.merge_files import TOMBSTONES, is_edited, merge_file
from neurigraph.sync.merge_note import TextMerge
from neurigraph.sync.pairing import (
    REGULAR,
    Version,
    is_note,
    memory_of,
    name_base,
    name_side,
    owned_id,
    place_of,
)
from neurigraph.sync.placing import Naming, Outcome, Sides, place_all
from neurigraph.sync.twins import tell_apart
from neurigraph.vault.layout import MEMORY_ID
from neurigraph.vault.note import read_note, text

Tree = Mapping[str, Entry]
Renames = Callable[[str], Mapping[str, str]]
"""Files of a side (`ours`, `theirs`) that look renamed since the base, old path to new."""

OURS, THEIRS, BOTH = frozenset({"ours"}), frozenset({"theirs"}), frozenset({"ours", "theirs"})


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """What becomes of their tree: by path the new file, or None where a file goes. New contents
    have ids of `Contents`. `merged` are files that both sides changed, `kept_twice` those that
    have a conflict copy."""

    changes: Mapping[str, Entry | None]
    merged: tuple[str, ...] = ()
    kept_twice: tuple[str, ...] = ()


def merge_trees(
    base: Tree,
    ours: Tree,
    theirs: Tree,
    contents: Contents,
    renames: Renames,
    merge_text: TextMerge,
    naming: Naming,
) -> TreeMerge:
    """Merge two trees that both come from `base`, which is empty for histories that have no
    common beginning."""
    touched = {
        path
        for path in {*base, *ours, *theirs}
        if not base.get(path) == ours.get(path) == theirs.get(path)
    }
    trees = [{p: tree[p] for p in touched if p in tree} for tree in (base, ours, theirs)]
    for tree in trees:
        _drop_second_copies(tree, contents)
    contents.load(e.oid for tree in trees for p, e in tree.items() if is_note(p, e))
    ids = [
        {p: i for p, e in tree.items() if is_note(p, e) and (i := owned_id(p, contents[e.oid]))}
        for tree in trees
    ]
    tell_apart(trees, ids, contents, {*ours, *theirs})
    first = name_base(trees[0], ids[0])
    second = name_side(trees[1], ids[1], first, renames("ours") if base else {})
    third = name_side(trees[2], ids[2], first, renames("theirs") if base else {})
    sides = Sides.of(first, second, third, base, ours, theirs)
    outcomes = _Merging(sides, contents, merge_text).run()
    fixed = {p: e for p, e in theirs.items() if p not in touched}
    placed = place_all(outcomes, sides, fixed, contents, merge_text, naming)
    follow_links(placed, sides, fixed, contents)
    changes: dict[str, Entry | None] = {p: None for p in theirs if p not in fixed}
    changes |= {one.path: one.entry for one in placed}
    return TreeMerge(
        {p: e for p, e in changes.items() if e != theirs.get(p)},
        tuple(sorted(one.path for one in placed if one.by == BOTH)),
        tuple(sorted(one.beside for one in placed if one.beside)),
    )


def _drop_second_copies(tree: dict[str, Entry], contents: Contents) -> None:
    """Of a stored file that is there plain and compressed, the plain one counts."""
    for path in [p for p in tree if place_of(p) != p and place_of(p) in tree]:
        if contents.unpacked(tree[path].oid) == contents[tree[place_of(path)].oid]:
            del tree[path]


class _Merging:
    """Decides of each thing whether it stays, what it holds and where it belongs."""

    def __init__(self, sides: Sides, contents: Contents, merge_text: TextMerge) -> None:
        self._sides, self._contents, self._merge_text = sides, contents, merge_text
        self._target_key = same_targets(sides)
        self._in_use: set[str] = set()
        self._kept: set[str] = set()

    def run(self) -> list[Outcome]:
        """Everything that is there afterwards, of what some side changed."""
        sides = self._sides
        keys = sorted({*sides.base.path, *sides.ours.path, *sides.theirs.path})
        self._load(keys)
        self._kept = {key for key in keys if self._is_kept(key)}
        # notes first: how a transcript is stored may follow from what its note says
        keys.sort(key=lambda key: key.startswith("path "))
        found = [outcome for key in keys if (outcome := self._decide(key)) is not None]
        return self._without_tombstones_of_kept(found)

    def _load(self, keys: list[str]) -> None:
        """Fetch at once what has to be looked into."""
        wanted = []
        for key in keys:
            base, ours, theirs = self._sides.versions(key)
            found = [v for v in (base, ours, theirs) if v is not None]
            changed = [v for v in (ours, theirs) if v is not None and not v.same(base)]
            # what one side alone changed or added, or both alike, is taken unread
            both = len(changed) == 2 and not changed[0].same(changed[1])
            lone = len(changed) == 1 and base is not None and not (ours and theirs)
            if both or lone:
                wanted += found
        self._contents.load(v.entry.oid for v in wanted if v.entry.mode in REGULAR)

    def _words(self, version: Version | None) -> bytes:
        """What a file says, however it is stored; nothing for none."""
        if version is None or version.entry.mode not in REGULAR:
            return b""
        if version.packed:
            return self._contents.unpacked(version.entry.oid)
        return self._contents[version.entry.oid]

    # -- deleted on one side

    def _is_kept(self, key: str) -> bool:
        """Whether a note that one side deleted stays, because the other edited the memory."""
        base, ours, theirs = self._sides.versions(key)
        left = ours or theirs
        if base is None or left is None or (ours is not None and theirs is not None):
            return False
        if not key.startswith("path ") and is_edited(self._words(base), self._words(left)):
            return True
        if not MEMORY_ID.fullmatch(key):
            return False
        side = self._sides.ours if ours is not None else self._sides.theirs
        return any(
            self._is_edit(self._sides.base.version(side.key[path]), side.version(side.key[path]))
            for path in side.files
            if memory_of(path) == key
        )

    def _is_edit(self, base: Version | None, left: Version | None) -> bool:
        return base is None or (not base.same(left) and self._words(base) != self._words(left))

    def _stays(self, key: str, base: Version | None, left: Version) -> bool:
        """Whether what one side alone has is there afterwards: new or edited, not deleted."""
        if base is None or key in self._kept or memory_of(left.place) in self._kept:
            return True
        if not key.startswith("path "):
            return False  # `_is_kept` has looked at it
        if left.entry.mode not in REGULAR:
            return left.entry != base.entry
        return self._is_edit(base, left)

    # -- what it holds

    def _decide(self, key: str) -> Outcome | None:
        base, ours, theirs = self._sides.versions(key)
        if ours is None or theirs is None:
            left = ours or theirs
            if left is None or not self._stays(key, base, left):
                return None
            by = OURS if ours is not None else THEIRS
            return Outcome(key, self._sides.placed(key), left.entry, by, left.packed)
        version, by, aside = self._chosen(key, base, ours, theirs)
        if memory_of(version.place) in self._in_use and version.packed:
            version = self._unpacked(version, ours, theirs)
        place = self._sides.placed(key)
        return Outcome(key, place, version.entry, by, version.packed, aside=aside)

    def _chosen(
        self, key: str, base: Version | None, ours: Version, theirs: Version
    ) -> tuple[Version, frozenset[str], bytes | None]:
        """The version that counts, who changed it, and ours where it has to be kept beside."""
        if ours.same(theirs):
            return theirs, frozenset(), None
        if ours.same(base):
            return theirs, THEIRS, None
        if theirs.same(base):
            return ours, OURS, None
        if ours.entry.mode not in REGULAR or theirs.entry.mode not in REGULAR:
            return theirs, THEIRS, None
        mode = theirs.entry.mode
        if base is not None and mode == base.entry.mode:
            mode = ours.entry.mode
        before, mine, other = self._words(base), self._words(ours), self._words(theirs)
        if mine == other:
            chosen = theirs if ours.packed else ours
            return replace(chosen, entry=Entry(mode, chosen.entry.oid)), BOTH, None
        # an edit counts for more than being stored in another way
        if base is not None and mine == before:
            return replace(theirs, entry=Entry(mode, theirs.entry.oid)), THEIRS, None
        if base is not None and other == before:
            return replace(ours, entry=Entry(mode, ours.entry.oid)), OURS, None
        merged = merge_file(theirs.place, before, mine, other, self._merge_text, self._target_key)
        if MEMORY_ID.fullmatch(key):
            heat = text(read_note(merged.data).data.get("temperature"))
            self._in_use |= {key} if heat in ("hot", "warm") else set()
        aside = mine if merged.conflict else None
        if merged.data == other and not theirs.packed:
            return replace(theirs, entry=Entry(mode, theirs.entry.oid)), BOTH, aside
        return Version(theirs.place, self._contents.add(merged.data, mode), False), BOTH, aside

    def _unpacked(self, chosen: Version, ours: Version, theirs: Version) -> Version:
        """What was compressed on one side while the memory was opened on the other stays plain."""
        for version in (theirs, ours):
            if not version.packed and self._words(version) == self._words(chosen):
                return version
        return chosen

    def _without_tombstones_of_kept(self, outcomes: list[Outcome]) -> list[Outcome]:
        """A memory that stays because it was edited is no longer said to be deleted."""
        lines: set[str] = set()
        for outcome in outcomes:
            if outcome.key in self._kept and MEMORY_ID.fullmatch(outcome.key):
                data = read_note(self._contents[outcome.entry.oid]).data
                lines |= lines_for(
                    text(data.get("source_id")), [text(data.get("transcript_sha256"))]
                )
        for outcome in outcomes:
            if outcome.path == TOMBSTONES and lines:
                held = self._contents[outcome.entry.oid].decode("utf-8", "replace").split("\n")
                kept = "".join(f"{line}\n" for line in held if line and line not in lines)
                outcome.entry = self._contents.add(kept.encode(), outcome.entry.mode)
        return outcomes
