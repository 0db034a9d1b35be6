"""The arrays of one segment, read from its file as they are needed."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.array_file import ArrayFile
from neurigraph.index.postings import FIELDS, SOURCES, Block, unpack_starts


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
