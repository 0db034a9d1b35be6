"""The daemon: one Starlette app that serves MCP, REST and the viewer from one port."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from neurigraph.clock import Clock
from neurigraph.errors import NeurigraphError, NotReady
from neurigraph.guard import Guard, is_loopback
from neurigraph.jobs import Jobs
from neurigraph.memory import Memory
from neurigraph.model import Event
from neurigraph.resources import viewer_dir
from neurigraph.rest_api import routes
from neurigraph.rest_import import import_routes
from neurigraph.rest_jobs import job_routes
from neurigraph.rest_requests import (
    error_response,
    on_fault,
    on_http_error,
    on_neurigraph_error,
    on_os_error,
)
from neurigraph.rest_sync import sync_routes
from neurigraph.rest_temperature import temperature_routes
from neurigraph.scheduler import Scheduler
from neurigraph.settings import Settings
from neurigraph.watcher import Watcher

log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 15
MOST_PENDING_EVENTS = 1_000
MCP_WAIT_SECONDS = 30


def create_app(
    settings: Settings,
    clock: Clock,
    vault: Path,
    state: Path,
    token: str,
    *,
    stopping: asyncio.Event | None = None,
    follow: bool = True,
    on_state_lost: Callable[[], None] | None = None,
    ignored: Sequence[str] = (),
) -> ASGIApp:
    """The app for a vault. It answers from its first moment and says what is still loading.

    `stopping` ends the event streams, which would hold up a clean stop. With `follow` false
    nothing runs by itself: no watcher and no timed jobs (for tests). `on_state_lost` is called
    when the state directory was deleted, to make it anew. `ignored` are lines about settings
    that were wrong, which a person should read.
    """
    memory = Memory(vault, state, settings, clock)
    memory.say(ignored)
    if on_state_lost is not None:
        memory.on_state_lost = on_state_lost
    mcp = LazyMcp(memory)
    stopping = stopping or asyncio.Event()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        daemon = Running(memory, follow)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(mcp.running())
            daemon.start()
            try:
                yield
            finally:
                stopping.set()
                await asyncio.to_thread(daemon.stop)

    async def events(request: Request) -> Response:
        return StreamingResponse(
            event_stream(memory, stopping),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    app = Starlette(
        routes=[
            *routes(),
            *job_routes(),
            *temperature_routes(),
            *sync_routes(),
            *import_routes(),
            Route("/api/events", events),
            Route("/{path:path}", page, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={
            NeurigraphError: on_neurigraph_error,
            OSError: on_os_error,
            HTTPException: on_http_error,
            404: on_http_error,
            Exception: on_fault,
        },
    )
    app.state.memory = memory
    app.state.jobs = Jobs(memory.events)
    app.state.stopping = stopping
    needed = None if is_loopback(settings.server.host) else token
    return Guard(_with_mcp(app, mcp), settings.server.allowed_hosts, needed)


def _with_mcp(app: ASGIApp, mcp: LazyMcp) -> ASGIApp:
    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].rstrip("/") == "/mcp":
            await mcp(scope, receive, send)
        else:
            await app(scope, receive, send)

    return dispatch


class Running:
    """What runs beside the requests: opening the vault, the watcher, the timed jobs."""

    def __init__(self, memory: Memory, follow: bool) -> None:
        self._memory, self._follow = memory, follow
        self._watcher = Watcher(memory.vault, memory.refresh)
        self._scheduler = Scheduler(memory)
        self._thread = threading.Thread(target=self._open, name="opening", daemon=True)

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    def _open(self) -> None:
        try:
            self._memory.open()
            if self._follow:
                self._watcher.start()
            self._memory.catch_up()
            if self._follow:
                self._scheduler.start()
        except NeurigraphError as error:
            log.error("the vault cannot be served: %s", error)
            self._memory.fail(error)
        except OSError as error:
            log.exception("the vault cannot be served")
            self._memory.fail(VaultTrouble(str(error)))

    def stop(self) -> None:
        """End everything in order."""
        self._memory.wind_down()
        self._scheduler.stop()
        self._watcher.stop()
        self._memory.close()
        self._thread.join(timeout=20)


class VaultTrouble(NeurigraphError):
    """The system refused something that serving the vault needs."""

    code = "vault_trouble"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the vault cannot be served: {reason}")


McpLifespan = Callable[[], AbstractAsyncContextManager[None]]


class LazyMcp:
    """The MCP app, imported after the first request could already be answered."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._app: ASGIApp | None = None
        self._ready = asyncio.Event()
        self._end = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The MCP app's own lifespan, within which it serves."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._end.set()
            with suppress(asyncio.CancelledError):
                await asyncio.wait_for(task, timeout=5)

    async def _run(self) -> None:
        # the very first answers come before this import, which takes over a second
        await asyncio.sleep(0.05)
        self._app, lifespan = await asyncio.to_thread(self._load)
        async with lifespan():
            self._ready.set()
            await self._end.wait()

    def _load(self) -> tuple[ASGIApp, McpLifespan]:
        from neurigraph.mcp_server import mcp_app

        return mcp_app(self._memory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, waiting for the import if need be."""
        try:
            await asyncio.wait_for(self._ready.wait(), MCP_WAIT_SECONDS)
        except TimeoutError:
            await error_response(NotReady("MCP"))(scope, receive, send)
            return
        if self._app is not None:
            await self._app({**scope, "path": "/mcp", "raw_path": b"/mcp"}, receive, send)


async def event_stream(memory: Memory, stopping: asyncio.Event) -> AsyncIterator[bytes]:
    """What happens from now on, as server-sent events (WHATWG HTML, section 9.2)."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event] = asyncio.Queue(MOST_PENDING_EVENTS)

    def offer(event: Event) -> None:
        # a reader that does not keep up misses events and asks again; it never holds us up
        with suppress(asyncio.QueueFull):
            queue.put_nowait(event)

    def listen(event: Event) -> None:
        with suppress(RuntimeError):  # the loop is closing
            loop.call_soon_threadsafe(offer, event)

    unsubscribe = memory.events.subscribe(listen)
    stop = asyncio.create_task(stopping.wait())
    following: asyncio.Task[Event] | None = None
    try:
        yield b"retry: 2000\nevent: status\ndata: {}\n\n"
        while not stopping.is_set():
            following = following or asyncio.create_task(queue.get())
            done, _ = await asyncio.wait(
                {following, stop}, timeout=KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if following in done:
                event, following = following.result(), None
                data = json.dumps(dict(event.data), default=str)
                yield f"event: {event.kind}\ndata: {data}\n\n".encode()
            elif not done:
                yield b": still here\n\n"
    finally:
        # a reader may leave at any moment, in the middle of a wait too
        if following is not None:
            following.cancel()
        stop.cancel()
        unsubscribe()


async def page(request: Request) -> Response:
    """The viewer: its files, and its one page for every address that is a view."""
    path = request.path_params["path"]
    if path.startswith(("api/", "mcp")):
        raise HTTPException(404)
    root = viewer_dir()
    try:
        wanted = (root / path).resolve() if path else root / "index.html"
        ours = bool(path) and root.resolve() in wanted.parents and wanted.is_file()
    except (OSError, ValueError):  # a name that no file can have
        raise HTTPException(404) from None
    if ours:
        lasting = (
            "public, max-age=31536000, immutable" if path.startswith("assets/") else "no-cache"
        )
        return FileResponse(wanted, headers={"Cache-Control": lasting})
    if "." in path.rpartition("/")[2] and path.startswith("assets/"):
        raise HTTPException(404)
    index = root / "index.html"
    if not index.is_file():
        return PlainTextResponse(
            "The daemon runs, but the viewer was not built. Install the package with pip, "
            "or run `make viewer` in the source.",
            503,
        )
    return FileResponse(index, headers={"Cache-Control": "no-cache"})
