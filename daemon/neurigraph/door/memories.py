"""Memories: listed, read, opened, saved, changed, deleted, restored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from neurigraph.door.topics import Topics
from neurigraph.edits import memories
from neurigraph.edits.desk import check_version
from neurigraph.edits.memories import MemoryEdit
from neurigraph.errors import (
    Forbidden,
    NotFound,
)
from neurigraph.filing import Filed, shown_to
from neurigraph.index.library import Place
from neurigraph.index.record import Record, Sections
from neurigraph.model import (
    Chunk,
    Conversation,
    NewArtifact,
    Turn,
)
from neurigraph.vault.layout import safe_name
from neurigraph.vault.turns import split_turns
from neurigraph.views import OLDEST, PERSON, Reader, within

Sort = Literal["date", "access", "temperature", "title", "topic", "keywords"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a list holds. `node` is a topic's id; `start` and `end` bound the date."""

    node: str = ""
    keyword: str = ""
    source_model: str = ""
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of a list: 1-based page, items a page."""

    number: int = 1
    size: int = 50

    def cut(self, items: Sequence[Record]) -> Sequence[Record]:
        """The items of this page."""
        return items[(self.number - 1) * self.size : self.number * self.size]


class Memories(Topics):
    """What is asked and changed about memories."""

    def memories(
        self,
        wanted: Filter,
        sort: Sort = "date",
        *,
        descending: bool = True,
        page: Page = Page(),  # frozen
        reader: Reader = PERSON,
    ) -> tuple[list[Chunk], int]:
        """A page of the memories that fit, and how many fit in all."""
        library = self._store.library
        records = library.members(wanted.node) if wanted.node else library.memories()
        fitting = [r for r in records if _fits(r, wanted) and reader.may_see(library, r)]
        fitting.sort(key=lambda r: r.path)
        fitting.sort(key=self._sort_key(sort), reverse=descending)
        return self._chunks(page.cut(fitting), reader), len(fitting)

    def _sort_key(
        self, sort: Sort
    ) -> Callable[[Record], datetime | tuple[int, datetime] | tuple[str, ...]]:
        if sort == "title":
            return lambda r: (r.title.casefold(),)
        if sort == "topic":
            names_of = self._store.library.names_of
            return lambda r: tuple(name.casefold() for name in names_of(r))
        if sort == "keywords":
            return lambda r: tuple(word.casefold() for word in r.keywords)
        if sort == "access":
            return lambda r: self._views.last_accessed(r) or OLDEST
        if sort == "temperature":
            return lambda r: (-self._views.temperature(r).rank, r.created or OLDEST)
        return lambda r: r.created or OLDEST

    def memory(self, memory_id: str, reader: Reader = PERSON) -> Chunk:
        """One memory. Raises `NotFound`."""
        return self._chunks([self._record(memory_id, reader)], reader)[0]

    def _record(self, memory_id: str, reader: Reader = PERSON) -> Record:
        library = self._store.library
        record = library.memory(memory_id)
        if not reader.may_see(library, record):
            raise NotFound("memory", memory_id)
        return record

    def _chunks(self, records: Iterable[Record], reader: Reader = PERSON) -> list[Chunk]:
        records = list(records)
        sections = self._climate.sections(records)
        chunks = [self._views.chunk(r, sections.get(r.path, Sections())) for r in records]
        return chunks if reader == PERSON else [self._without_unseen(c, reader) for c in chunks]

    def _without_unseen(self, chunk: Chunk, reader: Reader) -> Chunk:
        """A memory without mention of parts that this reader may not see."""
        library = self._store.library

        def seen(part: str | None) -> str | None:
            record = library.find(part) if part else None
            return part if record is not None and reader.may_see(library, record) else None

        previous, following = seen(chunk.previous_part), seen(chunk.next_part)
        return replace(chunk, previous_part=previous, next_part=following)

    def save(
        self, conversation: Conversation, *, folder: str | None = None, reader: Reader = PERSON
    ) -> Filed:
        """Save a conversation; it is on disk when this answers.

        Without a topic one is suggested, and the answer says why that one. The answer names
        nothing that `reader` may not see. Raises `Forbidden` for a topic out of its scope.
        """
        self._ready_to_write()
        why = ""
        if folder is None:
            conversation, why = self._filing.filed(conversation, reader)
        with self._edits:
            saved = self._saver.save(conversation, folder=folder)
        self._improver.want(saved.ids)
        return shown_to(reader, self._store.library, saved, why)

    def push(self, focused_node: str, conversation: Conversation, reader: Reader = PERSON) -> Filed:
        """Save a conversation into a topic that exists."""
        self._ready_to_write()
        with self._edits:
            place = self._place(focused_node, None, reader)
            path = place.path if place.kind == "focused" else None
            if not within(place.path, reader.scope):
                raise Forbidden(f"focused_node_id: this connection is limited to {reader.scope}")
            saved = self._saver.save(
                conversation if path else _in_topic(conversation, place), folder=path
            )
        self._improver.want(saved.ids)
        return shown_to(reader, self._store.library, saved)

    def reader_for(self, scope: str) -> Reader:
        """An AI that is limited to a topic, by id, path or name; empty for the whole vault.

        A topic that does not exist yet limits it too, under the name that its folder will have.
        """
        if not scope:
            return Reader(ai=True)
        stored = _stored(scope)
        for name in (scope, stored):
            try:
                return Reader(ai=True, scope=self._place(name, None, Reader(ai=True)).path)
            except NotFound:
                continue
        return Reader(ai=True, scope=stored)

    def update_memory(
        self, memory_id: str, edit: MemoryEdit, version: str | None, reader: Reader = PERSON
    ) -> Chunk:
        """Change a memory's words or place, compare-and-swap."""
        with self._edits:
            known = self._record(memory_id, reader)
            if edit.moves:
                edit = self._filing.bounded_edit(edit, reader)
            record = memories.update(self._desk, known, edit, version)
            self._note_moves(memory_id, record.id)
            if edit.pinned:
                self._climate.pinned(record)
            return self.memory(record.id)

    def delete_memory(self, memory_id: str, version: str | None, reader: Reader = PERSON) -> str:
        """Move a memory to the trash, from which `restore_memory` brings it back."""
        with self._edits:
            record = self._record(memory_id, reader)
            check_version(record, version)
            return memories.delete(self._desk, record, self._tombstones)

    def restore_memory(self, memory_id: str) -> Chunk:
        """Bring a memory back from the trash."""
        with self._edits:
            return self.memory(memories.restore(self._desk, memory_id, self._tombstones).id)

    def open_memory(self, memory_id: str, reader: Reader = PERSON) -> Chunk:
        """A memory, counted as opened."""
        record = self._record(memory_id, reader)
        self._touch(record)
        return self.memory(record.id)

    def transcript(self, memory_id: str, reader: Reader = PERSON, *, opening: bool = True) -> str:
        """The whole transcript, verbatim; a person's own note answers its text."""
        record = self._record(memory_id, reader)
        text = self._climate.text(record)
        if opening:
            self._climate.opened(record, text)
        return text

    def turns(self, memory_id: str) -> list[Turn]:
        """A transcript cut into its turns; counts as opened."""
        return split_turns(self.transcript(memory_id))

    def artifact(self, memory_id: str, name: str) -> bytes:
        """A file that belongs to a memory, unpacked."""
        record = self._record(memory_id)
        return self._store.recall.read_artifact(record.id, name)

    def add_artifacts(self, memory_id: str, files: Sequence[NewArtifact]) -> Chunk:
        """Store files with a memory."""
        from neurigraph.edits.artifacts import attach

        with self._edits:
            attach(self._desk, self._record(memory_id), files)
            return self.memory(memory_id)

    def titles(self, memory_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Title and path of these memories, by id; those that are gone are left out."""
        found = {i: self._store.library.find(i) for i in memory_ids}
        return {i: (r.title, r.path) for i, r in found.items() if r is not None}

    def wait_improved(self, timeout: float = 10) -> bool:
        """Wait until the better summaries that are due have been written."""
        return self._improver.wait_idle(timeout)


def _fits(record: Record, wanted: Filter) -> bool:
    if wanted.keyword:
        key = wanted.keyword.casefold()
        if all(k.casefold() != key for k in (*record.keywords, *record.tags)):
            return False
    if wanted.source_model and record.source_model.casefold() != wanted.source_model.casefold():
        return False
    created = record.created or OLDEST
    if wanted.start is not None and created < wanted.start:
        return False
    return wanted.end is None or created < wanted.end + timedelta(seconds=1)


def _stored(topic: str) -> str:
    """The path that a topic of this name gets in the vault; never empty."""
    parts = [safe_name(part) for part in topic.split("/") if part.strip(" .")]
    return "/".join(parts) or safe_name("")


def _in_topic(conversation: Conversation, place: Place) -> Conversation:
    return replace(conversation, broad_topic=place.name, focused_topic=None)
