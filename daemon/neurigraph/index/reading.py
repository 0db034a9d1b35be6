"""From the bytes of a note to what the indexes keep of it. Pure: nothing is read from disk."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from neurigraph.clock import from_note_date, to_note_date
from neurigraph.index.keyword import Document
from neurigraph.index.record import Link, Record, Sections, Stamp, Told, TranscriptStamp
from neurigraph.model import Value
from neurigraph.vault.held import SECRETS_KEY
from neurigraph.vault.layout import (
    MEMORY_ID,
    NODE_ID,
    is_conflict_copy,
    nfc,
    stranger_id,
    topic_of,
)
from neurigraph.vault.neutral import restore_text
from neurigraph.vault.note import (
    Note,
    edges_of,
    first_heading,
    flag,
    parse_link,
    plain_text,
    read_note,
    sections,
    text,
    texts,
    wikilinks,
)

SUMMARY_CHARS = 400
"""How much of a person's own note stands for its summary, in characters."""

_DATE_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_OWN_SECTIONS = {
    "summary": "summary",
    "decisions": "decisions",
    "open questions": "open_questions",
}
_REPORTED = re.compile(
    rb"^(?:(?:temperature|last_accessed|access_count|transcript):"
    rb"|[ \t]*-[ \t]+[\"']?(?:\[\[)?_recall/m-[0-9]{8}-[0-9a-f]{8}/artifacts/)"
    rb"[^\r\n]*(?:\r\n|\n|\r)",
    re.MULTILINE,
)
"""The lines of a note that cooling and warming write."""
_CONFLICT_MARKERS = re.compile(rb"^(?:<{7} |>{7} )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Read:
    """A note as read: its record, and the text of its body for full text and vectors."""

    record: Record
    body: str


def claimed_id(data: Mapping[str, Value]) -> str:
    """The id of a note that is ours (our type and an id of our pattern), else an empty text."""
    kind, found = text(data.get("type")), text(data.get("id"))
    if kind == "memory" and MEMORY_ID.fullmatch(found):
        return found
    if kind in ("broad", "focused") and NODE_ID.fullmatch(found):
        return found
    return ""


def read_record(
    path: str, raw: bytes, stamp: Stamp, transcript: TranscriptStamp | None, *, twin_of: str = ""
) -> Read:
    """What is known of a note from its bytes.

    `transcript` is the stamp of the memory's folder in `_recall`, for notes of ours. With
    `twin_of` the note's id belongs to another note, and it is read as the person's own.
    """
    note = read_note(raw)
    data = note.data
    claimed = claimed_id(data)
    owned = bool(claimed) and not twin_of and not is_conflict_copy(path.rpartition("/")[2])
    kind = ("memory" if claimed.startswith("m-") else "node") if owned else "note"
    parts = _sections(note, owned)
    title = _title(path, note, owned)
    keywords = tuple(texts(data.get("keywords")))
    tags = tuple(t.lstrip("#") for t in texts(data.get("tags")))
    aliases = tuple(texts(data.get("aliases")))
    created = _created(path, data, stamp)
    topic = topic_of(path)
    content = transcript.digest if transcript and kind == "memory" else ""
    text_version = _hash(title, note.body, content)
    version = _hash(
        text_version,
        *(topic.broad, topic.focused or "", created.isoformat(), text(data.get("source_model"))),
        *keywords,
        *tags,
        *aliases,
    )
    record = Record(
        path=path,
        kind="node" if kind == "node" else "memory" if kind == "memory" else "note",
        id=claimed if owned else stranger_id(path),
        stamp=stamp,
        digest=hashlib.sha256(raw).hexdigest(),
        title=title,
        version=version,
        text_version=text_version,
        created=created,
        problem=note.problem or "",
        writable=note.writable,
        description=text(data.get("description")),
        color=text(data.get("color")),
        node_kind=text(data.get("type")) if kind == "node" else "",
        source_model=text(data.get("source_model")),
        source_id=text(data.get("source_id")),
        keywords=keywords,
        tags=tags,
        aliases=aliases,
        noted_temperature=text(data.get("temperature")) if owned else "",
        noted_access=from_note_date(text(data.get("last_accessed"))) if owned else None,
        noted_count=_number(data.get("access_count")) if owned else 0,
        noted_form=noted_form(data) if owned else "",
        lasting=lasting_digest(raw) if owned else "",
        body_version=_hash(note.body, content),
        pinned=flag(data.get("pinned")),
        private=flag(data.get("private")),
        secrets=text(data.get(SECRETS_KEY)).strip().casefold() if owned else "",
        token_count=_number(data.get("token_count")) if owned else len(raw) // 4,
        transcript_sha256=text(data.get("transcript_sha256")) if owned else "",
        summary_source=text(data.get("summary_source")) if owned else "",
        part=_number(data.get("part")),
        previous_part=_link_target(data.get("previous_part")),
        next_part=_link_target(data.get("next_part")),
        links=_links(note),
        transcript=transcript if kind == "memory" else None,
        twin_of=twin_of,
        claimed_id=claimed,
        flagged=_flag_for(path, note),
        sections=parts,
    )
    return Read(record, note.body)


def document(read: Read, transcript: str) -> Document:
    """What full text holds of a memory. `transcript` is the decoded text, or empty."""
    record = read.record
    topic = topic_of(record.path)
    return Document(
        id=record.id,
        version=record.version,
        title=record.title,
        keywords="\n".join((*record.keywords, *record.tags, *record.aliases)),
        topic=f"{topic.broad} {topic.focused or ''}",
        body=searched_body(read.body, record.summary_source) if transcript else read.body,
        transcript=transcript,
        created=record.created.astimezone().date().isoformat() if record.created else "",
        speakers=record.source_model,
    )


def searched_body(body: str, source: str) -> str:
    """The body for indexes, without a summary that was cut from the transcript.

    Its sentences are the transcript's: counted twice they raise what is short and general, and
    finding a memory by them finds nothing new. `source` is the note's `summary_source`. Blanks
    stand in for it, so that every other character keeps its place.
    """
    by, _, mark = source.rpartition(" ")
    if by != "extractive":
        return body
    for section in sections(body):
        if section.level == 2 and section.heading.strip().casefold() == "summary":
            summary = section.text.strip().encode("utf-8", "surrogatepass")
            if hashlib.sha256(summary).hexdigest()[:8] == mark:
                blanks = " " * (section.end - section.start)
                return body[: section.start] + blanks + body[section.end :]
            break
    return body


def _sections(note: Note, owned: bool) -> Sections:
    found = {"summary": "", "decisions": "", "open_questions": ""}
    rest: list[str] = []
    last = 0
    for section in sections(note.body):
        name = _OWN_SECTIONS.get(section.heading.strip().casefold())
        if section.level == 2 and name and not found[name]:
            rest.append(note.body[last : section.start])
            found[name] = section.text.strip()
            last = section.end
    rest.append(note.body[last:])
    if not owned:
        # a person's own note is its own text; only a summary written into it is told apart
        derived = plain_text(note.body[:4000])[:SUMMARY_CHARS].strip()
        return Sections(summary=found["summary"] or derived)
    plain = {name: restore_text(value) for name, value in found.items()}
    return Sections(**plain, notes=restore_text("".join(rest).strip()))


def _title(path: str, note: Note, owned: bool) -> str:
    name = path.rpartition("/")[2]
    given = text(note.data.get("title")) if owned else ""
    return given or first_heading(note.body) or nfc(name[:-3])


def _created(path: str, data: Mapping[str, Value], stamp: Stamp) -> datetime:
    for key in ("created", "date"):
        moment = from_note_date(text(data.get(key)))
        if moment:
            return moment
    match = _DATE_IN_NAME.search(path.rpartition("/")[2])
    moment = from_note_date(match.group()) if match else None
    return moment or datetime.fromtimestamp(stamp.mtime_ns / 1e9, UTC)


def lasting_digest(raw: bytes) -> str:
    """A hash of a note without the lines in which cooling reports."""
    end = raw.find(b"\n---", 3)
    head = raw[: end + 1] if end > 0 else b""
    return hashlib.sha256(_REPORTED.sub(b"", head) + raw[len(head) :]).hexdigest()


def retold(record: Record, raw: bytes, stamp: Stamp, told: Told) -> Record | None:
    """The record of a note in which nothing changed but what it was told of its temperature; None
    when more did change, and the note is to be read anew."""
    if lasting_digest(raw) != record.lasting:
        return None
    accessed = told.accessed
    return replace(
        record,
        stamp=stamp,
        digest=hashlib.sha256(raw).hexdigest(),
        noted_temperature=told.temperature,
        noted_access=from_note_date(to_note_date(accessed)) if accessed else record.noted_access,
        noted_count=told.count,
        noted_form=told.form,
    )


def noted_form(data: Mapping[str, Value]) -> str:
    """How a note names its transcript: "link", "path", or empty where it names none."""
    named = text(data.get("transcript"))
    return "link" if parse_link(named) else "path" if named else ""


def _number(value: Value) -> int:
    digits = text(value)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


def _link_target(value: Value) -> str:
    link = parse_link(text(value))
    return link.target if link else ""


def _links(note: Note) -> tuple[Link, ...]:
    declared = [Link(e.link.target, e.relationship, e.weight) for e in edges_of(note.data)]
    implied = [Link(link.target) for link in wikilinks(note.body) if link.target]
    return (*declared, *implied)


def _flag_for(path: str, note: Note) -> str:
    if is_conflict_copy(path.rpartition("/")[2]):
        return (
            "a sync tool kept this second version; copy what you need into the note it belongs to, "
            "then delete it"
        )
    if _CONFLICT_MARKERS.search(note.raw):
        return "git left conflict markers in this note; choose between the versions and remove them"
    return ""


def _hash(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:24]
