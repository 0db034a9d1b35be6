"""Writes segments of arrays: many documents at once, one at a time, and merges.

A commit never merges. Merging is work for idle times and takes no lock while it runs: the merged
segment is written beside its sources and takes their place at the end, with whatever was deleted
meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from whoosh.index import clean_files
from whoosh.writing import SegmentWriter

from neurigraph.index.analysis import Vocabulary
from neurigraph.index.array_file import write_arrays
from neurigraph.index.postings import FIELDS, Block, Collector, merge
from neurigraph.index.segment import SegmentData
from neurigraph.index.whoosh_codec import ArrayCodec, ArraySegment
from neurigraph.index.whoosh_index import ArrayIndex, CheckedTOC

BATCH_CHARS = 300_000
"""Characters that are analysed at once: enough to spread the fixed costs, few enough for memory."""

SMALL = 1 << 20
"""Bytes of a segment up to which all count as one size."""

FANOUT = 8
"""Segments of one size that are worth merging, and the step between sizes."""

MERGE_BYTES = 32 << 20
"""What one merge reads at most, unless it is asked for everything."""

LARGEST = 512 << 20
"""Bytes that a merged segment may have: a merge holds all of it in memory."""


class ArrayWriter(SegmentWriter):
    """Writes one new segment. The caller holds the folder's lock."""

    def __init__(self, index: ArrayIndex, vocabulary: Vocabulary) -> None:
        super().__init__(index, codec=ArrayCodec(), compound=False, _lk=False)
        self._collector = Collector(vocabulary)
        self.merge = False

    def add_document(self, **fields: str) -> None:
        """Add one document: `id`, `version` and any of FIELDS."""
        self.add_documents([fields])

    def add_documents(self, documents: Iterable[Mapping[str, str]]) -> None:
        """Add documents, which have `id`, `version` and any of FIELDS."""
        names: list[tuple[str, str]] = []
        texts: list[str] = []
        size = 0
        for document in documents:
            names.append((document["id"], document["version"]))
            for field in FIELDS:
                texts.append(text := document.get(field, ""))
                size += len(text)
            if size > BATCH_CHARS:
                self._collector.add(names, texts)
                names, texts, size = [], [], 0
        if names:
            self._collector.add(names, texts)
        self.docnum = self.docbase + len(self._collector)
        self._added = self.docnum > self.docbase

    def delete_in(self, deleted: Mapping[str, Collection[int]]) -> None:
        """Mark documents deleted: for the id of a segment their numbers in it."""
        for segment in self.segments:
            for number in deleted.get(segment.segment_id(), ()):
                segment.delete_document(number)

    def put_in_place(self, merged: Merged) -> None:
        """Replace segments by the one that they were merged into."""
        new = merged.segment
        places = [i for i, s in enumerate(self.segments) if s.segment_id() in merged.sources]
        if new is not None:
            for number in merged.deletions_since(self.segments):
                new.delete_document(number)
            path = new.path(Path(self.storage.folder))
            draft(path).replace(path)
            self.segments.insert(min(places, default=len(self.segments)), new)
        self.segments = [s for s in self.segments if s.segment_id() not in merged.sources]

    def _flush_segment(self) -> None:
        path = self.newsegment.path(Path(self.storage.folder))
        write_segment(path, self.newsegment, self._collector.block())

    def _commit_toc(self, segments: Sequence[ArraySegment]) -> None:
        kept = [s for s in segments if s.doc_count() > 0]
        toc = CheckedTOC(self.schema, kept, self.generation)
        toc.write(self.storage, self.indexname)
        clean_files(self.storage, self.indexname, self.generation, kept)


def draft(path: Path) -> Path:
    """The name of a segment's file until it is in place: commits leave hidden files alone."""
    return path.with_name(f".{path.name}")


def write_segment(path: Path, segment: ArraySegment, block: Block) -> None:
    """Write the file of a segment, and note in it what the table of contents must know."""
    segment.crc = write_arrays(path, block.arrays())
    segment.size = path.stat().st_size
    segment.set_doc_count(len(block.ids))


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged segment that is written but not yet in the table of contents."""

    sources: tuple[str, ...]
    segment: ArraySegment | None
    deleted: Mapping[str, frozenset[int]]
    moved: Mapping[str, NDArray[np.int64]]

    def deletions_since(self, now: Sequence[ArraySegment]) -> list[int]:
        """Numbers in the merged segment of what was deleted while it was made."""
        present = {segment.segment_id(): segment for segment in now}
        found: list[int] = []
        for name, moved in self.moved.items():
            source = present.get(name)  # a segment of which nothing is left is gone by now
            later = range(len(moved)) if source is None else source.deleted_docs()
            found += (int(moved[number]) for number in set(later) - self.deleted[name])
        return found


def merge_segments(
    index: ArrayIndex, sources: Sequence[tuple[ArraySegment, SegmentData]]
) -> Merged:
    """Write one segment with the live documents of these; reads only, but for the new file."""
    folder = index.folder
    deleted = {s.segment_id(): frozenset(s.deleted_docs()) for s, _ in sources}
    alive, moved, base_number = [], {}, 0
    for segment, data in sources:
        live = np.ones(data.doc_count, bool)
        live[list(deleted[segment.segment_id()])] = False
        alive.append(live)
        moved[segment.segment_id()] = np.cumsum(live) - 1 + base_number
        base_number += int(live.sum())
    new = None
    if base_number:
        new = ArraySegment(ArrayCodec(), index.indexname)
        block = merge([data.block() for _, data in sources], alive)
        write_segment(draft(new.path(folder)), new, block)
    return Merged(tuple(deleted), new, deleted, moved)


def choose(segments: Sequence[ArraySegment]) -> list[ArraySegment]:
    """The segments that are best merged now; empty when there is nothing worth it.

    Tiers of sizes, each eight times the one before: eight segments of one tier become one, of
    the smallest four, as they are quickly merged and cost every search the same as large ones.
    Where most of a segment was deleted, it is written anew.
    """
    tiers: dict[int, list[ArraySegment]] = {}
    for segment in segments:
        tier, size = 0, segment.size
        while size > SMALL:
            tier, size = tier + 1, size // FANOUT
        tiers.setdefault(tier, []).append(segment)
    for tier, members in sorted(tiers.items()):
        if len(members) >= (FANOUT if tier else FANOUT // 2):
            chosen = _within(members, MERGE_BYTES)[0]
            if len(chosen) > 1:
                return chosen
    stale = [s for s in segments if 2 * s.deleted_count() > s.doc_count_all() and s.size > SMALL]
    return stale[:1]


def groups(segments: Sequence[ArraySegment]) -> list[list[ArraySegment]]:
    """What to merge so that as few segments as possible are left, none with deleted documents."""
    return [
        group
        for group in _within(segments, LARGEST)
        if len(group) > 1 or any(s.has_deletions() for s in group)
    ]


def _within(segments: Sequence[ArraySegment], most: int) -> list[list[ArraySegment]]:
    found: list[list[ArraySegment]] = []
    total = most + 1
    for segment in segments:
        total += segment.size
        if total > most:
            found.append([])
            total = segment.size
        found[-1].append(segment)
    return found
