"""What was recognised, opened: its parts, and how far reading it has come."""

from __future__ import annotations

import json
import logging
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TypeAlias, cast

from neurigraph.importers import chatgpt, claude, claude_code, codex, export, gemini, plain
from neurigraph.importers.export import ExportItem
from neurigraph.importers.fields import mapping
from neurigraph.importers.kinds import Kind
from neurigraph.importers.source import (
    CHUNK,
    Bounds,
    Counting,
    Failed,
    Files,
    Reading,
    UnreadableExport,
    ZipFiles,
)
from neurigraph.model import Conversation

_log = logging.getLogger(__name__)

Item: TypeAlias = "Conversation | Failed | ExportItem"
Reader: TypeAlias = Callable[[BinaryIO, Reading], Iterator[Any]]

TORN = "it is cut off in the middle, or still being written; wait, or download it again"


def _documents(convert: Callable[[Any, Reading], Iterator[Any]]) -> Reader:
    """A reader of one JSON document that fits in memory."""

    def read(stream: BinaryIO, reading: Reading) -> Iterator[Any]:
        data = stream.read(reading.bounds.conversation + 1)
        if len(data) > reading.bounds.conversation:
            yield Failed(reading.name, f"over {reading.bounds.conversation // 10**6} MB of JSON")
            return
        try:
            value = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
        except RecursionError:
            yield Failed(reading.name, "nested too deeply")
            return
        except ValueError:
            yield Failed(reading.name, TORN)
            return
        yield from convert(value, reading)

    return read


READERS: Mapping[Kind, Reader] = {
    Kind.CHATGPT: chatgpt.read,
    Kind.CLAUDE: claude.read,
    Kind.CLAUDE_CODE: claude_code.read,
    Kind.CODEX: codex.read,
    Kind.CODEX_DOCUMENT: _documents(
        lambda value, reading: codex.read_document(mapping(value), reading)
    ),
    Kind.GEMINI: gemini.read,
    Kind.GEMINI_DOCUMENT: _documents(gemini.read_document),
    Kind.GEMINI_PROMPTS: _documents(gemini.read_document),
    Kind.OWN: export.read_jsonl,
    Kind.TEXT: plain.read,
}


@dataclass(frozen=True, slots=True)
class Part:
    """One file of an export. `size` is in bytes, unpacked; `count` is how many conversations it
    holds, at least; `identity` tells text files apart."""

    kind: Kind
    name: str
    size: int
    open: Callable[[], BinaryIO]
    count: int = 1
    files: Files | None = None
    modified: datetime | None = None
    identity: str = ""


@dataclass(slots=True)
class Export:
    """Something that can be imported. A context manager: leaving it closes its zips.

    `problems` are files of many that cannot be read; `skipped` counts, while it is read, what
    was left out on purpose. `done_bytes` of `total_bytes` is how far reading has come.
    """

    name: str
    parts: list[Part] = field(default_factory=list)
    problems: list[Failed] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    done_bytes: int = 0
    bounds: Bounds = field(default_factory=Bounds)
    folder: Path | None = None
    zips: list[ZipFiles] = field(default_factory=list)

    @property
    def total_bytes(self) -> int:
        """How much there is to read."""
        return sum(part.size for part in self.parts)

    @property
    def count(self) -> int:
        """About how many conversations there are: exact for exports of accounts."""
        return sum(part.count for part in self.parts)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it holds, each kind once."""
        return tuple(dict.fromkeys(part.kind for part in self.parts))

    def read(self) -> Iterator[Item]:
        """Everything in it, one at a time; what cannot be read comes as `Failed`."""
        yield from self.problems
        if self.folder is not None:
            yield from export.read_folder(self.folder)
        for part in self.parts:
            yield from self._part(part)

    def _part(self, part: Part) -> Iterator[Item]:
        reading = Reading(
            name=part.name,
            bounds=self.bounds,
            files=part.files,
            modified=part.modified,
            identity=part.identity,
            skipped=self.skipped,
        )
        before = self.done_bytes
        try:
            with part.open() as inner:
                counting = cast(BufferedReader, Counting(inner, self._advance))
                yield from READERS[part.kind](BufferedReader(counting, CHUNK), reading)
        except (OSError, UnreadableExport, zipfile.BadZipFile, zlib.error, EOFError) as error:
            yield Failed(part.name, f"it cannot be read to its end ({why(error)})")
        except Exception as error:  # noqa: BLE001 - foreign data; the other files must be read
            _log.warning("%s could not be read: %s", part.name, type(error).__name__)
            yield Failed(part.name, f"it is laid out in an unknown way ({type(error).__name__})")
        self.done_bytes = before + part.size

    def _advance(self, size: int) -> None:
        self.done_bytes += size

    def close(self) -> None:
        """Let go of every zip."""
        for opened in self.zips:
            opened.close()

    def __enter__(self) -> Export:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def why(error: Exception) -> str:
    """An error of the system or of a zip, in a few words."""
    return str(getattr(error, "strerror", None) or getattr(error, "reason", None) or error)
