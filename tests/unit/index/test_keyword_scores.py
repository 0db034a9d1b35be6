"""Order and scores are those of Whoosh's own field and scorer, whatever happened to the index."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from whoosh.fields import ID, TEXT, Schema
from whoosh.filedb.filestore import RamStorage
from whoosh.query import Or, Term
from whoosh.scoring import BM25F

from neurigraph.index.keyword import Document, KeywordIndex, Part, Query, tokens
from neurigraph.index.whoosh_codec import WordAnalyzer

K1, B = 1.2, 0.75
BODY = Part((("body", 1.0),), k1=K1, b=B)
TITLE = Part((("title", 1.0),), boost=2.0, k1=K1, b=B)
WHOLE = Part((("title", 1.0), ("body", 1.0), ("transcript", 1.0)), k1=K1, b=B)
SOME = """the a of to blood pressure dose doctor garden tomato running runs node.js userId music
Café cafe Müller Ёлка 東京都 한국어를 C++ 2026-11-30 e-mail don't 🎉 jazz train"""
WORDS = [*SOME.split(), *(f"word{i}" for i in range(60))]


def some_text(chance: random.Random, most: int) -> str:
    size = int(most ** chance.random())
    return " ".join(chance.choices(WORDS, weights=range(len(WORDS), 0, -1), k=size))


def documents(chance: random.Random, names: Sequence[str], version: str) -> list[Document]:
    return [
        Document(
            name,
            version,
            title=some_text(chance, 8),
            body=some_text(chance, 300),
            transcript=some_text(chance, 3000) if chance.random() < 0.2 else "",
        )
        for name in names
    ]


class Stock:
    """The same documents, in the same order, in Whoosh as it comes."""

    def __init__(self, index: KeywordIndex, texts: dict[tuple[str, str], Document]) -> None:
        field = TEXT(analyzer=WordAnalyzer(), phrase=False)
        schema = Schema(id=ID(stored=True), title=field, body=field, whole=field)
        stock = RamStorage().create_index(schema)
        writer = stock.writer()
        gone = []
        number = 0
        for leaf, alive in zip(index._searcher.leaves, index._searcher.alive, strict=True):
            for i, key in enumerate(zip(leaf.data.ids, leaf.data.versions, strict=True)):
                document = texts[key]
                whole = "\n".join((document.title, document.body, document.transcript))
                writer.add_document(
                    id=key[0], title=document.title, body=document.body, whole=whole
                )
                if not alive[i]:
                    gone.append(number)
                number += 1
        writer.commit()
        writer = stock.writer()
        for number in gone:
            writer.delete_document(number)
        writer.commit(merge=False)
        self.searcher = stock.searcher(weighting=BM25F(B=B, K1=K1))

    def scores(self, terms: Sequence[str], fields: dict[str, float]) -> dict[str, float]:
        query = Or([Term(field, t, boost=w) for field, w in fields.items() for t in terms])
        found = self.searcher.search(query, limit=None, optimize=False)
        return {hit["id"]: hit.score for hit in found}


def ours(index: KeywordIndex, terms: Sequence[str], parts: Sequence[Part]) -> dict[str, float]:
    found = index.search(Query(tuple(terms)), 10_000, parts=parts)
    assert found.total == len(found.best)
    scores = [match.score for match in found.best]
    assert scores == sorted(scores, reverse=True)
    return {match.id: match.score for match in found.best}


def same(
    chance: random.Random, index: KeywordIndex, texts: dict[tuple[str, str], Document]
) -> None:
    stock = Stock(index, texts)
    for _ in range(12):
        terms = list(dict.fromkeys(tokens(" ".join(chance.choices(WORDS, k=chance.randint(1, 6))))))
        for parts, fields in (
            ((BODY,), {"body": 1.0}),
            ((BODY, TITLE), {"body": 1.0, "title": 2.0}),
            ((WHOLE,), {"whole": 1.0}),
        ):
            expected = stock.scores(terms, fields)
            found = ours(index, terms, parts)
            assert found == pytest.approx(expected, rel=1e-9)
            best = index.search(Query(tuple(terms)), 5, parts=parts).best
            assert [m.score for m in best] == pytest.approx(
                sorted(expected.values(), reverse=True)[:5], rel=1e-9
            )


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_stock_field(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    texts: dict[tuple[str, str], Document] = {}
    index = KeywordIndex(tmp_path)
    names = [f"m-{i}" for i in range(40)]

    def apply(some: Sequence[str], version: str, delete: Sequence[str] = ()) -> None:
        new = documents(chance, some, version)
        texts.update({(d.id, d.version): d for d in new})
        index.apply(new, delete)

    apply(names, "first")
    same(chance, index, texts)
    for step in range(12):  # updates and deletes, one segment each
        apply(chance.sample(names, 3), f"v{step}", chance.sample(names, 1))
    same(chance, index, texts)
    while index.merge():
        pass
    same(chance, index, texts)
    index.close()
    index = KeywordIndex(tmp_path)  # a restart
    same(chance, index, texts)
    apply(chance.sample(names, 5), "late")
    index.optimize()
    assert len(index._searcher.leaves) == 1
    same(chance, index, texts)
    index.close()


def test_whooshs_own_queries_work_on_our_segments(tmp_path: Path) -> None:
    chance = random.Random(7)
    index = KeywordIndex(tmp_path)
    names = [f"m-{i}" for i in range(30)]
    index.apply(documents(chance, names[:20], "a"), [])
    index.apply(documents(chance, names[10:], "b"), names[:3])
    searcher = index._searcher
    for word in ("blood", "pressure", "node", "cafe", "東京", "word7"):
        query = Or([Term("body", word), Term("title", word, boost=2.0)])
        expected = {h["id"]: h.score for h in searcher.search(query, limit=None, optimize=False)}
        parts = (
            Part((("body", 1.0),), k1=1.2, b=0.75),
            Part((("title", 1.0),), boost=2.0, k1=1.2, b=0.75),
        )
        assert ours(index, [word], parts) == pytest.approx(expected, rel=1e-9)
    terms = [t for f, t in searcher.reader().all_terms() if f == "body"]
    assert terms == sorted(set(terms))
    index.close()


def test_weights_of_terms_and_fields_count(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    index.apply(
        [Document("a", "1", title="tea", body="x"), Document("b", "1", title="x", body="tea")], []
    )
    part = Part((("title", 5.0), ("body", 1.0)))
    assert [m.id for m in index.search(Query(("tea",)), 5, parts=(part,)).best] == ["a", "b"]
    part = Part((("title", 1.0), ("body", 5.0)))
    assert [m.id for m in index.search(Query(("tea",)), 5, parts=(part,)).best] == ["b", "a"]
    one = index.search(Query(("tea",)), 1, parts=(part,)).best[0].score
    half = index.search(Query(("tea",), (0.5,)), 1, parts=(part,)).best[0].score
    assert half == pytest.approx(one / 2)
    index.close()
