"""A real daemon as a process of its own, for tests, and ways to wait for what it does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
PATIENCE = 30.0
"""Seconds after which a test gives up waiting; far more than anything takes."""


class Daemon:
    """A running daemon: its address, REST, and waiting on its events."""

    def __init__(
        self,
        vault: Path,
        state: Path,
        settings: Mapping[str, str],
        program: Sequence[str] = ("-m", "neurigraph"),
        wrap: Sequence[str] = (),
    ) -> None:
        """`program` is what Python runs, `wrap` a command that runs Python, as `setpriv` does."""
        self.vault, self.state = vault, state
        self.env = {
            **os.environ,
            "NEURIGRAPH_STATE": str(state),
            "NEURIGRAPH_VAULT": str(vault),
            "HOME": str(state),
            **settings,
        }
        self.log = state / "out.log"
        state.mkdir(exist_ok=True, parents=True)
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [
                    *wrap,
                    sys.executable,
                    *program,
                    "up",
                    str(vault),
                    "--port",
                    "0",
                    "--no-browser",
                ],
                stdout=out,
                stderr=out,
                env=self.env,
            )
        self.address = self._address()
        self.http = httpx.Client(base_url=self.address, timeout=60)
        self._news = threading.Condition()
        self._heard = 0
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _address(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for line in self.log.read_text("utf-8").splitlines():
                if line.strip().startswith("viewer"):
                    return line.split()[1].rstrip("/")
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the daemon did not start: {self.log.read_text()}")

    def _listen(self) -> None:
        try:
            with httpx.stream("GET", f"{self.address}/api/events", timeout=None) as stream:
                for _ in stream.iter_lines():
                    with self._news:
                        self._heard += 1
                        self._news.notify_all()
        except httpx.HTTPError:
            return

    def get(self, path: str, **query: Any) -> Any:
        """The JSON that a GET answers; it must succeed."""
        answer = self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def search(self, query: str, **more: Any) -> list[dict[str, Any]]:
        """The results of a search."""
        results: list[dict[str, Any]] = self.get("/api/search", q=query, **more)["results"]
        return results

    def until(self, look: Callable[[], T | None], what: str = "it") -> T:
        """Look again after every event until it is there; fail when it never is."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with self._news:
                heard = self._heard
            found = look()
            if found:
                return found
            left = deadline - time.monotonic()
            assert left > 0, f"{what} did not happen; {self.tail()}"
            with self._news:
                # events tell when to look; the slow tick covers one that fell in between
                self._news.wait_for(lambda h=heard: self._heard > h, timeout=min(left, 0.5))  # type: ignore[misc]

    def ready(self, *, vectors: bool = True) -> dict[str, Any]:
        """Wait until everything is indexed, and answer the status."""

        def look() -> dict[str, Any] | None:
            status: dict[str, Any] = self.get("/api/status")
            assert status["state"] != "failed", status["failure"]
            behind = status["index"]
            done = status["state"] == "ready" and not behind["keyword_behind"]
            return status if done and not (vectors and behind["vector_behind"]) else None

        return self.until(look, "indexing")

    def cli(self, *arguments: str, code: int = 0, stdin: str | None = None) -> str:
        """What a command prints; it must end with this exit code."""
        done = subprocess.run(
            [sys.executable, "-m", "neurigraph", *arguments],
            capture_output=True,
            text=True,
            env=self.env,
            input=stdin,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, (
            f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done.stdout + done.stderr

    def cli_json(self, *arguments: str) -> Any:
        """What a command prints with --json."""
        return json.loads(self.cli(*arguments, "--json"))

    def stop(self) -> int:
        """A clean stop, and the exit code."""
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        """As when the power fails."""
        self.http.close()
        self.process.kill()
        self.process.wait(timeout=PATIENCE)

    def tail(self) -> str:
        """The last lines that the daemon printed and logged."""
        logs = [self.log, *self.state.glob("*/daemon.log")]
        return "\n".join(p.read_text("utf-8", "replace")[-1500:] for p in logs if p.exists())


@contextmanager
def daemon(
    vault: Path,
    state: Path,
    program: Sequence[str] = ("-m", "neurigraph"),
    wrap: Sequence[str] = (),
    **settings: str,
) -> Iterator[Daemon]:
    """A daemon that is stopped at the end, whatever happens."""
    running = Daemon(vault, state, settings, program, wrap)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()
