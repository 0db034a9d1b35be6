"""Gives everything that a merge leaves its path: renames are followed, no two share one path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from neurigraph.sync.contents import Contents
from neurigraph.sync.folder_moves import FolderMoves, folder_moves
from neurigraph.sync.git import Entry
from neurigraph.sync.merge_note import TextMerge, merge_note, without_id
from neurigraph.sync.pairing import (
    Side,
    Version,
    folders_of,
    is_note,
    memory_of,
    owned_id,
    place_of,
)
from neurigraph.vault.layout import NODE_ID, nfc, numbered


@dataclass(frozen=True, slots=True)
class Naming:
    """How conflict copies are called: by this machine, and the moment as `2026-11-30 14-05`."""

    machine: str
    moment: str

    def beside(self, path: str) -> str:
        """The path of a conflict copy."""
        folder, slash, name = path.rpartition("/")
        if memory_of(path) and name == "transcript.md":
            # the name under which texts that stood in a transcript's place are listed
            return f"{folder}/transcript (set aside) from {self.machine} {self.moment}.md"
        stem, dot, ending = name.rpartition(".")
        if not stem:
            stem, dot, ending = name, "", ""
        return f"{folder}{slash}{stem} (conflict from {self.machine} {self.moment}){dot}{ending}"


@dataclass(slots=True)
class Outcome:
    """One thing as it is after the merge. `by` are the sides that changed it; `aside` is our
    version where it could not be merged, and `beside` the path at which it is kept."""

    key: str
    path: str
    entry: Entry
    by: frozenset[str]
    packed: bool = False
    aside: bytes | None = None
    beside: str = ""

    @property
    def mine(self) -> bool:
        """Whether it comes from our side alone."""
        return self.by == frozenset({"ours"})


@dataclass(frozen=True, slots=True)
class Sides:
    """The three versions, and the folders that each of the two sides has moved.

    `our_moves` are those of `our_renames` that count: of a folder that both have renamed, the
    name that is published already does. `before` are all folders, and `notes` the paths of all
    notes, of the version that both began with.
    """

    base: Side
    ours: Side
    theirs: Side
    our_renames: FolderMoves
    our_moves: FolderMoves
    their_moves: FolderMoves
    before: set[str]
    notes: set[str]

    @classmethod
    def of(
        cls,
        base: Side,
        ours: Side,
        theirs: Side,
        base_paths: Iterable[str],
        our_paths: Iterable[str],
        their_paths: Iterable[str],
    ) -> Sides:
        """Put together, with the folder moves found."""
        base_paths = list(base_paths)
        before = folders_of(base_paths)
        their_moves = folder_moves(base, theirs, before, folders_of(their_paths))
        renames = folder_moves(base, ours, before, folders_of(our_paths))
        notes = {p for p in base_paths if p.lower().endswith(".md")}
        counting = renames.without(their_moves)
        return cls(base, ours, theirs, renames, counting, their_moves, before, notes)

    def versions(self, key: str) -> tuple[Version | None, Version | None, Version | None]:
        """What a thing is in the base, in ours and in theirs."""
        return self.base.version(key), self.ours.version(key), self.theirs.version(key)

    def placed(self, key: str) -> str:
        """Where a thing belongs (without `.gz`), each side's renames followed."""
        old, mine, other = (v.place if v is not None else "" for v in self.versions(key))
        if not (mine and other):
            return self._followed(mine or other, bool(mine))
        if mine == other or not old:
            return other
        if mine in (old, self.our_renames.follow(old)):
            return self.our_moves.follow(other)
        if other in (old, self.their_moves.follow(old)):
            return self.their_moves.follow(mine)
        return other

    def _followed(self, path: str, is_ours: bool) -> str:
        """Where something that one side alone has belongs, when the other renamed its folder."""
        here, there = self.our_renames, self.their_moves
        if not is_ours:
            here, there = self.their_moves, self.our_moves
        new = there.follow(path)
        if new == path:
            origin = here.backward(path, self.before)
            moved = there.follow(origin)
            new = moved if moved != origin else path
        return new


def place_all(
    outcomes: list[Outcome],
    sides: Sides,
    fixed: Mapping[str, Entry],
    contents: Contents,
    merge_text: TextMerge,
    naming: Naming,
) -> list[Outcome]:
    """Give each outcome a path of its own, and conflict copies one too.

    `fixed` are the files that neither side touched. Of two different things at one path, ours
    is renamed; one topic, or one note, that both sides made becomes one.
    """
    placing = _Placing(fixed, contents, merge_text)
    for outcome in outcomes:
        outcome.path = f"{outcome.path}.gz" if outcome.packed else outcome.path
    # what is theirs is published already and keeps its name
    for outcome in sorted(outcomes, key=lambda one: (one.mine, one.path, one.key)):
        placing.put(outcome)
    placed = list(placing.placed.values())
    for outcome in list(placed):
        if outcome.aside is not None:
            path = placing.free(naming.beside(place_of(outcome.path)))
            note = path.lower().endswith(".md") and not memory_of(path)
            data = without_id(outcome.aside) if note else outcome.aside
            copy = Outcome(f"aside {path}", path, contents.add(data), frozenset({"ours"}))
            outcome.beside = path
            placing.put(copy)
            placed.append(copy)
    return placed


class _Placing:
    """The paths that are taken."""

    def __init__(
        self, fixed: Mapping[str, Entry], contents: Contents, merge_text: TextMerge
    ) -> None:
        self._fixed, self._contents, self._merge_text = fixed, contents, merge_text
        self.placed: dict[str, Outcome] = {}
        self._exact = set(fixed)
        self._instead: dict[str, str] = {}
        self._alike = {_alike(path): path for path in fixed}
        self._folders = folders_of(fixed)
        self._spelled = {_alike(folder): folder for folder in sorted(self._folders)}

    def put(self, outcome: Outcome) -> None:
        """Take a path, the outcome's own when it is free."""
        path = self._in_known_folders(outcome.path) if outcome.mine else outcome.path
        path = self._beside_files(path)
        taken = self._taken(path, outcome.mine)
        if taken is not None and self._joined(taken, outcome):
            return
        if taken is not None or path in self._folders:
            path = self.free(path)
        outcome.path = path
        self.placed[path] = outcome
        self._note(path)

    def free(self, path: str) -> str:
        """This path, or the next one with a number that nothing has."""
        folder, slash, name = path.rpartition("/")
        number, wanted = 1, path
        while self._taken(wanted, True) is not None or wanted in self._folders:
            number += 1
            wanted = f"{folder}{slash}{numbered(name, number)}"
        return wanted

    def _note(self, path: str) -> None:
        self._exact.add(path)
        self._alike.setdefault(_alike(path), path)
        new = folders_of([path])
        self._folders |= new
        for folder in new:
            self._spelled.setdefault(_alike(folder), folder)

    def _taken(self, path: str, mine: bool) -> str | None:
        """The path that is in the way: the same, or (of another side) one that differs in case."""
        if path in self._exact:
            return path
        other = self._alike.get(_alike(path)) if mine else None
        if other is not None and other in self.placed and self.placed[other].mine:
            return None
        return other

    def _in_known_folders(self, path: str) -> str:
        """A new path of ours, its folders spelled as they are already: `Medical`, not `medical`."""
        folder, slash, name = path.rpartition("/")
        if not folder or folder in self._folders:
            return path
        parts: list[str] = []
        for part in folder.split("/"):
            wanted = "/".join([*parts, part])
            known = self._spelled.get(_alike(wanted))
            parts = known.split("/") if known is not None else [*parts, part]
        return "/".join(parts) + slash + name

    def _beside_files(self, path: str) -> str:
        """The path with another folder where a file has the folder's name."""
        at = path.find("/")
        while at >= 0:
            folder = path[:at]
            if folder in self._exact:
                self._instead.setdefault(folder, self.free(folder))
                path = self._instead[folder] + path[at:]
                at = len(self._instead[folder])
            at = path.find("/", at + 1)
        return path

    def _joined(self, path: str, outcome: Outcome) -> bool:
        """Make one of two files at one path, where they are one thing to a person."""
        here = self.placed.get(path)
        entry = here.entry if here is not None else self._fixed[path]
        if entry == outcome.entry:
            return True
        if not (is_note(path, entry) and is_note(outcome.path, outcome.entry)):
            return False
        theirs, ours = self._contents[entry.oid], self._contents[outcome.entry.oid]
        ids = owned_id(path, theirs), owned_id(outcome.path, ours)
        if not all(NODE_ID.fullmatch(i) for i in ids) and any(ids):
            return False
        merged = merge_note(b"", ours, theirs, self._merge_text)
        if here is None:
            here = Outcome(f"joined {path}", path, entry, frozenset())
            self.placed[path] = here
        here.by = frozenset({"ours", "theirs"})
        here.entry = self._contents.add(merged.data, entry.mode)
        if merged.conflict:
            here.aside = ours
        return True


def _alike(path: str) -> str:
    return nfc(path).casefold()
