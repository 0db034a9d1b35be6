"""Finds indexed terms that come close to one that is not there: misspelt, a part, a longer form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.segment import SegmentData

MOST_PARTS = 200
"""Terms of a segment that are looked at because they contain what is sought."""


Kind = Literal["misspelling", "prefix", "part"]


@dataclass(frozen=True, slots=True)
class NearTerm:
    """An indexed term. `distance` counts edits (a swap of neighbours is one) for a misspelling and
    characters more for a term that begins with, or contains, what was sought."""

    term: str
    kind: Kind
    distance: int
    frequency: int


class Spelling:
    """The terms of one segment, laid out for this search; made when it is first needed."""

    def __init__(self, data: SegmentData) -> None:
        self._data = data

    @cached_property
    def _frequencies(self) -> NDArray[np.int64]:
        return self._data.frequencies()

    @cached_property
    def _letters(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All characters of all terms, and where each term ends."""
        blob, ends = self._data.term_bytes()
        text = blob.decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass")
        inside = np.frombuffer(blob, np.uint8) & 0xC0 == 0x80  # bytes that begin no character
        before = np.concatenate(([0], np.cumsum(inside)))
        return np.frombuffer(text, "<u4"), ends - before[ends]

    @cached_property
    def _sets(self) -> NDArray[np.uint32]:
        """For each term which letters it has, a bit for each 32nd of the letters."""
        letters, ends = self._letters
        if not len(ends):
            return np.empty(0, np.uint32)
        return np.bitwise_or.reduceat(_bits(letters), np.concatenate(([0], ends[:-1])))

    @cached_property
    def _lines(self) -> bytes:
        """All terms, each in a line of its own, after an empty one."""
        blob, ends = self._data.term_bytes()
        lines = np.full(len(blob) + len(ends) + 1, ord("\n"), np.uint8)
        shift = np.repeat(np.arange(1, len(ends) + 1), np.diff(ends, prepend=0))
        lines[np.arange(len(blob)) + shift] = np.frombuffer(blob, np.uint8)
        return lines.tobytes()

    def near(self, token: str, most: int) -> Iterable[NearTerm]:
        """Terms at most `most` edits away, and terms that contain the token."""
        wanted = np.frombuffer(token.encode("utf-32-le", "surrogatepass"), "<u4")
        letters, ends = self._letters
        # an edit adds a letter, takes one away or both: most terms differ in more than that
        differ = self._sets ^ np.bitwise_or.reduce(_bits(wanted), initial=np.uint32(0))
        few = _ONES[differ & 0xFFFF] + _ONES[differ >> 16] <= 2 * most
        lengths = np.diff(ends, prepend=0)
        ranks = np.flatnonzero(few & (np.abs(lengths - len(token)) <= most))
        lengths = lengths[ranks]
        column = np.minimum(np.arange(len(token) + most), lengths[:, None] - 1)
        rows = letters[(ends[ranks] - lengths)[:, None] + column]
        distances = edit_distances(wanted, rows, lengths, most)
        for i in np.flatnonzero((distances <= most) & (distances > 0)).tolist():
            yield self._found(int(ranks[i]), "misspelling", int(distances[i]))
        yield from self._containing(token)

    def _found(self, rank: int, kind: Kind, distance: int) -> NearTerm:
        term = self._data.term(rank).decode("utf-8", "surrogatepass")
        return NearTerm(term, kind, distance, int(self._frequencies[rank]))

    def _containing(self, token: str) -> Iterable[NearTerm]:
        at, lines, wanted = 0, self._lines, token.encode("utf-8", "surrogatepass")
        for _ in range(MOST_PARTS):
            at = lines.find(wanted, at)
            if at < 0:
                return
            begin, end = lines.rfind(b"\n", 0, at) + 1, lines.find(b"\n", at)
            term = lines[begin:end]
            if term != wanted:
                more = len(term.decode("utf-8", "surrogatepass")) - len(token)
                yield self._found(self._data.rank(term), "prefix" if begin == at else "part", more)
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


def _bits(letters: NDArray[np.uint32]) -> NDArray[np.uint32]:
    bits: NDArray[np.uint32] = np.left_shift(np.uint32(1), letters & np.uint32(31))
    return bits


_ONES = np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


def edit_distances(
    wanted: NDArray[np.uint32],
    letters: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    most: int,
) -> NDArray[np.uint8]:
    """Edits (insert, delete, change, swap of neighbours) from one word to each of several.

    Row i of `letters` begins with the `lengths[i]` letters of word i. Exact up to `most`, larger
    beyond. The optimal string alignment distance, a diagonal band of the table for all at once.
    """
    rows, width = letters.shape
    far = np.full(rows, most + 1, np.uint8)
    before: list[NDArray[np.uint8]] = []
    last = [np.full(rows, j, np.uint8) if j <= most else far for j in range(width + 1)]
    for i in range(1, len(wanted) + 1):
        now = [far] * (width + 1)
        if i <= most:
            now[0] = np.full(rows, i, np.uint8)
        for j in range(max(1, i - most), min(width, i + most) + 1):
            other = letters[:, j - 1] != wanted[i - 1]
            cost = np.minimum(np.minimum(now[j - 1], last[j]) + np.uint8(1), last[j - 1] + other)
            if i > 1 and j > 1:
                swap = (letters[:, j - 1] == wanted[i - 2]) & (letters[:, j - 2] == wanted[i - 1])
                cost = np.where(swap, np.minimum(cost, before[j - 2] + np.uint8(1)), cost)
            now[j] = cost
        before, last = last, now
    found: NDArray[np.uint8] = np.stack(last, axis=1)[np.arange(rows), lengths]
    return found
