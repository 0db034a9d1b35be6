"""Where an export lies: files in a folder or in a zip, opened by name and within bounds."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from neurigraph.errors import NeurigraphError

CHUNK = 1 << 20


class UnreadableExport(NeurigraphError):
    """What was handed in cannot be imported; nothing was read from it and nothing changed."""

    code = "unreadable_export"

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"{name}: {reason}")


@dataclass(frozen=True, slots=True)
class Failed:
    """One conversation (or one file of many) that could not be read, and why, in one line."""

    title: str
    reason: str
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one export may hold before it counts as damaged or hostile.

    `conversation` counts characters of JSON, all else bytes. A zip member of more than 10 MB
    that is packed tighter than `zip_ratio` is a bomb: chats pack 5 to 20 times.
    """

    conversation: int = 100_000_000
    line: int = 64_000_000
    text_file: int = 20_000_000
    artifact: int = 20_000_000
    artifacts: int = 100_000_000
    tool_text: int = 20_000
    zip_members: int = 200_000
    zip_total: int = 50_000_000_000
    zip_ratio: int = 200


class Files(Protocol):
    """A folder or a zip, read by name. Names are relative, with forward slashes."""

    def names(self) -> Sequence[str]:
        """All files, in a stable order."""
        ...

    def size(self, name: str) -> int:
        """Bytes of this file, unpacked."""
        ...

    def open(self, name: str) -> BinaryIO:
        """A buffered stream from the start of the file. Raises OSError or UnreadableExport."""
        ...


class FolderFiles:
    """The files below a folder. Hidden folders and links are left out."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: list[str] | None = None
        self.unreadable: list[str] = []

    def names(self) -> Sequence[str]:
        if self._names is None:
            self._names = sorted(self._walk())
        return self._names

    def _walk(self) -> list[str]:
        found = []
        for folder, below, files in os.walk(self._root, onerror=self._missed):
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in files:
                path = Path(folder, name)
                try:
                    regular = stat.S_ISREG(path.lstat().st_mode)
                except OSError as error:
                    self._missed(error)
                    continue
                if regular and not name.startswith("."):
                    found.append(path.relative_to(self._root).as_posix())
        return found

    def _missed(self, error: OSError) -> None:
        self.unreadable.append(f"{error.filename}: {error.strerror}")

    def size(self, name: str) -> int:
        return (self._root / name).stat().st_size

    def open(self, name: str) -> BinaryIO:
        return (self._root / name).open("rb", buffering=CHUNK)

    def path(self, name: str) -> Path:
        """Where this file is."""
        return self._root / name


class ZipFiles:
    """The members of a zip. Nothing is ever unpacked to disk; hostile names are refused anyway."""

    def __init__(self, path: Path, bounds: Bounds) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
            raise UnreadableExport(
                path.name,
                "the zip is cut off or damaged, or still being written; download it again",
            ) from error
        members = [info for info in self._zip.infolist() if not info.is_dir()]
        if len(members) > bounds.zip_members:
            self.close()
            raise UnreadableExport(path.name, f"the zip holds more than {bounds.zip_members} files")
        if sum(info.file_size for info in members) > bounds.zip_total:
            self.close()
            raise UnreadableExport(
                path.name, f"unpacked, the zip would be over {bounds.zip_total // 10**9} GB"
            )
        for info in members:
            packed = max(info.compress_size, 1)
            if info.file_size > 10_000_000 and info.file_size / packed > bounds.zip_ratio:
                self.close()
                raise UnreadableExport(
                    path.name, f"{shown(info.filename)} in it unpacks to far too much (a zip bomb?)"
                )
            if _leads_out(info.filename):
                self.close()
                raise UnreadableExport(
                    path.name,
                    f"the name {shown(info.filename)} in it leads out of its folder, as no export "
                    "has it; nothing of it is imported",
                )
        self._members = {info.filename: info for info in members}

    def names(self) -> Sequence[str]:
        return list(self._members)

    def size(self, name: str) -> int:
        return self._members[name].file_size

    def open(self, name: str) -> BinaryIO:
        try:
            member = cast(io.RawIOBase, self._zip.open(self._members[name]))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            locked = isinstance(error, RuntimeError) and "encrypted" in str(error)
            reason = "is protected by a password" if locked else "is damaged or packed unusually"
            raise UnreadableExport(self._path.name, f"{shown(name)} in it {reason}") from error
        return io.BufferedReader(member, CHUNK)

    @contextmanager
    def sound(self, name: str) -> Iterator[None]:
        """Around reading a member: raises `UnreadableExport` when it proves to be damaged."""
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise UnreadableExport(
                self._path.name, f"{shown(name)} in it is damaged; download it again"
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()


class Counting(io.RawIOBase):
    """A stream that tells how many bytes were taken from it, for progress."""

    def __init__(self, inner: BinaryIO, count: Callable[[int], None]) -> None:
        self._inner, self._count = inner, count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._inner.read(len(buffer))
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)

    def close(self) -> None:
        self._inner.close()
        super().close()


@dataclass(slots=True)
class Reading:
    """What a reader is given beside the stream: names, bounds, neighbours, and what to count.

    `skipped` counts what was left out on purpose, by a short name for it.
    """

    name: str
    bounds: Bounds = field(default_factory=Bounds)
    files: Files | None = None
    modified: datetime | None = None
    identity: str = ""
    skipped: Counter[str] = field(default_factory=Counter)


def _leads_out(name: str) -> bool:
    """Whether a member would be unpacked outside the folder that a zip is unpacked in."""
    parts = re.split(r"[\\/]", name)
    return ".." in parts or parts[0] == "" or (len(parts[0]) == 2 and parts[0][1] == ":")


def shown(name: str) -> str:
    """A name from a foreign file, fit for one line of a message."""
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "?", name)
    return text if len(text) <= 80 else f"{text[:38]}…{text[-38:]}"
