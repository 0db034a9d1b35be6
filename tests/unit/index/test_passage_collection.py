"""Collections in a real Chroma store, with and without the exact table."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from neurigraph.embed.hash_embedder import HashEmbedder
from neurigraph.index import vector_store
from neurigraph.index.passage import PassageText
from neurigraph.index.passage_collection import PassageCollection
from neurigraph.index.vector_store import PassageStore

EMBEDDER = HashEmbedder()
WORDS = [f"word{n}" for n in range(400)]


def write(
    collection: PassageCollection, items: Mapping[str, Sequence[PassageText]]
) -> list[tuple[str, int]]:
    """Put these, and answer what had to be written."""
    chunk = list(collection.changed(items))
    if chunk:
        collection.write(chunk, EMBEDDER.embed([p.text for _, _, p in chunk]))
    for _ in collection.shorten({i: len(passages) for i, passages in items.items()}):
        pass
    return [(memory_id, number) for memory_id, number, _ in chunk]


def random_memory(draw: random.Random, length: int) -> list[PassageText]:
    return [
        PassageText(n * 10, n * 10 + 9, " ".join(draw.sample(WORDS, 8)), "transcript")
        for n in range(length)
    ]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> PassageStore:
    return PassageStore(tmp_path_factory.mktemp("store"))


@pytest.fixture
def store(opened: PassageStore) -> Iterator[PassageStore]:
    yield opened
    for name in opened.names():
        opened.drop(name)


@pytest.fixture(params=["exact", "graph"])
def collection(store: PassageStore, request: pytest.FixtureRequest) -> PassageCollection:
    return reopen(store, exact=10_000 if request.param == "exact" else 0)


def reopen(store: PassageStore, exact: int) -> PassageCollection:
    """The collection as after a restart."""
    store.exact = exact
    collection = store.open("hash", EMBEDDER.dim)
    collection.load()
    return collection


def test_only_what_changed_is_written(collection: PassageCollection) -> None:
    passages = random_memory(random.Random(1), 6)
    assert write(collection, {"m-1": passages}) == [("m-1", n) for n in range(6)]
    assert write(collection, {"m-1": passages}) == []
    passages[2] = PassageText(20, 29, "something else", "transcript")
    passages[4] = PassageText(41, 49, passages[4].text, "transcript")  # moved by a character
    assert write(collection, {"m-1": passages}) == [("m-1", 2), ("m-1", 4)]
    assert write(collection, {"m-1": passages[:3]}) == []
    assert collection.counts == {"m-1": 3}


def test_counts_are_read_back_when_the_store_is_opened(
    store: PassageStore, collection: PassageCollection
) -> None:
    draw = random.Random(2)
    memories = {f"m-{n}": random_memory(draw, n % 4 + 1) for n in range(30)}
    write(collection, memories)
    again = reopen(store, exact=0)
    assert again.counts == collection.counts == {i: len(p) for i, p in memories.items()}
    assert again.passages == collection.passages == sum(map(len, memories.values()))
    assert again.generation == collection.generation


def test_the_nearest_are_those_of_a_comparison_with_all(collection: PassageCollection) -> None:
    draw = random.Random(3)
    memories = {f"m-{n}": random_memory(draw, 5) for n in range(150)}
    ids = list(memories)
    for start in range(0, 150, 50):
        write(collection, {i: memories[i] for i in ids[start : start + 50]})
    for memory_id in draw.sample(ids, 30):  # and edits later on
        memories[memory_id] = random_memory(draw, 4)
        write(collection, {memory_id: memories[memory_id]})
    texts = {(i, p.start): p.text for i, passages in memories.items() for p in passages}
    vectors = EMBEDDER.embed(list(texts.values()))
    shares = []
    for question in (" ".join(draw.sample(WORDS, 4)) for _ in range(30)):
        vector = EMBEDDER.embed([question])[0]
        tenth = sorted((vectors @ vector).tolist(), reverse=True)[9]
        found = collection.search(vector, 10, None)
        shares.append(sum(match.score >= tenth - 1e-5 for match in found) / 10)
        allowed = set(draw.sample(ids, 40))
        assert {m.id for m in collection.search(vector, 20, allowed)} <= allowed
        best = collection.best(vector, allowed)
        assert set(best) == allowed
        for memory_id, match in best.items():
            scores = EMBEDDER.embed([p.text for p in memories[memory_id]]) @ vector
            assert match.score == pytest.approx(float(scores.max()), abs=1e-4)
    assert sum(shares) / len(shares) > 0.95


def test_many_alike_do_not_hide_the_others(store: PassageStore) -> None:
    """A daily note's empty template, 300 times over, and one of them is edited."""
    made = reopen(store, exact=10_000)
    alike = [PassageText(0, 9, "tasks notes", "note")]
    memories = {f"m-{n}": alike for n in range(300)}
    memories |= {f"m-other-{n}": [PassageText(0, 9, f"word{n}", "note")] for n in range(50)}
    write(made, memories)
    write(made, {"m-1": [PassageText(0, 9, "tasks notes dentist", "note")]})
    for n in range(50):
        vector = EMBEDDER.embed([f"word{n}"])[0]
        assert made.search(vector, 1, None)[0].id == f"m-other-{n}"
    assert made.search(EMBEDDER.embed(["dentist"])[0], 1, None)[0].id == "m-1"


def test_a_collection_that_outgrows_the_table_goes_on_with_the_graph(
    store: PassageStore,
) -> None:
    collection = reopen(store, exact=40)
    draw = random.Random(4)
    memories = {f"m-{n}": random_memory(draw, 2) for n in range(15)}
    write(collection, memories)
    vector = EMBEDDER.embed([memories["m-3"][1].text])[0]
    exact = collection.search(vector, 5, None)
    write(collection, {f"m-{n}": random_memory(draw, 2) for n in range(20, 40)})
    assert collection.search(vector, 1, None)[0].id == exact[0].id == "m-3"


def test_a_store_of_before_is_searched_as_widely_as_a_new_one(
    opened: PassageStore, store: PassageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vector_store._HNSW, "ef_search", 1500)
    write(reopen(store, exact=0), {"m-1": random_memory(random.Random(6), 3)})
    monkeypatch.setitem(vector_store._HNSW, "ef_search", 800)
    again = reopen(store, exact=0)
    name = again.name
    held = opened._client.get_collection(name, embedding_function=None)
    assert held.configuration_json["hnsw"]["ef_search"] == 800
    assert len(again.search(EMBEDDER.embed([WORDS[0]])[0], 10, None)) == 3


def test_answers_tell_places_after_growing_shrinking_and_a_restart(
    store: PassageStore, collection: PassageCollection
) -> None:
    vector = EMBEDDER.embed(["word1 word2"])[0]

    def places(held: PassageCollection) -> set[tuple[str, int, int, str]]:
        return {(m.id, m.start, m.end, m.source) for m in held.search(vector, 100, None)}

    def passages(*starts: int) -> list[PassageText]:
        note, *rest = [PassageText(s, s + 90_000_000, f"word{s % 9}", "note") for s in starts]
        return [note, *(replace(passage, source="transcript") for passage in rest)]

    for starts in ((0, 5, 9), (3, 70_000_000), (4,), (8, 2, 6, 1)):
        held = passages(*starts)
        write(collection, {"m-1": held, "m-2:0": held[:1]})
        told = {("m-1", p.start, p.end, p.source) for p in held}
        told.add(("m-2:0", held[0].start, held[0].end, "note"))
        assert places(collection) == told
        assert places(reopen(store, exact=0)) == told
    for _ in collection.shorten({"m-1": 0}):
        pass
    assert {place[0] for place in places(collection)} == {"m-2:0"}


def test_names_of_embedders_never_clash(store: PassageStore) -> None:
    names = {
        store.open(embedder, 8).name
        for embedder in ("ollama:a/b", "ollama:a:b", "ollama:" + "x" * 90, "ollama:" + "x" * 91)
    }
    assert len(names) == 4
    assert set(store.names()) == names
