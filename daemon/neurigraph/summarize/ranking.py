"""Which sentences of a conversation say most: TF-IDF with the sentences as documents, weighed by
where they stand and by what they do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from neurigraph.summarize.cues import decisions_in, fitness, is_question, is_request
from neurigraph.summarize.languages import CJK, DULL, GREETING, stop_words
from neurigraph.summarize.prose import WORD, Sentence, in_order

_MOST_FRAGMENTS = 5


class Ranking:
    """The sentences of one conversation with what each is worth. `first` is the turn in which
    the user first says more than a greeting, `decisions` are the sentences that state one."""

    def __init__(self, sentences: Sequence[Sentence], language: str) -> None:
        stop = stop_words(language)
        self.sentences = sentences
        self.first = _first_request(sentences)
        self.decisions = decisions_in(sentences)
        self._terms = [_content(sentence.text, stop) for sentence in sentences]
        self._weights = self._weigh()
        self._scores = self._score()
        self._order = sorted(range(len(sentences)), key=lambda at: -self._scores[at])

    def _weigh(self) -> dict[str, float]:
        spread: Counter[str] = Counter()
        asked: set[str] = set()
        for sentence, terms in zip(self.sentences, self._terms, strict=True):
            spread.update(terms)
            if sentence.role != "assistant" and sentence.turn <= self.first + 2:
                asked |= terms
        many = len(self.sentences)
        return {
            term: math.sqrt(count) * math.log(1 + many / count) * (1.4 if term in asked else 1.0)
            for term, count in spread.items()
            if count > 1 or term in asked or many < 30
        }

    def _score(self) -> list[float]:
        last = self.sentences[-1].turn if self.sentences else 0
        return [
            fitness(sentence, self.first, last)
            * sum(self._weights.get(term, 0.2) for term in terms)
            / (len(terms) + 4) ** 0.75
            for sentence, terms in zip(self.sentences, self._terms, strict=True)
        ]

    def substance(self, text: str, language: str) -> float:
        """How much of what the conversation is about a text names."""
        skip = stop_words(language) | DULL
        return sum(self._weights.get(term, 0.1) for term in _content(text, skip))

    def best(self, characters: int) -> list[Sentence]:
        """The best sentences that fit into so many characters, in the order of the text."""
        taken: list[Sentence] = []
        for at in self._order:
            characters -= len(self.sentences[at].text) + 1
            if characters < 0 or self._scores[at] <= 0:
                break
            taken.append(self.sentences[at])
        return in_order(taken)

    def choose(self) -> list[Sentence]:
        """The sentences of the summary: the request, the decisions, then the best of the rest."""
        budget = _budget(sum(sentence.words for sentence in self.sentences))
        choice = _Choice(self.sentences, self._terms)
        for at, sentence in enumerate(self.sentences):
            if sentence.turn != self.first or sentence.role == "assistant":
                continue
            begun = choice.per_turn[sentence.turn]
            if begun < 3 and (is_request(sentence) or (not begun and sentence.whole)):
                choice.take(at, max(budget // 3, 30))
        decided = {id(sentence) for sentence in self.decisions[-5:]}
        for at, sentence in enumerate(self.sentences):
            if id(sentence) in decided:
                choice.take(at, budget * 2 // 3)
        # more than a few hundred candidates change nothing but the time it takes
        order = [at for at in self._order[:400] if self._scores[at] > 0]
        while order and choice.words < budget * 0.9:
            # each further sentence of one turn is worth less, so that the whole is covered
            at = max(
                order[:40],
                key=lambda at: self._scores[at] * 0.75 ** choice.per_turn[self.sentences[at].turn],
            )
            order.remove(at)
            choice.take(at, budget)
        if not choice.taken and self._order:
            choice.take(self._order[0], self.sentences[self._order[0]].words)
        return in_order(self.sentences[at] for at in choice.taken)


class _Choice:
    """Sentences taken so far: how many words, how many of each turn, nothing said twice."""

    def __init__(self, sentences: Sequence[Sentence], terms: Sequence[frozenset[str]]) -> None:
        self.taken: list[int] = []
        self.words = 0
        self._fragments = 0
        self.per_turn: Counter[int] = Counter()
        self._sentences, self._terms = sentences, terms

    def take(self, at: int, budget: int) -> None:
        sentence = self._sentences[at]
        if at in self.taken or self.words + sentence.words > budget or self._repeats(at):
            return
        if not sentence.whole:
            # a list of keywords is no prose, however telling each of them is
            if self._fragments == _MOST_FRAGMENTS:
                return
            self._fragments += 1
        self.taken.append(at)
        self.words += sentence.words
        self.per_turn[sentence.turn] += 1

    def _repeats(self, at: int) -> bool:
        mine, asks = self._terms[at], is_question(self._sentences[at])
        return any(
            len(mine & self._terms[other]) * 2 > min(len(mine), len(self._terms[other])) + 1
            for other in self.taken
            if is_question(self._sentences[other]) == asks  # an answer takes up its question
        )


def _budget(total: int) -> int:
    """Words that the summary of a conversation of so many words may have."""
    if total < 180:
        return max(12, int(total * (0.8 if total < 60 else 0.65)))
    return min(240, max(118, int(total * 0.33)))


def _content(text: str, stop: frozenset[str]) -> frozenset[str]:
    terms = {
        word[:-1] if len(word) > 4 and word[-1] == "s" else word
        for word in WORD.findall(text.lower())
        if len(word) > 2 and word not in stop
    }
    if not text.isascii():
        for run in CJK.findall(text):
            terms.discard(run)
            terms.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(terms)


def _first_request(sentences: Sequence[Sentence]) -> int:
    for sentence in sentences:
        if sentence.role != "assistant" and len(GREETING.sub("", sentence.text)) > 8:
            return sentence.turn
    return sentences[0].turn if sentences else 0
