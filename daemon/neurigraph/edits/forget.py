"""Removes a memory for good: note, transcript, files, what lies in the trash, and the links to it.

What only a person can remove (git's history, other copies) is said, with how it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neurigraph.edits.desk import Desk
from neurigraph.edits.memories import trashed_notes
from neurigraph.edits.tombstones import Tombstones
from neurigraph.errors import NeurigraphError, NotFound
from neurigraph.index.reading import claimed_id
from neurigraph.index.record import Record
from neurigraph.vault.layout import INBOX_DROP, RECALL, TRASH, recall_dir, stranger_id
from neurigraph.vault.note import read_note, set_keys, text

History = Callable[[str, Sequence[str]], Sequence[str]]
"""Which paths git's history holds of a memory, by its id and the paths that are known."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed (paths in the vault), and a line for each thing that remains elsewhere."""

    id: str
    title: str
    removed: tuple[str, ...]
    remains: tuple[str, ...]


def forget(desk: Desk, memory_id: str, tombstones: Tombstones, history: History) -> Forgotten:
    """Remove a memory that is in the vault, in the trash, or in both. Raises `NotFound`."""
    record = desk.library.find(memory_id)
    if record is not None and record.kind == "node":
        raise NotFound("memory", memory_id)
    trashed = _in_trash(desk, memory_id)
    if record is None and not trashed:
        raise NotFound("memory", memory_id)
    title = record.title if record is not None else ""
    removed: list[str] = []
    if record is not None:
        if record.kind == "memory":
            tombstones.add(record.source_id, [record.transcript_sha256])
            _unlink_parts(desk, record)
        removed.append(record.path)
    for path in trashed:
        data = read_note(desk.files.read(path)).data
        title = title or text(data.get("title"))
        if claimed_id(data):
            tombstones.add(text(data.get("source_id")), [text(data.get("transcript_sha256"))])
    removed += trashed + _belongings(desk, memory_id)
    for path in removed:
        desk.files.remove_for_good(path)
    if record is not None:
        desk.indexer.look([record.path])
    known = [record.path] if record is not None else [p.removeprefix(f"{TRASH}/") for p in trashed]
    remains = [*_copies(desk, memory_id), *_elsewhere(desk, memory_id, known, history)]
    return Forgotten(memory_id, title, tuple(removed), tuple(remains))


def _in_trash(desk: Desk, memory_id: str) -> list[str]:
    """The notes in the trash that are this memory's."""
    found = []
    for path in trashed_notes(desk):
        claimed = claimed_id(read_note(desk.files.read(path)).data)
        if memory_id in (claimed or None, stranger_id(path.removeprefix(f"{TRASH}/"))):
            found.append(path)
    return found


def _belongings(desk: Desk, memory_id: str) -> list[str]:
    """All in `_recall` and in its part of the trash that is this memory's by its name."""
    if not memory_id.startswith("m-"):
        return []
    found = [recall_dir(memory_id)] if desk.files.exists(recall_dir(memory_id)) else []
    for rel in (f"{TRASH}/{RECALL}",):
        folder = desk.files.path(rel)
        if folder.is_dir():
            found += [
                f"{rel}/{entry.name}"
                for entry in sorted(folder.iterdir())
                if entry.name == memory_id or entry.name.startswith(f"{memory_id} ")
            ]
    return found


def _unlink_parts(desk: Desk, record: Record) -> None:
    """Take the links to a part out of the parts before and after it."""
    for target, key in ((record.previous_part, "next_part"), (record.next_part, "previous_part")):
        other = desk.library.resolve(target, record.path) if target else None
        if other is not None and other.kind == "memory" and other.id != record.id:
            desk.files.edit(other.path, lambda raw, key=key: set_keys(raw, {key: None}))  # type: ignore[misc]  # the default binds the loop's value
            desk.indexer.look([other.path])


def _copies(desk: Desk, memory_id: str) -> list[str]:
    return [
        f"{record.path} is a copy of its note; look at it, and delete it if it is not wanted"
        for record in desk.library.records()
        if record.claimed_id == memory_id
    ]


def _elsewhere(desk: Desk, memory_id: str, known: Sequence[str], history: History) -> list[str]:
    """What lies where we do not delete: git's history, exports that were dropped here."""
    said = []
    belongings = [recall_dir(memory_id)] if memory_id.startswith("m-") else []
    try:
        paths = history(memory_id, [*known, *belongings])
    except NeurigraphError as error:
        said.append(f"git could not be asked whether its history still holds it ({error})")
        paths = ()
    if paths:
        short = [p for p in paths if not p.startswith(f"{RECALL}/")]
        short += belongings if len(short) < len(paths) else []
        named = " ".join(f"--path {_quoted(path)}" for path in short)
        said.append(
            "git's history still holds it. To remove it there, close Obsidian, stop the daemon, "
            f"and run in {desk.files.root}: git filter-repo --invert-paths {named} ; then push "
            "with --force, and clone anew on your other machines"
        )
    done = Path(desk.files.root, INBOX_DROP)
    kept = [p for name in ("done", "failed") for p in done.glob(f"{name}/*")]
    if kept:
        said.append(f"the file that it was imported from may still lie in {INBOX_DROP}/done")
    return said


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"
