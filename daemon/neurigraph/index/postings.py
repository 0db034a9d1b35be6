"""What one segment of the keyword index holds, as arrays: built from texts, merged, read.

Postings are kept for each pair of field and term: the documents, ascending, and how often. The
words of note and transcript are kept in running order too, with the characters at which they
start, so that windows, phrases and snippets need neither file nor analysis.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.analysis import Vocabulary
from neurigraph.index.array_file import Array

FIELDS = ("body", "date", "keywords", "people", "title", "topic", "transcript")
"""The fields that are searched, in the order in which Whoosh sorts them."""

SOURCES = ("body", "transcript")
"""The fields whose words are kept in running order."""

_SOURCE_FIELDS = tuple(FIELDS.index(name) for name in SOURCES)
_MOST = 0xFFFF


@dataclass(frozen=True, slots=True)
class Block:
    """D documents, T terms, F fields, S sources.

    `terms`: sorted bytes. `keys`: field * T + term of each postings list, ascending; list i is
    `docs` and `counts` from `ends[i-1]` to `ends[i]`. `lengths`: (F, D) terms of each field.
    `words`: terms in running order; those of document d and source s end at
    `word_ends[d * S + s]`. `gaps` and `gap_ends`: where they start, as `pack_starts` has it.
    `opens` and `open_ends`: the positions of the words that are the first of their line.
    """

    ids: list[str]
    versions: list[str]
    terms: list[bytes]
    keys: NDArray[np.int64]
    ends: NDArray[np.int64]
    docs: NDArray[np.int32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint32]
    words: Array
    word_ends: NDArray[np.int64]
    gaps: NDArray[np.uint8]
    gap_ends: NDArray[np.int64]
    opens: NDArray[np.uint32]
    open_ends: NDArray[np.int64]

    def arrays(self) -> dict[str, Array]:
        """All of it by name, as the segment's file has it."""
        lengths = np.fromiter(map(len, self.terms), np.uint8, len(self.terms))
        names = json.dumps([self.ids, self.versions]).encode()
        return {
            "names": np.frombuffer(names, np.uint8),
            "terms": np.frombuffer(b"".join(self.terms), np.uint8),
            "term_lengths": lengths,
            "prefixes": prefixes(self.terms),
            "keys": self.keys,
            "ends": self.ends,
            "docs": self.docs,
            "counts": self.counts,
            "lengths": self.lengths,
            "words": self.words,
            "word_ends": self.word_ends,
            "gaps": self.gaps,
            "gap_ends": self.gap_ends,
            "opens": self.opens,
            "open_ends": self.open_ends,
        }


def prefixes(terms: Sequence[bytes]) -> NDArray[np.uint64]:
    """The first eight bytes of each term as a number that sorts as the term does."""
    numbers: NDArray[np.uint64] = np.array(terms, "S8").view(">u8").astype(np.uint64).reshape(-1)
    return numbers


def pack_starts(starts: NDArray[np.int32], firsts: NDArray[np.int64]) -> tuple[Array, Array]:
    """Ascending starts as the distance to the one before, a byte each; 255 means go on.

    `firsts` are the positions at which a new text begins. Answers the bytes, and for each start
    the number of bytes up to and including its own.
    """
    gaps = np.diff(starts, prepend=0)
    gaps[firsts] = starts[firsts]
    extra = gaps // 255
    if not extra.any():
        return gaps.astype(np.uint8), np.arange(1, len(gaps) + 1)
    ends = np.cumsum(extra + 1)
    packed = np.full(int(ends[-1]), 255, np.uint8)
    packed[ends - 1] = gaps % 255
    return packed, ends


def unpack_starts(gaps: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The starts of one text."""
    starts: NDArray[np.int64] = np.cumsum(gaps, dtype=np.int64)[gaps != 255]
    return starts


class Collector:
    """Takes texts of documents in and makes a block of them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._ids: list[str] = []
        self._versions: list[str] = []
        self._terms: list[Array] = []
        self._cells: list[Array] = []
        self._words: list[Array] = []
        self._ends: list[Array] = []
        self._gaps: list[Array] = []
        self._gap_ends: list[Array] = []
        self._opens: list[Array] = []
        self._open_ends: list[Array] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, names: Sequence[tuple[str, str]], texts: Sequence[str]) -> None:
        """Add documents: id and version of each, and one text a field, in the order of FIELDS."""
        base = len(self._ids) * len(FIELDS)
        self._ids += (name for name, _ in names)
        self._versions += (version for _, version in names)
        found = self._vocabulary.analyse(texts)
        counts = np.diff(found.ends, prepend=0)
        cells = np.arange(base, base + len(texts), dtype=np.int32)
        self._terms += (found.ids, found.extras)
        self._cells += (np.repeat(cells, counts), found.extra_text + base)
        kept = np.zeros(len(FIELDS), bool)
        kept[list(_SOURCE_FIELDS)] = True
        source = np.tile(kept, len(names))
        ours = np.repeat(source, counts)
        self._words.append(found.ids[ours])
        starts = found.starts[ours]
        sizes = counts[source]
        ends = np.cumsum(sizes)
        gaps, each = pack_starts(starts, (ends - sizes)[sizes > 0])
        self._ends.append(sizes)
        self._gaps.append(gaps)
        self._gap_ends.append(np.diff(np.concatenate(([0], each))[ends], prepend=0))
        opens = np.flatnonzero(found.opens[ours])
        cell = np.searchsorted(ends, opens, "right")
        self._opens.append((opens - (ends - sizes)[cell]).astype(np.uint32))
        self._open_ends.append(np.bincount(cell, minlength=len(sizes)))

    def block(self) -> Block:
        """All that was added."""
        documents = len(self._ids)
        ids = _join(self._terms, np.int32)
        cells = _join(self._cells, np.int32)
        names = self._vocabulary.terms
        met = np.zeros(len(names), bool)
        met[ids] = True
        order = sorted(np.flatnonzero(met).tolist(), key=names.__getitem__)
        rank = np.zeros(len(names), np.int64)
        rank[order] = np.arange(len(order))
        fields = len(FIELDS)
        doc, field = np.divmod(cells, fields)
        lengths = np.bincount(field * documents + doc, minlength=fields * documents)
        full = (field.astype(np.int64) * len(order) + rank[ids]) * documents + doc
        full, counts = _count(np.sort(full))
        keys, ends, docs = _lists(full, documents)
        return Block(
            self._ids,
            self._versions,
            [names[i] for i in order],
            keys,
            ends,
            docs,
            counts,
            lengths.astype(np.uint32).reshape(fields, documents),
            rank.astype(_narrow(len(order)))[_join(self._words, np.int32)],
            np.cumsum(_join(self._ends, np.int64)),
            _join(self._gaps, np.uint8),
            np.cumsum(_join(self._gap_ends, np.int64)),
            _join(self._opens, np.uint32),
            np.cumsum(_join(self._open_ends, np.int64)),
        )


def merge(blocks: Sequence[Block], alive: Sequence[NDArray[np.bool_]]) -> Block:
    """One block of the documents that are alive, in order."""
    kept = [_alive_postings(b, a) for b, a in zip(blocks, alive, strict=True)]
    held: list[list[bytes]] = []
    for block, (_, rank, _, _) in zip(blocks, kept, strict=True):
        met = np.zeros(len(block.terms), bool)
        met[rank] = True
        held.append(list(compress(block.terms, met.tolist())))
    terms = _union(held)
    place = {term: i for i, term in enumerate(terms)}
    documents = sum(int(a.sum()) for a in alive)
    fulls: list[Array] = []
    counts: list[Array] = []
    words: list[Array] = []
    sizes: list[Array] = []
    gaps: list[Array] = []
    gap_sizes: list[Array] = []
    opens: list[Array] = []
    open_sizes: list[Array] = []
    base = 0
    for block, live, (field, rank, doc, count) in zip(blocks, alive, kept, strict=True):
        moved = np.fromiter((place.get(t, -1) for t in block.terms), np.int64, len(block.terms))
        number = np.cumsum(live) - 1 + base
        fulls.append((field * len(terms) + moved[rank]) * documents + number[doc])
        counts.append(count)
        base += int(live.sum())
        source = np.repeat(live, len(SOURCES))
        size = np.diff(block.word_ends, prepend=0)
        gap_size = np.diff(block.gap_ends, prepend=0)
        open_size = np.diff(block.open_ends, prepend=0)
        words.append(moved[block.words[np.repeat(source, size)]].astype(_narrow(len(terms))))
        gaps.append(block.gaps[np.repeat(source, gap_size)])
        sizes.append(size[source])
        gap_sizes.append(gap_size[source])
        opens.append(block.opens[np.repeat(source, open_size)])
        open_sizes.append(open_size[source])
    full = _join(fulls, np.int64)
    order = np.argsort(full, kind="stable")  # a few sorted runs: quicker than from scratch
    keys, ends, docs = _lists(full[order], documents)
    return Block(
        [b.ids[i] for b, a in zip(blocks, alive, strict=True) for i in np.flatnonzero(a).tolist()],
        [
            b.versions[i]
            for b, a in zip(blocks, alive, strict=True)
            for i in np.flatnonzero(a).tolist()
        ],
        terms,
        keys,
        ends,
        docs,
        _join(counts, np.uint16)[order],
        np.concatenate([b.lengths[:, a] for b, a in zip(blocks, alive, strict=True)], axis=1),
        _join(words, _narrow(len(terms))),
        np.cumsum(_join(sizes, np.int64)),
        _join(gaps, np.uint8),
        np.cumsum(_join(gap_sizes, np.int64)),
        _join(opens, np.uint32),
        np.cumsum(_join(open_sizes, np.int64)),
    )


def _union(lists: list[list[bytes]]) -> list[bytes]:
    """All terms of sorted lists, sorted, each once.

    Two lists at a time: one sort of all would hold the interpreter, and so every search, for a
    tenth of a second.
    """
    while len(lists) > 1:
        pairs = [lists[i] + lists[i + 1] for i in range(0, len(lists) - 1, 2)]
        lists = [list(dict.fromkeys(sorted(pair))) for pair in pairs] + lists[len(pairs) * 2 :]
    return lists[0] if lists else []


def _alive_postings(block: Block, alive: NDArray[np.bool_]) -> tuple[Array, Array, Array, Array]:
    key = np.repeat(block.keys, np.diff(block.ends, prepend=0))
    keep = alive[block.docs]
    field, rank = np.divmod(key[keep], max(len(block.terms), 1))
    return field, rank, block.docs[keep], block.counts[keep]


def _count(full: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """Each different number of an ascending array, and how often it is there."""
    new = np.ones(len(full), bool)
    np.not_equal(full[1:], full[:-1], out=new[1:])
    first = np.flatnonzero(new)
    counts = np.diff(first, append=len(full))
    return full[first], np.minimum(counts, _MOST).astype(np.uint16)


def _lists(
    full: NDArray[np.int64], documents: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Keys, ends and documents of postings: key * D + document each, ascending."""
    key, docs = np.divmod(full, max(documents, 1))
    new = np.ones(len(key), bool)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    begins = np.flatnonzero(new)
    ends = np.append(begins[1:], len(key)) if len(key) else begins
    return key[begins], ends.astype(np.int64), docs.astype(np.int32)


def _join(arrays: Sequence[Array], dtype: type) -> Array:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)


def _narrow(terms: int) -> type:
    return np.uint16 if terms <= 1 << 16 else np.uint32
