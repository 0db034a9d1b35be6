"""Brings vectors up to date in the background, newest memories first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence

from neurigraph.errors import NeurigraphError
from neurigraph.events import EventBus
from neurigraph.index.catalog import Catalog
from neurigraph.index.no_vectors import Vectors
from neurigraph.index.passage import PassageText
from neurigraph.index.record import Record

log = logging.getLogger(__name__)

BATCH = 64
"""Memories that are handed over together; the worker answers searches between batches."""

BATCH_TOKENS = 200_000
"""And no more text than this at once, so that long transcripts do not fill the memory."""

PATIENCE_SECONDS = 0.2
"""How long a stop may wait for a worker that is still starting."""

RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 300.0

PassagesOf = Callable[[Record], Sequence[PassageText]]
"""Reads a memory and answers its passages; raises OSError when it cannot be read."""


class VectorFeeder:
    """A thread that hands every memory whose text changed to the vector index."""

    def __init__(
        self, vectors: Vectors, catalog: Catalog, passages_of: PassagesOf, events: EventBus
    ) -> None:
        self._vectors, self._catalog = vectors, catalog
        self._passages_of, self._events = passages_of, events
        self._changed = threading.Condition()
        self._wanted: dict[str, Record] = {}
        self._order: list[str] = []
        self._compared = False
        self._loaded: dict[str, Record] = {}
        self._unwanted: set[str] = set()
        self._held: dict[str, str] = {}
        self._busy = 0
        self._stopping = False
        self._paused = False
        self._thread = threading.Thread(target=self._run, name="vector-feeder", daemon=True)

    def load(self, records: Iterable[Record]) -> None:
        """Take up what the catalog knows that vectors hold, and want the rest."""
        self._held = self._catalog.held("vector")
        self._loaded = {r.id: r for r in records}
        self.want(self._loaded.values(), [i for i in self._held if i not in self._loaded])

    def start(self) -> None:
        """Begin to feed."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the batch that is under way."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def want(self, records: Iterable[Record], gone: Iterable[str]) -> None:
        """These memories may have new text; those ids are gone."""
        with self._changed:
            for record in records:
                if record.text_version and self._held.get(record.id) != record.text_version:
                    self._wanted[record.id] = record
                    self._order.clear()
                    self._unwanted.discard(record.id)
            for memory_id in gone:
                self._wanted.pop(memory_id, None)
                if memory_id in self._held:
                    self._unwanted.add(memory_id)
            self._changed.notify_all()

    def forget_everything(self) -> None:
        """The vectors were lost or are of no use: everything will be wanted again."""
        with self._changed:
            self._unwanted.update(self._held)
            self._held.clear()
            self._wanted.clear()
        self._catalog.clear_held("vector")

    def again(self, records: Iterable[Record]) -> None:
        """Vectors of these memories were found missing."""
        wanted = list(records)
        with self._changed:
            for record in wanted:
                self._held.pop(record.id, None)
        self.want(wanted, ())

    def lost(self, records: Iterable[Record]) -> None:
        """The store was replaced by an empty one: want all of these."""
        with self._changed:
            self._held.clear()
            self._unwanted.clear()
        self._catalog.clear_held("vector")
        self.want(records, ())

    def rest(self, ended: bool) -> None:
        """Begin nothing new while something that must be quick is under way; `ended` goes on."""
        with self._changed:
            self._paused = not ended
            self._changed.notify_all()

    def _is_due(self) -> bool:
        work = bool(self._wanted or self._unwanted or not self._compared)
        return self._stopping or (work and not self._paused)

    @property
    def behind(self) -> int:
        """How many memories have no up-to-date vectors yet."""
        return len(self._wanted) + self._busy

    def wait_idle(self, timeout: float) -> bool:
        """Wait until everything is fed; false when that took longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._wanted or self._unwanted or self._busy), timeout
            )

    def _run(self) -> None:
        delay = RETRY_SECONDS
        while True:
            with self._changed:
                self._changed.wait_for(self._is_due)
                if self._stopping:
                    return
                gone = list(self._unwanted)
                self._unwanted.clear()
                batch = self._next_batch()
                self._busy = len(batch)
            try:
                self._feed(batch, gone)
                delay = RETRY_SECONDS
            except (NeurigraphError, OSError) as error:
                log.warning("vectors wait: %s", error)
                self._put_back(batch, gone, delay)
                delay = min(delay * 2, MAX_RETRY_SECONDS)
            finally:
                with self._changed:
                    self._busy = 0
                    self._changed.notify_all()
            if not self._wanted:
                self._events.publish("status")

    def _next_batch(self) -> list[Record]:
        """The newest memories that are wanted, taken off the list."""
        if not self._order:
            self._order = sorted(self._wanted, key=lambda i: self._wanted[i].stamp.mtime_ns)
        batch: list[Record] = []
        tokens = 0
        while self._order and len(batch) < BATCH and tokens < BATCH_TOKENS:
            record = self._wanted.pop(self._order.pop(), None)
            if record is not None:
                batch.append(record)
                tokens += record.token_count
        return batch

    def _compare(self) -> None:
        """Find out once what is really held: a lost catalog leaves vectors that nobody knows."""
        held = self._vectors.contents()
        surplus = [i for i in held if i not in self._held]
        if surplus:
            self._vectors.delete(surplus)
        lost = {i: "" for i in self._held if i not in held} if held else {}
        if lost:
            self._catalog.set_held("vector", lost)
            for memory_id in lost:
                self._held.pop(memory_id, None)
        self._compared = True
        self.want([self._loaded[i] for i in lost if i in self._loaded], ())
        self._loaded = {}

    def _feed(self, batch: Sequence[Record], gone: Sequence[str]) -> None:
        while not self._vectors.wait_ready(PATIENCE_SECONDS):
            if self._stopping:
                return
        if not self._compared:
            self._compare()
        if gone:
            self._vectors.delete(gone)
            for memory_id in gone:
                self._held.pop(memory_id, None)
        items = {}
        for record in batch:
            try:
                items[record.id] = self._passages_of(record)
            except OSError as error:
                # the next look at the disk says what became of the file
                log.info("no passages of %s: %s", record.id, error)
        if items:
            self._vectors.put(items)
            versions = {r.id: r.text_version for r in batch if r.id in items}
            self._held.update(versions)
            self._catalog.set_held("vector", versions)

    def _put_back(self, batch: Sequence[Record], gone: Sequence[str], delay: float) -> None:
        with self._changed:
            for record in batch:
                self._wanted.setdefault(record.id, record)
            self._unwanted.update(i for i in gone if i not in self._wanted)
            self._changed.wait_for(lambda: self._stopping, timeout=delay)
