"""From the words of a query to the weighted terms that the index is asked for.

Function words weigh little: "what did she say when" is about how a person asks, not about what
she said. A word that no memory has is mended: a misspelling becomes the word that is near, a
compound its parts. Two words that may belong together are sought as one, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import log

from neurigraph.index.keyword import spans, tokens
from neurigraph.search.library import Keywords
from neurigraph.search.query import Query

FUNCTION_WORD = 0.3
"""What a function word weighs."""

MENDED = 0.6
"""What the likeliest stand-in for a word that no memory has weighs."""

DOUBT = 0.5
"""What a guessed word keeps of that when other words of the query are found as they were typed:
`portugal trip` is about Portugal and not about a tip."""

LONGER_FORM = 0.5
"""What a longer form weighs for a word of a language whose endings the stemmer does not know."""

MOST_TERMS = 64
MOST_MENDED = 6
"""Words of one query that are mended: looking for near ones takes a millisecond or more each."""

LONG_WORD = 7
"""Letters from which a word may be misspelt twice."""

MOST_STAND_INS = 8
"""Terms that stand in for one word."""

_FUNCTION_WORDS = """
a an the and or but if so of to in on at by for from with about as into onto over than then
is are was were be been being am do does did doing done have has had having
i me my mine we us our ours you your yours he him his he's she her hers it its it's they them their
theirs this that that's these those there here what what's which who whom whose when where why how
will would can can't could should shall may might must not no nor some any
i'm i've i'd i'll you're don't didn't doesn't isn't wasn't
"""


@lru_cache(maxsize=1)
def _function_terms() -> frozenset[str]:
    return frozenset(term for word in _FUNCTION_WORDS.split() for term in tokens(word))


def is_function_term(term: str) -> bool:
    """Whether a term says how somebody asks rather than what about."""
    return term in _function_terms()


@dataclass(frozen=True, slots=True)
class Term:
    """A term to look for. `content` is false for function words. `place` is the number of the
    word that it stands for: a word shares it with what stands in for it. `idf` is its rarity."""

    term: str
    weight: float
    content: bool
    place: int
    idf: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """All terms of a query, each once; `places` is how many different words they stand for."""

    terms: tuple[Term, ...] = ()
    places: int = 0

    @property
    def content(self) -> tuple[Term, ...]:
        """The terms that are shown as matches: function words only if there are no others."""
        return tuple(t for t in self.terms if t.content) or self.terms


def terms_of(query: Query) -> Wanted:
    """The terms of a query as typed, neighbours joined among them (`data base`: `database`)."""
    words = list(dict.fromkeys(span.term for span in spans(" ".join(query.words))))[:MOST_TERMS]
    found: dict[str, Term] = {}
    for place, word in enumerate(words):
        content = not is_function_term(word)
        found[word] = Term(word, 1.0 if content else FUNCTION_WORD, content, place)
    joined: dict[str, Term] = {}
    for (place, first), (_, second) in pairwise(enumerate(words)):
        if found[first].content and found[second].content and first.isalpha():
            for term in tokens(first + second)[:1]:
                joined[term] = Term(term, 1.0, True, place)
    return Wanted(tuple((joined | found).values()), len(words))


def mended(wanted: Wanted, frequencies: Sequence[int], index: Keywords) -> Wanted:
    """The same terms, and stand-ins for the words that are nowhere.

    A word in letters other than ASCII is also sought in its longer forms, since only English
    endings are taken off: no language should find less than a search for a piece of a word.
    """
    found = {t.term: t for t in wanted.terms}
    looked = 0
    answered = {t.place for t, f in zip(wanted.terms, frequencies, strict=True) if f}
    doubt = DOUBT if any(t.content and t.place in answered for t in wanted.terms) else 1.0
    for term, frequency in zip(wanted.terms, frequencies, strict=True):
        if (term.place in answered and term.term.isascii()) or looked == MOST_MENDED:
            continue
        looked += 1
        for other, share in _stand_ins(term.term, frequency, index):
            share = share if frequency else share * doubt
            stand_in = Term(other, term.weight * share, term.content, term.place)
            if other not in found or found[other].weight < stand_in.weight:
                found[other] = stand_in
    return replace(wanted, terms=tuple(found.values()))


def _stand_ins(word: str, frequency: int, index: Keywords) -> list[tuple[str, float]]:
    if frequency:
        near = index.near_terms(word, limit=3 * MOST_STAND_INS)
        return [(n.term, LONGER_FORM) for n in near if n.kind == "prefix"][:MOST_STAND_INS]
    for first, second in index.splits(word, limit=1):
        return [(first, MENDED), (second, MENDED)]
    near = index.near_terms(word, limit=3 * MOST_STAND_INS)
    # two errors in a word are believed when it is long and begins as it should
    misspelt = [
        n
        for n in near
        if n.kind == "misspelling"
        and (n.distance < 2 or (len(word) >= LONG_WORD and n.term[0] == word[0]))
    ]
    closest = min((n.distance for n in misspelt), default=0)
    # all that are equally near, the more frequent first, and then what contains the word
    chosen = [n for n in misspelt if n.distance == closest][:3]
    longer = [n for n in near if n.kind != "misspelling"][: MOST_STAND_INS - len(chosen)]
    return [(n.term, MENDED / n.distance**0.5) for n in chosen] + [
        (n.term, LONGER_FORM) for n in longer
    ]


def weighed(wanted: Wanted, frequencies: Sequence[int], documents: int) -> Wanted:
    """The terms with their rarity, by how many memories have them."""
    return replace(
        wanted,
        terms=tuple(
            replace(term, idf=rarity(frequency, documents))
            for term, frequency in zip(wanted.terms, frequencies, strict=True)
        ),
    )


def rarity(frequency: int, documents: int) -> float:
    """BM25's IDF of a term over memories, never negative."""
    return log(1 + (documents - min(frequency, documents) + 0.5) / (frequency + 0.5))


def phrase_terms(phrase: str) -> tuple[str, ...]:
    """The terms of a phrase in running order."""
    return tuple(span.term for span in spans(phrase))
