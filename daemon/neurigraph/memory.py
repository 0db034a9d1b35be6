"""Memory: the one door through which every interface reads and changes the vault."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from neurigraph.capture.apart import read_apart
from neurigraph.capture.capture import Capture
from neurigraph.capture.exporting import everything
from neurigraph.capture.held import HeldMemory, HeldOut, held_memories
from neurigraph.capture.report import Report
from neurigraph.capture.run import Table
from neurigraph.cards import Cards
from neurigraph.clock import Clock
from neurigraph.contexts import Contexts
from neurigraph.doctor import Diagnosis, diagnose
from neurigraph.edits import memories, nodes
from neurigraph.edits.desk import Desk, Stale, check_version
from neurigraph.edits.forget import Forgotten, forget
from neurigraph.edits.memories import MemoryEdit
from neurigraph.edits.save import Saver
from neurigraph.edits.tombstones import Tombstones
from neurigraph.errors import (
    Forbidden,
    InvalidInput,
    NeurigraphError,
    NotFound,
    NotReady,
    VersionRequired,
)
from neurigraph.events import EventBus
from neurigraph.filing import Filed, Filing, shown_to
from neurigraph.import_filing import ImportFiling
from neurigraph.importers.export import jsonl
from neurigraph.improve import Improver
from neurigraph.index.indexer import Change, Outcome
from neurigraph.index.keyword import IndexDamaged
from neurigraph.index.library import Place
from neurigraph.index.record import Record, Sections
from neurigraph.logs import scrub
from neurigraph.model import (
    Chunk,
    Conversation,
    Counts,
    Edge,
    Kind,
    NewArtifact,
    Node,
    Problem,
    SearchResult,
    Turn,
)
from neurigraph.search.cascade import Search
from neurigraph.search.context import Context
from neurigraph.settings import Settings
from neurigraph.store import NO_EMBEDDER, Store, catalog_path, open_store
from neurigraph.summarize.draft import Draft
from neurigraph.summarize.extractive import extractive
from neurigraph.sync.git import Git
from neurigraph.sync.machine import Condition, Sync
from neurigraph.sync.round import Report as SyncReport
from neurigraph.sync.vault_side import VaultSide
from neurigraph.temperature.climate import Climate, ClimateStatus
from neurigraph.temperature.clock_guard import BootClock
from neurigraph.temperature.cycle import CycleRunning, Planned, Result
from neurigraph.vault.layout import MEMORY_ID
from neurigraph.vault.note import read_note
from neurigraph.vault.turns import split_turns
from neurigraph.views import OLDEST, PERSON, Reader, Views, counts, within

log = logging.getLogger(__name__)

State = Literal["starting", "indexing", "ready", "failed"]
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


class Memory:
    """A vault's memory. Reading never waits for writing; edits are serial."""

    def __init__(
        self,
        vault: Path,
        state: Path,
        settings: Settings,
        clock: Clock,
        events: EventBus | None = None,
        boot: BootClock | None = None,
    ) -> None:
        self.vault, self.state_dir, self.settings, self.clock = vault, state, settings, clock
        self.events = events or EventBus()
        self._edits = threading.RLock()
        self._opened = threading.Event()
        self._indexed = threading.Event()
        self._closing = False
        self._state: State = "starting"
        self._failure: NeurigraphError | None = None
        self._store_or_none: Store | None = None
        self._progress = (0, 0)
        self._capture: Capture | None = None
        self._said: list[str] = []
        self._lost = False
        self.on_state_lost: Callable[[], None] = lambda: None
        self._last_draft: tuple[str, Draft] | None = None
        self._boot = boot
        self._climate_or_none: Climate | None = None
        self._next_cycle: Callable[[], datetime | None] = lambda: None
        self._arriving = threading.Lock()
        self._sync: Sync | None = None

    # -- life

    def open(self) -> None:
        """Open the vault; after this, what is known already is answered. Raises what is wrong."""
        try:
            store = open_store(self.vault, self.state_dir, self.settings, self.clock, self.events)
            store.indexer.load()
        except NeurigraphError as error:
            self._state, self._failure = "failed", error
            self._opened.set()
            raise
        self._desk = Desk(
            store.files, store.recall, store.library, store.indexer, self.clock, self.settings
        )
        self._tombstones = Tombstones(store.files)
        self._saver = Saver(self._desk, self._tombstones, self._draft)
        table = Table(
            self._desk,
            self._saver,
            self._tombstones,
            self._edits,
            lambda order: read_apart(order, self.state_dir),
        )
        self._capture = Capture(
            table,
            self.events,
            lambda: ImportFiling(store.library, store.keyword),
            store.feeder.rest,
            self.state_dir,
            lambda ids: self._improver.want(ids),
        )
        self._views = Views(
            store.library,
            store.access,
            self.settings.temperature,
            self.clock,
            self.vault.name,
            store.indexer.is_stale,
        )
        self._climate_or_none = Climate(
            self._desk,
            store.catalog,
            store.access,
            self._views.full_reading,
            lambda record: store.recall.read(record.id),
            self._body,
            self.state_dir,
            self.events,
            self._edits,
            lambda: self._state == "ready",
            self._boot,
        )
        self._climate.next_cycle = lambda: self._next_cycle()
        cards = Cards(
            store.library,
            self._views,
            self._climate.body,
            self._climate.text,
            store.indexer.is_stale,
        )
        self._search = Search(store.keyword, store.vectors, cards, self.settings.search, self.clock)
        self._contexts = Contexts(store.library, self._views, self._search, self._climate.sections)
        self._filing = Filing(store.library, self._search, self._draft)
        self._improver = Improver(self._desk, self._edits, self.events)
        self._sync = self._new_sync()
        # last: from here on other threads ask
        self._store_or_none = store
        self._state = "indexing"
        self._opened.set()
        self.events.publish("status")

    def catch_up(self) -> None:
        """Compare the disk with the indexes, then feed vectors in the background."""
        store = self._store
        store.vectors.on_event = self._vectors_said
        store.indexer.on_damage = self._damaged
        store.indexer.on_loss = self._lose
        store.vectors.start()
        self.reconcile()
        store.feeder.load(store.library.memories())
        store.feeder.start()
        self._state = "ready"
        self._indexed.set()
        self._climate.start()
        self._improver.start()
        self.events.publish("status")
        self.tidy_indexes()

    def wind_down(self) -> None:
        """Ask long work that runs by itself to end at its next step."""
        if self._sync is not None:
            self._sync.wind_down()
        if self._climate_or_none is not None:
            self._climate_or_none.wind_down()
        if self._capture is not None:
            self._capture.close()

    def close(self) -> None:
        """Stop everything and let go of the files."""
        self._closing = True
        self.wind_down()
        if self._store_or_none is not None:
            self._improver.stop()
        if self._climate_or_none is not None:
            self._climate_or_none.end()
        if self._capture is not None:
            self._capture.wait(10)
        with self._edits:
            if self._store_or_none is not None:
                self._store_or_none.close()
                self._store_or_none = None

    def _lose(self) -> None:
        self._lost = True

    def look_after_state(self) -> None:
        """Begin anew when this machine's folder was deleted, or can no longer be written to.

        The vault has everything that matters, so nothing is asked for but time.
        """
        deleted = not catalog_path(self.state_dir).exists()
        if self._state != "ready" or not (deleted or self._lost):
            return
        why = "was deleted" if deleted else "could not be written to"
        log.warning("the state directory %s; it is made anew", why)
        self._state = "starting"
        self.events.publish("status")
        self.close()
        self._closing = self._lost = False
        try:
            self.on_state_lost()
            self.open()
        except NeurigraphError as error:
            self.fail(error)
            return
        self._said.append(f"the state directory {why}; the indexes have been built again")
        self.catch_up()

    def fail(self, error: NeurigraphError) -> None:
        """Remember why the vault cannot be served; every question is answered with it."""
        self._state, self._failure = "failed", error
        self._opened.set()
        self.events.publish("status")

    @property
    def failure(self) -> str | None:
        """Why the vault cannot be served, or None."""
        return str(self._failure) if self._failure else None

    @property
    def state(self) -> State:
        """starting, indexing, ready, or failed."""
        return self._state

    def wait_opened(self, timeout: float) -> bool:
        """Wait until questions can be answered, with a failure if need be."""
        return self._opened.wait(timeout)

    def wait_indexed(self, timeout: float) -> bool:
        """Wait until the first comparison is done."""
        return self._indexed.wait(timeout)

    @property
    def _store(self) -> Store:
        if self._store_or_none is None:
            if self._failure is not None:
                raise self._failure
            raise NotReady("the memory")
        return self._store_or_none

    @property
    def _climate(self) -> Climate:
        if self._climate_or_none is None:
            raise NotReady("the memory")
        return self._climate_or_none

    # -- topics

    def topics(self, kind: Kind, parent: str = "", reader: Reader = PERSON) -> list[Node]:
        """All broad topics, or the focused ones of a broad one."""
        library = self._store.library
        wanted = library.node(parent, "broad").id if parent else None
        return [
            self._node(place, reader)
            for place in library.places().values()
            if place.kind == kind
            and (kind == "broad" or wanted in (None, place.parent))
            and reader.may_see_place(library, place)
        ]

    def topic(self, wanted: str, kind: Kind | None = None, reader: Reader = PERSON) -> Node:
        """A topic by id, path or name. Raises `NotFound` with the nearest names."""
        return self._node(self._place(wanted, kind, reader), reader)

    def _place(self, wanted: str, kind: Kind | None = None, reader: Reader = PERSON) -> Place:
        library = self._store.library
        if reader == PERSON:
            return library.node(wanted, kind)
        return library.node(wanted, kind, lambda place: reader.may_see_place(library, place))

    def _node(self, place: Place, reader: Reader = PERSON) -> Node:
        library = self._store.library
        members = [r for r in library.members(place.id) if reader.may_see(library, r)]
        return self._views.node(place, members)

    def create_topic(
        self, name: str, parent: str = "", description: str = "", color: str = ""
    ) -> Node:
        """Make a broad topic, or a focused one within `parent`."""
        with self._edits:
            above = self._place(parent, "broad") if parent else None
            return self._node(nodes.create(self._desk, above, name, description, color))

    def update_topic(
        self,
        wanted: str,
        version: str | None,
        *,
        name: str | None = None,
        description: str | None = None,
        color: str | None = None,
        private: bool | None = None,
    ) -> Node:
        """Change a topic; a new name moves its folder and every link along."""
        with self._edits:
            place = self._checked_place(wanted, version)
            new = nodes.update(
                self._desk,
                place,
                name=name,
                description=description,
                color=color,
                private=private,
            )
            return self._node(new)

    def delete_topic(self, wanted: str, version: str | None, *, recursive: bool = False) -> None:
        """Move a topic to the trash; one that is not empty only with `recursive`."""
        with self._edits:
            place = self._checked_place(wanted, version)
            nodes.delete(self._desk, place, recursive=recursive, tombstones=self._tombstones)

    def _checked_place(self, wanted: str, version: str | None) -> Place:
        place = self._place(wanted)
        if not version:
            raise VersionRequired("topic")
        current = self._node(place).version
        if version not in ("*", current):
            raise Stale(place.id, current)
        return place

    def edges(self, wanted: str = "", reader: Reader = PERSON) -> list[Edge]:
        """All edges, or those that touch a topic; a broad one has those of its focused ones."""
        library = self._store.library
        places = library.places()
        seen = {i for i, p in places.items() if reader.may_see_place(library, p)}
        edges = library.edges_without_private() if reader.ai else library.edges()
        found = [e for e in edges if e.source in seen and e.target in seen]
        if not wanted:
            return found
        place = self._place(wanted, None, reader)
        family = {place.id} | {p.id for p in places.values() if p.parent == place.id}
        return [e for e in found if e.source in family or e.target in family]

    def connect(
        self,
        source: str,
        target: str,
        relationship: str = "related_to",
        weight: float = 1.0,
        reader: Reader = PERSON,
    ) -> Edge:
        """Join two topics; joining them again changes the weight."""
        with self._edits:
            left, right = (self._place(end, None, reader) for end in (source, target))
            nodes.connect(self._desk, left, right, relationship, weight)
            return self._edge(left.path, right.path, relationship)

    def change_edge(
        self,
        source: str,
        target: str,
        relationship: str,
        *,
        weight: float | None = None,
        renamed: str | None = None,
    ) -> Edge:
        """Change an edge's weight or its relationship."""
        with self._edits:
            left, right = self._place(source), self._place(target)
            nodes.change_edge(self._desk, left, right, relationship, weight=weight, renamed=renamed)
            return self._edge(left.path, right.path, renamed or relationship)

    def disconnect(self, source: str, target: str, relationship: str) -> None:
        """Remove an edge."""
        with self._edits:
            nodes.disconnect(self._desk, self._place(source), self._place(target), relationship)

    def _edge(self, source: str, target: str, relationship: str) -> Edge:
        left, right = self._place(source).id, self._place(target).id
        for edge in self._store.library.edges():
            if (edge.source, edge.target, edge.relationship) == (left, right, relationship):
                return edge
        raise NotFound("edge", f"{source} {relationship} {target}")

    # -- memories

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

        A topic that does not exist yet limits it too.
        """
        if not scope:
            return Reader(ai=True)
        try:
            return Reader(ai=True, scope=self._place(scope, None, Reader(ai=True)).path)
        except NotFound:
            return Reader(ai=True, scope=scope)

    def warm(self, wanted: str, reader: Reader = PERSON) -> tuple[int, int]:
        """Unpack the cold transcripts of a topic, newest first; how many were and were not."""
        place, library = self._place(wanted, None, reader), self._store.library
        members = [r for r in library.members(place.id) if reader.may_see(library, r)]
        warmed = self._climate.warm(members)
        return warmed.warmed, warmed.left

    def _ready_to_write(self) -> None:
        """During the first comparison ids are not all known: saving waits for it a while."""
        store = self._store
        if not self._indexed.wait(60) and not len(store.library):
            raise NotReady("the vault")

    def _draft(self, transcript: str) -> Draft:
        # asked for twice on the way of one save: to choose a topic, and for the note
        last = self._last_draft
        if last is None or last[0] != transcript:
            last = self._last_draft = (transcript, extractive(transcript, keywords_quick=True))
        return last[1]

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

    # -- coming in and going out

    @property
    def capture(self) -> Capture:
        """Imports, the inbox and followed logs."""
        self._ready_to_write()
        if self._capture is None:
            raise NotReady("the memory")
        return self._capture

    def import_from(self, path: Path, topic: str = "", *, dry_run: bool = False) -> Report:
        """Import an export, a log, a text or a folder of them, and tell what became of each."""
        return self.capture.run(path, topic, dry_run=dry_run)

    def forget_memory(self, memory_id: str, version: str | None) -> Forgotten:
        """Remove a memory for good, in the trash too, and say what remains elsewhere."""
        store = self._store
        with self._edits:
            record = store.library.find(memory_id)
            if record is not None:
                check_version(record, version)
            done = forget(self._desk, memory_id, self._tombstones, self._in_history)
            store.access.forget(memory_id)
        store.keyword.optimize()
        store.catalog.purge()
        # earlier paths of the note have its title in them; a short one could be in any line
        title = done.title if len(done.title) > 5 else ""
        scrub(self.state_dir, {memory_id, title, *done.removed})
        return done

    def _in_history(self, memory_id: str, paths: Sequence[str]) -> Sequence[str]:
        git = Git(self.vault)
        if git.top() is None:
            return ()
        # a stranger's id is made of its path and stands in no file
        return git.ever_held(f"id: {memory_id}" if memory_id.startswith("m-") else "", paths)

    def held_out(self, path: str) -> bool:
        """Whether git sync must leave this file out of its commits for now."""
        return HeldOut(self._store.files, self._store.library)(path)

    def held(self) -> list[HeldMemory]:
        """The memories with what looks like a secret that nobody has said yes to."""
        self._ready_to_write()
        return held_memories(self._desk)

    def export_lines(self) -> Iterator[bytes]:
        """Everything that the vault remembers, as JSON Lines; no memory counts as opened."""
        self._ready_to_write()
        return jsonl(everything(self._desk))

    # -- opening

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

    def _body(self, record: Record) -> str:
        return read_note(self._store.files.read(record.path)).body

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

    def open_topic(self, wanted: str) -> Node:
        """A topic, entered: its neighbours warm."""
        place = self._place(wanted)
        self._climate.entered(place)
        return self._node(place)

    def _touch(self, record: Record) -> None:
        self._climate.opened(record)

    # -- temperature

    def cool(self, *, agree: bool = False) -> Result:
        """Run a cooling cycle, after one that is under way. `agree` is a person's yes."""
        return self._climate.cool(agree=agree)

    def cool_by_itself(self) -> None:
        """The cycle that the clock begins; left out while another is under way."""
        if self._state == "ready":
            with suppress(CycleRunning):
                self._climate.cool(wait=False)

    def planned_cooling(self) -> Planned:
        """What a cycle would do now."""
        return self._climate.planned()

    def temperature_status(self) -> ClimateStatus:
        """Counts and bytes by temperature, and how cooling stands."""
        return self._climate.status()

    def titles(self, memory_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Title and path of these memories, by id; those that are gone are left out."""
        found = {i: self._store.library.find(i) for i in memory_ids}
        return {i: (r.title, r.path) for i, r in found.items() if r is not None}

    def follow_cycles(self, next_cycle: Callable[[], datetime | None]) -> None:
        """Say who knows when the next cycle begins."""
        self._next_cycle = next_cycle

    def survey_recall(self) -> None:
        """Look through `_recall` for what no note accounts for."""
        if self._state == "ready":
            self._climate.survey()

    def wait_improved(self, timeout: float = 10) -> bool:
        """Wait until the better summaries that are due have been written."""
        return self._improver.wait_idle(timeout)

    def wait_warm(self, timeout: float = 10) -> bool:
        """Wait until all that openings asked for in the background is done."""
        return self._climate.wait_idle(timeout)

    # -- search

    def search(
        self,
        query: str,
        *,
        scope: str = "",
        limit: int = 10,
        offset: int = 0,
        reader: Reader = PERSON,
    ) -> SearchResult:
        """Find memories. Raises `InvalidInput` for a limit out of bounds, `NotFound` for an
        unknown scope."""
        check_limit(limit, offset)
        within = self._within(scope, reader)
        try:
            return self._search.search(query, within=within, limit=limit, offset=offset)
        except (IndexDamaged, LookupError, ValueError) as error:
            damage = self._damage_behind(error)
            if damage is None:
                raise
            self._store.indexer.rebuild_keyword(damage)
            raise NotReady("full text was damaged and is being built again; search") from error

    def _damage_behind(self, error: Exception) -> IndexDamaged | None:
        """Whether full text is damaged: a file that is altered while open gives wrong numbers."""
        if isinstance(error, IndexDamaged):
            return error
        try:
            self._store.keyword.check()
        except IndexDamaged as found:
            return found
        return None

    def context(
        self, topic: str = "", query: str = "", max_tokens: int = 4_000, reader: Reader = PERSON
    ) -> Context:
        """What fits into `max_tokens` of the memories that matter, newest first among equals.

        Those of a topic that answer a query; without a query its hottest; without either the
        hottest of each topic. What is handed out counts as opened.
        """
        seen = self._within(topic, reader)
        found = self._contexts.context(seen, query, max_tokens, by_topic=not topic)
        for packed in found.memories:
            record = self._store.library.find(packed.id)
            if record is not None:
                self._touch(record)
        return found

    def _within(self, scope: str, reader: Reader) -> set[str] | None:
        """The ids that a search may answer, or None for all."""
        library = self._store.library
        place = self._place(scope, None, reader) if scope else None
        if place is None and not reader.scope and not (reader.ai and library.any_private()):
            return None
        records = library.members(place.id) if place else library.memories()
        return {r.id for r in records if reader.may_see(library, r)}

    # -- following the disk

    def _damaged(self) -> None:
        """Full text was begun anew: fill it again, in the background."""
        self._said.append("the full-text index was damaged and has been built again")
        threading.Thread(target=self._fill_again, name="filling", daemon=True).start()

    def _fill_again(self) -> None:
        try:
            self.reconcile()
        except NeurigraphError as error:
            log.warning("the next comparison will fill full text: %s", error)

    def reconcile(self) -> Outcome:
        """Compare the whole disk with what is known."""
        outcome = self._store.indexer.reconcile(self._say_progress)
        self._follow(outcome, opened=False)
        return outcome

    def refresh(self, paths: set[str]) -> None:
        """Take up what changed on disk; an empty set means: look at everything."""
        if not paths:
            self.reconcile()
            return
        with self._arriving:  # what a sync checks out is taken up by it, as nobody's edit
            self._follow(self._store.indexer.look(sorted(paths)), opened=True)
        self._climate.noticed(paths)

    def _follow(self, outcome: Outcome, *, opened: bool) -> None:
        for old, new in outcome.moved.items():
            self._note_moves(old, new)
        came = [c.after.id for c in outcome.changes if c.after is not None]
        went = [c.before.id for c in outcome.changes if c.before is not None and c.after is None]
        self._climate.came_and_went(came, (i for i in went if MEMORY_ID.fullmatch(i)))
        if opened:
            for change in outcome.changes:
                before, after = change.before, change.after
                if before is None or after is None:
                    continue
                if _is_edit_of_text(change) or self._climate.is_unpacked_by_hand(before, after):
                    self._touch(after)
                elif after.pinned and not before.pinned:
                    self._climate.pinned(after)

    def _note_moves(self, old: str, new: str) -> None:
        if old != new:
            self._store.access.moved(old, new)

    def _say_progress(self, done: int, total: int) -> None:
        self._progress = (done, total)
        self.events.publish("progress", job="index", done=done, total=total, text="reading notes")

    def _vectors_said(self, kind: str, text: str) -> None:
        log.warning("vectors: %s %s", kind, text)
        if "damaged" in text and text not in self._said:
            self._said.append(f"{text}; the vectors are being made again")
        if kind == "vector_store_replaced" and self._store_or_none is not None:
            self._store_or_none.feeder.lost(self._store_or_none.library.memories())
        self.events.publish("status")

    def reindex(self) -> None:
        """Throw the indexes away and build them from the vault."""
        self._state = "indexing"
        self._store.indexer.forget_everything()
        self.reconcile()
        self._store.feeder.want(self._store.library.memories(), ())
        self._state = "ready"
        self.events.publish("status")

    # -- what is going on

    def counts(self, reader: Reader = PERSON) -> Counts:
        """How many memories there are at each temperature."""
        library = self._store.library
        return counts(
            self._views.temperature(r) for r in library.memories() if reader.may_see(library, r)
        )

    def topic_counts(self) -> tuple[int, int]:
        """How many broad and focused topics there are."""
        kinds = [p.kind for p in self._store.library.places().values()]
        return kinds.count("broad"), kinds.count("focused")

    def behind(self) -> tuple[int, int]:
        """How many memories full text and vectors do not hold yet."""
        return self._store.indexer.keyword_behind, self._store.feeder.behind

    def problems(self) -> list[Problem]:
        """Everything about the vault that a person should mend."""
        return self._store.indexer.problems()

    def say(self, lines: Iterable[str]) -> None:
        """Add lines that a person should read once."""
        self._said += lines

    def notices(self) -> tuple[str, ...]:
        """What a person should read once: damaged indexes that are built again, and the like."""
        return (*(self._store_or_none.said if self._store_or_none else ()), *self._said)

    def places(self) -> list[Place]:
        """All topics as they stand in the vault."""
        return list(self._store.library.places().values())

    def doctor(self, *, repair: bool = False, deep: bool = False) -> list[Diagnosis]:
        """Examine everything, and with `repair` mend what can be mended without a doubt."""
        if repair:
            self.reconcile()
        with self._edits:
            return diagnose(
                self._store,
                self.state_dir,
                repair=repair,
                deep=deep,
                progress=lambda done, total: self.events.publish(
                    "progress", job="doctor", done=done, total=total, text="reading transcripts"
                ),
            )

    def tidy_indexes(self) -> None:
        """Merge what updates left in many pieces; for idle moments."""
        store = self._store
        try:
            while not self._closing and store.keyword.merge():
                pass
        except IndexDamaged as error:
            store.indexer.rebuild_keyword(error)

    def embedder(self) -> dict[str, object]:
        """Which embedder is used, and whether it is ready."""
        store = self._store_or_none
        none = self.settings.index.embedder == NO_EMBEDDER
        ready = store is not None and (none or store.vectors.ready)
        return {"name": self.settings.index.embedder, "ready": ready}

    def summarizer(self) -> dict[str, object]:
        """Who writes summaries, how many memories wait for a better one, what went wrong last."""
        if self._store_or_none is None:
            return {"name": "extractive", "waiting": 0, "problem": ""}
        return self._improver.state()

    # -- several machines

    def _new_sync(self) -> Sync:
        side = VaultSide(self._desk, self._checking_out, self._arrived, self.held_out, self.events)
        sync = Sync(self.vault, self.state_dir, self.settings.sync, self.clock, side)
        self.events.subscribe(lambda event: sync.heard(event.kind))
        return sync

    @contextmanager
    def _checking_out(self) -> Iterator[None]:
        """While files arrive nobody edits, and the watcher waits."""
        with self._arriving, self._edits:
            yield

    def _arrived(self, paths: list[str], outcome: Outcome) -> None:
        self._follow(outcome, opened=False)
        self._climate.noticed(paths)
        self.events.publish("status")

    @property
    def sync(self) -> Sync:
        """Git sync of this vault. Raises `NotReady`."""
        if self._sync is None:
            raise NotReady("sync")
        return self._sync

    def sync_init(self, url: str = "") -> list[str]:
        """Make the vault ready for sync and switch it on, on this machine; what was done."""
        with self._edits:
            return self.sync.begin(self._store.files, url)

    def sync_now(self, *, anyway: bool = False) -> SyncReport:
        """Sync at once; `anyway` also after the remote's history was rewritten."""
        self._ready_to_write()
        return self.sync.now(anyway=anyway)

    def sync_by_itself(self) -> None:
        """Sync when it is time, and follow what another git did to the vault."""
        if self._state == "ready" and self._sync is not None:
            self._sync.tick()

    def sync_state(self) -> dict[str, object]:
        """What git sync does: enabled, state (off, idle, syncing, offline, stopped), when it last
        went well, what is wrong, and by how many commits this machine is ahead and behind."""
        if self._sync is None:
            return Condition(self.settings.sync.enabled).answer()
        return self._sync.condition.answer()


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


def _is_edit_of_text(change: Change) -> bool:
    before, after = change.before, change.after
    if before is None or after is None or before.path != after.path or before.id != after.id:
        return False
    if before.body_version == after.body_version or not before.body_version:
        return False
    was, now = (r.transcript.digest if r.transcript else "" for r in (before, after))
    if was != now:
        # one that is gone, or back from a backup, was not edited
        return bool(was and now)
    return not change.own


def _in_topic(conversation: Conversation, place: Place) -> Conversation:
    return replace(conversation, broad_topic=place.name, focused_topic=None)


def check_limit(limit: int, offset: int) -> None:
    """Raise `InvalidInput` when a search asks for too much."""
    if not 1 <= limit <= 50:
        raise InvalidInput("limit", "must be between 1 and 50")
    if not 0 <= offset <= 10_000:
        raise InvalidInput("offset", "must be between 0 and 10,000")
