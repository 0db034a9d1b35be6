"""What is known of one note file without reading it again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal

RecordKind = Literal["node", "memory", "note"]
"""A node note of ours, a memory note of ours, or a note that is the person's own."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells that a file is probably unchanged: size in bytes, mtime in ns, inode."""

    size: int
    mtime_ns: int
    inode: int = 0


@dataclass(frozen=True, slots=True)
class TranscriptStamp:
    """A memory's folder in `_recall`: how the transcript is stored, its file and its content.

    `digest` is of the decoded text, so compressing changes nothing that indexes depend on;
    `opening` is a hash of its beginning, by which a grown conversation finds its earlier self.
    `artifacts` are (name, bytes as stored, compressed).
    """

    form: Literal["plain", "gzip", "missing", "both"]
    size: int = 0
    mtime_ns: int = 0
    digest: str = ""
    opening: str = ""
    artifacts: tuple[tuple[str, int, bool], ...] = ()

    def fits(self, form: str, size: int, mtime_ns: int) -> bool:
        """Whether the transcript's file is the one that was read."""
        return (self.form, self.size, self.mtime_ns) == (form, size, mtime_ns)


@dataclass(frozen=True, slots=True)
class Told:
    """What a note was just told of its temperature; `form` is how it names its transcript, and
    `accessed` None leaves that as it was."""

    temperature: str
    accessed: datetime | None
    count: int
    form: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written in a note: `relationship` is empty for links in the text.

    `weight` is None where the link names none.
    """

    target: str
    relationship: str = ""
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Sections:
    """The parts of a note's text that the API hands out by name."""

    summary: str = ""
    decisions: str = ""
    open_questions: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One note file: its stamp, its frontmatter as values, and versions for the indexes.

    `version` covers everything that full text is built from, `text_version` only what vectors
    are built from, so that a new temperature never embeds anything again. `lasting` is a hash of
    the note without the lines in which cooling reports, `body_version` one of its body alone and
    of the transcript. A note whose id is already taken by another carries `twin_of` and is the
    person's until mended.
    """

    path: str
    kind: RecordKind
    id: str
    stamp: Stamp
    digest: str
    title: str
    version: str
    text_version: str
    created: datetime | None = None
    problem: str = ""
    writable: bool = True
    description: str = ""
    color: str = ""
    node_kind: str = ""
    source_model: str = ""
    source_id: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    noted_temperature: str = ""
    noted_access: datetime | None = None
    noted_count: int = 0
    noted_form: str = ""
    lasting: str = ""
    body_version: str = ""
    pinned: bool = False
    private: bool = False
    secrets: str = ""
    token_count: int = 0
    transcript_sha256: str = ""
    summary_source: str = ""
    part: int = 0
    previous_part: str = ""
    next_part: str = ""
    links: tuple[Link, ...] = ()
    transcript: TranscriptStamp | None = None
    twin_of: str = ""
    claimed_id: str = ""
    flagged: str = ""
    sections: Sections = field(default_factory=Sections)

    @property
    def owned(self) -> bool:
        """Whether the note is ours: our type and our id."""
        return self.kind != "note"

    def light(self) -> Record:
        """The same record without the text that only single answers need."""
        return replace(self, sections=Sections()) if self.sections != Sections() else self


_STORED = tuple(f.name for f in fields(Record) if f.name != "sections")
_STAMPED = tuple(f.name for f in fields(TranscriptStamp))
_DATES = ("created", "noted_access")


OPENING_CHARS = 200


def opening_of(transcript: str) -> str:
    """A key for how a transcript begins; empty for those too short to tell apart by it."""
    if len(transcript) < OPENING_CHARS:
        return ""
    head = transcript[:OPENING_CHARS].encode("utf-8", "surrogatepass")
    return "o:" + hashlib.sha256(head).hexdigest()[:24]


def to_json(record: Record) -> str:
    """A record, without its sections, as JSON for the catalog."""
    values = {name: value for name in _STORED if (value := getattr(record, name))}
    values["stamp"] = [record.stamp.size, record.stamp.mtime_ns, record.stamp.inode]
    for name in _DATES:
        if name in values:
            values[name] = values[name].isoformat()
    if record.links:
        values["links"] = [[k.target, k.relationship, k.weight] for k in record.links]
    if (stamp := record.transcript) is not None:
        values["transcript"] = [getattr(stamp, name) for name in _STAMPED]
    return json.dumps(values, ensure_ascii=True, separators=(",", ":"))


def from_json(text: str) -> Record:
    """The record that `to_json` wrote. Raises ValueError, KeyError or TypeError when torn."""
    values: dict[str, Any] = json.loads(text)
    values["stamp"] = Stamp(*values["stamp"])
    for name in _DATES:
        if name in values:
            values[name] = datetime.fromisoformat(values[name])
    for name in ("keywords", "tags", "aliases"):
        if name in values:
            values[name] = tuple(values[name])
    values["links"] = tuple(Link(*link) for link in values.get("links", ()))
    if "transcript" in values:
        stored = values["transcript"]
        kept = tuple((str(n), int(s), bool(c)) for n, s, c in stored[-1])
        named = dict(zip(_STAMPED, stored, strict=True))
        values["transcript"] = TranscriptStamp(**named | {"artifacts": kept})
    for name in ("writable", "pinned", "private"):
        values[name] = bool(values.get(name, False))
    for name in ("digest", "title", "version", "text_version", "path", "id"):
        values.setdefault(name, "")
    return Record(**values)
