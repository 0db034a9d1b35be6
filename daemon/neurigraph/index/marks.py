"""Where the terms of a query stand in the notes and transcripts that were found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.segment import SegmentData
from neurigraph.index.whoosh_query import ArraySearcher

Source = Literal["body", "transcript"]


@dataclass(frozen=True, slots=True)
class Marked:
    """Where the terms of a query stand in one text.

    Word number `positions[i]` of `length` words is term `terms[i]`. `starts` gives for every word
    the character at which it begins, `lines` the numbers of the words that begin a line.
    """

    positions: NDArray[np.int64]
    terms: NDArray[np.int64]
    length: int
    _data: SegmentData
    _doc: int
    _source: Source

    def starts(self) -> NDArray[np.int64]:
        """For each word of the text, the character at which it begins."""
        return self._data.starts(self._doc, self._source)

    def lines(self) -> NDArray[np.int64]:
        """The numbers of the words that are the first of their line, the first of all included."""
        return self._data.opens(self._doc, self._source).astype(np.int64)

    def openers(self) -> NDArray[np.int64]:
        """For each of these words a number; the same words have the same number within a text."""
        words: NDArray[np.int64] = self._data.words(self._doc, self._source)[self.lines()]
        return words.astype(np.int64)


def marks(
    searcher: ArraySearcher, ids: Iterable[str], terms: Sequence[str], source: Source
) -> dict[str, Marked]:
    """For each document that is held, where the terms stand in it."""
    found: dict[str, Marked] = {}
    for data, here in _held(searcher, ids):
        table = np.full(data.term_count, -1, np.int16)
        for number, rank in reversed(list(enumerate(_ranks(data, terms).tolist()))):
            if rank >= 0:
                table[rank] = number
        for name, doc in here:
            which = table[data.words(doc, source)]
            positions = np.flatnonzero(which >= 0)
            at = which[positions].astype(np.int64)
            found[name] = Marked(positions, at, len(which), data, doc, source)
    return found


def phrases(
    searcher: ArraySearcher, ids: Iterable[str], phrase: Sequence[str], source: Source
) -> dict[str, NDArray[np.int64]]:
    """For each document that has the words in a row, the numbers of the first of them."""
    found: dict[str, NDArray[np.int64]] = {}
    for data, here in _held(searcher, ids):
        ranks = _ranks(data, phrase).tolist()
        if not ranks or min(ranks) < 0:
            continue
        for name, doc in here:
            held = data.words(doc, source)
            places = np.flatnonzero(held[: max(len(held) - len(ranks) + 1, 0)] == ranks[0])
            for step, rank in enumerate(ranks[1:], 1):
                places = places[held[places + step] == rank]
            if len(places):
                found[name] = places
    return found


def _held(
    searcher: ArraySearcher, ids: Iterable[str]
) -> Iterator[tuple[SegmentData, list[tuple[str, int]]]]:
    wanted = list(ids)
    for leaf, alive in zip(searcher.leaves, searcher.alive, strict=True):
        numbers = leaf.data.by_id
        here = [(name, n) for name in wanted if (n := numbers.get(name)) is not None and alive[n]]
        if here:
            yield leaf.data, here


def _ranks(data: SegmentData, terms: Sequence[str]) -> NDArray[np.int64]:
    if not terms:
        return np.empty(0, np.int64)
    return data.ranks([term.encode("utf-8", "surrogatepass") for term in terms])
