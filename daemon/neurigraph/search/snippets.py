"""Cuts the piece of a text that answers a query, and marks the words that match.

Pure. Words that match stand between U+E000 and U+E001, two characters of private use that are
taken out of the text itself first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from neurigraph.index.keyword import spans

MARK, UNMARK = "\ue000", "\ue001"

SNIPPET_CHARS = 280
"""Characters of a snippet, marks and dots not counted."""

PASSAGE_CHARS = 900
"""Characters of a passage at most."""

_UNMARKED = str.maketrans("", "", MARK + UNMARK)
_BLANK = re.compile(r"\s+")
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece `text[start:end]` of a text."""

    start: int
    end: int


def whole_words(text: str, start: int, end: int) -> Cut:
    """The piece with words at its borders kept whole, without blanks at either end."""
    start, end = max(start, 0), min(max(end, start), len(text))
    # a run without blanks (Chinese, base64) is cut where it is
    for _ in range(40):
        if 0 < start < end and text[start - 1].isalnum() and text[start].isalnum():
            start -= 1
        else:
            break
    for _ in range(40):
        if start < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
            end += 1
        else:
            break
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Cut(start, end)


def passage_around(text: str, start: int, end: int) -> Cut:
    """The piece widened to lines where these are near, so that a turn keeps its speaker."""
    middle = (start + end) // 2
    if end - start > PASSAGE_CHARS:
        start, end = middle - PASSAGE_CHARS // 2, middle + PASSAGE_CHARS // 2
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


def mark(text: str, terms: Collection[str], phrases: Sequence[Sequence[str]] = ()) -> str:
    """The text with the words that match marked; a phrase that stands in it is one mark."""
    text = text.translate(_UNMARKED)
    words = spans(text)
    found: list[tuple[int, int]] = []
    for phrase in phrases:
        size = len(phrase)
        for i in range(len(words) - size + 1):
            if [w.term for w in words[i : i + size]] == list(phrase):
                found.append((words[i].start, words[i + size - 1].end))
    found += [(word.start, word.end) for word in words if word.term in terms]
    if not found:
        return text
    found.sort()
    merged = [found[0]]
    for start, end in found[1:]:
        if start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    pieces: list[str] = []
    last = 0
    for start, end in merged:
        pieces += (text[last:start], MARK, text[start:end], UNMARK)
        last = end
    return "".join((*pieces, text[last:]))


def snippet(
    text: str,
    cut: Cut,
    terms: Collection[str],
    phrases: Sequence[Sequence[str]] = (),
    weights: dict[str, float] | None = None,
) -> str:
    """The best SNIPPET_CHARS of a piece of a text on one line, matches marked, dots where cut.

    Best is where the most different words match, the heavier ones first; in a tie the earlier.
    """
    piece = text[cut.start : cut.end].translate(_UNMARKED)
    best = _densest(piece, terms, phrases, weights or {})
    middle = whole_words(piece, *best)
    marked = _BLANK.sub(
        " ", _HEADING.sub("", mark(piece[middle.start : middle.end], terms, phrases))
    )
    before = (
        "…" if cut.start + middle.start > 0 and text[: cut.start + middle.start].strip() else ""
    )
    after = "…" if text[cut.start + middle.end :].strip() else ""
    return f"{before}{marked.strip()}{after}"


def _densest(
    piece: str,
    terms: Collection[str],
    phrases: Sequence[Sequence[str]],
    weights: dict[str, float],
) -> tuple[int, int]:
    if len(piece) <= SNIPPET_CHARS:
        return 0, len(piece)
    words = spans(piece)
    hits = [(w.start, w.end, w.term) for w in words if w.term in terms]
    for phrase in phrases:
        for i in range(len(words) - len(phrase) + 1):
            if [w.term for w in words[i : i + len(phrase)]] == list(phrase):
                hits.append((words[i].start, words[i + len(phrase) - 1].end, " ".join(phrase)))
    if not hits:
        return 0, SNIPPET_CHARS
    hits.sort()
    best, found = (hits[0][0], hits[0][1]), -1.0
    for i, (start, _, _) in enumerate(hits):
        inside = [h for h in hits[i:] if h[1] <= start + SNIPPET_CHARS - 40]
        if not inside:
            continue
        worth = sum(weights.get(t, 1.0) for t in {h[2] for h in inside}) + len(inside) / 100
        if worth > found:
            best, found = (start, inside[-1][1]), worth
    slack = SNIPPET_CHARS - (best[1] - best[0])
    begin = max(0, best[0] - max(slack, 0) // 3)
    line = piece.find("\n", max(begin - 40, 0), best[0])
    if line >= 0 and best[0] - line < slack:
        begin = line + 1  # begin with the line, and so with who speaks
    end = min(len(piece), begin + SNIPPET_CHARS)
    return max(0, min(begin, end - SNIPPET_CHARS)), end
