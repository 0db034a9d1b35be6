"""Runs the daemon in this process: lock, card, log, server, and a clean end on a signal."""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from neurigraph import __version__
from neurigraph.clock import system_clock
from neurigraph.errors import NeurigraphError
from neurigraph.lock import DaemonCard, VaultLock, keep_token, remove_card, token_of, write_card
from neurigraph.resources import make_state_dir
from neurigraph.settings import Settings

SWITCH_SECONDS = 0.001
"""After how long a thread at work lets another one run. An answer changes threads some four times,
and with Python's 5 ms waited as often for a save that is being worked on."""

LOG_BYTES, LOG_FILES = 2_000_000, 3
PORTS_TRIED = 50


class PortTaken(NeurigraphError):
    """Something else listens at the address."""

    code = "port_taken"

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"cannot listen on {host}:{port} ({reason}); choose another with --port")


def serve(
    vault: Path,
    settings: Settings,
    *,
    ignored: Sequence[str] = (),
    any_port: bool,
    on_listening: Callable[[DaemonCard], None],
) -> None:
    """Serve a vault until a signal ends it; `ignored` says what was wrong in its settings.

    With `any_port` a taken port is no error: the next free one is used. Raises `VaultInUse` and
    `PortTaken`.
    """
    state = make_state_dir(vault)
    lock = VaultLock(state, vault)
    lock.take()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        _log_to(state / "daemon.log", settings.server.log_level)
        listening = _listen(settings.server.host, settings.server.port, any_port)
        token = token_of(state)
        card = DaemonCard(
            os.getpid(), settings.server.host, listening.getsockname()[1], token, __version__
        )
        write_card(state, card)

        def renew() -> None:
            make_state_dir(vault)
            lock.free()
            lock.take()
            keep_token(state, token)
            write_card(state, card)
            for handler in logging.getLogger().handlers:
                handler.close()  # it opens its file again for the next line

        try:
            _run(
                vault,
                state,
                settings,
                ignored,
                token,
                listening,
                lambda: on_listening(card),
                renew,
            )
        finally:
            remove_card(state)
    finally:
        lock.free()


def _run(
    vault: Path,
    state: Path,
    settings: Settings,
    ignored: Sequence[str],
    token: str,
    listening: socket.socket,
    on_listening: Callable[[], None],
    on_state_lost: Callable[[], None],
) -> None:
    from neurigraph.app import create_app

    stopping = asyncio.Event()
    app = create_app(
        settings,
        system_clock,
        vault,
        state,
        token,
        stopping=stopping,
        on_state_lost=on_state_lost,
        ignored=ignored,
    )
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=3,
        server_header=False,
        ws="none",
    )
    server = _Server(config, on_listening, stopping.set)
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Says when requests are answered, and when they are about to be no more."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_listening: Callable[[], None],
        on_stopping: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._on_listening, self._on_stopping = on_listening, on_stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal; unlike uvicorn's own, the process then ends as one that did its work."""
        wanted = [signal.SIGINT, signal.SIGTERM]
        # a terminal that is closed ends what runs in it, unless it was started with nohup
        if os.name == "posix" and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
            wanted.append(signal.SIGHUP)
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.started:
            self._on_listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the endless answers first, so that the stop is quick."""
        self._on_stopping()
        await super().shutdown(sockets)


def _listen(host: str, port: int, any_port: bool) -> socket.socket:
    """A listening socket. Taken before anything is written, so that two never share a port."""
    last: OSError | None = None
    for candidate in [*range(port, min(port + PORTS_TRIED, 65536)), 0] if any_port else [port]:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, candidate))
            found.listen(128)
        except OSError as error:
            found.close()
            last = error
            continue
        found.set_inheritable(False)
        return found
    raise PortTaken(host, port, (last.strerror or str(last)) if last else "no port is free")


def _log_to(path: Path, level: str) -> None:
    """A rotating log; it never holds the text of memories."""
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("neurigraph").setLevel(level.upper())
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
