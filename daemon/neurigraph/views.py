"""Records as the nouns that interfaces answer: memories, topics, counts. Reads no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote

from neurigraph.clock import Clock
from neurigraph.edits.desk import version_of
from neurigraph.index.library import BROAD_COLOR, FOCUSED_COLOR, Library, Place
from neurigraph.index.record import Record, Sections
from neurigraph.model import Artifact, Chunk, Counts, Node, Temperature
from neurigraph.settings import TemperatureSettings
from neurigraph.temperature.access import AccessLog
from neurigraph.temperature.rules import Noted, Reading, form_of, newest, temperature_of
from neurigraph.vault.layout import recall_dir

OLDEST = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks. An AI (`ai`) never sees what is private; `scope` is a topic path that limits
    it further, empty for the whole vault."""

    ai: bool = False
    scope: str = ""

    def may_see(self, library: Library, record: Record) -> bool:
        """Whether this reader is shown this note at all."""
        if self.scope and not within(record.path, self.scope):
            return False
        return not (self.ai and library.is_private(record))

    def may_see_place(self, library: Library, place: Place) -> bool:
        """Whether this reader is shown this topic; the broad topic above its scope is."""
        if self.scope and not (within(place.path, self.scope) or within(self.scope, place.path)):
            return False
        return not (self.ai and library.place_is_private(place))


PERSON = Reader()
"""The person whose vault it is."""


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it, whatever the case; the empty folder has all."""
    path, folder = path.casefold(), folder.casefold().strip("/")
    return not folder or path == folder or path.startswith(folder + "/")


class Views:
    """Builds answers from the library, the access log and the clock."""

    def __init__(
        self,
        library: Library,
        access: AccessLog,
        settings: TemperatureSettings,
        clock: Clock,
        vault_name: str,
        is_stale: Callable[[Record], bool],
    ) -> None:
        self._library, self._access = library, access
        self._settings, self._clock = settings, clock
        self._vault_name, self._is_stale = vault_name, is_stale

    def used(self, record: Record) -> datetime:
        """When a memory was last used: opened, warmed by a neighbour, or else its own date."""
        known, now = self._access.of(record.id), self._clock()
        used = newest((known.opened, known.warmed, record.noted_access), now)
        # a date in the future is a wrong clock's or a plan, and says nothing of use
        return used or newest((record.created,), now) or _written(record)

    def reading(self, record: Record) -> Reading:
        """What the rules of temperature need to know of a memory to say how hot it is."""
        stamp = record.transcript
        if stamp is None or stamp.form == "missing":
            return Reading(record.id, self.used(record), record.pinned)
        return Reading(
            id=record.id,
            used=self.used(record),
            pinned=record.pinned,
            transcript=stamp.form,
            artifacts=form_of(stamp.artifacts),
            opened=self._access.of(record.id).opened,
        )

    def full_reading(self, record: Record) -> Reading:
        """The same with what the note says of it, for notes of ours that may be written to."""
        reading = self.reading(record)
        if record.kind != "memory" or not record.writable or reading.transcript is None:
            return reading
        told = newest((self._access.of(record.id).told, record.noted_access), self._clock())
        noted = Noted(
            temperature=record.noted_temperature,
            accessed=record.noted_access,
            count=record.noted_count,
            form=record.noted_form,
            written=told,
            true_accessed=self.last_accessed(record),
            true_count=self.access_count(record),
        )
        return replace(reading, noted=noted)

    def temperature(self, record: Record) -> Temperature:
        """How hot a memory is now."""
        return temperature_of(self.reading(record), self._clock(), self._settings)

    def last_accessed(self, record: Record) -> datetime | None:
        """When a memory was last opened."""
        return newest((self._access.of(record.id).opened, record.noted_access), self._clock())

    def access_count(self, record: Record) -> int:
        """How often a memory was opened, on this machine or as its note reports."""
        return max(self._access.of(record.id).count, record.noted_count)

    def obsidian_url(self, path: str) -> str:
        """The link that opens a note in Obsidian (its documented URI scheme)."""
        return (
            f"obsidian://open?vault={quote(self._vault_name, safe='')}&file={quote(path, safe='')}"
        )

    def chunk(self, record: Record, sections: Sections) -> Chunk:
        """A memory as every interface answers it."""
        library = self._library
        place = library.place_of(record)
        parent = library.places().get(place.parent) if place and place.parent else None
        stamp = record.transcript
        previous, following = (
            library.resolve(target, record.path) if target else None
            for target in (record.previous_part, record.next_part)
        )
        return Chunk(
            id=record.id,
            title=record.title,
            path=record.path,
            broad=parent.name if parent else place.name if place else "",
            focused=place.name if place else "",
            broad_id=parent.id if parent else place.id if place else "",
            focused_id=place.id if place else "",
            created=record.created,
            source_model=record.source_model,
            source_id=record.source_id,
            keywords=record.keywords,
            tags=record.tags,
            temperature=self.temperature(record),
            last_accessed=self.last_accessed(record),
            access_count=self.access_count(record),
            pinned=record.pinned,
            private=library.is_private(record),
            secrets=record.secrets,
            token_count=record.token_count,
            summary=sections.summary,
            summary_source=record.summary_source,
            decisions=sections.decisions,
            open_questions=sections.open_questions,
            notes=sections.notes,
            artifacts=tuple(
                Artifact(name, f"{recall_dir(record.id)}/artifacts/{name}", size, compressed)
                for name, size, compressed in (stamp.artifacts if stamp else ())
            ),
            has_transcript=stamp is not None and stamp.form != "missing",
            previous_part=previous.id if previous else None,
            next_part=following.id if following else None,
            owned=record.owned,
            stale=self._is_stale(record),
            version=version_of(record),
            obsidian_url=self.obsidian_url(record.path),
        )

    def node(self, place: Place, members: Sequence[Record]) -> Node:
        """A topic with its counts, over the members that the reader may see."""
        temperatures = [self.temperature(r) for r in members]
        accessed = [m for r in members if (m := self.last_accessed(r))]
        default = BROAD_COLOR if place.kind == "broad" else FOCUSED_COLOR
        note = place.note
        return Node(
            id=place.id,
            kind=place.kind,
            name=place.name,
            path=place.path,
            description=note.description if note else "",
            color=(note.color if note else "") or default,
            created=note.created if note else None,
            private=self._library.place_is_private(place),
            note_path=note.path if note else None,
            parent=place.parent,
            focused=sum(p.parent == place.id for p in self._library.places().values())
            if place.kind == "broad"
            else 0,
            counts=counts(temperatures),
            temperature=min(temperatures, key=lambda t: t.rank, default=Temperature.COLD),
            last_accessed=max(accessed, default=None),
            access_count=sum(self.access_count(r) for r in members),
            version=version_of(note) if note else f"none-{place.id}",
        )


def _written(record: Record) -> datetime:
    return datetime.fromtimestamp(record.stamp.mtime_ns / 1e9, UTC)


def counts(temperatures: Iterable[Temperature]) -> Counts:
    """How many there are of each temperature."""
    found: Mapping[Temperature, int] = Counter(temperatures)
    return Counts(
        memories=sum(found.values()),
        hot=found.get(Temperature.HOT, 0),
        warm=found.get(Temperature.WARM, 0),
        cold=found.get(Temperature.COLD, 0),
        deep_cold=found.get(Temperature.DEEP_COLD, 0),
    )
