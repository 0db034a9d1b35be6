"""Phrases of one to three content words, with the signs that each is a name or a noun."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from neurigraph.summarize.languages import DULL, JOINERS, OPENERS, fold, stop_words
from neurigraph.summarize.prose import MARKS, Sentence

TOKEN = re.compile(rf"[^\W_](?:[\w'’.+#/{MARKS}-]*[\w+#{MARKS}])?|[^\w\s]")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|(?:jus|lors|puis)?qu|dell|all|nell|un)['’]", re.IGNORECASE)
_VERB = {
    "en": re.compile(r"\w{3,}(?:ed|ly|ing|est|'s|n't|'re|'ve|'ll|'d)$"),
    "ru": re.compile(
        r"\w+(?:ть|ться|ает|яет|ует|ит|ют|ут|ят|ал|ала|али|ый|ий|ая|ое|ые|ого|ому|о)$"
    ),
}


class Phrases:
    """The phrases between function words, counted. A capital speaks for a name; standing after
    an article or preposition and before a function word speaks for a noun."""

    def __init__(self, sentences: Sequence[Sentence], language: str) -> None:
        self.language = language
        self.counts: Counter[str] = Counter()
        self.turns: Counter[str] = Counter()
        self.spelled: Counter[str] = Counter()
        self.nouns: dict[str, float] = defaultdict(float)
        self.capitals: Counter[str] = Counter()
        self._skip = stop_words(language) | DULL
        self._known: dict[str, tuple[bool, float]] = {}
        self._last: dict[str, int] = {}
        for sentence in sentences:
            self._read(sentence)

    def _read(self, sentence: Sentence) -> None:
        run: list[str] = []
        opened = 0.0
        text = sentence.text
        if self.language in {"fr", "it"}:
            text = _ELISION.sub("", text)
        tokens = TOKEN.findall(text)
        for at, token in enumerate([*tokens, "."]):
            known = self._known.get(token)
            if known is None:
                known = self._known[token] = self._look_at(token)
            content, opens = known
            if content:
                if at and token[0].isupper():
                    self.capitals[token.lower()] += 1
                run.append(token)
                continue
            if run:
                if token in JOINERS and _within_name(run, tokens[at + 1 : at + 2]):
                    run.append(token)
                    continue
                self._count(run, sentence.turn, opened)
                run = []
            opened = opens

    def _look_at(self, token: str) -> tuple[bool, float]:
        """Whether a token is a content word, and how surely a noun phrase follows it."""
        lower = fold(token)
        if token[0].isalpha() and len(token) <= 40 and lower not in self._skip:
            return True, 0.0
        return False, 1.0 if lower in OPENERS else 0.4 if token in {",", "("} else 0.0

    def _count(self, run: Sequence[str], turn: int, opened: float) -> None:
        size = len(run)
        if size == 1:
            self._add(run[0], turn, opened)
            return
        for begin in range(size):
            for end in range(begin + 1, min(size, begin + 4) + 1):
                first, last = run[begin], run[end - 1]
                if first in JOINERS or last in JOINERS:
                    continue
                if end - begin == 4 and not (first[0].isupper() and last[0].isupper()):
                    continue
                self._add(" ".join(run[begin:end]), turn, opened if end == size else 0.0)

    def _add(self, phrase: str, turn: int, opened: float) -> None:
        key = phrase.lower()
        self.counts[key] += 1
        self.spelled[phrase] += 1
        if self._last.get(key) != turn:  # sentences come turn by turn
            self._last[key] = turn
            self.turns[key] += 1
        if opened:
            self.nouns[key] += opened

    def scored(self) -> list[tuple[str, float]]:
        """Every phrase in its usual spelling with its score."""
        few = len(self.counts) < 150
        longer = self._longer(few)
        kept = {k for k, count in self.counts.items() if count > 1 or few or k in self.capitals}
        usual: dict[str, str] = {}
        for phrase, count in self.spelled.items():
            key = phrase.lower()
            if key in kept and (key not in usual or count > self.spelled[usual[key]]):
                usual[key] = phrase
        return [(phrase, self._worth(key, longer.get(key, 0))) for key, phrase in usual.items()]

    def _longer(self, few: bool) -> dict[str, int]:
        """For each phrase how often a longer one around it occurs, where that tells anything."""
        longer: dict[str, int] = {}
        for key, count in self.counts.items():
            words = key.split(" ")
            size = len(words)
            if size == 1:
                continue
            if count == 1 and not few:
                # nearly all are such, and they say something of single words alone
                parts = words
            else:
                spans = ((i, j) for i in range(size) for j in range(i + 1, size + 1))
                parts = [" ".join(words[i:j]) for i, j in spans if j - i < size]
            for part in parts:
                longer[part] = max(longer.get(part, 0), count)
        return longer

    def _worth(self, key: str, longer: int) -> float:
        count = self.counts[key]
        words = key.split(" ")
        # what mostly occurs inside one longer phrase gives way to it
        alone = count - (0.8 * longer if longer > 1 or count == 1 else 0)
        worth = math.sqrt(max(alone, 0.2)) * (1 + 0.4 * math.log(self.turns[key]))
        capital = all(self.capitals[word] for word in words if word not in JOINERS)
        if len(words) > 1:
            worth *= 1.6 if count > 1 or capital else 0.8
        noun = 1.0 if capital else min(1.0, self.nouns.get(key, 0.0) / count)
        worth *= 0.35 + noun + (0.25 if capital and self.language != "de" else 0.0)
        verb = _VERB.get(self.language)
        if verb and not capital and verb.match(words[-1]):
            worth *= 0.3
        if self.language == "de" and len(words) == 1 and not capital:
            worth *= 0.3
        return worth


def _within_name(run: Sequence[str], following: Sequence[str]) -> bool:
    return run[-1][0].isupper() and any(token[0].isupper() for token in following)
