"""What every embedder is: text in, unit vectors out.

An embedder is named by a setting: `wordllama`, `ollama:<model>` or `hash`. Its vectors are never
mixed with those of another, so the vector index keeps one collection an embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neurigraph.errors import InvalidInput, NeurigraphError

Vectors = NDArray[np.float32]
"""Shape (texts, dim), float32, each row of length 1, or all zero for a text without words."""


class EmbedderFailed(NeurigraphError):
    """No vectors can be made at the moment; `name` is the embedder's."""

    code = "embedder_failed"

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"the embedder {name} does not work: {reason}")


class Embedder(Protocol):
    """Turns texts into vectors. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The setting that chooses it."""

    @property
    def dim(self) -> int:
        """Numbers in a vector. May ask a server; raises `EmbedderFailed` when that fails."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order. Raises `EmbedderFailed`."""


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale each row to length 1; rows of zeros stay as they are."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Vectors = vectors / lengths
    return scaled


def sound_text(text: str) -> str:
    """The text without lone surrogates, which no tokenizer and no JSON accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


def make_embedder(name: str, ollama_url: str) -> Embedder:
    """The embedder that a setting names, its model not loaded yet where that takes time.

    Raises `InvalidInput` for a name that is none, `EmbedderFailed` when its package is missing.
    """
    # each is imported here, so that only the one in use is loaded
    if name == "wordllama":
        from neurigraph.embed.wordllama_embedder import WordLlamaEmbedder

        return WordLlamaEmbedder()
    if name == "hash":
        from neurigraph.embed.hash_embedder import HashEmbedder

        return HashEmbedder()
    kind, _, model = name.partition(":")
    if kind == "ollama" and model:
        from neurigraph.embed.ollama_embedder import OllamaEmbedder

        return OllamaEmbedder(model, ollama_url)
    raise InvalidInput("setting index.embedder", "use wordllama or ollama:<model>")
