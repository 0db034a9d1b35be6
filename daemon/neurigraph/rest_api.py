"""The table of REST routes: requests in, one call to Memory, JSON out."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from neurigraph import rest_memories as memories
from neurigraph import rest_topics as topics
from neurigraph.answers import search_json, status_json
from neurigraph.memory import check_limit
from neurigraph.rest_requests import Handler, memory_of, number


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
    broad, focused = topics.node_routes("broad"), topics.node_routes("focused")
    table: list[tuple[str, str, Handler]] = [
        ("GET", "/api/graph/broad", topics.list_broad),
        ("POST", "/api/graph/broad", topics.create_broad),
        ("GET", "/api/graph/broad/{id}/focused", topics.list_focused),
        ("POST", "/api/graph/broad/{id}/focused", topics.create_focused),
        *[(method, "/api/graph/broad/{id}", handler) for method, handler in broad.items()],
        *[(method, "/api/graph/focused/{id}", handler) for method, handler in focused.items()],
        ("POST", "/api/graph/focused/{id}/open", topics.open_focused),
        ("GET", "/api/graph/edges", topics.list_edges),
        ("POST", "/api/graph/edges", topics.create_edge),
        ("PATCH", "/api/graph/edges", topics.change_edge),
        ("DELETE", "/api/graph/edges", topics.delete_edge),
        ("GET", "/api/graph/edges/{node_id}", topics.list_edges),
        ("GET", "/api/memory", memories.list_memories),
        ("POST", "/api/memory", memories.save),
        ("GET", "/api/memory/chunk/{id}", memories.get_chunk),
        ("PATCH", "/api/memory/chunk/{id}", memories.patch_chunk),
        ("DELETE", "/api/memory/chunk/{id}", memories.delete_chunk),
        ("POST", "/api/memory/chunk/{id}/restore", memories.restore_chunk),
        ("POST", "/api/memory/chunk/{id}/open", memories.open_chunk),
        ("GET", "/api/memory/chunk/{id}/transcript", memories.get_transcript),
        ("GET", "/api/memory/chunk/{id}/artifacts/{name}", memories.get_artifact),
        ("GET", "/api/memory/{node_id}", memories.list_memories),
        ("POST", "/api/memory/{node_id}/push", memories.push),
        ("GET", "/api/search", search),
        ("GET", "/api/status", status),
    ]
    return [Route(path, handler, methods=[method]) for method, path, handler in table]
