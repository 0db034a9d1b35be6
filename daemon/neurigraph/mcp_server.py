"""The MCP tools: each is one call to Memory, answered with structure and with words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from starlette.types import ASGIApp

from neurigraph.errors import NeurigraphError
from neurigraph.memory import Memory
from neurigraph.model import Conversation
from neurigraph.views import Reader

__all__ = ["mcp_app", "mcp_server"]


def mcp_server(memory: Memory) -> FastMCP:
    """The server with all its tools."""
    server: FastMCP = FastMCP("Neurigraph Hyperthyme")
    reader = Reader(ai=True)

    @server.tool
    def search_memory(query: str, scope: str = "", limit: int = 10) -> dict[str, object]:
        """Find what was discussed before."""
        from neurigraph.answers import search_json

        try:
            return search_json(memory.search(query, scope=scope, limit=limit, reader=reader))
        except NeurigraphError as error:
            raise ToolError(str(error)) from error

    @server.tool
    def save_conversation(
        content: str, broad_topic: str | None = None, focused_topic: str | None = None
    ) -> dict[str, object]:
        """Save a conversation."""
        try:
            saved = memory.save(
                Conversation(content, broad_topic=broad_topic, focused_topic=focused_topic)
            )
        except NeurigraphError as error:
            raise ToolError(str(error)) from error
        return {"id": saved.id, "status": saved.status, "path": saved.path}

    return server


def mcp_app(memory: Memory) -> tuple[ASGIApp, Callable[[], AbstractAsyncContextManager[None]]]:
    """The app for `/mcp`, and the lifespan within which it serves."""
    app = mcp_server(memory).http_app(path="/mcp", stateless_http=True)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with app.lifespan(app):
            yield

    return app, lifespan
