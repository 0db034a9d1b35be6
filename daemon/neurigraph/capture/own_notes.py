"""Puts the notes of one of our own exports back as they were: bytes, ids, transcripts, files.

What the vault holds already stays as it is here. A path of an export is foreign data: only a note
in a plain folder is ever written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from neurigraph.capture.report import Row, What
from neurigraph.edits.desk import Desk
from neurigraph.edits.prepared import kinds_in, sha256
from neurigraph.edits.save import DELETED_BEFORE
from neurigraph.edits.tombstones import Tombstones
from neurigraph.importers.export import ExportItem
from neurigraph.index.record import Record
from neurigraph.vault.held import HELD, SECRETS_KEY
from neurigraph.vault.layout import INBOX_DROP, MEMORY_ID, NODE_ID, RECALL
from neurigraph.vault.note import first_heading, read_note, set_keys, text


@dataclass(frozen=True, slots=True)
class WaitingNote:
    """A note whose transcript and artifacts are stored, to be written at `path`."""

    id: str
    path: str
    note: bytes
    title: str


class OwnNotes:
    """Takes the items of one export. The caller holds the lock on the vault's edits."""

    def __init__(self, desk: Desk, tombstones: Tombstones) -> None:
        self._desk, self._tombstones = desk, tombstones
        self._placed: set[str] = set()

    def begin(self, item: ExportItem, *, dry_run: bool = False) -> Row | WaitingNote:
        """Store what belongs to a note; the answer is what is still to be written, if anything."""
        title = _title(item)

        def row(what: What, reason: str = "", path: str = item.path) -> Row:
            return Row(title, what, path, reason, item.id)

        if problem := _unfit(item):
            return row("failed", problem)
        memory = bool(MEMORY_ID.fullmatch(item.id))
        known = self._desk.library.find(item.id) if memory or _is_node(item) else None
        # a second note with one id is a copy that a person made: it comes along as a plain note
        copy = item.id in self._placed
        if known is not None and not copy:
            return self._beside(known, item, row, dry_run)
        if known is None and self._is_there(item):
            return row("unchanged")
        if _is_node(item) and not copy and (there := self._node_there(item)):
            return row("unchanged", "the topic has a note already, which stays", there)
        if memory and not copy:
            digests = [sha256(item.transcript)] if item.transcript is not None else []
            if self._tombstones.covers(_source(item), digests):
                return row("left_out", DELETED_BEFORE)
            if not dry_run:
                self._store(item)
        self._placed.add(item.id)
        return WaitingNote(item.id, item.path, self._marked(item), title)

    def write(self, waiting: WaitingNote) -> Row:
        """Write the note, still to be indexed."""
        path = self._desk.files.create(waiting.path, waiting.note)
        reason = "" if path == waiting.path else f"{waiting.path} is another note here"
        return Row(waiting.title, "imported", path, reason, waiting.id)

    def _beside(
        self, known: Record, item: ExportItem, row: Callable[..., Row], dry_run: bool
    ) -> Row:
        """The vault knows this id: only a transcript that is missing here is taken."""
        stamp = known.transcript
        lost = known.kind == "memory" and (stamp is None or stamp.form == "missing")
        if lost and item.transcript is not None and sha256(item.transcript) == _digest(item):
            if not dry_run:
                self._store(item)
                self._desk.indexer.look([known.path])
            return row("updated", "its transcript was missing", known.path)
        same = self._desk.files.read(known.path) == item.note
        return row("unchanged", "" if same else "it is here already and stays as it is", known.path)

    def _is_there(self, item: ExportItem) -> bool:
        files = self._desk.files
        return files.exists(item.path) and files.read(item.path) == item.note

    def _node_there(self, item: ExportItem) -> str:
        place = self._desk.library.place_at(item.path.rpartition("/")[0])
        return place.note.path if place is not None and place.note is not None else ""

    def _store(self, item: ExportItem) -> None:
        recall = self._desk.recall
        if item.transcript is not None:
            recall.store(item.id, item.transcript)
        there = {a.name for a in recall.stat(item.id).artifacts}
        for artifact in item.artifacts:
            if artifact.name not in there:
                recall.add_artifact(item.id, artifact.name, artifact.data)

    def _marked(self, item: ExportItem) -> bytes:
        """The note, marked where nobody has looked yet at what seems a secret in its transcript."""
        if self._desk.settings.imports.secrets == "off" or item.transcript is None:
            return item.note
        note = read_note(item.note)
        if not note.writable or SECRETS_KEY in note.data or not kinds_in(item.transcript):
            return item.note
        return set_keys(item.note, {SECRETS_KEY: HELD})


def _unfit(item: ExportItem) -> str:
    """Why an item cannot be taken, or nothing."""
    parts = PurePosixPath(item.path).parts
    if not item.path.lower().endswith(".md"):
        return "it is no note"
    if any(part.startswith(".") for part in parts) or parts[0] in (RECALL, INBOX_DROP):
        return "no note belongs at this path"
    belongings = item.transcript is not None or item.artifacts
    if belongings and not MEMORY_ID.fullmatch(item.id):
        return "it has a transcript but no id of a memory"
    return ""


def _is_node(item: ExportItem) -> bool:
    return bool(NODE_ID.fullmatch(item.id))


def _title(item: ExportItem) -> str:
    note = read_note(item.note)
    name = PurePosixPath(item.path).stem
    return text(note.data.get("title")) or first_heading(note.body) or name


def _source(item: ExportItem) -> str:
    return text(read_note(item.note).data.get("source_id"))


def _digest(item: ExportItem) -> str:
    return text(read_note(item.note).data.get("transcript_sha256"))
