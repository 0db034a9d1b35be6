"""The usual figures of a ranking: recall, hit rate, reciprocal rank, NDCG."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass
from math import log2


@dataclass(frozen=True)
class Score:
    """One question's figures, or their means. All 0 to 1; relevance is yes or no."""

    r1: float
    r5: float
    r10: float
    hit5: float
    mrr: float
    ndcg10: float


def score(order: Sequence[str], relevant: Collection[str]) -> Score:
    """The figures of one order; `relevant` must not be empty.

    NDCG@10 with gain 1 and discount log2(rank + 1), against the best order there is (Järvelin and
    Kekäläinen, 2002).
    """
    ranks = [rank for rank, name in enumerate(order, 1) if name in relevant]

    def recall(depth: int) -> float:
        return sum(rank <= depth for rank in ranks) / len(relevant)

    gained = sum(1 / log2(rank + 1) for rank in ranks if rank <= 10)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(10, len(relevant)) + 1))
    return Score(
        recall(1),
        recall(5),
        recall(10),
        float(any(rank <= 5 for rank in ranks)),
        1 / ranks[0] if ranks else 0.0,
        gained / best,
    )


def mean(scores: Sequence[Score]) -> Score:
    """The plain mean; zeros for none."""
    rows = [astuple(s) for s in scores] or [(0.0,) * 6]
    return Score(*(sum(column) / len(rows) for column in zip(*rows, strict=True)))
