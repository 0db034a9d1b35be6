"""Opens everything that a vault's memory is made of, in order, and closes it again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neurigraph.clock import Clock
from neurigraph.errors import NeurigraphError, VaultUnavailable
from neurigraph.events import EventBus
from neurigraph.index.catalog import Catalog
from neurigraph.index.indexer import Indexer
from neurigraph.index.keyword import IndexDamaged, KeywordIndex
from neurigraph.index.library import Library
from neurigraph.index.no_vectors import NoVectors, Vectors
from neurigraph.index.reading import searched_body
from neurigraph.index.record import Record
from neurigraph.index.vector import PassageText, VectorIndex
from neurigraph.index.vector_feeder import VectorFeeder
from neurigraph.settings import IndexSettings, Settings
from neurigraph.temperature.access import AccessLog
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.layout import Exclusions, template_folders
from neurigraph.vault.note import read_note
from neurigraph.vault.recall import Recall
from neurigraph.vault.turns import passages

NO_EMBEDDER = "none"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Store:
    """The parts, each opened. `said` are lines that a person should read once."""

    files: VaultFiles
    recall: Recall
    catalog: Catalog
    library: Library
    keyword: KeywordIndex
    vectors: Vectors
    feeder: VectorFeeder
    indexer: Indexer
    access: AccessLog
    said: tuple[str, ...]

    def close(self) -> None:
        """Stop what runs and let go of every file."""
        self.feeder.stop()
        self.vectors.close()
        self.keyword.close()
        self.catalog.close()
        self.access.close()


def open_store(
    vault: Path, state: Path, settings: Settings, clock: Clock, events: EventBus
) -> Store:
    """Open a vault's files and indexes. Nothing slow happens here; vectors start by themselves.

    A damaged index is set aside and begun anew; the lines in `said` tell so. Raises
    `VaultUnavailable`.
    """
    if not vault.is_dir():
        raise VaultUnavailable(str(vault), "there is no such folder; make it with: neurigraph init")
    said: list[str] = []
    files = VaultFiles(vault, clock)
    files.clean_leftovers()
    recall = Recall(files)
    catalog, replaced = Catalog.open(catalog_path(state))
    if replaced:
        said.append("the catalog was damaged; it was set aside and is being built again")
    library = Library()
    keyword = _open_keyword(state / "keyword", said)
    vectors = _vectors(state / "vectors", settings.index)

    def passages_of(record: Record) -> Sequence[PassageText]:
        return read_passages(files, recall, record)

    feeder = VectorFeeder(vectors, catalog, passages_of, events)
    indexer = Indexer(
        files,
        recall,
        catalog,
        library,
        keyword,
        feeder,
        Exclusions(settings.vault.exclude, template_folders(vault)),
        settings.index.max_note_bytes,
        clock,
        events,
    )
    access = AccessLog(state / "access.sqlite")
    if access.replaced:
        said.append("the access log was damaged; it was set aside, and the notes' reports count")
    return Store(
        files, recall, catalog, library, keyword, vectors, feeder, indexer, access, tuple(said)
    )


def catalog_path(state: Path) -> Path:
    """The catalog in a state directory."""
    return state / "catalog.sqlite"


def _vectors(folder: Path, settings: IndexSettings) -> Vectors:
    if settings.embedder == NO_EMBEDDER:
        return NoVectors()
    return VectorIndex(
        folder,
        embedder=settings.embedder,
        ollama_url=settings.ollama_url,
        chroma_url=settings.chroma_url,
    )


def _open_keyword(folder: Path, said: list[str]) -> KeywordIndex:
    try:
        return KeywordIndex(folder)
    except IndexDamaged as error:
        log.warning("full text is built again: %s", error)
        said.append("the full-text index was damaged; it was set aside and is being built again")
        KeywordIndex.reset(folder)
        return KeywordIndex(folder)


def read_passages(files: VaultFiles, recall: Recall, record: Record) -> list[PassageText]:
    """The passages of a memory that vectors are made of: the note's text, then the transcript's.

    Raises OSError when the note cannot be read.
    """
    body = read_note(files.read(record.path)).body
    if record.transcript is not None and record.transcript.digest:
        body = searched_body(body, record.summary_source)
    found = [
        PassageText(p.start, p.end, text, "note")
        for p in passages(body)
        if (text := body[p.start : p.end]).strip()
    ]
    head = PassageText(0, 0, f"{record.title}\n{' '.join(record.keywords)}", "note")
    if record.transcript is not None and record.transcript.digest:
        try:
            text = recall.read(record.id)
        except NeurigraphError as error:
            log.info("no passages of a transcript: %s", error)
        else:
            found += [
                PassageText(p.start, p.end, text[p.start : p.end], "transcript")
                for p in passages(text)
            ]
    return [head, *found]
