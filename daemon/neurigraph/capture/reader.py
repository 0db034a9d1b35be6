"""The process that reads what is imported, so that nothing in a foreign file can slow the daemon.

Started by `read_apart` as `python -m neurigraph.capture.reader`: an order comes through its
standard input, parcels leave through its standard output. It also drafts titles and summaries,
which is most of the work of an import.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from neurigraph.capture.parcel import Finished, Opened, Order, Parcel, Piece, Refused
from neurigraph.edits.prepared import Preparer, Ready
from neurigraph.importers.export import ExportItem
from neurigraph.importers.opened import Export, Item
from neurigraph.importers.recognise import recognise
from neurigraph.importers.source import Failed, UnreadableExport
from neurigraph.index.vector_pipe import receive, send
from neurigraph.model import Conversation
from neurigraph.summarize.draft import Draft
from neurigraph.summarize.extractive import extractive

log = logging.getLogger(__name__)


def read(order: Order) -> Iterator[Parcel]:
    """Everything that was asked for, in the order in which it lies there."""
    preparer = Preparer(quick_draft, order.secrecy)
    skipped: Counter[str] = Counter()
    many = len(order.paths) > 1
    done = 0
    if many:
        total = sum(_size(path) for path in order.paths)
        yield Opened(f"{len(order.paths)} files", (), len(order.paths), total)
    for path in order.paths:
        try:
            opened = _open(path, order)
        except UnreadableExport as error:
            if not many:
                yield Refused(error.name, error.reason)
                return
            yield Piece(Failed(error.name, error.reason), done)
            continue
        with opened:
            if not many:
                yield Opened(opened.name, opened.kinds, opened.count, opened.total_bytes)
            for item in opened.read():
                yield Piece(_prepared(item, preparer, order), done + opened.done_bytes)
            done += opened.total_bytes
            skipped += opened.skipped
    yield Finished(dict(skipped))


def _open(path: str, order: Order) -> Export:
    opened = recognise(Path(path), order.bounds)
    if order.kinds is not None and not set(opened.kinds) <= set(order.kinds):
        opened.close()
        raise UnreadableExport(opened.name, f"it is no session log ({', '.join(opened.kinds)})")
    return opened


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def quick_draft(text: str) -> Draft:
    """A draft that costs little, which better ones may replace later."""
    return extractive(text, keywords_quick=True)


def _prepared(item: Item, preparer: Preparer, order: Order) -> Ready | Failed | ExportItem:
    if not isinstance(item, Conversation):
        return item
    try:
        if order.drafts:
            return preparer.worked_out(item, order.known)
        return preparer.screened(item)
    except Exception as error:  # noqa: BLE001 - foreign text; the other conversations must be read
        log.warning("a conversation could not be prepared: %s", type(error).__name__)
        title = item.title or item.source_id or "a conversation"
        return Failed(title, f"it could not be prepared ({type(error).__name__})", item.source_id)


def serve(pipe: BinaryIO, out: BinaryIO) -> None:
    """Do what one order asks for."""
    message = receive(pipe)
    if message is None:
        return
    for parcel in read(message[0]):
        send(out, (parcel,))


def main() -> None:
    """Serve the parent through standard input and output, and leave it first go at the machine."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # nothing that a library prints may get between the parcels
    # the parent is gone, or no longer wants to know
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, out)


if __name__ == "__main__":
    main()
