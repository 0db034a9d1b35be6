"""Writes and reads our own export: one file of JSON Lines, or a folder of plain markdown.

Both hold every note byte for byte, every transcript as it was handed in and every artifact, so
that importing them into an empty vault gives the same memories, nodes and edges.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from neurigraph.errors import Duplicate
from neurigraph.importers.fields import mapping
from neurigraph.importers.log import records
from neurigraph.importers.source import Failed, Reading, UnreadableExport
from neurigraph.model import NewArtifact

HEADER = {"neurigraph": "export", "version": 1}
"""The first line of the JSON Lines; the last is `{"neurigraph": "end", "items": n}`."""
MARKER = "neurigraph-export.json"
"""The file that marks a folder as an export; `complete` in it is written last."""
_RECALL = "_recall"
_PIECE = 12_000_000
_FRONTMATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.M
)
_ID = re.compile(rb"""^id:[ \t]*["']?([mn]-[0-9a-f-]{8,17})["']?[ \t\r]*$""", re.M)


@dataclass(frozen=True, slots=True)
class ExportItem:
    """A note with everything that belongs to it.

    `path` is relative to the vault and `note` the very bytes of the file, both of memories and
    of node notes. `id` is empty where a note carries none of ours; `transcript` is the decoded
    text, None where there is none.
    """

    id: str
    path: str
    note: bytes
    transcript: str | None = None
    artifacts: tuple[NewArtifact, ...] = ()


def jsonl(items: Iterable[ExportItem | Failed]) -> Iterator[bytes]:
    """A header line, the items and an end line.

    An item is one line, and after it come its artifacts, in pieces of 12 MB, so that no line is
    too long to be read in one piece. What could not be exported is said in a line of its own.
    """
    yield _line(HEADER)
    count = 0
    for item in items:
        if isinstance(item, Failed):
            yield _line({"neurigraph": "problem", "path": item.title, "reason": item.reason})
            continue
        yield _line(_packed(item))
        for artifact in item.artifacts:
            for part, start in enumerate(range(0, len(artifact.data) or 1, _PIECE)):
                piece = base64.b64encode(artifact.data[start : start + _PIECE]).decode()
                yield _line({"artifact": artifact.name, "part": part, "base64": piece})
        count += 1
    yield _line({"neurigraph": "end", "items": count})


def write_jsonl(items: Iterable[ExportItem], out: BinaryIO) -> int:
    """Write items as JSON Lines; the answer is how many."""
    count = -2
    for line in jsonl(items):
        out.write(line)
        count += not line.startswith(b'{"artifact"')
    return count


def count_items(end: bytes) -> int | None:
    """From the last bytes of such a file: how many items it has; None when it is cut off."""
    try:
        last = mapping(json.loads(end.rstrip().rpartition(b"\n")[2]))
    except (ValueError, RecursionError):
        return None
    count = last.get("items")
    return count if last.get("neurigraph") == "end" and isinstance(count, int) else None


def read_jsonl(stream: BinaryIO, reading: Reading) -> Iterator[ExportItem | Failed]:
    """The items of such a file, in order; a damaged one is `Failed`."""
    open_item: ExportItem | Failed | None = None
    found: dict[str, bytearray] = {}
    for number, record in enumerate(records(stream, reading), 1):
        name = f"{reading.name}, line {number}"
        if isinstance(record, Failed):
            yield record
        elif "artifact" in record:
            problem = _add_piece(found, record)
            if problem and isinstance(open_item, ExportItem):
                open_item = Failed(open_item.path, problem, open_item.id)
        else:
            if open_item is not None:
                yield _whole(open_item, found)
            found = {}
            said = record.get("neurigraph")
            open_item = None if said else _unpacked(record, name)
            if said == "problem":
                missing = f"it was not exported: {record.get('reason')}"
                yield Failed(str(record.get("path") or name), missing)
    if open_item is not None:
        yield _whole(open_item, found)
    if reading.skipped.pop("damaged line", 0):
        yield Failed(reading.name, "a line of the export is damaged")


def _add_piece(found: dict[str, bytearray], record: Mapping[str, Any]) -> str:
    """Take a piece of an artifact; the answer is what is wrong with it, if anything."""
    name, part = record.get("artifact"), record.get("part")
    if not isinstance(name, str) or not _named(name):
        return "the name of an artifact is not one that can be stored"
    try:
        data = base64.b64decode(record.get("base64", ""), validate=True)
    except (TypeError, binascii.Error, ValueError):
        return "an artifact is damaged"
    known = found.setdefault(name, bytearray())
    if (part == 0) != (not known):
        return "a piece of an artifact is missing or stands twice"
    known += data
    return ""


def _whole(item: ExportItem | Failed, found: Mapping[str, bytearray]) -> ExportItem | Failed:
    if isinstance(item, Failed) or not found:
        return item
    artifacts = tuple(NewArtifact(name, bytes(data)) for name, data in found.items())
    return replace(item, artifacts=artifacts)


def write_folder(items: Iterable[ExportItem], folder: Path) -> int:
    """Write each note under its own path, and what belongs to it under `_recall`, all unpacked.

    The folder must be empty or absent; raises `Duplicate` when it is not, or when two items have
    one path. The answer is how many items were written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise Duplicate(f"{folder} is not empty; name a new folder for the export")
    _write(folder, MARKER, _marker(complete=False, strange={}))
    count = 0
    strange: dict[str, str] = {}
    for item in items:
        _write(folder, safe_path(item.path), item.note)
        if item.id and item.id != id_of(item.note):
            strange[item.path] = item.id
        if item.transcript is not None:
            place = f"{_RECALL}/{item.id}/transcript.md"
            _write(folder, safe_path(place), item.transcript.encode("utf-8", "surrogatepass"))
        for artifact in item.artifacts:
            place = f"{_RECALL}/{item.id}/artifacts/{artifact.name}"
            _write(folder, safe_path(place), artifact.data)
        count += 1
    (folder / MARKER).write_bytes(_marker(complete=True, strange=strange))
    return count


def is_complete(folder: Path) -> bool:
    """Whether the export in a folder was written to its end."""
    return _read_marker(folder).get("complete") is True


def _marker(complete: bool, strange: dict[str, str]) -> bytes:
    value = {**HEADER, "complete": complete, "ids": strange}
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace")


def _read_marker(folder: Path) -> Mapping[str, Any]:
    try:
        return mapping(json.loads((folder / MARKER).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}


def read_folder(folder: Path) -> Iterator[ExportItem | Failed]:
    """The items of such a folder, by path. Notes that a person added to it come along."""
    ids = _strange_ids(folder)
    for path in sorted(folder.rglob("*")):
        rel = path.relative_to(folder).as_posix()
        ours = rel.startswith(f"{_RECALL}/") or rel == MARKER
        if ours or path.is_symlink() or not path.is_file():
            continue
        try:
            yield _gathered(folder, rel, ids)
        except (OSError, UnicodeDecodeError) as error:
            yield Failed(rel, f"it cannot be read ({error.__class__.__name__})")


def _gathered(folder: Path, rel: str, ids: dict[str, str]) -> ExportItem:
    note = (folder / rel).read_bytes()
    known = ids.get(rel) or id_of(note)
    place = folder / _RECALL / known
    transcript = None
    artifacts: list[NewArtifact] = []
    if known and not place.is_symlink() and place.is_dir():
        text = place / "transcript.md"
        if text.is_file() and not text.is_symlink():
            transcript = text.read_bytes().decode("utf-8", "surrogatepass")
        if (files := place / "artifacts").is_dir():
            artifacts = [
                NewArtifact(file.name, file.read_bytes())
                for file in sorted(files.iterdir())
                if file.is_file() and not file.is_symlink()
            ]
    return ExportItem(known, rel, note, transcript, tuple(artifacts))


def id_of(note: bytes) -> str:
    """The id of ours that a note carries in its frontmatter, or nothing."""
    block = _FRONTMATTER.match(note)
    match = _ID.search(block.group(1)) if block else None
    return match.group(1).decode() if match else ""


def safe_path(path: str) -> str:
    """The path, when it stays inside the folder it is written to; raises `UnreadableExport`."""
    parts = PurePosixPath(path).parts
    bad = not parts or path.startswith("/") or "\\" in path or "\0" in path or ":" in parts[0]
    if bad or any(part in ("..", ".") for part in path.split("/")):
        raise UnreadableExport(path or "(no path)", "leads out of the folder of the export")
    return path


def _strange_ids(folder: Path) -> dict[str, str]:
    found = mapping(_read_marker(folder).get("ids"))
    return {
        path: known for path, known in found.items() if isinstance(known, str) and _named(known)
    }


def _named(known: str) -> bool:
    return bool(known) and "/" not in known and "\\" not in known and not known.startswith(".")


def _write(folder: Path, rel: str, data: bytes) -> None:
    place = folder / rel
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with place.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise Duplicate(f"{rel} stands twice in the export") from None


def _line(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _packed(item: ExportItem) -> dict[str, Any]:
    packed: dict[str, Any] = {"id": item.id, "path": item.path}
    try:
        packed["note"] = item.note.decode()
    except UnicodeDecodeError:
        packed["note_base64"] = base64.b64encode(item.note).decode()
    if item.transcript is not None:
        packed["transcript"] = item.transcript
    return packed


def _unpacked(record: dict[str, Any], name: str) -> ExportItem | Failed:
    try:
        path, known = safe_path(str(record["path"])), str(record.get("id") or "")
        if known and not _named(known):
            return Failed(name, "its id is none of ours")
        encoded = record.get("note_base64")
        data = base64.b64decode(encoded, validate=True) if encoded else str(record["note"]).encode()
        transcript = record.get("transcript")
    except KeyError as error:
        return Failed(name, f"the line lacks {error}")
    except (TypeError, binascii.Error, ValueError) as error:
        return Failed(name, f"the line is damaged ({error.__class__.__name__})")
    except UnreadableExport as error:
        return Failed(name, error.reason)
    if transcript is not None and not isinstance(transcript, str):
        return Failed(name, "its transcript is no text")
    return ExportItem(known, path, data, transcript)
