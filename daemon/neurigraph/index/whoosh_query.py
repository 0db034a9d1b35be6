"""Scores memories with BM25F over whole arrays of postings, as Whoosh's scorer does one by one.

A `Part` is a set of fields that are counted as one: occurrences and lengths add up, each times
the field's weight, before BM25 is applied once. A part of one field with weight 1 gives exactly
the score of Whoosh's `Term` query in that field, several parts that of their `Or`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from whoosh.fields import Schema
from whoosh.reading import MultiReader
from whoosh.searching import Searcher

from neurigraph.index.postings import FIELDS
from neurigraph.index.segment import Counted, SegmentData, among
from neurigraph.index.whoosh_codec import ArrayReader, rounded

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Part:
    """Fields with their weights, and how much their score counts.

    `k1` and `b` as in BM25: how soon repetition stops counting, and how much length does. `idf` is
    the formula for rarity: `whoosh`, ln(N / (n + 1)) + 1, by which even a word of every document
    counts; or `lucene`, ln(1 + (N - n + 0.5) / (n + 0.5)), by which such a word counts next to
    nothing, so that stop words need no list.
    """

    fields: tuple[tuple[str, float], ...]
    boost: float = 1.0
    k1: float = 0.9
    b: float = 0.4
    idf: Literal["whoosh", "lucene"] = "whoosh"

    def rarity(self, having: int, documents: int) -> float:
        """The weight of a term that `having` of all documents have."""
        if self.idf == "whoosh":
            return log(max(documents, 1) / (having + 1)) + 1
        return log(1 + (documents - having + 0.5) / (having + 0.5))


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for, in terms as `analysis.tokens` gives them.

    `terms` are alternatives that add up, each times its weight (1 where `weights` is empty).
    What matches must have all of `require` and none of `exclude`, in any field.
    """

    terms: tuple[str, ...]
    weights: tuple[float, ...] = ()
    require: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A document: its segment, its number in it, its score. Bit i of each mask: has term i."""

    segment: int
    doc: int
    score: float
    matched: int
    in_fields: Mapping[str, int]


_TINY = 1e-12
"""Keeps 0 / 0 away where neither occurrences nor length count."""

_NONE = np.empty(0, bool)


class ArraySearcher(Searcher):
    """A consistent view of the index that many threads may search at once."""

    def __init__(self, reader: Any, **kwargs: Any) -> None:
        super().__init__(reader, **kwargs)
        self.leaves: list[ArrayReader] = [leaf for leaf, _ in reader.leaf_readers()]
        self._norms: dict[Part, list[Floats]] = {}

    @cached_property
    def alive(self) -> list[NDArray[np.bool_]]:
        """For each segment, which of its documents are not deleted."""
        return [_alive(leaf) for leaf in self.leaves]

    def best(
        self,
        query: Query,
        limit: int,
        parts: Sequence[Part],
        allow: Collection[str] | None = None,
        report: Sequence[str] | None = ("title", "keywords"),
    ) -> tuple[int, list[Found], list[int]]:
        """How many match in all, the best of them, best first, and how many have each term.

        `report` names the fields for which the masks are wanted apart; with None all masks are 0,
        which saves time. How many have a term counts the fields of the first part, whatever the
        filters.
        """
        terms = list(dict.fromkeys(query.terms))
        weights = _weights(query, terms)
        places = [leaf.data.places(_ranks(leaf.data, terms)) for leaf in self.leaves]
        scores: list[Floats] = [np.zeros(leaf.data.doc_count) for leaf in self.leaves]
        counted = [self._score(part, weights, places, scores) for part in parts]
        top: list[tuple[float, int, int]] = []
        total = 0
        for number, score in enumerate(scores):
            mask = self._mask(number, query, allow)
            hits = np.flatnonzero((score > 0) & mask)
            total += len(hits)
            found = score[hits]
            if limit < 1:
                continue
            if len(hits) > limit:
                cut = np.partition(found, len(found) - limit)[len(found) - limit]
                keep = found >= cut
                hits, found = hits[keep], found[keep]
            top += zip((-found).tolist(), [number] * len(hits), hits.tolist(), strict=True)
        top.sort()
        having = [sum(c.frequency for c in held) for held in counted[0]] if counted else []
        if report is None:
            return total, [Found(n, doc, -score, 0, {}) for score, n, doc in top[:limit]], having
        return total, self._report(top[:limit], counted, places, report), having

    def _score(
        self,
        part: Part,
        weights: Sequence[float],
        places: Sequence[NDArray[np.int64]],
        scores: Sequence[Floats],
    ) -> list[list[Counted]]:
        """Add the scores of one part; answers for each term its counts in each segment."""
        fields = tuple((FIELDS.index(name), weight) for name, weight in part.fields)
        documents = self.doc_count_all()
        norms = self._norms.get(part) or self._norms.setdefault(part, self._norm(fields, part))
        found: list[list[Counted]] = []
        for i, weight in enumerate(weights):
            counted = [
                leaf.data.counted(place[i], fields)
                for leaf, place in zip(self.leaves, places, strict=True)
            ]
            found.append(counted)
            frequency = sum(c.frequency for c in counted)
            factor = weight * part.boost * part.rarity(frequency, documents) * (part.k1 + 1)
            for (docs, counts, having), norm, score in zip(counted, norms, scores, strict=True):
                if docs is None:
                    score += factor * counts / (counts + norm)
                elif having:
                    score[docs] += factor * counts / (counts + norm[docs])
        return found

    def _norm(self, fields: Sequence[tuple[int, float]], part: Part) -> list[Floats]:
        """What BM25 adds to the occurrences in each document, by its length."""
        lengths = [
            sum((leaf.data.lengths[f] * w for f, w in fields), np.zeros(1)) for leaf in self.leaves
        ]
        average = sum(float(x.sum()) for x in lengths) / (self.doc_count_all() or 1) or 1.0
        return [
            np.maximum(part.k1 * ((1 - part.b) + part.b * rounded(length) / average), _TINY)
            for length in lengths
        ]

    def _mask(self, number: int, query: Query, allow: Collection[str] | None) -> NDArray[np.bool_]:
        data = self.leaves[number].data
        mask = self.alive[number]
        if allow is not None:
            allowed = np.zeros(data.doc_count, bool)
            if len(allow) > data.doc_count:
                numbers = [i for i, name in enumerate(data.ids) if name in allow]
            else:
                numbers = [n for name in allow if (n := data.by_id.get(name)) is not None]
            allowed[numbers] = True
            mask = mask & allowed
        for term in query.require:
            there = np.zeros(data.doc_count, bool)
            there[self._anywhere(data, term)] = True
            mask = mask & there
        if query.exclude:
            mask = mask.copy()
            for term in query.exclude:
                mask[self._anywhere(data, term)] = False
        return mask

    def with_all(self, groups: Sequence[Sequence[str]], fields: Sequence[str]) -> list[str]:
        """The ids of documents that have, in these fields, any term of each group."""
        wanted = [FIELDS.index(name) for name in fields]
        terms = [term for group in groups for term in group]
        ends = list(accumulate(map(len, groups)))
        found: list[str] = []
        for leaf, alive in zip(self.leaves, self.alive, strict=True):
            data = leaf.data
            places = data.places(_ranks(data, terms))[:, wanted]
            lists = [
                [data.documents(at) for at in places[first:last].ravel().tolist() if at >= 0]
                for first, last in pairwise([0, *ends])
            ]
            if not all(lists):
                continue
            there = alive.copy()
            for group in lists:
                has = np.zeros(data.doc_count, bool)
                for docs in group:
                    has[docs] = True
                there &= has
            found += (data.ids[doc] for doc in np.flatnonzero(there).tolist())
        return found

    def _anywhere(self, data: SegmentData, term: str) -> NDArray[Any]:
        places = data.places(_ranks(data, [term]))[0]
        found = [data.documents(place) for place in places.tolist() if place >= 0]
        return np.concatenate(found) if found else np.empty(0, np.int32)

    def _report(
        self,
        top: Sequence[tuple[float, int, int]],
        counted: Sequence[Sequence[Sequence[Counted]]],
        places: Sequence[NDArray[np.int64]],
        report: Sequence[str],
    ) -> list[Found]:
        wanted = [(name, FIELDS.index(name)) for name in report]
        masks: dict[tuple[int, int], tuple[int, dict[str, int]]] = {}
        for number in {n for _, n, _ in top}:
            docs = np.array(sorted(d for _, n, d in top if n == number), np.int32)
            data = self.leaves[number].data
            matched = [0] * len(docs)
            for part in counted:
                _mark(matched, (c[number].among(docs) for c in part))
            fields: dict[str, list[int]] = {}
            for name, field in wanted:
                having = (
                    among(data.documents(place), docs) if place >= 0 else _NONE
                    for place in places[number][:, field].tolist()
                )
                _mark(fields.setdefault(name, [0] * len(docs)), having)
            for at, doc in enumerate(docs.tolist()):
                masks[number, doc] = (matched[at], {name: m[at] for name, m in fields.items()})
        return [Found(number, doc, -score, *masks[number, doc]) for score, number, doc in top]

    def documents_with(self, term: str) -> int:
        """How many documents have a term in any field, those not yet merged away included."""
        return sum(len(np.unique(self._anywhere(r.data, term))) for r in self.leaves)


def _alive(reader: ArrayReader) -> NDArray[np.bool_]:
    alive = np.ones(reader.data.doc_count, bool)
    alive[list(reader.deleted_docs_set)] = False
    return alive


def _weights(query: Query, terms: Sequence[str]) -> list[float]:
    if not query.weights:
        return [1.0] * len(terms)
    heaviest: dict[str, float] = {}
    for term, weight in zip(query.terms, query.weights, strict=True):
        heaviest[term] = max(weight, heaviest.get(term, 0.0))
    return [heaviest[term] for term in terms]


def _ranks(data: SegmentData, terms: Sequence[str]) -> NDArray[np.int64]:
    if not terms:
        return np.empty(0, np.int64)
    return data.ranks([term.encode("utf-8", "surrogatepass") for term in terms])


def _mark(masks: list[int], having: Iterable[NDArray[np.bool_]]) -> None:
    """Set bit i of the masks of the documents that have term i."""
    for i, has in enumerate(having):
        for at in np.flatnonzero(has).tolist():
            masks[at] |= 1 << i


def open_searcher(schema: Schema, readers: Sequence[ArrayReader], generation: int) -> ArraySearcher:
    """A searcher over the readers of all segments, of which there may be none."""
    reader = MultiReader(list(readers), generation=generation)
    reader.schema = schema
    return ArraySearcher(reader)
