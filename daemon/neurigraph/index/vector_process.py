"""One run of the vector worker: started, written to, and told apart when it ends badly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from neurigraph.index.vector_pipe import STORE_DAMAGED, receive, send

_LOG_BYTES = 200_000
_END_SECONDS = 5.0

_CRASH_SIGNALS = {
    -getattr(signal, name)
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP")
    if hasattr(signal, name)
}
_WINDOWS_CRASHES = {0xC0000005, 0xC0000374, 0xC0000409, 3}


class WorkerDied(Exception):
    """The worker ended before it answered."""


class WorkerProcess:
    """A running worker and the answers that it owes. Raises OSError when it cannot be started.

    Its log is `worker.log` in `folder`, where it also runs, because Chroma reads a `.env` from
    where it is started.
    """

    def __init__(self, folder: Path, config: Mapping[str, str]) -> None:
        self.ready = False
        self._sending = threading.Lock()
        self._owed: dict[int, Future[Any]] = {}
        log = folder / "worker.log"
        too_long = log.exists() and log.stat().st_size > _LOG_BYTES
        with log.open("wb" if too_long else "ab") as errors:
            self._process = subprocess.Popen(
                # -P: a file in the folder where it starts is no module of ours
                [sys.executable, "-P", "-m", "neurigraph.index.vector_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=_environment(),
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        with suppress(OSError):
            send(self._input, (dict(config),))

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def ask(
        self, number: int, what: str, arguments: tuple[Any, ...], patience: float
    ) -> Future[Any]:
        """Its answer, or `WorkerDied`. One that waited for `patience` seconds is not worked on."""
        answer: Future[Any] = Future()
        self._owed[number] = answer
        try:
            with self._sending:
                send(self._input, (number, what, arguments, patience))
        except (OSError, ValueError):
            # unless the thread that reads its answers has said so already
            if self._owed.pop(number, None) is not None:
                answer.set_exception(WorkerDied())
        return answer

    def answers(self) -> Iterator[tuple[Any, ...]]:
        """What it says, until it ends."""
        with suppress(OSError):
            while (message := receive(self._output)) is not None:
                yield message

    def take_owed(self, number: int) -> Future[Any] | None:
        """The answer that somebody waits for under this number, to be filled in."""
        return self._owed.pop(number, None)

    def end(self, seconds: float = _END_SECONDS) -> int:
        """Wait for its end, kill it if that takes longer, tell who still waits: its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._process.kill()
        code = self._process.wait()
        with suppress(OSError):
            self._input.close()
        self._output.close()
        while self._owed:
            _, answer = self._owed.popitem()
            answer.set_exception(WorkerDied())
        return code

    def stop(self, seconds: float = _END_SECONDS) -> None:
        """Let it finish the chunk it is writing, and end; killed if that takes longer."""
        self.ask(0, "close", (), seconds)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._process.kill()


def is_crash(code: int) -> bool:
    """Whether an exit code puts the store under suspicion.

    Being killed does not: that is the system's or a person's doing.
    """
    return code == STORE_DAMAGED or code in _CRASH_SIGNALS or code in _WINDOWS_CRASHES


def _environment() -> dict[str, str]:
    # Chroma reads its settings from such variables
    environ = {k: v for k, v in os.environ.items() if not k.upper().startswith("CHROMA_")}
    source = str(Path(__file__).resolve().parents[2])
    if source not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        # run from a checkout; an installed package is found without help
        others = environ.get("PYTHONPATH")
        environ["PYTHONPATH"] = f"{source}{os.pathsep}{others}" if others else source
    environ["ORT_DISABLE_TELEMETRY"] = "1"
    environ["ANONYMIZED_TELEMETRY"] = "False"
    # one core is enough for products this small, and memory is scarcer
    environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    environ.setdefault("MALLOC_ARENA_MAX", "2")
    return environ
