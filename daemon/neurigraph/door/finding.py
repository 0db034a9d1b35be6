"""Searching, what an AI should read before it answers, and how warm it all is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from neurigraph.door.memories import Memories
from neurigraph.errors import (
    InvalidInput,
    NotReady,
)
from neurigraph.index.keyword import IndexDamaged
from neurigraph.model import (
    Counts,
    SearchResult,
)
from neurigraph.search.context import Context
from neurigraph.temperature.climate import ClimateStatus
from neurigraph.temperature.cycle import CycleRunning, Planned, Result
from neurigraph.views import PERSON, Reader, counts


class Finding(Memories):
    """Search, contexts, and temperature."""

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

    def warm(self, wanted: str, reader: Reader = PERSON) -> tuple[int, int]:
        """Unpack the cold transcripts of a topic, newest first; how many were and were not."""
        place, library = self._place(wanted, None, reader), self._store.library
        members = [r for r in library.members(place.id) if reader.may_see(library, r)]
        warmed = self._climate.warm(members)
        return warmed.warmed, warmed.left

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

    def follow_cycles(self, next_cycle: Callable[[], datetime | None]) -> None:
        """Say who knows when the next cycle begins."""
        self._next_cycle = next_cycle

    def survey_recall(self) -> None:
        """Look through `_recall` for what no note accounts for."""
        if self._state == "ready":
            self._climate.survey()

    def wait_warm(self, timeout: float = 10) -> bool:
        """Wait until all that openings asked for in the background is done."""
        return self._climate.wait_idle(timeout)

    def counts(self, reader: Reader = PERSON) -> Counts:
        """How many memories there are at each temperature."""
        library = self._store.library
        return counts(
            self._views.temperature(r) for r in library.memories() if reader.may_see(library, r)
        )


def check_limit(limit: int, offset: int) -> None:
    """Raise `InvalidInput` when a search asks for too much."""
    if not 1 <= limit <= 50:
        raise InvalidInput("limit", "must be between 1 and 50")
    if not 0 <= offset <= 10_000:
        raise InvalidInput("offset", "must be between 0 and 10,000")
