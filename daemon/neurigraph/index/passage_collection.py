"""One Chroma collection of passages: what is held, what changed, what is nearest.

A passage is one record: its id `<memory id>:<number>`, its vector, and one piece of metadata,
`at`: source, start, end and a hash of its text, separated by spaces (one string costs a tenth less
to write than four values). Which memories are held, with how many passages and where these stand,
is read when a collection is opened.

Up to `EXACT` passages the vectors are in memory too and answers are exact; above, and on a server,
Chroma's graph answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.passage import PassageText, Source, VectorMatch
from neurigraph.index.passage_places import PassagePlaces
from neurigraph.index.vector_table import Scored, VectorTable

Vector = NDArray[np.float32]

EXACT = 50_000
"""Passages that are compared one by one: 51 MB and 5 ms at 256 numbers."""

_PAGE = 500
"""Records that are read or deleted in one call."""

_LOAD_PAGE = 5000
_SAMPLE = 200

_MANY = 8000
"""Above this many allowed passages, naming each of them costs more than looking further."""


class StoreDamaged(Exception):
    """A store that opens and yet does not hold what it says."""


class PassageCollection:
    """The passages of all memories, as one embedder sees them.

    `collection` is Chroma's own object. One thread may write while another asks.
    """

    def __init__(self, collection: Any, *, created: bool, exact: int = EXACT) -> None:
        metadata = collection.metadata
        self.name: str = collection.name
        self.embedder: str = metadata["embedder"]
        self.dim = int(metadata["dim"])
        self.generation: str = metadata["generation"]
        self._collection = collection
        self._exact = exact
        self._table: VectorTable | None = VectorTable(self.dim)
        self.counts: dict[str, int] = {}
        self._places = PassagePlaces()
        for record_id, at in () if created else self._all_records():
            memory_id, number = _parts(record_id)
            self.counts[memory_id] = max(self.counts.get(memory_id, 0), number + 1)
            source, start, end, _ = at.split(" ")
            self._places.put(memory_id, number, cast(Source, source), int(start), int(end))
        self.passages = sum(self.counts.values())

    def load(self) -> None:
        """Bring graph and vectors into memory.

        Raises `StoreDamaged` when they are not what the ids promise.
        """
        ids = self._record_ids(self.counts)
        some = ids[:: max(len(ids) // _SAMPLE, 1)]
        found = self._ask_graph(np.ones(self.dim, np.float32), len(some), some)
        # a sound graph reaches nearly all; one whose file was lost begins anew without a word
        if len(found) < len(some) * 0.8:
            raise StoreDamaged(f"{len(found)} of {len(some)} passages were found")
        if self.passages > self._exact:
            self._table = None
            return
        table = VectorTable(self.dim)
        for page in _pages(ids, _LOAD_PAGE):
            answer = self._collection.get(ids=page, include=["embeddings"])
            vectors = np.asarray(answer["embeddings"], np.float32).reshape(-1, self.dim)
            lengths = np.linalg.norm(vectors, axis=1)
            if not np.all((np.abs(lengths - 1) < 0.01) | (lengths == 0)):
                raise StoreDamaged("vectors are not of length 1")
            table.put(answer["ids"], vectors)
        self._table = table

    def changed(
        self, items: Mapping[str, Sequence[PassageText]]
    ) -> Iterator[tuple[str, int, PassageText]]:
        """Those passages, with their numbers, that are not yet held just so."""
        held: dict[str, str] = {}
        known = self._record_ids(memory_id for memory_id in items if memory_id in self.counts)
        for page in _pages(known, _PAGE):
            held.update(self._read_places(page))
        for memory_id, passages in items.items():
            for number, passage in enumerate(passages):
                if held.get(f"{memory_id}:{number}") != _at(passage):
                    yield memory_id, number, passage

    def write(self, chunk: Sequence[tuple[str, int, PassageText]], vectors: Vector) -> None:
        """Write these passages, with a row of `vectors` each.

        A record that exists is deleted first: written over in place, it can cut others off from
        the graph (measured: 48 of 98 were left after one change where many were alike).
        """
        ids = [f"{memory_id}:{number}" for memory_id, number, _ in chunk]
        there = [
            record_id
            for record_id, (memory_id, number, _) in zip(ids, chunk, strict=True)
            if number < self.counts.get(memory_id, 0)
        ]
        if there:
            self._collection.delete(ids=there)
        # the count grows before they are there and never after, so that none is forgotten
        for memory_id, number, passage in chunk:
            self._set_count(memory_id, max(self.counts.get(memory_id, 0), number + 1))
            self._places.put(memory_id, number, passage.source, passage.start, passage.end)
        self._collection.upsert(
            ids=ids,
            embeddings=vectors,
            metadatas=[{"at": _at(passage)} for _, _, passage in chunk],
        )
        if self.passages > self._exact:
            self._table = None
        elif self._table is not None:
            self._table.put(ids, vectors)

    def shorten(self, lengths: Mapping[str, int]) -> Iterator[list[str]]:
        """Delete what lies beyond these numbers of passages, and yield after each page of it."""
        beyond = [
            f"{memory_id}:{number}"
            for memory_id, length in lengths.items()
            for number in range(length, self.counts.get(memory_id, 0))
        ]
        for page in _pages(beyond, _PAGE):
            self._collection.delete(ids=page)
            if self._table is not None:
                self._table.remove(page)
            yield page
        for memory_id, length in lengths.items():
            if memory_id in self.counts:
                self._set_count(memory_id, length)

    def search(self, vector: Vector, k: int, allow: Collection[str] | None) -> list[VectorMatch]:
        """The `k` nearest passages, best first; with `allow`, of these memories alone.

        In the graph, a few allowed memories are named to Chroma passage by passage; where most
        are allowed, more are fetched than wanted and the others left out.
        """
        table = self._table
        if table is not None:
            return self._matches(table.nearest(vector, k, allow))
        return self._matches(self._search_graph(vector, k, allow))

    def best(self, vector: Vector, ids: Iterable[str]) -> dict[str, VectorMatch]:
        """The nearest passage of each of these memories that is held."""
        table = self._table
        if table is not None:
            scored = table.nearest(vector, len(table), ids)
        else:
            scored = self._score_all(vector, self._record_ids(set(ids)))
        first: dict[str, tuple[str, float]] = {}
        for record_id, score in scored:
            first.setdefault(record_id.rpartition(":")[0], (record_id, score))
        return {match.id: match for match in self._matches(list(first.values()))}

    # --- the graph --------------------------------------------------------------------------

    def _search_graph(self, vector: Vector, k: int, allow: Collection[str] | None) -> Scored:
        if allow is None:
            return self._ask_graph(vector, k, None)
        kept = set(allow)
        total = sum(self.counts.get(memory_id, 0) for memory_id in kept)
        if total > _MANY:
            for reach in (1.5, 4):
                fetched = self._ask_graph(vector, int(k * self.passages / total * reach) + 10, None)
                found = [pair for pair in fetched if pair[0].rpartition(":")[0] in kept][:k]
                if len(found) >= k:
                    return found
        scored: Scored = []
        # SQLite takes at most 32,766 names in one question
        for page in _pages(self._record_ids(kept), 30_000):
            scored += self._ask_graph(vector, k, page)
        return sorted(scored, key=lambda pair: -pair[1])[:k]

    def _score_all(self, vector: Vector, records: list[str]) -> Scored:
        scores: dict[str, float] = {}
        for page in _pages(records, 4000):
            scores.update(self._ask_graph(vector, len(page), page))
            # the graph does not reach quite all when all are asked for
            if missing := [record_id for record_id in page if record_id not in scores]:
                rest = self._collection.get(ids=missing, include=["embeddings"])
                vectors = np.asarray(rest["embeddings"], np.float32).reshape(-1, self.dim)
                scores.update(zip(rest["ids"], (vectors @ vector).tolist(), strict=True))
        return sorted(scores.items(), key=lambda pair: -pair[1])

    def _ask_graph(self, vector: Vector, k: int, ids: list[str] | None) -> Scored:
        k = min(k, self.passages if ids is None else len(ids))
        if k <= 0:
            return []
        answer = self._collection.query(
            query_embeddings=[vector], n_results=k, ids=ids, include=["distances"]
        )
        near = zip(answer["ids"][0], answer["distances"][0], strict=True)
        return [(record_id, 1 - float(distance)) for record_id, distance in near]

    # --- records ----------------------------------------------------------------------------

    def _matches(self, scored: Scored) -> list[VectorMatch]:
        found = []
        for record_id, score in scored:
            memory_id, number = _parts(record_id)
            # one that was deleted since has no place any more
            if place := self._places.find(memory_id, number):
                source, start, end = place
                found.append(VectorMatch(memory_id, start, end, source, score))
        return found

    def _read_places(self, ids: list[str]) -> Iterator[tuple[str, str]]:
        answer = self._collection.get(ids=ids, include=["metadatas"])
        return _with_places(answer)

    def _all_records(self) -> Iterator[tuple[str, str]]:
        total, page = self._collection.count(), 20_000
        for offset in range(0, total, page):
            yield from _with_places(
                self._collection.get(include=["metadatas"], limit=page, offset=offset)
            )

    def _record_ids(self, memory_ids: Iterable[str]) -> list[str]:
        return [f"{m}:{number}" for m in memory_ids for number in range(self.counts.get(m, 0))]

    def _set_count(self, memory_id: str, count: int) -> None:
        self.passages += count - self.counts.get(memory_id, 0)
        if count:
            self.counts[memory_id] = count
        else:
            self.counts.pop(memory_id, None)
        self._places.shorten(memory_id, count)


def _at(passage: PassageText) -> str:
    digest = blake2b(passage.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{passage.source} {passage.start} {passage.end} {digest}"


def _parts(record_id: str) -> tuple[str, int]:
    memory_id, _, number = record_id.rpartition(":")
    return memory_id, int(number)


def _with_places(answer: Any) -> Iterator[tuple[str, str]]:
    for record_id, metadata in zip(answer["ids"], answer["metadatas"], strict=True):
        yield record_id, str(metadata["at"])


def _pages(items: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
