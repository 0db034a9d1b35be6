"""The REST routes: requests in, one call to Memory, JSON out; errors become statuses here."""

from __future__ import annotations

import json
import logging
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar, get_args
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from neurigraph.answers import (
    chunk_json,
    edge_json,
    node_json,
    search_json,
    status_json,
    turn_json,
)
from neurigraph.clock import from_note_date
from neurigraph.edits.artifacts import take_in
from neurigraph.edits.desk import Stale
from neurigraph.edits.memories import MemoryEdit
from neurigraph.errors import (
    Conflict,
    Duplicate,
    Forbidden,
    InvalidInput,
    NeurigraphError,
    NotFound,
    NotReady,
    NotWritable,
    OutsideVault,
    TooLarge,
    TranscriptMissing,
    VaultUnavailable,
    VersionRequired,
)
from neurigraph.memory import Filter, Memory, Page, Sort, check_limit
from neurigraph.model import Conversation, Kind

STATUSES: dict[type[NeurigraphError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    TranscriptMissing: 404,
    Duplicate: 409,
    Conflict: 409,
    VersionRequired: 428,
    NotWritable: 409,
    OutsideVault: 422,
    Forbidden: 403,
    TooLarge: 413,
    NotReady: 503,
    VaultUnavailable: 503,
}
MOST_BODY = 100_000_000
"""The largest request body, in bytes: a transcript and its artifacts in base64."""

log = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]
Body = TypeVar("Body", bound=BaseModel)


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
    focused_id: str | None = None


def error_response(error: NeurigraphError, **more: object) -> JSONResponse:
    """The status and body for an error."""
    status = next((s for kind, s in STATUSES.items() if isinstance(error, kind)), 400)
    return JSONResponse(
        {"error": {"code": error.code, "message": str(error), **more}},
        status,
        headers={"Retry-After": "1"} if status == 503 else None,
    )


async def on_neurigraph_error(_: Request, error: Exception) -> Response:
    """Turn one of our errors into its answer."""
    if not isinstance(error, NeurigraphError):
        raise error
    return error_response(error)


async def on_http_error(_: Request, error: Exception) -> Response:
    """Routing errors, in the same form as all others."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "there is nothing at this address", 405: "this address takes another method"}
    message = words.get(status, getattr(error, "detail", "") or "the request cannot be answered")
    return JSONResponse({"error": {"code": f"http_{status}", "message": message}}, status)


async def on_fault(request: Request, error: Exception) -> Response:
    """A fault of ours: said without details, which are in the log."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    message = "the daemon made a mistake; its log says more (neurigraph doctor shows where it is)"
    return JSONResponse({"error": {"code": "fault", "message": message}}, 500)


def memory_of(request: Request) -> Memory:
    """The door, as the app hands it to its routes."""
    memory = request.app.state.memory
    if not isinstance(memory, Memory):
        raise NotReady("the memory")
    return memory


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The request's body as `kind`. Raises `InvalidInput` that names the field, `TooLarge`."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MOST_BODY:
            raise TooLarge(f"the request is larger than {MOST_BODY // 1_000_000} MB")
    if request.headers.get("content-type", "application/json").split(";")[0] != "application/json":
        raise InvalidInput("Content-Type", "send application/json")
    try:
        return kind.model_validate(json.loads(bytes(data) or b"{}"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise InvalidInput(where, str(first["msg"])) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("body", f"is not JSON ({error})") from error


def number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number from the query. Raises `InvalidInput`."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10) or not least <= int(text) <= most:
        raise InvalidInput(name, f"must be a whole number from {least} to {most}")
    return int(text)


def truth(request: Request, name: str, default: bool = False) -> bool:
    """A yes or no from the query. Raises `InvalidInput`."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if text.lower() not in ("true", "false", "1", "0"):
        raise InvalidInput(name, "must be true or false")
    return text.lower() in ("true", "1")


def page_of(request: Request) -> Page:
    """The page that is asked for."""
    return Page(number(request, "page", 1, 1, 10_000_000), number(request, "per_page", 50, 1, 500))


def version_asked(request: Request) -> str | None:
    """What If-Match names, without quotes."""
    value = request.headers.get("if-match")
    return value.strip().removeprefix("W/").strip('"') if value else None


def paged(items: list[dict[str, Any]], total: int, page: Page) -> Response:
    """A page of a list."""
    return JSONResponse({"items": items, "total": total, "page": page.number})


def _tagged(body: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(body, status, headers={"ETag": f'"{body["version"]}"'})


# -- topics


async def list_broad(request: Request) -> Response:
    """All broad topics."""
    page = page_of(request)
    nodes = await run_in_threadpool(memory_of(request).topics, "broad")
    shown = nodes[(page.number - 1) * page.size : page.number * page.size]
    return paged([node_json(n) for n in shown], len(nodes), page)


async def list_focused(request: Request) -> Response:
    """The focused topics of a broad one."""
    page = page_of(request)
    nodes = await run_in_threadpool(memory_of(request).topics, "focused", request.path_params["id"])
    shown = nodes[(page.number - 1) * page.size : page.number * page.size]
    return paged([node_json(n) for n in shown], len(nodes), page)


async def create_broad(request: Request) -> Response:
    """A new broad topic."""
    body = await read_body(request, NewNode)
    node = await run_in_threadpool(
        memory_of(request).create_topic, body.name, "", body.description, body.color
    )
    return _tagged(node_json(node), 201)


async def create_focused(request: Request) -> Response:
    """A new focused topic in a broad one."""
    body = await read_body(request, NewNode)
    node = await run_in_threadpool(
        memory_of(request).create_topic,
        body.name,
        request.path_params["id"],
        body.description,
        body.color,
    )
    return _tagged(node_json(node), 201)


def _node_routes(kind: Kind) -> dict[str, Handler]:
    async def get(request: Request) -> Response:
        node = await run_in_threadpool(memory_of(request).topic, request.path_params["id"], kind)
        return _tagged(node_json(node))

    async def patch(request: Request) -> Response:
        body = await read_body(request, NodeChange)
        memory = memory_of(request)
        await run_in_threadpool(memory.topic, request.path_params["id"], kind)
        try:
            node = await run_in_threadpool(
                lambda: memory.update_topic(
                    request.path_params["id"], version_asked(request), **body.model_dump()
                )
            )
        except Stale as error:
            current = await run_in_threadpool(memory.topic, request.path_params["id"])
            return error_response(error, current=node_json(current))
        return _tagged(node_json(node))

    async def delete(request: Request) -> Response:
        memory = memory_of(request)
        await run_in_threadpool(memory.topic, request.path_params["id"], kind)
        recursive = truth(request, "recursive")
        await run_in_threadpool(
            lambda: memory.delete_topic(
                request.path_params["id"], version_asked(request), recursive=recursive
            )
        )
        return JSONResponse({"id": request.path_params["id"]})

    return {"GET": get, "PATCH": patch, "DELETE": delete}


async def open_focused(request: Request) -> Response:
    """A topic is entered: its neighbours warm."""
    node = await run_in_threadpool(memory_of(request).open_topic, request.path_params["id"])
    return _tagged(node_json(node))


# -- edges


async def list_edges(request: Request) -> Response:
    """All edges, or those that touch a topic."""
    memory, page = memory_of(request), page_of(request)
    wanted = request.path_params.get("node_id", "")
    names = {n.id: n for n in await run_in_threadpool(_all_topics, memory)}
    edges = await run_in_threadpool(memory.edges, wanted)
    shown = edges[(page.number - 1) * page.size : page.number * page.size]
    return paged([edge_json(e, names) for e in shown], len(edges), page)


def _all_topics(memory: Memory) -> list[Any]:
    return memory.places()


async def create_edge(request: Request) -> Response:
    """Join two topics."""
    body = await read_body(request, NewEdge)
    memory = memory_of(request)
    edge = await run_in_threadpool(
        memory.connect, body.source, body.target, body.relationship, body.weight
    )
    names = {n.id: n for n in _all_topics(memory)}
    return JSONResponse(edge_json(edge, names), 201)


def _edge_named(request: Request) -> tuple[str, str, str]:
    values = []
    for name in ("source", "target", "relationship"):
        value = request.query_params.get(name)
        if not value:
            raise InvalidInput(name, "say which edge is meant")
        values.append(value)
    return values[0], values[1], values[2]


async def change_edge(request: Request) -> Response:
    """Change an edge's weight or relationship."""
    source, target, relationship = _edge_named(request)
    body = await read_body(request, EdgeChange)
    memory = memory_of(request)
    edge = await run_in_threadpool(
        lambda: memory.change_edge(
            source, target, relationship, weight=body.weight, renamed=body.relationship
        )
    )
    names = {n.id: n for n in _all_topics(memory)}
    return JSONResponse(edge_json(edge, names))


async def delete_edge(request: Request) -> Response:
    """Remove an edge."""
    await run_in_threadpool(memory_of(request).disconnect, *_edge_named(request))
    return JSONResponse({"deleted": True})


# -- memories


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


def _saved(saved: Any) -> Response:
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
    return _tagged(chunk_json(chunk))


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
    return _tagged(chunk_json(chunk))


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
    return _tagged(chunk_json(chunk))


async def open_chunk(request: Request) -> Response:
    """A memory, counted as opened."""
    chunk = await run_in_threadpool(memory_of(request).open_memory, request.path_params["id"])
    return _tagged(chunk_json(chunk))


async def get_transcript(request: Request) -> Response:
    """The transcript, verbatim, or a page of its turns as safe HTML."""
    memory, memory_id = memory_of(request), request.path_params["id"]
    if request.query_params.get("format", "text") == "turns":
        page = page_of(request)
        return JSONResponse(
            await run_in_threadpool(
                turn_json, memory.turns(memory_id), page, request.query_params.get("q", "")
            )
        )
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


# -- search and status


async def search(request: Request) -> Response:
    """Find memories."""
    query = request.query_params
    limit, offset = number(request, "limit", 10, 1, 50), number(request, "offset", 0, 0, 10_000)
    check_limit(limit, offset)
    memory = memory_of(request)
    result = await run_in_threadpool(
        lambda: memory.search(
            query.get("q", ""), scope=query.get("scope", ""), limit=limit, offset=offset
        )
    )
    return JSONResponse(search_json(result))


async def status(request: Request) -> Response:
    """What the daemon knows and does."""
    memory = request.app.state.memory
    return JSONResponse(await run_in_threadpool(status_json, memory))


def routes() -> list[Route]:
    """All REST routes but the long jobs and the events, which belong to the app."""
    broad, focused = _node_routes("broad"), _node_routes("focused")
    table: list[tuple[str, str, Handler]] = [
        ("GET", "/api/graph/broad", list_broad),
        ("POST", "/api/graph/broad", create_broad),
        ("GET", "/api/graph/broad/{id}/focused", list_focused),
        ("POST", "/api/graph/broad/{id}/focused", create_focused),
        *[(method, "/api/graph/broad/{id}", handler) for method, handler in broad.items()],
        *[(method, "/api/graph/focused/{id}", handler) for method, handler in focused.items()],
        ("POST", "/api/graph/focused/{id}/open", open_focused),
        ("GET", "/api/graph/edges", list_edges),
        ("POST", "/api/graph/edges", create_edge),
        ("PATCH", "/api/graph/edges", change_edge),
        ("DELETE", "/api/graph/edges", delete_edge),
        ("GET", "/api/graph/edges/{node_id}", list_edges),
        ("GET", "/api/memory", list_memories),
        ("POST", "/api/memory", save),
        ("GET", "/api/memory/chunk/{id}", get_chunk),
        ("PATCH", "/api/memory/chunk/{id}", patch_chunk),
        ("DELETE", "/api/memory/chunk/{id}", delete_chunk),
        ("POST", "/api/memory/chunk/{id}/restore", restore_chunk),
        ("POST", "/api/memory/chunk/{id}/open", open_chunk),
        ("GET", "/api/memory/chunk/{id}/transcript", get_transcript),
        ("GET", "/api/memory/chunk/{id}/artifacts/{name}", get_artifact),
        ("GET", "/api/memory/{node_id}", list_memories),
        ("POST", "/api/memory/{node_id}/push", push),
        ("GET", "/api/search", search),
        ("GET", "/api/status", status),
    ]
    return [Route(path, handler, methods=[method]) for method, path, handler in table]
