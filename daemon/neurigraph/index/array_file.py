"""A file of named arrays that is written once and notices when it was damaged.

Layout: the arrays, each at a multiple of eight bytes; a directory in JSON, name → [dtype, offset,
items]; a CRC-32 for each 64 KB of what stands before the directory; and 32 bytes at the end: magic,
length of the directory, number of blocks, CRC-32 of directory and checksums, length of the file.
A block is checked when it is first read, so that opening costs nothing and no answer is wrong.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurigraph.errors import NeurigraphError

Array = NDArray[Any]

_MAGIC = b"NHarr\x00\x00\x01"
_TAIL = struct.Struct("<8sIIIIQ")
_BLOCK = 1 << 16


class IndexDamaged(NeurigraphError):
    """The keyword index cannot be read; it is rebuilt from the vault."""

    code = "index_damaged"

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} is damaged ({reason}); rebuild it with: neurigraph reindex")


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> int:
    """Write the file and make it durable. Answers its CRC, by which it can be known again."""
    directory: dict[str, list[Any]] = {}
    checks: list[int] = []
    with path.open("wb", buffering=_BLOCK) as file:
        sink = _Sink(file.write, checks)
        for name, array in arrays.items():
            directory[name] = [array.dtype.str, sink.length, array.size]
            sink.write(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data)
            sink.write(bytes(-sink.length % 8))
        sink.flush()
        text = json.dumps(directory).encode()
        table = np.array(checks, "<u4").tobytes()
        crc = zlib.crc32(table, zlib.crc32(text))
        size = sink.length + len(text) + len(table) + _TAIL.size
        file.write(text + table + _TAIL.pack(_MAGIC, len(text), len(checks), crc, 0, size))
        file.flush()
        os.fsync(file.fileno())
    return crc


class _Sink:
    """Writes on, with a checksum for every full block."""

    def __init__(self, write: Any, checks: list[int]) -> None:
        self._write, self._checks = write, checks
        self.length = 0
        self._crc = 0

    def write(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while len(view):
            room = _BLOCK - self.length % _BLOCK
            piece = view[:room]
            self._write(piece)
            self._crc = zlib.crc32(piece, self._crc)
            self.length += len(piece)
            if len(piece) == room:
                self.flush()
            view = view[room:]

    def flush(self) -> None:
        if self.length > len(self._checks) * _BLOCK:
            self._checks.append(self._crc)
            self._crc = 0


class ArrayFile:
    """Reads such a file. Many threads may read at once.

    Raises `IndexDamaged` on opening and on reading whatever does not carry its checksum.
    What is read is copied: views on the mapped file would keep it from being closed.
    """

    def __init__(self, path: Path, crc: int | None = None) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise self._damage(str(error)) from error
        size = len(self._map)
        if size < _TAIL.size:
            raise self._damage("it is cut off")
        magic, text_size, blocks, found, _, whole = _TAIL.unpack(self._map[-_TAIL.size :])
        begin = size - _TAIL.size - 4 * blocks - text_size
        if magic != _MAGIC or whole != size or begin < 0:
            raise self._damage("it is cut off or of another kind")
        head = self._map[begin : size - _TAIL.size]
        if zlib.crc32(head) != found or (crc is not None and crc != found):
            raise self._damage("its directory does not carry its checksum")
        self._begin = begin
        self._checks = np.frombuffer(head, "<u4", blocks, text_size).tolist()
        self._checked = bytearray(blocks)
        self._directory: dict[str, tuple[np.dtype[Any], int, int]] = {
            name: (np.dtype(dtype), offset, items)
            for name, (dtype, offset, items) in json.loads(head[:text_size]).items()
        }

    def array(self, name: str) -> Array:
        """A whole array, one-dimensional and read-only."""
        return self.part(name, 0, self._entry(name)[2])

    def part(self, name: str, first: int, last: int) -> Array:
        """Items `first` to `last` of an array."""
        dtype, offset, items = self._entry(name)
        if not 0 <= first <= last <= items:
            raise self._damage(f"{name} has no items {first} to {last}")
        return np.frombuffer(
            self._read(offset + first * dtype.itemsize, offset + last * dtype.itemsize), dtype
        )

    def _entry(self, name: str) -> tuple[np.dtype[Any], int, int]:
        try:
            return self._directory[name]
        except KeyError:
            raise self._damage(f"it has no {name}") from None

    def check(self) -> None:
        """Read all of it, again where it was read before."""
        self._checked = bytearray(len(self._checks))
        self._check(0, len(self._checks))

    def _read(self, begin: int, end: int) -> bytes:
        if self._map.size() < len(self._map):
            # reading on would end the process
            raise self._damage("it was cut off while it was open")
        if end > begin:
            first, last = begin // _BLOCK, (end - 1) // _BLOCK + 1
            if self._checked.find(0, first, last) >= 0:
                self._check(first, last)
        return self._map[begin:end]

    def _check(self, first: int, last: int) -> None:
        if self._map.size() < len(self._map):
            raise self._damage("it was cut off while it was open")
        for block in range(first, last):
            if not self._checked[block]:
                data = self._map[block * _BLOCK : min((block + 1) * _BLOCK, self._begin)]
                if zlib.crc32(data) != self._checks[block]:
                    raise self._damage(f"block {block} does not carry its checksum")
                self._checked[block] = 1

    def _damage(self, reason: str) -> IndexDamaged:
        return IndexDamaged(str(self.path), reason)
