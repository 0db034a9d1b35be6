"""One import from beginning to end: what is read is stored, and everything accounted for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from neurigraph.capture.apart import Reader, ReaderDied
from neurigraph.capture.intake import Intake, Placer
from neurigraph.capture.own_notes import OwnNotes
from neurigraph.capture.parcel import Finished, Opened, Order, Parcel, Piece, Refused
from neurigraph.capture.report import Report
from neurigraph.edits.desk import Desk
from neurigraph.edits.save import Saver
from neurigraph.edits.tombstones import Tombstones
from neurigraph.errors import VaultUnavailable

log = logging.getLogger(__name__)

SAY_SECONDS = 0.25

STOP_SECONDS = 0.25
"""How often it is looked whether a reader that hands nothing over is still wanted."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import has come: bytes of bytes, and conversations of about so many.

    `left` is an estimate in seconds, None while there is too little to go by.
    """

    done: int
    total: int
    conversations: int
    count: int
    left: float | None

    def words(self) -> str:
        """The same in words."""
        said = f"{self.conversations:,} of {self.count:,} conversations"
        if self.left is None:
            return said
        minutes = self.left / 60
        return (
            f"{said}, about {minutes:.0f} min left"
            if minutes >= 2
            else (f"{said}, about {max(self.left, 1):.0f} s left")
        )


Say = Callable[[Progress], None]
Source = Callable[[Order], AbstractContextManager[Iterator[Parcel] | Reader]]
"""Reads what an order asks for, in a process of its own or in this one."""


@dataclass(frozen=True, slots=True)
class Table:
    """What an import works with; `lock` is the one on the vault's edits."""

    desk: Desk
    saver: Saver
    tombstones: Tombstones
    lock: threading.RLock
    source: Source


def run_import(
    table: Table,
    order: Order,
    placer: Placer,
    *,
    dry_run: bool = False,
    say: Say = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Report:
    """Import everything that the order names, and tell what became of it.

    What is wrong with the whole (no export, a disk that is full) is in the report's `error`; what
    was stored until then stays, and another import goes on from there.
    """
    report = Report(order.paths[0] if len(order.paths) == 1 else "", dry_run=dry_run)
    own = OwnNotes(table.desk, table.tombstones)
    intake = Intake(table.desk, table.saver, own, table.lock, placer, report)
    began = time.monotonic()
    try:
        try:
            with table.source(order) as parcels, _stopped(parcels, stopping):
                _take_all(parcels, intake, report, say, stopping)
        except ReaderDied as error:
            report.stopped = stopping()
            report.error = "" if report.stopped else str(error)
        intake.flush()
    except VaultUnavailable as error:
        report.error, report.again = str(error), True
    except OSError as error:
        log.exception("an import ended early")
        report.error, report.again = f"the import ended early ({error})", True
    finally:
        intake.drop()
    report.seconds = time.monotonic() - began
    return report


@contextmanager
def _stopped(parcels: Iterator[Parcel] | Reader, stopping: Callable[[], bool]) -> Iterator[None]:
    """Within it, a reading process that hands nothing over ends too when it is to stop."""
    over = threading.Event()

    def watch(reader: Reader) -> None:
        while not over.wait(STOP_SECONDS):
            if stopping():
                reader.stop()
                return

    if not isinstance(parcels, Reader):
        yield
        return
    thread = threading.Thread(target=watch, args=(parcels,), name="stopping", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _take_all(
    parcels: Iterator[Parcel] | Reader,
    intake: Intake,
    report: Report,
    say: Say,
    stopping: Callable[[], bool],
) -> None:
    meter = _Meter(say)
    for parcel in parcels:
        if isinstance(parcel, Opened):
            report.kinds = tuple(kind.value for kind in parcel.kinds)
            meter.begin(parcel)
        elif isinstance(parcel, Refused):
            report.error = f"{parcel.name}: {parcel.reason}"
        elif isinstance(parcel, Piece):
            intake.take(parcel.item)
            meter.move(parcel.done, len(report.rows))
        elif isinstance(parcel, Finished):
            report.skipped = parcel.skipped
        if stopping():
            report.stopped = True
            return


class _Meter:
    """Tells how far it is, a few times a second."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._opened = Opened("", (), 0, 0)
        self._began = self._said = 0.0

    def begin(self, opened: Opened) -> None:
        self._opened, self._began = opened, time.monotonic()
        self._say(Progress(0, opened.total, 0, opened.count, None))

    def move(self, done: int, rows: int) -> None:
        now = time.monotonic()
        total = self._opened.total
        if now - self._said < SAY_SECONDS and done < total:
            return
        self._said = now
        passed = now - self._began
        left = passed * (total - done) / done if done and passed > 1 else None
        self._say(Progress(done, total, rows, max(self._opened.count, rows), left))
