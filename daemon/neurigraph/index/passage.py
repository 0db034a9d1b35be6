"""The nouns of the vector index: a passage on its way in, and one that was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["note", "transcript"]


@dataclass(frozen=True, slots=True)
class PassageText:
    """A piece of a memory to be made a vector. `start` and `end` count characters of its source."""

    start: int
    end: int
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """A passage near a query. `score` is the cosine similarity, -1 to 1."""

    id: str
    start: int
    end: int
    source: Source
    score: float
