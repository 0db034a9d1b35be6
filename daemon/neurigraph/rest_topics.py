"""The REST routes for topics and the edges between them."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from neurigraph.answers import edge_json, node_json
from neurigraph.edits.desk import Stale
from neurigraph.errors import InvalidInput
from neurigraph.index.library import Place
from neurigraph.memory import Memory
from neurigraph.model import Kind
from neurigraph.rest_bodies import EdgeChange, NewEdge, NewNode, NodeChange
from neurigraph.rest_requests import (
    Handler,
    error_response,
    memory_of,
    page_of,
    paged,
    read_body,
    tagged,
    truth,
    version_asked,
)


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
    return tagged(node_json(node), 201)


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
    return tagged(node_json(node), 201)


def node_routes(kind: Kind) -> dict[str, Handler]:
    async def get(request: Request) -> Response:
        node = await run_in_threadpool(memory_of(request).topic, request.path_params["id"], kind)
        return tagged(node_json(node))

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
        return tagged(node_json(node))

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
    return tagged(node_json(node))


# -- edges


async def list_edges(request: Request) -> Response:
    """All edges, or those that touch a topic."""
    memory, page = memory_of(request), page_of(request)
    wanted = request.path_params.get("node_id", "")
    names = {n.id: n for n in await run_in_threadpool(_all_topics, memory)}
    edges = await run_in_threadpool(memory.edges, wanted)
    shown = edges[(page.number - 1) * page.size : page.number * page.size]
    return paged([edge_json(e, names) for e in shown], len(edges), page)


def _all_topics(memory: Memory) -> list[Place]:
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
