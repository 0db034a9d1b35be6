"""The whole sentences of a conversation, without code, tables, markup and turn headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from neurigraph.model import Turn
from neurigraph.summarize.languages import ABBREVIATIONS, CJK, GREETING, INTERJECTION, language_of
from neurigraph.vault.turns import split_turns

READ_AT_MOST = 130_000
"""Characters of a conversation that are looked at; a longer one is sampled by turns."""

_TURN_AT_MOST = 30_000
_LONGEST = 420


# letters of scripts whose vowels are marks: Indic, Thai, Hebrew, Arabic, and decomposed accents
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0dff\u0e31-\u0e4e"
WORD = re.compile(rf"[^\W_][\w'’{MARKS}]*")

Kind = Literal["prose", "item", "quote"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as written. `speaker` is a person's name where the transcript has names, not
    roles; `turn` counts turns, `place` sentences within the turn and `left`
    those that follow in it; `words` is its length (two CJK characters count as a word); `whole`
    is false for a line that does not end as a sentence does."""

    text: str
    role: str
    speaker: str
    turn: int
    place: int
    left: int
    words: int
    whole: bool
    kind: Kind


def sentences_of(transcript: str) -> tuple[list[Sentence], str]:
    """The sentences of a transcript in the order of the text, and its language, two letters.

    Bounded work for any length: of a very long conversation a sample is read.
    """
    turns = _sample(_whole_blocks(split_turns(transcript)))
    language = language_of(" ".join(turn.text[:4_000] for turn in turns[:12]))
    found: list[Sentence] = []
    for number, turn in enumerate(turns):
        texts = list(_sentences(turn.text[:_TURN_AT_MOST], language))
        name = turn.speaker if turn.role == "other" else ""
        last = len(texts) - 1
        found += [
            Sentence(text, turn.role, name, number, at, last - at, length(text), whole, kind)
            for at, (text, whole, kind) in enumerate(texts)
        ]
    return found, language


_FRONTMATTER = re.compile(r"\s*---\n(?:[\w\s-]+:|\s|- |#)[^\0]{0,8000}?\n---[ \t]*(?:\n|$)")
_COMMENTS = (("%%", "%%"), ("<!--", "-->"))


def without_asides(text: str) -> str:
    """A text without the properties at its head and without comments, which are no prose."""
    if text.lstrip()[:4] == "---\n":
        text = _FRONTMATTER.sub("", text, count=1) if _FRONTMATTER.match(text) else text
    for begins, ends_with in _COMMENTS:
        text = _without(text, begins, ends_with)
    return text


def _without(text: str, begins: str, ends_with: str) -> str:
    """A text without what stands between two signs; linear, which no pattern would be."""
    kept: list[str] = []
    at = 0
    while (start := text.find(begins, at)) >= 0:
        end = text.find(ends_with, start + len(begins))
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(ends_with)
    return "".join(kept) + text[at:] if kept else text


def length(text: str) -> int:
    """Words in a text; where words are not set apart, two characters count as one."""
    if text.isascii():
        return text.count(" ") + 1 if text else 0
    cjk = sum(len(run) for run in CJK.findall(text))
    return (len(CJK.sub(" ", text).split()) if cjk else len(text.split())) + (cjk + 1) // 2


def _whole_blocks(turns: list[Turn]) -> list[Turn]:
    """Paragraphs of a text without turns, those joined again that a code fence goes across."""
    if any(turn.speaker for turn in turns):
        return turns
    joined: list[Turn] = []
    open_fence = ""
    for turn in turns:
        if open_fence:
            before = joined[-1]
            text = f"{before.text}\n\n{turn.text}"
            joined[-1] = replace(before, text=text[:_TURN_AT_MOST], end=turn.end)
        else:
            joined.append(turn)
        for line in turn.text.splitlines():
            if fence := _FENCE.match(line):
                if not open_fence:
                    open_fence = fence[1]
                elif fence[1].startswith(open_fence):
                    open_fence = ""
    return joined


def _sample(turns: list[Turn]) -> list[Turn]:
    """All turns, or of a very long conversation its beginning, its end and an even choice."""
    sizes = [min(turn.end - turn.start, _TURN_AT_MOST) for turn in turns]
    if sum(sizes) <= READ_AT_MOST:
        return turns
    chosen: set[int] = set()
    room = READ_AT_MOST
    for order, share in (
        (range(len(turns)), 0.35),
        (range(len(turns) - 1, -1, -1), 0.25),
        (range(0, len(turns), max(1, sum(sizes) * 5 // (READ_AT_MOST * 2))), 0.40),
    ):
        budget = min(room, int(READ_AT_MOST * share))
        for at in order:
            if at in chosen:
                continue
            if budget <= 0:
                break
            chosen.add(at)
            budget -= sizes[at]
            room -= sizes[at]
    return [turns[at] for at in sorted(chosen)]


_FENCE = re.compile(r"^\s{0,3}(?:>\s*)?(`{3,}|~{3,})")
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+")
_RULE = re.compile(r"^\s*(?:[-=_*~]\s*){3,}$")
_CODE_START = re.compile(
    r"^\s*(?:[$>%#]\s\S|>>>|\.\.\.\s|#!|//|/\*|\*/|</?[A-Za-z!]|@\w+|import\s+[\w.{*]+"
    r"|from\s+[\w.]+\s+import\b|(?:def|class|func|fn|function|const|let|var|public|private|static"
    r"|package|using|namespace|#include)\s+[\w({]+.*[({:;=]|return\b.*;?$|SELECT\b|INSERT\s|CREATE\s"
    r"|File \"|Traceback \(|at\s+[\w.$<>]+\(|[A-Za-z_.]+(?:Error|Exception|Warning)\b:"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b|[+-]{3}\s|@@\s|diff --git"
    r"|\w+\s*=\s*[\w\[{('\"]+.*$|\w+(?:\.\w+)+\(.*\)\s*;?$|[}\])]+[;,]?\s*$)"
)
_LETTERS = re.compile(r"[^\W\d_]")
_ENDED = tuple(".!?…。！？｡؟।")
_CLOSING = "\"'”’»)]」』）*_"


def _blocks(text: str) -> Iterator[tuple[str, Kind]]:
    """Paragraphs, list items and quotes as single lines of plain text, code left out."""
    open_fence = ""
    lines: list[str] = []
    kind: Kind = "prose"
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence and (not open_fence or fence[1].startswith(open_fence)):
            open_fence = "" if open_fence else fence[1]
            yield from _joined(lines, kind)
            lines, kind = [], "prose"
            continue
        if open_fence:
            continue
        quote = _QUOTE.match(line) if ">" in line[:4] else None
        bare = line[quote.end() :] if quote else line
        item = _ITEM.match(bare)
        content = bare[item.end() :] if item else bare
        inside = kind == "item" and bool(lines or line[:1].isspace())
        indented = bare.startswith(("    ", "\t")) and not item and not inside
        if indented or not content.strip() or _is_form(bare) or _is_code(content):
            yield from _joined(lines, kind)
            lines = []
            continue
        if item or not lines or not _goes_on(lines[-1], content):
            yield from _joined(lines, kind)
            lines = []
            kind = "quote" if quote else "item" if item or inside else "prose"
        lines.append(content.strip())
    yield from _joined(lines, kind)


def _joined(lines: list[str], kind: Kind) -> Iterator[tuple[str, Kind]]:
    if lines:
        yield plain(("" if CJK.search(lines[0][-2:]) else " ").join(lines)), kind


def _is_form(line: str) -> bool:
    """A rule, a heading or a row of a table."""
    return bool(
        _RULE.match(line)
        or _HEADING.match(line)
        or line.lstrip().startswith("|")
        or line.count(" | ") > 1
        or line.count("\t") > 1
    )


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the wrapped rest of the one before, not a thought of its own."""
    if ends(before):
        return len(before) > 60
    return len(before) > 50 or line.lstrip()[:1].islower()


def _is_code(line: str) -> bool:
    if _CODE_START.match(line) and not line.rstrip().endswith((".", "?", "!")):
        return True
    signs = sum(map(line.count, "{}[]()<>=;|\\/_&$*#`"))
    return signs > 3 and signs * 7 > len(line) and not CJK.search(line)


_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|!\[\[[^\]\n]{0,200}\]\]")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\([^)\n]{0,500}\)")
_WIKILINK = re.compile(r"\[\[(?:[^\]|\n]{1,200}\|)?([^\]|\n]{1,200})\]\]")
_URL = re.compile(r"<?(?:https?://|www\.)([\w\-.]+)[^\s<>）」]*")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_REFERENCE = re.compile(r"\[(?:\d{1,3}|\^[\w-]{1,30})\]|【[^】]{0,40}】")
_STRONG = re.compile(r"(\*\*|__|~~|==)(?=\S)(.{1,400}?)(?<=\S)\1")
_ITALIC = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_\n]{1,300}?)(?<=[^\s*_])\1(?![\w*])")
_PICTURES = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2bff\ufe0f\u200d\u20e3\ue000-\uf8ff]+"
)
_MARKUP = re.compile(r"[\[\]<>*_~=`\\#^|/]")


def plain(text: str) -> str:
    """One line of markdown as plain text: the words stay, links, emphasis, emoji go."""
    if _MARKUP.search(text):
        text = _IMAGE.sub("", text)
        text = _WIKILINK.sub(r"\1", text)
        text = _LINK.sub(r"\1", text)
        text = _URL.sub(r"\1", text)
        text = _TAG.sub("", text)
        text = _REFERENCE.sub("", text)
        text = _STRONG.sub(r"\2", text)
        text = _ITALIC.sub(r"\2", text)
        text = text.replace("`", "").replace("**", "")
    if not text.isascii():
        text = _PICTURES.sub("", text)
    return " ".join(text.split())


_BREAK = re.compile(
    r"[。！？｡][」』）\"”]*|[!?](?=[\u3040-\u9fff])"
    r"|(?<![.!?…؟।])[.!?…؟।]+[\"'”’»)\]]*(?=\s+[\"'“«„(\[]?[^\W\d_a-zа-яß]|\s+\d|$)"
)
# who begins a line in lower case begins sentences so too
_CASUAL_BREAK = re.compile(r"[。！？｡]|(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s|$)")
_LAST_WORD = re.compile(r"[^\s(\[\"“„«]{1,12}$")


def split_sentences(line: str, language: str = "en") -> list[str]:
    """A line of prose cut into sentences, abbreviations, initials and ordinals minded."""
    pieces: list[str] = []
    begin = 0
    breaks = _CASUAL_BREAK if line[:1].islower() else _BREAK
    for end in breaks.finditer(line):
        before = line[max(0, end.start() - 12) : end.start()]
        if end[0] == "." and _is_abbreviation(before, language):
            continue
        piece = line[begin : end.end()].strip()
        if piece:
            pieces.append(piece)
        begin = end.end()
    rest = line[begin:].strip()
    return [*pieces, rest] if rest else pieces


def _is_abbreviation(before: str, language: str) -> bool:
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    text = word[0].lower()
    if text.isdigit() and len(text) < 3:
        return language in {"de", "no", "da", "fi", "cs"}  # there "3." is an ordinal
    return text in ABBREVIATIONS or (len(text) == 1 and text.isalpha() and text != "i")


def _sentences(text: str, language: str) -> Iterator[tuple[str, bool, Kind]]:
    for line, kind in _blocks(text):
        for piece in split_sentences(line, language):
            sentence = tidy(piece)
            if not _LETTERS.search(sentence):
                continue
            for part in _shortened(sentence):
                yield part, ends(part), kind


def tidy(sentence: str) -> str:
    """A sentence without the greeting or interjection before it, begun with a capital."""
    sentence = sentence.strip(" \t-–—•*·_")
    stripped = GREETING.sub("", sentence)
    stripped = INTERJECTION.sub("", stripped)
    if stripped[:1].islower() and (stripped != sentence or sentence.find(" ") > 0):
        return stripped[0].upper() + stripped[1:]
    return stripped


def _shortened(sentence: str) -> Iterable[str]:
    """A line without full stops in pieces that can be read: cut at semicolons, commas, words."""
    if len(sentence) <= _LONGEST:
        return (sentence,)
    pieces: list[str] = []
    while len(sentence) > _LONGEST:
        cut = max(sentence.rfind(sign, 120, _LONGEST - 20) for sign in (";", " - ", "、", "；"))
        if cut < 0:
            cut = max(sentence.rfind(sign, 120, _LONGEST - 20) for sign in (",", "，", " "))
        if cut < 0:
            cut = _LONGEST - 20
        pieces.append(sentence[: cut + 1].rstrip(" ,;-") + " …")
        sentence = sentence[cut + 1 :].lstrip(" ,;-")
    return (*pieces, sentence) if sentence else pieces


def ends(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip(_CLOSING).endswith(_ENDED)


def clip(text: str, most: int) -> str:
    """A text of at most so many characters, cut between words and ended with `…`."""
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most - 1)
    return text[: cut if cut > 0 else most - 1].rstrip(" ,;:-–—.") + "…"


def in_order(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Sentences in the order of the text."""
    return sorted(sentences, key=lambda sentence: (sentence.turn, sentence.place))
