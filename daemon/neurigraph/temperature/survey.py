"""Looks through `_recall` for what no note accounts for: folders whose note is gone, transcripts
that are there twice, texts that were set aside."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.temperature.journal import Journal
from neurigraph.temperature.shelf import SET_ASIDE, Shelf
from neurigraph.vault.layout import RECALL, TRASH, is_placeholder, recall_dir

log = logging.getLogger(__name__)

KEPT = timedelta(days=30)
"""How long a folder is kept after its note was first missed."""

_FRESH_SECONDS = 600

_HEAD_BYTES = 65_536
"""Where in a note its id is looked for."""


class Survey:
    """Keeps account of the folders in `_recall`. `whole` says whether all notes are known."""

    def __init__(
        self,
        desk: Desk,
        shelf: Shelf,
        journal: Journal,
        edits: threading.RLock,
        stop: threading.Event,
        whole: Callable[[], bool],
    ) -> None:
        self._desk, self._shelf, self._journal = desk, shelf, journal
        self._edits, self._stop, self._whole = edits, stop, whole

    def run(self, *, may_trash: bool) -> None:
        """List what needs a look and finish what was interrupted.

        With `may_trash`, folders whose note has been gone for 30 days go to the trash, unless any
        note anywhere may still name them.
        """
        if not self._whole():
            return
        desk, now = self._desk, self._desk.clock()
        twice, owners = set(desk.recall.pairs()), _owners(desk)
        alone: list[str] = []
        for memory_id in list(desk.recall.ids()):
            if self._stop.is_set():
                return
            try:
                for place in desk.recall.stat(memory_id).set_aside:
                    desk.indexer.note_problem(place, SET_ASIDE)
                if memory_id not in owners:
                    alone.append(memory_id)
                elif memory_id in twice:
                    self._resolve(memory_id, now)
            except (NeurigraphError, OSError) as error:
                log.warning("%s was not looked through: %s", memory_id, error)
        known = self._journal.orphans
        orphans = {i: known.get(i, now) for i in alone if self._is_old(i, now)}
        if may_trash:
            self._trash(orphans, now)
        owners = _owners(desk)
        if self._whole():
            self._list({i: since for i, since in orphans.items() if i not in owners})

    def missed(self, memory_ids: Iterable[str]) -> None:
        """The notes of these memories were just deleted by somebody."""
        now = self._desk.clock()
        gone = {
            i: now
            for i in memory_ids
            if self._desk.library.find(i) is None and self._desk.files.exists(recall_dir(i))
        }
        if gone:
            self._list(gone | self._journal.orphans)

    def found(self, memory_ids: Iterable[str]) -> None:
        """These memories have a note, again perhaps."""
        back = self._journal.orphans.keys() & set(memory_ids)
        if back:
            self._list({i: s for i, s in self._journal.orphans.items() if i not in back})

    def _resolve(self, memory_id: str, now: datetime) -> None:
        with self._edits:
            changed = self._shelf.resolve(memory_id, now, self._shelf.open_now())
        record = self._desk.library.find(memory_id)
        if changed and record is not None:
            self._desk.indexer.look([record.path])

    def _is_old(self, memory_id: str, now: datetime) -> bool:
        """Whether a folder was not made a moment ago: saving makes it before the note."""
        if memory_id in self._journal.orphans:
            return True
        made = self._desk.files.path(recall_dir(memory_id)).stat().st_mtime
        return abs(now.timestamp() - made) > _FRESH_SECONDS

    def _trash(self, orphans: dict[str, datetime], now: datetime) -> None:
        due = {i for i, since in orphans.items() if now - since >= KEPT}
        if due:
            due -= _named_somewhere(self._desk, due, self._stop)
        for memory_id in sorted(due):
            with self._edits:
                if self._stop.is_set() or memory_id in _owners(self._desk):
                    continue
                self._desk.files.trash(recall_dir(memory_id))
            del orphans[memory_id]
            log.info("%s went to the trash: its note has been gone for 30 days", memory_id)

    def _list(self, orphans: dict[str, datetime]) -> None:
        desk, journal = self._desk, self._journal
        for gone in journal.orphans.keys() - orphans.keys():
            record = desk.library.find(gone)
            if record is None or record.transcript is None or record.transcript.form != "missing":
                desk.indexer.note_problem(recall_dir(gone), "")
        for memory_id, since in orphans.items():
            day = (since + KEPT).astimezone().date().isoformat()
            desk.indexer.note_problem(
                recall_dir(memory_id),
                f"its note is gone; bring the note back, or it goes to the trash on {day}",
            )
        if orphans != journal.orphans:
            journal.orphans = orphans
            journal.save()


def _owners(desk: Desk) -> set[str]:
    """The ids that some note claims, twins and conflict copies included."""
    return {i for r in desk.library.records() for i in (r.id, r.claimed_id) if i}


def _named_somewhere(desk: Desk, wanted: Iterable[str], stop: threading.Event) -> set[str]:
    """Which of these ids stand at the beginning of any note at all, one that is excluded, cannot
    be parsed or is too large included. All of them when any file cannot be read for certain."""
    wanted = set(wanted)
    marks = {i: i.encode() for i in wanted}
    found: set[str] = set()
    failed: list[OSError] = []
    root = Path(desk.files.root)
    for folder, inner, names in os.walk(root, onerror=failed.append):
        if Path(folder) == root:
            inner[:] = [name for name in inner if name not in (".git", TRASH, RECALL)]
        for name in names:
            place = Path(folder, name)
            if stop.is_set() or is_placeholder(place):
                return wanted
            if not name.lower().endswith(".md"):
                continue
            try:
                with place.open("rb") as file:
                    head = file.read(_HEAD_BYTES)
            except OSError as error:
                failed.append(error)
                continue
            found |= {i for i, mark in marks.items() if mark in head}
    return wanted if failed else found
