"""What requests may hold, checked at the edge."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NewNode(_Strict):
    """The body of a request for a new topic."""

    name: str = Field(min_length=1, max_length=300)
    description: str = Field("", max_length=2000)
    color: str = ""


class NodeChange(_Strict):
    """The body of a change to a topic."""

    name: str | None = Field(None, min_length=1, max_length=300)
    description: str | None = Field(None, max_length=2000)
    color: str | None = None
    private: bool | None = None


class NewEdge(_Strict):
    """The body of a request for an edge; topics by id, path or name."""

    source: str
    target: str
    relationship: str = "related_to"
    weight: float = Field(1.0, ge=0, le=1)


class EdgeChange(_Strict):
    """The body of a change to an edge."""

    weight: float | None = Field(None, ge=0, le=1)
    relationship: str | None = None


class Push(_Strict):
    """The body of a new memory."""

    transcript: str
    title: str | None = None
    summary: str | None = None
    keywords: list[str] | None = None
    decisions: str | None = None
    open_questions: str | None = None
    source_model: str = ""
    source_id: str = ""
    created: str | None = None
    artifacts: list[dict[str, str]] = []


class Save(Push):
    """A new memory whose topic is named, or left to be suggested."""

    broad_topic: str | None = None
    focused_topic: str | None = None


class ChunkChange(_Strict):
    """The body of a change to a memory."""

    title: str | None = Field(None, min_length=1, max_length=300)
    summary: str | None = Field(None, max_length=50_000)
    keywords: list[str] | None = Field(None, max_length=100)
    decisions: str | None = Field(None, max_length=50_000)
    open_questions: str | None = Field(None, max_length=50_000)
    pinned: bool | None = None
    private: bool | None = None
    secrets_ok: bool | None = None
    focused_id: str | None = None


class Import(_Strict):
    """The body of a request to import what lies at a path on the daemon's machine."""

    path: str = Field(min_length=1, max_length=4096)
    topic: str = Field("", max_length=300)
    dry_run: bool = False


class Watch(_Strict):
    """The body of a request to follow folders with session logs, these and no others."""

    folders: list[str] = Field(max_length=100)
    topic: str = Field("", max_length=300)
