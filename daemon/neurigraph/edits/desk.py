"""What every edit of the vault needs at hand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from neurigraph.clock import Clock
from neurigraph.errors import Conflict, NotWritable, VersionRequired
from neurigraph.index.indexer import Indexer
from neurigraph.index.library import Library
from neurigraph.index.record import Record
from neurigraph.settings import Settings
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.recall import Recall


@dataclass(frozen=True, slots=True)
class Desk:
    """The files, what is known of them, and how to make a change known."""

    files: VaultFiles
    recall: Recall
    library: Library
    indexer: Indexer
    clock: Clock
    settings: Settings


class Stale(Conflict):
    """A change was based on a version that is no longer the current one."""

    code = "stale_version"

    def __init__(self, memory_id: str, current: str) -> None:
        self.id, self.current = memory_id, current
        super().__init__(
            f"{memory_id} was changed meanwhile; read it again and retry with version {current}"
        )


def version_of(record: Record) -> str:
    """The version of a note and its transcript that a change must name (an ETag)."""
    # that a memory became colder or warmer is no change that somebody could overwrite
    parts = [record.lasting or record.digest]
    if (stamp := record.transcript) is not None:
        parts += [stamp.digest, *(name for name, _, _ in stamp.artifacts)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def check_version(record: Record, version: str | None) -> None:
    """Raise unless the caller read the current version. `*` is any."""
    if not version:
        raise VersionRequired("memory" if record.kind != "node" else "topic")
    if version != "*" and version != version_of(record):
        raise Stale(record.id, version_of(record))


def check_writable(record: Record) -> None:
    """Raise `NotWritable` for a note that is never written to."""
    if not record.writable:
        raise NotWritable(record.path, record.problem or "it cannot be read for certain")
