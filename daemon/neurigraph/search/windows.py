"""Finds the few sentences of a memory where the words of a query come together.

A text is cut into bins of words; a bin counts together with its neighbours, which weigh less the
further they are. So a window fades out instead of ending at a border, needs no turns, and costs
the same in a note, a conversation or a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BIN = 24
"""Words of a bin: about a turn of a chat."""

NEIGHBOURS = tuple(0.7 ** abs(away) for away in range(-4, 5))
"""What a word counts for in the bins around its own, the same on both sides."""

SATURATION = 0.9
"""BM25's k1: how soon a repeated word stops adding. Windows are of one length: there is no b."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where words of a query stand in one text: word number `positions[i]` is term `terms[i]` and
    counts `shares[i]`, which is 1 where that is None."""

    positions: Ints
    terms: Ints
    shares: NDArray[np.float64] | None = None

    def counted(self) -> NDArray[np.float64]:
        """What each occurrence counts."""
        return np.ones(len(self.positions)) if self.shares is None else self.shares


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of some texts that hold any word of the query.

    Window i is around bin `bins[i]` of text `texts[i]` and has `scores[i]`; windows of one text
    stand together, in running order.
    """

    texts: Ints
    bins: Ints
    scores: Floats

    def best_of_each(self, count: int) -> Floats:
        """The best score of each of `count` texts; 0 where a text has no window."""
        best = np.zeros(count)
        np.maximum.at(best, self.texts, self.scores)
        return best

    def of_text(self, text: int, most: int) -> list[tuple[int, float]]:
        """Bin and score of the best windows of one text, best first."""
        first, last = np.searchsorted(self.texts, [text, text + 1])
        order = np.argsort(-self.scores[first:last], kind="stable")[:most] + first
        return list(zip(self.bins[order].tolist(), self.scores[order].tolist(), strict=True))


def find_windows(texts: Sequence[Occurrences], weights: Floats) -> Windows:
    """Score the windows of texts; `weights` has one value a term: its IDF times what it matters.

    (That a window also has the words of its memory's title was tried, and made things worse.)
    """
    sizes = [len(text.positions) for text in texts]
    owner = np.repeat(np.arange(len(texts)), sizes)
    if not len(owner):
        return Windows(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    positions = np.concatenate([text.positions for text in texts])
    terms = np.concatenate([text.terms for text in texts])
    count = len(weights)
    reach = len(NEIGHBOURS) // 2
    stride = int(positions.max()) // BIN + 2 * reach + 2  # keeps windows within their text
    keys, inverse = _distinct(owner * stride + positions // BIN)
    shares = np.concatenate([text.counted() for text in texts])
    held = np.bincount(inverse * count + terms, shares, len(keys) * count)
    held = held.reshape(len(keys), count).astype(np.float32)
    by_distance = np.array(NEIGHBOURS[reach:], np.float32)
    counts: NDArray[np.float32] = held * by_distance[0]
    # keys ascend, so whatever is within reach of a bin is among the next ones
    for step in range(1, reach + 1):
        away = keys[step:] - keys[:-step]
        near = np.flatnonzero(away <= reach)
        weight = by_distance[away[near], None]
        counts[near] += held[near + step] * weight
        counts[near + step] += held[near] * weight
    where, bins = np.divmod(keys, stride)
    scores = (counts * (SATURATION + 1) / (counts + SATURATION)) @ weights
    return Windows(where, bins, scores)


def _distinct(keys: Ints) -> tuple[Ints, Ints]:
    """The different keys, ascending, and for each key the number of its own."""
    new = np.diff(keys, prepend=-1)
    if (new < 0).any():  # phrases stand after the words
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse
    first = new > 0
    return keys[first], np.cumsum(first) - 1
