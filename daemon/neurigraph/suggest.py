"""Which topic a conversation belongs to, when nobody said: that of the memories most like it.

The most similar memories vote for their topics, each with how alike it is. A topic is chosen when
it is clearly ahead; when only its broad topic is, that one's `General` is; when nothing is alike
enough, none is. The names and descriptions of topics vote too, so that an empty topic can win.
Pure, but for the ranking that is handed in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from neurigraph.index.analysis import tokens

VOTERS = 8
NEAR, FAR = 0.62, 0.40
"""Cosines at which a memory's passage counts fully, and no more at all. Measured on 99
conversations of four pairs of people: those of the same pair lie between .42 and .70, others
below .37. Of 40, 38 found the topic of their pair and two none, and none was put elsewhere, even
where that topic was missing."""

LEAST_SHARED = 0.05
"""Share of words without which no cosine counts: the vectors of scripts that an embedder hardly
knows are all alike (.75 between a Chinese and a Japanese text on other matters)."""

COVER_FULL, COVER_NONE = 0.5, 0.15
"""The same for the share of the conversation's keywords that a memory's title and keywords have."""

NAME_VOTE = 0.8
ENOUGH, AHEAD = 0.5, 1.5
"""Votes that a topic needs at least, and how many times those of the next one."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory that is like the conversation: its topic's path, and what says so."""

    topic: str
    title: str
    cosine: float | None
    words: str

    def likeness(self, wanted: frozenset[str]) -> float:
        """From 0, not alike, to 1."""
        shared = len(wanted & set(tokens(self.words))) / len(wanted) if wanted else 0.0
        by_words = _between(shared, COVER_NONE, COVER_FULL)
        if self.cosine is None or shared < LEAST_SHARED:
            return by_words
        return max(by_words, _between(self.cosine, FAR, NEAR))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A topic's path, and why in words for whoever saves."""

    topic: str
    why: str


def suggest(
    keywords: Sequence[str], similar: Sequence[Similar], topics: Mapping[str, str]
) -> Suggestion | None:
    """The topic for a conversation with these keywords, or None when none fits.

    `topics` are the focused topics by path, each with its name and description.
    """
    wanted = frozenset(t for word in keywords for t in tokens(word))
    votes: defaultdict[str, float] = defaultdict(float)
    best: dict[str, tuple[float, str]] = {}
    for memory in similar[:VOTERS]:
        alike = memory.likeness(wanted)
        votes[memory.topic] += alike
        if alike > best.get(memory.topic, (0.0, ""))[0]:
            best[memory.topic] = (alike, memory.title)
    for path, words in topics.items():
        # the name says most: each of its words must be spoken of
        name = set(tokens(path.rpartition("/")[2]))
        if name and name <= wanted and len(set(tokens(words)) & wanted) >= 1:
            votes[path] += NAME_VOTE
    order = sorted(((v, p) for p, v in votes.items() if v > 0), reverse=True)
    if not order:
        return None
    first, path = order[0]
    second = order[1][0] if len(order) > 1 else 0.0
    if first >= ENOUGH and first >= AHEAD * second:
        return Suggestion(path, _why(path, best))
    return _broad(order, best)


def _broad(
    order: Sequence[tuple[float, str]], best: Mapping[str, tuple[float, str]]
) -> Suggestion | None:
    """The broad topic that is clearly ahead, though none of its focused ones is."""
    votes: defaultdict[str, float] = defaultdict(float)
    for vote, path in order:
        votes[path.partition("/")[0]] += vote
    ranked = sorted(((v, p) for p, v in votes.items()), reverse=True)
    first, broad = ranked[0]
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    if first < ENOUGH or first < AHEAD * second:
        return None
    inner = [(vote, path) for vote, path in order if path.partition("/")[0] == broad]
    top, path = inner[0]
    if top >= first * 0.5 and top > (inner[1][0] if len(inner) > 1 else 0.0):
        return Suggestion(path, _why(path, best))
    why = f"Several topics of {broad} are like it; it is in {broad}/General."
    return Suggestion(f"{broad}/General", why)


def _why(path: str, best: Mapping[str, tuple[float, str]]) -> str:
    title = best.get(path, (0.0, ""))[1]
    return f"Put in {path}, " + (
        f"because it is most like '{title}' there." if title else "whose name it speaks of."
    )


def _between(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
