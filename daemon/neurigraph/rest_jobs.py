"""The REST routes for long work: answered at once with 202, progress follows as events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from neurigraph.jobs import Jobs
from neurigraph.rest_requests import memory_of, truth


def begin(request: Request, name: str, work: Callable[[], object]) -> Response:
    """Begin long work whose result is JSON-ready. Raises `JobRunning`."""
    jobs: Jobs = request.app.state.jobs
    jobs.begin(name, work)
    return JSONResponse({"job": name, "state": "running"}, 202)


async def job(request: Request) -> Response:
    """What became of the latest long work of this name."""
    jobs: Jobs = request.app.state.jobs
    return JSONResponse(jobs.state(request.path_params["name"]))


async def reindex(request: Request) -> Response:
    """Build the indexes again from the vault."""
    return begin(request, "reindex", memory_of(request).reindex)


async def doctor(request: Request) -> Response:
    """Examine the vault and the indexes; `?repair=true` mends, `?deep=true` reads everything."""
    memory = memory_of(request)
    repair, deep = truth(request, "repair"), truth(request, "deep")

    def work() -> list[dict[str, object]]:
        return [asdict(d) for d in memory.doctor(repair=repair, deep=deep)]

    return begin(request, "doctor", work)


def job_routes() -> list[Route]:
    """The routes for long work."""
    return [
        Route("/api/jobs/{name}", job, methods=["GET"]),
        Route("/api/reindex", reindex, methods=["POST"]),
        Route("/api/doctor", doctor, methods=["POST"]),
    ]
