"""Tells a model's answer that is fit to keep from one that is not.

Small models cut their JSON off, say one sentence over and over, refuse, echo the prompt, or tell
of things that the transcript does not hold. Each of these is recognised here and raises
`SummarizerFailed`, so that the summary made of the transcript's own sentences stays.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neurigraph.summarize.draft import SummarizerFailed
from neurigraph.summarize.languages import CJK, DATES, DULL, STOP, TELLING, fold
from neurigraph.summarize.prose import WORD, length, plain, split_sentences

MOST_WORDS = 350
"""A summary may be longer than it was asked to be by this much, in words."""

_SAME_SENTENCE = 3
_UNKNOWN_WORDS = 0.55
_UNKNOWN_NAMES = 0.3
_UNKNOWN_NUMBERS = 0.34
_UNKNOWN_CHARACTERS = 0.7


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, read and cleaned, not yet trusted. `title` may be empty."""

    title: str
    summary: str
    keywords: tuple[str, ...]
    decisions: tuple[str, ...]
    open_questions: tuple[str, ...]


def read_answer(who: str, text: str, complete: bool = True) -> Answer:
    """The answer that a model's JSON holds.

    Thoughts before it and a code fence around it are forgiven. Raises `SummarizerFailed` when the
    JSON is invalid or cut off (`complete` is false when the model stopped at its limit), or when
    a key is missing or of the wrong kind.
    """
    bare = re.sub(r"^.*?</think(?:ing)?>", "", text, count=1, flags=re.DOTALL)
    begin, end = bare.find("{"), bare.rfind("}")
    if not complete or (begin >= 0 and end < begin):
        raise SummarizerFailed(who, "its answer was cut off")
    if begin < 0:
        raise SummarizerFailed(who, "its answer is not JSON")
    try:
        found = json.loads(bare[begin : end + 1], strict=False)
    except (ValueError, RecursionError) as error:
        raise SummarizerFailed(who, "its answer is not valid JSON") from error
    if not isinstance(found, dict):
        raise SummarizerFailed(who, "its answer is not a JSON object")
    summary = found.get("summary")
    if not isinstance(summary, str):
        raise SummarizerFailed(who, "its answer has no summary")
    title = found.get("title", "")
    return Answer(
        title=_line(title) if isinstance(title, str) else "",
        summary=_paragraphs(summary),
        keywords=tuple(dict.fromkeys(_strings(who, found, "keywords"))),
        decisions=tuple(dict.fromkeys(_strings(who, found, "decisions"))),
        open_questions=tuple(dict.fromkeys(_strings(who, found, "open_questions"))),
    )


def _strings(who: str, found: Mapping[str, Any], key: str) -> list[str]:
    value = found.get(key)
    if isinstance(value, str):
        value = re.split(r"[\n;]" if key != "keywords" else r"[\n;,]", value)
    if not isinstance(value, list):
        raise SummarizerFailed(who, f"its answer has no {key}")
    lines = [_line(item).lstrip("-*• ") for item in value if isinstance(item, str)]
    return [line for line in lines if line]


def _line(text: str) -> str:
    bare = "".join(sign if sign.isprintable() else " " for sign in text)
    return plain(bare).lstrip("# ").strip()


def _paragraphs(text: str) -> str:
    lines = (_line(line) for line in text.replace("\\n", "\n").splitlines())
    return "\n\n".join(line for line in lines if line)


class Source:
    """The words, names and numbers of a transcript, against which answers are held."""

    def __init__(self, transcript: str) -> None:
        self.words = length(transcript)
        folded = fold(transcript)
        self._stems = {_stem(word) for word in WORD.findall(folded)}
        self._numbers = _numbers(folded)
        self._folded = folded
        self._pairs = {run[at : at + 2] for run in CJK.findall(folded) for at in range(len(run))}

    def knows(self, phrase: str) -> bool:
        """Whether most words of a phrase occur, in whatever form."""
        folded = fold(phrase)
        if folded in self._folded:
            return True
        words = [word for word in WORD.findall(folded) if not CJK.search(word)]
        known = sum(_stem(word) in self._stems for word in words)
        return bool(words) and known * 3 >= len(words) * 2

    def unknown_words(self, text: str) -> float:
        """The share of content words that do not occur, 0 to 1."""
        words = {
            _stem(word)
            for word in WORD.findall(fold(text))
            if len(word) > 3 and word not in _FORM and not word[0].isdigit()
        }
        words = {word for word in words if not CJK.search(word)}
        return _share(words, self._stems)

    def unknown_characters(self, text: str) -> float:
        """The share of pairs of CJK characters that do not occur, 0 to 1; 0 for a few."""
        pairs = {run[at : at + 2] for run in CJK.findall(text) for at in range(len(run) - 1)}
        return _share(pairs, self._pairs) if len(pairs) > 15 else 0.0

    def unknown_names(self, text: str) -> list[str]:
        """Words with a capital inside a sentence that do not occur."""
        return [name for name in _names_in(text) if _stem(fold(name)) not in self._stems]

    def unknown_numbers(self, text: str) -> list[str]:
        """Numbers of two digits or more that do not occur, in words or figures."""
        return sorted(n for n in _numbers(fold(text)) if len(n) > 1 and n not in self._numbers)


_FORM = frozenset().union(*STOP.values(), DULL, TELLING)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    return word[: max(4, min(6, len(word) - 2))]


def _numbers(text: str) -> set[str]:
    """Numbers without leading zeros and separators, whole and in their pieces."""
    found: set[str] = set()
    for number in _NUMBER.findall(text):
        pieces = re.split(r"[.,:]", number)
        found.update(piece.lstrip("0") for piece in pieces)
        found.add("".join(pieces).lstrip("0"))
    return found


def _share(found: set[str], known: set[str]) -> float:
    return len(found - known) / len(found) if found else 0.0


def _names_in(text: str) -> set[str]:
    names: set[str] = set()
    for sentence in split_sentences(text.replace("\n", " ")):
        for word in WORD.findall(sentence)[1:]:
            if word[0].isupper() and len(word) > 2 and fold(word) not in _FORM | DATES:
                names.add(word)
    return names


def check_answer(who: str, answer: Answer, source: Source, prompt: str, part: bool = False) -> None:
    """Raise `SummarizerFailed` with the reason when an answer is not fit to keep.

    `prompt` are our own instructions, which no answer repeats; `part` is true for the notes on
    one part of a long transcript, which may be shorter.
    """
    reason = (
        _refusal(answer)
        or _length(answer, source, part)
        or _repetition(answer)
        or _echo(answer, prompt)
        or _invention(answer, source)
    )
    if reason:
        raise SummarizerFailed(who, reason)


_REFUSAL = re.compile(
    r"\b(?:i(?: am|'m) sorry|i (?:can(?:no|')t|am unable|am not able|won't|will not)\b.{0,40}"
    r"(?:assist|help|summari|provide|fulfil|comply)|as an ai|language model"
    r"|(?:no|without a) (?:transcript|conversation|text) (?:was|is|has been)? ?(?:provided|given)"
    r"|please provide (?:the|a) (?:transcript|conversation|text)"
    r"|(?:insert|your) (?:summary|title) here|lorem ipsum)",
    re.IGNORECASE,
)


def _refusal(answer: Answer) -> str:
    found = _REFUSAL.search(fold(answer.summary[:300]))
    # a refusal that is told of ("the assistant said: I'm sorry") comes later and in long texts
    if found and (found.start() < 40 or length(answer.summary) < 40):
        return "it refused or had nothing to summarize"
    return ""


def _length(answer: Answer, source: Source, part: bool) -> str:
    words = length(answer.summary)
    least = 8 if part or source.words < 100 else 20 if source.words < 400 else 40
    if words < min(least, source.words // 3):
        return f"its summary is too short ({words} words)"
    if words > MOST_WORDS or (source.words > 40 and words > source.words):
        return f"its summary is too long ({words} words)"
    if not answer.keywords and source.words > 30:
        return "its answer has no keywords"
    return ""


def _repetition(answer: Answer) -> str:
    text = fold(" ".join((answer.summary, *answer.decisions, *answer.open_questions)))
    sentences = Counter(sentence.rstrip(".!?。！？") for sentence in _sentences(answer.summary))
    if sentences and max(sentences.values()) >= _SAME_SENTENCE:
        return "it says one sentence over and over"
    if len(sentences) > 3 and sum(sentences.values()) > len(sentences) * 1.4:
        return "it repeats its sentences"
    if _most_repeated(_units(text), 5) >= 4 or _distinct(_units(text), 3) < 0.6:
        return "it repeats itself"
    return ""


def _sentences(summary: str) -> list[str]:
    return [
        fold(sentence)
        for paragraph in summary.splitlines()
        for sentence in split_sentences(paragraph)
        if len(sentence) > 8
    ]


def _units(text: str) -> Sequence[str]:
    """Words, or single characters where words are not set apart."""
    cjk = sum(len(run) for run in CJK.findall(text))
    return [sign for sign in text if sign.isalnum()] if cjk * 3 > len(text) else WORD.findall(text)


def _grams(units: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(units[at : at + size]) for at in range(len(units) - size + 1))


def _most_repeated(units: Sequence[str], size: int) -> int:
    return max(_grams(units, size).values(), default=0)


def _distinct(units: Sequence[str], size: int) -> float:
    """The share of runs of words that are new, 1 for a short text."""
    grams = _grams(units, size)
    total = sum(grams.values())
    return len(grams) / total if total > 30 else 1.0


def _echo(answer: Answer, prompt: str) -> str:
    said = _grams(WORD.findall(fold(answer.summary)), 7)
    ours = _grams(WORD.findall(fold(prompt)), 7)
    if said.keys() & ours.keys():
        return "it repeats the instructions"
    return ""


def _invention(answer: Answer, source: Source) -> str:
    text = " ".join((answer.summary, *answer.decisions, *answer.open_questions))
    if source.unknown_words(text) > _UNKNOWN_WORDS:
        return "most of its words are not in the transcript"
    if source.unknown_characters(text) > _UNKNOWN_CHARACTERS:
        return "most of its words are not in the transcript"
    names, unknown = _names_in(text), source.unknown_names(text)
    if len(unknown) > 1 and len(unknown) > _UNKNOWN_NAMES * len(names):
        return f"it names {', '.join(sorted(unknown)[:3])}, which the transcript does not"
    numbers = {number for number in _numbers(text) if len(number) > 1}
    strange = source.unknown_numbers(text)
    if len(strange) > 1 and len(strange) > _UNKNOWN_NUMBERS * len(numbers):
        return f"it gives numbers that the transcript does not hold ({', '.join(strange[:3])})"
    known = sum(source.knows(keyword) for keyword in answer.keywords)
    if known * 2 < len(answer.keywords):
        return "most of its keywords are not in the transcript"
    return ""
