"""Looks through `_recall` for what no note accounts for: folders whose note is gone, transcripts
that are there twice, texts that were set aside."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
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

_HEAD_BYTES = 65_536
"""Where in a note its id is looked for."""


def survey(
    desk: Desk,
    shelf: Shelf,
    journal: Journal,
    edits: threading.RLock,
    stop: threading.Event,
    *,
    may_trash: bool,
) -> None:
    """List what needs a look and finish what was interrupted. With `may_trash`, folders whose note
    has been gone for 30 days go to the trash, unless any note anywhere may still name them."""
    owners = _owners(desk)
    now = desk.clock()
    orphans: dict[str, datetime] = {}
    twice = set(desk.recall.pairs())
    for memory_id in list(desk.recall.ids()):
        if stop.is_set():
            return
        try:
            stored = desk.recall.stat(memory_id)
            for place in stored.set_aside:
                desk.indexer.note_problem(place, SET_ASIDE)
            if memory_id not in owners:
                orphans[memory_id] = journal.orphans.get(memory_id, now)
            elif memory_id in twice:
                with edits:
                    changed = shelf.resolve(memory_id, now, shelf.open_now())
                record = desk.library.find(memory_id)
                if changed and record is not None:
                    desk.indexer.look([record.path])
        except (NeurigraphError, OSError) as error:
            log.warning("%s was not looked through: %s", memory_id, error)
    due = {i for i, since in orphans.items() if may_trash and now - since >= KEPT}
    if due:
        due -= _named_somewhere(desk, due, stop)
    for memory_id in sorted(due):
        with edits:
            if stop.is_set() or memory_id in _owners(desk):
                continue
            desk.files.trash(recall_dir(memory_id))
        del orphans[memory_id]
        log.info("%s went to the trash: its note has been gone for 30 days", memory_id)
    _list(desk, journal, orphans)


def _list(desk: Desk, journal: Journal, orphans: dict[str, datetime]) -> None:
    for gone in journal.orphans.keys() - orphans.keys():
        if desk.library.find(gone) is None:
            desk.indexer.note_problem(recall_dir(gone), "")
    for memory_id, since in orphans.items():
        day = (since + KEPT).astimezone().date().isoformat()
        desk.indexer.note_problem(
            recall_dir(memory_id),
            "its note is gone; bring the note back, or leave it, and it goes to the trash "
            f"on {day}",
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
