"""The REST routes for what comes in and goes out: import, export, forget, secrets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import get_args

from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from neurigraph.capture.report import What, row_json
from neurigraph.errors import Forbidden, InvalidInput
from neurigraph.guard import is_loopback
from neurigraph.rest_bodies import Import, Watch
from neurigraph.rest_jobs import begin
from neurigraph.rest_requests import memory_of, page_of, paged, read_body, version_asked


def _check_near(request: Request) -> None:
    """Only somebody at this machine may have its files read. Raises `Forbidden`."""
    if request.client is None or not is_loopback(request.client.host):
        raise Forbidden("files of this machine are imported only when it is asked from itself")


async def start_import(request: Request) -> Response:
    """Import what lies at a path; progress and outcome as for every long work."""
    _check_near(request)
    body = await read_body(request, Import)
    memory, path = memory_of(request), Path(body.path)
    if not path.is_absolute() or "\0" in body.path:
        raise InvalidInput("path", "name the whole path")
    await run_in_threadpool(lambda: memory.capture.check(path))

    def work() -> dict[str, object]:
        report = memory.import_from(path, body.topic, dry_run=body.dry_run)
        return report.summary()

    return begin(request, "import", work)


async def import_rows(request: Request) -> Response:
    """What became of each conversation in the latest import, paged; `?what=failed` and the like."""
    page, what = page_of(request), request.query_params.get("what", "")
    if what and what not in get_args(What):
        raise InvalidInput("what", f"must be one of {', '.join(get_args(What))}")
    report = memory_of(request).capture.last
    rows = [row for row in (report.rows if report else ()) if what in ("", row.what)]
    shown = rows[(page.number - 1) * page.size : page.number * page.size]
    return paged([row_json(row) for row in shown], len(rows), page)


async def stop_import(request: Request) -> Response:
    """Stop the import that is under way; what was stored stays."""
    memory_of(request).capture.stop()
    return JSONResponse({"stopping": True})


async def watch(request: Request) -> Response:
    """Follow these folders, until the daemon ends; the setting `imports.watch` is for longer."""
    _check_near(request)
    body = await read_body(request, Watch)
    if any(not Path(folder).is_absolute() for folder in body.folders):
        raise InvalidInput("folders", "name the whole path of each")
    memory_of(request).capture.watch(body.folders, body.topic)
    return JSONResponse({"folders": body.folders, "topic": body.topic})


async def held(request: Request) -> Response:
    """The memories that are held out of git because something in them looks like a secret."""
    page, memory = page_of(request), memory_of(request)
    found = await run_in_threadpool(memory.held)
    shown = found[(page.number - 1) * page.size : page.number * page.size]
    return paged([asdict(item) for item in shown], len(found), page)


async def forget(request: Request) -> Response:
    """Remove a memory for good; the answer says what remains elsewhere."""
    memory, memory_id = memory_of(request), request.path_params["id"]
    done = await run_in_threadpool(memory.forget_memory, memory_id, version_asked(request))
    return JSONResponse(asdict(done))


async def export(request: Request) -> Response:
    """Everything as JSON Lines, as a download that begins at once."""
    if request.query_params.get("format", "jsonl") != "jsonl":
        raise InvalidInput("format", "must be jsonl")
    lines = memory_of(request).export_lines()
    return StreamingResponse(
        iterate_in_threadpool(lines),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="neurigraph-export.jsonl"'},
    )


def import_routes() -> list[Route]:
    """The routes for what comes in and goes out."""
    return [
        Route("/api/import", start_import, methods=["POST"]),
        Route("/api/import", import_rows, methods=["GET"]),
        Route("/api/import", stop_import, methods=["DELETE"]),
        Route("/api/import/watched", watch, methods=["PUT"]),
        Route("/api/secrets", held, methods=["GET"]),
        Route("/api/memory/chunk/{id}/forget", forget, methods=["POST"]),
        Route("/api/export", export, methods=["GET"]),
    ]
