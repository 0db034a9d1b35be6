"""Tells which file of one version of the vault is which in another: by id, by path, by likeness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from neurigraph.index.reading import claimed_id
from neurigraph.sync.git import Entry
from neurigraph.vault.layout import MEMORY_ID, RECALL, is_conflict_copy
from neurigraph.vault.note import read_note

REGULAR = ("100644", "100755")


def is_note(path: str, entry: Entry) -> bool:
    """Whether a file is a note outside of `_recall`."""
    return path.lower().endswith(".md") and entry.mode in REGULAR and not in_recall(path)


def in_recall(path: str) -> bool:
    """Whether a file belongs to a memory's folder in `_recall`."""
    return path.startswith(f"{RECALL}/")


def memory_of(path: str) -> str:
    """The id of the memory whose folder in `_recall` a file is in, or an empty text."""
    parts = path.split("/")
    if len(parts) > 2 and parts[0] == RECALL and MEMORY_ID.fullmatch(parts[1]):
        return parts[1]
    return ""


def place_of(path: str) -> str:
    """The path of a stored file without the `.gz` that says only how it is stored."""
    if not memory_of(path) or not path.endswith(".gz"):
        return path
    inner = path.split("/", 2)[2]
    plain = inner[: -len(".gz")]
    ours = plain == "transcript.md" or (
        plain.startswith("artifacts/") and not plain.startswith("artifacts/as-is/")
    )
    return path[: -len(".gz")] if ours else path


def owned_id(path: str, raw: bytes) -> str:
    """The id of a note that is ours, else an empty text."""
    if is_conflict_copy(path.rpartition("/")[2]) or b"id:" not in raw:
        return ""
    return claimed_id(read_note(raw).data)


@dataclass(frozen=True, slots=True)
class Version:
    """A thing in one version of the vault. `place` is its path without the `.gz` that a `packed`
    file of ours has."""

    place: str
    entry: Entry
    packed: bool

    @property
    def path(self) -> str:
        """Its path on disk."""
        return f"{self.place}.gz" if self.packed else self.place

    def same(self, other: Version | None) -> bool:
        """Whether it holds the same, stored in the same way."""
        return other is not None and (self.entry, self.packed) == (other.entry, other.packed)


@dataclass(slots=True)
class Side:
    """The files of one version that some version changed. `ids` are those of notes that are ours,
    by path; `key` says by path which thing a file is, `path` is the way back."""

    files: dict[str, Entry]
    ids: dict[str, str]
    key: dict[str, str] = field(default_factory=dict)
    path: dict[str, str] = field(default_factory=dict)

    def take(self, path: str, key: str) -> None:
        """A file is this thing."""
        self.key[path], self.path[key] = key, path

    def version(self, key: str) -> Version | None:
        """What a thing is here; None where it is not."""
        path = self.path.get(key)
        if path is None:
            return None
        place = place_of(path)
        return Version(place, self.files[path], place != path)


def name_base(files: Mapping[str, Entry], ids: Mapping[str, str]) -> Side:
    """The version that both sides began with, each file with its key."""
    side = Side(dict(files), dict(ids))
    for path in sorted(files):
        own = ids.get(path, "")
        side.take(path, own if own and own not in side.path else _free(side, path))
    return side


def name_side(
    files: Mapping[str, Entry],
    ids: Mapping[str, str],
    base: Side,
    renamed: Mapping[str, str],
) -> Side:
    """Another version, each file with the key of what it was in `base`, or a key of its own.

    `renamed` are files that look the same in another place, old path to new.
    """
    side = Side(dict(files), dict(ids))
    by_id: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        if own := ids.get(path, ""):
            by_id[own].append(path)
    for own, paths in by_id.items():
        before = base.path.get(own)
        if before is None and (known := base.key.get(paths[0], "")).startswith("path "):
            side.take(paths[0], known)  # a note that has become ours since
        else:
            side.take(before if before in paths else paths[0], own)
    for path in sorted(files):
        known = base.key.get(path) or base.key.get(_other_form(path, base.files), "")
        if path in side.key or not known or known in side.path:
            continue
        if known.startswith("path ") or not ids.get(path):
            side.take(path, known)
    for before, path in renamed.items():
        known = base.key.get(before, "")
        free = path in files and path not in side.key and known and known not in side.path
        if free and not ids.get(path) and not in_recall(path):
            side.take(path, known)
    for path in sorted(files):
        if path not in side.key:
            side.take(path, _free(side, path))
    return side


def _other_form(path: str, files: Mapping[str, Entry]) -> str:
    """The same stored file, compressed or not, where it is one of `files`."""
    plain = place_of(path)
    other = f"{plain}.gz" if plain == path else plain
    return other if memory_of(path) and place_of(other) == plain and other in files else ""


def _free(side: Side, path: str) -> str:
    key = f"path {place_of(path)}"
    if key in side.path:
        key = f"path {path}"
    while key in side.path:
        key += "+"
    return key


def folders_of(paths: Iterable[str]) -> set[str]:
    """Every folder that holds one of these files, at any depth."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
