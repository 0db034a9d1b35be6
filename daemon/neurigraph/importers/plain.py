"""Reads a plain markdown or text file as one conversation, kept as it is."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import BinaryIO

from neurigraph.clock import from_note_date
from neurigraph.importers.fields import clean, title
from neurigraph.importers.source import Failed, Reading
from neurigraph.model import Conversation, Value
from neurigraph.vault.note import names, read_note, text

_HEADING = re.compile(r"^# +(\S.*?)[ #]*$", re.MULTILINE)
_DATE = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")
_KNOWN = {"title", "date", "created", "keywords", "tags", "source_model", "model", "source_id"}


def read(stream: BinaryIO, reading: Reading) -> Iterator[Conversation | Failed]:
    """The one conversation of a file; nothing when the file is empty.

    `title`, `created` or `date`, `keywords`, `tags`, `source_model` and `source_id` of the
    frontmatter are taken; when it holds anything else, the whole file is kept.
    """
    data = stream.read(reading.bounds.text_file + 1)
    if len(data) > reading.bounds.text_file:
        limit = reading.bounds.text_file // 10**6
        yield Failed(reading.name, f"a text of more than {limit} MB is not imported")
        return
    whole = decoded(data)
    if whole is None:
        yield Failed(reading.name, "it is not text")
        return
    note = read_note(whole.encode())
    known = note.data
    all_known = note.problem is None and _KNOWN.issuperset(known)
    content = note.body.lstrip("\n") if all_known and known else whole
    if not content.strip():
        reading.skipped["empty file"] += 1
        return
    name = PurePosixPath(reading.name)
    heading = _HEADING.search(note.body)
    yield Conversation(
        content=content,
        title=title(_text(known, "title"))
        or title(heading.group(1) if heading else None)
        or title(name.stem),
        created=from_note_date(_text(known, "created") or _text(known, "date"))
        or _date_in(name.stem)
        or reading.modified,
        source_model=_text(known, "source_model") or _text(known, "model"),
        source_id=_text(known, "source_id") or identity(reading, whole),
        keywords=_keywords(known),
    )


def identity(reading: Reading, whole: str) -> str:
    """`file:` and a hash: of the path within the folder that is imported, or, for a file on its
    own, of its name and first line, so that two of one name stay two."""
    seed = reading.identity or f"{reading.name}\0{whole.strip().split(chr(10), 1)[0][:200]}"
    return f"file:{hashlib.sha256(seed.encode('utf-8', 'replace')).hexdigest()[:32]}"


def decoded(data: bytes) -> str | None:
    """Text from UTF-8, from UTF-16 with a mark, else from Windows' western code page; None for
    what is no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return clean(data.decode("utf-16", "replace"))
    if b"\0" in data:
        return None
    try:
        return clean(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return clean(data.decode("cp1252", "replace"))


def _text(known: Mapping[str, Value], key: str) -> str:
    return text(known.get(key)).strip()


def _keywords(known: Mapping[str, Value]) -> tuple[str, ...] | None:
    found = dict.fromkeys([*names(known.get("keywords")), *names(known.get("tags"))])
    return tuple(found) or None


def _date_in(name: str) -> datetime | None:
    match = _DATE.search(name)
    return from_note_date(match.group(1)) if match else None
