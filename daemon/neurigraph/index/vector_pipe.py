"""Messages between the daemon and its vector worker: a length of four bytes, then a pickle.

Both ends are the same program on the same machine, joined by the worker's standard input and
output, so nobody else can write to it.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct("<I")

STORE_DAMAGED = 70
"""Exit code of a worker whose store cannot be read or written as it should be."""

STORE_GONE = 71
"""Exit code of a worker whose store was removed under its feet."""

UNAVAILABLE = 72
"""Exit code of a worker that cannot start for now: no server, no space, no embedder."""


def send(pipe: IO[bytes], message: tuple[Any, ...]) -> None:
    """Write one message. Raises OSError or ValueError when nobody reads any more."""
    data = pickle.dumps(message, protocol=5)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[Any, ...] | None:
    """Wait for one message; `None` when the other end is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    if len(data) < length:
        return None
    message: tuple[Any, ...] = pickle.loads(data)
    return message
