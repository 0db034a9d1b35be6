"""Finds indexed terms that come close to one that is not there: misspelt, a part, a longer form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.segment import SegmentData

MOST_PARTS = 200
"""Terms of a segment that are looked at because they contain what is sought."""


@dataclass(frozen=True, slots=True)
class NearTerm:
    """An indexed term. `distance` counts edits (a swap of neighbours is one) for a misspelling and
    characters more for a term that begins with, or contains, what was sought."""

    term: str
    kind: Literal["misspelling", "prefix", "part"]
    distance: int
    frequency: int


class Spelling:
    """The terms of one segment, laid out for this search; made when it is first needed."""

    def __init__(self, data: SegmentData) -> None:
        self._data = data

    @cached_property
    def _terms(self) -> list[str]:
        return [t.decode("utf-8", "surrogatepass") for t in self._data.terms()]

    @cached_property
    def _frequencies(self) -> list[int]:
        return [int(n) for n in self._data.frequencies().tolist()]

    @cached_property
    def _lines(self) -> str:
        return "\n".join(("", *self._terms, ""))

    @cached_property
    def _by_length(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.uint32]]]:
        lengths = np.fromiter(map(len, self._terms), np.int64, len(self._terms))
        found: dict[int, tuple[NDArray[np.int64], NDArray[np.uint32]]] = {}
        for length in np.unique(lengths).tolist():
            ranks = np.flatnonzero(lengths == length)
            letters = np.array([self._terms[i] for i in ranks.tolist()], f"U{length}")
            found[length] = (ranks, letters.view(np.uint32).reshape(len(ranks), length))
        return found

    def near(self, token: str, most: int) -> Iterable[NearTerm]:
        """Terms at most `most` edits away, and terms that contain the token."""
        wanted = np.array([token], f"U{len(token)}").view(np.uint32)
        for length in range(max(1, len(token) - most), len(token) + most + 1):
            ranks, letters = self._by_length.get(length, (None, None))
            if ranks is None or letters is None:
                continue
            distances = edit_distances(wanted, letters, most)
            for i in np.flatnonzero((distances <= most) & (distances > 0)).tolist():
                rank = int(ranks[i])
                yield NearTerm(
                    self._terms[rank], "misspelling", int(distances[i]), self._frequencies[rank]
                )
        yield from self._containing(token)

    def _containing(self, token: str) -> Iterable[NearTerm]:
        at, lines = 0, self._lines
        for _ in range(MOST_PARTS):
            at = lines.find(token, at)
            if at < 0:
                return
            begin, end = lines.rfind("\n", 0, at) + 1, lines.find("\n", at)
            term = lines[begin:end]
            if term != token:
                rank = self._data.rank(term.encode("utf-8", "surrogatepass"))
                kind: Literal["prefix", "part"] = "prefix" if begin == at else "part"
                yield NearTerm(term, kind, len(term) - len(token), self._frequencies[rank])
            at = end


def nearest(
    spellings: Iterable[Spelling], token: str, most: int, contained: bool
) -> list[NearTerm]:
    """Of all segments, likeliest first; with terms that contain the token if `contained`."""
    best: dict[str, NearTerm] = {}
    for spelling in spellings:
        for near in spelling.near(token, most):
            if near.kind == "misspelling" or contained:
                known = best.get(near.term)
                count = near.frequency + (known.frequency if known else 0)
                best[near.term] = replace(known or near, frequency=count)
    order = {"misspelling": 0, "prefix": 1, "part": 2}
    return sorted(
        best.values(),
        key=lambda n: (n.distance + order[n.kind], order[n.kind], -n.frequency, n.term),
    )


def edit_distances(
    wanted: NDArray[np.uint32], letters: NDArray[np.uint32], most: int
) -> NDArray[np.uint8]:
    """Edits (insert, delete, change, swap of neighbours) from one word to each row of letters.

    Exact up to `most`, larger beyond. The optimal string alignment distance, a diagonal band of
    the table for all rows at once.
    """
    size, rows = len(wanted), len(letters)
    length = letters.shape[1]
    far = np.full(rows, most + 1, np.uint8)
    before: list[Any] = []
    last: list[Any] = [np.full(rows, j, np.uint8) if j <= most else far for j in range(length + 1)]
    for i in range(1, size + 1):
        now: list[Any] = [far] * (length + 1)
        if i <= most:
            now[0] = np.full(rows, i, np.uint8)
        for j in range(max(1, i - most), min(length, i + most) + 1):
            same = letters[:, j - 1] == wanted[i - 1]
            cost = np.minimum(np.minimum(now[j - 1], last[j]) + 1, last[j - 1] + ~same)
            if i > 1 and j > 1:
                swap = (letters[:, j - 1] == wanted[i - 2]) & (letters[:, j - 2] == wanted[i - 1])
                cost = np.where(swap, np.minimum(cost, before[j - 2] + 1), cost)
            now[j] = cost.astype(np.uint8)
        before, last = last, now
    result: NDArray[np.uint8] = last[length]
    return result
