"""The names and noun phrases that a conversation is about, fit for a note's keywords.

Two ways: a quick count of the phrases between function words, and yake over the best sentences,
blended with it. Where words are not set apart (Chinese, Japanese), runs of characters that come
back stand in for words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from neurigraph.summarize.languages import DATES, DULL, stop_words
from neurigraph.summarize.phrases import Phrases
from neurigraph.summarize.prose import Sentence
from neurigraph.summarize.runs import runs

AT_MOST = 30
_WITHOUT_SPACES = frozenset({"zh", "ja", "ko"})

_OPAQUE = re.compile(
    r"\d{5,}|[0-9a-fA-F]{12,}|\S{32,}|(?:[A-Za-z]+\d|\d+[A-Za-z]){4,}|/.*/|\w+@\w|^\W+$"
)
_NUMBER = re.compile(r"[\W\d]*\d[\W\d]*[^\W\d]{0,3}")


def quick_keywords(sentences: Sequence[Sentence], language: str) -> tuple[str, ...]:
    """Up to 30 keywords by counting phrases; about 40 ms for 190 KB."""
    return _picked(_ranked(sentences, language), _wanted(sentences))


def better_keywords(sentences: Sequence[Sentence], best: str, language: str) -> tuple[str, ...]:
    """Up to 30 keywords: what yake finds in `best` blended with what the quick count finds."""
    quick = _ranked(sentences, language)
    if language in _WITHOUT_SPACES or not best:
        return _picked(quick, _wanted(sentences))
    top = quick[0][1] if quick else 1.0
    spelled = {phrase.lower(): phrase for phrase, _ in quick}
    scores = {phrase.lower(): score / top for phrase, score in quick}
    for rank, phrase in enumerate(found := _yake(best, language)):
        # what yake alone finds is mostly a phrase that occurs once: it may fill up, not lead
        key = phrase.lower()
        gain = 1 - rank / len(found)
        scores[key] = scores[key] * (1 + gain) if key in scores else 0.1 * gain
        spelled.setdefault(key, phrase)
    order = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return _picked([(spelled[key], score) for key, score in order], _wanted(sentences))


def _wanted(sentences: Sequence[Sentence]) -> int:
    words = sum(sentence.words for sentence in sentences)
    return min(AT_MOST, 20 if 400 < words < 1500 else max(3, 8 + words // 30))


def _yake(text: str, language: str) -> list[str]:
    import yake  # a quarter of a second: only when such keywords are made

    extractor = yake.KeywordExtractor(
        lan=language, n=2, top=50, dedup_lim=1.0, stopwords=stop_words(language) | DULL
    )
    return [str(phrase) for phrase, _ in extractor.extract_keywords(text)]


def _ranked(sentences: Sequence[Sentence], language: str) -> list[tuple[str, float]]:
    if language in _WITHOUT_SPACES:
        scored = runs(sentences, language)
    else:
        scored = Phrases(sentences, language).scored()
    scored.sort(key=lambda pair: (-pair[1], pair[0]))
    return scored


def _picked(ranked: Iterable[tuple[str, float]], most: int) -> tuple[str, ...]:
    """The best phrases, without near-doubles, bare numbers, dates and secrets."""
    picked: list[str] = []
    for phrase, _ in ranked:
        if len(picked) == most:
            break
        if _reads_well(phrase) and not any(_nearly(phrase, other) for other in picked):
            picked.append(phrase)
    return tuple(picked)


def _reads_well(phrase: str) -> bool:
    if len(phrase) > 60 or _OPAQUE.search(phrase):
        return False
    words = phrase.lower().split()
    if all(_NUMBER.fullmatch(word) or word in DATES for word in words):
        return False
    return len(phrase) > 2 or phrase.isupper() or not phrase.isascii()


def _nearly(phrase: str, other: str) -> bool:
    if phrase in other or other in phrase:
        return True
    mine, theirs = _stems(phrase), _stems(other)
    return mine <= theirs or theirs <= mine


def _stems(phrase: str) -> set[str]:
    return {word[:6].rstrip("s") if len(word) > 3 else word for word in phrase.lower().split()}
