"""Titles, summaries and keywords made of a conversation's own sentences, without any model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from neurigraph.summarize.cues import decisions_in, is_request, open_questions_in
from neurigraph.summarize.draft import Draft
from neurigraph.summarize.keywords import better_keywords, quick_keywords
from neurigraph.summarize.languages import CJK, GREETING, POLITE
from neurigraph.summarize.prose import Sentence, clip, sentences_of
from neurigraph.summarize.ranking import Ranking

SOURCE = "extractive"
UNTITLED = "Untitled conversation"

_TITLE_AT_MOST = 80
_BEST_TEXT = 10_000
_WORD = re.compile(r"[^\W_][\w'’]*")
_ENDED = tuple(".!?…。！？｡।؟")


def extractive(transcript: str, *, keywords_quick: bool = False) -> Draft:
    """A draft from a transcript's own words: 100 to 300 words, fewer for a short transcript.

    Never fails, reads no file but yake's own, fetches nothing. `keywords_quick` leaves yake out,
    which saves its import and about 0.2 s; 190 KB then take less than 100 ms.
    """
    sentences, language = sentences_of(transcript)
    ranking = Ranking(sentences, language)
    if keywords_quick:
        keywords = quick_keywords(sentences, language)
    else:
        best = "\n".join(sentence.text for sentence in ranking.best(_BEST_TEXT))
        keywords = better_keywords(sentences, best, language)
    return Draft(
        title=_title(ranking, language) or _first_words(transcript) or UNTITLED,
        summary=_paragraphs(ranking.choose()) or clip(_first_words(transcript), 300),
        keywords=keywords,
        decisions=_listed(decisions_in(sentences)),
        open_questions=_listed(open_questions_in(sentences)),
        source=SOURCE,
    )


def _paragraphs(chosen: Sequence[Sentence]) -> str:
    """Sentences joined to paragraphs, one for each turn that they come from."""
    paragraphs: list[str] = []
    turn = -1
    for sentence in chosen:
        text = sentence.text
        if not text.rstrip("\"'”’»)]」』）").endswith(_ENDED):
            text = text.rstrip(" ,;:-") + ("。" if CJK.match(text[-1:]) else ".")
        if sentence.turn == turn:
            asian = CJK.match(text) or paragraphs[-1].endswith(("。", "！", "？"))
            paragraphs[-1] += text if asian else f" {text}"
        else:
            paragraphs.append(text)
        turn = sentence.turn
    return "\n\n".join(paragraphs)


def _listed(sentences: Sequence[Sentence]) -> str:
    return "\n".join(dict.fromkeys(f"- {sentence.text}" for sentence in sentences))


def _title(ranking: Ranking, language: str) -> str:
    """What was first asked, without greeting and please: the sentence that names most of what
    the conversation turns on, a request before a mere remark."""
    sentences = ranking.sentences
    turn = [s for s in sentences if s.turn == ranking.first and s.role != "assistant"]
    best, most = "", 0.0
    for place, sentence in enumerate(turn[:10] or sentences[:5]):
        text = _cleaned(sentence.text)
        worth = (0.5 + ranking.substance(text, language)) * 0.93**place
        if is_request(sentence):
            worth *= 1.25
        if sentence.text.endswith((":", "：")):
            worth *= 0.5
        if text and worth > most:
            best, most = text, worth
    return best


def _cleaned(text: str) -> str:
    bare = GREETING.sub("", text)
    before = bare
    for _ in range(3):
        bare = POLITE.sub("", bare.strip())
    bare = bare.strip(" \t,;:-–—\"'“”„«»").rstrip(".。!！" if bare == before else ".。!！?？")
    if bare[1:2].islower():
        bare = bare[0].upper() + bare[1:]
    return clip(bare, _TITLE_AT_MOST)


def _first_words(transcript: str) -> str:
    return clip(" ".join(_WORD.findall(transcript[:2_000])[:12]), _TITLE_AT_MOST)
