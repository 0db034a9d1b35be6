"""What a memory's note says of its temperature: the properties that cooling and warming write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from neurigraph.clock import to_note_date
from neurigraph.edits.compose import artifact_link
from neurigraph.errors import NotWritable
from neurigraph.index.reading import claimed_id
from neurigraph.index.record import Told
from neurigraph.model import Artifact, Temperature
from neurigraph.vault.layout import recall_dir, transcript_link, transcript_path
from neurigraph.vault.note import parse_link, read_note, set_keys, texts


@dataclass(frozen=True, slots=True)
class Report:
    """What is to be said. `packed` and `plain` are the names of its artifacts, by how they are
    stored; `cold` whether the transcript is gzipped."""

    id: str
    temperature: Temperature
    accessed: datetime | None
    count: int
    cold: bool
    packed: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()


def with_report(raw: bytes, report: Report) -> tuple[bytes, Told]:
    """The note with the report in it, and what it was told; all other bytes stay.

    A link to a file that is compressed would be dead in Obsidian, and clicking it would make an
    empty file in its place: it becomes a plain path, and a link again when the file is back.
    Properties that the note does not have are not added, but for the three that always go
    together. Raises `NotWritable` for a note that has become another memory's.
    """
    note = read_note(raw)
    data = note.data
    if claimed_id(data) != report.id:
        raise NotWritable("", "it is another note now")
    keys: dict[str, str | int | list[str]] = {
        "temperature": report.temperature.value,
        "access_count": report.count,
    }
    form = ""
    if report.accessed is not None:
        keys["last_accessed"] = to_note_date(report.accessed)
    if data.get("transcript"):
        form = "path" if report.cold else "link"
        place = f"{transcript_path(report.id)}.gz"
        keys["transcript"] = place if report.cold else transcript_link(report.id)
    known = texts(data.get("artifacts"))
    named = [_named(item, report) for item in known]
    if named != known:
        keys["artifacts"] = named
    return set_keys(note, keys), Told(report.temperature.value, report.accessed, report.count, form)


def _named(item: str, report: Report) -> str:
    """An item of `artifacts`, in the form that fits how the file is stored now."""
    folder = f"{recall_dir(report.id)}/artifacts/"
    link = parse_link(item)
    if link is not None:
        name = _below(folder, link.target)
        return f"{folder}{name}.gz" if name in report.packed else item
    name = _below(folder, item).removesuffix(".gz")
    if item == f"{folder}{name}.gz" and name in report.plain:
        return artifact_link(Artifact(name, f"{folder}{name}", 0))
    return item


def _below(folder: str, path: str) -> str:
    return path[len(folder) :] if path.startswith(folder) else ""


def by_form(artifacts: Iterable[tuple[str, bool]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the packed and of the plain artifacts, from (name, compressed)."""
    known = list(artifacts)
    return (
        tuple(name for name, compressed in known if compressed),
        tuple(name for name, compressed in known if not compressed),
    )
