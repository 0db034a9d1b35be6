"""The MCP tools that look things up and change nothing but what counts as opened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from mcp_types import ToolAnnotations
from pydantic import Field

from neurigraph.answers import moment
from neurigraph.errors import InvalidInput
from neurigraph.mcp_calls import answered, carry_out, reader_of
from neurigraph.mcp_pages import clip, page
from neurigraph.mcp_results import (
    BroadTopic,
    Found,
    MemoryAnswer,
    RecallAnswer,
    RecallQuote,
    RecentAnswer,
    SearchAnswer,
    TopicsAnswer,
    edge_answer,
    focused_answer,
    found,
    memory_answer,
    topic_path,
)
from neurigraph.mcp_text import recall_text, recent_text, search_text, topics_text
from neurigraph.memory import Filter, Memory, Page
from neurigraph.model import Hit
from neurigraph.vault.turns import estimate_tokens
from neurigraph.views import Reader

SEARCH_TOKENS = 4_000
"""The most that an answer of search_memory quotes."""

TOPIC_TOKENS = 6_000
RECENT_TOKENS = 4_000
PAGE_TOKENS, LEAST_PAGE, MOST_PAGE = 4_000, 400, 20_000

LOOKS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

MemoryId = Annotated[
    str, Field(description="A memory's id as an answer gave it, such as m-20261130-7f3a2c1b.")
]


def add_reading_tools(server: FastMCP, memory: Memory) -> None:
    """Register them."""

    @server.tool(
        title="Search the memory",
        annotations=LOOKS,
        output_schema=SearchAnswer.model_json_schema(mode="serialization"),
    )
    async def search_memory(
        ctx: Context,
        query: Annotated[
            str,
            Field(
                min_length=1,
                max_length=2_000,
                description=(
                    "What to look for, in the person's words: names, things, a question. "
                    'A date or "last month" helps; "quotes" ask for an exact phrase, -word '
                    "leaves a word out."
                ),
            ),
        ],
        scope: Annotated[
            str,
            Field(description="Only in this topic: a path such as Medical/Medications, or an id."),
        ] = "",
        limit: Annotated[int, Field(ge=1, le=50, description="The most memories to answer.")] = 10,
    ) -> ToolResult:
        """Search everything the person ever discussed and had saved, whole transcripts included.

        Use it whenever they refer to something earlier, or when their own facts and decisions
        would change your answer. Answers the best memories first, each with an id and the
        passages that fit. Read the whole conversation with get_recall_file before you rely on
        a detail. Finding nothing means that it was not saved: say so, do not guess. Ask again
        with other words rather than with a higher limit.
        """
        reader = await carry_out(ctx, "looking", lambda: reader_of(memory))

        def call() -> SearchAnswer:
            result = memory.search(query, scope=scope, limit=limit, reader=reader)
            shown, left = fit_hits(result.hits, SEARCH_TOKENS)
            return SearchAnswer(
                query=query,
                results=shown,
                total=result.total,
                took_ms=round(result.took_ms, 1),
                left_out=_sentences(left, behind(memory)),
            )

        answer = await carry_out(ctx, "searching", call)
        return answered(answer, search_text(answer))

    @server.tool(
        title="List topics",
        annotations=LOOKS,
        output_schema=TopicsAnswer.model_json_schema(mode="serialization"),
    )
    async def list_topics(ctx: Context) -> ToolResult:
        """List the topics of the memory: broad ones, the focused ones within them, how many
        memories each has, and how topics are joined.

        Use it to choose where to save a conversation, or to see what the person keeps. To find
        something, search_memory is better.
        """
        reader = await carry_out(ctx, "looking", lambda: reader_of(memory))
        answer = await carry_out(ctx, "listing", lambda: topics_answer(memory, reader))
        return answered(answer, topics_text(answer))

    @server.tool(
        title="Read a whole conversation",
        annotations=LOOKS,
        output_schema=RecallAnswer.model_json_schema(mode="serialization"),
    )
    async def get_recall_file(
        ctx: Context,
        chunk_id: MemoryId,
        offset: Annotated[
            int, Field(ge=0, description="Where to begin, in tokens; next_offset of the last page.")
        ] = 0,
        limit: Annotated[
            int,
            Field(ge=LEAST_PAGE, le=MOST_PAGE, description="About how many tokens to answer."),
        ] = PAGE_TOKENS,
    ) -> ToolResult:
        """Read the full, verbatim conversation of a memory, a page at a time.

        Use it after search_memory or get_context when you need exact words, numbers or code.
        Answers one page and, while there is more, next_offset for the next call. Do not read
        further than you need: pages are long. Counts as opening the memory, which keeps it hot.
        """
        reader = await carry_out(ctx, "looking", lambda: reader_of(memory))
        answer = await carry_out(
            ctx, "reading", lambda: recall_answer(memory, chunk_id, offset, limit, reader)
        )
        return answered(answer, recall_text(answer))

    @server.tool(
        title="Recent memories",
        annotations=LOOKS,
        output_schema=RecentAnswer.model_json_schema(mode="serialization"),
    )
    async def recent_memories(
        ctx: Context,
        days: Annotated[float, Field(gt=0, le=3_650, description="How far back to look.")] = 7,
        limit: Annotated[int, Field(ge=1, le=50, description="The most memories to answer.")] = 10,
    ) -> ToolResult:
        """List what was saved in the last days, newest first, with summaries.

        Use it at the start of a conversation to see what the person is busy with, or for
        questions such as "what did we do this week". Answers ids, summaries, decisions and open
        questions, no transcripts.
        """
        reader = await carry_out(ctx, "looking", lambda: reader_of(memory))
        answer = await carry_out(ctx, "listing", lambda: recent_answer(memory, days, limit, reader))
        return answered(answer, recent_text(answer))


def behind(memory: Memory) -> str:
    """What an answer may lack because it is not indexed yet."""
    if memory.state != "ready":
        return "The memory is still being indexed: this answer may lack some of it."
    keyword, _ = memory.behind()
    return f"{keyword} notes that changed just now are not searchable yet." if keyword else ""


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def fit_hits(hits: Sequence[Hit], tokens: int) -> tuple[list[Found], str]:
    """As many hits as fit, with fewer passages where room is short, and what was left out."""
    shown: list[Found] = []
    for hit in hits:
        item = found(hit)
        quoted = item.quoted
        least = estimate_tokens(f"{item.title}{item.topic}{item.path}") + 60
        quoted.snippet = clip(quoted.snippet, 80)
        room = tokens - least - estimate_tokens(quoted.snippet)
        if room < 0 and shown:
            return shown, f"{len(hits) - len(shown)} more did not fit into {tokens} tokens."
        # the best hit may be long; the others leave room to those behind them
        share = room if not shown else room // 2
        passages = []
        for passage in quoted.passages:
            size = estimate_tokens(passage.text)
            if size > share:
                break
            passages.append(passage)
            share -= size
        used = sum(estimate_tokens(p.text) for p in passages)
        quoted.passages = passages
        tokens = room - used
        shown.append(item)
    return shown, ""


def topics_answer(memory: Memory, reader: Reader) -> TopicsAnswer:
    """All topics that this reader may see, most memories first where they do not all fit."""
    focused = memory.topics("focused", reader=reader)
    tree = [
        BroadTopic(
            **focused_answer(broad).model_dump(),
            focused=[focused_answer(f) for f in focused if f.parent == broad.id],
        )
        for broad in memory.topics("broad", reader=reader)
    ]
    places = {n.id: n for n in [*focused, *memory.topics("broad", reader=reader)]}
    edges = [edge_answer(e, places) for e in memory.edges(reader=reader)]
    return TopicsAnswer(topics=tree, edges=edges, scope=reader.scope)


def recall_answer(
    memory: Memory, memory_id: str, offset: int, limit: int, reader: Reader
) -> RecallAnswer:
    """A page of a transcript."""
    text = memory.transcript(memory_id, reader)
    chunk = memory.memory(memory_id, reader)
    total = estimate_tokens(text)
    if offset > total:
        raise InvalidInput("offset", f"the transcript of {chunk.id} has {total} tokens")
    shown, following = page(text, offset, limit)
    return RecallAnswer(
        id=chunk.id,
        title=chunk.title,
        topic=topic_path(chunk.broad, chunk.focused),
        created=moment(chunk.created),
        offset=offset,
        next_offset=following,
        total_tokens=total,
        previous_part=chunk.previous_part,
        next_part=chunk.next_part,
        artifacts=[a.name for a in chunk.artifacts],
        quoted=RecallQuote(transcript=shown),
        left_out="" if following is None else f"{total - following} tokens follow.",
    )


def recent_answer(memory: Memory, days: float, limit: int, reader: Reader) -> RecentAnswer:
    """The newest memories."""
    start = memory.clock() - timedelta(days=days)
    chunks, total = memory.memories(Filter(start=start), page=Page(1, limit), reader=reader)
    shown: list[MemoryAnswer] = []
    room = RECENT_TOKENS
    for chunk in chunks:
        item = memory_answer(chunk)
        item.quoted.summary = clip(item.quoted.summary, 250)
        item.quoted.decisions = clip(item.quoted.decisions, 120)
        item.quoted.open_questions = clip(item.quoted.open_questions, 120)
        item.quoted.notes = clip(item.quoted.notes, 60)
        item.quoted.keywords = item.quoted.keywords[:10]
        room -= estimate_tokens(item.model_dump_json())
        if room < 0 and shown:
            break
        shown.append(item)
    missing = total - len(shown)
    return RecentAnswer(
        memories=shown,
        total=total,
        left_out=f"{missing} older ones are not shown; search_memory finds them."
        if missing
        else "",
    )
