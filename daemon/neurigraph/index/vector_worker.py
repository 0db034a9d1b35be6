"""The process that alone opens the vector store: it embeds, writes and searches for the daemon.

Started by `VectorIndex` as `python -m neurigraph.index.vector_worker`. It ends when its input ends,
so it never outlives the daemon. One thread answers questions, another does the writing in small
chunks, since a write holds the interpreter for as long as it takes.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

import numpy as np

from neurigraph.embed.embedder import Embedder, EmbedderFailed, Vectors, make_embedder
from neurigraph.errors import InvalidInput
from neurigraph.index.passage import PassageText, VectorMatch
from neurigraph.index.passage_collection import PassageCollection
from neurigraph.index.vector_pipe import STORE_DAMAGED, STORE_GONE, UNAVAILABLE, receive, send
from neurigraph.index.vector_store import PassageStore, is_damage

log = logging.getLogger("neurigraph.vector_worker")

_CHUNK = 128
_SMALL_CHUNK = 32
"""Passages written at once while somebody searches: some 25 ms, which a question may wait."""

_RECENTLY = 3.0
_REMEMBERED = 64

_VALUES = attrgetter("id", "start", "end", "source", "score")
"""Of a `VectorMatch`, in the order in which it is made."""

Request = tuple[int, str, tuple[Any, ...], float]
"""Its number, what is asked, with what, and until when (monotonic) an answer is of use."""


class VectorWorker:
    """Serves one pipe until it ends.

    A memory is written to the collection of the wanted embedder, `current`. While that is being
    filled, the collection of the embedder before it, `old`, is kept up to date too and answers;
    it is dropped when `current` holds every memory that it holds.
    """

    def __init__(self, config: Mapping[str, str], output: BinaryIO) -> None:
        self._folder = Path(config["folder"])
        self._local = not config["chroma_url"]
        self._ollama_url = config["ollama_url"]
        self._output, self._sending = output, threading.Lock()
        self._closing = False
        self._problem = ""
        self._asked_at = -_RECENTLY
        self._query_vectors: dict[tuple[str, str], Vectors] = {}
        self._embedder = make_embedder(config["embedder"], self._ollama_url)
        self._store = PassageStore(self._folder, config["chroma_url"], config["prefix"])
        self._inode = self._find_inode()
        self._current: PassageCollection | None = None
        self._old: tuple[PassageCollection, Embedder] | None = None
        self._open_collections()
        self._urgent: SimpleQueue[Request] = SimpleQueue()
        self._bulk: SimpleQueue[Request] = SimpleQueue()

    def serve(self, pipe: BinaryIO) -> None:
        """Answer what comes through the pipe; returns when it ends or says `close`."""
        threads = [
            threading.Thread(target=self._work, args=(queue,), daemon=True)
            for queue in (self._urgent, self._bulk)
        ]
        for thread in threads:
            thread.start()
        self._send(0, "ready", None)
        while (message := receive(pipe)) is not None:
            number, what, arguments, patience = message
            if what == "close":
                # the chunk that is being written is finished; nothing else was acknowledged
                self._closing = True
                for queue in (self._urgent, self._bulk):
                    queue.put((number, what, (), 0))
                for thread in threads:
                    thread.join()
                return
            urgent = what in ("search", "best", "embed", "contents")
            if urgent:
                self._asked_at = time.monotonic()
            until = time.monotonic() + patience
            (self._urgent if urgent else self._bulk).put((number, what, arguments, until))

    def _work(self, queue: SimpleQueue[Request]) -> None:
        handlers: dict[str, Callable[..., Any]] = {
            "search": self._search,
            "best": self._best,
            "embed": lambda texts: self._embed(self._embedder, texts),
            "contents": lambda: dict(self._current.counts) if self._current else {},
            "put": self._put,
            "delete": self._delete,
            "clear": self._clear,
            "promote": self._promote,
        }
        try:
            while True:
                number, what, arguments, until = queue.get()
                if self._closing:
                    return
                if time.monotonic() > until:
                    self._send(number, "failed", "it waited too long to be answered")
                    continue
                self._answer(number, handlers[what], arguments)
        except BaseException:
            # a panic in Chroma is no Exception; the daemon starts another worker
            log.exception("the worker gives up")
            os._exit(STORE_DAMAGED)

    def _answer(self, number: int, handler: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            self._send(number, "ok", handler(*arguments))
        except EmbedderFailed as error:
            self._send(number, "embedder", (error.name, error.reason))
        except Exception as error:
            # one bad request must not end the others; what is wrong goes to whoever asked
            if is_damage(error):
                raise
            log.exception("a request failed")
            self._send(number, "failed", f"{type(error).__name__}: {error}")

    def _send(self, number: int, status: str, payload: Any) -> None:
        with self._sending:
            send(self._output, (number, status, payload, self._info()))

    def _info(self) -> dict[str, Any]:
        current, old = self._current, self._old
        return {
            "generation": current.generation if current else "",
            "memories": len(current.counts) if current else 0,
            "passages": current.passages if current else 0,
            "dim": current.dim if current else 0,
            "answering": old[0].embedder if old else self._embedder.name,
            "problem": self._problem,
        }

    def _embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        try:
            vectors = embedder.embed(texts)
        except EmbedderFailed as error:
            self._problem = str(error)
            raise
        self._problem = ""
        return vectors

    # --- collections ------------------------------------------------------------------------

    def _open_collections(self) -> None:
        names = self._store.names()
        wanted = self._embedder.name
        sizes = [dim for embedder, dim in names.values() if embedder == wanted]
        if sizes:
            # not asked of the embedder: its server may be down or slow, and searching must go on
            self._current = self._store.open(wanted, sizes[0])
        elif not wanted.startswith("ollama:"):
            self._current = self._store.open(wanted, self._embedder.dim)
        for name, (embedder, dim) in names.items():
            if self._current is None or name != self._current.name:
                self._consider_old(name, embedder, dim)
        self._drop_old_when_complete()
        for collection in (self._current, self._old[0] if self._old else None):
            if collection is not None:
                # so that damage shows now and the first question is quick
                collection.load()

    def _consider_old(self, name: str, embedder: str, dim: int) -> None:
        try:
            made = make_embedder(embedder, self._ollama_url)
        except (EmbedderFailed, InvalidInput):
            log.warning("the vectors of %s cannot be used any more", embedder)
            self._store.drop(name)
            return
        collection = self._store.open(embedder, dim)
        if self._old is not None and self._old[0].passages >= collection.passages:
            self._store.drop(name)
            return
        if self._old is not None:
            self._store.drop(self._old[0].name)
        self._old = (collection, made)

    def _drop_old_when_complete(self) -> None:
        if (
            self._old
            and self._current
            and self._old[0].counts.keys() <= self._current.counts.keys()
        ):
            self._promote()

    def _wanted_collection(self) -> PassageCollection:
        if self._current is None:
            # a text of any kind, for the size of the vectors
            dim = self._embed(self._embedder, ["dimension"]).shape[1]
            self._current = self._store.open(self._embedder.name, dim)
        return self._current

    def _promote(self) -> None:
        if self._old is not None:
            old, self._old = self._old[0], None
            self._store.drop(old.name)

    def _clear(self) -> None:
        self._promote()
        if self._current is not None:
            current, self._current = self._current, None
            self._store.drop(current.name)
        with suppress(EmbedderFailed):
            self._wanted_collection()

    # --- writing ----------------------------------------------------------------------------

    def _put(self, items: Mapping[str, Sequence[PassageText]]) -> None:
        self._write(self._wanted_collection(), self._embedder, items)
        if self._old is not None:
            collection, embedder = self._old
            try:
                self._write(collection, embedder, items)
            except EmbedderFailed:
                self._delete_from(collection, items)
            self._drop_old_when_complete()

    def _write(
        self,
        collection: PassageCollection,
        embedder: Embedder,
        items: Mapping[str, Sequence[PassageText]],
    ) -> None:
        waiting = list(collection.changed(items))
        start = 0
        while start < len(waiting):
            if self._closing:
                raise InterruptedError("the worker was told to end")
            self._check_store()
            recently = time.monotonic() - self._asked_at < _RECENTLY
            chunk = waiting[start : start + (_SMALL_CHUNK if recently else _CHUNK)]
            vectors = _checked(self._embed(embedder, [p.text for _, _, p in chunk]), collection)
            collection.write(chunk, vectors)
            start += len(chunk)
        self._run(collection.shorten({i: len(passages) for i, passages in items.items()}))

    def _delete(self, ids: Sequence[str]) -> None:
        self._check_store()
        for collection in (self._current, self._old[0] if self._old else None):
            if collection is not None:
                self._delete_from(collection, ids)
        self._drop_old_when_complete()

    def _delete_from(
        self, collection: PassageCollection, ids: Sequence[str] | Mapping[str, Any]
    ) -> None:
        self._run(collection.shorten(dict.fromkeys(ids, 0)))

    def _run(self, pages: Iterator[Any]) -> None:
        for _ in pages:
            # the other thread gets its turn between two writes
            time.sleep(0)

    def _find_inode(self) -> int:
        return (self._folder / "chroma.sqlite3").stat().st_ino if self._local else 0

    def _check_store(self) -> None:
        # a file that was deleted while open takes everything that is written to it, for nothing
        try:
            gone = self._find_inode() != self._inode
        except FileNotFoundError:
            gone = True
        if gone:
            log.error("the store was removed while in use")
            os._exit(STORE_GONE)

    # --- answering --------------------------------------------------------------------------

    def _search(self, text: str, k: int, allow: list[str] | None) -> list[tuple[Any, ...]]:
        collection, vector = self._answering(text)
        if collection is None or not vector.any():
            return []
        # plain tuples go through the pipe in a quarter of the time
        return list(map(_VALUES, collection.search(vector, k, allow)))

    def _best(self, text: str, ids: list[str]) -> dict[str, VectorMatch]:
        collection, vector = self._answering(text)
        if collection is None or not vector.any():
            return {}
        return collection.best(vector, ids)

    def _answering(self, text: str) -> tuple[PassageCollection | None, Vectors]:
        old = self._old
        if old is not None:
            with suppress(EmbedderFailed):
                return old[0], self._query_vector(old[1], old[0], text)
        current = self._current
        if current is None:
            raise EmbedderFailed(self._embedder.name, "it has not answered yet")
        return current, self._query_vector(self._embedder, current, text)

    def _query_vector(
        self, embedder: Embedder, collection: PassageCollection, text: str
    ) -> Vectors:
        key = (embedder.name, text)
        vector = self._query_vectors.get(key)
        if vector is None:
            vector = _checked(self._embed(embedder, [text]), collection)[0]
            if len(self._query_vectors) >= _REMEMBERED:
                self._query_vectors.clear()
            self._query_vectors[key] = vector
        return vector


def _checked(vectors: Vectors, collection: PassageCollection) -> Vectors:
    if vectors.shape[1] == 0:  # nothing but empty texts, and the embedder was never asked
        return np.zeros((len(vectors), collection.dim), np.float32)
    if vectors.shape[1] != collection.dim:
        raise EmbedderFailed(
            collection.embedder,
            f"its vectors have {vectors.shape[1]} numbers now, those in the index "
            f"{collection.dim}; run: neurigraph reindex",
        )
    return vectors


def main() -> int:
    """Serve the daemon that started this process; the answer is an exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the daemon's to handle
    pipe, output = _take_pipes()
    faulthandler.enable(sys.stderr)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    # a question waits for at most this long behind Python code of the writing thread
    sys.setswitchinterval(0.001)
    message = receive(pipe)
    if message is None:
        return 0
    try:
        worker = VectorWorker(message[0], output)
    except (EmbedderFailed, InvalidInput) as error:
        send(output, (0, "failed", str(error), {}))
        return UNAVAILABLE
    except Exception as error:
        # whatever Chroma raises at opening is told to the daemon, which decides
        log.exception("the store cannot be opened")
        url = message[0]["chroma_url"]
        what = f"the Chroma server at {url} cannot be used; start it" if url else "the vector store"
        send(output, (0, "failed", f"{what}: {error}", {}))
        return STORE_DAMAGED if is_damage(error, opening=not url) else UNAVAILABLE
    worker.serve(pipe)
    return 0


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the daemon; whatever else prints goes to standard error instead."""
    pipe = os.fdopen(os.dup(0), "rb")
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return pipe, output


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Chroma's own threads would keep the process; all that was acknowledged is on disk
    os._exit(code)
