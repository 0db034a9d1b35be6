"""Another embedder: its collection is filled while the old one answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neurigraph.embed.embedder import EmbedderFailed
from neurigraph.index.vector import PassageText, VectorIndex

Opener = Callable[[str], VectorIndex]


def note(*texts: str) -> list[PassageText]:
    return [PassageText(n, n + 1, text, "note") for n, text in enumerate(texts)]


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Opener]:
    """Opens the same folder with an embedder, closing what was open before."""
    opened: list[VectorIndex] = []

    def open_it(embedder: str) -> VectorIndex:
        for before in opened:
            before.close()
        # nothing listens at port 9
        index = VectorIndex(tmp_path, embedder=embedder, ollama_url="http://127.0.0.1:9")
        opened.append(index)
        index.start()
        assert index.wait_ready(60)
        return index

    yield open_it
    for index in opened:
        index.close()


def test_the_old_vectors_answer_until_the_new_ones_are_complete(open_index: Opener) -> None:
    first = open_index("hash")
    first.put({"m-1": note("lisinopril dose"), "m-2": note("garden"), "m-3": note("bread")})
    old_generation = first.generation

    index = open_index("wordllama")
    assert index.state()["answering"] == "hash"
    assert index.generation != old_generation
    assert index.contents() == {}
    assert index.search("lisinopril dose", 1)[0].score == pytest.approx(1, abs=1e-5)

    index.put({"m-1": note("lisinopril dose"), "m-2": note("greenhouse")})
    assert index.state()["answering"] == "hash"
    # edits reach the old collection too
    assert index.search("greenhouse", 1)[0].id == "m-2"
    assert index.search("bread", 1)[0].id == "m-3"

    index.put({"m-3": note("bread")})
    assert index.state()["answering"] == "wordllama"
    assert index.search("medication", 1)[0].id == "m-1"  # no word in common
    assert index.contents() == {"m-1": 1, "m-2": 1, "m-3": 1}

    again = open_index("wordllama")
    assert again.state()["answering"] == "wordllama"
    assert again.contents() == {"m-1": 1, "m-2": 1, "m-3": 1}


def test_memories_deleted_meanwhile_do_not_hold_up_the_change(open_index: Opener) -> None:
    open_index("hash").put({"m-1": note("one"), "m-2": note("two")})
    index = open_index("wordllama")
    index.put({"m-1": note("one")})
    index.delete(["m-2"])
    assert index.state()["answering"] == "wordllama"


def test_going_back_midway_finds_everything_where_it_was(open_index: Opener) -> None:
    first = open_index("hash")
    first.put({"m-1": note("one"), "m-2": note("two")})
    generation = first.generation
    open_index("wordllama").put({"m-1": note("one changed"), "m-3": note("three")})
    back = open_index("hash")
    assert back.generation == generation
    assert back.contents() == {"m-1": 1, "m-2": 1, "m-3": 1}
    assert back.search("changed", 1)[0].id == "m-1"
    assert back.state()["answering"] == "hash"


def test_an_ollama_that_is_down_leaves_the_old_vectors_answering(open_index: Opener) -> None:
    open_index("hash").put({"m-1": note("one")})
    index = open_index("ollama:nomic-embed-text")
    assert index.generation == ""
    assert index.search("one", 1)[0].id == "m-1"
    with pytest.raises(EmbedderFailed, match="ollama serve"):
        index.put({"m-1": note("one")})
    with pytest.raises(EmbedderFailed):
        index.embed(["one"])
    assert "ollama serve" in index.state()["problem"]
    assert index.search("one", 1)[0].id == "m-1"
    assert index.state()["restarts"] == 0


def test_an_ollama_that_is_down_and_nothing_before_it_says_so(open_index: Opener) -> None:
    index = open_index("ollama:nomic-embed-text")
    with pytest.raises(EmbedderFailed):
        index.search("one", 1)
    assert index.contents() == {}
    index.delete(["m-1"])
    index.clear()


def test_promoting_by_hand_drops_the_old_collection(open_index: Opener) -> None:
    open_index("hash").put({"m-1": note("one"), "m-2": note("two")})
    index = open_index("wordllama")
    index.put({"m-1": note("one")})
    index.promote()
    assert index.state()["answering"] == "wordllama"
    assert {m.id for m in index.search("two", 5)} == {"m-1"}
