"""Vectors from a model that Ollama serves (`POST /api/embed` of its REST API)."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import numpy as np

from neurigraph.embed.embedder import EmbedderFailed, Vectors, sound_text, unit_rows
from neurigraph.model_servers import installed_models, is_cloud_name, is_loopback, same_model

_BATCH = 32
# the first call loads the model, which takes a small machine the better part of a minute; but a
# single text is a question, and somebody waits for it
_TIMEOUT = httpx.Timeout(120, connect=5)
_QUESTION_TIMEOUT = httpx.Timeout(20, connect=3)


class OllamaEmbedder:
    """Asks the Ollama at `url` for vectors of `model`. Nothing is asked before the first text.

    The name of a model travels with the vault, so one that passes texts on to a server elsewhere
    is refused: only an address, which each machine sets for itself, may lead away from it.
    """

    def __init__(self, model: str, url: str) -> None:
        self.name = f"ollama:{model}"
        self._model, self._url = model, url.rstrip("/")
        # a proxy from the environment has no business between us and this machine
        self._client = httpx.Client(timeout=_TIMEOUT, trust_env=not is_loopback(url))
        self._dim = 0
        self._stays = False

    @property
    def dim(self) -> int:
        """Asks once and remembers."""
        if not self._dim:
            self.embed(["dimension"])
        return self._dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim), unit rows. Raises `EmbedderFailed` with what to do about it."""
        # Ollama refuses an empty text with some models, so those stay rows of zeros
        filled = [number for number, text in enumerate(texts) if text.strip()]
        rows: list[Vectors] = []
        for start in range(0, len(filled), _BATCH):
            batch = [sound_text(texts[number]) for number in filled[start : start + _BATCH]]
            rows.append(self._ask(batch))
        if rows:
            self._dim = self._dim or int(rows[0].shape[1])
            if any(row.shape[1] != self._dim for row in rows):
                raise EmbedderFailed(self.name, "the size of its vectors changed; restart")
        vectors = np.zeros((len(texts), self._dim), np.float32)
        if rows:
            vectors[filled] = np.vstack(rows)
        return unit_rows(vectors)

    def _ask(self, batch: list[str]) -> Vectors:
        self._check_it_stays()
        body = {"model": self._model, "input": batch, "truncate": True}
        try:
            answer = self._client.post(
                f"{self._url}/api/embed",
                json=body,
                timeout=_QUESTION_TIMEOUT if len(batch) == 1 else _TIMEOUT,
            )
        except httpx.TimeoutException as error:
            raise EmbedderFailed(self.name, f"Ollama at {self._url} did not answer") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise EmbedderFailed(
                self.name, f"Ollama at {self._url} cannot be reached; start it with: ollama serve"
            ) from error
        if answer.status_code == 404:
            raise EmbedderFailed(
                self.name, f"Ollama lacks the model; get it with: ollama pull {self._model}"
            )
        try:
            vectors = np.asarray(answer.raise_for_status().json()["embeddings"], np.float32)
        except (httpx.HTTPStatusError, ValueError, KeyError, TypeError) as error:
            raise EmbedderFailed(
                self.name, f"Ollama at {self._url} answered {answer.status_code} and no vectors"
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(batch) or not np.isfinite(vectors).all():
            raise EmbedderFailed(self.name, f"Ollama at {self._url} answered no usable vectors")
        return vectors

    def _check_it_stays(self) -> None:
        """Raises `EmbedderFailed` when a model at hand would send texts away from this machine."""
        if self._stays or not is_loopback(self._url):
            return
        models = installed_models(self._url) or []
        remote = [m.name for m in models if m.remote and same_model(self._model, m.name)]
        if remote or is_cloud_name(self._model):
            raise EmbedderFailed(
                self.name, "it runs on a server elsewhere; choose a model that runs on this machine"
            )
        self._stays = True
