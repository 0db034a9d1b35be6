"""Words that carry form, not content, in the languages that summaries are made for.

The words themselves are in `languages.toml`. Scripts without spaces (Chinese, Japanese) are told
by their characters, Latin languages by how many of their function words a text holds. A language
that is not listed is read as English and loses nothing but some polish.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

_TABLE: dict[str, Any] = tomllib.loads(
    (files("neurigraph.summarize") / "languages.toml").read_text(encoding="utf-8")
)
_CUES: dict[str, Any] = _TABLE["cues"]

CJK = re.compile(
    r"[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d]+"
)
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def _words(section: str, name: str) -> frozenset[str]:
    return frozenset(_TABLE[section][name].split())


def _any(pieces: Sequence[str], around: str = "{}") -> re.Pattern[str]:
    return re.compile(around.format("|".join(pieces)), re.IGNORECASE)


class Cue:
    """A turn of phrase to look for in sentences that are folded with `fold`. Hints, of which any
    sentence that holds it has one, keep the slow search from most sentences."""

    def __init__(self, *names: str) -> None:
        hints = [hint for name in names for hint in _CUES[f"{name}_hints"].split()]
        self._hints = tuple(hint.replace("_", " ") for hint in hints)
        self._pattern = _any([piece for name in names for piece in _CUES[name]])

    def among(self, folded: str) -> bool:
        """Whether the sentence holds it."""
        for hint in self._hints:  # `any` with a generator takes three times as long
            if hint in folded:
                return self._pattern.search(folded) is not None
        return False


def fold(text: str) -> str:
    """A text in lower case with plain apostrophes, as cues are written."""
    return text.lower().replace("’", "'")


STOP: dict[str, frozenset[str]] = {
    language: _words("stop", language) for language in _TABLE["stop"]
}
DULL = _words("words", "dull")
"""Words that say little as keywords, though they are content words."""
TELLING = _words("words", "telling")
"""What a summary says of a conversation, whatever it was about."""
DATES = _words("words", "dates")
ABBREVIATIONS = _words("words", "abbreviations")
OPENERS = _words("words", "openers")
JOINERS = _words("words", "joiners")

GREETING = _any(
    _CUES["greeting"], r"^(?:{})(?: (?:" + _CUES["greeted"] + r")\b)?[\s,.!:;\-–—、。，！～~]*"
)
INTERJECTION = _any(_CUES["interjection"], r"^(?:{})(?:\s*[,!—–]\s*|\s+-\s+|\.\s+|\s+so\s+)(?=\S)")
FILLER = _any([rf"(?:{'|'.join(_CUES['filler'])})\b", *_CUES["filler_start"]], "^(?:{})")
POLITE = _any(_CUES["polite"], "^(?:{})")
ASKING = _any(_CUES["asking"])
DEPENDENT = _any([rf"(?:{'|'.join(_CUES['dependent'])})\b", *_CUES["dependent_start"]], "^(?:{})")
DECIDED = Cue("decided")
CHOSEN = Cue("decided", "chosen")
UNDECIDED = _any(_CUES["undecided"])
OPEN = Cue("open")
CONCLUSION = Cue("conclusion")


def stop_words(language: str) -> frozenset[str]:
    """The function words of a language, with the English ones, which occur in every chat."""
    return STOP["en"] | STOP.get(language, frozenset())


def language_of(text: str) -> str:
    """A two-letter guess at the language, from its script and its function words.

    Reads the first 20,000 characters; `en` when nothing speaks for another.
    """
    head = text[:20_000]
    cjk = sum(len(run) for run in CJK.findall(head))
    if cjk * 4 > len(head) or cjk > 2_000:
        return "ja" if len(_KANA.findall(head)) * 20 > cjk else "zh"
    if len(_HANGUL.findall(head)) * 5 > len(head):
        return "ko"
    words = Counter(head.lower().split())
    if len(_CYRILLIC.findall(head)) * 4 > len(head):
        return "uk" if any(letter in head for letter in "іїє") else "ru"
    return max(STOP, key=lambda language: _weight(words, language))


def _weight(words: Counter[str], language: str) -> float:
    # English leads a tie: code and names look like no language at all
    return sum(words[word] for word in STOP[language]) * (1.1 if language == "en" else 1.0)
