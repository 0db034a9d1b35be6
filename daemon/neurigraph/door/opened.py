"""What every room of the door stands on: the opened vault and who waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Literal

from neurigraph.capture.capture import Capture
from neurigraph.clock import Clock
from neurigraph.contexts import Contexts
from neurigraph.edits.desk import Desk
from neurigraph.edits.save import Saver
from neurigraph.edits.tombstones import Tombstones
from neurigraph.errors import (
    NeurigraphError,
    NotReady,
)
from neurigraph.events import EventBus
from neurigraph.filing import Filing
from neurigraph.improve import Improver
from neurigraph.index.record import Record
from neurigraph.search.cascade import Search
from neurigraph.settings import Settings
from neurigraph.store import Store
from neurigraph.summarize.draft import Draft
from neurigraph.summarize.extractive import extractive
from neurigraph.sync.machine import Sync
from neurigraph.temperature.climate import Climate
from neurigraph.temperature.clock_guard import BootClock
from neurigraph.vault.note import read_note
from neurigraph.views import Views

State = Literal["starting", "indexing", "ready", "failed"]


class Opened:
    """A vault that is being opened, is open, or failed to open."""

    _desk: Desk
    _tombstones: Tombstones
    _saver: Saver
    _views: Views
    _search: Search
    _contexts: Contexts
    _filing: Filing
    _improver: Improver

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

    def _body(self, record: Record) -> str:
        return read_note(self._store.files.read(record.path)).body

    def _touch(self, record: Record) -> None:
        self._climate.opened(record)

    def _note_moves(self, old: str, new: str) -> None:
        if old != new:
            self._store.access.moved(old, new)

    def say(self, lines: Iterable[str]) -> None:
        """Add lines that a person should read once."""
        self._said += lines
