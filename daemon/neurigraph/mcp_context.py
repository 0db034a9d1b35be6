"""The answer of get_context: what fits of the memories that matter, packed into a bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest

from neurigraph.answers import moment
from neurigraph.errors import NotFound
from neurigraph.mcp_pages import clip
from neurigraph.mcp_results import (
    ContextAnswer,
    ContextMemory,
    ContextQuote,
    Passage,
    topic_path,
    unmarked,
)
from neurigraph.memory import Filter, Memory, Page
from neurigraph.model import Chunk, Hit
from neurigraph.vault.turns import estimate_tokens
from neurigraph.views import Reader

SUMMARY_TOKENS = 400
MOST_MEMORIES = 30


def context_answer(
    memory: Memory, topic: str, query: str, max_tokens: int, reader: Reader
) -> ContextAnswer:
    """The memories of a topic that answer a query, or its hottest, or the hottest of each topic.

    What is handed out counts as opened.
    """
    passages: dict[str, list[Passage]] = {}
    chunks: Iterable[Chunk]
    if query.strip():
        hits = memory.search(query, scope=topic, limit=MOST_MEMORIES, reader=reader).hits
        passages = {hit.id: _passages(hit) for hit in hits}
        chunks = _found(memory, hits, reader)
    else:
        node = memory.topic(topic, reader=reader).id if topic else ""
        chunks, _ = memory.memories(
            Filter(node=node), "temperature", page=Page(1, 500), reader=reader
        )
        chunks = chunks if topic else _in_turns(chunks)
    packed: list[ContextMemory] = []
    room, left = max_tokens, 0
    for chunk in chunks:
        item = _packed(chunk, passages.get(chunk.id, []), room)
        if item is None or len(packed) == MOST_MEMORIES:
            left += 1
            continue
        room -= _size(item)
        packed.append(item)
    for shown in packed:
        memory.open_memory(shown.id, reader)
    return ContextAnswer(
        memories=packed,
        tokens=max_tokens - room,
        left_out=f"{left} more did not fit into {max_tokens} tokens." if left else "",
    )


def _found(memory: Memory, hits: Iterable[Hit], reader: Reader) -> Iterator[Chunk]:
    for hit in hits:
        try:
            yield memory.memory(hit.id, reader)
        except NotFound:  # deleted this very moment
            continue


def _in_turns(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The first of each topic, then the second of each, and so on."""
    topics: defaultdict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        topics[chunk.focused_id].append(chunk)
    return [c for c in chain.from_iterable(zip_longest(*topics.values())) if c is not None]


def _passages(hit: Hit) -> list[Passage]:
    return [Passage(text=unmarked(p.text), source=p.source) for p in hit.passages]


def _packed(chunk: Chunk, passages: list[Passage], room: int) -> ContextMemory | None:
    """A memory within this many tokens: its summary first, then passages; None when none fits."""
    item = ContextMemory(
        id=chunk.id,
        title=chunk.title,
        topic=topic_path(chunk.broad, chunk.focused),
        created=moment(chunk.created),
        quoted=ContextQuote(summary="", passages=[]),
    )
    room -= _size(item)
    if room < 40:
        return None
    item.quoted.summary = clip(chunk.summary or chunk.notes, min(SUMMARY_TOKENS, room))
    room -= estimate_tokens(item.quoted.summary)
    for passage in passages:
        size = estimate_tokens(passage.text)
        if size <= room and passage.text not in item.quoted.summary:
            item.quoted.passages.append(passage)
            room -= size
    return item


def _size(item: ContextMemory) -> int:
    quoted = item.quoted
    texts = (item.title, item.topic, quoted.summary, *(p.text for p in quoted.passages))
    return 30 + sum(estimate_tokens(t) for t in texts)
