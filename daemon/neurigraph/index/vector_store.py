"""The Chroma store with a vault's collections, one an embedder; the only module that imports it.

The graphs are built with settings that were measured on 19,473 passages of real notes with 350
short questions: `ef_construction` 50, `M` 12 and Chroma's `ef_search` of 100 found .53 of the
nearest 20 (short questions lie far from long passages); 200, 24 and 1,500 find .96 and more.
`ef_search` 800 finds as many as 1,500 in 14,872 passages of conversations (.999 of the nearest 20
and of the nearest 150, 400 .998 and .997), and in 185,000 takes 5.2 ms a question instead of 7.7.
It counts from the next opening of a collection on; the others are fixed when it is made.
"""

from __future__ import annotations

import secrets
import sqlite3
import warnings
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import chromadb
from chromadb.config import Settings
from chromadb.errors import InternalError, NotFoundError

from neurigraph.index.passage_collection import EXACT, PassageCollection, StoreDamaged

_HNSW: dict[str, Any] = {
    "space": "cosine",
    "ef_construction": 200,
    "max_neighbors": 24,
    "ef_search": 800,
    "batch_size": 1000,
    "sync_threshold": 1000,
}

_NOT_DAMAGE = (
    "disk is full",
    "no space left",
    "readonly",
    "read-only",
    "unable to open",
    "permission denied",
    "database is locked",
    "too many open files",
)
"""Words of errors that go away without a new store (SQLite's and the system's own)."""


class PassageStore:
    """Collections in a folder, or on a Chroma server where `url` is given.

    `prefix` sets a vault's collections apart from others on the same server. Collections of at
    most `exact` passages answer exactly; on a server, Chroma does everything. One store a process:
    SQLite's locks do not bear two.
    """

    def __init__(self, folder: Path, url: str = "", prefix: str = "") -> None:
        settings = Settings(anonymized_telemetry=False)
        self._prefix = f"{prefix}passages-"
        # a server is there for what is too much for this machine
        self.exact = 0 if url else EXACT
        if url:
            parts = urlsplit(url)
            secure = parts.scheme == "https"
            self._client = chromadb.HttpClient(
                host=parts.hostname or "localhost",
                port=parts.port or (443 if secure else 8000),
                ssl=secure,
                settings=settings,
            )
        else:
            _keep_wal(folder)
            self._client = chromadb.PersistentClient(folder, settings=settings)

    def names(self) -> dict[str, tuple[str, int]]:
        """The embedder and vector size of each collection, by its name."""
        found = {}
        for collection in self._client.list_collections():
            metadata = collection.metadata or {}
            if collection.name.startswith(self._prefix) and "generation" in metadata:
                found[collection.name] = (str(metadata["embedder"]), int(metadata["dim"]))
        return found

    def open(self, embedder: str, dim: int) -> PassageCollection:
        """The collection of an embedder, made when there is none."""
        name = self._name(embedder, dim)
        if name in self.names():
            found = self._client.get_collection(name, embedding_function=None)
            graph = found.configuration_json.get("hnsw")
            if graph and graph.get("ef_search") != _HNSW["ef_search"]:
                with warnings.catch_warnings():
                    # of a collection that is handed vectors and so has no embedding function
                    warnings.simplefilter("ignore", DeprecationWarning)
                    found.modify(configuration={"hnsw": {"ef_search": _HNSW["ef_search"]}})
            return PassageCollection(found, created=False, exact=self.exact)
        collection = self._client.create_collection(
            name,
            embedding_function=None,
            configuration=cast(Any, {"hnsw": _HNSW}),
            metadata={"embedder": embedder, "dim": dim, "generation": secrets.token_hex(8)},
        )
        return PassageCollection(collection, created=True, exact=self.exact)

    def drop(self, name: str) -> None:
        """Delete a collection and all that it holds."""
        self._client.delete_collection(name)

    def _name(self, embedder: str, dim: int) -> str:
        # Chroma allows few characters in a name; the hash keeps two embedders apart
        safe = "".join(c if c.isascii() and c.isalnum() else "-" for c in embedder)[:60]
        digest = blake2b(embedder.encode(), digest_size=4).hexdigest()
        return f"{self._prefix}{safe}-{digest}-{dim}"


def _keep_wal(folder: Path) -> None:
    # SQLite's default journal costs 20 ms and more a write in fsyncs, its WAL 3, as safe; the
    # choice stays with the file. Closed again before Chroma opens it with an SQLite of its own. A
    # damaged file is left for Chroma to complain about.
    with suppress(sqlite3.Error), closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        database.execute("pragma journal_mode = wal")


def is_damage(error: Exception, *, opening: bool = False) -> bool:
    """Whether an error says that the store itself is broken or gone, not merely out of reach.

    While a store in a folder is being opened, what Chroma trips over is in its files, whatever
    the error is called.
    """
    text = str(error).lower()
    if isinstance(error, OSError | MemoryError) or any(words in text for words in _NOT_DAMAGE):
        return False
    return opening or isinstance(error, StoreDamaged | InternalError | NotFoundError)
