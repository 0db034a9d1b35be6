"""What the search asks of the rest of the house, as small protocols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from neurigraph.index.keyword import Marked, Matches, NearTerm, Part, Source
from neurigraph.index.keyword import Query as Terms
from neurigraph.index.passage import VectorMatch
from neurigraph.model import Temperature


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a memory without reading its files."""

    id: str
    title: str
    broad: str
    focused: str
    path: str
    created: datetime | None = None
    source_model: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """How a memory stands at this moment. `stale`: its file is newer than the indexes."""

    temperature: Temperature = Temperature.WARM
    stale: bool = False
    obsidian_url: str = ""


class Library(Protocol):
    """The memories of a vault. Texts are those that the indexes were given.

    `note` and `transcript` answer an empty text where there is none or it cannot be read.
    """

    def card(self, memory_id: str) -> Card | None:
        """One memory, or None when it is gone."""
        ...

    def cards(self) -> Iterable[Card]:
        """All memories."""
        ...

    def temperature(self, memory_id: str) -> Temperature:
        """How hot it is; cold when it is gone."""
        ...

    def state(self, memory_id: str) -> State:
        """How a memory that is shown stands."""
        ...

    def note(self, memory_id: str) -> str:
        """The body of its note."""
        ...

    def transcript(self, memory_id: str) -> str:
        """Its transcript, decoded."""
        ...


class Keywords(Protocol):
    """The keyword index."""

    def doc_count(self) -> int: ...
    def near_terms(self, token: str, limit: int = 10) -> list[NearTerm]: ...
    def splits(self, word: str, limit: int = 3) -> list[tuple[str, str]]: ...
    def search(
        self,
        query: Terms,
        limit: int,
        allow: Collection[str] | None = None,
        parts: Sequence[Part] = ...,
        *,
        masks: bool = ...,
    ) -> Matches: ...
    def with_all(self, groups: Sequence[Sequence[str]], fields: Sequence[str]) -> list[str]: ...
    def marks(
        self, ids: Iterable[str], terms: Sequence[str], source: Source = "transcript"
    ) -> dict[str, Marked]: ...


class Vectors(Protocol):
    """The vector index."""

    @property
    def ready(self) -> bool: ...
    def begin_search(
        self, text: str, k: int, allow: Collection[str] | None = None
    ) -> Callable[[], list[VectorMatch]]: ...
