"""Has something read by a process of its own, and takes what it hands over."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neurigraph.capture.parcel import Finished, Order, Parcel, Refused
from neurigraph.errors import NeurigraphError
from neurigraph.index.vector_pipe import receive, send

log = logging.getLogger(__name__)

_AHEAD = 1 << 20
"""Bytes that the reader may be ahead, where the system lets a pipe hold as many."""


class ReaderDied(NeurigraphError):
    """The reading process ended in the middle; what it handed over before is good."""

    code = "reader_died"

    def __init__(self, status: int | None) -> None:
        self.status = status
        super().__init__(
            f"reading ended in the middle (status {status}); what was read until then is kept, "
            "import it again to go on"
        )


class Reader:
    """Parcels as they come from a reading process.

    Taking the next one raises `ReaderDied` when the process ends before it is finished.
    """

    def __init__(self, process: subprocess.Popen[bytes], order: Order) -> None:
        self._process = process
        self._parcels = _parcels(process, order)

    def __iter__(self) -> Iterator[Parcel]:
        return self._parcels

    def __next__(self) -> Parcel:
        return next(self._parcels)

    def stop(self) -> None:
        """End the process at once, from any thread, also while it waits for a disk."""
        self._process.kill()


@contextmanager
def read_apart(order: Order, folder: Path) -> Iterator[Reader]:
    """A reading process; leaving the context ends it. Its log lies in `folder`."""
    process = _start(folder)
    try:
        yield Reader(process, order)
    finally:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.kill()
        process.wait()


def _parcels(process: subprocess.Popen[bytes], order: Order) -> Iterator[Parcel]:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        send(process.stdin, (order,))
        while (message := receive(process.stdout)) is not None:
            parcel: Parcel = message[0]
            yield parcel
            if isinstance(parcel, Finished | Refused):
                return
    except (OSError, ValueError) as error:
        raise ReaderDied(process.poll()) from error
    raise ReaderDied(process.wait())


def _start(folder: Path) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).resolve().parents[2])
    environ = dict(os.environ)
    environ["PYTHONPATH"] = os.pathsep.join(p for p in (source, environ.get("PYTHONPATH", "")) if p)
    with (folder / "reader.log").open("wb") as errors:
        return subprocess.Popen(
            # -P: a file in the folder where it starts is no module of ours
            [sys.executable, "-P", "-m", "neurigraph.capture.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=environ,
            pipesize=_AHEAD,
        )
