"""The order of an answer, and what it takes to show why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from neurigraph.index.passage import VectorMatch
from neurigraph.search.query import Query
from neurigraph.search.reading import Reading
from neurigraph.search.words import Wanted

Stage = Literal["exact", "text", "meaning"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory in the order of the answer, and the stage that found it."""

    id: str
    score: float
    stage: Stage


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, best first. `total` counts all that match, ranked or not.

    `reading` has the windows of candidates, `passages` the near passages of each memory, best
    first.
    """

    query: Query
    wanted: Wanted = field(default_factory=Wanted)
    hits: tuple[Ranked, ...] = ()
    total: int = 0
    stages: tuple[Stage, ...] = ()
    reading: Reading = field(default_factory=Reading.empty)
    passages: Mapping[str, tuple[VectorMatch, ...]] = field(default_factory=dict)
