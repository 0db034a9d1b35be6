"""The vault's memories as the search sees them: what is known without files, and their texts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from neurigraph.errors import NeurigraphError
from neurigraph.index.library import Library
from neurigraph.index.record import Record
from neurigraph.model import Temperature
from neurigraph.search.library import Card, State
from neurigraph.views import Views

log = logging.getLogger(__name__)


class Cards:
    """Answers the search's questions from the library, and reads texts when they are asked for."""

    def __init__(
        self,
        library: Library,
        views: Views,
        body_of: Callable[[Record], str],
        transcript_of: Callable[[Record], str],
        is_stale: Callable[[Record], bool],
    ) -> None:
        self._library, self._views, self._body_of = library, views, body_of
        self._transcript_of, self._is_stale = transcript_of, is_stale

    def card(self, memory_id: str) -> Card | None:
        """One memory, or None when it is gone."""
        record = self._library.find(memory_id)
        return None if record is None or record.kind == "node" else self._card(record)

    def cards(self) -> Iterable[Card]:
        """All memories."""
        return map(self._card, self._library.memories())

    def _card(self, record: Record) -> Card:
        broad, focused = self._library.names_of(record)
        return Card(
            id=record.id,
            title=record.title,
            broad=broad,
            focused=focused,
            path=record.path,
            created=record.created,
            source_model=record.source_model,
            keywords=record.keywords,
            tags=record.tags,
            aliases=record.aliases,
        )

    def temperature(self, memory_id: str) -> Temperature:
        """How hot a memory is now; cold when it is gone."""
        record = self._library.find(memory_id)
        return self._views.temperature(record) if record else Temperature.COLD

    def state(self, memory_id: str) -> State:
        """How a memory stands at this moment."""
        record = self._library.find(memory_id)
        if record is None:
            return State(Temperature.COLD)
        return State(
            self._views.temperature(record),
            self._is_stale(record),
            self._views.obsidian_url(record.path),
        )

    def note(self, memory_id: str) -> str:
        """The body of a memory's note; empty when it cannot be read just now."""
        record = self._library.find(memory_id)
        if record is None or record.digest.startswith("size:"):
            return ""
        try:
            return self._body_of(record)
        except (OSError, NeurigraphError) as error:
            log.info("a note could not be read for a snippet: %s", error)
            return ""

    def transcript(self, memory_id: str) -> str:
        """A memory's transcript; empty when there is none or it cannot be read."""
        record = self._library.find(memory_id)
        if record is None or record.transcript is None or not record.transcript.digest:
            return ""
        try:
            return self._transcript_of(record)
        except (OSError, NeurigraphError) as error:
            log.info("a transcript could not be read for a snippet: %s", error)
            return ""
