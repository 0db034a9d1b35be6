"""What may be a message to the MCP server, and in what words a wrong one is refused.

The forms are those of JSON-RPC 2.0 as the Model Context Protocol uses it (Basic, Messages): one
object a message, ids that are texts or whole numbers, parameters by name. Pure.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


class NoMessage(ValueError):
    """What came is no message; `wanted` is its id as far as it has one."""

    def __init__(self, code: int, reason: str, wanted: str | int | None = None) -> None:
        self.code, self.reason, self.wanted = code, reason, wanted
        super().__init__(reason)

    def answer(self) -> Message:
        """The JSON-RPC error that says so."""
        return error_answer(self.wanted, self.code, self.reason)


def error_answer(wanted: object, code: int, reason: str) -> Message:
    """A JSON-RPC error for the message with this id."""
    return {"jsonrpc": "2.0", "id": wanted, "error": {"code": code, "message": reason}}


def read_json(data: bytes) -> Any:
    """What was sent, with whole characters in place of half ones. Raises `NoMessage`.

    Half characters (`\\ud83d` alone) come from clients that cut a text within an emoji.
    """
    try:
        parsed = json.loads(data)
        if has_half_characters(data):
            text = json.dumps(parsed, ensure_ascii=False)
            whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            parsed = json.loads(whole)
    except UnicodeDecodeError as error:
        raise NoMessage(PARSE_ERROR, "this is not JSON: it is no UTF-8 text") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NoMessage(PARSE_ERROR, f"this is not JSON: {error.msg} at {where}") from error
    except (ValueError, RecursionError) as error:
        reason = "this is not JSON that can be read: it is nested too deeply, or a number too long"
        raise NoMessage(PARSE_ERROR, reason) from error
    return parsed


def has_half_characters(data: bytes) -> bool:
    """Whether some JSON may hold half characters; whole ones in two escapes count too."""
    return b"\\ud" in data or b"\\uD" in data


def check(parsed: object) -> Message:
    """The message, if it is one: a request, a notification or an answer. Raises `NoMessage`."""
    if isinstance(parsed, list):
        reason = "send one message at a time, not a list of them"
        raise NoMessage(INVALID_REQUEST, reason)
    if not isinstance(parsed, dict):
        raise NoMessage(INVALID_REQUEST, "a message is a JSON object with jsonrpc, id and method")
    wanted = parsed.get("id")
    if isinstance(wanted, bool) or not isinstance(wanted, str | int):
        if "id" in parsed and "error" not in parsed:
            raise NoMessage(INVALID_REQUEST, "id: must be a text or a whole number")
        wanted = None
    if parsed.get("jsonrpc") != "2.0":
        raise NoMessage(INVALID_REQUEST, 'jsonrpc: must be "2.0"', wanted)
    if "method" not in parsed and not {"result", "error"} & set(parsed):
        raise NoMessage(INVALID_REQUEST, "method: is missing", wanted)
    if not isinstance(parsed.get("method", ""), str):
        raise NoMessage(INVALID_REQUEST, "method: must be a text", wanted)
    params = parsed.get("params")
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise NoMessage(INVALID_PARAMS, "params: must be an object, its values by name", wanted)
    if parsed.get("method") == "tools/call":
        _check_call(params, wanted)
    return parsed


def _check_call(params: Message, wanted: str | int | None) -> None:
    if not isinstance(params.get("name"), str):
        raise NoMessage(INVALID_PARAMS, "params.name: must be the name of a tool", wanted)
    if not isinstance(params.get("arguments") or {}, dict):
        reason = 'params.arguments: must be an object such as {"query": "…"}'
        raise NoMessage(INVALID_PARAMS, reason, wanted)
