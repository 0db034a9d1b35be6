"""Cuts a transcript into turns, into parts that fit a bound, and into passages for searching.

All three are pure and linear in the length of the text, and none loses a character: the pieces
joined are the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from neurigraph.model import Turn

Role = Literal["user", "assistant", "other"]

PART_TOKENS = 50_000
"""The most tokens of one memory's transcript, by `estimate_tokens`."""


def _names(words: str) -> frozenset[str]:
    return frozenset(name.strip() for name in words.split("|"))


_USER = _names(
    "user|you|human|me|i|prompt|you said|question|q|utilisateur|usuario|benutzer|nutzer|ich|vous"
    "|pregunta|用户|ユーザー|사용자|пользователь|вы"
)
_ASSISTANT = _names(
    "assistant|ai|bot|model|response|answer|a|chatgpt|chatgpt said|claude|claude said|gemini"
    "|gemini said|copilot|copilot said|gpt|gpt-4|gpt-4o|gpt-5|llama|mistral|deepseek|grok"
    "|perplexity|assistente|asistente|assistent|助手|アシスタント|어시스턴트|ассистент"
)
_OTHER = _names("system|tool|developer|function|narrator")
# Labels that are also common words of prose or documents: alone they make no conversation.
_WEAK = _names("i|a|q|question|answer|model|prompt|response|system|tool|function|me")
# What begins a line with a colon and is nobody's name.
_NO_NAMES = _names(
    "note|notes|example|examples|warning|tip|tips|summary|step|steps|hint|important|todo|fixme"
    "|update|edit|result|results|output|input|error|errors|answer|question|pros|cons|usage|option"
    "|options|title|date|time|subject|from|to|cc|re|source|sources|url|link|links|description"
    "|name|type|default|returns|args|arguments|parameters|params|raises|problem|solution"
    "|conclusion|context|goal|goals|reason|idea|today|yesterday|tomorrow|monday|tuesday|wednesday"
    "|thursday|friday|saturday|sunday|http|https|also|however|because|first|second|third|finally"
    "|next|then|before|after|total|price|cost|size|version|author|status|file|files"
)

_HEADING = re.compile(r"^(#{1,6})[ \t]+([^\n]{1,200}?)[ \t]*#*[ \t]*\r?$", re.MULTILINE)
_LABEL = re.compile(
    r"""^(?: \[(?P<t1>[^\]\n]{4,40})\][ \t]+
           | (?P<t2>\d[\d/.:, T-]{3,22}(?:[ ]?[AaPp]\.?[Mm]\.?)?)[ \t]+-[ \t]+ )?
        (?P<mark>\*\*\*|\*\*|__|\*|_)?
        (?P<name>[^\W\d_][^\n:：*_#`|<>\[\](){}=]{0,39}?)
        (?:[ \t]+[(\[](?P<t3>[^)\]\n]{4,40})[)\]])?
        (?:(?P<in>[:：])(?(mark)[ \t]*(?P=mark))|(?(mark)(?P=mark))[ \t]?[:：])
        (?:(?<=：)|(?=[ \t\r\n]|$))""",
    re.MULTILINE | re.VERBOSE,
)
_FENCE = re.compile(r"^[ \t>]*(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_WHEN = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[:.]\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n[\s]*")
_TRIM = "*_: \t"


class Span(NamedTuple):
    """A piece of a text, `text[start:end]`."""

    start: int
    end: int


class _Head(NamedTuple):
    """The line that opens a turn; `body` is where its text begins."""

    start: int
    body: int
    speaker: str
    role: Role
    when: str


# -- turns


def split_turns(text: str) -> list[Turn]:
    """The turns of a conversation, in order; joined, `text[turn.start:turn.end]` are the text.

    Known are `## User · 2026-11-30T10:30:00`, `## Assistant · gpt-5 · …`, `## You`, `User:`,
    `**Assistant:**`, with or without a time before or after, and other speakers' names where at
    least two of them speak twice. What stands in a code fence opens no turn. Without turns, each
    paragraph is one of role `other` and without a speaker.
    """
    heads = _heads(text)
    if not heads:
        return [
            Turn("", "other", "", text[start:end].strip(), start, end)
            for start, end in _paragraphs(text, 0, len(text))
        ]
    turns = []
    if heads[0].start:
        before = text[: heads[0].start]
        turns.append(Turn("", "other", "", before.strip(), 0, len(before)))
    ends = [head.start for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        said = text[head.body : end].strip()
        turns.append(Turn(head.speaker, head.role, head.when, said, head.start, end))
    return turns


def format_turn(speaker: str, when: str, text: str) -> str:
    """A turn as importers write it: `## speaker · when`, a blank line, the text, a blank line."""
    heading = " · ".join(part for part in (speaker, when) if part)
    return f"## {heading}\n\n{text.strip()}\n\n"


def role_of(speaker: str) -> Role:
    """Who a speaker's name stands for."""
    name = " ".join(speaker.strip(_TRIM).casefold().split())
    if name in _USER:
        return "user"
    return "assistant" if name in _ASSISTANT else "other"


def _heads(text: str) -> list[_Head]:
    """The opening lines of all turns, of the one form in which this text has them."""
    headings = _by_heading(text) if "#" in text else []
    labels = _by_label(text) if ":" in text or "：" in text else []
    forms = [form for form in (headings, labels) if form]
    if not forms:
        return []
    return min(forms, key=lambda form: form[0].start)


def _by_heading(text: str) -> list[_Head]:
    found: list[tuple[int, bool, _Head]] = []
    for match in _HEADING.finditer(text):
        parts = [part.strip() for part in match[2].split(" · ")]
        speaker = parts[0].strip(_TRIM)
        when = parts[-1] if len(parts) > 1 and _WHEN.search(parts[-1]) else ""
        role = role_of(speaker)
        if role != "other" or when or speaker.casefold() in _OTHER:
            head = _Head(match.start(), match.end(), speaker, role, when)
            found.append((len(match[1]), len(parts) > 1, head))
    found = _outside_fences(text, found)
    if not found:
        return []
    # a heading within an answer is no turn: turns share the level of the first, and its dots
    level, dotted, first = found[0]
    same = [h for depth, dots, h in found if depth == level and (dots or not dotted)]
    several = len({head.speaker.casefold() for head in same}) > 1
    at_the_top = first.speaker.casefold() not in _WEAK and not text[: first.start].strip()
    return same if dotted or several or at_the_top else []


def _by_label(text: str) -> list[_Head]:
    found: list[tuple[int, bool, _Head]] = []
    for match in _LABEL.finditer(text):
        name = match["name"].strip(_TRIM)
        when = next((t for t in (match["t1"], match["t2"], match["t3"]) if t), "")
        if when and not _WHEN.search(when):
            when = ""
        role = role_of(name)
        known = role != "other" or name.casefold() in _OTHER
        if known or _may_be_name(name):
            head = _Head(match.start(), match.end(), name, role, when.strip())
            found.append((0, known, head))
    found = _outside_fences(text, found)
    roles = [head for _, known, head in found if known]
    strong = {h.speaker.casefold() for h in roles} - _WEAK
    certain = bool(strong) or len({head.speaker.casefold() for head in roles}) > 1
    if certain and (len(roles) > 1 or not text[: roles[0].start].strip()):
        return roles
    counts = Counter(head.speaker for _, known, head in found if not known)
    speakers = {name for name, count in counts.items() if count > 1}
    named = [head for _, _, head in found if head.speaker in speakers]
    # a document repeats its labels under its headings; a conversation has few headings
    if len(speakers) < 2 or len(named) <= 3 * len(_HEADING.findall(text)):
        return []
    return named


def _may_be_name(name: str) -> bool:
    words = name.split()
    if not 1 <= len(words) <= 3 or words[0].casefold() in _NO_NAMES:
        return False
    return all(not word[0].islower() for word in words)


def _outside_fences(
    text: str, found: list[tuple[int, bool, _Head]]
) -> list[tuple[int, bool, _Head]]:
    if not found or ("```" not in text and "~~~" not in text):
        return found
    starts = [head.start for _, _, head in found]
    inside: set[int] = set()
    for start, end in _fences(text, starts):
        inside.update(range(bisect_left(starts, start), bisect_left(starts, end)))
    return [item for number, item in enumerate(found) if number not in inside]


def _fences(text: str, heads: list[int]) -> Iterator[Span]:
    """The closed code fences. One that is never closed, or is opened again beyond a turn's head
    before it is, was forgotten by a speaker and hides nothing."""
    lines = [(m.start(), m.end(), m["run"], m["info"].strip()) for m in _FENCE.finditer(text)]
    longest = _longest_closers(lines)
    at = 0
    while at < len(lines):
        start, _, run, info = lines[at]
        at += 1
        if (run[0] == "`" and "`" in info) or longest[run[0]][at] < len(run):
            continue
        for number in range(at, len(lines)):
            line, end, other, rest = lines[number]
            if other[0] != run[0] or len(other) < len(run):
                continue
            if not rest:
                yield Span(start, end)
                at = number + 1
                break
            if bisect_right(heads, start) < bisect_left(heads, line):
                at = number
                break


def _longest_closers(lines: list[tuple[int, int, str, str]]) -> dict[str, list[int]]:
    """By fence character: the longest line that could close a fence, from each line on."""
    found = {"`": [0] * (len(lines) + 1), "~": [0] * (len(lines) + 1)}
    for number in range(len(lines) - 1, -1, -1):
        _, _, run, info = lines[number]
        for mark, longest in found.items():
            own = len(run) if run[0] == mark and not info else 0
            longest[number] = max(longest[number + 1], own)
    return found


def _paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    last = start
    for match in _PARAGRAPH.finditer(text, start, end):
        if text[last : match.start()].strip() and match.end() < end:
            yield Span(last, match.end())
            last = match.end()
    if last < end:
        yield Span(last, end)


# -- parts


_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uffef\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model sees: bytes / 4, one a character in CJK."""
    return -(-_quarters(text) // 4)


def _quarters(text: str) -> int:
    """Quarters of a token, which unlike tokens add up over pieces."""
    if text.isascii():
        return len(text)
    rest = _CJK.sub("", text)
    return 4 * (len(text) - len(rest)) + len(rest.encode("utf-8", "surrogatepass"))


def split_parts(text: str, max_tokens: int = PART_TOKENS) -> list[str]:
    """The text in parts of at most `max_tokens` (1 or more), which joined are the text.

    Cut between turns; a turn that is too long between paragraphs, then lines, then anywhere.
    """
    if _quarters(text) <= 4 * max_tokens:
        return [text] if text else []
    parts: list[str] = []
    held: list[str] = []
    room = 4 * max_tokens
    for piece in _pieces(text, [Span(t.start, t.end) for t in split_turns(text)], 4 * max_tokens):
        size = _quarters(piece)
        if size > room:
            parts.append("".join(held))
            held, room = [], 4 * max_tokens
        held.append(piece)
        room -= size
    parts.append("".join(held))
    return parts


def _pieces(text: str, spans: Iterable[Span], most: int) -> Iterator[str]:
    """The spans, those over `most` quarters of a token cut into smaller ones."""
    for start, end in spans:
        if _quarters(text[start:end]) <= most:
            yield text[start:end]
            continue
        for inner in _paragraphs(text, start, end):
            if _quarters(text[inner.start : inner.end]) <= most:
                yield text[inner.start : inner.end]
                continue
            for line in text[inner.start : inner.end].splitlines(keepends=True):
                yield from _cut(line, most)


def _cut(line: str, most: int) -> Iterator[str]:
    while line:
        length = min(len(line), most)
        while (size := _quarters(line[:length])) > most:
            length = max(1, min(length - 1, length * most // size))
        yield line[:length]
        line = line[length:]


# -- passages


_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]")


def passages(
    text: str, max_chars: int = 900, overlap: int = 1, turns: int = 3, few_chars: int = 300
) -> list[Span]:
    """Windows for searching: about three turns or `max_chars` characters each.

    Neighbours share `overlap` turns where that fits; windows of very short turns (under
    `few_chars` in all) take more of them; a long turn is cut at paragraphs or sentences. Text
    without speakers is filled into windows as it comes, and they share nothing. Every character
    is in at least one window.
    """
    said = split_turns(text)
    if not any(turn.speaker for turn in said):
        overlap, few_chars = 0, max_chars
    units = [cut for turn in said for cut in _cut_long(text, turn.start, turn.end, max_chars)]
    windows: list[Span] = []
    first, covered = 0, 0
    while covered < len(units):
        last = first + 1
        start = units[first].start
        while last < len(units) and units[last].end - start <= max_chars:
            if last - first >= turns and units[last - 1].end - start >= few_chars:
                break
            last += 1
        if last <= covered:
            # the shared turns leave no room for a new one
            first = covered
            continue
        windows.append(Span(start, units[last - 1].end))
        covered = last
        first = max(last - overlap, first + 1)
    return windows


def _cut_long(text: str, start: int, end: int, most: int) -> Iterator[Span]:
    while end - start > most:
        cut = _good_cut(text, start + most // 2, start + most)
        yield Span(start, cut)
        start = cut
    if start < end:
        yield Span(start, end)


def _good_cut(text: str, low: int, high: int) -> int:
    for border in ("\n\n", "\n"):
        found = text.rfind(border, low, high)
        if found >= 0:
            return found + len(border)
    sentences = [match.end() for match in _SENTENCE_END.finditer(text, low, high)]
    if sentences:
        return sentences[-1]
    found = text.rfind(" ", low, high)
    return found + 1 if found >= 0 else high
