"""What an AI should read before it answers: chooses the memories, and has them packed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

from neurigraph.index.library import Library, Place
from neurigraph.index.record import Record, Sections
from neurigraph.model import Passage
from neurigraph.search.cascade import Search
from neurigraph.search.context import Candidate, Context, pack
from neurigraph.vault.turns import estimate_tokens
from neurigraph.views import OLDEST, Views

MOST = 40
"""Memories that are looked at for one context; more never fit."""

WITH_PASSAGES = 12
"""Of those the best, whose texts are read for passages."""

STEP = 0.9
"""Each memory of a list without a query scores so much of the one before: their order stands."""


class Contexts:
    """Builds contexts. Opens nothing: that is for whoever hands one out."""

    def __init__(
        self,
        library: Library,
        views: Views,
        search: Search,
        sections_of: Callable[[Sequence[Record]], Mapping[str, Sections]],
    ) -> None:
        self._library, self._views, self._search = library, views, search
        self._sections_of = sections_of

    def context(
        self, place: Place | None, seen: Collection[str], query: str, max_tokens: int
    ) -> Context:
        """What fits of the memories in `seen`, which are those of `place` if one is given.

        With a query those that answer it, with a place its hottest, with neither the hottest of
        each topic.
        """
        if query.strip():
            found = self._answering(query, seen)
        else:
            records = [r for i in seen if (r := self._library.find(i)) is not None]
            found = self._hottest(records, by_topic=place is None)
        packed = pack(found, max_tokens, estimate_tokens)
        beyond = max(0, len(seen) - MOST) if not query.strip() else 0
        return replace(packed, left_out=packed.left_out + beyond)

    def _answering(self, query: str, seen: Collection[str]) -> list[Candidate]:
        ranking = self._search.rank(query, within=seen, enough=MOST)
        hits = ranking.hits[:MOST]
        records = {i: r for i in (h.id for h in hits) if (r := self._library.find(i)) is not None}
        passages: dict[str, list[Passage]] = {
            hit.id: self._search.passages(ranking, hit.id) for hit in hits[:WITH_PASSAGES]
        }
        bare = self._candidates([records[h.id] for h in hits if h.id in records])
        scores = {h.id: h.score for h in hits}
        return [
            replace(c, score=scores[c.id], passages=tuple(passages.get(c.id, ()))) for c in bare
        ]

    def _hottest(self, records: Iterable[Record], *, by_topic: bool) -> list[Candidate]:
        ordered = sorted(records, key=self._heat)
        if by_topic:
            ordered = _in_turns(self._library, ordered)
        candidates = self._candidates(list(islice(ordered, MOST)))
        return [replace(c, score=STEP**number) for number, c in enumerate(candidates)]

    def _heat(self, record: Record) -> tuple[int, float, str]:
        used = self._views.used(record)
        stamp = -used.timestamp() if used > OLDEST else 0.0
        return (self._views.temperature(record).rank, stamp, record.id)

    def _candidates(self, records: Sequence[Record]) -> list[Candidate]:
        sections = self._sections_of(records)
        found = []
        for record in records:
            parts = sections.get(record.path, Sections())
            broad, focused = self._library.names_of(record)
            found.append(
                Candidate(
                    id=record.id,
                    title=record.title,
                    topic=f"{broad}/{focused}" if focused else broad,
                    created=record.created,
                    keywords=record.keywords,
                    summary=parts.summary or parts.notes,
                    decisions=parts.decisions,
                    open_questions=parts.open_questions,
                )
            )
        return found


def _in_turns(library: Library, ordered: Iterable[Record]) -> list[Record]:
    """The first of each topic, then the second of each, and so on."""
    topics: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in ordered:
        topics[library.names_of(record)].append(record)
    rounds = zip_longest(*topics.values())
    return [record for record in chain.from_iterable(rounds) if record is not None]
