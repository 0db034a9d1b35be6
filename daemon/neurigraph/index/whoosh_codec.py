"""A Whoosh codec whose segments are plain arrays, and the table of contents that checks them.

Whoosh's own codec packs postings in pickled, compressed blocks, which costs most of the time of
indexing and of searching. This one keeps a segment in one `ArrayFile`. Whoosh's queries, scorers
and searcher work on it as on any other; `whoosh_query` takes the arrays as they are.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.analysis.acore import Token
from whoosh.analysis.analyzers import Analyzer
from whoosh.codec import base
from whoosh.codec.whoosh3 import W3Segment
from whoosh.fields import STORED, FieldType, Schema
from whoosh.formats import Frequency
from whoosh.matching.mcore import ListMatcher
from whoosh.reading import SegmentReader, TermInfo, TermNotFound
from whoosh.util.numeric import byte_to_length

from neurigraph.index.analysis import tokens
from neurigraph.index.array_file import ArrayFile, IndexDamaged
from neurigraph.index.postings import FIELDS
from neurigraph.index.segment import SegmentData

SEGMENT_SUFFIX = ".arrays"


_LENGTHS = np.array([byte_to_length(i) for i in range(256)], np.int64)


def rounded(lengths: Any) -> NDArray[np.int64]:
    """Lengths as Whoosh's codec has them: it keeps each in one byte, so scores go by these."""
    found: NDArray[np.int64] = _LENGTHS[np.minimum(np.searchsorted(_LENGTHS, lengths), 255)]
    return found


class WordAnalyzer(Analyzer):
    """Our analysis as Whoosh wants it."""

    def __call__(self, value: str, positions: bool = False, **_: Any) -> Iterator[Token]:
        token = Token(positions)
        for position, text in enumerate(tokens(value)):
            token.text = text
            token.boost = 1.0
            token.stopped = False
            if positions:
                token.pos = position
            yield token


class Words(FieldType):
    """A field of words that are counted."""

    def __init__(self) -> None:
        super().__init__(Frequency(), WordAnalyzer(), scorable=True)


def schema() -> Schema:
    """What a memory is made of, for Whoosh."""
    return Schema(id=STORED(), version=STORED(), **{name: Words() for name in FIELDS})


class ArraySegment(W3Segment):
    """A segment, as it stands in the table of contents. `crc` is that of its file."""

    crc = 0
    size = 0

    def path(self, folder: Path) -> Path:
        """Its file."""
        return folder / str(self.make_filename(SEGMENT_SUFFIX))

    @classmethod
    def _random_id(cls, size: int = 16) -> str:
        """A name that no other segment has, even where somebody has seeded `random`."""
        return secrets.token_hex(size // 2)

    def should_assemble(self) -> bool:
        """There is but one file."""
        return False


class ArrayCursor(base.FieldCursor):
    """Walks over the terms of one field."""

    def __init__(self, data: SegmentData, field: int) -> None:
        self._data, self._ranks = data, data.field_ranks(field)
        self._at = 0

    def first(self) -> str | None:
        self._at = 0
        return self.text()

    def find(self, term: bytes | str) -> str | None:
        wanted = term.encode("utf-8", "surrogatepass") if isinstance(term, str) else term
        self._at = int(np.searchsorted(self._ranks, self._data.floor(wanted)))
        return self.text()

    def next(self) -> str | None:
        self._at += 1
        return self.text()

    def text(self) -> str | None:
        if not self.is_valid():
            return None
        return self._data.term(int(self._ranks[self._at])).decode("utf-8", "surrogatepass")

    def is_valid(self) -> bool:
        return self._at < len(self._ranks)


class ArrayTermsReader(base.TermsReader):
    """A segment's terms, for Whoosh."""

    def __init__(self, data: SegmentData) -> None:
        self._data = data

    def _rank(self, field: str, term: bytes) -> tuple[int, int]:
        if field not in FIELDS or (rank := self._data.rank(term)) < 0:
            raise TermNotFound(f"No term {field}:{term!r}")
        return FIELDS.index(field), rank

    def _postings(self, field: str, term: bytes) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        docs, counts = self._data.postings(*self._rank(field, term))
        if not len(docs):
            raise TermNotFound(f"No term {field}:{term!r}")
        return docs, counts

    def __contains__(self, term: tuple[str, bytes]) -> bool:
        try:
            return bool(len(self._postings(*term)[0]))
        except TermNotFound:
            return False

    def indexed_field_names(self) -> list[str]:
        return list(FIELDS)

    def terms(self) -> Iterator[tuple[str, bytes]]:
        for field in FIELDS:
            yield from self.terms_from(field, b"", on=False)

    def terms_from(
        self, fieldname: str, prefix: bytes, on: bool = True
    ) -> Iterator[tuple[str, bytes]]:
        first = FIELDS.index(fieldname)
        for number in range(first, len(FIELDS) if on else first + 1):
            ranks = self._data.field_ranks(number)
            if number == first and prefix:
                ranks = ranks[ranks >= self._data.floor(prefix)]
            for rank in ranks.tolist():
                yield FIELDS[number], self._data.term(rank)

    def items(self) -> Iterator[tuple[tuple[str, bytes], TermInfo]]:
        return ((term, self.term_info(*term)) for term in self.terms())

    def items_from(
        self, fieldname: str, prefix: bytes
    ) -> Iterator[tuple[tuple[str, bytes], TermInfo]]:
        return ((t, self.term_info(*t)) for t in self.terms_from(fieldname, prefix))

    def term_info(self, fieldname: str, text: bytes) -> TermInfo:
        docs, counts = self._postings(fieldname, text)
        lengths = self._data.lengths[FIELDS.index(fieldname)][docs]
        return TermInfo(
            float(counts.sum(dtype=np.int64)),
            len(docs),
            int(lengths.min()),
            int(lengths.max()),
            float(counts.max()),
            int(docs[0]),
            int(docs[-1]),
        )

    def frequency(self, fieldname: str, text: bytes) -> float:
        return float(self.term_info(fieldname, text).weight()) if (fieldname, text) in self else 0

    def doc_frequency(self, fieldname: str, text: bytes) -> int:
        return len(self._postings(fieldname, text)[0]) if (fieldname, text) in self else 0

    def cursor(self, fieldname: str, fieldobj: FieldType) -> ArrayCursor:
        return ArrayCursor(self._data, FIELDS.index(fieldname))

    def matcher(
        self, fieldname: str, text: bytes, format_: object, scorer: object = None
    ) -> ListMatcher:
        docs, counts = self._postings(fieldname, text)
        return ListMatcher(
            docs.tolist(),
            counts.astype(float).tolist(),
            format=format_,
            scorer=scorer,
            term=(fieldname, text),
            terminfo=self.term_info(fieldname, text),
        )

    def close(self) -> None:
        """The file is closed with the last reader that shares it."""


class ArrayDocReader(base.PerDocumentReader):
    """A segment's documents, for Whoosh."""

    def __init__(self, data: SegmentData, segment: ArraySegment) -> None:
        self._data, self._segment = data, segment

    def doc_count_all(self) -> int:
        return self._data.doc_count

    def doc_count(self) -> int:
        return self._data.doc_count - int(self._segment.deleted_count())

    def has_deletions(self) -> bool:
        return bool(self._segment.has_deletions())

    def is_deleted(self, docnum: int) -> bool:
        return bool(self._segment.is_deleted(docnum))

    def deleted_docs(self) -> Iterator[int]:
        return iter(self._segment.deleted_docs())

    def doc_field_length(self, docnum: int, fieldname: str, default: int = 0) -> int:
        return int(rounded(self._data.lengths[FIELDS.index(fieldname)][docnum])) or default

    def field_length(self, fieldname: str) -> int:
        return self._data.totals.get(fieldname, 0)

    def min_field_length(self, fieldname: str) -> int:
        return int(rounded(self._data.lengths[FIELDS.index(fieldname)].min(initial=0)))

    def max_field_length(self, fieldname: str) -> int:
        return int(rounded(self._data.lengths[FIELDS.index(fieldname)].max(initial=0)))

    def stored_fields(self, docnum: int) -> dict[str, str]:
        return {"id": self._data.ids[docnum], "version": self._data.versions[docnum]}

    def close(self) -> None:
        """The file is closed with the last reader that shares it."""


class _Absent(base.PerDocumentWriter, base.FieldWriter, base.PostingsWriter):
    """Stands where Whoosh's own writers stand: `whoosh_writer` writes all arrays in one go."""

    is_closed = True


class ArrayCodec(base.Codec):
    """Names the classes above to Whoosh."""

    length_stats = False

    def per_document_writer(self, storage: Any, segment: ArraySegment) -> _Absent:
        return _Absent()  # type: ignore[abstract]  # nothing is ever called on it

    def field_writer(self, storage: Any, segment: ArraySegment) -> _Absent:
        return _Absent()  # type: ignore[abstract]

    def postings_writer(self, dbfile: object, byteids: bool = False) -> _Absent:
        return _Absent()  # type: ignore[abstract]

    def postings_reader(
        self,
        dbfile: object,
        terminfo: TermInfo,
        format_: object,
        term: object = None,
        scorer: object = None,
    ) -> ListMatcher:
        """No postings stand outside of a segment's arrays."""
        return ListMatcher([], format=format_, scorer=scorer, term=term, terminfo=terminfo)

    def new_segment(self, storage: Any, indexname: str) -> ArraySegment:
        return ArraySegment(self, indexname)

    def terms_reader(self, storage: Any, segment: ArraySegment) -> ArrayTermsReader:
        return ArrayTermsReader(open_segment(Path(storage.folder), segment))

    def per_document_reader(self, storage: Any, segment: ArraySegment) -> ArrayDocReader:
        return ArrayDocReader(open_segment(Path(storage.folder), segment), segment)


def open_segment(folder: Path, segment: ArraySegment) -> SegmentData:
    """Read a segment's file; raises `IndexDamaged`."""
    data = SegmentData(ArrayFile(segment.path(folder), segment.crc))
    if data.doc_count != segment.doc_count_all():
        raise IndexDamaged(str(segment.path(folder)), "it holds another number of documents")
    return data


class ArrayReader(SegmentReader):
    """Reads a segment whose arrays are open already."""

    def __init__(
        self, storage: Any, schema: Schema, segment: ArraySegment, data: SegmentData
    ) -> None:
        self.data, self.array_segment = data, segment
        self.name = str(segment.segment_id())
        super().__init__(storage, schema, segment, codec=_Opened(data))


class _Opened(ArrayCodec):
    def __init__(self, data: SegmentData) -> None:
        self._data = data

    def terms_reader(self, storage: Any, segment: ArraySegment) -> ArrayTermsReader:
        return ArrayTermsReader(self._data)

    def per_document_reader(self, storage: Any, segment: ArraySegment) -> ArrayDocReader:
        return ArrayDocReader(self._data, segment)
