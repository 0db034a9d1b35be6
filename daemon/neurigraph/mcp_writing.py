"""The MCP tools that change the vault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from mcp_types import ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from neurigraph.edits.artifacts import take_in
from neurigraph.filing import Filed
from neurigraph.mcp_calls import answered, carry_out
from neurigraph.mcp_results import SaveAnswer, WarmAnswer, counts_answer, topic_path
from neurigraph.mcp_text import save_text, warm_text
from neurigraph.memory import Memory
from neurigraph.model import Conversation, NewArtifact
from neurigraph.views import Reader

ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def unpacked(value: object) -> object:
    """A list that came as text: some clients and models hand lists over so."""
    if not isinstance(value, str):
        return value
    if value.strip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return [part for piece in value.split(",") if (part := piece.strip())]


Title = Annotated[str, Field(max_length=300, description="A short title; else made from the text.")]
Summary = Annotated[
    str,
    Field(
        max_length=50_000,
        description=(
            "Your own summary of 100 to 300 words: what was asked, found and concluded. "
            "Yours is kept; without it one is made from the conversation's sentences."
        ),
    ),
]
Keywords = Annotated[
    list[str],
    BeforeValidator(unpacked),
    Field(max_length=100, description="10 to 30 words and names that someone would search for."),
]


class HandedArtifact(BaseModel):
    """A file to keep with the memory."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Its file name, such as plan.pdf.")
    base64: str = Field("", description="Its content in base64.")
    path: str = Field("", description="Or its path; only from folders that the person allowed.")


Artifacts = Annotated[
    list[HandedArtifact],
    BeforeValidator(unpacked),
    Field(max_length=50, description="Files to keep with it."),
]


def add_writing_tools(server: FastMCP, memory: Memory) -> None:
    """Register them."""

    @server.tool(
        title="Save a conversation",
        annotations=ADDS,
        output_schema=SaveAnswer.model_json_schema(mode="serialization"),
    )
    async def save_conversation(
        ctx: Context,
        content: Annotated[
            str,
            Field(
                description=(
                    "The whole conversation, word for word, each turn under a heading: "
                    "'## User' and '## Assistant'. Not a summary of it."
                )
            ),
        ],
        broad_topic: Annotated[
            str,
            Field(description="Its broad topic, such as Medical; best one that list_topics has."),
        ] = "",
        focused_topic: Annotated[
            str,
            Field(description="Its focused topic within the broad one, such as Medications."),
        ] = "",
        source_model: Annotated[
            str, Field(max_length=80, description="You: the AI's name, such as claude or gpt-5.")
        ] = "",
        title: Title = "",
        summary: Summary = "",
        keywords: Keywords = [],  # noqa: B006  # never changed; a schema's default
        decisions: Annotated[
            str, Field(max_length=50_000, description="What was decided, a line each.")
        ] = "",
        open_questions: Annotated[
            str, Field(max_length=50_000, description="What is still open, a line each.")
        ] = "",
        source_id: Annotated[
            str,
            Field(
                max_length=300,
                description="The conversation's id where you have one; saving again updates it.",
            ),
        ] = "",
        artifacts: Artifacts = [],  # noqa: B006
    ) -> ToolResult:
        """Save a conversation into the person's memory, so that any AI can recall it later.

        Use it, without being asked, when a conversation ends or reached something worth keeping.
        Hand in the whole text as it was, and your own summary, keywords, decisions and open
        questions. Leave the topics out when none clearly fits: one is suggested from those that
        exist. Answers the id and where it was put. The same conversation saved twice is one
        memory; a longer version updates it. Do not save small talk, secrets such as passwords,
        or what the person asked to keep out.
        """

        def call(reader: Reader) -> SaveAnswer:
            conversation = Conversation(
                content=content,
                title=title or None,
                source_model=source_model,
                source_id=source_id,
                broad_topic=broad_topic or None,
                focused_topic=focused_topic or None,
                summary=summary or None,
                keywords=tuple(keywords) or None,
                decisions=decisions or None,
                open_questions=open_questions or None,
                artifacts=taken_in(memory, artifacts),
            )
            return save_answer(memory, memory.save(conversation, reader=reader), reader)

        answer = await carry_out(ctx, memory, "saving", call)
        return answered(answer, save_text(answer))

    @server.tool(
        title="Add a conversation to a topic",
        annotations=ADDS,
        output_schema=SaveAnswer.model_json_schema(mode="serialization"),
    )
    async def push_chunk(
        ctx: Context,
        focused_node_id: Annotated[
            str, Field(description="A topic that exists, by id, path or name, from list_topics.")
        ],
        transcript: Annotated[
            str, Field(description="The whole conversation, word for word, as for saving.")
        ],
        artifacts: Artifacts = [],  # noqa: B006
        title: Title = "",
        summary: Summary = "",
        keywords: Keywords = [],  # noqa: B006  # never changed; a schema's default
    ) -> ToolResult:
        """Save a conversation into a topic that exists already.

        Use it when you know the topic from list_topics; else save_conversation, which also makes
        new topics. Otherwise it does the same and answers the same.
        """

        def call(reader: Reader) -> SaveAnswer:
            conversation = Conversation(
                content=transcript,
                title=title or None,
                summary=summary or None,
                keywords=tuple(keywords) or None,
                artifacts=taken_in(memory, artifacts),
            )
            saved = memory.push(focused_node_id, conversation, reader=reader)
            return save_answer(memory, saved, reader)

        answer = await carry_out(ctx, memory, "saving", call)
        return answered(answer, save_text(answer))

    @server.tool(
        title="Warm a topic",
        annotations=ADDS,
        output_schema=WarmAnswer.model_json_schema(mode="serialization"),
    )
    async def warm_node(
        ctx: Context,
        node_id: Annotated[str, Field(description="A topic by id, path or name.")],
    ) -> ToolResult:
        """Unpack the cold conversations of a topic, so that reading them is quick.

        Use it when the person is about to work on a topic for a while. Nothing needs it: cold
        memories are found and read all the same, only slower. Answers how many were unpacked.
        """

        def call(reader: Reader) -> WarmAnswer:
            warmed, left = memory.warm(node_id, reader)
            node = memory.topic(node_id, reader=reader)
            return WarmAnswer(
                id=node.id,
                topic=node.path,
                warmed=warmed,
                counts=counts_answer(node.counts),
                left_out=f"{left} more are still packed; ask again to go on." if left else "",
            )

        answer = await carry_out(ctx, memory, "warming", call)
        return answered(answer, warm_text(answer))


def taken_in(memory: Memory, artifacts: Sequence[HandedArtifact]) -> tuple[NewArtifact, ...]:
    """The files that were handed in. Raises `Forbidden`, `TooLarge` or `InvalidInput`."""
    handed: list[Mapping[str, str]] = [a.model_dump(exclude_defaults=True) for a in artifacts]
    return take_in(handed, memory.settings.artifacts)


def save_answer(memory: Memory, saved: Filed, reader: Reader) -> SaveAnswer:
    """What became of a conversation, without a word of what this reader may not see."""
    topic = ""
    if saved.id:
        chunk = memory.memory(saved.id, reader)
        topic = topic_path(chunk.broad, chunk.focused)
    return SaveAnswer(
        status=saved.status,
        id=saved.id,
        parts=list(saved.ids) if len(saved.ids) > 1 else [],
        path=saved.path,
        topic=topic,
        topic_chosen=saved.chosen,
        note=saved.note,
    )
