"""Titles, summaries and keywords made of a conversation's own sentences, without any model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from neurigraph.summarize.cues import is_request, open_questions_in
from neurigraph.summarize.draft import Draft
from neurigraph.summarize.keywords import better_keywords, quick_keywords
from neurigraph.summarize.languages import CJK, GREETING, POLITE
from neurigraph.summarize.prose import (
    WORD,
    Sentence,
    clip,
    ends,
    plain,
    sentences_of,
    without_asides,
)
from neurigraph.summarize.ranking import Ranking
from neurigraph.vault.turns import role_of

SOURCE = "extractive"
UNTITLED = "Untitled conversation"
NO_PROSE = "Code, tables or links without a sentence of text."

_TITLE_AT_MOST = 80
_LEANING = re.compile(r"\b(?:it|this|that|them|they|es|das|ça|это)\b[^,]*$", re.IGNORECASE)

# characters of the best sentences in which phrases are counted, and those that yake reads
_TELLING_TEXT = 60_000
_BEST_TEXT = 10_000


def extractive(transcript: str, *, keywords_quick: bool = False) -> Draft:
    """A draft from a transcript's own words: 100 to 300 words, fewer for a short transcript.

    Never fails, reads no file but yake's own, fetches nothing. `keywords_quick` leaves yake out,
    which saves its import and about 0.2 s; 190 KB then take less than 100 ms.
    """
    transcript = without_asides(unicodedata.normalize("NFC", transcript))
    sentences, language = sentences_of(transcript)
    ranking = Ranking(sentences, language)
    telling = ranking.best(_TELLING_TEXT)
    if keywords_quick:
        keywords = quick_keywords(telling, language)
    else:
        best = "\n".join(sentence.text for sentence in ranking.best(_BEST_TEXT))
        keywords = better_keywords(telling, best, language)
    return Draft(
        title=_heading(transcript)
        or _title(ranking, language)
        or _first_words(transcript)
        or UNTITLED,
        summary=_paragraphs(ranking.choose()) or (NO_PROSE if transcript.strip() else ""),
        keywords=keywords,
        decisions=_listed(ranking.decisions),
        open_questions=_listed(open_questions_in(sentences)),
        source=SOURCE,
    )


def _paragraphs(chosen: Sequence[Sentence]) -> str:
    """Sentences joined to paragraphs, one for each turn that they come from."""
    paragraphs: list[str] = []
    turn = -1
    for sentence in chosen:
        text = sentence.text
        if not ends(text):
            text = text.rstrip(" ,;:-") + ("。" if CJK.match(text[-1:]) else ".")
        if sentence.turn == turn:
            asian = CJK.match(text) or paragraphs[-1].endswith(("。", "！", "？"))
            paragraphs[-1] += text if asian else f" {text}"
        else:
            paragraphs.append(f"{sentence.speaker}: {text}" if sentence.speaker else text)
        turn = sentence.turn
    return "\n\n".join(paragraphs)


def _listed(sentences: Sequence[Sentence]) -> str:
    return "\n".join(dict.fromkeys(f"- {sentence.text}" for sentence in sentences))


_HEADING = re.compile(r"\s*#{1,2}[ \t]+([^\n]{3,200})")
_NO_TITLE = re.compile(
    r"(?:new |untitled |the |my )?(?:chat|conversation|transcript|untitled|log)$"
)


def _heading(transcript: str) -> str:
    """The heading that a text begins with, when it names a matter and not a speaker."""
    found = _HEADING.match(transcript)
    if found is None or " · " in found[1] or role_of(found[1]) != "other":
        return ""
    text = plain(found[1]).strip("# ")
    return "" if _NO_TITLE.match(text.lower()) else clip(text, _TITLE_AT_MOST)


def _title(ranking: Ranking, language: str) -> str:
    """What was first asked, without greeting and please: the sentence that names most of what
    the conversation turns on, a request before a mere remark."""
    sentences = ranking.sentences
    turn = [s for s in sentences if s.turn == ranking.first and s.role != "assistant"]
    best, most = "", 0.0
    for place, sentence in enumerate(turn[:10] or sentences[:5]):
        text = _cleaned(sentence.text)
        # what is cut off still tells that the sentence is about the matter
        worth = ranking.substance(text, language) + ranking.substance(sentence.text, language)
        worth = (1 + worth) * 0.85**place
        if is_request(sentence):
            worth *= 1.25
        if _LEANING.search(text):
            worth *= 0.6
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
    words = " ".join(WORD.findall(GREETING.sub("", transcript[:2_000].strip()))[:12])
    return clip(words, _TITLE_AT_MOST)
