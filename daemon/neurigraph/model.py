"""The nouns that every floor shares: temperature, node, edge, memory, hit.

Times are aware datetimes in UTC. Paths are relative to the vault, with forward slashes.
A memory is called `Chunk` here, as in the API, because `Memory` is the door to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, TypeAlias

Value: TypeAlias = "str | list[Any] | dict[str, Any] | None"
"""A frontmatter value. Scalars stay the text that the note holds; an empty value is None."""


class Temperature(StrEnum):
    """How lately a memory was used; ordered from `hot` to `deep-cold` by `rank`."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    DEEP_COLD = "deep-cold"

    @property
    def rank(self) -> int:
        """0 for hot to 3 for deep-cold."""
        return _RANKS[self]


_RANKS = {temperature: rank for rank, temperature in enumerate(Temperature)}

Kind = Literal["broad", "focused"]


@dataclass(frozen=True, slots=True)
class Edge:
    """One arrow between two nodes; `derived` when it comes from links in the text of notes."""

    source: str
    target: str
    relationship: str
    weight: float
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories a node (or the vault) holds, in all and at each temperature."""

    memories: int = 0
    hot: int = 0
    warm: int = 0
    cold: int = 0
    deep_cold: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A topic: a top folder (broad) or a folder within one (focused)."""

    id: str
    kind: Kind
    name: str
    path: str
    description: str = ""
    color: str = ""
    created: datetime | None = None
    private: bool = False
    note_path: str | None = None
    parent: str | None = None
    focused: int = 0
    counts: Counts = field(default_factory=Counts)
    temperature: Temperature = Temperature.COLD
    last_accessed: datetime | None = None
    access_count: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that belongs to a memory. `size` is in bytes as stored."""

    name: str
    path: str
    size: int
    compressed: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """One memory, as every interface answers it.

    `owned` is true for notes that carry our type and id; all else is the person's own note.
    `version` covers note and transcript and is what a change must name. `notes` is whatever
    the note says under headings that are not ours.
    """

    id: str
    title: str
    path: str
    broad: str
    focused: str
    broad_id: str
    focused_id: str
    created: datetime | None
    source_model: str = ""
    source_id: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    temperature: Temperature = Temperature.WARM
    last_accessed: datetime | None = None
    access_count: int = 0
    pinned: bool = False
    private: bool = False
    secrets: str = ""
    token_count: int = 0
    summary: str = ""
    summary_source: str = ""
    decisions: str = ""
    open_questions: str = ""
    notes: str = ""
    artifacts: tuple[Artifact, ...] = ()
    has_transcript: bool = False
    previous_part: str | None = None
    next_part: str | None = None
    owned: bool = True
    stale: bool = False
    version: str = ""
    obsidian_url: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a memory that answers a question. `start` and `end` count characters of the
    text it comes from: the decoded transcript, or the note's body."""

    text: str
    start: int
    end: int
    source: Literal["transcript", "note"]
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One found memory, best passage first. `stage` is the stage of the cascade that found it;
    matched words in `snippet` and in passages stand between U+E000 and U+E001."""

    id: str
    title: str
    broad: str
    focused: str
    path: str
    created: datetime | None
    score: float
    stage: str
    snippet: str
    passages: tuple[Passage, ...]
    temperature: Temperature
    stale: bool
    obsidian_url: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a search. `took_ms` is wall time; `total` counts all hits found."""

    hits: tuple[Hit, ...]
    total: int
    took_ms: float
    stages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a file that a person should know, with what to do about it."""

    path: str
    problem: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation: who spoke, when (as written) and what.
    `start` and `end` count characters of the whole transcript, header included."""

    speaker: str
    role: Literal["user", "assistant", "other"]
    when: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for whoever watches: a kind and a small JSON-ready payload."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewArtifact:
    """A file handed in with a conversation."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation on its way into the vault, from an AI, an importer or a person.

    `content` is kept verbatim. What is None is derived: title, summary, keywords, topic.
    """

    content: str
    title: str | None = None
    created: datetime | None = None
    source_model: str = ""
    source_id: str = ""
    broad_topic: str | None = None
    focused_topic: str | None = None
    summary: str | None = None
    keywords: tuple[str, ...] | None = None
    decisions: str | None = None
    open_questions: str | None = None
    artifacts: tuple[NewArtifact, ...] = ()
