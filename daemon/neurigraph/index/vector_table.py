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
    """Unit vectors by record id. Safe for one thread that writes and one that asks."""

    def __init__(self, dim: int) -> None:
        self._lock = threading.Lock()
        self._matrix = np.zeros((_SPARE, dim), np.float32)
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
                    self._ids[row] = last
                    self._rows[last] = row

    def nearest(
        self, vector: NDArray[np.float32], k: int, among: Iterable[str] | None = None
    ) -> Scored:
        """The `k` nearest, or fewer; with `among`, of these ids alone. Ties go by id."""
        with self._lock:
            if among is None:
                ids, rows = self._ids, self._matrix[: len(self._ids)]
            else:
                ids = [record_id for record_id in among if record_id in self._rows]
                rows = self._matrix[[self._rows[record_id] for record_id in ids]]
            # rounded, because a sum depends in its last digits on where a row lies
            scores = np.round(rows @ vector, 6)
            if k < len(ids):
                # all that tie with the last one stay in, so that the ids decide
                worst = np.partition(scores, len(ids) - k)[len(ids) - k]
                chosen = np.flatnonzero(scores >= worst)
            else:
                chosen = np.arange(len(ids))
            found = [(ids[row], float(scores[row])) for row in chosen]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def _make_room(self, size: int) -> None:
        if size > len(self._matrix):
            grown = np.zeros((size + size // 4 + _SPARE, self._matrix.shape[1]), np.float32)
            grown[: len(self._ids)] = self._matrix[: len(self._ids)]
            self._matrix = grown
