"""Changes one memory: its words, its place, its end and its return."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neurigraph.edits.compose import safe_line, safe_text, summary_source
from neurigraph.edits.desk import Desk, check_version, check_writable
from neurigraph.edits.relink import links_to, relink
from neurigraph.edits.tombstones import Tombstones
from neurigraph.edits.topics import folder_for
from neurigraph.errors import InvalidInput, NotFound
from neurigraph.index.reading import claimed_id
from neurigraph.index.record import Record
from neurigraph.vault.held import ALLOWED, HELD, SECRETS_KEY
from neurigraph.vault.layout import is_conflict_copy, recall_dir, stranger_id
from neurigraph.vault.note import flag, read_note, set_keys, set_section, text

TRASH = ".trash"
_HEADING = re.compile(rb"^(#{1,6}[ \t]+)[^\r\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """What is to change; None leaves a thing as it is."""

    title: str | None = None
    summary: str | None = None
    keywords: Sequence[str] | None = None
    decisions: str | None = None
    open_questions: str | None = None
    pinned: bool | None = None
    private: bool | None = None
    secrets_ok: bool | None = None
    broad_topic: str | None = None
    focused_topic: str | None = None

    @property
    def moves(self) -> bool:
        """Whether another topic is asked for."""
        return bool(self.broad_topic or self.focused_topic)


def update(desk: Desk, record: Record, edit: MemoryEdit, version: str | None) -> Record:
    """Change a memory line by line, compare-and-swap, and answer it as it is now.

    A person's own note is edited where they asked for it, and does not become ours.
    """
    check_version(record, version)
    check_writable(record)
    if edit.title is not None and not edit.title.strip():
        raise InvalidInput("title", "must not be empty")
    raw = desk.files.read(record.path)
    new = _edited(record, raw, edit)
    if new != raw:
        desk.files.replace(record.path, new, expected=raw)
        desk.indexer.look([record.path])
    current = desk.library.find(record.id) or record
    if edit.moves:
        folder = folder_for(desk, edit.broad_topic, edit.focused_topic)
        if current.path.rpartition("/")[0] != folder:
            current = move(desk, current, folder)
    return current


def _edited(record: Record, raw: bytes, edit: MemoryEdit) -> bytes:
    keys: dict[str, str | int | bool | list[str] | None] = {}
    if edit.title is not None:
        if record.owned:
            keys["title"] = safe_line(edit.title)
        else:
            raw = _retitled(raw, safe_line(edit.title))
    if edit.keywords is not None:
        keys["keywords"] = [k for w in edit.keywords if (k := safe_line(w, 80))]
    data = read_note(raw).data
    wanted = {"pinned": edit.pinned, "private": edit.private}
    keys |= {n: w for n, w in wanted.items() if w is not None and flag(data.get(n)) != w}
    if edit.secrets_ok is not None and record.owned:
        keys[SECRETS_KEY] = ALLOWED if edit.secrets_ok else HELD
    if edit.summary is not None:
        summary = safe_text(edit.summary)
        raw = set_section(raw, "Summary", summary)
        if record.owned:
            # not the hash of any generator: what a person or an AI wrote is never generated over
            keys["summary_source"] = summary_source("edited", summary)
    if edit.decisions is not None:
        raw = set_section(raw, "Decisions", safe_text(edit.decisions) or None)
    if edit.open_questions is not None:
        raw = set_section(raw, "Open questions", safe_text(edit.open_questions) or None)
    return set_keys(raw, keys) if keys else raw


def _retitled(raw: bytes, title: str) -> bytes:
    """A person's note has its title in its first heading; without one it is given one."""
    start = len(raw) - len(read_note(raw).body.encode("utf-8", "surrogateescape"))
    head, body = raw[: max(start, 0)], raw[max(start, 0) :]
    line = title.encode()
    if _HEADING.search(body):
        return head + _HEADING.sub(lambda m: m.group(1) + line, body, count=1)
    end = b"\r\n" if b"\r\n" in raw else b"\n"
    return head + b"# " + line + end + end + body


def move(desk: Desk, record: Record, folder: str) -> Record:
    """Move a memory into another topic's folder; links to it follow."""
    links = links_to(desk, {record.path})
    name = record.path.rpartition("/")[2]
    new = desk.files.move(record.path, f"{folder}/{name}")
    relink(desk, links, {record.path: new})
    found = desk.library.at(new)
    if found is None:
        raise NotFound("memory", record.id)
    return found


def delete(desk: Desk, record: Record, tombstones: Tombstones) -> str:
    """Move a memory and what belongs to it to the trash, and answer where its note lies."""
    place = desk.files.trash(record.path)
    if record.kind == "memory":
        if desk.files.exists(recall_dir(record.id)):
            desk.files.trash(recall_dir(record.id))
        tombstones.add(record.source_id, [record.transcript_sha256])
    desk.indexer.look([record.path])
    return place


def restore(desk: Desk, memory_id: str, tombstones: Tombstones) -> Record:
    """Bring a memory back from the trash to where it was. Raises `NotFound`."""
    known = desk.library.find(memory_id)
    if known is not None:
        return known
    for trashed in trashed_notes(desk):
        original = trashed.removeprefix(f"{TRASH}/")
        raw = desk.files.read(trashed)
        data = read_note(raw).data
        claimed = claimed_id(data)
        if memory_id not in (claimed or None, stranger_id(original)):
            continue
        place = desk.files.restore(trashed, original)
        if claimed:
            recall = f"{TRASH}/{recall_dir(claimed)}"
            if desk.files.exists(recall) and not desk.files.exists(recall_dir(claimed)):
                desk.files.restore(recall, recall_dir(claimed))
            tombstones.remove(text(data.get("source_id")), [text(data.get("transcript_sha256"))])
        desk.indexer.look([place])
        found = desk.library.at(place)
        if found is not None:
            return found
    raise NotFound("memory in the trash", memory_id)


def trashed_notes(desk: Desk) -> list[str]:
    """All notes in the trash, newest first."""
    root = desk.files.path(TRASH)
    notes = [
        p for p in root.rglob("*.md") if p.is_file() and not p.is_symlink() and not _in_recall(p)
    ]
    notes.sort(key=lambda p: p.stat().st_mtime_ns, reverse=True)
    return [
        p.relative_to(desk.files.root).as_posix() for p in notes if not is_conflict_copy(p.name)
    ]


def _in_recall(path: Path) -> bool:
    return "_recall" in path.parts
