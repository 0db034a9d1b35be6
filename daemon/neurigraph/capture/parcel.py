"""What the reading process is asked for, and what it hands over piece by piece."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from neurigraph.edits.prepared import Ready, Secrecy
from neurigraph.importers.export import ExportItem
from neurigraph.importers.kinds import Kind
from neurigraph.importers.source import Bounds, Failed


@dataclass(frozen=True, slots=True)
class Order:
    """What to read; of several `paths`, one that cannot be read does not stop the others.

    `known` are hashes of transcripts that need no draft, because they are stored
    already; without `drafts` none is made. With `kinds` all other files are left alone.
    """

    paths: tuple[str, ...]
    secrecy: Secrecy = "warn"
    known: Collection[str] = frozenset()
    drafts: bool = True
    kinds: Collection[Kind] | None = None
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class Opened:
    """It is something that can be imported: of these kinds, this much of it. `total` is bytes."""

    name: str
    kinds: tuple[Kind, ...]
    count: int
    total: int


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that was read; `done` of the bytes are behind it."""

    item: Ready | Failed | ExportItem
    done: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing can be imported, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """It was read to its end; `skipped` counts what was left out on purpose."""

    skipped: Mapping[str, int]


Parcel = Opened | Piece | Refused | Finished
