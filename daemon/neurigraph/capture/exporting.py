"""Hands out everything that a vault remembers, note by note, unpacked. Opens nothing."""

from __future__ import annotations

from collections.abc import Iterator

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.importers.export import ExportItem
from neurigraph.importers.source import Failed
from neurigraph.index.record import Record
from neurigraph.model import NewArtifact

_KINDS = ("node", "memory", "note")


def everything(desk: Desk) -> Iterator[ExportItem | Failed]:
    """Every note with what belongs to it: topics, then memories, then the person's own notes.

    What cannot be read is said as `Failed`; a note whose transcript cannot be read still comes.
    """
    records = desk.library.records()
    for record in sorted(records, key=lambda r: (_KINDS.index(r.kind), r.path)):
        try:
            note = desk.files.read(record.path)
        except FileNotFoundError:
            continue  # deleted while the export is under way
        except (NeurigraphError, OSError) as error:
            yield Failed(record.path, f"it cannot be read ({error})")
            continue
        yield from _with_belongings(desk, record, note)


def _with_belongings(desk: Desk, record: Record, note: bytes) -> Iterator[ExportItem | Failed]:
    known = record.id if record.kind != "note" else ""
    if record.kind != "memory":
        yield ExportItem(known, record.path, note)
        return
    transcript, artifacts = None, []
    problems = []
    try:
        transcript = desk.recall.read(record.id)
    except (NeurigraphError, OSError) as error:
        problems.append(Failed(record.path, str(error)))
    try:
        for artifact in desk.recall.stat(record.id).artifacts:
            data = desk.recall.read_artifact(record.id, artifact.name)
            artifacts.append(NewArtifact(artifact.name, data))
    except (NeurigraphError, OSError) as error:
        problems.append(Failed(record.path, str(error)))
    yield ExportItem(known, record.path, note, transcript, tuple(artifacts))
    yield from problems
