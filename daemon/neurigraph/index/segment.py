"""The arrays of one segment, read from its file as they are needed."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.array_file import ArrayFile
from neurigraph.index.postings import FIELDS, SOURCES, Block, unpack_starts

KEEP_FROM = 256
"""Documents from which on a term is so frequent that its counts are kept in memory."""

KEEP_BYTES = 24 << 20
"""What a segment keeps in memory of such counts."""

KEEP_RANKS = 5_000
"""Terms whose ranks are remembered."""

DENSE = 4
"""A term of more than a quarter of the documents is counted for all: sums over whole arrays are
quicker than picking."""

Weights = tuple[tuple[int, float], ...]
"""Fields by their number in FIELDS, and what an occurrence there counts."""


class Counted(NamedTuple):
    """In which documents a term stands, ascending, and how often.

    Where `docs` is None, `counts` has a value for every document of the segment.
    """

    docs: NDArray[Any] | None
    counts: NDArray[np.float64]
    frequency: int

    def among(self, docs: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these documents are in it."""
        if self.docs is None:
            has: NDArray[np.bool_] = self.counts[docs] > 0
            return has
        return among(self.docs, docs)


_NOWHERE = Counted(np.empty(0, np.int32), np.empty(0), 0)


def among(held: NDArray[Any], docs: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of some documents are in a list, both ascending."""
    if not len(held):
        return np.zeros(len(docs), bool)
    at = np.minimum(np.searchsorted(held, docs), len(held) - 1)
    has: NDArray[np.bool_] = held[at] == docs
    return has


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
        self._open_ends = file.array("open_ends")
        self._ranked: dict[bytes, int] = {}
        self._kept: dict[tuple[tuple[int, float], ...], Counted] = {}
        self._kept_bytes = 0

    @cached_property
    def totals(self) -> dict[str, int]:
        """Terms of each field in all documents, the deleted ones too, as Whoosh counts them."""
        return dict(zip(FIELDS, map(int, self.lengths.sum(axis=1, dtype=np.int64)), strict=True))

    def term_bytes(self) -> tuple[bytes, NDArray[np.int64]]:
        """All terms in a row, sorted, and where each ends."""
        return self._blob, self._term_ends

    def term(self, rank: int) -> bytes:
        """The term of a rank."""
        begin = self._term_ends[rank - 1] if rank else 0
        return self._blob[begin : self._term_ends[rank]]

    def terms(self) -> list[bytes]:
        """All terms, sorted."""
        ends = [0, *self._term_ends.tolist()]
        return [self._blob[a:b] for a, b in pairwise(ends)]

    def ranks(self, terms: Sequence[bytes]) -> NDArray[np.int64]:
        """The rank of each term, -1 for those that are not there.

        One search asks for its terms five times and more, so they are remembered.
        """
        known = self._ranked
        if missing := [term for term in terms if term not in known]:
            if len(known) > KEEP_RANKS:
                known = {term: known[term] for term in terms if term in known}
            known |= zip(missing, self._find_ranks(missing).tolist(), strict=True)
            self._ranked = known
        return np.array([known[term] for term in terms], np.int64)

    def _find_ranks(self, terms: Sequence[bytes]) -> NDArray[np.int64]:
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

    def places(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each rank and each of FIELDS which postings list is theirs; -1 for none."""
        if not len(self._keys):
            return np.full((len(ranks), len(FIELDS)), -1, np.int64)
        wanted = ranks[:, None] + np.arange(len(FIELDS)) * self.term_count
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        there = (self._keys[at] == wanted) & (ranks >= 0)[:, None]
        return np.where(there, at, -1)

    def documents(self, place: int) -> NDArray[np.int32]:
        """The documents of a postings list, ascending."""
        return self.file.part("docs", *self._ends_of(place))

    def counted(self, places: NDArray[np.int64], weights: Weights) -> Counted:
        """In which documents a term stands in any of some fields, and how often, weighted.

        `places` is the term's row of `places`. What is frequent is kept for the next time.
        """
        lists = [(int(places[field]), weight) for field, weight in weights if places[field] >= 0]
        if not lists:
            return _NOWHERE
        key = tuple(lists)
        found = self._kept.get(key)
        if found is None:
            found = self._count(lists)
            if found.frequency >= KEEP_FROM:
                self._keep(key, found)
        return found

    def _count(self, lists: Sequence[tuple[int, float]]) -> Counted:
        slices = [(*self._slice(place), weight) for place, weight in lists]
        most = max(len(docs) for docs, _, _ in slices)
        if len(slices) == 1 and most * DENSE < self.doc_count:
            docs, counts, weight = slices[0]
            return Counted(docs, counts.astype(np.float64) * weight, len(docs))
        dense = np.zeros(self.doc_count)
        for docs, counts, weight in slices:
            dense[docs] += counts * weight
        at = np.flatnonzero(dense)
        if len(at) * DENSE < self.doc_count:
            return Counted(at, dense[at], len(at))
        return Counted(None, dense, len(at))

    def _keep(self, key: tuple[tuple[int, float], ...], counted: Counted) -> None:
        self._kept_bytes += counted.counts.nbytes * 2
        if self._kept_bytes > KEEP_BYTES:
            self._kept, self._kept_bytes = {}, counted.counts.nbytes * 2
        self._kept[key] = counted

    def _slice(self, at: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        first, last = self._ends_of(at)
        return self.file.part("docs", first, last), self.file.part("counts", first, last)

    def _ends_of(self, at: int) -> tuple[int, int]:
        return int(self._ends[at - 1]) if at else 0, int(self._ends[at])

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
        return self._cell("words", self._word_ends, doc, source)

    def starts(self, doc: int, source: str) -> NDArray[np.int64]:
        """The characters at which these words start."""
        return unpack_starts(self._cell("gaps", self._gap_ends, doc, source))

    def opens(self, doc: int, source: str) -> NDArray[np.uint32]:
        """The positions of the words that are the first of their line."""
        return self._cell("opens", self._open_ends, doc, source)

    def _cell(self, name: str, ends: NDArray[np.int64], doc: int, source: str) -> NDArray[Any]:
        cell = doc * len(SOURCES) + SOURCES.index(source)
        return self.file.part(name, int(ends[cell - 1]) if cell else 0, int(ends[cell]))

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
            get("opens"),
            self._open_ends,
        )
