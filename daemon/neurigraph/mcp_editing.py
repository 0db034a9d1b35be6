"""The MCP tools that change what is stored already."""

from __future__ import annotations

from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from mcp_types import ToolAnnotations
from pydantic import BeforeValidator, Field

from neurigraph.edits.memories import MemoryEdit
from neurigraph.errors import InvalidInput
from neurigraph.mcp_calls import answered, carry_out
from neurigraph.mcp_reading import MemoryId
from neurigraph.mcp_results import (
    DeleteAnswer,
    EdgeAnswer,
    TopicEdge,
    UpdateAnswer,
    memory_answer,
)
from neurigraph.mcp_text import delete_text, edge_text, update_text
from neurigraph.mcp_writing import unpacked
from neurigraph.memory import Memory
from neurigraph.views import Reader

CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
JOINS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
TopicName = Annotated[str, Field(description="A topic by id, path or name, from list_topics.")]


def add_editing_tools(server: FastMCP, memory: Memory) -> None:
    """Register them."""

    @server.tool(
        title="Connect two topics",
        annotations=JOINS,
        output_schema=EdgeAnswer.model_json_schema(mode="serialization"),
    )
    async def connect_nodes(
        ctx: Context,
        source: TopicName,
        target: TopicName,
        relationship: Annotated[
            str,
            Field(
                max_length=60,
                description="How they are related: related_to, depends_on, see_also, or your word.",
            ),
        ] = "related_to",
        weight: Annotated[
            float, Field(ge=0, le=1, description="How strongly; over 0.5 they warm together.")
        ] = 1.0,
    ) -> ToolResult:
        """Join two topics that belong together, so that using one warms the other.

        Use it when a conversation shows that two topics hang together, such as a medication and
        a condition. Joining them again changes the weight. Answers the connection.
        """

        def call(reader: Reader) -> EdgeAnswer:
            edge = memory.connect(source, target, relationship, weight, reader)
            return EdgeAnswer(
                edge=TopicEdge(
                    source=memory.topic(edge.source, reader=reader).path,
                    target=memory.topic(edge.target, reader=reader).path,
                    relationship=edge.relationship,
                    weight=edge.weight,
                )
            )

        answer = await carry_out(ctx, memory, "joining", call)
        return answered(answer, edge_text(answer))

    @server.tool(
        title="Change a memory",
        annotations=CHANGES,
        output_schema=UpdateAnswer.model_json_schema(mode="serialization"),
    )
    async def update_memory(
        ctx: Context,
        id: MemoryId,
        version: Annotated[
            str,
            Field(description="The version that you read, from recent_memories or the resource."),
        ],
        title: Annotated[str, Field(max_length=300, description="A new title.")] = "",
        summary: Annotated[
            str, Field(max_length=50_000, description="A new summary, in place of the old.")
        ] = "",
        keywords: Annotated[
            list[str],
            BeforeValidator(unpacked),
            Field(max_length=100, description="New keywords, in place of all."),
        ] = [],  # noqa: B006  # never changed; a schema's default
        broad_topic: Annotated[str, Field(description="Move it to this broad topic.")] = "",
        focused_topic: Annotated[str, Field(description="Move it to this focused topic.")] = "",
        pinned: Annotated[
            bool | None, Field(description="true: it never cools; false: it may again.")
        ] = None,
    ) -> ToolResult:
        """Change a memory's title, summary, keywords or topic, or pin it.

        Use it when the person asks to rename, correct, move or pin a memory. The conversation
        itself stays as it was. When the version is no longer the current one nothing is changed:
        read it again (resource memory://memory/{id}) and retry. Answers the memory as it is now.
        """
        edit = MemoryEdit(
            title=title or None,
            summary=summary or None,
            keywords=keywords or None,
            pinned=pinned,
            broad_topic=broad_topic or None,
            focused_topic=focused_topic or None,
        )

        def call(reader: Reader) -> UpdateAnswer:
            if edit == MemoryEdit():
                raise InvalidInput("title", "say what is to change: title, summary, topic …")
            return UpdateAnswer(
                memory=memory_answer(memory.update_memory(id, edit, version, reader))
            )

        answer = await carry_out(ctx, memory, "changing", call)
        return answered(answer, update_text(answer))

    @server.tool(
        title="Delete a memory",
        annotations=CHANGES,
        output_schema=DeleteAnswer.model_json_schema(mode="serialization"),
    )
    async def delete_memory(ctx: Context, id: MemoryId) -> ToolResult:
        """Move a memory and its conversation to the trash.

        Only when the person asked for it. It is not saved or imported again; the person can have
        it back. Answers how.
        """

        def call(reader: Reader) -> DeleteAnswer:
            chunk = memory.memory(id, reader)
            memory.delete_memory(chunk.id, "*", reader)
            return DeleteAnswer(
                id=chunk.id,
                title=chunk.title,
                restore=f"The person gets it back with: neurigraph restore {chunk.id}",
            )

        answer = await carry_out(ctx, memory, "deleting", call)
        return answered(answer, delete_text(answer))
