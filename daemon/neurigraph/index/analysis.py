"""Turns text into the terms that are indexed and searched, the same way for both.

A *chunk* is what stands between blanks and hard punctuation; text is cut into chunks byte by
byte, and what a chunk means (its words, their stems, the whole of a compound) is worked out once
for each distinct chunk. Words in running order are the *words* of a text, and phrases are
judged by them; a compound adds *extras*, which are only counted:

    node.js    words node js    extra nodejs       (so do NodeJS and node-js)
    userId     word userid      extras user id
    東京都     words 東京 京都  tail 都             (pairs, as there are no blanks)

A *tail* is the last character of such a run, under which it is indexed but never sought: it
begins no pair, and with it a search for one character is a search for what begins with it.

Terms are lower case, without accents, English words stemmed (Snowball, as PyStemmer has it).
There are no stop words: a phrase may be made of nothing else, and BM25 gives them little weight.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
import Stemmer
from numpy.typing import NDArray

Ints = NDArray[np.int32]

MAX_TERM = 64
"""Characters of a term; the rest of a longer one (a hash, base64) is dropped."""

MAX_PARTS = 8
"""Parts of a compound whose whole is a term too."""

_SOFT = b"._'-+#@&"
"""Joins the parts of one chunk; every other ASCII mark ends it."""

_CUT = bytes(b if b >= 128 or chr(b).isalnum() or b in _SOFT else 32 for b in range(256))

_UNSPACED = (
    "\u0e00-\u0e3e\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"  # Thai Lao Myanmar Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul: has blanks, but endings cling to words
)
_MARKS = (  # what belongs to a word though Python's \w leaves it out
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0dff\u0f18-\u0fbc\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u200c\u200d"
)
_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001f64f\U0001f680-\U0001faff"
_LETTER = rf"(?:(?![{_UNSPACED}{_EMOJI}_])[\w{_MARKS}])"
_JOINT = r"[._'’+@&#-]"
_PIECE = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<emoji>[{_EMOJI}])"
    rf"|(?P<word>{_LETTER}+(?:{_JOINT}{_LETTER}+)*(?:\+\+|(?<![\w]{{3}})\#(?!{_LETTER}))?)"
)
_PART = re.compile(rf"{_LETTER}+(?:['’][tT](?!{_LETTER})|\+\+|\#$)?")
_DAY_AND_TIME = re.compile(r"(?<=\d-\d\d)T(?=\d\d)")
_CAMEL = re.compile(r"[A-Z][a-z]+|[a-z]{2,}|[A-Z]{2,}(?![a-z])|[0-9]{2,}")
_ACCENT = re.compile(r"(?<![иИуУ])\u0306|[\u0300-\u0305\u0307-\u036f\u200c\u200d]")
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "’": "'"})


class Word(NamedTuple):
    """A term and the characters of the text that it stands for."""

    term: str
    start: int
    end: int


_Part: TypeAlias = tuple[str, int, int]


class Chunk(NamedTuple):
    """What stands between blanks and hard punctuation."""

    words: tuple[Word, ...]
    extras: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()


def fold(text: str) -> str:
    """Lower case, without accents and compatibility forms: `Ёлка` → `елка`, `Ｃａｆé` → `cafe`."""
    if text.isascii():
        return text.lower()
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain).translate(_PLAIN)


class _Snowball(threading.local):
    """A stemmer must not serve two threads at once, so each has its own."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("english", 0).stemWord


_SNOWBALL = _Snowball()


@lru_cache(maxsize=50_000)
def _term(word: str) -> str:
    folded = fold(word).replace("'", "")[:MAX_TERM]
    return str(_SNOWBALL.stem(folded)) if len(folded) > 2 else folded


def _read_chunk(chunk: str) -> Chunk:
    words: list[Word] = []
    extras: list[str] = []
    tails: list[str] = []
    for found in _PIECE.finditer(_DAY_AND_TIME.sub(" ", chunk)):
        start = found.start()
        if found.lastgroup == "run":
            _read_run(found.group(), start, words, tails)
        elif found.lastgroup == "emoji":
            words.append(Word(found.group(), start, found.end()))
        else:
            _read_word(found.group(), start, words, extras)
    return Chunk(tuple(words), tuple(extras), tuple(tails))


def _read_run(run: str, start: int, words: list[Word], tails: list[str]) -> None:
    if len(run) == 1:
        words.append(Word(fold(run), start, start + 1))
        return
    words += (Word(fold(run[i : i + 2]), start + i, start + i + 2) for i in range(len(run) - 1))
    tails.append(fold(run[-1]))


def _read_word(text: str, start: int, words: list[Word], extras: list[str]) -> None:
    parts = [(p.group(), p.start(), p.end()) for p in _PART.finditer(text)]
    if len(parts) > 1 and parts[-1][0] in "sS" and text[parts[-1][1] - 1] in "'’":
        parts.pop()  # Caroline's
    for part, first, last in parts:
        if term := _term(part):
            words.append(Word(term, start + first, start + last))
        humps = _CAMEL.findall(part) if not part.islower() else ()
        if len(humps) > 1 and sum(map(len, humps)) == len(part):
            extras += map(_term, humps)
    runs = [parts, *_names(text, parts)] if len(parts) > 1 else []
    for run in runs if runs[1:] != [parts] else runs[:1]:
        if 1 < len(run) <= MAX_PARTS:
            joint = text[run[0][2]] if all(p.isdecimal() for p, _, _ in run) else ""
            extras.append(_term(joint.join(p for p, _, _ in run)))


def _names(text: str, parts: Sequence[_Part]) -> list[list[_Part]]:
    """The parts between dots and at-signs: in `row.user_id` those of `row` and of `user_id`."""
    runs: list[list[_Part]] = [[]]
    for i, part in enumerate(parts):
        if i and text[parts[i - 1][2]] in ".@":
            runs.append([])
        runs[-1].append(part)
    return runs


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    data = text.encode("utf-8", "surrogatepass").translate(_CUT)
    at = 0
    for raw in data.decode("utf-8", "surrogatepass").split(" "):
        if raw:
            yield at, raw
        at += len(raw) + 1


def chunks(text: str) -> list[Chunk]:
    """The chunks of a text that mean something, words at their places in the text.

    For queries: a text has a chunk when it has all of its words in a row, or the extra that is
    the whole of them.
    """
    found = []
    for at, raw in _chunks(text):
        chunk = _read_chunk(raw)
        if chunk.words:
            moved = tuple(Word(w.term, w.start + at, w.end + at) for w in chunk.words)
            found.append(chunk._replace(words=moved))
    return found


def spans(text: str) -> list[Word]:
    """The words of a text in running order, each with the characters that it stands for.

    For short texts: queries, titles, the passage that a snippet is cut from.
    """
    return [word for chunk in chunks(text) for word in chunk.words]


def words(text: str) -> list[str]:
    """The words of a text in running order, without extras: what a phrase is compared by."""
    return [word.term for word in spans(text)]


def tokens(text: str) -> list[str]:
    """All that a text is indexed under: the words of each chunk, its extras and tails."""
    found: list[str] = []
    for chunk in chunks(text):
        found += [word.term for word in chunk.words]
        found += chunk.extras
        found += chunk.tails
    return found


def query_terms(text: str) -> list[str]:
    """The terms to seek for a text, each once: words and extras."""
    found: list[str] = []
    for chunk in chunks(text):
        found += [word.term for word in chunk.words]
        found += chunk.extras
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Analysed:
    """Many texts as numbers of a vocabulary.

    `ids` and `starts` (characters from the beginning of the text) have one item for each word,
    text after text; text i has the words `ends[i-1]` to `ends[i]`. `opens` marks the words that
    are the first of their line. `extras` have no place: `extra_text` says which text each
    belongs to.
    """

    ids: Ints
    starts: Ints
    ends: NDArray[np.int64]
    opens: NDArray[np.bool_]
    extras: Ints
    extra_text: Ints


class _Codes(dict[bytes, int]):
    """Chunk → the id of its one word, or -1-n where it means something else: the n-th special."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __missing__(self, raw: bytes) -> int:
        code = self._vocabulary._code(raw)
        if len(raw) <= MAX_TERM:
            self[raw] = code
        return code


class Vocabulary:
    """Numbers terms (`terms`, in UTF-8) from 0 as they are met. It only grows: use a new one when
    `size` is large.

    Not for use by two threads at once.
    """

    def __init__(self) -> None:
        self.terms: list[bytes] = []
        self._ids: dict[str, int] = {}
        self._codes = _Codes(self)
        self._special: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []

    @property
    def size(self) -> int:
        """How much is remembered: terms and chunks."""
        return len(self._ids) + len(self._codes) + len(self._special)

    def id(self, term: str) -> int:
        """The number of a term."""
        found = self._ids.get(term)
        if found is None:
            found = self._ids[term] = len(self.terms)
            self.terms.append(term.encode("utf-8", "surrogatepass"))
        return found

    def _code(self, raw: bytes) -> int:
        if raw.isalnum() and (raw.islower() or raw[1:].islower() or raw.isdigit()):
            return self.id(_term(raw.decode("ascii")))
        chunk = _read_chunk(raw.decode("utf-8", "surrogatepass"))
        if len(chunk.words) == 1 and chunk.words[0].start == 0 and not chunk.extras + chunk.tails:
            return self.id(chunk.words[0].term)
        self._special.append(
            (
                tuple(self.id(w.term) for w in chunk.words),
                tuple(w.start for w in chunk.words),
                tuple(map(self.id, chunk.extras + chunk.tails)),
            )
        )
        return -len(self._special)

    def analyse(self, texts: Sequence[str]) -> Analysed:
        """Read texts. Cheapest for a few hundred kilobytes at a time."""
        blob = "\n".join(texts)
        data = blob.encode("utf-8", "surrogatepass")
        cut = data.translate(_CUT)
        raw = cut.split()
        codes = np.fromiter(map(self._codes.__getitem__, raw), np.int32, len(raw))
        starts = _chunk_starts(cut)
        line = np.searchsorted(np.flatnonzero(np.frombuffer(data, np.uint8) == 10), starts)
        if len(data) != len(blob):  # count characters, not bytes
            letters = np.frombuffer(data, np.uint8) & 0xC0 != 0x80
            starts = (np.cumsum(letters, dtype=np.int32)[starts] - 1).astype(np.int32)
        bounds = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
        odd = np.flatnonzero(codes < 0)
        extras: Ints = np.empty(0, np.int32)
        places = extras
        if len(odd):
            specials = [self._special[-1 - code] for code in codes[odd].tolist()]
            extras, places = _flat([s[2] for s in specials], starts[odd])
            codes, starts, line = _expand(codes, starts, line, odd, specials)
        ends = np.searchsorted(starts, bounds, "left")
        owner = np.repeat(np.arange(len(texts)), np.diff(ends, prepend=0))
        base = np.concatenate(([0], bounds[:-1])).astype(np.int32) if len(texts) else bounds
        return Analysed(
            codes,
            starts - base[owner].astype(np.int32),
            ends.astype(np.int64),
            np.diff(line, prepend=-1) != 0,
            extras,
            np.searchsorted(bounds, places, "right").astype(np.int32),
        )


def _chunk_starts(cut: bytes) -> Ints:
    solid = np.frombuffer(cut, np.uint8) != 32
    begins = solid.copy()
    begins[1:] &= ~solid[:-1]
    return np.flatnonzero(begins).astype(np.int32)


def _flat(values: Sequence[tuple[int, ...]], places: Ints) -> tuple[Ints, Ints]:
    counts = np.fromiter(map(len, values), np.int32, len(values))
    flat = np.fromiter(chain.from_iterable(values), np.int32, int(counts.sum()))
    return flat, np.repeat(places, counts)


def _expand(
    codes: Ints,
    starts: Ints,
    line: NDArray[np.intp],
    odd: NDArray[np.intp],
    specials: Iterable[tuple[tuple[int, ...], ...]],
) -> tuple[Ints, Ints, NDArray[np.intp]]:
    """Put the words of the special chunks in their places."""
    specials = list(specials)
    counts = np.ones(len(codes), np.int32)
    counts[odd] = [len(s[0]) for s in specials]
    special = np.zeros(len(codes), bool)
    special[odd] = True
    where = np.repeat(special, counts)
    ids, at = np.repeat(codes, counts), np.repeat(starts, counts)
    total = int(counts[odd].sum())
    ids[where] = np.fromiter(chain.from_iterable(s[0] for s in specials), np.int32, total)
    at[where] += np.fromiter(chain.from_iterable(s[1] for s in specials), np.int32, total)
    return ids, at, np.repeat(line, counts)
