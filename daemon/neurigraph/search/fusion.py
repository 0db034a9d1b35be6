"""One score from several: whole text, best window, best passage vector, and time.

Each measure is divided by the best that any candidate has, so 1 is the best of this search, and
the weighted shares add up. Dividing by the best (rather than stretching from the worst to the
best) keeps a score from depending on how many candidates were looked at. Reciprocal ranks were
measured to be worse than full text alone: they throw away by how much the first is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from neurigraph.settings import SearchSettings


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each candidate, by id; ids that a measure does not name have nothing of it.

    `keyword` is the BM25 score of the whole memory, `window` that of its best few sentences,
    `vector` the cosine of its best passage, `time` its closeness (0 to 1) to the times asked for.
    """

    keyword: Mapping[str, float]
    window: Mapping[str, float]
    vector: Mapping[str, float]
    time: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate and its score."""

    id: str
    score: float


def fuse(ids: Iterable[str], evidence: Evidence, settings: SearchSettings) -> list[Scored]:
    """The candidates, best first; equals stand in the order of their ids."""
    keyword = _of_best(evidence.keyword, settings.keyword_weight)
    window = _of_best(evidence.window, settings.window_weight)
    vector = _of_best(evidence.vector, settings.vector_weight)
    # a passage that was not among the nearest is no nearer than the last of them
    floor = min(vector.values(), default=0.0)
    found = [
        Scored(
            memory_id,
            keyword.get(memory_id, 0.0)
            + window.get(memory_id, 0.0)
            + vector.get(memory_id, floor)
            + settings.time_weight * evidence.time.get(memory_id, 0.0),
        )
        for memory_id in ids
    ]
    found.sort(key=lambda scored: (-scored.score, scored.id))
    return found


def _of_best(scores: Mapping[str, float], weight: float) -> dict[str, float]:
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return {}
    return {memory_id: weight * (max(score, 0.0) / best) for memory_id, score in scores.items()}
