"""The MCP resources and prompts: what a person picks from a client's menu."""

from __future__ import annotations

import logging
from collections.abc import Callable

from fastmcp import FastMCP
from fastmcp.exceptions import ResourceError
from fastmcp.prompts import Prompt
from starlette.concurrency import run_in_threadpool

from neurigraph.errors import NeurigraphError
from neurigraph.mcp_calls import scope_asked
from neurigraph.mcp_reading import MOST_PAGE, recall_answer, topics_answer
from neurigraph.mcp_results import memory_answer
from neurigraph.mcp_text import Quotes, memory_text, recall_text, topics_text
from neurigraph.memory import Memory

MARKDOWN = "text/markdown"


def add_resources(server: FastMCP, memory: Memory) -> None:
    """Register them."""

    @server.resource(
        "memory://topics",
        name="topics",
        title="Topics of the memory",
        mime_type=MARKDOWN,
    )
    async def topics() -> str:
        """The topics of the memory, how full they are, and how they are joined."""
        scope = scope_asked()
        return await _read(lambda: topics_text(topics_answer(memory, memory.reader_for(scope))))

    @server.resource(
        "memory://memory/{id}",
        name="memory",
        title="A memory's summary",
        mime_type=MARKDOWN,
    )
    async def one_memory(id: str) -> str:
        """What a memory's note says: summary, decisions, open questions, notes, keywords."""
        scope = scope_asked()

        def call() -> str:
            chunk = memory.open_memory(id, memory.reader_for(scope))
            return memory_text(memory_answer(chunk), Quotes())

        return await _read(call)

    @server.resource(
        "memory://memory/{id}/transcript",
        name="transcript",
        title="A memory's whole conversation",
        mime_type=MARKDOWN,
    )
    async def transcript(id: str) -> str:
        """The conversation of a memory, word for word; very long ones are cut and say so."""
        scope = scope_asked()

        def call() -> str:
            reader = memory.reader_for(scope)
            return recall_text(recall_answer(memory, id, 0, MOST_PAGE, reader))

        return await _read(call)


def add_prompts(server: FastMCP) -> None:
    """Register them."""
    for name, title, topic, function in (
        ("recall", "Recall what we discussed", "About what; empty: what I am busy with.", recall),
        (
            "save-this-conversation",
            "Save this conversation",
            "Where to put it; empty: you choose.",
            save_this_conversation,
        ),
    ):
        prompt = Prompt.from_function(function, name=name, title=title)
        for argument in prompt.arguments or ():
            argument.description = topic
        server.add_prompt(prompt)


def recall(topic: str = "") -> str:
    """Look up in the memory what was discussed before, and sum it up."""
    if topic.strip():
        return (
            f"Look up in my memory what we discussed about: {topic.strip()}\n\n"
            "Use get_context with this as the query, and search_memory where it leaves "
            "questions. Then tell me in short what I decided, what is still open, and when "
            "that was. Name the memories you used. Where it holds nothing, say so."
        )
    return (
        "Look up in my memory what I am busy with: use recent_memories and get_context "
        "without arguments. Then tell me in short what is going on in each topic and what is "
        "still open."
    )


def save_this_conversation(topic: str = "") -> str:
    """Save the conversation so far into the memory."""
    where = (
        f"Put it under: {topic.strip()}."
        if topic.strip()
        else "Choose its topic with list_topics, or leave it out when none clearly fits."
    )
    return (
        "Save this conversation with save_conversation. Hand in all of it word for word, each "
        "turn under '## User' or '## Assistant', with a title, a summary of 100 to 300 words, "
        f"10 to 30 keywords, what was decided and what is still open. {where} Then tell me "
        "where it is."
    )


async def _read(call: Callable[[], str]) -> str:
    try:
        return await run_in_threadpool(call)
    except NeurigraphError as error:
        raise ResourceError(str(error), log_level=logging.INFO) from error
