"""Reads, in the index, where the words of a query stand in the texts of candidates.

No file is opened: the keyword index keeps the words of every text in running order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.keyword import Marked, Match, Source, tokens
from neurigraph.search.dates import MONTHS, date_of_words
from neurigraph.search.library import Keywords
from neurigraph.search.speakers import shares_of_speakers, whom_asked_about
from neurigraph.search.windows import Occurrences, Windows, find_windows
from neurigraph.search.words import Wanted

SOURCES: tuple[Source, ...] = ("transcript", "body")

Phrase = tuple[str, ...]

OPENING = 8
"""Words at the beginning of a transcript in which its date may stand."""

DATE_WORDS = tuple(
    dict.fromkeys(
        (
            *(term for name in MONTHS for term in tokens(name)),
            *(name[:3] for name in MONTHS),
            *map(str, range(1, 32)),
            *(f"{n:02}" for n in range(1, 10)),
            *map(str, range(1970, 2071)),
        )
    )
)
"""The terms that a date may be written with."""


@dataclass(frozen=True, slots=True)
class Place:
    """A text: the note's body or the transcript of a memory."""

    id: str
    source: Source


@dataclass(frozen=True, slots=True)
class Reading:
    """The windows of candidates. `places[i]` is text i, which `marked[i]` tells about, whose
    terms are numbered as `terms` has them."""

    places: tuple[Place, ...]
    marked: tuple[Marked, ...]
    windows: Windows
    terms: tuple[str, ...]
    _numbers: Mapping[str, Sequence[int]]
    _starts: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        places: Sequence[Place],
        marked: Sequence[Marked],
        windows: Windows,
        terms: Sequence[str],
    ) -> Reading:
        """Put together what was read."""
        numbers: dict[str, list[int]] = {}
        for number, place in enumerate(places):
            numbers.setdefault(place.id, []).append(number)
        return cls(tuple(places), tuple(marked), windows, tuple(terms), numbers)

    @classmethod
    def empty(cls) -> Reading:
        """Nothing was read."""
        return cls.of((), (), find_windows((), np.empty(0)), [])

    def has(self, memory_id: str) -> bool:
        """Whether any text of a memory was read."""
        return memory_id in self._numbers

    def number(self, memory_id: str, source: Source) -> int | None:
        """The number of a text, or None when it was not read."""
        for number in self._numbers.get(memory_id, ()):
            if self.places[number].source == source:
                return number
        return None

    def starts(self, number: int) -> NDArray[np.int64]:
        """For each word of a text the character at which it begins."""
        if number not in self._starts:
            self._starts[number] = self.marked[number].starts()
        return self._starts[number]

    def words_in(self, number: int, start: int, end: int) -> list[tuple[int, int, str]]:
        """Position, character and term of the query's words that begin within these characters
        of text `number`."""
        marked, characters = self.marked[number], self.starts(number)
        first, last = np.searchsorted(characters, [start, end])
        low, high = np.searchsorted(marked.positions, [first, last])
        positions = marked.positions[low:high]
        return [
            (position, character, self.terms[term])
            for position, character, term in zip(
                positions.tolist(),
                characters[positions].tolist(),
                marked.terms[low:high].tolist(),
                strict=True,
            )
        ]

    def best_windows(self) -> dict[str, float]:
        """The score of the best window of each memory that has one."""
        best: dict[str, float] = {}
        scores = self.windows.best_of_each(len(self.places)).tolist()
        for place, score in zip(self.places, scores, strict=True):
            best[place.id] = max(score, best.get(place.id, 0.0))
        return best

    def of_memory(self, memory_id: str, most: int) -> list[tuple[int, int, float]]:
        """Text number, bin and score of windows of a memory, best first, `most` of each text."""
        found = [
            (number, at, score)
            for number in self._numbers.get(memory_id, ())
            for at, score in self.windows.of_text(number, most)
        ]
        return sorted(found, key=lambda window: -window[2])


def read_texts(
    keywords: Keywords, matches: Sequence[Match], wanted: Wanted, phrases: Sequence[Phrase]
) -> Reading:
    """Find the windows of these memories. A phrase counts like one more, rare word."""
    who = whom_asked_about(wanted)
    asked = (*(t.term for t in wanted.terms), *(t for phrase in phrases for t in phrase))
    terms = list(dict.fromkeys((*asked, *sorted(who.names | who.roles))))
    number = {term: i for i, term in enumerate(terms)}
    weights = np.zeros(len(terms) + len(phrases))
    weights[: len(wanted.terms)] = [t.weight * t.idf for t in wanted.terms]
    for i, phrase in enumerate(phrases, len(terms)):
        weights[i] = weights[[number[t] for t in phrase]].sum()
    ids = [m.id for m in matches]
    is_name, is_role = (
        np.fromiter((t in group for t in terms), bool, len(terms))
        for group in (who.names, who.roles)
    )
    places: list[Place] = []
    marked: list[Marked] = []
    texts: list[Occurrences] = []
    for source in SOURCES:
        for memory_id, found in keywords.marks(ids, terms, source).items():
            positions, which = found.positions, found.terms
            spoken = source == "transcript"
            shares = shares_of_speakers(found, is_name, is_role) if spoken else None
            for i, phrase in enumerate(phrases, len(terms)):
                starts = phrase_starts(positions, which, [number[t] for t in phrase])
                positions = np.concatenate((positions, starts))
                which = np.concatenate((which, np.full(len(starts), i)))
                if shares is not None:
                    shares = np.concatenate((shares, np.ones(len(starts))))
            places.append(Place(memory_id, source))
            marked.append(found)
            texts.append(Occurrences(positions, which, shares))
    windows = find_windows(texts, weights)
    return Reading.of(places, marked, windows, terms)


def with_texts_of(keywords: Keywords, reading: Reading, ids: Iterable[str]) -> Reading:
    """The same, and where the words stand in the texts of these memories too, without windows.

    So that what is shown need not be read again to be marked."""
    missing = [memory_id for memory_id in ids if not reading.has(memory_id)]
    if not missing or not reading.terms:
        return reading
    places, marked = list(reading.places), list(reading.marked)
    for source in SOURCES:
        for memory_id, found in keywords.marks(missing, reading.terms, source).items():
            places.append(Place(memory_id, source))
            marked.append(found)
    return Reading.of(places, marked, reading.windows, reading.terms)


def phrases_in(
    keywords: Keywords, ids: Collection[str], phrases: Sequence[Phrase]
) -> dict[str, set[Phrase]]:
    """Which of these phrases stand in the texts of each of these memories, word after word."""
    terms = list(dict.fromkeys(t for phrase in phrases for t in phrase))
    number = {term: i for i, term in enumerate(terms)}
    numbered = [(phrase, [number[t] for t in phrase]) for phrase in phrases]
    found: dict[str, set[Phrase]] = {}
    for source in SOURCES:
        for memory_id, marked in keywords.marks(ids, terms, source).items():
            there = found.setdefault(memory_id, set())
            there.update(
                phrase
                for phrase, numbers in numbered
                if len(phrase_starts(marked.positions, marked.terms, numbers))
            )
    return found


def phrase_starts(
    positions: NDArray[np.int64], terms: NDArray[np.int64], phrase: Sequence[int]
) -> NDArray[np.int64]:
    """The positions at which these terms stand one after the other."""
    starts: NDArray[np.int64] = positions[terms == phrase[0]]
    for step, term in enumerate(phrase[1:], 1):
        if not len(starts):
            break
        starts = starts[np.isin(starts + step, positions[terms == term])]
    return starts


def opening_dates(keywords: Keywords, ids: Collection[str]) -> dict[str, date]:
    """The dates that transcripts open with, as logs and minutes do: `1:56 pm on 8 May, 2023`."""
    found: dict[str, date] = {}
    for memory_id, marked in keywords.marks(ids, DATE_WORDS, "transcript").items():
        opening = marked.terms[marked.positions < OPENING].tolist()
        if opening and (day := date_of_words(DATE_WORDS[number] for number in opening)):
            found[memory_id] = day
    return found
