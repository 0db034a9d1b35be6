"""The REST routes for memories, their transcripts and files."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from datetime import datetime
from typing import Any, get_args
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from neurigraph.answers import chunk_json, turn_json
from neurigraph.clock import from_note_date
from neurigraph.edits.artifacts import take_in
from neurigraph.edits.desk import Stale
from neurigraph.edits.memories import MemoryEdit
from neurigraph.edits.save import Saved
from neurigraph.errors import InvalidInput
from neurigraph.memory import Filter, Memory, Sort
from neurigraph.model import Conversation
from neurigraph.rest_bodies import ChunkChange, Push, Save
from neurigraph.rest_requests import (
    error_response,
    memory_of,
    page_of,
    paged,
    read_body,
    tagged,
    version_asked,
)
from neurigraph.vault.turns import split_turns


async def list_memories(request: Request) -> Response:
    """Memories of the vault or of a topic, sorted, filtered, paged."""
    memory, page = memory_of(request), page_of(request)
    query = request.query_params
    sort = query.get("sort", "date")
    if sort not in get_args(Sort):
        raise InvalidInput("sort", f"must be one of {', '.join(get_args(Sort))}")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidInput("order", "must be asc or desc")
    node = request.path_params.get("node_id", "")
    if node:
        node = (await run_in_threadpool(memory.topic, node)).id
    wanted = Filter(
        node=node,
        keyword=query.get("keyword", ""),
        source_model=query.get("source_model", ""),
        start=_date(query, "from"),
        end=_date(query, "to", last=True),
    )
    chunks, total = await run_in_threadpool(
        lambda: memory.memories(wanted, sort, descending=order == "desc", page=page)  # type: ignore[arg-type]  # checked above
    )
    return paged([chunk_json(c) for c in chunks], total, page)


def _date(query: Mapping[str, str], name: str, *, last: bool = False) -> datetime | None:
    text = query.get(name, "")
    if not text:
        return None
    whole = f"{text}T23:59:59" if last and len(text) == 10 else text
    moment = from_note_date(whole)
    if moment is None:
        raise InvalidInput(name, "must be a date such as 2026-11-30")
    return moment


def conversation_of(body: Push, memory: Memory) -> Conversation:
    """A request's body as a conversation, its artifacts read. Raises `InvalidInput`."""
    created = None
    if body.created:
        created = from_note_date(body.created)
        if created is None:
            raise InvalidInput("created", "must be a date such as 2026-11-30T10:30:00")
    if not body.transcript.strip():
        raise InvalidInput("transcript", "the conversation is empty; hand in its whole text")
    named = body if isinstance(body, Save) else Save(transcript="x")
    return Conversation(
        content=body.transcript,
        title=body.title,
        created=created,
        source_model=body.source_model,
        source_id=body.source_id,
        broad_topic=named.broad_topic,
        focused_topic=named.focused_topic,
        summary=body.summary,
        keywords=tuple(body.keywords) if body.keywords is not None else None,
        decisions=body.decisions,
        open_questions=body.open_questions,
        artifacts=take_in(body.artifacts, memory.settings.artifacts),
    )


async def push(request: Request) -> Response:
    """Save a conversation into a topic."""
    body = await read_body(request, Push)
    memory = memory_of(request)
    conversation = await run_in_threadpool(conversation_of, body, memory)
    saved = await run_in_threadpool(memory.push, request.path_params["node_id"], conversation)
    return _saved(saved)


async def save(request: Request) -> Response:
    """Save a conversation, its topic named or suggested."""
    body = await read_body(request, Save)
    memory = memory_of(request)
    conversation = await run_in_threadpool(conversation_of, body, memory)
    return _saved(await run_in_threadpool(memory.save, conversation))


def _saved(saved: Saved) -> Response:
    body = {
        "id": saved.id,
        "parts": list(saved.ids),
        "status": saved.status,
        "path": saved.path,
        "note": saved.note,
    }
    return JSONResponse(body, 201 if saved.status == "created" else 200)


async def get_chunk(request: Request) -> Response:
    """One memory."""
    chunk = await run_in_threadpool(memory_of(request).memory, request.path_params["id"])
    return tagged(chunk_json(chunk))


async def patch_chunk(request: Request) -> Response:
    """Change a memory, compare-and-swap."""
    body = await read_body(request, ChunkChange)
    memory, memory_id = memory_of(request), request.path_params["id"]
    values = body.model_dump()
    topic = values.pop("focused_id")
    edit = MemoryEdit(**values, focused_topic=topic)
    try:
        chunk = await run_in_threadpool(
            memory.update_memory, memory_id, edit, version_asked(request)
        )
    except Stale as error:
        current = await run_in_threadpool(memory.memory, memory_id)
        return error_response(error, current=chunk_json(current))
    return tagged(chunk_json(chunk))


async def delete_chunk(request: Request) -> Response:
    """Move a memory to the trash."""
    memory, memory_id = memory_of(request), request.path_params["id"]
    try:
        place = await run_in_threadpool(memory.delete_memory, memory_id, version_asked(request))
    except Stale as error:
        current = await run_in_threadpool(memory.memory, memory_id)
        return error_response(error, current=chunk_json(current))
    return JSONResponse({"id": memory_id, "trash": place})


async def restore_chunk(request: Request) -> Response:
    """Bring a memory back from the trash."""
    chunk = await run_in_threadpool(memory_of(request).restore_memory, request.path_params["id"])
    return tagged(chunk_json(chunk))


async def open_chunk(request: Request) -> Response:
    """A memory, counted as opened."""
    chunk = await run_in_threadpool(memory_of(request).open_memory, request.path_params["id"])
    return tagged(chunk_json(chunk))


async def get_transcript(request: Request) -> Response:
    """The transcript, verbatim, or a page of its turns as safe HTML."""
    memory, memory_id = memory_of(request), request.path_params["id"]
    if request.query_params.get("format", "text") == "turns":
        page = page_of(request)
        query = request.query_params.get("q", "")

        def rendered() -> dict[str, Any]:
            # reading on is no further opening
            text = memory.transcript(memory_id, opening=page.number == 1)
            return turn_json(split_turns(text), page, query)

        return JSONResponse(await run_in_threadpool(rendered))
    text = await run_in_threadpool(memory.transcript, memory_id)
    return PlainTextResponse(text.encode("utf-8", "surrogatepass"))


async def get_artifact(request: Request) -> Response:
    """A file of a memory, always as a download so that nothing in it runs here."""
    name = request.path_params["name"]
    data = await run_in_threadpool(memory_of(request).artifact, request.path_params["id"], name)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return Response(data, media_type=kind, headers=headers)
