"""Search, fast to slow, until it is sure.

1. *exact*: titles, keywords and quoted phrases. When a memory's title and keywords, or the phrases
   in its text, cover every word of the query, that is what was meant: meaning is left out.
   When such memories fill the page, nothing further runs.
2. *text*: full text over whole memories, and over the few sentences where the words come together.
3. *meaning*: passages whose vectors are near. Left out, and not named among the stages, while the
   vector index is starting or away.

The nearest passages are looked for in another process, which begins while words are looked for.
What the stages find is fused into one score. The answer says which stages ran.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from neurigraph.clock import Clock
from neurigraph.errors import NeurigraphError
from neurigraph.index.keyword import Match, Matches, Part, words
from neurigraph.index.keyword import Query as Terms
from neurigraph.index.passage import VectorMatch
from neurigraph.index.postings import FIELDS
from neurigraph.model import Passage, SearchResult
from neurigraph.search.answer import Answerer
from neurigraph.search.dates import closeness
from neurigraph.search.filters import allowed, is_filtered, newest_first
from neurigraph.search.fusion import Evidence, Scored, fuse
from neurigraph.search.library import Card, Keywords, Library, Vectors
from neurigraph.search.query import Query, read_query
from neurigraph.search.ranking import Ranked, Ranking, Stage
from neurigraph.search.reading import (
    Phrase,
    Reading,
    opening_dates,
    phrases_in,
    read_texts,
    with_texts_of,
)
from neurigraph.search.words import Wanted, mended, phrase_terms, terms_of, weighed
from neurigraph.settings import SearchSettings

log = logging.getLogger(__name__)

CANDIDATES = 100
"""Memories, the best by full text, that are put in order."""

WINDOWED = 20
"""Those of them whose windows are looked at; with 50 the order was no better, and took longer."""

PHRASE_CANDIDATES = 1_000
"""Memories with all words of a quoted phrase in which the phrase itself is looked for."""

PASSAGES = 150
"""Passages that the vector index is asked for."""

SMALL_SCOPE = 400
"""Scopes up to this many memories are handed to the vector index; it is slow with larger ones."""

MEANING_FLOOR = 0.3
"""Cosine below which a passage that shares no word with the query is no answer: nonsense has its
nearest at 0.2, questions have theirs at 0.37 and above (95 of 100)."""

NEAR_TIE = 0.01
"""Scores so near that the warmer memory goes first."""

MOST_NAMED = 12
"""Words of a query up to which a title or keywords may be all that it asks for."""

EXACT = 10.0
"""What lifts exact hits above all others."""

_TEXT = (Part(tuple((name, 0.5 if name in ("title", "keywords") else 1.0) for name in FIELDS)),)
"""All fields read as one text. Titles and keywords, often made from the text by a machine, say
little that it does not; where they are all that is asked for, the exact stage has them."""

_NAMES = (Part((("title", 1.0), ("keywords", 1.0))),)


Meaning = Callable[[], list[VectorMatch]]
"""Waits for the nearest passages."""


class Search:
    """Searches one vault. May be asked from any thread; nothing is remembered between searches."""

    def __init__(
        self,
        keywords: Keywords,
        vectors: Vectors | None,
        library: Library,
        settings: SearchSettings,
        clock: Clock,
    ) -> None:
        self._keywords, self._vectors, self._library = keywords, vectors, library
        self._settings, self._clock = settings, clock
        self._answerer = Answerer(library, settings)

    def search(
        self,
        text: str,
        *,
        within: Collection[str] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SearchResult:
        """The memories that answer a text, best first, with snippets.

        `within` limits it to these ids: a scope, or what may be shown. `limit` is at most 50.
        """
        began = time.perf_counter()
        limit, offset = max(1, min(limit, 50)), max(0, offset)
        ranking = self.rank(text, within=within, enough=offset + limit)
        shown = ranking.hits[offset : offset + limit]
        reading = with_texts_of(self._keywords, ranking.reading, [hit.id for hit in shown])
        hits = self._answerer.answer(replace(ranking, reading=reading), shown)
        took = (time.perf_counter() - began) * 1000
        return SearchResult(tuple(hits), ranking.total, took, ranking.stages)

    def rank(
        self, text: str, *, within: Collection[str] | None = None, enough: int = CANDIDATES
    ) -> Ranking:
        """The order of the answer, without snippets; `enough` of it where there is as much."""
        query = read_query(text, self._clock())
        if query.is_empty or (within is not None and not within):
            return Ranking(query)
        scope = within
        if is_filtered(query) or not query.words:
            cards = allowed(query, self._library.cards(), within)
            if not cards or not query.words:
                return self._listing(query, cards)
            scope = cards.keys()
        asked = _Asked.of(query, scope)
        # in a process of its own, so that it is at it while words are looked for
        meaning = self._begin_meaning(asked)
        matches = self._by_words(asked, max(CANDIDATES, enough))
        exact = self._exact(asked, matches)
        if query.only_times:
            exact += self._of_the_time(asked, {ranked.id for ranked in exact})
        if len(exact) >= enough:
            return Ranking(
                query,
                asked.wanted,
                tuple(exact),
                max(matches.total, len(exact)),
                ("exact",),
                self._read(asked, matches, exact),
            )
        reading = self._read(asked, matches, exact)
        near = self._by_meaning(asked, matches, meaning) if meaning and not exact else None
        return self._fused(asked, matches, exact, reading, near, enough)

    def passages(self, ranking: Ranking, memory_id: str) -> list[Passage]:
        """The best passages of a memory that was ranked, as they stand, best first."""
        return self._answerer.passages(ranking, memory_id)

    # -- the stages

    def _by_words(self, asked: _Asked, enough: int) -> Matches:
        """The best by full text over whole memories, with the phrases that must be there."""
        found = self._full_text(asked, enough)
        wanted = mended(asked.wanted, found.frequencies, self._keywords)
        if wanted != asked.wanted:
            asked.wanted = wanted
            found = self._full_text(asked, enough)
        if asked.must or asked.banned:
            kept = self._with_phrases(asked, found.best)
            if asked.must and not kept:
                asked.must = []  # no memory has them: their words will have to do
                return self._by_words(asked, enough)
            total = found.total - len(found.best) + len(kept)
            found = Matches(total, kept, found.frequencies)
        documents = self._keywords.doc_count()
        asked.wanted = weighed(asked.wanted, found.frequencies, documents)
        return found

    def _full_text(self, asked: _Asked, enough: int) -> Matches:
        required = dict.fromkeys(t for phrase in asked.must for t in phrase)
        terms = asked.terms(tuple(required))
        if asked.must or asked.banned:
            enough = PHRASE_CANDIDATES
        return self._keywords.search(terms, enough, asked.scope, _TEXT, masks=False)

    def _with_phrases(self, asked: _Asked, found: Sequence[Match]) -> tuple[Match, ...]:
        there = phrases_in(self._keywords, [m.id for m in found], [*asked.must, *asked.banned])

        def has(match: Match, phrase: Phrase) -> bool:
            return phrase in there.get(match.id, ()) or self._is_named(match.id, phrase)

        return tuple(
            m
            for m in found
            if all(has(m, p) for p in asked.must) and not any(has(m, p) for p in asked.banned)
        )

    def _is_named(self, memory_id: str, phrase: Phrase) -> bool:
        card = self._library.card(memory_id)
        if card is None:
            return False
        names = (card.title, *card.keywords, *card.tags, *card.aliases)
        return any(_holds(words(name), phrase) for name in names)

    def _exact(self, asked: _Asked, matches: Matches) -> list[Ranked]:
        """Memories whose title and keywords, or phrases, cover every word of the query."""
        wanted = asked.wanted
        covered = {t for phrase in asked.must for t in phrase}
        if (
            asked.must
            and len({t.place for t in wanted.terms if t.term in covered}) == wanted.places
        ):
            sure = list(matches.best)
        elif not 0 < wanted.places <= MOST_NAMED:
            sure = []
        else:
            groups: list[list[str]] = [[] for _ in range(wanted.places)]
            for term in wanted.terms:
                groups[term.place].append(term.term)
            named = set(self._keywords.with_all(groups, [name for name, _ in _NAMES[0].fields]))
            if asked.scope is not None:
                named.intersection_update(asked.scope)
            if asked.must or asked.banned:
                named &= {m.id for m in matches.best}
            if not named:
                return []
            found = self._keywords.search(asked.terms(), CANDIDATES, named, _NAMES, masks=False)
            sure = list(found.best)
        return [Ranked(m.id, EXACT + m.score, "exact") for m in sure]

    def _of_the_time(self, asked: _Asked, known: Collection[str]) -> list[Ranked]:
        """The memories of the times that a query names and that says nothing else, newest first."""
        cards = [
            card
            for card in self._library.cards()
            if card.created is not None
            and card.id not in known
            and (asked.scope is None or card.id in asked.scope)
            and closeness(asked.query.times, card.created.astimezone().date()) == 1
        ]
        return [Ranked(card.id, EXACT, "exact") for card in newest_first(cards)]

    def _begin_meaning(self, asked: _Asked) -> Meaning | None:
        """Have the nearest passages looked for; None when meaning cannot be asked."""
        if self._vectors is None or not self._vectors.ready:
            return None
        scope = asked.scope
        small = scope is not None and len(scope) <= SMALL_SCOPE
        try:
            return self._vectors.begin_search(asked.query.text, PASSAGES, scope if small else None)
        except NeurigraphError as error:
            log.info("searching without vectors: %s", error)
            return None

    def _by_meaning(
        self, asked: _Asked, matches: Matches, meaning: Meaning
    ) -> list[VectorMatch] | None:
        """The nearest passages, or None when they cannot be had."""
        try:
            near = meaning()
        except NeurigraphError as error:
            log.info("searching without vectors: %s", error)
            return None
        scope = asked.scope
        known = {m.id for m in matches.best}
        strict = bool(asked.must or asked.query.without)
        return [
            n
            for n in near
            if n.id in known
            or (not strict and n.score >= MEANING_FLOOR and (scope is None or n.id in scope))
        ]

    def _fused(
        self,
        asked: _Asked,
        matches: Matches,
        exact: Sequence[Ranked],
        reading: Reading,
        near: Sequence[VectorMatch] | None,
        enough: int,
    ) -> Ranking:
        keyword = {m.id: m.score for m in matches.best}
        vector: dict[str, float] = {}
        passages: dict[str, tuple[VectorMatch, ...]] = {}
        for match in near or ():
            vector.setdefault(match.id, match.score)
            passages[match.id] = (*passages.get(match.id, ()), match)
        ids = list(dict.fromkeys((*keyword, *vector)))
        moment = self._closeness(asked.query, ids)
        evidence = Evidence(keyword, reading.best_windows(), vector, moment)
        first = {ranked.id for ranked in exact}
        scored = [s for s in fuse(ids, evidence, self._settings) if s.id not in first]
        rest = [
            Ranked(s.id, s.score, "text" if s.id in keyword else "meaning")
            for s in self._warmer_first(scored, enough - len(exact))
        ]
        hits = (*exact, *rest)
        stages: list[Stage] = ["exact", "text"] if exact else ["text"]
        if near is not None:
            stages.append("meaning")
        total = max(matches.total + len(ids) - len(keyword), len(hits))
        return Ranking(asked.query, asked.wanted, hits, total, tuple(stages), reading, passages)

    def _closeness(self, query: Query, ids: Sequence[str]) -> dict[str, float]:
        """How near each memory is to the times that the query speaks of."""
        if not query.times:
            return {}
        told = opening_dates(self._keywords, ids)
        found = {}
        for memory_id in ids:
            card = self._library.card(memory_id)
            made = card.created.astimezone().date() if card and card.created else None
            days = (made, told.get(memory_id))
            found[memory_id] = max(closeness(query.times, day) for day in days)
        return found

    def _warmer_first(self, scored: Sequence[Scored], enough: int) -> list[Scored]:
        """The same order, but for near-ties, in which the warmer memory goes first.

        A tie is with the first of its group, so that no chain of small steps carries far. Groups
        that begin after `enough` places are left as they are.
        """
        result: list[Scored] = []
        while len(result) < min(enough, len(scored)):
            start = end = len(result)
            while end < len(scored) and scored[start].score - scored[end].score <= NEAR_TIE:
                end += 1
            group = scored[start:end]
            result += sorted(group, key=self._coolness) if len(group) > 1 else group
        return [*result, *scored[len(result) :]]

    def _coolness(self, scored: Scored) -> int:
        return self._library.temperature(scored.id).rank

    def _read(self, asked: _Asked, matches: Matches, exact: Sequence[Ranked]) -> Reading:
        named = {ranked.id for ranked in exact}
        near = matches.best[:WINDOWED]
        near += tuple(m for m in matches.best[WINDOWED:] if m.id in named)
        return read_texts(self._keywords, near, asked.wanted, asked.phrases)

    def _listing(self, query: Query, cards: dict[str, Card]) -> Ranking:
        """What fits the filters of a query without words, newest first."""
        for without in query.without:
            if cards and (phrase := phrase_terms(without)):
                terms = Terms(phrase, require=phrase)
                found = self._keywords.search(terms, len(cards), cards.keys()).best
                there = phrases_in(self._keywords, [m.id for m in found], [phrase])
                for match in found:
                    if phrase in there.get(match.id, ()) or self._is_named(match.id, phrase):
                        del cards[match.id]
        hits = tuple(Ranked(card.id, 1.0, "exact") for card in newest_first(cards.values()))
        return Ranking(query, hits=hits, total=len(hits), stages=("exact",))


@dataclass(slots=True)
class _Asked:
    """A query on its way through the stages."""

    query: Query
    scope: Collection[str] | None
    wanted: Wanted
    phrases: list[Phrase]
    must: list[Phrase]
    without: list[Phrase]

    @classmethod
    def of(cls, query: Query, scope: Collection[str] | None) -> _Asked:
        phrases = [p for text in query.phrases if (p := phrase_terms(text))]
        without = [p for text in query.without if (p := phrase_terms(text))]
        # in a question quotes set off a title or a name, and what answers it may not repeat them
        must = [] if query.text.rstrip().endswith("?") else list(phrases)
        return cls(query, scope, terms_of(query), phrases, must, without)

    @property
    def banned(self) -> list[Phrase]:
        """Phrases of several words that must not be there; single words the index leaves out."""
        return [phrase for phrase in self.without if len(phrase) > 1]

    def terms(self, required: tuple[str, ...] = ()) -> Terms:
        """What the keyword index is asked for."""
        return Terms(
            tuple(t.term for t in self.wanted.terms),
            tuple(t.weight for t in self.wanted.terms),
            require=required,
            exclude=tuple(phrase[0] for phrase in self.without if len(phrase) == 1),
        )


def _holds(text: Sequence[str], phrase: Phrase) -> bool:
    size = len(phrase)
    return any(tuple(text[i : i + size]) == phrase for i in range(len(text) - size + 1))
