"""The names and noun phrases that a conversation is about, fit for a note's keywords.

Two ways: a quick count of the phrases between function words, and yake over the best sentences,
blended with it. Where words are not set apart (Chinese, Japanese), runs of characters that come
back stand in for words.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from neurigraph.summarize.languages import DATES, DULL, JOINERS, OPENERS, stop_words
from neurigraph.summarize.prose import Sentence

AT_MOST = 30

_TOKEN = re.compile(r"[^\W_](?:[\w'’.+#/-]*[\w+#])?|[^\w\s]")
_OPAQUE = re.compile(
    r"\d{5,}|[0-9a-fA-F]{12,}|\S{32,}|(?:[A-Za-z]+\d|\d+[A-Za-z]){4,}|/.*/|\w+@\w|^\W+$"
)
_NUMBER = re.compile(r"[\W\d]*\d[\W\d]*[^\W\d]{0,3}")
_VERB = {
    "en": re.compile(r"\w{3,}(?:ed|ly|ing|est|'s|n't|'re|'ve|'ll|'d)$"),
    "ru": re.compile(
        r"\w+(?:ть|ться|ает|яет|ует|ит|ют|ут|ят|ал|ала|али|ый|ий|ая|ое|ые|ого|ому|о)$"
    ),
}
_SCRIPTS = {
    "ja": re.compile(
        r"[\u30a0-\u30ffー]{3,}|[\u3400-\u9fff々]{2,}[\u30a0-\u30ffー]+|[\u3400-\u9fff々]{2,8}"
    ),
    "zh": re.compile(r"[\u3400-\u9fff]{2,}"),
}
_ASIAN_DULL = re.compile(
    r"[一二三四五六七八九十百千万何数毎週今来昨前後第每两几多个]+[\u3400-\u9fff]?$|[一二三四五六七八九十百千万何数毎週第两几]"
    r"|場合|時期|必要|方法|自分|以上|以下|以内|程度|大切|良い|本当|問題|最初|最後|今日|明日|昨日|時間|週末|二回"
)
_CHINESE_FORM = re.compile(
    r"大约|大概|可以|应该|因为|所以|如果|但是|不过|已经|还是|或者|什么|怎么|这样|那样|这个|那个|我们|你们|他们"
    r"|一个|一份|一块|没有|不能|需要|建议|有点|比较|非常|很多|另外|而且|以后|之前|之后|时候|就是|不是|只是|完全|必须"
    r"|办法|东西|问题|事情|方便|有什么|多少|部分|经常|大家|自己|想要|决定|确定|够了|最好"
    r"|[的了是在和与把被就不也都还很有我你他她它这那吗呢吧啊要会能没而但用到从对于为之其及让给去来上下里中等想每只又再更最"
    r"一二三四五六七八九十百千万两几个块张份只种本次]"
)


def quick_keywords(sentences: Sequence[Sentence], language: str) -> tuple[str, ...]:
    """Up to 30 keywords by counting phrases; about 40 ms for 190 KB."""
    return _picked(_ranked(sentences, language), _wanted(sentences))


def better_keywords(sentences: Sequence[Sentence], best: str, language: str) -> tuple[str, ...]:
    """Up to 30 keywords: what yake finds in `best` blended with what the quick count finds."""
    quick = _ranked(sentences, language)
    if language in {"zh", "ja", "ko"} or not best:
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
    if language in {"zh", "ja"}:
        scored = _runs(sentences, language)
    else:
        scored = _Phrases(sentences, language).scored()
    scored.sort(key=lambda pair: (-pair[1], pair[0]))
    return scored


class _Phrases:
    """Phrases of one to three content words, counted, each with the signs that it is a name or
    a noun: capitals, and standing after an article or preposition and before a function word."""

    def __init__(self, sentences: Sequence[Sentence], language: str) -> None:
        self.language = language
        self.counts: Counter[str] = Counter()
        self.turns: dict[str, set[int]] = defaultdict(set)
        self.spelled: dict[str, Counter[str]] = defaultdict(Counter)
        self.nouns: dict[str, float] = defaultdict(float)
        self.capitals: Counter[str] = Counter()
        skip = stop_words(language) | DULL
        for sentence in sentences:
            self._read(sentence, skip)

    def _read(self, sentence: Sentence, skip: frozenset[str]) -> None:
        run: list[str] = []
        opened = 0.0
        tokens = _TOKEN.findall(sentence.text)
        for at, token in enumerate([*tokens, "."]):
            lower = token.lower()
            if lower in skip or not token[0].isalpha() or len(token) > 40:
                joins = lower in JOINERS and run and run[-1][0].isupper()
                if joins and at + 1 < len(tokens) and tokens[at + 1][0].isupper():
                    run.append(token)
                    continue
                if run:
                    self._count(run, sentence.turn, opened)
                    run = []
                opened = 1.0 if lower in OPENERS else 0.4 if token in {",", "("} else 0.0
                continue
            if at and token[0].isupper():
                self.capitals[lower] += 1
            run.append(token)

    def _count(self, run: Sequence[str], turn: int, opened: float) -> None:
        size = len(run)
        for begin in range(size):
            for end in range(begin + 1, min(size, begin + 4) + 1):
                words = run[begin:end]
                joined = end - begin > 3
                if words[0].lower() in JOINERS or words[-1].lower() in JOINERS:
                    continue
                if joined and not (words[0][0].isupper() and words[-1][0].isupper()):
                    continue
                phrase = " ".join(words)
                key = phrase.lower()
                self.counts[key] += 1
                self.turns[key].add(turn)
                self.spelled[key][phrase] += 1
                if end == size:
                    self.nouns[key] += opened

    def scored(self) -> list[tuple[str, float]]:
        """Every phrase in its usual spelling with its score."""
        longer: dict[str, int] = {}
        for key, count in self.counts.items():
            words = key.split(" ")
            if len(words) > 1:
                for begin in range(len(words)):
                    for end in range(begin + 1, len(words) + 1):
                        if end - begin < len(words):
                            part = " ".join(words[begin:end])
                            longer[part] = max(longer.get(part, 0), count)
        few = len(self.counts) < 150
        return [
            (self.spelled[key].most_common(1)[0][0], self._worth(key, longer.get(key, 0)))
            for key, count in self.counts.items()
            if count > 1 or few or self.capitals[key]
        ]

    def _worth(self, key: str, longer: int) -> float:
        count = self.counts[key]
        words = key.split(" ")
        # what mostly occurs inside one longer phrase gives way to it
        alone = count - (0.8 * longer if longer > 1 or count == 1 else 0)
        worth = math.sqrt(max(alone, 0.2)) * (1 + 0.4 * math.log(len(self.turns[key])))
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


def _runs(sentences: Sequence[Sentence], language: str) -> list[tuple[str, float]]:
    """Runs of Chinese or Japanese characters, and Latin words among them, with a score."""
    counts: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    script = _SCRIPTS[language]
    for sentence in sentences:
        text = _CHINESE_FORM.sub(" ", sentence.text) if language == "zh" else sentence.text
        for run in script.findall(text):
            whole[run] += 1
            if language == "zh":
                for size in range(2, min(6, len(run)) + 1):
                    counts.update(run[at : at + size] for at in range(len(run) - size + 1))
        counts.update(
            token
            for token in _TOKEN.findall(sentence.text)
            if token.isascii() and token[0].isalpha() and len(token) > 1
        )
    if language == "ja":
        counts.update(whole)
    longer: dict[str, int] = {}
    for run, count in counts.items():
        for part in (run[:-1], run[1:]):
            longer[part] = max(longer.get(part, 0), count)
    skip = stop_words("en") | DULL
    return [
        (run, math.sqrt(count - 0.9 * longer.get(run, 0)) * (1 + 0.25 * min(len(run), 5)))
        for run, count in counts.items()
        if run.lower() not in skip
        and not _ASIAN_DULL.match(run)
        and (count > 1 or (whole[run] and len(run) < 6) or run.isascii())
        and count > longer.get(run, 0)
    ]


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
