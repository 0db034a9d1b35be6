"""The vector index with its real worker: what is put is found, replaced, deleted and filtered."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from neurigraph.errors import NotReady
from neurigraph.index.vector import PassageText, VectorIndex, VectorIndexFailed


def note(*texts: str) -> list[PassageText]:
    return [PassageText(n * 10, n * 10 + 9, text, "note") for n, text in enumerate(texts)]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorIndex]:
    index = VectorIndex(tmp_path_factory.mktemp("vectors"), embedder="hash")
    index.start()
    assert index.wait_ready(60)
    yield index
    index.close()


@pytest.fixture
def index(worker: VectorIndex) -> VectorIndex:
    worker.clear()
    return worker


def test_the_nearest_passage_comes_first_with_its_place(index: VectorIndex) -> None:
    index.put(
        {
            "m-1": [
                PassageText(0, 40, "lisinopril dose was raised", "note"),
                PassageText(120, 180, "the garden needs water", "transcript"),
            ],
            "m-2": note("bread recipe with rye"),
        }
    )
    first, *others = index.search("water the garden", 3)
    assert (first.id, first.start, first.end, first.source) == ("m-1", 120, 180, "transcript")
    assert 0.5 < first.score <= 1
    assert [m.score for m in others] == sorted((m.score for m in others), reverse=True)
    assert len(others) == 2


def test_a_memory_that_became_shorter_keeps_nothing_of_before(index: VectorIndex) -> None:
    index.put({"m-1": note("alpha", "beta", "gamma"), "m-2": note("alpha beta")})
    index.put({"m-1": note("delta")})
    assert index.contents() == {"m-1": 1, "m-2": 1}
    assert [m.id for m in index.search("gamma", 10) if m.score > 0.5] == []
    assert index.search("delta", 1)[0].id == "m-1"
    index.put({"m-1": []})
    assert index.contents() == {"m-2": 1}


def test_a_deleted_memory_is_found_no_more(index: VectorIndex) -> None:
    index.put({f"m-{n}": note(f"word{n}", "common") for n in range(20)})
    index.delete([f"m-{n}" for n in range(15)] + ["m-unknown"])
    assert set(index.contents()) == {f"m-{n}" for n in range(15, 20)}
    assert {m.id for m in index.search("common", 50)} == {f"m-{n}" for n in range(15, 20)}


def test_only_allowed_memories_are_answered(index: VectorIndex) -> None:
    index.put({f"m-{n}": note(f"word{n} shared", "filler text") for n in range(60)})
    allowed = {"m-3", "m-7", "m-not-there"}
    found = index.search("shared", 10, allowed)
    assert {m.id for m in found} == {"m-3", "m-7"}
    assert len(found) == 4
    assert index.search("shared", 10, []) == []


def test_most_memories_allowed_leaves_the_others_out(index: VectorIndex) -> None:
    texts = [f"word{n % 97} topic{n % 13}" for n in range(10)]
    index.put({f"m-{n}": note(*texts) for n in range(1000)})
    allowed = [f"m-{n}" for n in range(50, 1000)]
    found = index.search("word3 topic3", 30, allowed)
    assert len(found) == 30
    assert {m.id for m in found} <= set(allowed)
    assert found[0].score > 0.9


def test_the_best_passage_of_each_memory_is_told(index: VectorIndex) -> None:
    index.put({f"m-{n}": note("filler", f"needle{n} in hay", "more filler") for n in range(30)})
    best = index.best("needle4 hay", ["m-4", "m-5", "m-99"])
    assert set(best) == {"m-4", "m-5"}
    assert (best["m-4"].start, best["m-4"].id) == (10, "m-4")
    assert best["m-4"].score > best["m-5"].score
    exact = index.embed(["needle4 in hay", "needle4 hay"])
    assert best["m-4"].score == pytest.approx(float(exact[0] @ exact[1]), abs=1e-4)


def test_texts_of_every_kind_are_taken(index: VectorIndex) -> None:
    odd = ["", "   ", "\x00", "half \ud83d", "東京都", "a" * 100_000, "\n\n"]
    index.put({"p-0123456789abcdef": note(*odd), "with:colon": note("colon word")})
    assert index.contents() == {"p-0123456789abcdef": 7, "with:colon": 1}
    assert index.search("colon", 1)[0].id == "with:colon"
    assert index.search("half \ud83d", 1)
    assert all(np.isfinite(m.score) for m in index.search("a", 8))


def test_a_question_without_words_finds_nothing(index: VectorIndex) -> None:
    index.put({"m-1": note("text")})
    assert index.search("  ", 5) == []
    assert index.search("!?", 5) == []
    assert index.search("text", 0) == []
    assert index.best("", ["m-1"]) == {}


def test_embed_gives_unit_rows(index: VectorIndex) -> None:
    vectors = index.embed(["one text", ""])
    assert vectors.shape == (2, 64)
    assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1, 0])


def test_searches_are_answered_while_much_is_written(index: VectorIndex) -> None:
    items = {f"m-{n}": note(*(f"word{n} text{i}" for i in range(20))) for n in range(200)}
    writer = threading.Thread(target=index.put, args=(items,))
    writer.start()
    answered = 0
    while writer.is_alive():
        index.search("word5 text3", 5)
        answered += 1
    writer.join()
    assert answered > 3
    assert len(index.contents()) == 200


def test_the_state_is_told_without_asking_the_worker(index: VectorIndex) -> None:
    index.put({"m-1": note("a", "b")})
    state = index.state()
    assert (state["ready"], state["memories"], state["passages"]) == (True, 1, 2)
    assert (state["embedder"], state["answering"], state["dim"]) == ("hash", "hash", 64)
    assert state["problem"] == ""
    assert state["generation"] == index.generation != ""


def test_clearing_begins_another_generation(index: VectorIndex) -> None:
    heard: list[str] = []
    before = index.generation
    index.put({"m-1": note("a")})
    index.on_event = lambda kind, text: heard.append(kind)
    index.clear()
    index.on_event = None
    assert heard == ["vector_store_replaced"]
    assert index.generation not in ("", before)
    assert index.contents() == {}


def test_start_returns_at_once_and_search_says_that_it_is_starting(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []
    index = VectorIndex(
        tmp_path / "vectors", embedder="hash", on_event=lambda *said: heard.append(said)
    )
    with pytest.raises(NotReady):
        index.search("text", 5)
    began = time.monotonic()
    index.start()
    assert time.monotonic() - began < 0.5
    with pytest.raises(NotReady):
        index.search("text", 5)
    with pytest.raises(NotReady):
        index.put({"m-1": note("text")}, timeout=0.001)
    index.put({"m-1": note("text")})  # waits until the worker is ready
    assert index.search("text", 5)[0].id == "m-1"
    assert [kind for kind, _ in heard] == ["vector_store_replaced"]  # it was empty
    index.close()
    index.close()
    with pytest.raises(NotReady):
        index.search("text", 5)
    with pytest.raises(VectorIndexFailed):
        index.put({"m-1": note("text")})


def test_what_was_put_is_there_after_a_restart(tmp_path: Path) -> None:
    heard: list[str] = []
    first = VectorIndex(tmp_path, embedder="hash")
    first.start()
    first.put({"m-1": note("alpha", "beta"), "m-2": note("gamma")})
    generation = first.generation
    first.close()
    second = VectorIndex(tmp_path, embedder="hash", on_event=lambda kind, _: heard.append(kind))
    second.start()
    assert second.wait_ready(60)
    assert second.generation == generation
    assert second.contents() == {"m-1": 2, "m-2": 1}
    assert second.search("gamma", 1)[0].id == "m-2"
    assert heard == []
    second.close()


def test_an_index_that_was_never_started_can_be_closed(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, embedder="hash")
    index.close()
    assert not index.wait_ready(1)


def test_an_embedder_that_does_not_exist_is_a_problem_not_a_crash(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, embedder="bert")
    index.start()
    with pytest.raises(NotReady):
        index.put({"m-1": note("a")}, timeout=0.1)
    until = time.monotonic() + 30
    while not index.state()["problem"] and time.monotonic() < until:
        index.wait_ready(0.05)
    assert "index.embedder" in index.state()["problem"]
    index.close()


def test_the_daemon_itself_loads_neither_chroma_nor_a_model() -> None:
    code = (
        "import sys, neurigraph.index.vector\n"
        "heavy = {'chromadb', 'wordllama', 'tokenizers', 'onnxruntime', 'httpx', 'ollama'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    daemon = str(Path(__file__).resolve().parents[3] / "daemon")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": daemon},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
