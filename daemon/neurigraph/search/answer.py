"""From a memory in the order of the answer to the hit that is shown: snippet and best passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from neurigraph.index.keyword import Source
from neurigraph.index.passage import VectorMatch
from neurigraph.model import Hit, Passage
from neurigraph.search.library import Card, Library
from neurigraph.search.ranking import Ranked, Ranking
from neurigraph.search.reading import Phrase, Reading
from neurigraph.search.snippets import (
    Cut,
    Found,
    find,
    first_word,
    mark,
    passage_around,
    snippet,
    whole_words,
)
from neurigraph.search.windows import BIN
from neurigraph.search.words import phrase_terms
from neurigraph.settings import SearchSettings

MOST_PASSAGES = 3

APART = 4
"""Bins between two passages of one text, so that they show different things."""

LONGEST_WORD = 70
"""Characters that are looked at to see where a word ends."""

PassageSource = Literal["transcript", "note"]

_INDEXED: dict[PassageSource, Source] = {"transcript": "transcript", "note": "body"}


@dataclass(frozen=True, slots=True)
class _Spot:
    """Characters of a text that answer the query, more or less."""

    source: PassageSource
    start: int
    end: int
    score: float


class Answerer:
    """Makes hits. Reads the texts of the memories that are shown, and of no others."""

    def __init__(self, library: Library, settings: SearchSettings) -> None:
        self._library, self._settings = library, settings

    def answer(self, ranking: Ranking, shown: Sequence[Ranked]) -> list[Hit]:
        """Hits for these memories; those that are gone meanwhile are left out."""
        marker = _Marker.of(ranking)
        cards = ((ranked, self._library.card(ranked.id)) for ranked in shown)
        return [self._hit(ranking, ranked, card, marker) for ranked, card in cards if card]

    def passages(
        self, ranking: Ranking, memory_id: str, most: int = MOST_PASSAGES
    ) -> list[Passage]:
        """The best passages of a memory as they stand, without marks."""
        texts = _Texts(self._library, memory_id)
        return [
            Passage(texts.of(spot.source)[cut.start : cut.end], *cut, spot.source, spot.score)
            for spot, _, cut in self._cuts(ranking, memory_id, texts, most)
        ]

    def _hit(self, ranking: Ranking, ranked: Ranked, card: Card, marker: _Marker) -> Hit:
        texts, state = _Texts(self._library, card.id), self._library.state(card.id)
        passages: list[Passage] = []
        first = ""
        for spot, exact, cut in self._cuts(ranking, card.id, texts, MOST_PASSAGES):
            text = texts.of(spot.source)
            found = marker.find(card.id, spot.source, text, cut)
            if not passages:
                inner = exact if any(exact.start <= f.start < exact.end for f in found) else cut
                first = snippet(text, inner, found, marker.weights)
            piece = mark(text, cut, found)
            passages.append(Passage(piece, *cut, spot.source, round(spot.score, 4)))
        return Hit(
            id=card.id,
            title=card.title,
            broad=card.broad,
            focused=card.focused,
            path=card.path,
            created=card.created,
            score=round(ranked.score, 4),
            stage=ranked.stage,
            snippet=first or _beginning(card.id, texts, marker),
            passages=tuple(passages),
            temperature=state.temperature,
            stale=state.stale,
            obsidian_url=state.obsidian_url,
        )

    def _cuts(
        self, ranking: Ranking, memory_id: str, texts: _Texts, most: int
    ) -> list[tuple[_Spot, Cut, Cut]]:
        """The best spots that do not overlap, each exact and widened to a passage."""
        spots = _near(ranking.passages.get(memory_id, ()), self._settings.vector_weight)
        spots += _windows(ranking.reading, memory_id, self._settings.window_weight)
        chosen: list[tuple[_Spot, Cut, Cut]] = []
        for spot in sorted(spots, key=lambda spot: -spot.score):
            text = texts.of(spot.source)
            exact = whole_words(text, spot.start, spot.end)
            if exact.start < exact.end and not any(
                other.source == spot.source and exact.start < cut.end and cut.start < exact.end
                for other, _, cut in chosen
            ):
                chosen.append((spot, exact, passage_around(text, *exact)))
            if len(chosen) == most:
                break
        return chosen


class _Texts:
    """The texts of one memory, read when they are needed."""

    def __init__(self, library: Library, memory_id: str) -> None:
        self._library, self._id = library, memory_id
        self._read: dict[PassageSource, str] = {}

    def of(self, source: PassageSource) -> str:
        if source not in self._read:
            read = self._library.note if source == "note" else self._library.transcript
            self._read[source] = read(self._id)
        return self._read[source]


@dataclass(frozen=True, slots=True)
class _Marker:
    """Knows what to mark: words by the index, which knows their places, else by reading."""

    reading: Reading
    terms: frozenset[str]
    phrases: tuple[Phrase, ...]
    weights: Mapping[str, float]

    @classmethod
    def of(cls, ranking: Ranking) -> _Marker:
        content = ranking.wanted.content
        phrases = tuple(p for text in ranking.query.phrases if (p := phrase_terms(text)))
        weights = {t.term: t.weight * t.idf for t in content}
        weights |= {" ".join(p): sum(weights.get(t, 0.1) for t in p) for p in phrases}
        return cls(ranking.reading, frozenset(t.term for t in content), phrases, weights)

    def find(self, memory_id: str, source: PassageSource, text: str, cut: Cut) -> list[Found]:
        """What matches in a piece of a text."""
        number = self.reading.number(memory_id, _INDEXED[source])
        if number is None:
            return self.search(text, cut)
        placed: dict[int, Found] = {}
        for position, start, term in self.reading.words_in(number, *cut):
            there, length = first_word(_head(text, start))
            if there != term:
                return self.search(text, cut)  # the file is newer than the index
            placed[position] = Found(start, start + length, term)
        found = [f for f in placed.values() if f.what in self.terms]
        for phrase in self.phrases:
            for position in placed:
                row = [placed.get(position + i) for i in range(len(phrase))]
                if all(f is not None and f.what == t for f, t in zip(row, phrase, strict=True)):
                    end = placed[position + len(phrase) - 1].end
                    found.append(Found(placed[position].start, end, " ".join(phrase)))
        return sorted(found)

    def search(self, text: str, cut: Cut) -> list[Found]:
        """The same by reading the piece."""
        piece = text[cut.start : cut.end]
        return [
            Found(f.start + cut.start, f.end + cut.start, f.what)
            for f in find(piece, self.terms, self.phrases)
        ]


def _head(text: str, start: int) -> str:
    return "".join(text[start : start + LONGEST_WORD].split(None, 1)[:1])


def _beginning(memory_id: str, texts: _Texts, marker: _Marker) -> str:
    """A snippet for a memory that was found by its title, its keywords or its date."""
    sources: tuple[PassageSource, ...] = ("note", "transcript")
    for source in sources:
        text = texts.of(source)
        if text.strip():
            cut = whole_words(text, 0, 1_000)
            return snippet(text, cut, marker.find(memory_id, source, text, cut), marker.weights)
    return ""


def _near(matches: Sequence[VectorMatch], weight: float) -> list[_Spot]:
    best = MOST_PASSAGES + 1
    return [_Spot(m.source, m.start, m.end, weight * max(m.score, 0.0)) for m in matches[:best]]


def _windows(reading: Reading, memory_id: str, weight: float) -> list[_Spot]:
    best = float(reading.windows.scores.max(initial=0.0)) or 1.0
    spots: list[_Spot] = []
    chosen: list[tuple[int, int]] = []
    # each that is chosen leaves out APART - 1 on either side
    most = (MOST_PASSAGES + 1) * (2 * APART - 1)
    for number, at, score in reading.of_memory(memory_id, most):
        if any(text == number and abs(at - other) < APART for text, other in chosen):
            continue
        chosen.append((number, at))
        starts = reading.starts(number)
        last = len(starts) - 1
        first, after = max(at * BIN - BIN // 2, 0), (at + 1) * BIN + BIN // 2
        end = starts.item(after) if after <= last else starts.item(last) + LONGEST_WORD
        body = reading.places[number].source == "body"
        place: PassageSource = "note" if body else "transcript"
        spots.append(_Spot(place, starts.item(min(first, last)), end, weight * score / best))
        if len(spots) > MOST_PASSAGES:
            break
    return spots
