"""Collections of passage vectors in Chroma; the only module that imports it.

One collection an embedder. A passage is one record: its id `<memory id>:<number>`, its vector, and
one piece of metadata, `at`: source, start, end and a hash of its text, separated by spaces (one
string costs a tenth less to write than four values). Which memories are held, and with how many
passages, is read from the ids when a collection is opened.

The graph is built with settings that were measured on 19,473 passages of real notes with 350 short
questions: `ef_construction` 50, `M` 12 and Chroma's `ef_search` of 100 found .53 of the nearest 20
(short questions lie far from long passages); 200, 24 and 1,500 find .96 at 3 to 5 ms a question.
`ef_search` counts only when the collection is made.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import chromadb
import numpy as np
from chromadb.config import Settings
from chromadb.errors import InternalError, NotFoundError
from numpy.typing import NDArray

from neurigraph.index.passage import PassageText, Source, VectorMatch

Vector = NDArray[np.float32]

_HNSW: dict[str, Any] = {
    "space": "cosine",
    "ef_construction": 200,
    "max_neighbors": 24,
    "ef_search": 1500,
    "batch_size": 1000,
    "sync_threshold": 1000,
}
_PAGE = 500
"""Records that are read or deleted in one call."""

_SAMPLE = 200

_NOT_DAMAGE = (
    "disk is full",
    "no space left",
    "readonly",
    "read-only",
    "unable to open",
    "permission denied",
    "database is locked",
    "too many open files",
)
"""Words of errors that go away without a new store (SQLite's and the system's own)."""

_MANY = 8000
"""Above this many allowed passages, naming each of them costs more than looking further."""


class StoreDamaged(Exception):
    """A store that opens and yet does not hold what it says."""


class PassageCollection:
    """The passages of all memories, as one embedder sees them."""

    def __init__(self, collection: Any, created: bool) -> None:
        metadata = collection.metadata
        self.name: str = collection.name
        self.embedder: str = metadata["embedder"]
        self.dim = int(metadata["dim"])
        self.generation: str = metadata["generation"]
        self.created = created
        self._collection = collection
        self.counts: dict[str, int] = {}
        for record_id in () if created else _all_ids(collection):
            memory_id, _, number = record_id.rpartition(":")
            self.counts[memory_id] = max(self.counts.get(memory_id, 0), int(number) + 1)
        self.passages = sum(self.counts.values())

    def warm_up(self) -> None:
        """Load the graph into memory. Raises `StoreDamaged` when it lacks what the ids promise."""
        ids = self._record_ids(self.counts)
        some = ids[:: max(len(ids) // _SAMPLE, 1)]
        found = self._query(np.ones(self.dim, np.float32), len(some), some)
        # a sound graph reaches nearly all; one whose file was lost begins anew without a word
        if len(found) < len(some) * 0.8:
            raise StoreDamaged(f"{len(found)} of {len(some)} passages were found")

    def changed(
        self, items: Mapping[str, Sequence[PassageText]]
    ) -> Iterator[tuple[str, int, PassageText]]:
        """Those passages, with their numbers, that are not yet held just so."""
        held: dict[str, str] = {}
        known = [i for m in items if m in self.counts for i in self._record_ids((m,))]
        for page in _pages(known, _PAGE):
            answer = self._collection.get(ids=page, include=["metadatas"])
            for record_id, metadata in zip(answer["ids"], answer["metadatas"], strict=True):
                held[record_id] = metadata["at"]
        for memory_id, passages in items.items():
            for number, passage in enumerate(passages):
                if held.get(f"{memory_id}:{number}") != _at(passage):
                    yield memory_id, number, passage

    def upsert(self, chunk: Sequence[tuple[str, int, PassageText]], vectors: Vector) -> None:
        """Write these passages; their count grows before they are there, never after."""
        if not chunk:
            return
        for memory_id, number, _ in chunk:
            self._set_count(memory_id, max(self.counts.get(memory_id, 0), number + 1))
        self._collection.upsert(
            ids=[f"{memory_id}:{number}" for memory_id, number, _ in chunk],
            embeddings=vectors,
            metadatas=[{"at": _at(passage)} for _, _, passage in chunk],
        )

    def surplus(self, lengths: Mapping[str, int]) -> Iterator[list[str]]:
        """Delete what lies beyond these numbers of passages, a page at a time."""
        numbered = [
            f"{memory_id}:{number}"
            for memory_id, length in lengths.items()
            for number in range(length, self.counts.get(memory_id, 0))
        ]
        for page in _pages(numbered, _PAGE):
            self._collection.delete(ids=page)
            yield page
        for memory_id, length in lengths.items():
            if memory_id in self.counts:
                self._set_count(memory_id, length)

    def search(self, vector: Vector, k: int, allow: Collection[str] | None) -> list[VectorMatch]:
        """The `k` nearest passages, best first; with `allow`, of these memories alone.

        A few allowed memories are named to Chroma passage by passage, which is exact; where most
        are allowed, more are fetched than wanted and the others left out.
        """
        if allow is None:
            return self._query(vector, k, None)
        wanted = [memory_id for memory_id in set(allow) if memory_id in self.counts]
        if not wanted:
            return []
        total = sum(self.counts[memory_id] for memory_id in wanted)
        if total > _MANY:
            kept = set(wanted)
            share = total / max(self.passages, 1)
            for reach in (1.5, 4):
                fetched = self._query(vector, int(k / share * reach) + 10, None)
                found = [match for match in fetched if match.id in kept][:k]
                if len(found) >= k:
                    return found
        matches: list[VectorMatch] = []
        for page in _pages(self._record_ids(wanted), 30_000):
            matches += self._query(vector, k, page)
        return sorted(matches, key=lambda match: -match.score)[:k]

    def best(self, vector: Vector, ids: Iterable[str]) -> dict[str, VectorMatch]:
        """The nearest passage of each of these memories that is held."""
        wanted = [memory_id for memory_id in set(ids) if memory_id in self.counts]
        scores: dict[str, float] = {}
        for page in _pages(self._record_ids(wanted), 4000):
            answer = self._collection.query(
                query_embeddings=[vector], n_results=len(page), ids=page, include=["distances"]
            )
            near = zip(answer["ids"][0], answer["distances"][0], strict=True)
            scores.update((i, 1 - float(distance)) for i, distance in near)
            # the graph does not reach quite all when all are asked for
            if missing := [record_id for record_id in page if record_id not in scores]:
                rest = self._collection.get(ids=missing, include=["embeddings"])
                if rest["ids"]:
                    similar = np.asarray(rest["embeddings"], np.float32) @ vector
                    scores.update(zip(rest["ids"], similar.tolist(), strict=True))
        top: dict[str, str] = {}
        for record_id, score in scores.items():
            memory_id = record_id.rpartition(":")[0]
            if memory_id not in top or score > scores[top[memory_id]]:
                top[memory_id] = record_id
        matches = {}
        for page in _pages(list(top.values()), _PAGE):
            answer = self._collection.get(ids=page, include=["metadatas"])
            for record_id, metadata in zip(answer["ids"], answer["metadatas"], strict=True):
                match = _match(record_id, metadata, scores[record_id])
                matches[match.id] = match
        return matches

    def _query(self, vector: Vector, k: int, ids: list[str] | None) -> list[VectorMatch]:
        k = min(k, self.passages if ids is None else len(ids))
        if k <= 0:
            return []
        answer = self._collection.query(
            query_embeddings=[vector],
            n_results=k,
            ids=ids,
            include=["distances", "metadatas"],
        )
        rows = zip(answer["ids"][0], answer["metadatas"][0], answer["distances"][0], strict=True)
        return [_match(i, metadata, 1 - float(distance)) for i, metadata, distance in rows]

    def _record_ids(self, memory_ids: Iterable[str]) -> list[str]:
        return [f"{m}:{number}" for m in memory_ids for number in range(self.counts.get(m, 0))]

    def _set_count(self, memory_id: str, count: int) -> None:
        self.passages += count - self.counts.get(memory_id, 0)
        if count:
            self.counts[memory_id] = count
        else:
            self.counts.pop(memory_id, None)


class PassageStore:
    """A Chroma store in a folder, or on a server where `url` is given.

    `prefix` sets a vault's collections apart from others on the same server.
    """

    def __init__(self, folder: Path, url: str, prefix: str = "") -> None:
        settings = Settings(anonymized_telemetry=False)
        self._prefix = f"{prefix}passages-"
        if url:
            parts = urlsplit(url)
            secure = parts.scheme == "https"
            self._client = chromadb.HttpClient(
                host=parts.hostname or "localhost",
                port=parts.port or (443 if secure else 8000),
                ssl=secure,
                settings=settings,
            )
        else:
            _keep_wal(folder)
            self._client = chromadb.PersistentClient(folder, settings=settings)

    def names(self) -> dict[str, tuple[str, int]]:
        """The embedder and vector size of each collection, by its name."""
        found = {}
        for collection in self._client.list_collections():
            metadata = collection.metadata or {}
            if collection.name.startswith(self._prefix) and "generation" in metadata:
                found[collection.name] = (str(metadata["embedder"]), int(metadata["dim"]))
        return found

    def open(self, embedder: str, dim: int) -> PassageCollection:
        """The collection of an embedder, made when there is none."""
        name = self._name(embedder, dim)
        if name in self.names():
            return PassageCollection(
                self._client.get_collection(name, embedding_function=None), created=False
            )
        collection = self._client.create_collection(
            name,
            embedding_function=None,
            configuration=cast(Any, {"hnsw": _HNSW}),
            metadata={"embedder": embedder, "dim": dim, "generation": secrets.token_hex(8)},
        )
        return PassageCollection(collection, created=True)

    def drop(self, name: str) -> None:
        """Delete a collection and all that it holds."""
        self._client.delete_collection(name)

    def _name(self, embedder: str, dim: int) -> str:
        # Chroma allows few characters in a name; the hash keeps two embedders apart
        safe = "".join(c if c.isascii() and c.isalnum() else "-" for c in embedder)[:60]
        digest = blake2b(embedder.encode(), digest_size=4).hexdigest()
        return f"{self._prefix}{safe}-{digest}-{dim}"


def _keep_wal(folder: Path) -> None:
    # SQLite's default journal costs 20 ms and more a write in fsyncs, its WAL 3, as safe; the
    # choice stays with the file. A damaged file is left for Chroma to complain about.
    with suppress(sqlite3.Error), closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        database.execute("pragma journal_mode = wal")


def is_damage(error: Exception, *, opening: bool = False) -> bool:
    """Whether an error says that the store itself is broken or gone, not merely out of reach.

    While a store in a folder is being opened, what Chroma trips over is in its files, whatever
    the error is called.
    """
    text = str(error).lower()
    if isinstance(error, OSError | MemoryError) or any(words in text for words in _NOT_DAMAGE):
        return False
    return opening or isinstance(error, StoreDamaged | InternalError | NotFoundError)


def _all_ids(collection: Any) -> Iterator[str]:
    total, page = collection.count(), 20_000
    for offset in range(0, total, page):
        yield from collection.get(include=[], limit=page, offset=offset)["ids"]


def _at(passage: PassageText) -> str:
    digest = blake2b(passage.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{passage.source} {passage.start} {passage.end} {digest}"


def _match(record_id: str, metadata: Mapping[str, Any], score: float) -> VectorMatch:
    source, start, end, _ = str(metadata["at"]).split(" ")
    memory_id = record_id.rpartition(":")[0]
    return VectorMatch(memory_id, int(start), int(end), cast(Source, source), score)


def _pages(items: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
