"""Makes better summaries and keywords after a save, in the background, and never over a person's.

A memory is stored at once with a summary made of its own sentences; `summary_source: extractive`
marks it for a better one. When a model is there it writes one; without a model the keywords alone
get better. What was given by an AI or rewritten by a person is left alone.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath

from neurigraph.edits.compose import is_generated, safe_line, safe_text, summary_source
from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.events import EventBus
from neurigraph.index.record import Record
from neurigraph.summarize.choose import is_local, summarizer_for
from neurigraph.summarize.draft import Draft, Summarizer, SummarizerFailed
from neurigraph.summarize.extractive import SOURCE, extractive
from neurigraph.vault.note import read_note, sections, set_keys, set_section, text, texts

log = logging.getLogger(__name__)

RETRY_SECONDS = (60.0, 300.0, 1_800.0, 7_200.0)
"""Waits after a failure, the last again and again."""

LOOK_AGAIN_SECONDS = 600.0
"""How long a look for a model on this machine counts."""

FRESH_DAYS, MOST_AT_START = 30, 200
"""At a start, memories of the last days are taken up again, newest first; not a whole archive."""

Keys = dict[str, "str | int | bool | list[str] | None"]


@dataclass(slots=True)
class _Wish:
    """A memory that waits: from when on, and how often it failed."""

    due: float
    failures: int = 0


class Improver:
    """A queue and one thread. Reading and thinking hold no lock; writing takes `edits`."""

    def __init__(self, desk: Desk, edits: AbstractContextManager[object], events: EventBus) -> None:
        self._desk, self._edits, self._events = desk, edits, events
        self._wishes: dict[str, _Wish] = {}
        self._changed = threading.Condition()
        self._stopping = False
        self._looked = float("-inf")
        self._summarizer: Summarizer | None = None
        self._problem = ""
        self._thread = threading.Thread(target=self._run, name="summaries", daemon=True)

    # -- life

    def start(self) -> None:
        """Take up what an earlier run left, and begin."""
        oldest = self._desk.clock() - timedelta(days=FRESH_DAYS)
        fresh = [
            r
            for r in self._desk.library.memories()
            if _is_ours(r) and r.created is not None and r.created >= oldest
        ]
        fresh.sort(key=lambda r: str(r.created), reverse=True)
        if self._look() is not None:
            self.want(r.id for r in fresh[:MOST_AT_START])
        self._thread.start()

    def stop(self) -> None:
        """End after what is being written; a model that thinks is not waited for."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def want(self, ids: Iterable[str]) -> None:
        """These memories may deserve better."""
        now = time.monotonic()
        with self._changed:
            for memory_id in ids:
                self._wishes[memory_id] = _Wish(now)
            self._changed.notify_all()

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing is due; what failed and is tried again later is not waited for."""

        def is_idle() -> bool:
            now = time.monotonic()
            return all(wish.due > now for wish in self._wishes.values())

        with self._changed:
            return self._changed.wait_for(is_idle, timeout)

    def state(self) -> dict[str, object]:
        """Who writes summaries, how many wait, and what went wrong last."""
        summarizer = self._summarizer
        return {
            "name": summarizer.source if summarizer else SOURCE,
            "waiting": len(self._wishes),
            "problem": self._problem,
        }

    # -- the thread

    def _run(self) -> None:
        while (memory_id := self._next()) is not None:
            try:
                again = self._improve(memory_id)
            except NeurigraphError as error:
                log.info("no better summary of %s: %s", memory_id, error)
                again = True
            except Exception:  # the queue must survive whatever one text does
                log.exception("no better summary of %s", memory_id)
                again = False
            self._done(memory_id, again)

    def _next(self) -> str | None:
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                due = min(self._wishes, key=lambda i: self._wishes[i].due, default=None)
                if due is not None and self._wishes[due].due <= now:
                    return due
                self._changed.wait(self._wishes[due].due - now if due is not None else None)
        return None

    def _done(self, memory_id: str, again: bool) -> None:
        with self._changed:
            wish = self._wishes.get(memory_id)
            if wish is None:
                return
            if not again:
                del self._wishes[memory_id]
            else:
                wait = RETRY_SECONDS[min(wish.failures, len(RETRY_SECONDS) - 1)]
                wish.failures += 1
                wish.due = time.monotonic() + wait
            self._changed.notify_all()
        self._events.publish("status")

    def _look(self) -> Summarizer | None:
        """Who can write summaries now; a local Ollama may have come or gone."""
        now = time.monotonic()
        if now - self._looked > LOOK_AGAIN_SECONDS:
            settings = self._desk.settings
            self._summarizer = summarizer_for(
                settings.summarize, settings.index.ollama_url, os.environ
            )
            self._looked = now
        return self._summarizer

    def _improve(self, memory_id: str) -> bool:
        """Write something better, if there is; answers whether to try again later."""
        record = self._desk.library.find(memory_id)
        if record is None or not _is_ours(record):
            return False
        if not self._at_rest(record):
            return True
        transcript = self._desk.recall.read(record.id)
        summarizer = self._look()
        if summarizer is not None and self._desk.library.is_private(record):
            # what is private is read on this machine alone
            summarizer = summarizer if is_local(summarizer) else None
        draft, again = None, False
        if summarizer is not None:
            try:
                draft = summarizer.summarize(transcript)
                self._problem = ""
            except SummarizerFailed as error:
                self._problem = str(error)
                log.info("%s", error)
                again = not error.lasting
        quick = extractive(transcript, keywords_quick=True)
        better = draft or extractive(transcript)
        if self._stopping:
            return True
        if better != quick:
            with self._edits:
                self._write(record.id, quick, better)
        return again

    def _at_rest(self, record: Record) -> bool:
        """Whether no person is at the note just now."""
        settle = self._desk.settings.vault.settle_seconds
        if str(PurePosixPath(record.path)) in self._desk.files.open_in_obsidian():
            return False
        return self._desk.files.settled(record.path, self._desk.clock(), settle)

    def _write(self, memory_id: str, quick: Draft, better: Draft) -> None:
        record = self._desk.library.find(memory_id)
        if record is None or not _is_ours(record):
            return
        stamp = record.transcript_sha256

        def change(raw: bytes) -> bytes:
            return improved(raw, stamp, quick, better)

        self._desk.files.edit(record.path, change)
        self._desk.indexer.look([record.path])


def _is_ours(record: Record) -> bool:
    return (
        record.kind == "memory"
        and record.writable
        and record.summary_source.rpartition(" ")[0] == SOURCE
    )


def improved(raw: bytes, transcript_sha256: str, quick: Draft, better: Draft) -> bytes:
    """A memory's note with what is better, where it still holds what was made of its sentences.

    `quick` is what was made at first; whatever differs from it was given or written by others.
    """
    note = read_note(raw)
    held = {s.heading: s.text.strip() for s in sections(note.body)}
    source = text(note.data.get("summary_source"))
    summary = held.get("Summary", "")
    by = source.rpartition(" ")[0]
    if by != SOURCE or not is_generated(source, summary):
        return raw
    if text(note.data.get("transcript_sha256")) != transcript_sha256:
        return raw
    keys: Keys = {}
    if texts(note.data.get("keywords")) == _lines(quick.keywords):
        keys["keywords"] = list(_lines(better.keywords))
    new = safe_text(better.summary)
    if new and new != summary:
        keys["summary_source"] = summary_source(better.source, new)
        raw = set_section(raw, "Summary", new)
    for heading, first, second in (
        ("Decisions", quick.decisions, better.decisions),
        ("Open questions", quick.open_questions, better.open_questions),
    ):
        if second.strip() and held.get(heading, "") == safe_text(first).strip():
            raw = set_section(raw, heading, safe_text(second))
    return set_keys(raw, keys) if keys else raw


def _lines(words: Iterable[str]) -> list[str]:
    return [k for w in words if (k := safe_line(w, 80))]
