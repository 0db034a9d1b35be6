"""From the words of a query to the weighted terms that the index is asked for.

Function words weigh little: "what did she say when" is about how a person asks, not about what
she said. A word that no memory has is mended: a misspelling becomes the word that is near, a
compound its parts, two words that belong together one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Protocol

from neurigraph.index.keyword import NearTerm, spans, tokens
from neurigraph.search.query import Query

FUNCTION_WORD = 0.3
"""What a function word weighs."""

MENDED = 0.6
"""What the likeliest stand-in for a word that no memory has weighs."""

LONGER_FORM = 0.5
"""What a longer form weighs for a word of a language whose endings the stemmer does not know."""

MOST_TERMS = 64
MOST_MENDED = 6
"""Words of one query that are mended: looking for near ones takes a millisecond or more each."""

_FUNCTION_WORDS = """
a an the and or but if so of to in on at by for from with about as into onto over than then
is are was were be been being am do does did doing done have has had having
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
this that these those there here what which who whom whose when where why how
will would can could should shall may might must not no nor some any
s t d ll m re ve don didn doesn isn wasn
"""


@lru_cache(maxsize=1)
def _function_terms() -> frozenset[str]:
    return frozenset(term for word in _FUNCTION_WORDS.split() for term in tokens(word))


def is_function_term(term: str) -> bool:
    """Whether a term says how somebody asks rather than what about."""
    return term in _function_terms()


class Vocabulary(Protocol):
    """What is asked of the keyword index here."""

    def doc_count(self) -> int: ...
    def frequency(self, token: str) -> int: ...
    def near_terms(self, token: str, limit: int = 10) -> list[NearTerm]: ...
    def splits(self, word: str, limit: int = 3) -> list[tuple[str, str]]: ...


@dataclass(frozen=True, slots=True)
class Term:
    """A term to look for. `content` is false for function words. `place` is the number of the
    word that it stands for: mended terms share it with their siblings."""

    term: str
    weight: float
    idf: float
    content: bool
    place: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """All terms of a query; `places` is how many different words they stand for, and `unknown`
    how many of these neither the index nor anything near them has."""

    terms: tuple[Term, ...] = ()
    places: int = 0
    unknown: int = 0

    @property
    def content(self) -> tuple[Term, ...]:
        """The terms that windows are looked for with: function words alone only if all are."""
        return tuple(t for t in self.terms if t.content) or self.terms


def wanted_terms(query: Query, index: Vocabulary) -> Wanted:
    """The terms of a query with their weights."""
    words = list(dict.fromkeys(spans_of(query)))[:MOST_TERMS]
    documents = index.doc_count()
    frequencies = [index.frequency(word) for word in words]
    found: dict[str, Term] = {}
    places, unknown, mended = len(words), 0, 0

    def take(term: str, weight: float, place: int) -> None:
        if term not in found or found[term].weight < weight:
            content = not is_function_term(term)
            idf = rarity(index.frequency(term), documents)
            found[term] = Term(term, weight, idf, content, place)

    for place, (word, frequency) in enumerate(zip(words, frequencies, strict=True)):
        weight = FUNCTION_WORD if is_function_term(word) else 1.0
        take(word, weight, place)
        if place + 1 < len(words):
            following = words[place + 1]
            joined = "".join(tokens(word + following)[:1])
            speaking = is_function_term(word) or is_function_term(following)
            if not speaking and index.frequency(joined):
                take(joined, weight, place)
        if frequency and word.isascii():
            continue
        if mended == MOST_MENDED:
            unknown += not frequency
            continue
        mended += 1
        stand_ins = _stand_ins(word, frequency, index)
        unknown += not (frequency or stand_ins)
        for term, share in stand_ins:
            take(term, weight * share, place)
    return Wanted(tuple(found.values()), places, unknown)


def spans_of(query: Query) -> list[str]:
    """The terms of the free text in running order."""
    return [span.term for span in spans(" ".join(query.words))]


def rarity(frequency: int, documents: int) -> float:
    """BM25's IDF of a term over memories, never negative."""
    return log(1 + (documents - min(frequency, documents) + 0.5) / (frequency + 0.5))


def _stand_ins(word: str, frequency: int, index: Vocabulary) -> list[tuple[str, float]]:
    near = index.near_terms(word, limit=24)
    if frequency:  # known, but in a language whose endings are not stemmed
        return [(n.term, LONGER_FORM) for n in near if n.kind == "prefix"][:8]
    parts = [term for pair in index.splits(word, limit=1) for term in pair]
    if parts:
        return [(term, MENDED) for term in parts]
    misspelt = [n for n in near if n.kind == "misspelling"]
    closest = min((n.distance for n in misspelt), default=0)
    # all that are equally near, the more frequent first, and then what contains the word
    chosen = [n for n in misspelt if n.distance == closest][:3]
    chosen += [n for n in near if n.kind != "misspelling"][: 8 - len(chosen)]
    return [
        (n.term, MENDED / max(n.distance, 1) ** 0.5 if n in misspelt else LONGER_FORM)
        for n in chosen
    ]


def phrase_terms(phrase: str) -> Sequence[str]:
    """The terms of a phrase in running order."""
    return [span.term for span in spans(phrase)]
