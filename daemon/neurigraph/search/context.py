"""Packs memories into a bound of tokens: what an AI should read before it answers. Pure.

The heads (summary, decisions, open questions) of the best memories come first, then the passages
that matter most, whichever memory they are from. Memories that fit equally well stand newest
first, and a newer memory on the same matter is marked as one that may supersede the older.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from neurigraph.index.keyword import tokens
from neurigraph.model import Passage
from neurigraph.search.words import is_function_term

EQUAL = 0.05
"""Share of the better score by which two memories may differ and still fit equally well."""

HEADS = 0.6
"""Share of the room that heads may take while there are passages to show."""

HEAD_TOKENS = 400
"""Tokens of one part of a head at most."""

LEAST_TOKENS = 20
"""What is left of a text that does not fit is not worth showing below this."""

SAME_TITLE, SAME_KEYWORDS = 0.6, 0.4
"""Share of common words in titles, and of common keywords, from which two memories are on the
same matter."""

LEAST_KEYWORDS = 3
"""Common keywords without which a share of them says nothing."""

Size = Callable[[str], int]

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that could be read. `score` orders them; passages stand best first."""

    id: str
    title: str
    topic: str
    created: datetime | None = None
    score: float = 0.0
    keywords: tuple[str, ...] = ()
    summary: str = ""
    decisions: str = ""
    open_questions: str = ""
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """A memory as it is handed out, its texts cut to what fits. `may_supersede` are the ids of
    older memories in the same answer on the same matter, newest first."""

    id: str
    title: str
    topic: str
    created: datetime | None
    summary: str = ""
    decisions: str = ""
    open_questions: str = ""
    passages: tuple[Passage, ...] = ()
    may_supersede: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What fits, in order; `tokens` is its size, `left_out` how many memories did not fit."""

    memories: tuple[Packed, ...] = ()
    tokens: int = 0
    left_out: int = 0


@dataclass(slots=True)
class _Open:
    """A memory that is being packed."""

    candidate: Candidate
    packed: Packed
    chosen: list[Passage] = field(default_factory=list)


def pack(
    candidates: Iterable[Candidate], max_tokens: int, size: Size, overhead: int = 30
) -> Context:
    """The best memories within `max_tokens`.

    `size` says how many tokens a text is, `overhead` what a memory costs beside its texts. A
    memory that is handed in twice is packed once.
    """
    ordered = newest_among_equals(_once(candidates))
    room = max_tokens
    any_passages = any(c.passages for c in ordered)
    heads = int(max_tokens * HEADS) if any_passages else max_tokens
    taken: list[_Open] = []
    waiting: list[Candidate] = []
    for candidate in ordered:
        # the best one is there whatever its size
        allowance = room if not taken else room - (max_tokens - heads)
        packed, cost = _head(candidate, allowance, size, overhead)
        if packed is None:
            waiting.append(candidate)
        else:
            taken.append(_Open(candidate, packed))
            room -= cost
    room -= _add_passages(taken, room, size)
    left_out = 0
    for candidate in waiting:
        packed, cost = _head(candidate, room, size, overhead)
        if packed is None:
            left_out += 1
        else:
            taken.append(_Open(candidate, packed))
            room -= cost
    shown = [t.candidate for t in taken]
    memories = tuple(
        replace(
            t.packed,
            passages=tuple(sorted(t.chosen, key=lambda p: (p.source, p.start))),
            may_supersede=_superseded(t.candidate, shown),
        )
        for t in taken
    )
    return Context(memories, max_tokens - room, left_out)


def newest_among_equals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first, and those that fit equally well newest first.

    Equal is who comes within EQUAL of the first of a group, so no chain of small steps carries
    far.
    """
    ordered: list[Candidate] = []
    group: list[Candidate] = []
    for item in (*sorted(candidates, key=lambda c: -c.score), None):
        if group and (item is None or item.score < group[0].score * (1 - EQUAL)):
            group.sort(key=lambda c: c.id)
            ordered += sorted(group, key=lambda c: c.created or _LONG_AGO, reverse=True)
            group = []
        if item is not None:
            group.append(item)
    return ordered


def same_matter(one: Candidate, other: Candidate) -> bool:
    """Whether two memories are about the same matter: in one topic, with titles or keywords that
    mostly agree. Numbers, and so dates, make no difference."""
    if one.topic.casefold() != other.topic.casefold():
        return False
    first, second = _title_terms(one), _title_terms(other)
    smaller = min(len(first), len(second))
    if smaller and len(first & second) >= max(SAME_TITLE * smaller, min(2, smaller)):
        return True
    ours, theirs = (frozenset(k.casefold() for k in c.keywords) for c in (one, other))
    shared = len(ours & theirs)
    return shared >= LEAST_KEYWORDS and shared >= SAME_KEYWORDS * len(ours | theirs)


def _superseded(newer: Candidate, others: Iterable[Candidate]) -> tuple[str, ...]:
    if newer.created is None:
        return ()
    older = [
        other
        for other in others
        if other.id != newer.id
        and other.created is not None
        and other.created < newer.created
        and same_matter(newer, other)
    ]
    older.sort(key=lambda c: c.created or _LONG_AGO, reverse=True)
    return tuple(c.id for c in older)


def _title_terms(candidate: Candidate) -> frozenset[str]:
    words = tokens(_NUMBERS.sub(" ", candidate.title))
    return frozenset(word for word in words if not is_function_term(word))


def _once(candidates: Iterable[Candidate]) -> list[Candidate]:
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best.get(candidate.id)
        if known is None or candidate.score > known.score:
            best[candidate.id] = candidate
    return list(best.values())


def _head(candidate: Candidate, room: int, size: Size, overhead: int) -> tuple[Packed | None, int]:
    """A memory with as much of its head as fits, and what that costs; None when nothing does."""
    cost = overhead + size(candidate.title) + size(candidate.topic)
    if room < cost + LEAST_TOKENS:
        return None, 0
    texts: list[str] = []
    for text in (candidate.summary, candidate.decisions, candidate.open_questions):
        piece = clipped(text.strip(), min(HEAD_TOKENS, room - cost), size)
        cost += size(piece)
        texts.append(piece)
    summary, decisions, questions = texts
    return (
        Packed(
            candidate.id,
            candidate.title,
            candidate.topic,
            candidate.created,
            summary,
            decisions,
            questions,
        ),
        cost,
    )


def _add_passages(taken: Sequence[_Open], room: int, size: Size) -> int:
    """Give out passages while they fit: every memory's best, then every second, and so on."""
    used = 0
    rounds = max((len(t.candidate.passages) for t in taken), default=0)
    for number in range(rounds):
        for memory in taken:
            if number >= len(memory.candidate.passages):
                continue
            passage = memory.candidate.passages[number]
            cost = size(passage.text)
            known = f"{memory.packed.summary}\n{memory.packed.decisions}"
            if used + cost <= room and passage.text.strip() and passage.text not in known:
                memory.chosen.append(passage)
                used += cost
    return used


def clipped(text: str, most: int, size: Size) -> str:
    """The beginning of a text within `most` tokens, at the end of a sentence or a word where one
    is near; empty where too little would be left."""
    if size(text) <= most:
        return text
    if most < LEAST_TOKENS:
        return ""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if size(text[:middle]) < most:
            low = middle
        else:
            high = middle - 1
    piece = text[:low]
    for border in ("\n", ". ", "。", " "):
        at = piece.rfind(border)
        if at > low // 2:
            piece = piece[: at + (border[0] not in "\n ")]
            break
    return piece.rstrip() + "…"
