"""What an AI should read before it answers: chooses the memories, and has them packed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from neurigraph.index.library import Library
from neurigraph.index.record import Record, Sections
from neurigraph.model import Passage
from neurigraph.search.cascade import Search
from neurigraph.search.context import Candidate, Context, pack
from neurigraph.vault.turns import estimate_tokens
from neurigraph.views import Views

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
        self, seen: Collection[str] | None, query: str, max_tokens: int, *, by_topic: bool
    ) -> Context:
        """What fits of the memories in `seen`, or of all.

        With a query those that answer it; without one the hottest, and with `by_topic` the
        hottest of each topic.
        """
        if query.strip():
            return pack(self._answering(query, seen), max_tokens, estimate_tokens)
        records = [r for r in self._library.memories() if seen is None or r.id in seen]
        packed = pack(self._hottest(records, by_topic), max_tokens, estimate_tokens)
        return replace(packed, left_out=len(records) - len(packed.memories))

    def _answering(self, query: str, seen: Collection[str] | None) -> list[Candidate]:
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

    def _hottest(self, records: Iterable[Record], by_topic: bool) -> list[Candidate]:
        """The most lately used first; pinned ones, which never cool, before all."""
        used = self._views.used
        ordered = sorted(records, key=lambda r: (r.pinned, used(r), r.id), reverse=True)
        chosen = _in_turns(ordered) if by_topic else ordered[:MOST]
        candidates = self._candidates(chosen)
        return [replace(c, score=STEP**number) for number, c in enumerate(candidates)]

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


def _in_turns(ordered: Iterable[Record]) -> list[Record]:
    """The first of each topic, then the second of each, and so on, as many as are looked at."""
    rounds: list[list[Record]] = []
    met: Counter[tuple[str, ...]] = Counter()
    for record in ordered:
        topic = tuple(record.path.split("/")[:-1][:2])
        if met[topic] == len(rounds):
            rounds.append([])
        rounds[met[topic]].append(record)
        met[topic] += 1
        if len(rounds[0]) == MOST:
            break
    return list(islice(chain.from_iterable(rounds), MOST))
