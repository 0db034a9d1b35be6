"""Makes the text of a new memory note or node note. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from neurigraph.clock import to_note_date
from neurigraph.model import Artifact, Temperature
from neurigraph.vault.held import HELD, SECRETS_KEY
from neurigraph.vault.layout import transcript_link
from neurigraph.vault.neutral import neutralize
from neurigraph.vault.note import new_note

_HEADING = re.compile(r"^(#{1,6})(?=\s)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """What a memory note is made from."""

    id: str
    title: str
    created: datetime
    source_model: str
    source_id: str
    keywords: Sequence[str]
    token_count: int
    transcript_sha256: str
    summary: str
    summary_by: str
    decisions: str
    open_questions: str
    artifacts: Sequence[Artifact]
    accessed: datetime
    temperature: Temperature = Temperature.HOT
    part: int = 0
    secrets: bool = False


def safe_text(words: str) -> str:
    """Text from others, made harmless in a note: nothing in it runs, its headings stay below
    ours."""
    quiet = neutralize(words.replace("\r\n", "\n").replace("\r", "\n").strip())
    return _HEADING.sub(lambda m: "#" * min(6, len(m.group(1)) + 2), quiet)


def safe_line(words: str, most: int = 300) -> str:
    """One line of text from others: no line breaks, nothing that runs, at most `most` chars."""
    return neutralize(" ".join(words.split())[:most].strip())


def summary_source(by: str, summary: str) -> str:
    """Who made a summary, and the first 8 hex of its SHA-256, so that an edit is noticed."""
    digest = hashlib.sha256(summary.strip().encode("utf-8", "surrogatepass")).hexdigest()
    return f"{by} {digest[:8]}"


def is_generated(source: str, summary: str) -> bool:
    """Whether a summary is still the one that `source` names; false once a person rewrote it."""
    by = source.rpartition(" ")[0]
    return bool(by) and summary_source(by, summary) == source


def artifact_link(artifact: Artifact) -> str:
    """How a note lists an artifact."""
    return f"[[{artifact.path}|{artifact.name}]]"


def memory_note(draft: MemoryDraft) -> bytes:
    """The bytes of a new memory note."""
    summary = safe_text(draft.summary)
    created = to_note_date(draft.created)
    data: dict[str, str | int | bool | list[str] | None] = {
        "type": "memory",
        "id": draft.id,
        "title": safe_line(draft.title),
        "created": created,
    }
    if draft.source_model:
        data["source_model"] = safe_line(draft.source_model, 80)
    if draft.source_id:
        data["source_id"] = safe_line(draft.source_id)
    if draft.part:
        data["part"] = draft.part
    data |= {
        "keywords": [k for w in draft.keywords if (k := safe_line(w, 80))],
        "temperature": draft.temperature.value,
        "last_accessed": to_note_date(draft.accessed),
        "access_count": 0,
        "pinned": False,
        "private": False,
        "token_count": draft.token_count,
        "transcript": transcript_link(draft.id),
        "transcript_sha256": draft.transcript_sha256,
    }
    if draft.secrets:
        data[SECRETS_KEY] = HELD
    if draft.artifacts:
        data["artifacts"] = [artifact_link(artifact) for artifact in draft.artifacts]
    data["summary_source"] = summary_source(draft.summary_by, summary)
    parts = [f"## Summary\n{summary}\n"]
    if draft.decisions.strip():
        parts.append(f"## Decisions\n{safe_text(draft.decisions)}\n")
    if draft.open_questions.strip():
        parts.append(f"## Open questions\n{safe_text(draft.open_questions)}\n")
    return new_note(data, "\n".join(parts))


def node_note(
    kind: str, node_id: str, name: str, description: str, color: str, now: datetime
) -> bytes:
    """The bytes of a new node note."""
    data: dict[str, str | int | bool | list[str] | None] = {
        "type": kind,
        "id": node_id,
        "description": safe_line(description),
        "color": color,
        "created": to_note_date(now),
    }
    return new_note(data, f"# {safe_line(name)}\n")
