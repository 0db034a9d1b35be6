"""Vectors: the same as the package's own, unit rows, and a clear line when a server fails."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.embed.embedder import EmbedderFailed, make_embedder
from neurigraph.embed.hash_embedder import HashEmbedder
from neurigraph.embed.ollama_embedder import OllamaEmbedder
from neurigraph.embed.wordllama_embedder import WordLlamaEmbedder
from neurigraph.errors import InvalidInput
from neurigraph.model_servers import is_loopback

SAMPLES = [
    "Lisinopril was raised to 20 mg after the blood pressure log.",
    "東京都の天気 and a mix of scripts: Ёлка, 한국어, café",
    "x" * 5000,
    "one",
    "a table | with | pipes\n\n```python\nprint('hi')\n```",
]


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def test_wordllama_gives_the_vectors_of_the_package_itself(wordllama: WordLlamaEmbedder) -> None:
    from pathlib import Path

    import wordllama as package

    model = package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
    theirs = model.embed(SAMPLES, norm=True)
    assert np.allclose(wordllama.embed(SAMPLES), theirs, atol=1e-6)


def test_loading_wordllama_leaves_the_log_as_it_was() -> None:
    before = logging.root.level, list(logging.root.handlers)
    WordLlamaEmbedder()
    assert (logging.root.level, logging.root.handlers) == before


def test_a_text_without_words_is_all_zero_and_never_nan(wordllama: WordLlamaEmbedder) -> None:
    for embedder in (wordllama, HashEmbedder()):
        vectors = embedder.embed(["", "words"])
        assert vectors.dtype == np.float32
        assert not vectors[0].any()
        assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-5)
        assert embedder.embed([]).shape == (0, embedder.dim)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(alphabet=st.characters()), max_size=5))
def test_any_text_has_a_unit_vector_or_none(texts: list[str]) -> None:
    lengths = np.linalg.norm(HashEmbedder().embed(texts), axis=1)
    assert all(length == pytest.approx(1, abs=1e-5) or length == 0 for length in lengths)


def test_a_text_with_half_a_character_is_embedded(wordllama: WordLlamaEmbedder) -> None:
    vectors = wordllama.embed(["broken \ud83d emoji", "\x00", "fine"])
    assert np.isfinite(vectors).all()


def test_the_setting_names_the_embedder() -> None:
    assert make_embedder("hash", "").name == "hash"
    assert make_embedder("ollama:nomic-embed-text", "http://127.0.0.1:1").name == (
        "ollama:nomic-embed-text"
    )
    for wrong in ("", "bert", "ollama:", "ollama"):
        with pytest.raises(InvalidInput, match=r"index\.embedder"):
            make_embedder(wrong, "")


class OllamaStandIn:
    """Answers `/api/embed` like Ollama; `answer` decides what is said about a batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.models: list[dict[str, str]] = []
        self.status = 200
        self.body: Any = None
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                stand_in.batches.append(request["input"])
                vectors = [[float(len(text)), 3.0, 4.0] for text in request["input"]]
                body = stand_in.body or {"model": request["model"], "embeddings": vectors}
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(stand_in.status if self.path == "/api/embed" else 500)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:
                data = json.dumps({"models": stand_in.models}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def ollama() -> Iterator[OllamaStandIn]:
    stand_in = OllamaStandIn()
    yield stand_in
    stand_in.stop()


def test_ollama_is_asked_in_batches_and_its_vectors_are_scaled(ollama: OllamaStandIn) -> None:
    embedder = OllamaEmbedder("m", ollama.url + "/")
    vectors = embedder.embed(["text \ud800"] * 40 + ["", "  "])
    assert [len(batch) for batch in ollama.batches] == [32, 8]
    assert vectors.shape == (42, 3)
    assert np.allclose(np.linalg.norm(vectors[:40], axis=1), 1)
    assert not vectors[40:].any()
    assert embedder.dim == 3


@pytest.mark.parametrize("model", ["glm-4.6:cloud", "kimi-k2:1t-cloud", "far"])
def test_a_model_that_runs_elsewhere_gets_no_text(ollama: OllamaStandIn, model: str) -> None:
    ollama.models = [{"name": "far:latest", "remote_host": "https://elsewhere.example"}]
    with pytest.raises(EmbedderFailed, match="runs on a server elsewhere"):
        OllamaEmbedder(model, ollama.url).embed(["private"])
    assert ollama.batches == []


def test_the_size_of_ollamas_vectors_is_asked_once(ollama: OllamaStandIn) -> None:
    embedder = OllamaEmbedder("m", ollama.url)
    assert (embedder.dim, embedder.dim) == (3, 3)
    assert len(ollama.batches) == 1


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (404, {"error": "model not found"}, "ollama pull nomic"),
        (500, {"error": "out of memory"}, "answered 500"),
        (200, b"<html>", "no vectors"),
        (200, {"embeddings": []}, "no usable vectors"),
        (200, {"embeddings": [[1, "x"]]}, "no vectors"),
        (200, {"embeddings": [[1, None]]}, "no usable vectors"),
        (200, {"nothing": 1}, "no vectors"),
    ],
)
def test_what_ollama_does_wrong_is_said_in_one_line(
    ollama: OllamaStandIn, status: int, body: Any, says: str
) -> None:
    ollama.status, ollama.body = status, body
    with pytest.raises(EmbedderFailed, match=says) as caught:
        OllamaEmbedder("nomic", ollama.url).embed(["text"])
    assert "\n" not in str(caught.value)


def test_an_ollama_that_is_not_running_is_named() -> None:
    with pytest.raises(EmbedderFailed, match="ollama serve"):
        OllamaEmbedder("nomic", "http://127.0.0.1:9").embed(["text"])
    with pytest.raises(EmbedderFailed, match="cannot be reached"):
        OllamaEmbedder("nomic", "http://[oops").embed(["text"])


def test_no_proxy_stands_between_us_and_a_local_ollama(
    ollama: OllamaStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert OllamaEmbedder("m", ollama.url).embed(["text"]).shape == (1, 3)


def test_loopback_is_told_from_elsewhere() -> None:
    assert all(map(is_loopback, ("http://127.0.0.1:1", "http://localhost", "http://[::1]:3/")))
    assert not any(map(is_loopback, ("http://example.org", "http://127.0.0.1.example.org", "")))
