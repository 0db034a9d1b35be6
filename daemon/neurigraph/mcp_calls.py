"""How an MCP call is carried out: who asks, in which thread, and how errors are told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from fastmcp import Context
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.dependencies import get_http_request
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp_types import CallToolRequestParams
from pydantic import BaseModel
from pydantic import ValidationError as PydanticValidationError
from starlette.concurrency import run_in_threadpool

from neurigraph.errors import NeurigraphError, SystemRefused
from neurigraph.memory import Memory
from neurigraph.views import Reader

T = TypeVar("T")

PROGRESS_SECONDS = 1.0
OPEN_SECONDS = 30.0
"""How long a call waits for a vault that is just being opened."""


def scope_asked() -> str:
    """The topic that this connection is limited to: `?scope=` of its address."""
    try:
        request = get_http_request()
    except RuntimeError:  # in the same process, as tests do
        return ""
    return (request.query_params.get("scope") or "").strip().strip("/")


async def carry_out(ctx: Context, memory: Memory, doing: str, call: Callable[[Reader], T]) -> T:
    """Run a call to Memory in a thread, as the AI that asks, and say every second that it goes on.

    Our errors become errors that the model reads.
    """
    scope = scope_asked()

    def work() -> T:
        memory.wait_opened(OPEN_SECONDS)
        return call(memory.reader_for(scope))

    task = asyncio.create_task(run_in_threadpool(work))
    seconds = 0.0
    try:
        while not (await asyncio.wait({task}, timeout=PROGRESS_SECONDS))[0]:
            seconds += PROGRESS_SECONDS
            await ctx.report_progress(seconds, None, f"{doing} ({seconds:.0f} s)")
        return task.result()
    except NeurigraphError as error:
        raise ToolError(str(error), log_level=logging.INFO) from error
    except OSError as error:
        raise ToolError(str(SystemRefused(error)), log_level=logging.WARNING) from error


def answered(answer: BaseModel, text: str) -> ToolResult:
    """An answer as structure and in words."""
    return ToolResult(content=text, structured_content=answer.model_dump(mode="json"))


class PlainErrors(Middleware):
    """Says wrong arguments in one line that names the field, without repeating what was sent.

    Arguments that are null count as left out: some models name all that a tool could take.
    """

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, Any],
    ) -> Any:
        """Call, and translate what is raised."""
        asked = context.message
        if asked.arguments and None in asked.arguments.values():
            given = {k: v for k, v in asked.arguments.items() if v is not None}
            context = context.copy(message=asked.model_copy(update={"arguments": given}))
        try:
            return await call_next(context)
        except ValidationError as error:
            cause = error.__cause__
            if not isinstance(cause, PydanticValidationError):
                raise
            found = cause.errors(include_input=False, include_url=False)
            lines = [
                f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: "
                + (_AN_OBJECT if item["type"] in ("model_type", "dict_type") else item["msg"])
                for item in found
            ][:5]
            if any(item["type"] == "unexpected_keyword_argument" for item in found):
                lines.append(f"{asked.name} takes {', '.join(await _arguments(context))}")
            raise ToolError("; ".join(lines), log_level=logging.INFO) from error


_AN_OBJECT = "Input should be an object, its values by name"


async def _arguments(context: MiddlewareContext[CallToolRequestParams]) -> list[str]:
    """The names of the arguments of the tool that is called."""
    inner = context.fastmcp_context
    tool = await inner.fastmcp.get_tool(context.message.name) if inner else None
    return list(tool.parameters.get("properties", {})) if tool else []
