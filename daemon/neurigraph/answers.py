"""What the REST API answers, as JSON-ready values with every key always present."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from neurigraph import __version__
from neurigraph.memory import Memory, Page
from neurigraph.model import Chunk, Counts, Edge, Hit, Node, Passage, SearchResult, Turn
from neurigraph.rendering import renderer, words_to_mark


def moment(value: datetime | None) -> str | None:
    """A moment in ISO 8601, UTC."""
    return value.isoformat().replace("+00:00", "Z") if value else None


def counts_json(counts: Counts) -> dict[str, int]:
    """Memories by temperature."""
    return {
        "memories": counts.memories,
        "hot": counts.hot,
        "warm": counts.warm,
        "cold": counts.cold,
        "deep_cold": counts.deep_cold,
    }


def node_json(node: Node) -> dict[str, Any]:
    """A topic."""
    return {
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "path": node.path,
        "description": node.description,
        "color": node.color,
        "created": moment(node.created),
        "private": node.private,
        "parent": node.parent,
        "focused": node.focused,
        "counts": counts_json(node.counts),
        "temperature": node.temperature.value,
        "last_accessed": moment(node.last_accessed),
        "access_count": node.access_count,
        "version": node.version,
    }


def edge_json(edge: Edge, names: Mapping[str, Any]) -> dict[str, Any]:
    """An edge, with the names and paths of its ends."""
    source, target = names.get(edge.source), names.get(edge.target)
    return {
        "source": edge.source,
        "target": edge.target,
        "relationship": edge.relationship,
        "weight": edge.weight,
        "derived": edge.derived,
        "source_name": source.name if source else "",
        "target_name": target.name if target else "",
        "source_path": source.path if source else "",
        "target_path": target.path if target else "",
    }


def chunk_json(chunk: Chunk) -> dict[str, Any]:
    """A memory."""
    return {
        "id": chunk.id,
        "title": chunk.title,
        "path": chunk.path,
        "broad": chunk.broad,
        "focused": chunk.focused,
        "broad_id": chunk.broad_id,
        "focused_id": chunk.focused_id,
        "created": moment(chunk.created),
        "source_model": chunk.source_model,
        "source_id": chunk.source_id,
        "keywords": list(chunk.keywords),
        "tags": list(chunk.tags),
        "temperature": chunk.temperature.value,
        "last_accessed": moment(chunk.last_accessed),
        "access_count": chunk.access_count,
        "pinned": chunk.pinned,
        "private": chunk.private,
        "secrets": chunk.secrets,
        "token_count": chunk.token_count,
        "summary": chunk.summary,
        "summary_source": chunk.summary_source,
        "decisions": chunk.decisions,
        "open_questions": chunk.open_questions,
        "notes": chunk.notes,
        "artifacts": [
            {"name": a.name, "size": a.size, "compressed": a.compressed} for a in chunk.artifacts
        ],
        "has_transcript": chunk.has_transcript,
        "previous_part": chunk.previous_part,
        "next_part": chunk.next_part,
        "owned": chunk.owned,
        "stale": chunk.stale,
        "version": chunk.version,
        "obsidian_url": chunk.obsidian_url,
    }


def passage_json(passage: Passage) -> dict[str, Any]:
    """A passage of a hit."""
    return {
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
        "source": passage.source,
        "score": round(passage.score, 4),
    }


def hit_json(hit: Hit) -> dict[str, Any]:
    """One found memory."""
    return {
        "id": hit.id,
        "title": hit.title,
        "broad": hit.broad,
        "focused": hit.focused,
        "path": hit.path,
        "created": moment(hit.created),
        "score": round(hit.score, 4),
        "stage": hit.stage,
        "snippet": hit.snippet,
        "passages": [passage_json(p) for p in hit.passages],
        "temperature": hit.temperature.value,
        "stale": hit.stale,
        "obsidian_url": hit.obsidian_url,
    }


def search_json(result: SearchResult) -> dict[str, Any]:
    """The answer to a search."""
    return {
        "results": [hit_json(h) for h in result.hits],
        "total": result.total,
        "took_ms": round(result.took_ms, 2),
        "stages": list(result.stages),
    }


def turn_json(turns: Sequence[Turn], page: Page, query: str) -> dict[str, Any]:
    """A page of a transcript's turns as safe HTML, and where the first match is."""
    words = words_to_mark(query)
    markdown = renderer()
    first = None
    if words is not None:
        first = next((i for i, turn in enumerate(turns) if words.search(turn.text)), None)
    start = (page.number - 1) * page.size
    items = []
    for index, turn in enumerate(turns[start : start + page.size], start):
        env: dict[str, Any] = {"words": words, "matches": 0}
        html = markdown.render(turn.text, env)
        items.append(
            {
                "index": index,
                "speaker": turn.speaker,
                "role": turn.role,
                "when": turn.when,
                "html": html,
                "matches": env["matches"],
            }
        )
    return {"items": items, "total": len(turns), "page": page.number, "first_match": first}


def status_json(memory: Memory) -> dict[str, Any]:
    """What the daemon knows and does; answered from the first moment on."""
    if memory.state in ("starting", "failed"):
        counts, broad, focused, behind = Counts(), 0, 0, (0, 0)
        problems: list[dict[str, str]] = []
    else:
        counts = memory.counts()
        broad, focused = memory.topic_counts()
        behind = memory.behind()
        problems = [{"path": p.path, "problem": p.problem} for p in memory.problems()]
    return {
        "state": memory.state,
        "failure": memory.failure,
        "counts": {"broad": broad, "focused": focused, **counts_json(counts)},
        "index": {"keyword_behind": behind[0], "vector_behind": behind[1]},
        "problems": problems,
        "notices": list(memory.notices()),
        "embedder": memory.embedder(),
        "summarizer": memory.summarizer(),
        "sync": memory.sync_state(),
        "vault": str(memory.vault),
        "version": __version__,
    }
