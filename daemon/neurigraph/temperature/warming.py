"""Warms in the background what an opening calls for: the memory itself, and its neighbours.

The one who opened has the answer already; files follow in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.events import EventBus
from neurigraph.index.catalog import Catalog
from neurigraph.index.library import Place
from neurigraph.index.record import Record
from neurigraph.temperature.access import AccessLog
from neurigraph.temperature.cycle import take_up
from neurigraph.temperature.shelf import Done, Shelf
from neurigraph.temperature.texts import Texts

log = logging.getLogger(__name__)

SUMMARIES = 100
"""The most memories of lightly joined topics whose summaries one opening loads."""

AT_ONCE, THREADS = 32, 8
"""Transcripts that are unpacked between two moments at which an edit can get in, and by how many
threads: most of their time is spent waiting for the disk."""

MOST_ASKED = 500
"""The most that is warmed when a person or an AI asks for a topic to be warmed; asking again goes
on."""

_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Warmed:
    """What became warm: how many transcripts were unpacked, and how many are still cold."""

    warmed: int = 0
    left: int = 0


class Warmer:
    """A thread that warms. What is asked for twice before its turn is done once."""

    def __init__(
        self,
        desk: Desk,
        shelf: Shelf,
        catalog: Catalog,
        access: AccessLog,
        texts: Texts,
        text_of: Callable[[Record], str],
        body_of: Callable[[Record], str],
        events: EventBus,
        edits: threading.RLock,
        stop: threading.Event,
    ) -> None:
        self._desk, self._shelf, self._catalog = desk, shelf, catalog
        self._access, self._texts = access, texts
        self._text_of, self._body_of = text_of, body_of
        self._events, self._edits, self._stop = events, edits, stop
        self._settings = desk.settings.temperature
        self._waiting: OrderedDict[tuple[str, str], Callable[[], None]] = OrderedDict()
        self._changed = threading.Condition()
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="warming", daemon=True)

    # -- the thread

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """End after what is under way; what waits is dropped, the next cycle does it."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing is left to do; false when that took longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def opened(self, record: Record) -> None:
        """A memory was opened: unpack it, and warm its neighbours."""
        self._ask("opened", record.id, lambda: self._open(record.id))
        place = self._desk.library.place_of(record)
        if place is not None:
            self.entered(place)

    def pinned(self, memory_id: str) -> None:
        """A memory was pinned: unpack it."""
        self._ask("pinned", memory_id, lambda: self._unpack(memory_id))

    def entered(self, place: Place) -> None:
        """A topic was entered: warm its neighbours."""
        self._ask("entered", place.id, lambda: self._warm_neighbours(place.id))

    def later(self, name: str, work: Callable[[], None]) -> None:
        """Do other quiet work in this thread."""
        self._ask("later", name, work)

    def _ask(self, kind: str, what: str, work: Callable[[], None]) -> None:
        with self._changed:
            self._waiting.setdefault((kind, what), work)
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._stop.is_set())
                if self._stop.is_set():
                    return
                _, work = self._waiting.popitem(last=False)
                self._busy = True
            try:
                work()
            except (NeurigraphError, OSError) as error:
                log.warning("something stays cold: %s", error)
            except Exception:  # a thread that must survive whatever one memory holds
                log.exception("warming failed")

    # -- what it does

    def _open(self, memory_id: str) -> None:
        record = self._desk.library.find(memory_id)
        if record is None:
            return
        self._load(record, text=True)
        self._unpack(memory_id)

    def _unpack(self, memory_id: str) -> None:
        now = self._desk.clock()
        with self._edits:
            if self._stop.is_set():
                return
            done = self._shelf.handle(memory_id, now, self._shelf.open_now(), cooling=False)
            take_up(self._desk, self._access, [done], now)
        if done.changed:
            self._events.publish("temperature", ids=[memory_id])

    def _warm_neighbours(self, place_id: str) -> None:
        library = self._desk.library
        near: list[Record] = []
        far: list[Record] = []
        places = library.places()
        for other, weight in library.neighbours(place_id).items():
            if other in places:
                members = library.members(other)
                (near if weight > self._settings.warm_weight else far).extend(members)
        self.thaw(_newest_first(near), self._room(near))
        for joined in (near, far):
            for record in _newest_first(joined)[: self._settings.warm_limit]:
                self._load(record, text=True)
        for record in _newest_first([*near, *far])[:SUMMARIES]:
            self._load(record, text=False)

    def _room(self, records: Iterable[Record]) -> int:
        """How many more a neighbour may warm: openings that follow each other share one bound."""
        since = self._desk.clock() - timedelta(minutes=self._settings.hot_minutes)
        lately = sum(
            not _is_cold(r)
            and (warmed := self._access.of(r.id).warmed) is not None
            and warmed > since
            for r in records
        )
        return self._settings.warm_limit - lately

    def thaw(self, records: Sequence[Record], most: int) -> Warmed:
        """Unpack the transcripts of the cold ones among these, in their order, up to a bound."""
        cold = [r.id for r in records if _is_cold(r)]
        wanted = cold[: max(most, 0)]
        warmed = 0
        if not wanted:
            return Warmed(0, len(cold))
        with ThreadPoolExecutor(min(THREADS, len(wanted)), "warming") as pool:
            for start in range(0, len(wanted), AT_ONCE):
                done = self._thaw(pool, wanted[start : start + AT_ONCE])
                new = [d.id for d in done if d.restored]
                warmed += len(new)
                if new:
                    self._events.publish("temperature", ids=new)
                if not done or any(d.broken for d in done):
                    break
        return Warmed(warmed, len(cold) - warmed)

    def _thaw(self, pool: Executor, ids: Sequence[str]) -> list[Done]:
        now = self._desk.clock()
        with self._edits:
            if self._stop.is_set():
                return []
            for memory_id in ids:
                # first, so that no cycle finds them old again
                self._access.warmed(memory_id, now)
            thaw = partial(self._shelf.thaw, now=now, open_now=self._shelf.open_now())
            done = list(pool.map(thaw, ids))
            take_up(self._desk, self._access, done, now)
        return done

    def warm(self, records: Sequence[Record]) -> Warmed:
        """Warm these because somebody asked for it: newest first, up to a large bound."""
        return self.thaw(_newest_first(records), MOST_ASKED)

    def _load(self, record: Record, *, text: bool) -> None:
        """Have a memory's words in memory."""
        if self._stop.is_set():
            return
        if self._texts.sections(record) is None:
            found = self._catalog.sections([record.path]).get(record.path)
            if found is not None:
                self._texts.put(record, sections=found)
        try:
            if self._texts.body(record) is None:
                self._texts.put(record, body=self._body_of(record))
            if text and record.kind == "memory" and self._texts.text(record) is None:
                self._texts.put(record, text=self._text_of(record))
        except (NeurigraphError, OSError) as error:
            log.info("a text was not loaded: %s", error)


def _is_cold(record: Record) -> bool:
    return record.transcript is not None and record.transcript.form == "gzip"


def _newest_first(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda r: (r.created or _LONG_AGO, r.path), reverse=True)
