"""The keyword index: full text over titles, keywords, topics, notes and whole transcripts.

The one module that others import; how Whoosh is made fast is in `whoosh_codec`, `whoosh_writer`
and `whoosh_query`. What the index holds can be rebuilt from the vault at any time.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from whoosh.util.filelock import FileLock

from neurigraph.errors import NeurigraphError
from neurigraph.index.analysis import (
    Chunk,
    Vocabulary,
    Word,
    chunks,
    query_terms,
    spans,
    tokens,
    words,
)
from neurigraph.index.array_file import IndexDamaged
from neurigraph.index.marks import Marked, Source, marks, phrases
from neurigraph.index.postings import FIELDS
from neurigraph.index.segment import SegmentData
from neurigraph.index.spelling import NearTerm, Spelling, nearest
from neurigraph.index.whoosh_codec import (
    ArrayReader,
    ArraySegment,
    open_segment,
)
from neurigraph.index.whoosh_index import clear, open_index, read_toc
from neurigraph.index.whoosh_query import ArraySearcher, Part, Query, open_searcher
from neurigraph.index.whoosh_writer import ArrayWriter, Merged, choose, groups, merge_segments

__all__ = [
    "Chunk",
    "Document",
    "IndexDamaged",
    "IndexInUse",
    "KeywordIndex",
    "Marked",
    "Match",
    "Matches",
    "NearTerm",
    "Part",
    "Query",
    "Source",
    "Word",
    "chunks",
    "query_terms",
    "spans",
    "tokens",
    "words",
]

VERSION = "1"
"""Of the analysis and the format of segments: an index of another version is made anew."""

SEGMENT_CHARS = 24_000_000
"""Characters that go into one segment when very many documents are handed over at once."""

VOCABULARY_SIZE = 1_000_000
"""Terms and chunks that are remembered between commits."""

DEFAULT_PARTS = (
    Part(tuple((name, 1.0) for name in FIELDS), idf="lucene"),
    Part((("title", 1.0), ("keywords", 1.0)), boost=0.25, idf="lucene"),
)
"""All fields read as one text, and what the title and the keywords say once more."""

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class IndexInUse(NeurigraphError):
    """Another process writes to this index."""

    code = "index_in_use"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"the index in {path} is in use by another daemon; stop that one first")


@dataclass(frozen=True, slots=True)
class Document:
    """What full text holds of a memory. `created` is an ISO date or empty; it is searched by its
    words too, as in "30 November 2026" or "Monday"."""

    id: str
    version: str
    title: str = ""
    keywords: str = ""
    topic: str = ""
    body: str = ""
    transcript: str = ""
    created: str = ""
    speakers: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A memory that was found. Bit i of each mask stands for `query.terms[i]` (each different
    term once, in the order in which they were first named)."""

    id: str
    score: float
    matched: int
    in_title: int
    in_keywords: int


@dataclass(frozen=True, slots=True)
class Matches:
    """The best matches, best first; `total` counts all.

    `frequencies` says how many documents have each different term of the query, in the order in
    which they were first named, in the fields of the first part and whatever the filters.
    """

    total: int
    best: tuple[Match, ...]
    frequencies: tuple[int, ...] = ()


class KeywordIndex:
    """A keyword index in a folder of its own. All methods may be called from any thread.

    Opening raises `IndexDamaged` when the files are not as they were written, and `IndexInUse`
    when another process has it open. Searches see a consistent state and wait for no writer.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._owner = FileLock(str(folder / "OWNER.lock"))
        if not self._owner.acquire():
            raise IndexInUse(str(folder))
        try:
            self._index = open_index(folder, VERSION)
            self._vocabulary = Vocabulary()
            self._writing = threading.RLock()
            self._merging = threading.Lock()
            self._open: dict[str, SegmentData] = {}
            self._spelling: dict[str, Spelling] = {}
            self._searcher = self._refreshed()
        except BaseException:
            self._owner.release()
            raise

    @staticmethod
    def reset(folder: Path) -> None:
        """Remove whatever an index has left in a folder, so that the next one starts empty."""
        clear(folder)

    def begin_anew(self) -> None:
        """Throw away what is held, after damage was found while running. Searches go on."""
        with self._merging, self._writing:
            clear(self._folder)
            self._index = open_index(self._folder, VERSION)
            self._open, self._spelling = {}, {}
            self._searcher = self._refreshed()

    def close(self) -> None:
        """Let another process have the folder. Nothing is left to be written."""
        with self._merging, self._writing:
            if self._owner.fd is not None:
                self._owner.release()

    # -- writing

    def apply(self, add: Sequence[Document], delete: Collection[str]) -> None:
        """Add or replace documents and delete ids, in one commit.

        When this returns, searches see it, and it is on disk. Very many documents at once (over
        24 million characters) are committed in slices.
        """
        latest = {document.id: document for document in add}
        gone = [name for name in delete if name not in latest]
        slices = list(_slices(latest.values())) or [[]]
        for part in slices:
            self._apply(part, [d.id for d in part] + gone)
            gone = []

    def _apply(self, documents: Sequence[Document], leaving: Sequence[str]) -> None:
        with self._writing:
            if self._owner.fd is None:
                raise ValueError("the keyword index was closed")
            deleted = self._places(leaving)
            if not documents and not deleted:
                return
            if self._vocabulary.size > VOCABULARY_SIZE:
                self._vocabulary = Vocabulary()
            writer = ArrayWriter(self._index, self._vocabulary)
            try:
                writer.delete_in(deleted)
                writer.add_documents(map(_fields, documents))
            except BaseException:
                writer.cancel()
                raise
            writer.commit()
            self._searcher = self._refreshed()

    def _places(self, ids: Iterable[str]) -> dict[str, list[int]]:
        searcher = self._searcher
        places: dict[str, list[int]] = {}
        wanted = list(ids)
        for reader, alive in zip(searcher.leaves, searcher.alive, strict=True):
            numbers = [n for i in wanted if (n := reader.data.by_id.get(i)) is not None]
            if numbers := [n for n in numbers if alive[n]]:
                places[reader.name] = numbers
        return places

    def merge(self) -> bool:
        """Do one bounded step of tidying, for idle times. Answers whether there is more to do.

        Reads at most 32 MB; documents can be added, deleted and found meanwhile.
        """
        with self._merging:
            chosen = choose([r.array_segment for r in self._searcher.leaves])
            if chosen:
                self._merge({segment.segment_id() for segment in chosen})
            return bool(choose([r.array_segment for r in self._searcher.leaves]))

    def optimize(self) -> None:
        """Make one segment of all, or a few of half a gigabyte. For idle times: takes seconds."""
        with self._merging:
            for group in groups([leaf.array_segment for leaf in self._searcher.leaves]):
                self._merge({segment.segment_id() for segment in group})

    def _merge(self, names: Collection[str]) -> None:
        merged = self._merge_sources(names)
        with self._writing:  # close() waits for merges, so the folder is still ours
            writer = ArrayWriter(self._index, self._vocabulary)
            writer.put_in_place(merged)
            writer.commit()
            self._searcher = self._refreshed()

    def _merge_sources(self, names: Collection[str]) -> Merged:
        leaves = [leaf for leaf in self._searcher.leaves if leaf.name in names]
        return merge_segments(self._index, [(leaf.array_segment, leaf.data) for leaf in leaves])

    def _refreshed(self) -> ArraySearcher:
        toc = read_toc(self._index)
        segments: list[ArraySegment] = toc.segments
        self._open = {
            name: self._open.get(name) or open_segment(self._folder, segment)
            for segment in segments
            if (name := segment.segment_id())
        }
        self._spelling = {n: s for n, s in self._spelling.items() if n in self._open}
        readers = [
            ArrayReader(self._index.storage, toc.schema, s, self._open[s.segment_id()])
            for s in segments
        ]
        return open_searcher(toc.schema, readers, toc.generation)

    def check(self) -> None:
        """Read all files whole; raises `IndexDamaged` where one is not as it was written."""
        for leaf in self._searcher.leaves:
            leaf.data.file.check()

    # -- reading

    def contents(self) -> dict[str, str]:
        """The id and version of every document that is held."""
        found: dict[str, str] = {}
        searcher = self._searcher
        for reader, alive in zip(searcher.leaves, searcher.alive, strict=True):
            data = reader.data
            if alive.all():
                found.update(zip(data.ids, data.versions, strict=True))
            else:
                found.update((data.ids[i], data.versions[i]) for i in np.flatnonzero(alive))
        return found

    def doc_count(self) -> int:
        """How many documents are held."""
        return int(self._searcher.doc_count())

    def search(
        self,
        query: Query,
        limit: int,
        allow: Collection[str] | None = None,
        parts: Sequence[Part] = DEFAULT_PARTS,
        *,
        masks: bool = True,
    ) -> Matches:
        """The best documents for a query, scored with BM25F as `parts` say.

        `allow` limits the answer to these ids; it does not change the scores. Without `masks` all
        of them are 0, and the answer comes sooner.
        """
        searcher = self._searcher
        report = ("title", "keywords") if masks else None
        total, found, having = searcher.best(query, limit, parts, allow, report)
        return Matches(
            total,
            tuple(
                Match(
                    searcher.leaves[f.segment].data.ids[f.doc],
                    f.score,
                    f.matched,
                    f.in_fields.get("title", 0),
                    f.in_fields.get("keywords", 0),
                )
                for f in found
            ),
            tuple(having),
        )

    def with_all(self, groups: Sequence[Sequence[str]], fields: Sequence[str]) -> list[str]:
        """The ids of documents that have, in these fields, any term of each group of terms."""
        return self._searcher.with_all(groups, fields)

    def marks(
        self, ids: Iterable[str], terms: Sequence[str], source: Source = "transcript"
    ) -> dict[str, Marked]:
        """Where terms stand in the notes or transcripts of these documents.

        Documents that are not held are left out. For windows and snippets.
        """
        return marks(self._searcher, ids, terms, source)

    def phrase(
        self, ids: Iterable[str], phrase: Sequence[str], source: Source = "transcript"
    ) -> dict[str, NDArray[np.int64]]:
        """Where these words stand in a row: for each id that has them, the numbers of the first.

        `phrase` is what `words` makes of the phrase.
        """
        return phrases(self._searcher, ids, phrase, source)

    def frequency(self, token: str) -> int:
        """How many documents have a term (a few more while replaced ones await merging)."""
        return self._searcher.documents_with(token)

    def near_terms(self, token: str, limit: int = 10) -> list[NearTerm]:
        """Indexed terms that may be meant by one that is rare or absent, likeliest first.

        Misspellings are one edit away, two in words of six letters and more. Then come terms that
        begin with the token and terms that contain it (from three letters on, or in scripts
        without blanks from one), the shorter ones first.
        """
        if not token:
            return []
        most = 0 if len(token) < 3 else 1 if len(token) < 6 else 2
        contained = len(token) > 2 or not token.isascii()
        spellings = [
            self._spelling.setdefault(leaf.name, Spelling(leaf.data))
            for leaf in self._searcher.leaves
        ]
        return nearest(spellings, token, most, contained)[:limit]

    def splits(self, word: str, limit: int = 3) -> list[tuple[str, str]]:
        """Pairs of indexed terms that a word may be made of, the more frequent ones first."""
        found = []
        for cut in range(2, len(word) - 1):
            first, second = tokens(word[:cut]), tokens(word[cut:])
            if len(first) == len(second) == 1:
                count = min(self.frequency(first[0]), self.frequency(second[0]))
                if count:
                    found.append((count, first[0], second[0]))
        return [(a, b) for _, a, b in sorted(found, reverse=True)[:limit]]


def _fields(document: Document) -> Mapping[str, str]:
    return {
        "id": document.id,
        "version": document.version,
        "body": document.body,
        "date": date_words(document.created),
        "keywords": document.keywords,
        "people": document.speakers,
        "title": document.title,
        "topic": document.topic,
        "transcript": document.transcript,
    }


def date_words(created: str) -> str:
    """A date in the forms in which people ask for it: `2026-11-30 30 November 2026 Monday`."""
    try:
        day = date.fromisoformat(created[:10])
    except ValueError:
        return created
    month, weekday = _MONTHS[day.month - 1], _DAYS[day.weekday()]
    return f"{day.isoformat()} {day.day} {month} {day.year} {weekday}"


def _slices(documents: Iterable[Document]) -> Iterable[list[Document]]:
    part: list[Document] = []
    size = 0
    for document in documents:
        part.append(document)
        size += len(document.body) + len(document.transcript)
        if size > SEGMENT_CHARS:
            yield part
            part, size = [], 0
    if part:
        yield part
