"""A Whoosh codec whose segments are plain arrays, and the table of contents that checks them.

Whoosh's own codec packs postings in pickled, compressed blocks, which costs most of the time of
indexing and of searching. This one keeps a segment in one `ArrayFile`. Whoosh's queries, scorers
and searcher work on it as on any other; `whoosh_query` takes the arrays as they are.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.analysis.acore import Token
from whoosh.analysis.analyzers import Analyzer
from whoosh.codec import base
from whoosh.codec.whoosh3 import W3Segment
from whoosh.fields import STORED, FieldType, Schema
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.formats import Frequency
from whoosh.index import TOC, FileIndex
from whoosh.matching.mcore import ListMatcher
from whoosh.reading import SegmentReader, TermInfo, TermNotFound
from whoosh.util.numeric import byte_to_length

from neurigraph.index.analysis import tokens
from neurigraph.index.array_file import ArrayFile, IndexDamaged, sync_folder
from neurigraph.index.postings import FIELDS, SOURCES, Block, unpack_starts

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

    def should_assemble(self) -> bool:
        """There is but one file."""
        return False


class SegmentData:
    """The arrays of one segment, whatever was deleted since. Shared by all of its readers."""

    def __init__(self, file: ArrayFile) -> None:
        self.file = file
        raw = file.array("names").tobytes()
        names: list[list[str]] = json.loads(raw)
        self.ids, self.versions = names
        self.by_id = {name: i for i, name in enumerate(self.ids)}
        self.doc_count = len(self.ids)
        self._blob = file.array("terms").tobytes()
        self._term_ends = np.cumsum(file.array("term_lengths"), dtype=np.int64)
        self.term_count = len(self._term_ends)
        self._prefixes = file.array("prefixes")
        self._keys = file.array("keys")
        self._ends = file.array("ends")
        self.lengths = file.array("lengths").reshape(len(FIELDS), self.doc_count)
        self._word_ends = file.array("word_ends")
        self._gap_ends = file.array("gap_ends")

    @cached_property
    def totals(self) -> dict[str, int]:
        """Terms of each field in all documents, the deleted ones too, as Whoosh counts them."""
        return dict(zip(FIELDS, map(int, self.lengths.sum(axis=1, dtype=np.int64)), strict=True))

    def term(self, rank: int) -> bytes:
        """The term of a rank."""
        begin = self._term_ends[rank - 1] if rank else 0
        return self._blob[begin : self._term_ends[rank]]

    def terms(self) -> list[bytes]:
        """All terms, sorted."""
        ends = [0, *self._term_ends.tolist()]
        return [self._blob[a:b] for a, b in pairwise(ends)]

    def ranks(self, terms: Sequence[bytes]) -> NDArray[np.int64]:
        """The rank of each term, -1 for those that are not there."""
        wanted = np.array(terms, "S8").view(">u8").astype(np.uint64).reshape(-1)
        first = np.searchsorted(self._prefixes, wanted, "left")
        last = np.searchsorted(self._prefixes, wanted, "right")
        found = np.where(first < last, first, -1)
        for i in np.flatnonzero(first < last).tolist():
            term = terms[i]
            if len(term) >= 8:  # a shorter one is the only one with its prefix
                low, high = int(first[i]), int(last[i])
                at = bisect_left(range(high), term, low, high, key=self.term)
                found[i] = at if at < high and self.term(at) == term else -1
            elif self.term(int(first[i])) != term:
                found[i] = -1
        return found

    def rank(self, term: bytes) -> int:
        """The rank of one term, or -1."""
        return int(self.ranks([term])[0])

    def floor(self, term: bytes) -> int:
        """The rank of the first term that is not smaller."""
        return bisect_left(range(self.term_count), term, key=self.term)

    def postings(self, field: int, rank: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Documents, ascending, and how often; empty where there are none."""
        key = field * self.term_count + rank
        at = int(np.searchsorted(self._keys, key))
        if at == len(self._keys) or self._keys[at] != key:
            return np.empty(0, np.int32), np.empty(0, np.uint16)
        return self._slice(at)

    def many_postings(
        self, fields: Sequence[int], ranks: NDArray[np.int64]
    ) -> dict[tuple[int, int], tuple[NDArray[np.int32], NDArray[np.uint16]]]:
        """For (position in `ranks`, field) the postings, where there are any."""
        wanted = ranks[:, None] + np.array(fields, np.int64) * self.term_count
        at = np.searchsorted(self._keys, wanted)
        at[at == len(self._keys)] = 0
        there = (ranks >= 0)[:, None] & (len(self._keys) > 0)
        if len(self._keys):
            there = there & (self._keys[at] == wanted)
        return {
            (i, fields[j]): self._slice(int(at[i, j]))
            for i, j in zip(*(x.tolist() for x in np.nonzero(there)), strict=True)
        }

    def _slice(self, at: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        first, last = int(self._ends[at - 1]) if at else 0, int(self._ends[at])
        return self.file.part("docs", first, last), self.file.part("counts", first, last)

    def field_ranks(self, field: int) -> NDArray[np.int64]:
        """The ranks of a field's terms, ascending."""
        first, last = np.searchsorted(
            self._keys, [field * self.term_count, (field + 1) * self.term_count]
        )
        ranks: NDArray[np.int64] = self._keys[first:last] - field * self.term_count
        return ranks

    def frequencies(self) -> NDArray[np.int64]:
        """For each term the number of its postings in all fields."""
        sizes = np.diff(self._ends, prepend=0)
        counts: NDArray[np.int64] = np.bincount(
            self._keys % max(self.term_count, 1), weights=sizes, minlength=self.term_count
        ).astype(np.int64)
        return counts

    def words(self, doc: int, source: str) -> NDArray[Any]:
        """The ranks of the words of a note or transcript, in running order."""
        cell = doc * len(SOURCES) + SOURCES.index(source)
        first = int(self._word_ends[cell - 1]) if cell else 0
        return self.file.part("words", first, int(self._word_ends[cell]))

    def starts(self, doc: int, source: str) -> NDArray[np.int64]:
        """The characters at which these words start."""
        cell = doc * len(SOURCES) + SOURCES.index(source)
        first = int(self._gap_ends[cell - 1]) if cell else 0
        return unpack_starts(self.file.part("gaps", first, int(self._gap_ends[cell])))

    def block(self) -> Block:
        """Everything, for a merge."""
        get = self.file.array
        return Block(
            self.ids,
            self.versions,
            self.terms(),
            self._keys,
            self._ends,
            get("docs"),
            get("counts"),
            self.lengths,
            get("words"),
            self._word_ends,
            get("gaps"),
            self._gap_ends,
        )


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


class CheckedTOC(TOC):
    """Whoosh's table of contents with a CRC-32 and its length at the end."""

    _tail = struct.Struct("<4sIQ")
    _mark = b"NHtc"

    def write(self, storage: Any, indexname: str) -> None:
        """Write it under another name, seal it, make it durable and give it its name."""
        final = self._filename(indexname, self.generation)
        draft = _Renamed(storage, final)
        super().write(draft, indexname)
        path = Path(storage.folder) / draft.held
        data = path.read_bytes()
        with path.open("ab") as file:
            file.write(self._tail.pack(self._mark, zlib.crc32(data), len(data)))
            file.flush()
            os.fsync(file.fileno())
        path.replace(path.with_name(final))
        sync_folder(path.parent)

    @classmethod
    def check(cls, storage: Any, indexname: str) -> None:
        """Raise `IndexDamaged` where the newest one does not carry its checksum."""
        name = cls._filename(indexname, cls._latest_generation(storage, indexname))
        path = Path(storage.folder) / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise IndexDamaged(str(path), str(error)) from error
        body, tail = data[: -cls._tail.size], data[-cls._tail.size :]
        if tail != cls._tail.pack(cls._mark, zlib.crc32(body), len(body)):
            raise IndexDamaged(str(path), "it does not carry its checksum")


class _Renamed:
    """The storage, but the last step of writing the table is left to its caller."""

    def __init__(self, storage: Any, final: str) -> None:
        self._storage, self._final = storage, final
        self.held = ""

    def create_file(self, name: str) -> Any:
        return self._storage.create_file(name)

    def rename_file(self, old: str, new: str, safe: bool = False) -> None:
        self.held = old


class ArrayStorage(FileStorage):
    """A folder of files. Nothing of ours is ever too large for memory, so there is no folder
    for Whoosh's temporary files."""

    def temp_storage(self, name: str | None = None) -> RamStorage:
        return RamStorage()


class ArrayIndex(FileIndex):
    """An index folder whose table of contents is checked whenever it is read."""

    @classmethod
    def create(cls, storage: Any, schema: Schema, indexname: str = "MAIN") -> ArrayIndex:
        CheckedTOC(schema, [], 0).write(storage, indexname)
        return cls(storage, indexname=indexname)

    def __init__(self, storage: Any, schema: Schema | None = None, indexname: str = "MAIN") -> None:
        CheckedTOC.check(storage, indexname)
        super().__init__(storage, schema, indexname)

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return Path(str(self.storage.folder))  # type: ignore[attr-defined]

    def read_toc(self) -> TOC:
        """The newest table of contents; raises `IndexDamaged`, or whatever unpickling raises."""
        CheckedTOC.check(self.storage, self.indexname)
        toc: TOC = TOC.read(self.storage, self.indexname, schema=self._schema)
        return toc

    _read_toc = read_toc
