"""The REST routes about temperature: how things stand, warming a topic, running a cycle."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from neurigraph.answers import counts_json, moment
from neurigraph.memory import Memory
from neurigraph.model import Temperature
from neurigraph.rest_jobs import begin
from neurigraph.rest_requests import memory_of, truth
from neurigraph.temperature.climate import ClimateStatus
from neurigraph.temperature.cycle import Planned, Result
from neurigraph.temperature.rules import Step

LISTED = 200
"""The most memories that a dry run names."""


async def status(request: Request) -> Response:
    """Counts and bytes by temperature, the last cycle, the next one and what it would do."""
    found = await run_in_threadpool(memory_of(request).temperature_status)
    return JSONResponse(status_json(found))


async def warm(request: Request) -> Response:
    """Unpack the cold transcripts of a topic, newest first; `left` is how many are still cold."""
    memory, wanted = memory_of(request), request.path_params["node_id"]
    warmed, left = await run_in_threadpool(memory.warm, wanted)
    node = await run_in_threadpool(memory.topic, wanted)
    return JSONResponse(
        {
            "id": node.id,
            "path": node.path,
            "warmed": warmed,
            "left": left,
            "counts": counts_json(node.counts),
        }
    )


async def maintenance(request: Request) -> Response:
    """Run a cooling cycle; `?dry_run=true` only says what it would do, `?agree=true` is a
    person's yes."""
    memory = memory_of(request)
    if truth(request, "dry_run"):
        planned = await run_in_threadpool(memory.planned_cooling)
        return JSONResponse(planned_json(memory, planned))
    agree = truth(request, "agree")
    return begin(request, "cool", lambda: result_json(memory.cool(agree=agree)))


def status_json(found: ClimateStatus) -> dict[str, Any]:
    """How temperature stands."""
    last, plan = found.last_cycle, found.planned.plan
    return {
        "counts": {_key(t): n for t, n in found.counts.items()},
        "bytes": {_key(t): n for t, n in found.bytes.items()},
        "agreed": found.agreed,
        "cool": found.cool,
        "held": found.held,
        "next_cycle": moment(found.next_cycle),
        "last_cycle": {
            "at": moment(last.at),
            "compressed": last.compressed,
            "deepened": last.deepened,
            "saved_bytes": last.saved_bytes,
            "problem": last.problem,
        }
        if last
        else None,
        "planned": {
            "compress": len(plan.compress),
            "deepen": len(plan.deepen),
            "bytes": found.planned.bytes,
        },
    }


def planned_json(memory: Memory, planned: Planned) -> dict[str, Any]:
    """What a cycle would do: how much, and for the first 200 memories what."""
    plan = planned.plan
    shown = plan.steps[:LISTED]
    titles = memory.titles(s.id for s in shown)
    return {
        "dry_run": True,
        "compress": len(plan.compress),
        "deepen": len(plan.deepen),
        "restore": len(plan.restore),
        "notes": len(plan.report),
        "bytes": planned.bytes,
        "problem": planned.problem,
        "memories": [
            {"id": s.id, "title": titles[s.id][0], "path": titles[s.id][1], "what": _what(s)}
            for s in shown
            if s.id in titles
        ],
    }


def result_json(result: Result) -> dict[str, Any]:
    """What a cycle did."""
    return {
        "dry_run": False,
        "at": moment(result.at),
        "compressed": result.compressed,
        "deepened": result.deepened,
        "restored": result.restored,
        "notes": result.told,
        "saved_bytes": result.saved_bytes,
        "skipped": result.skipped,
        "problem": result.problem,
    }


def _what(step: Step) -> list[str]:
    named = {
        "one of two transcripts": step.resolve,
        "compress transcript": step.compress,
        "compress files": step.deepen,
        "unpack": step.restore,
        "note": step.report,
    }
    return [name for name, wanted in named.items() if wanted]


def _key(temperature: Temperature) -> str:
    return temperature.value.replace("-", "_")


def temperature_routes() -> list[Route]:
    """The routes about temperature."""
    return [
        Route("/api/temperature/status", status, methods=["GET"]),
        Route("/api/temperature/warm/{node_id:path}", warm, methods=["POST"]),
        Route("/api/temperature/maintenance", maintenance, methods=["POST"]),
    ]
