"""Cuts the piece of a text that answers a query, and marks the words that match.

Pure. Words that match stand between U+E000 and U+E001, two characters of private use that are
taken out of the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from neurigraph.index.keyword import spans

MARK, UNMARK = "\ue000", "\ue001"

SNIPPET_CHARS = 280
"""Characters of a snippet, marks and dots not counted."""

PASSAGE_CHARS = 900
"""Characters of a passage at most."""

_UNMARKED = str.maketrans("", "", MARK + UNMARK)
_BLANK = re.compile(r"\s+")
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
_CLUSTER = 60
"""Matches in one snippet that are weighed against each other."""


class Cut(NamedTuple):
    """A piece `text[start:end]` of a text."""

    start: int
    end: int


class Found(NamedTuple):
    """Characters of a text that match, and the term or phrase that they are."""

    start: int
    end: int
    what: str


def find(text: str, terms: Collection[str], phrases: Sequence[Sequence[str]] = ()) -> list[Found]:
    """Where terms and phrases stand in a text, in running order. For pieces, not whole texts."""
    words = spans(text)
    found = [Found(word.start, word.end, word.term) for word in words if word.term in terms]
    for phrase in filter(None, phrases):
        size = len(phrase)
        found += (
            Found(words[i].start, words[i + size - 1].end, " ".join(phrase))
            for i in range(len(words) - size + 1)
            if all(words[i + j].term == term for j, term in enumerate(phrase))
        )
    return sorted(found)


@lru_cache(maxsize=20_000)
def first_word(text: str) -> tuple[str, int]:
    """The term at the very beginning of a text and the character at which its word ends."""
    for word in spans(text)[:1]:
        if word.start == 0:
            return word.term, word.end
    return "", 0


def whole_words(text: str, start: int, end: int) -> Cut:
    """The piece with words at its borders kept whole, without blanks at either end."""
    start = min(max(start, 0), len(text))
    end = min(max(end, start), len(text))
    # a run without blanks (Chinese, base64) is cut where it is
    for _ in range(40):
        if not (0 < start < end and text[start - 1].isalnum() and text[start].isalnum()):
            break
        start -= 1
    for _ in range(40):
        if not (start < end < len(text) and text[end - 1].isalnum() and text[end].isalnum()):
            break
        end += 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Cut(start, end)


def passage_around(text: str, start: int, end: int) -> Cut:
    """The piece widened to lines where these are near, so that a turn keeps its speaker."""
    if end - start > PASSAGE_CHARS:
        start = (start + end - PASSAGE_CHARS) // 2
        end = start + PASSAGE_CHARS
    room = (PASSAGE_CHARS - (end - start)) // 2
    line = text.rfind("\n", max(start - room, 0), start + 1)
    if line >= 0:
        start = line + 1
    elif start <= room:
        start = 0
    line = text.find("\n", end, end + room)
    if line >= 0:
        end = line
    elif len(text) - end <= room:
        end = len(text)
    return whole_words(text, start, end)


def mark(text: str, cut: Cut, found: Sequence[Found]) -> str:
    """A piece of a text with what was found in it marked; what overlaps is one mark."""
    merged: list[list[int]] = []
    for start, end, _ in found:
        if start < cut.start or end > cut.end:
            continue
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    pieces: list[str] = []
    last = cut.start
    for start, end in merged:
        pieces += (_bare(text[last:start]), MARK, _bare(text[start:end]), UNMARK)
        last = end
    return "".join((*pieces, _bare(text[last : cut.end])))


def snippet(
    text: str, cut: Cut, found: Sequence[Found], weights: Mapping[str, float] | None = None
) -> str:
    """The best SNIPPET_CHARS of a piece on one line, matches marked, dots where it is cut.

    Best is where the most different words match, the heavier ones first; in a tie the earlier.
    """
    inside = [f for f in found if f.start >= cut.start and f.end <= cut.end]
    middle = whole_words(text, *_densest(text, cut, inside, weights or {}))
    marked = _BLANK.sub(" ", _HEADING.sub("", mark(text, middle, inside))).strip()
    before = "…" if text[: middle.start].strip() else ""
    after = "…" if text[middle.end :].strip() else ""
    return f"{before}{marked}{after}"


def _densest(
    text: str, cut: Cut, found: Sequence[Found], weights: Mapping[str, float]
) -> tuple[int, int]:
    if cut.end - cut.start <= SNIPPET_CHARS:
        return cut
    if not found:
        return cut.start, cut.start + SNIPPET_CHARS
    best, most = (found[0].start, found[0].end), -1.0
    for i, first in enumerate(found):
        room = first.start + SNIPPET_CHARS - 40
        near = [f for f in found[i : i + _CLUSTER] if f.end <= room] or [first]
        worth = sum(weights.get(what, 1.0) for what in {f.what for f in near}) + len(near) / 100
        if worth > most:
            best, most = (first.start, max(f.end for f in near)), worth
    slack = SNIPPET_CHARS - (best[1] - best[0])
    begin = max(cut.start, best[0] - max(slack, 0) // 3)
    line = text.find("\n", max(begin - 40, cut.start), best[0])
    if line >= 0 and best[0] - line < slack:
        begin = line + 1  # begin with the line, and so with who speaks
    end = min(cut.end, begin + SNIPPET_CHARS)
    return max(cut.start, min(begin, end - SNIPPET_CHARS)), end


def _bare(text: str) -> str:
    return text.translate(_UNMARKED) if MARK in text or UNMARK in text else text
