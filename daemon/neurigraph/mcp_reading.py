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
from neurigraph.mcp_calls import answered, carry_out
from neurigraph.mcp_pages import clip, page
from neurigraph.mcp_results import (
    BroadTopic,
    ContextAnswer,
    Found,
    MemoryAnswer,
    RecallAnswer,
    RecallQuote,
    RecentAnswer,
    SearchAnswer,
    TopicsAnswer,
    context_answer,
    edge_answer,
    focused_answer,
    found,
    memory_answer,
    topic_path,
)
from neurigraph.mcp_text import context_text, recall_text, recent_text, search_text, topics_text
from neurigraph.memory import Filter, Memory, Page
from neurigraph.model import Hit, Node
from neurigraph.vault.layout import NODE_ID
from neurigraph.vault.turns import estimate_tokens
from neurigraph.views import Reader

SEARCH_TOKENS = 4_000
"""The most that an answer of search_memory quotes."""

TOPIC_TOKENS = 8_000
FEWER = (30, 15, 8, 4, 2, 1, 0)
"""Focused topics of each broad one that are shown where all are too many."""

MOST_EDGES = 200
RECENT_TOKENS = 4_000
CONTEXT_TOKENS, LEAST_CONTEXT, MOST_CONTEXT = 4_000, 200, 20_000
PAGE_TOKENS, LEAST_PAGE, MOST_PAGE = 4_000, 400, 20_000

LOOKS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

OPENS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""Reading that counts as opening; nothing that a person wrote is changed by it."""

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

        def call(reader: Reader) -> SearchAnswer:
            result = memory.search(query, scope=scope, limit=limit, reader=reader)
            shown, left = fit_hits(result.hits, SEARCH_TOKENS)
            return SearchAnswer(
                query=query,
                results=shown,
                total=result.total,
                took_ms=round(result.took_ms, 1),
                left_out=_sentences(left, behind(memory)),
            )

        answer = await carry_out(ctx, memory, "searching", call)
        return answered(answer, search_text(answer))

    @server.tool(
        title="Recall what matters",
        annotations=OPENS,
        output_schema=ContextAnswer.model_json_schema(mode="serialization"),
    )
    async def get_context(
        ctx: Context,
        broad_topic: Annotated[
            str, Field(description="Only of this topic, by name, path or id; may stay empty.")
        ] = "",
        focused_topic: Annotated[
            str, Field(description="Only of this focused topic within it; may stay empty.")
        ] = "",
        query: Annotated[
            str,
            Field(max_length=2_000, description="What the conversation is about, in a few words."),
        ] = "",
        max_tokens: Annotated[
            int,
            Field(
                ge=LEAST_CONTEXT,
                le=MOST_CONTEXT,
                description="About how many tokens of quoted text to answer at most.",
            ),
        ] = CONTEXT_TOKENS,
    ) -> ToolResult:
        """Get what the person's memory has on a matter, packed to fit: summaries, and the
        passages that answer the query.

        Use it at the start of a conversation on something they may have worked on before, with
        a query, a topic, or both. With nothing at all it answers the hottest memories of each
        topic: what they are busy with. It counts as opening these memories. For one exact
        detail search_memory is better; for the full text get_recall_file.
        """

        def call(reader: Reader) -> ContextAnswer:
            topic = topic_asked(memory, broad_topic, focused_topic, reader)
            found = memory.context(topic, query, max_tokens, reader)
            left = f"{found.left_out} more did not fit into {max_tokens} tokens."
            return context_answer(found, _sentences(left if found.left_out else "", behind(memory)))

        answer = await carry_out(ctx, memory, "recalling", call)
        return answered(answer, context_text(answer))

    @server.tool(
        title="List topics",
        annotations=LOOKS,
        output_schema=TopicsAnswer.model_json_schema(mode="serialization"),
    )
    async def list_topics(ctx: Context) -> ToolResult:
        """List the topics of the memory.

        Answers the broad topics, the focused ones within them, how many memories each has, and
        how topics are joined. Use it to choose where to save a conversation, or to see what the
        person keeps. To find something, search_memory is better.
        """
        answer = await carry_out(
            ctx, memory, "listing", lambda reader: topics_answer(memory, reader)
        )
        return answered(answer, topics_text(answer))

    @server.tool(
        title="Read a whole conversation",
        annotations=OPENS,
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
        answer = await carry_out(
            ctx,
            memory,
            "reading",
            lambda reader: recall_answer(memory, chunk_id, offset, limit, reader),
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
        answer = await carry_out(
            ctx, memory, "listing", lambda reader: recent_answer(memory, days, limit, reader)
        )
        return answered(answer, recent_text(answer))


def behind(memory: Memory) -> str:
    """What an answer may lack because it is not indexed yet."""
    if memory.state != "ready":
        return "The memory is still being indexed: this answer may lack some of it."
    keyword, _ = memory.behind()
    if not keyword:
        return ""
    return f"Notes that changed just now and are not searchable yet: {keyword}."


def topic_asked(memory: Memory, broad: str, focused: str, reader: Reader) -> str:
    """The topic that two names mean, as one; either may be empty, a path or an id."""
    broad, focused = broad.strip(), focused.strip()
    if not (broad and focused) or NODE_ID.fullmatch(focused):
        return focused or broad
    return f"{memory.topic(broad, reader=reader).path.partition('/')[0]}/{focused}"


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
    """All topics that this reader may see; where they are too many, the fullest ones."""
    broad = memory.topics("broad", reader=reader)
    focused = memory.topics("focused", reader=reader)
    places = {n.id: n for n in [*broad, *focused]}
    edges = [edge_answer(e, places) for e in memory.edges(reader=reader)]
    for most in (len(focused), *FEWER):
        shown = [_with_focused(b, [f for f in focused if f.parent == b.id], most) for b in broad]
        held = {t.path for b in shown for t in (b, *b.focused)}
        joined = [e for e in edges if e.source in held and e.target in held][:MOST_EDGES]
        answer = TopicsAnswer(topics=shown, edges=joined, scope=reader.scope)
        if estimate_tokens(answer.model_dump_json()) <= TOPIC_TOKENS:
            break
    missing = len(focused) - sum(len(b.focused) for b in answer.topics)
    left = [f"{missing} focused topics with fewer memories are not shown."] if missing else []
    if len(joined) < len(edges):
        left.append(f"{len(edges) - len(joined)} connections are not shown.")
    answer.left_out = _sentences(*left, behind(memory))
    return answer


def _with_focused(broad: Node, focused: Sequence[Node], most: int) -> BroadTopic:
    """A broad topic with at most so many of its focused ones, the fullest, in their order."""
    fullest = sorted(focused, key=lambda n: -n.counts.memories)[:most]
    kept = {n.id for n in fullest}
    return BroadTopic(
        **focused_answer(broad).model_dump(),
        focused=[focused_answer(n) for n in focused if n.id in kept],
    )


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
