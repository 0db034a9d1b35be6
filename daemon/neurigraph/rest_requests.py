"""What all REST routes share: reading a request, answering an error."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

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
    SystemRefused,
    TooLarge,
    TranscriptMissing,
    VaultUnavailable,
    VersionRequired,
)
from neurigraph.memory import Memory, Page

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
    SystemRefused: 503,
}
MOST_BODY = 100_000_000
"""The largest request body, in bytes: a transcript and its artifacts in base64."""

log = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]
Body = TypeVar("Body", bound=BaseModel)


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


async def on_os_error(request: Request, error: Exception) -> Response:
    """What the system refused: no fault of ours, and said in one line."""
    if not isinstance(error, OSError):
        raise error
    log.warning("%s %s: %s", request.method, request.url.path, error)
    return error_response(SystemRefused(error))


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


def tagged(body: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(body, status, headers={"ETag": f'"{body["version"]}"'})
