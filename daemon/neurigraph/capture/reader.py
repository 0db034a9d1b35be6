"""The process that reads what is imported, so that nothing in a foreign file can slow the daemon.

Started by `read_apart` as `python -m neurigraph.capture.reader`: an order comes through its
standard input, parcels leave through its standard output. Titles and summaries, most of the work of
an import, are drafted here too.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from neurigraph.capture.drafters import prepared
from neurigraph.capture.parcel import Finished, Opened, Order, Parcel, Refused
from neurigraph.importers.opened import Export, Item
from neurigraph.importers.recognise import recognise
from neurigraph.importers.source import Failed, UnreadableExport
from neurigraph.index.vector_pipe import receive, send

MOST_HELPERS = 3


def read(order: Order, helpers: int = 0) -> Iterator[Parcel]:
    """Everything that was asked for, in the order in which it lies there.

    With many new conversations, up to `helpers` processes draft them.
    """
    skipped: Counter[str] = Counter()
    if order.kinds is not None or len(order.paths) > 1:
        total = sum(_size(path) for path in order.paths)
        yield Opened(f"{len(order.paths)} files", (), len(order.paths), total)
        yield from prepared(_of_many(order, skipped), order, helpers)
    else:
        try:
            opened = _open(order.paths[0], order)
        except UnreadableExport as error:
            yield Refused(error.name, error.reason)
            return
        with opened:
            yield Opened(opened.name, opened.kinds, opened.count, opened.total_bytes)
            items = ((item, opened.done_bytes) for item in opened.read())
            yield from prepared(items, order, helpers)
            skipped += opened.skipped
    yield Finished(dict(skipped))


@contextmanager
def read_here(order: Order) -> Iterator[Iterator[Parcel]]:
    """The same in this process, for tests and for what is known to be small."""
    yield read(order)


def _of_many(order: Order, skipped: Counter[str]) -> Iterator[tuple[Item, int]]:
    """What is in all of the files; one that cannot be read does not stop the others."""
    done = 0
    for path in order.paths:
        try:
            opened = _open(path, order)
        except UnreadableExport as error:
            if order.kinds is None:
                yield Failed(error.name, error.reason), done
            else:
                skipped["other file"] += 1
            continue
        with opened:
            for item in opened.read():
                yield item, done + opened.done_bytes
            done += opened.total_bytes
            skipped.update(opened.skipped)


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


def serve(pipe: BinaryIO, out: BinaryIO) -> None:
    """Do what one order asks for."""
    message = receive(pipe)
    if message is None:
        return
    for parcel in read(message[0], helpers=min(os.cpu_count() or 1, MOST_HELPERS)):
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
