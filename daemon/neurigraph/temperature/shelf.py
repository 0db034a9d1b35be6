"""Puts one memory's files into another form, and tells its note."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime

from neurigraph.edits.desk import Desk
from neurigraph.errors import (
    ChangedElsewhere,
    Duplicate,
    NeurigraphError,
    NotWritable,
    VaultUnavailable,
)
from neurigraph.index.indexer import Rewritten
from neurigraph.index.record import Record, Told
from neurigraph.temperature.report import Report, by_form, with_report
from neurigraph.temperature.rules import Form, Reading, Step, form_of, step_for, temperature_of
from neurigraph.vault.layout import nfc, transcript_path
from neurigraph.vault.packing import Damaged, gunzip
from neurigraph.vault.recall import RecallStat, Resolution
from neurigraph.vault.steps import Steps, alone

log = logging.getLogger(__name__)

ReadingOf = Callable[[Record], Reading]

WAITS = "changed a moment ago, or open in Obsidian"
CHANGED = "changed meanwhile"
GONE = "gone meanwhile"
SET_ASIDE = (
    "another text stood in a transcript's place and was set aside; copy what you need from it, "
    "then delete it"
)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one memory. `saved` is in bytes, negative when it grew; `files` tells how its
    files stand when any was written; `look` asks for the note to be read anew. `skipped` says why
    something was left undone, `broken` that nothing at all can be written to the vault now."""

    id: str
    compressed: bool = False
    deepened: bool = False
    restored: bool = False
    saved: int = 0
    files: Rewritten | None = None
    look: bool = False
    skipped: str = ""
    broken: bool = False

    @property
    def changed(self) -> bool:
        """Whether files were written."""
        return self.files is not None

    @property
    def told(self) -> bool:
        """Whether its note was written."""
        return self.files is not None and self.files.note is not None


class Shelf:
    """Where transcripts and artifacts stand. Several memories may be handled at once, but one
    memory by one thread only; the caller holds the lock on the vault's edits."""

    def __init__(self, desk: Desk, reading_of: ReadingOf) -> None:
        self._desk, self._reading_of = desk, reading_of
        self._settings = desk.settings.temperature
        self._unpacked: dict[str, int | None] = {}

    def unpacked(self, memory_id: str, mtime_ns: int) -> bool:
        """Whether it was us who made this memory's transcript plain: the file with this mtime."""
        known = self._unpacked.get(memory_id, 0)
        return known is None or known == mtime_ns

    def open_now(self) -> set[str]:
        """The files that Obsidian has open."""
        return set(self._desk.files.open_in_obsidian())

    def handle(
        self, memory_id: str, now: datetime, open_now: Collection[str], *, cooling: bool
    ) -> Done:
        """Do what the rules ask for one memory at this moment. Raises nothing."""
        return alone(self.handling(memory_id, now, open_now, cooling=cooling))

    def handling(
        self, memory_id: str, now: datetime, open_now: Collection[str], *, cooling: bool
    ) -> Steps[Done]:
        """`handle`, in steps."""
        record = self._desk.library.find(memory_id)
        if record is None or record.kind != "memory":
            return Done(memory_id, skipped=GONE)
        reading = self._reading_of(record)
        step = step_for(reading, now, self._settings, cooling=cooling)
        if not step.needed or step.resolve:
            return Done(memory_id)
        return (
            yield from _survived(memory_id, self._handling(record, reading, step, now, open_now))
        )

    def thaw(self, memory_id: str, now: datetime, open_now: Collection[str]) -> Done:
        """Make one memory's transcript plain, as warming asks for. Raises nothing."""
        record = self._desk.library.find(memory_id)
        if record is None or record.kind != "memory":
            return Done(memory_id, skipped=GONE)
        return alone(_survived(memory_id, self._thawing(record, now, open_now)))

    def resolve(self, memory_id: str, now: datetime, open_now: Collection[str]) -> bool:
        """Make one transcript of two, and answer whether anything changed.

        The same text twice is what an interruption leaves; with another text a person may still
        be at work on it.
        """
        recall, plain = self._desk.recall, transcript_path(memory_id)
        try:
            done = Resolution.NOTHING
            if recall.form(memory_id) == "both" and (
                (plain not in open_now and self._settled(plain, now)) or self._is_twice(plain)
            ):
                done = recall.resolve_pair(memory_id)
                log.info("%s: %s", memory_id, done)
            artifacts = recall.resolve_artifacts(memory_id)
            for place in recall.stat(memory_id).set_aside:
                self._desk.indexer.note_problem(place, SET_ASIDE)
        except (NeurigraphError, OSError, EOFError) as error:
            log.warning("%s stays as it is: %s", memory_id, error)
            return False
        if done is Resolution.UNCLEAR:
            self._desk.indexer.note_problem(f"{plain}.gz", str(done))
        return bool(artifacts) or done not in (Resolution.UNCLEAR, Resolution.NOTHING)

    def _is_twice(self, plain: str) -> bool:
        files = self._desk.files
        try:
            return gunzip(files.read(f"{plain}.gz")) == files.read(plain)
        except Damaged:
            return False

    def _thawing(self, record: Record, now: datetime, open_now: Collection[str]) -> Steps[Done]:
        recall = self._desk.recall
        grown = self._decompress(record.id)
        stored = recall.stat(record.id)
        known = record.transcript
        if not grown and known is not None and known.fits(*_file(stored)):
            return Done(record.id)
        files = Rewritten(record.id, stored)
        if self._note_is_free(record, now, open_now):
            files = yield from self._telling(record, self._reading_of(record), stored, now)
        return Done(record.id, restored=True, saved=-grown, files=files)

    def _handling(
        self, record: Record, reading: Reading, step: Step, now: datetime, open_now: Collection[str]
    ) -> Steps[Done]:
        recall = self._desk.recall
        free = self._note_is_free(record, now, open_now)
        done = Done(record.id)
        if step.restore:
            done = replace(done, saved=-self._decompress(record.id), restored=True)
            grown = recall.decompress_artifacts(record.id)
            done = replace(done, saved=done.saved - grown)
        elif step.cools:
            if not free or not self._files_are_free(record, step, now, open_now):
                return Done(record.id, skipped=WAITS)
            known = record.transcript
            if known is None or not known.fits(*_file(recall.stat(record.id))):
                return Done(record.id, look=True, skipped=CHANGED)
            done = yield from self._cooling(record, step)
        moved = done.compressed or done.deepened or done.restored
        stored = recall.stat(record.id)
        files = Rewritten(record.id, stored)
        if free:
            files = yield from self._telling(record, reading, stored, now)
        elif not moved:
            return Done(record.id, skipped=WAITS)
        changed = moved or files.note is not None
        return replace(done, files=files if changed else None, skipped="" if free else WAITS)

    def _decompress(self, memory_id: str) -> int:
        self._unpacked[memory_id] = None
        try:
            return self._desk.recall.decompress(memory_id)
        finally:
            self._unpacked[memory_id] = self._desk.recall.stat(memory_id).mtime_ns

    def _cooling(self, record: Record, step: Step) -> Steps[Done]:
        recall = self._desk.recall
        saved = 0
        if step.compress:
            saved += yield from recall.compressing(record.id)
        if step.deepen:
            saved += yield from recall.compressing_artifacts(record.id)
        return Done(record.id, compressed=step.compress, deepened=step.deepen, saved=saved)

    def _telling(
        self, record: Record, reading: Reading, stored: RecallStat, now: datetime
    ) -> Steps[Rewritten]:
        """Write what is true into the note, unless it must not be written to."""
        packed, plain = by_form((a.name, a.compressed) for a in stored.artifacts)
        form: Form | None = None if stored.form == "missing" else stored.form
        true = replace(reading, transcript=form, artifacts=artifacts_form(stored))
        noted = reading.noted
        report = Report(
            record.id,
            temperature_of(true, now, self._settings),
            noted.true_accessed if noted else None,
            noted.true_count if noted else 0,
            stored.form == "gzip",
            packed,
            plain,
        )

        told: Told | None = None

        def change(raw: bytes) -> bytes:
            nonlocal told
            new, told = with_report(raw, report)
            return new

        try:
            note = yield from self._desk.files.editing(record.path, change)
        except (NotWritable, FileNotFoundError) as error:
            log.info("%s is not told its temperature: %s", record.path, error)
            return Rewritten(record.id, stored)
        return Rewritten(record.id, stored, note, told)

    def _note_is_free(self, record: Record, now: datetime, open_now: Collection[str]) -> bool:
        return (
            record.writable and nfc(record.path) not in open_now and self._settled(record.path, now)
        )

    def _files_are_free(
        self, record: Record, step: Step, now: datetime, open_now: Collection[str]
    ) -> bool:
        transcript = transcript_path(record.id)
        if step.compress and not (transcript not in open_now and self._settled(transcript, now)):
            return False
        if step.deepen:
            places = [a.path for a in self._desk.recall.stat(record.id).artifacts]
            return all(p not in open_now and self._settled(p, now) for p in places)
        return True

    def _settled(self, path: str, now: datetime) -> bool:
        return self._desk.files.settled(path, now, self._desk.settings.vault.settle_seconds)


def _survived(memory_id: str, work: Steps[Done]) -> Steps[Done]:
    """What came of it, errors included: one memory must not keep others from their turn."""
    try:
        return (yield from work)
    except (ChangedElsewhere, Duplicate):
        return Done(memory_id, look=True, skipped=CHANGED)
    except (NeurigraphError, OSError, EOFError) as error:
        log.warning("%s keeps its temperature: %s", memory_id, error)
        broken = isinstance(error, VaultUnavailable)
        return Done(memory_id, look=True, skipped=str(error), broken=broken)


def _file(stored: RecallStat) -> tuple[str, int, int]:
    return stored.form, stored.size, stored.mtime_ns


def artifacts_form(stored: RecallStat) -> Form | None:
    """How a memory's artifacts are stored, of those that can be compressed."""
    return form_of((a.name, a.size, a.compressed) for a in stored.artifacts)
