"""Talks to the daemon of a vault, and starts one when there is none. Imports nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx

from neurigraph import __version__
from neurigraph.errors import NeurigraphError
from neurigraph.lock import DaemonCard, is_locked, read_card
from neurigraph.resources import make_state_dir, state_dir

START_SECONDS = 30.0
ASK_SECONDS = 120.0
_LOCAL: dict[str, Any] = {"trust_env": False, "verify": False}
"""The daemon is on this machine: no proxy of the environment's, no certificates to load."""


class DaemonUnreachable(NeurigraphError):
    """No daemon answers, and none could be started."""

    code = "daemon_unreachable"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


class DaemonRefused(NeurigraphError):
    """The daemon answered with an error; `status` is the HTTP status."""

    code = "daemon_refused"

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status, self.answer = status, code
        super().__init__(message)


def running(vault: Path) -> DaemonCard | None:
    """The card of the daemon that serves this vault and answers, or None."""
    card = read_card(state_dir(vault))
    if card is None:
        return None
    try:
        answer = httpx.get(
            f"{card.address}/api/status", headers=_headers(card), timeout=5, **_LOCAL
        )
    except httpx.HTTPError:
        return None
    same = answer.status_code == 200 and os.path.realpath(
        answer.json().get("vault", "")
    ) == os.path.realpath(vault)
    return card if same else None


def start(
    vault: Path, arguments: Sequence[str] = (), *, seconds: float = START_SECONDS
) -> DaemonCard:
    """Start a daemon for this vault in the background and wait until it answers.

    Without `arguments` for `neurigraph up` it takes the usual port, or the next free one.

    Raises `DaemonUnreachable` with the daemon's own last words.
    """
    state = make_state_dir(vault)
    out = state / f"start-{os.getpid()}.log"
    command = [sys.executable, "-m", "neurigraph", "up", str(vault), "--no-browser"]
    command += arguments or ["--any-port"]
    process: subprocess.Popen[bytes] | None = None
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            card = running(vault)
            if card is not None:
                return card
            if not is_locked(state):
                if process is not None and process.poll():
                    words = out.read_text("utf-8", "replace").strip().splitlines()
                    raise DaemonUnreachable(words[-1] if words else "the daemon ended at once")
                if process is None or process.poll() == 0:
                    process = _spawn(command, out)
            elif process is not None and process.poll():
                process = None  # another was quicker; should it end, it is our turn
            time.sleep(0.05)
        raise DaemonUnreachable(f"the daemon did not answer within {seconds:.0f} s; see {state}")
    finally:
        with suppress(OSError):  # on Windows the daemon holds it open
            out.replace(state / "start.log")


def _spawn(command: Sequence[str], out: Path) -> subprocess.Popen[bytes]:
    with out.open("wb") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path.home(),
            **detached(),
        )


def detached() -> dict[str, Any]:
    """What makes a process go on after this one has ended."""
    if os.name == "nt":
        return {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS, NEW_PROCESS_GROUP
    return {"start_new_session": True}


def _headers(card: DaemonCard) -> dict[str, str]:
    return {"Authorization": f"Bearer {card.token}", "User-Agent": f"neurigraph/{__version__}"}


@dataclass(frozen=True, slots=True)
class Client:
    """A connection to one daemon."""

    card: DaemonCard

    @classmethod
    def of(cls, vault: Path, *, start_one: bool = True) -> Client:
        """The client of a vault's daemon, started if need be. Raises `DaemonUnreachable`."""
        card = running(vault)
        if card is None:
            if not start_one:
                raise DaemonUnreachable("no daemon is running; start it with: neurigraph up")
            card = start(vault)
        return cls(card)

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int | float | bool | None] | None = None,
        body: object | None = None,
        version: str | None = None,
        timeout: float = ASK_SECONDS,
    ) -> Any:
        """One request. Answers its JSON, or its text. Raises `DaemonRefused`."""
        headers = _headers(self.card)
        if version:
            headers["If-Match"] = f'"{version}"'
        given = {k: v for k, v in (query or {}).items() if v is not None}
        try:
            answer = httpx.request(
                method,
                f"{self.card.address}{path}",
                params=given,
                json=body,
                headers=headers,
                timeout=timeout,
                **_LOCAL,
            )
        except httpx.HTTPError as error:
            raise DaemonUnreachable(f"the daemon does not answer ({error})") from error
        if answer.status_code >= 400:
            raise _refused(answer)
        if answer.headers.get("content-type", "").startswith("application/json"):
            return answer.json()
        return answer.content.decode("utf-8", "surrogatepass")

    def job(self, name: str, on_progress: Callable[[int, int, str], None] | None = None) -> Any:
        """Wait for long work that was begun, and answer its result. Raises `DaemonRefused`."""
        while True:
            known = self.ask("GET", f"/api/jobs/{name}")
            if known["state"] == "failed":
                raise DaemonRefused(500, "job_failed", known["error"])
            if known["state"] == "done":
                return known["result"]
            if on_progress is not None:
                on_progress(known["done"] or 0, known["total"] or 0, known["text"] or "")
            time.sleep(0.1)

    def download(self, path: str, out: IO[bytes]) -> None:
        """Write what a GET answers to a file as it comes. Raises `DaemonRefused`."""
        address = f"{self.card.address}{path}"
        try:
            with httpx.stream(
                "GET", address, headers=_headers(self.card), timeout=ASK_SECONDS, **_LOCAL
            ) as answer:
                if answer.status_code >= 400:
                    answer.read()
                    raise _refused(answer)
                for piece in answer.iter_bytes():
                    out.write(piece)
        except httpx.HTTPError as error:
            raise DaemonUnreachable(f"the daemon does not answer ({error})") from error

    def ready(self, seconds: float = 300) -> dict[str, Any]:
        """Wait until the daemon has taken up the vault, and answer its status."""
        deadline = time.monotonic() + seconds
        while True:
            status: dict[str, Any] = self.ask("GET", "/api/status")
            if status["state"] == "failed":
                raise DaemonUnreachable(status["failure"] or "the daemon could not open the vault")
            if status["state"] == "ready" or time.monotonic() > deadline:
                return status
            time.sleep(0.1)


def _refused(answer: httpx.Response) -> DaemonRefused:
    try:
        error = answer.json()["error"]
        return DaemonRefused(answer.status_code, str(error["code"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return DaemonRefused(answer.status_code, "unknown", f"the daemon said {answer.status_code}")
