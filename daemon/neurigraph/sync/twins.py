"""Tells apart two memories that two machines happened to give one id."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.model import Value
from neurigraph.sync.contents import Contents
from neurigraph.sync.git import Entry
from neurigraph.sync.pairing import memory_of
from neurigraph.vault.layout import MEMORY_ID, recall_dir
from neurigraph.vault.note import read_note, set_keys, text


def tell_apart(
    trees: Sequence[dict[str, Entry]],
    ids: Sequence[dict[str, str]],
    contents: Contents,
    paths: Collection[str],
) -> None:
    """Give a new memory of ours another id when theirs has a different one under the same.

    `trees` and `ids` are base, ours and theirs; ours are changed in place. `paths` are all files
    of both sides.
    """
    known = set(ids[0].values())
    theirs = {own: path for path, own in ids[2].items() if own not in known}
    taken = {memory_of(path) for path in paths} | set(ids[1].values()) | set(theirs)
    for path, own in list(ids[1].items()):
        other = theirs.get(own)
        if other is None or not MEMORY_ID.fullmatch(own) or own in known:
            continue
        mine = contents[trees[1][path].oid]
        if _same_memory(read_note(mine).data, read_note(contents[trees[2][other].oid]).data):
            continue
        new = _new_id(own, taken)
        taken.add(new)
        try:
            renamed = _renamed(mine, own, new)
        except (NotWritable, InvalidInput):
            continue
        trees[1][path] = contents.add(renamed, trees[1][path].mode)
        ids[1][path] = new
        for stored in [p for p in trees[1] if memory_of(p) == own]:
            moved = recall_dir(new) + stored.removeprefix(recall_dir(own))
            trees[1][moved] = trees[1].pop(stored)


def _same_memory(mine: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    """Whether two notes with one id are of one conversation, perhaps at two times of it."""
    return any(
        text(mine.get(key)) == text(other.get(key)) for key in ("created", "transcript_sha256")
    )


def _new_id(own: str, taken: set[str]) -> str:
    """Another id of the same day."""
    while (made := f"{own[:11]}{secrets.token_hex(4)}") in taken:
        pass
    return made


def _renamed(raw: bytes, old: str, new: str) -> bytes:
    changes: dict[str, str | list[str] | None] = {}
    for key, value in read_note(raw).data.items():
        if key == "id":
            changes[key] = new
        elif isinstance(value, str) and recall_dir(old) in value:
            changes[key] = value.replace(recall_dir(old), recall_dir(new))
        elif isinstance(value, list) and any(recall_dir(old) in str(item) for item in value):
            changes[key] = [str(item).replace(recall_dir(old), recall_dir(new)) for item in value]
    return set_keys(raw, changes)
