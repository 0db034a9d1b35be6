"""Calls of the MCP server in this process, by FastMCP's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastmcp import Client

from neurigraph.mcp_server import mcp_server
from neurigraph.memory import Memory

T = TypeVar("T")


def with_client(memory: Memory, work: Callable[[Client[Any]], Awaitable[T]]) -> T:
    """What some work with a connected client comes to."""

    async def run() -> T:
        async with Client(mcp_server(memory)) as client:
            return await work(client)

    return asyncio.run(run())


def call(memory: Memory, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured content that a tool answers; raises `ToolError`."""

    async def work(client: Client[Any]) -> dict[str, Any]:
        answer = (await client.call_tool(tool, arguments)).structured_content
        assert answer is not None
        return answer

    return with_client(memory, work)


def said(memory: Memory, tool: str, /, **arguments: Any) -> str:
    """All that a tool answers, words and structure, as one text."""

    async def work(client: Client[Any]) -> str:
        answer = await client.call_tool(tool, arguments, raise_on_error=False)
        words = "\n".join(block.text for block in answer.content)
        return words + "\n" + json.dumps(answer.structured_content, ensure_ascii=False)

    return with_client(memory, work)


def read(memory: Memory, uri: str) -> str:
    """The text of a resource."""

    async def work(client: Client[Any]) -> str:
        return (await client.read_resource(uri))[0].text

    return with_client(memory, work)
