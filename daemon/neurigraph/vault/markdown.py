"""The little of markdown that the vault needs to know: headings, code, comments, plain words."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MARK = re.compile(r"\n {0,3}(?:(#{1,6})(?=[ \t\n]|\Z)([^\n]*)|(`{3,}|~{3,})([^\n]*))")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_TICKS = re.compile(r"`+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Heading:
    """A `#` heading outside of code: level 1 to 6, its text, the offsets of its line (`end` is
    before the line break)."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a text, its fenced blocks as offsets, and the fence that is left open."""

    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]
    open_fence: str


def unix(text: str) -> str:
    """The text with every line break a line feed, at the same offsets."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def printable(text: str) -> str:
    """The text as a UTF-8 file can hold it: NULs and halves of characters become U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text)


def outline(body: str) -> Outline:
    """Headings and fenced code of a note, as CommonMark finds them at the left margin."""
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    fence, opened = "", 0
    # with a line feed in front, a match begins where its line does
    for mark in _MARK.finditer("\n" + unix(body)):
        hashes, title, ticks, info = mark.groups()
        if ticks and not fence:
            if ticks[0] == "~" or "`" not in info:
                fence, opened = ticks, mark.start()
        elif ticks:
            if ticks[0] == fence[0] and len(ticks) >= len(fence) and not info.strip():
                fences.append((opened, mark.end() - 1))
                fence = ""
        elif not fence:
            text = _without_closing_hashes(title)
            headings.append(Heading(len(hashes), text, mark.start(), mark.end() - 1))
    if fence:
        fences.append((opened, len(body)))
    return Outline(tuple(headings), tuple(fences), fence)


def _without_closing_hashes(title: str) -> str:
    title = title.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title


def headings(body: str) -> list[Heading]:
    """Every heading of a note, in order; a `#` in code is none."""
    return list(outline(body).headings)


def first_heading(body: str) -> str:
    """The words of the first heading that has any, without its markup; empty when there is none."""
    for heading in outline(body).headings:
        words = plain_line(heading.text)
        if words:
            return words
    return ""


class Hidden:
    """The parts of a text in which a link is no link: fenced and inline code, `%%` comments."""

    def __init__(self, body: str) -> None:
        text = unix(body)
        ranges = list(outline(body).fences) if "```" in text or "~~~" in text else []
        if "`" in text:
            ranges = sorted([*ranges, *_inline_code(text, ranges)])
        if "%%" in text:
            ranges = sorted([*ranges, *_comments(text, ranges)])
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]

    def __contains__(self, offset: int) -> bool:
        index = bisect.bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


def _inline_code(text: str, fences: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Runs of backticks up to the next run of the same length in the same paragraph."""
    bounds = [0, *(offset for fence in fences for offset in fence), len(text)]
    for start, end in zip(bounds[::2], bounds[1::2], strict=True):
        at = start
        while at < end:
            close = _PARAGRAPH_END.search(text, at, end)
            stop = close.end() if close else end
            yield from _code_spans(text, at, stop)
            at = stop


def _code_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(text, start, end)]
    by_length: dict[int, list[int]] = {}
    for run_start, run_end in runs:
        by_length.setdefault(run_end - run_start, []).append(run_start)
    done = start
    for run_start, run_end in runs:
        if run_start < done or (run_start and text[run_start - 1] == "\\"):
            continue
        length = run_end - run_start
        same = by_length[length]
        index = bisect.bisect_right(same, run_start)
        if index < len(same):
            done = same[index] + length
            yield run_start, done


def _comments(text: str, code: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    starts = [start for start, _ in code]
    at = 0
    while comment := _COMMENT.search(text, at):
        index = bisect.bisect_right(starts, comment.start()) - 1
        if index >= 0 and comment.start() < code[index][1]:
            at = code[index][1]
            continue
        yield comment.span()
        at = comment.end()


_DROPPED = re.compile(
    r"(?s:%%.*?%%)|(?s:<!--.*?(?:-->|\Z))|(?m:^(?=[ \t:|-]*$)[ \t:|]*--[^\n]*$)"
    r"|!\[\[[^\[\]\n]*\]\]|!\[[^\[\]\n]*\]\([^()\n]*\)|\[\^[^\[\]\n]+\]:?|\$\$(?s:.*?)\$\$"
    r"|(?m:(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$)"
)
_LINE_START = re.compile(
    r"(?m)^[ \t]*(?:>[ \t]?)*(?:\[![\w-]+\][+-]?[ \t]*)?(?:[-*+][ \t]+|\d{1,4}[.)][ \t]+)?"
    r"(?:\[[ xX/-]\][ \t]+)?(?:#{1,6}(?:[ \t]+|$))?"
)
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]*)\]\((?:<[^>\n]*>|[^()\n]*)\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|~~|==|`+")
_TABLE_ROW = re.compile(r"(?m)^[ \t]*\|[^\n]*$")
_BLANK_LINES = re.compile(r"\n\s*\n+")


def plain_line(text: str) -> str:
    """One line of markdown as words."""
    text = _WIKILINK.sub(_link_words, text)
    text = _MARKDOWN_LINK.sub(r"\1", text)
    text = _TAG.sub("", text)
    return " ".join(_EMPHASIS.sub("", text).split())


def plain_text(body: str, limit: int = 200_000) -> str:
    """The words of a note without its markup: no code blocks, comments, images or table rules.

    Paragraphs stay apart by one blank line. Only the first `limit` characters are looked at.
    """
    body = body[:limit]
    kept, at = [], 0
    for start, end in outline(body).fences:
        kept.append(body[at:start])
        at = end
    text = _DROPPED.sub("", unix("".join([*kept, body[at:]])))
    text = _LINE_START.sub("", text)
    text = _WIKILINK.sub(_link_words, text)
    text = _MARKDOWN_LINK.sub(r"\1", text)
    text = _TAG.sub("", text)
    text = _EMPHASIS.sub("", text)
    if "|" in text:
        text = _TABLE_ROW.sub(lambda row: row[0].replace("|", " ").strip(), text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def _link_words(link: re.Match[str]) -> str:
    alias: str | None = link[2]
    if alias:
        return alias
    target: str = link[1]
    return target.rpartition("/")[2].replace("#", " ").strip()
