"""The vectors of a collection in memory, for answers that are exact and always the same.

Chroma's graph is approximate: it misses some of the nearest, depends on the order of writing, and
can cut off whole regions where hundreds of passages are alike. Up to the size of a personal vault
one product with a matrix is as quick as the graph (20,000 vectors of 256 numbers: 2 ms, 20 MB).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_SPARE = 1024

Scored = list[tuple[str, float]]
"""Record ids with their cosine similarity, best first."""


class VectorTable:
    """Unit vectors by record id, `<memory id>:<number>`.

    Safe for one thread that writes and one that asks.
    """

    def __init__(self, dim: int) -> None:
        self._lock = threading.Lock()
        self._matrix = np.zeros((_SPARE, dim), np.float32)
        self._owner = np.zeros(_SPARE, np.int64)
        self._owners: dict[str, int] = {}
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def put(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add these vectors, or replace those with the same ids."""
        with self._lock:
            self._make_room(len(self._ids) + len(ids))
            for record_id, vector in zip(ids, vectors, strict=True):
                row = self._rows.get(record_id)
                if row is None:
                    row = self._rows[record_id] = len(self._ids)
                    self._ids.append(record_id)
                    memory_id = record_id.rpartition(":")[0]
                    self._owner[row] = self._owners.setdefault(memory_id, len(self._owners))
                self._matrix[row] = vector

    def remove(self, ids: Iterable[str]) -> None:
        """Forget these; ids that are not there do not matter."""
        with self._lock:
            for record_id in ids:
                row = self._rows.pop(record_id, None)
                if row is None:
                    continue
                # the last row takes the free place, so that the matrix has no holes
                last = self._ids.pop()
                if last != record_id:
                    self._matrix[row] = self._matrix[len(self._ids)]
                    self._owner[row] = self._owner[len(self._ids)]
                    self._ids[row] = last
                    self._rows[last] = row

    def nearest(
        self, vector: NDArray[np.float32], k: int, among: Iterable[str] | None = None
    ) -> Scored:
        """The `k` nearest, or fewer; with `among`, of these memories alone. Ties go by id."""
        with self._lock:
            size = len(self._ids)
            if among is None:
                rows = np.arange(size)
                scores = self._matrix[:size] @ vector
            else:
                rows = self._rows_of(among)
                few = len(rows) < size // 8
                # copying rows costs more than multiplying with all of them
                scores = (
                    self._matrix[rows] @ vector if few else (self._matrix[:size] @ vector)[rows]
                )
            # rounded, because a sum depends in its last digits on where a row lies
            scores = np.round(scores, 6)
            if k < len(rows):
                # all that tie with the last one stay in, so that the ids decide
                chosen = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
                rows, scores = rows[chosen], scores[chosen]
            found = [(self._ids[r], s) for r, s in zip(rows, scores.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def _rows_of(self, memory_ids: Iterable[str]) -> NDArray[np.int64]:
        allowed = np.zeros(len(self._owners) + 1, bool)
        allowed[[self._owners.get(memory_id, -1) for memory_id in set(memory_ids)]] = True
        allowed[-1] = False
        return np.flatnonzero(allowed[self._owner[: len(self._ids)]])

    def _make_room(self, size: int) -> None:
        if size > len(self._matrix):
            grown = size + size // 4 + _SPARE
            matrix = np.zeros((grown, self._matrix.shape[1]), np.float32)
            owner = np.zeros(grown, np.int64)
            matrix[: len(self._ids)] = self._matrix[: len(self._ids)]
            owner[: len(self._ids)] = self._owner[: len(self._ids)]
            self._matrix, self._owner = matrix, owner
