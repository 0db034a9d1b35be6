"""Passage vectors, as the daemon sees them: a worker process that is started, fed and asked.

Nothing here loads Chroma or a model. The worker becomes ready in the background, is started again
when it dies, and its store is set aside and begun anew when it is the reason.
"""

from __future__ import annotations

import logging
import platform
import shutil
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from hashlib import blake2b
from pathlib import Path
from typing import Any

from neurigraph.embed.embedder import EmbedderFailed, Vectors
from neurigraph.errors import NeurigraphError, NotReady
from neurigraph.index.passage import PassageText, VectorMatch
from neurigraph.index.vector_pipe import UNAVAILABLE
from neurigraph.index.vector_process import WorkerDied, WorkerProcess, is_crash

__all__ = ["PassageText", "VectorIndex", "VectorIndexFailed", "VectorMatch"]

log = logging.getLogger(__name__)

_BACK_OFF = (0.05, 0.5, 2.0, 10.0, 30.0)
_CRASHES_TO_REPLACE = 2
_HEALTHY_SECONDS = 300.0
_ATTEMPTS = 3
_ASK_SECONDS = 10.0
_WRITE_SECONDS = 600.0
_CLOSE_SECONDS = 5.0

_NEW = "the vector store is new and holds nothing yet"


class VectorIndexFailed(NeurigraphError):
    """The vector index did not do what it was asked; asking again later may work."""

    code = "vector_index_failed"


class VectorIndex:
    """The vectors of all passages, kept in `folder` or on the Chroma server at `chroma_url`.

    `on_event(kind, text)` is called from the thread that reads the worker's answers, so it must
    not ask this object anything, only note it. Its one kind is
    `vector_store_replaced`: what was held is gone, so everything is to be put again. It comes
    when a damaged or removed store was begun anew, when another embedder starts a new collection,
    after `clear`, and when the store is found empty at the start.
    """

    def __init__(
        self,
        folder: Path,
        *,
        embedder: str = "wordllama",
        ollama_url: str = "http://127.0.0.1:11434",
        chroma_url: str = "",
        on_event: Callable[[str, str], None] | None = None,
    ) -> None:
        self.on_event = on_event
        self._folder, self._embedder = folder, embedder
        self._ollama_url, self._chroma_url = ollama_url, chroma_url
        self._changed = threading.Condition()
        self._worker: WorkerProcess | None = None
        self._closed = False
        self._number = 0
        self._info: dict[str, Any] = {}
        self._generation = ""
        self._told_empty = False
        self._starts = 0
        self._crashes = 0
        self._problem = ""
        self._reason = _NEW
        self._thread = threading.Thread(target=self._keep, name="vector-index", daemon=True)

    # --- the worker's life ------------------------------------------------------------------

    def start(self) -> None:
        """Begin to start the worker; returns at once."""
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether a worker has its store and embedder loaded."""
        worker = self._worker
        return worker is not None and worker.ready

    def wait_ready(self, timeout: float | None = None) -> bool:
        """Wait until ready; false after `timeout` seconds, or when closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.ready or self._closed, timeout)
            return self.ready

    @property
    def generation(self) -> str:
        """Names the collection that is written to; another one means that nothing is held yet.

        Empty until ready, and while a new embedder has not answered yet.
        """
        return self._generation

    def state(self) -> dict[str, Any]:
        """What is known of the worker without asking it.

        `ready`, `embedder`, `answering` (the embedder whose vectors answer), `dim`, `memories`,
        `passages`, `generation`, `restarts`, `pid` and `problem`: one line, empty when all is well.
        """
        worker, info = self._worker, self._info
        return {
            "ready": self.ready,
            "embedder": self._embedder,
            "answering": info.get("answering", self._embedder),
            "dim": info.get("dim", 0),
            "memories": info.get("memories", 0),
            "passages": info.get("passages", 0),
            "generation": self._generation,
            "restarts": max(self._starts - 1, 0),
            "pid": worker.pid if worker else None,
            "problem": self._problem or info.get("problem", ""),
        }

    def close(self) -> None:
        """End the worker. What is not acknowledged by then raises `VectorIndexFailed`."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            worker = self._worker
            self._changed.notify_all()
        if worker is not None:
            # one that is still opening its store has nothing to finish
            worker.stop(_CLOSE_SECONDS if worker.ready else 0.5)
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    # --- what it is asked -------------------------------------------------------------------

    def put(
        self, items: Mapping[str, Sequence[PassageText]], timeout: float = _WRITE_SECONDS
    ) -> None:
        """Hold these passages of these memories and no others of theirs.

        Returns when all is written. Passages that are already held with the same number, place
        and text cost next to nothing. Waits for the worker to be ready, and tries again when it
        dies; `timeout` is in seconds. Raises `NotReady`, `EmbedderFailed`, `VectorIndexFailed`.
        """
        if items:
            self._write("put", ({i: tuple(passages) for i, passages in items.items()},), timeout)

    def delete(self, ids: Collection[str], timeout: float = _WRITE_SECONDS) -> None:
        """Hold nothing of these memories any more. Waits and raises like `put`."""
        if ids:
            self._write("delete", (list(ids),), timeout)

    def clear(self) -> None:
        """Drop everything and begin anew, with another generation. Waits like `put`."""
        self._write("clear", (), _WRITE_SECONDS)

    def promote(self) -> None:
        """Let the wanted embedder's collection answer alone, and drop the one before it.

        Happens by itself once the new collection holds every memory that the old one holds.
        """
        self._write("promote", (), _WRITE_SECONDS)

    def contents(self) -> dict[str, int]:
        """How many passages are held, by memory. Raises `NotReady`, `VectorIndexFailed`."""
        return dict(self._ask("contents", ()))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the wanted embedder, shape (texts, dim), float32, unit rows.

        Raises `NotReady`, `EmbedderFailed`, `VectorIndexFailed`.
        """
        vectors: Vectors = self._ask("embed", (list(texts),))
        return vectors

    def search(
        self,
        text: str,
        k: int,
        allow: Collection[str] | None = None,
        timeout: float = _ASK_SECONDS,
    ) -> list[VectorMatch]:
        """The `k` passages nearest to a text, best first; with `allow`, of these memories alone.

        A memory may come several times. Raises `NotReady` at once while the worker is starting,
        `EmbedderFailed`, and `VectorIndexFailed`, at the latest after `timeout` seconds.
        """
        return self.begin_search(text, k, allow, timeout)()

    def begin_search(
        self,
        text: str,
        k: int,
        allow: Collection[str] | None = None,
        timeout: float = _ASK_SECONDS,
    ) -> Callable[[], list[VectorMatch]]:
        """The same in two steps: what is answered waits for the matches, and raises like `search`.

        The worker is at it from now on, whether or not anybody waits. Raises `NotReady` at once.
        """
        if k < 1 or not text.strip():
            return list
        allowed = None if allow is None else list(allow)
        wait = self._begin("search", (text, k, allowed), timeout)
        return lambda: [VectorMatch(*values) for values in wait()]

    def best(
        self, text: str, ids: Collection[str], timeout: float = _ASK_SECONDS
    ) -> dict[str, VectorMatch]:
        """The nearest passage of each of these memories, by id; those not held are left out.

        Raises like `search`.
        """
        if not ids or not text.strip():
            return {}
        found: dict[str, VectorMatch] = self._ask("best", (text, list(ids)), timeout)
        return found

    def _ask(self, what: str, arguments: tuple[Any, ...], timeout: float = _ASK_SECONDS) -> Any:
        return self._begin(what, arguments, timeout)()

    def _begin(self, what: str, arguments: tuple[Any, ...], timeout: float) -> Callable[[], Any]:
        worker = self._worker
        if worker is None or not worker.ready:
            raise NotReady("vector search")
        answer = worker.ask(self._next_number(), what, arguments, timeout)

        def wait() -> Any:
            try:
                return answer.result(timeout)
            except WorkerDied:
                raise NotReady("vector search") from None
            except FutureTimeout:
                raise VectorIndexFailed(
                    f"vector search did not answer within {timeout:g} seconds"
                ) from None

        return wait

    def _write(self, what: str, arguments: tuple[Any, ...], timeout: float) -> None:
        until = time.monotonic() + timeout
        for _ in range(_ATTEMPTS):
            left = until - time.monotonic()
            if not self.wait_ready(left):
                break
            worker = self._worker
            if worker is None:
                continue
            try:
                left = max(until - time.monotonic(), 0)
                worker.ask(self._next_number(), what, arguments, left).result(left)
                self._crashes = 0
                return
            except WorkerDied:
                continue
            except FutureTimeout:
                raise VectorIndexFailed(
                    f"the vector index did not finish within {timeout:g} seconds"
                ) from None
        if self._closed:
            raise VectorIndexFailed("the vector index was closed")
        if not self.ready:
            raise NotReady("the vector index")
        raise VectorIndexFailed("the vector index's worker ended each time it was asked to write")

    def _next_number(self) -> int:
        with self._changed:
            self._number += 1
            return self._number

    # --- the thread that keeps a worker -----------------------------------------------------

    def _keep(self) -> None:
        failures = 0
        while not self._closed:
            began = time.monotonic()
            was_ready, code = self._run_worker()
            if self._closed:
                return
            log.warning("the vector worker ended with code %s", code)
            lived = time.monotonic() - began
            if is_crash(code):
                self._crashes = 1 if was_ready and lived > _HEALTHY_SECONDS else self._crashes + 1
                if self._crashes >= _CRASHES_TO_REPLACE and not self._chroma_url:
                    self._set_aside()
            failures = 0 if was_ready and lived > _HEALTHY_SECONDS else failures + 1
            delay = _BACK_OFF[min(failures, len(_BACK_OFF)) - 1] if failures else 0
            if was_ready:
                delay = min(delay, _BACK_OFF[1])
            with self._changed:
                self._changed.wait_for(lambda: self._closed, delay)

    def _run_worker(self) -> tuple[bool, int]:
        """Start one and read its answers until it ends: whether it was ready, its exit code."""
        try:
            (self._folder / "chroma").mkdir(parents=True, exist_ok=True)
            worker = WorkerProcess(self._folder, self._config())
        except OSError as error:
            self._problem = f"the vector worker cannot be started: {error}"
            return False, UNAVAILABLE
        with self._changed:
            self._starts += 1
            self._worker = worker
            closed = self._closed
        if closed:
            worker.stop()
        for message in worker.answers():
            self._take(worker, message)
        was_ready = worker.ready
        with self._changed:
            worker.ready = False
            self._worker = None
            self._changed.notify_all()
        return was_ready, worker.end()

    def _take(self, worker: WorkerProcess, message: tuple[Any, ...]) -> None:
        number, status, payload, info = message
        if number == 0:
            if status == "ready":
                self._problem = ""
                self._note(info, first=True)
                with self._changed:
                    worker.ready = True
                    self._changed.notify_all()
            else:
                self._problem = f"vectors are not available: {payload}"
                log.warning("the vector worker: %s", payload)
            return
        self._note(info, first=False)
        answer = worker.take_owed(number)
        if answer is None:
            return
        if status == "ok":
            answer.set_result(payload)
        elif status == "embedder":
            answer.set_exception(EmbedderFailed(*payload))
        else:
            answer.set_exception(VectorIndexFailed(f"the vector index failed: {payload}"))

    def _note(self, info: dict[str, Any], *, first: bool) -> None:
        self._info = info
        before, self._generation = self._generation, info["generation"]
        replaced = bool(before) and before != self._generation
        empty = first and not self._told_empty and not info["memories"]
        if replaced or empty:
            self._told_empty = True
            self._tell("vector_store_replaced", self._reason)
            self._reason = _NEW

    def _tell(self, kind: str, text: str) -> None:
        if self.on_event is None:
            return
        try:
            self.on_event(kind, text)
        except Exception:
            # without this thread there would be no worker any more
            log.exception("a listener failed")

    def _set_aside(self) -> None:
        aside = self._folder / f"chroma.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            # one is enough to look into, and they are as large as the store
            for older in self._folder.glob("chroma.damaged-*"):
                shutil.rmtree(older)
            (self._folder / "chroma").rename(aside)
        except FileNotFoundError:
            pass
        except OSError as error:
            self._problem = f"the damaged vector store cannot be moved: {error}"
            return
        self._crashes = 0
        self._reason = f"the vector store was damaged; it was set aside as {aside.name}"
        log.warning("%s", self._reason)

    def _config(self) -> dict[str, str]:
        # on a shared server, each machine's copy of each vault has collections of its own
        place = f"{platform.node()} {self._folder.resolve()}"
        mark = blake2b(place.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        return {
            "folder": str(self._folder.resolve() / "chroma"),
            "embedder": self._embedder,
            "ollama_url": self._ollama_url,
            "chroma_url": self._chroma_url,
            "prefix": f"{mark}-" if self._chroma_url else "",
        }
