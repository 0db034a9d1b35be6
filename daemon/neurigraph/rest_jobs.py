"""The REST routes for long work: answered at once with 202, progress follows as events."""

from __future__ import annotations

import threading
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from neurigraph.errors import Conflict, NeurigraphError
from neurigraph.memory import Memory
from neurigraph.rest_requests import memory_of


class JobRunning(Conflict):
    """The same long work is under way already."""

    code = "job_running"

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is under way already; its progress is in /api/events")


def begin(request: Request, name: str, work: Callable[[], object]) -> Response:
    """Run long work in a thread of its own. Raises `JobRunning`."""
    running: set[str] = request.app.state.__dict__.setdefault("jobs", set())
    if name in running:
        raise JobRunning(name)
    running.add(name)
    memory = memory_of(request)

    def run() -> None:
        result: dict[str, object] = {}
        try:
            found = work()
            result = {"result": found} if isinstance(found, dict | list | str) else {}
        except NeurigraphError as error:
            result = {"error": str(error)}
        except OSError as error:
            result = {"error": f"{name} stopped: {error}"}
        finally:
            running.discard(name)
            memory.events.publish("progress", job=name, done=1, total=1, text="done", **result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return JSONResponse({"job": name, "state": "started"}, 202)


async def reindex(request: Request) -> Response:
    """Build the indexes again from the vault."""
    memory: Memory = memory_of(request)
    return begin(request, "reindex", memory.reindex)


def job_routes() -> list[Route]:
    """The routes for long work."""
    return [Route("/api/reindex", reindex, methods=["POST"])]
