"""Names and bounds for the files that come with a conversation."""

from __future__ import annotations

import base64
import binascii
from pathlib import PurePosixPath

from neurigraph.importers.source import Bounds
from neurigraph.model import NewArtifact
from neurigraph.vault.names import numbered, safe_file_name, same_name

_BY_TYPE = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "application/pdf": ".pdf",
    "application/json": ".json",
    "application/zip": ".zip",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/mp4": ".m4a",
    "video/mp4": ".mp4",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/html": ".html",
    "text/csv": ".csv",
}
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"%PDF-", ".pdf"),
    (b"PK\x03\x04", ".zip"),
    (b"ID3", ".mp3"),
    (b"OggS", ".ogg"),
)


class Artifacts:
    """The files of one conversation: each under its own safe name, bounded one by one and in
    all. What does not fit is named in `left_out`."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._found: dict[str, bytes] = {}
        self._total = 0
        self.left_out: list[str] = []

    def room_for(self, size: int) -> bool:
        """Whether a file of this many bytes may still be added."""
        return size <= self._bounds.artifact and self._total + size <= self._bounds.artifacts

    def add(self, name: str, data: bytes, mime: str = "") -> str:
        """Keep a file; the answer is its name here, or nothing when it was left out."""
        name = safe = safe_file_name(_with_ending(name, data, mime))
        if not self.room_for(len(data)):
            self.left_out.append(name)
            return ""
        number = 1
        while (known := self._same(name)) is not None:
            if self._found[known] == data:
                return known
            number += 1
            name = numbered(safe, number)
        self._found[name] = data
        self._total += len(data)
        return name

    def add_base64(self, name: str, data: str, mime: str = "") -> str:
        """The same for a file written as base64."""
        if not self.room_for(len(data) * 3 // 4 - 2):
            self.left_out.append(name)
            return ""
        try:
            return self.add(name, base64.b64decode(data), mime)
        except (binascii.Error, ValueError):
            self.left_out.append(name)
            return ""

    def _same(self, name: str) -> str | None:
        return next((known for known in self._found if same_name(known, name)), None)

    def all(self) -> tuple[NewArtifact, ...]:
        """The files, in the order they came."""
        return tuple(NewArtifact(name, data) for name, data in self._found.items())


def _parts(name: str) -> tuple[str, str]:
    ending = PurePosixPath(name).suffix
    if len(ending) > 12 or not ending.isascii():
        ending = ""
    return name[: len(name) - len(ending)], ending


def _with_ending(name: str, data: bytes, mime: str) -> str:
    """Mend a name without an ending or with the `.dat` of exports since 2026."""
    stem, ending = _parts(name)
    if ending.lower() not in ("", ".dat"):
        return name
    mended = _BY_TYPE.get(mime.split(";")[0].strip().lower(), "") or sniffed_ending(data)
    return stem + mended if mended else name


def sniffed_ending(data: bytes) -> str:
    """The usual file ending for what the first bytes say, or nothing."""
    if data[:4] == b"RIFF":
        return {b"WEBP": ".webp", b"WAVE": ".wav"}.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        return ".m4a" if data[8:11] == b"M4A" else ".mp4"
    return next((ending for magic, ending in _MAGIC if data.startswith(magic)), "")
