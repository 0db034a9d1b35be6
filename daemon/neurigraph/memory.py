"""Memory: the one door through which every interface reads and changes the vault."""

from __future__ import annotations

import logging

from neurigraph.capture.apart import read_apart
from neurigraph.capture.capture import Capture
from neurigraph.capture.run import Table
from neurigraph.cards import Cards
from neurigraph.contexts import Contexts
from neurigraph.doctor import Diagnosis, diagnose
from neurigraph.door.finding import check_limit
from neurigraph.door.memories import Filter, Page, Sort
from neurigraph.door.opened import State
from neurigraph.door.travelling import Travelling
from neurigraph.edits.desk import Desk
from neurigraph.edits.save import Saver
from neurigraph.edits.tombstones import Tombstones
from neurigraph.edits.unfinished import Unfinished
from neurigraph.errors import (
    NeurigraphError,
)
from neurigraph.filing import Filing
from neurigraph.import_filing import ImportFiling
from neurigraph.improve import Improver
from neurigraph.index.keyword import IndexDamaged
from neurigraph.model import (
    Problem,
)
from neurigraph.search.cascade import Search
from neurigraph.store import NO_EMBEDDER, catalog_path, open_store
from neurigraph.temperature.climate import Climate
from neurigraph.views import Views

__all__ = ["Filter", "Memory", "Page", "Sort", "State", "check_limit"]

log = logging.getLogger(__name__)


class Memory(Travelling):
    """A vault's memory. Reading never waits for writing; edits are serial."""

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
        unfinished = Unfinished(self.state_dir / "unfinished")
        self._saver = Saver(self._desk, self._tombstones, self._draft, unfinished)
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

    def behind(self) -> tuple[int, int]:
        """How many memories full text and vectors do not hold yet."""
        return self._store.indexer.keyword_behind, self._store.feeder.behind

    def problems(self) -> list[Problem]:
        """Everything about the vault that a person should mend."""
        if not self.vault.is_dir():
            return [Problem(str(self.vault), "its folder is gone; mount it or put it back")]
        return self._store.indexer.problems()

    def notices(self) -> tuple[str, ...]:
        """What a person should read once: damaged indexes that are built again, and the like."""
        return (*(self._store_or_none.said if self._store_or_none else ()), *self._said)

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
