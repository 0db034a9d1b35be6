"""The bytes of transcripts on disk: text to bytes and back, gzip and back, within bounds. Pure."""

from __future__ import annotations

import zlib
from collections import Counter

from neurigraph.errors import TooLarge
from neurigraph.vault.neutral import neutralize, restore_text

MOST_BYTES = 200_000_000
"""The most that one file may be decompressed to: a small file can claim to be any size."""

LEVEL = 6
_GZIP = 31  # zlib's window bits for the gzip format with a plain header: mtime 0, no name
_MEMBERS = 16


class Damaged(ValueError):
    """Bytes that are no whole gzip file."""


def encode(transcript: str) -> bytes:
    """A transcript as it stands on disk: neutralised, UTF-8.

    Half surrogates, which JSON can carry and UTF-8 cannot, are written as if it could.
    """
    return neutralize(transcript).encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """The transcript from its bytes. Never fails: what is not UTF-8 becomes U+FFFD."""
    try:
        return restore_text(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return restore_text(data.decode("utf-8", "replace"))


def quieten(name: str, data: bytes) -> bytes:
    """An artifact as it is stored. A note among them is neutralised like a transcript; every
    byte survives."""
    if not name.lower().endswith(".md"):
        return data
    return neutralize(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def unquieten(name: str, data: bytes) -> bytes:
    """An artifact as it was handed in, from what `quieten` made of it."""
    if not name.lower().endswith(".md"):
        return data
    return restore_text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def gzip_bytes(data: bytes) -> bytes:
    """Data as a gzip file (RFC 1952) that depends on nothing but the data."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()


def gunzip(data: bytes, most: int = MOST_BYTES) -> bytes:
    """What a gzip file holds. Raises `Damaged`, or `TooLarge` past `most` bytes."""
    pieces: list[bytes] = []
    room = most
    for _ in range(_MEMBERS):
        unpacker = zlib.decompressobj(_GZIP)
        try:
            piece = unpacker.decompress(data, room + 1)
        except zlib.error as error:
            raise Damaged(str(error)) from error
        room -= len(piece)
        if room < 0:
            raise TooLarge(f"a compressed file holds more than {most} bytes; it is left as it is")
        if not unpacker.eof:
            raise Damaged("it ends too early")
        pieces.append(piece)
        data = unpacker.unused_data.lstrip(b"\0")
        if not data:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
    raise Damaged("it has too many parts")


def is_edit(text: str, original: str) -> bool:
    """Whether `text` is an edit of `original`: at least half of the original's nonblank lines are
    still in it."""
    before, after = _lines(original), _lines(text)
    return 2 * (before & after).total() >= before.total() > 0


def _lines(text: str) -> Counter[str]:
    return Counter(line for raw in text.splitlines() if (line := raw.strip()))
