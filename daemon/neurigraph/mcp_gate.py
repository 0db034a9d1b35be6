"""Stands before the MCP app and answers in plain JSON what is no message to it."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from neurigraph.mcp_messages import (
    INVALID_REQUEST,
    Message,
    NoMessage,
    check,
    error_answer,
    has_half_characters,
    read_json,
)

TOO_LARGE = -32001

MOST_BYTES = 100_000_000
"""The largest message: a conversation and its artifacts in base64."""


class Gate:
    """An ASGI app that answers what is no message, and hands the rest on as it came."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 405, 413 or 415 in JSON, or pass the request on."""
        if scope["type"] != "http" or scope["method"] in ("DELETE", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        refusal, body = await self._looked_at(scope, receive)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        given = False

        async def again() -> Event:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)

    async def _looked_at(self, scope: Scope, receive: Receive) -> tuple[Response | None, bytes]:
        if scope["method"] != "POST":
            reason = "MCP is spoken here by POST; give this address to an AI client"
            return _refused(405, error_answer(None, INVALID_REQUEST, reason)), b""
        headers = dict(scope["headers"])
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            reason = "send the message as Content-Type: application/json"
            return _refused(415, error_answer(None, INVALID_REQUEST, reason)), b""
        body = await _read_body(headers, receive)
        if body is None:
            reason = f"a message may have {MOST_BYTES // 1_000_000} MB at most; send less at once"
            return _refused(413, error_answer(None, TOO_LARGE, reason)), b""
        try:
            message = check(read_json(body))
        except NoMessage as error:
            return _refused(400, error.answer()), b""
        if has_half_characters(body):
            body = json.dumps(message).encode()
        return None, body


async def _read_body(headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    """The whole body, or None when it is too large."""
    told = headers.get(b"content-length", b"")
    if told.isdigit() and int(told) > MOST_BYTES:
        return None
    body = bytearray()
    while True:
        event = await receive()
        body += event.get("body", b"")
        if len(body) > MOST_BYTES:
            return None
        if event["type"] != "http.request" or not event.get("more_body", False):
            return bytes(body)


def _refused(status: int, answer: Message) -> Response:
    return JSONResponse(answer, status, headers={"Allow": "POST"} if status == 405 else None)
