"""What a sentence does in a conversation: ask, decide, leave open, conclude, or be courteous."""

from __future__ import annotations

from collections.abc import Sequence

from neurigraph.summarize.languages import (
    ASKING,
    CHOSEN,
    CJK,
    CONCLUSION,
    DECIDED,
    DEPENDENT,
    FILLER,
    OPEN,
    POLITE,
    UNDECIDED,
    fold,
)
from neurigraph.summarize.prose import Sentence, in_order

_AT_MOST = 8


def is_question(sentence: Sentence) -> bool:
    """Whether it ends with a question mark."""
    return sentence.text.endswith(("?", "？", "؟"))


def is_request(sentence: Sentence) -> bool:
    """Whether it asks for something, as a question or otherwise."""
    text = sentence.text
    return is_question(sentence) or bool(POLITE.match(text) or ASKING.search(text))


def is_decision(sentence: Sentence) -> bool:
    """Whether it plainly states a decision. What an assistant proposes is none."""
    if not _is_statement(sentence) or is_question(sentence):
        return False
    folded = fold(sentence.text)
    cue = DECIDED if sentence.role == "assistant" else CHOSEN
    return cue.among(folded) and not UNDECIDED.search(folded)


def decisions_in(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The last eight sentences that plainly state a decision, in the order of the text."""
    return [sentence for sentence in sentences if is_decision(sentence)][-_AT_MOST:]


def open_questions_in(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Sentences that plainly leave something open, and a last question that nobody answered."""
    found = [
        sentence
        for sentence in sentences
        if sentence.role != "assistant"
        and _is_statement(sentence)
        and OPEN.among(fold(sentence.text))
    ]
    last = sentences[-1] if sentences else None
    if last is not None and last.role == "user" and last.turn > 0:
        found += [
            sentence
            for sentence in sentences
            if sentence.turn == last.turn and is_question(sentence) and sentence not in found
        ]
    return in_order(found)[-_AT_MOST:]


def _is_statement(sentence: Sentence) -> bool:
    least = 3 if sentence.text.isascii() or not CJK.search(sentence.text) else 2
    return sentence.kind != "quote" and least < sentence.words < 60


def fitness(sentence: Sentence, first: int, last: int) -> float:
    """How well a sentence stands in a summary, whatever it is about: 0 not at all, 1 well.

    `first` is the turn of the first request, `last` the last turn.
    """
    text = sentence.text
    if FILLER.match(text):
        return 0.0
    if text.endswith((":", "：", "…")):
        return 0.05
    if not sentence.whole and sentence.kind == "item" and sentence.words < 4:
        return 0.0
    fit = 1.0
    if not sentence.whole:
        fit *= 0.35 if sentence.kind == "item" else 0.25
    elif sentence.kind != "prose":
        fit *= 0.8 if sentence.kind == "item" else 0.3
    if sentence.words < 6:
        fit *= 0.3
    elif sentence.words > 40:
        fit *= 0.5
    if DEPENDENT.match(text):
        fit *= 0.5
    if sentence.role == "user":
        fit *= 1.3 if sentence.turn <= first + 2 else 1.0
    elif sentence.place <= 1:
        fit *= 1.2
    if is_question(sentence):
        fit *= 1.1 if sentence.role == "user" else 0.25
    if CONCLUSION.among(fold(text)):
        fit *= 1.35
    if last > 3 and sentence.turn >= last - 1:
        fit *= 1.15
    return fit
