"""The REST route for git sync: begun at once, its progress as events and under /api/jobs/sync."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neurigraph.memory import Memory
from neurigraph.rest_jobs import begin
from neurigraph.rest_requests import memory_of, read_body


class SyncOrder(BaseModel):
    """What a sync is asked to do: `init` makes the vault ready first, with `remote` as the
    address of its remote; `anyway` goes on although the remote's history was rewritten."""

    model_config = ConfigDict(extra="forbid", strict=True)

    init: bool = False
    remote: str = ""
    anyway: bool = False


async def sync(request: Request) -> Response:
    """Sync now."""
    memory = memory_of(request)
    order = await read_body(request, SyncOrder)
    return begin(request, "sync", lambda: work(memory, order))


def work(memory: Memory, order: SyncOrder) -> dict[str, object]:
    """Do what was ordered, and answer what was done."""
    done = memory.sync_init(order.remote) if order.init or order.remote else []
    report = memory.sync_now(anyway=order.anyway)
    return {"done": done, **asdict(report)}


def sync_routes() -> list[Route]:
    """The route for sync."""
    return [Route("/api/sync", sync, methods=["POST"])]
