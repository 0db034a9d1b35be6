"""A small vault for search: real indexes of words, vectors that count words, texts in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from neurigraph.embed.embedder import Vectors
from neurigraph.embed.hash_embedder import HashEmbedder
from neurigraph.errors import NotReady
from neurigraph.index.keyword import Document, KeywordIndex
from neurigraph.index.passage import VectorMatch
from neurigraph.model import Hit, Temperature
from neurigraph.search.cascade import Search
from neurigraph.search.library import Card, State
from neurigraph.settings import SearchSettings
from neurigraph.vault.turns import passages

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


class CountingVectors:
    """Passage vectors in memory, by an embedder that hashes words."""

    def __init__(self) -> None:
        self._embedder = HashEmbedder()
        self._held: list[tuple[str, int, int]] = []
        self._vectors: list[Vectors] = []
        self.ready = True
        self.fails = False
        self.asked = self.waited = 0

    def put(self, memory_id: str, text: str) -> None:
        spans = passages(text)
        self._held += [(memory_id, p.start, p.end) for p in spans]
        self._vectors += list(self._embedder.embed([text[p.start : p.end] for p in spans]))

    def begin_search(
        self, text: str, k: int, allow: Collection[str] | None = None
    ) -> Callable[[], list[VectorMatch]]:
        self.asked += 1
        if self.fails:
            raise NotReady("the vector index")
        return lambda: self._nearest(text, k, allow)

    def _nearest(self, text: str, k: int, allow: Collection[str] | None) -> list[VectorMatch]:
        self.waited += 1
        if not self._held:
            return []
        scores = np.array(self._vectors) @ self._embedder.embed([text])[0]
        found = [
            VectorMatch(memory_id, start, end, "transcript", float(score))
            for (memory_id, start, end), score in zip(self._held, scores, strict=True)
            if allow is None or memory_id in allow
        ]
        return sorted(found, key=lambda match: -match.score)[:k]


@dataclass
class Shelf:
    """Memories by id, with everything that a search asks for."""

    keywords: KeywordIndex
    vectors: CountingVectors
    cards_by_id: dict[str, Card] = field(default_factory=dict)
    temperatures: dict[str, Temperature] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    transcripts: dict[str, str] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)

    def card(self, memory_id: str) -> Card | None:
        return self.cards_by_id.get(memory_id)

    def cards(self) -> Iterable[Card]:
        return list(self.cards_by_id.values())

    def temperature(self, memory_id: str) -> Temperature:
        return self.temperatures[memory_id]

    def state(self, memory_id: str) -> State:
        return State(self.temperatures[memory_id])

    def note(self, memory_id: str) -> str:
        self.reads.append(memory_id)
        return self.notes.get(memory_id, "")

    def transcript(self, memory_id: str) -> str:
        self.reads.append(memory_id)
        return self.transcripts.get(memory_id, "")

    def add(
        self,
        memory_id: str,
        transcript: str = "",
        *,
        title: str = "Untitled",
        note: str = "",
        topic: str = "Life/Days",
        keywords: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        created: datetime | None = NOW,
        model: str = "claude",
        temperature: Temperature = Temperature.WARM,
    ) -> None:
        broad, _, focused = topic.partition("/")
        self.cards_by_id[memory_id] = Card(
            memory_id,
            title,
            broad,
            focused,
            f"{topic}/{title}.md",
            created,
            model,
            keywords,
            tags,
        )
        self.temperatures[memory_id] = temperature
        self.notes[memory_id], self.transcripts[memory_id] = note, transcript
        self.keywords.apply(
            [
                Document(
                    memory_id,
                    "1",
                    title=title,
                    keywords="\n".join((*keywords, *tags)),
                    topic=topic,
                    body=note,
                    transcript=transcript,
                    created=created.date().isoformat() if created else "",
                )
            ],
            [],
        )
        self.vectors.put(memory_id, transcript or note)

    def search(self, settings: SearchSettings | None = None) -> Search:
        return Search(self.keywords, self.vectors, self, settings or SearchSettings(), lambda: NOW)

    def ids(self, text: str, **options: object) -> list[str]:
        return [hit.id for hit in self.hits(text, **options)]

    def hits(self, text: str, **options: object) -> tuple[Hit, ...]:
        return self.search().search(text, **options).hits  # type: ignore[arg-type]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    keywords = KeywordIndex(tmp_path / "keyword")
    yield Shelf(keywords, CountingVectors())
    keywords.close()
