"""Stores what is read, many conversations at a time, so that they wait for the disk together.

First what belongs to them in `_recall` goes to disk, then their notes, then the indexes hear of
them. The lock on the vault's edits is let go between conversations, so that others are served.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from neurigraph.capture.own_notes import OwnNotes, WaitingNote
from neurigraph.capture.report import Report, Row, What
from neurigraph.edits.desk import Desk
from neurigraph.edits.prepared import Ready, sha256
from neurigraph.edits.save import SAVED_BEFORE, Saved, Saver, Waiting
from neurigraph.errors import NeurigraphError, VaultUnavailable
from neurigraph.importers.export import ExportItem
from neurigraph.importers.source import Failed
from neurigraph.index.record import opening_of
from neurigraph.model import Conversation

log = logging.getLogger(__name__)

TOGETHER, TOGETHER_CHARS, TOGETHER_SECONDS = 32, 1_500_000, 1.0
"""When what waits is written: whichever bound is reached first. Its index commit takes about a
tenth of a second, for which another save has to wait."""

Placer = Callable[[Ready], Conversation]
"""Gives a conversation the topic that it belongs to."""

_WHAT: dict[str, What] = {
    "created": "imported",
    "updated": "updated",
    "unchanged": "unchanged",
    "deleted_before": "left_out",
}


@dataclass(slots=True)
class _Entry:
    """Something between its two steps, and the row that tells of it."""

    waiting: Waiting | WaitingNote
    row: int


class Intake:
    """Takes one import's conversations and writes a row for each into its report."""

    def __init__(
        self,
        desk: Desk,
        saver: Saver,
        own: OwnNotes,
        lock: threading.RLock,
        placer: Placer,
        report: Report,
    ) -> None:
        self._desk, self._saver, self._own = desk, saver, own
        self._lock, self._placer, self._report = lock, placer, report
        self._entries: list[_Entry] = []
        self._keys: set[str] = set()
        self._chars = 0
        self._since = 0.0
        self._batch = ExitStack()

    def take(self, item: Ready | Failed | ExportItem) -> None:
        """Store one thing, or in a dry run find out what would become of it.

        What is wrong with it alone becomes a row; only a vault that cannot be used raises.
        """
        if isinstance(item, Failed):
            row = Row(item.title, "failed", reason=item.reason, source_id=item.source_id)
            self._report.rows.append(row)
            return
        try:
            if isinstance(item, ExportItem):
                self._take_note(item)
            elif self._report.dry_run:
                self._foresee(item)
            else:
                self._take_conversation(item)
        except VaultUnavailable:
            raise
        except (NeurigraphError, OSError) as error:
            self._fail(item, str(error))
        except Exception as error:  # noqa: BLE001 - one bad conversation never stops the rest
            log.warning("a conversation could not be stored: %s", type(error).__name__)
            self._fail(item, f"it could not be stored ({type(error).__name__})")
        if self._is_due():
            self.flush()

    def flush(self) -> None:
        """Write the notes of all that waits, and index them."""
        self._keys.clear()
        self._chars = 0
        self._batch.close()
        paths: dict[int, list[str]] = {}
        with self._desk.files.batch():
            for entry in self._entries:
                with self._lock:
                    paths[entry.row] = self._write(entry)
        with self._lock:
            self._desk.indexer.look([p for written in paths.values() for p in written])
        entries, self._entries = self._entries, []
        for entry in entries:
            if paths[entry.row] and isinstance(entry.waiting, Waiting):
                saved = self._saver.finished(entry.waiting)
                row = self._report.rows[entry.row]
                self._report.rows[entry.row] = replace(
                    row, path=saved.path, reason=saved.note, id=saved.id
                )

    def drop(self) -> None:
        """Leave what waits as it is: its rows are taken back, another import finishes it."""
        rows = {entry.row for entry in self._entries}
        self._report.rows[:] = [r for n, r in enumerate(self._report.rows) if n not in rows]
        entries, self._entries = self._entries, []
        with self._lock:
            for entry in entries:
                if isinstance(entry.waiting, Waiting):
                    self._saver.drop(entry.waiting)
        self._batch.close()

    # -- one thing

    def _take_conversation(self, ready: Ready) -> None:
        conversation = ready.conversation
        keys = _keys(conversation)
        if keys & self._keys:
            self.flush()
        self._open_batch()
        with self._lock:
            begun = self._saver.begin(ready, place=lambda: self._placer(ready))
        row = _row(ready, "imported")
        if isinstance(begun, Saved):
            what = _WHAT[begun.status]
            reason = (
                "" if what == "unchanged" and begun.note == "it was saved before" else begun.note
            )
            row = replace(row, what=what, path=begun.path, reason=reason, id=begun.id)
            self._report.rows.append(row)
            return
        self._keys |= keys
        self._chars += len(conversation.content)
        self._wait(begun, row)

    def _take_note(self, item: ExportItem) -> None:
        if self._report.dry_run:
            with self._lock:
                begun = self._own.begin(item, dry_run=True)
            row = begun if isinstance(begun, Row) else Row(begun.title, "imported", begun.path)
            self._report.rows.append(row)
            return
        if item.path.casefold() in self._keys:
            self.flush()
        self._open_batch()
        with self._lock:
            begun = self._own.begin(item)
        if isinstance(begun, Row):
            self._report.rows.append(begun)
            return
        self._keys.add(item.path.casefold())
        self._chars += len(item.note) + len(item.transcript or "")
        self._wait(begun, Row(begun.title, "imported", begun.path, id=begun.id))

    def _foresee(self, ready: Ready) -> None:
        conversation = ready.conversation
        with self._lock:
            saved = self._saver.foresee(conversation)
        keys = _keys(conversation)
        if saved.status == "created" and keys & self._keys:
            row = _row(ready, "unchanged")
            self._report.rows.append(replace(row, reason="it stands in this import twice"))
            return
        self._keys |= keys
        path = saved.path
        if saved.status == "created":
            placed = self._placer(ready)
            topics = (placed.broad_topic, placed.focused_topic)
            path = "/".join(name for name in topics if name)
        row = _row(ready, _WHAT[saved.status])
        self._report.rows.append(replace(row, path=path, reason=_reason(saved), id=saved.id))

    def _fail(self, item: Ready | ExportItem, reason: str) -> None:
        if isinstance(item, ExportItem):
            self._report.rows.append(Row(item.path, "failed", item.path, reason, item.id))
        else:
            self._report.rows.append(replace(_row(item, "failed"), reason=reason))

    # -- many together

    def _open_batch(self) -> None:
        """From here on new files of this thread are synced together, at the next `flush`."""
        if not self._entries:
            self._batch.close()
            self._batch.enter_context(self._desk.files.batch())
            self._since = time.monotonic()

    def _wait(self, waiting: Waiting | WaitingNote, row: Row) -> None:
        self._entries.append(_Entry(waiting, len(self._report.rows)))
        self._report.rows.append(row)

    def _is_due(self) -> bool:
        return bool(self._entries) and (
            len(self._entries) >= TOGETHER
            or self._chars >= TOGETHER_CHARS
            or time.monotonic() - self._since > TOGETHER_SECONDS
        )

    def _write(self, entry: _Entry) -> list[str]:
        rows = self._report.rows
        try:
            if isinstance(entry.waiting, WaitingNote):
                rows[entry.row] = self._own.write(entry.waiting)
                return [rows[entry.row].path]
            return self._saver.write(entry.waiting)
        except VaultUnavailable:
            raise
        except (NeurigraphError, OSError) as error:
            rows[entry.row] = replace(rows[entry.row], what="failed", reason=str(error))
            return []


def _reason(saved: Saved) -> str:
    """What a person should know; that a conversation is as it was needs no words."""
    return "" if saved.note == SAVED_BEFORE else saved.note


def _row(ready: Ready, what: What) -> Row:
    conversation, created = ready.conversation, ready.conversation.created
    title = conversation.title or next((p.draft.title for p in ready.parts.values()), "")
    title = title or _first_words(conversation.content)
    return Row(
        title,
        what,
        source_id=conversation.source_id,
        created=created.astimezone().date().isoformat() if created else "",
    )


def _first_words(content: str) -> str:
    """How a conversation without a title begins, after the heading of its first turn."""
    said = (line for line in content[:2_000].split("\n") if line.strip() and line[:3] != "## ")
    return " ".join(next(said, "a conversation").split())[:80]


def _keys(conversation: Conversation) -> set[str]:
    """By which of its traits another conversation could be found to be the same one."""
    source, content = conversation.source_id, conversation.content
    found = {sha256(content), source or opening_of(content)}
    return found - {""}
