"""What comes in and goes out: imports, exports, and the other machines."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from neurigraph.capture.capture import Capture
from neurigraph.capture.exporting import everything
from neurigraph.capture.held import HeldMemory, HeldOut, held_memories
from neurigraph.capture.report import Report
from neurigraph.door.following import Following
from neurigraph.edits.desk import check_version
from neurigraph.edits.forget import Forgotten, forget
from neurigraph.errors import (
    NotReady,
)
from neurigraph.importers.export import jsonl
from neurigraph.index.indexer import Outcome
from neurigraph.logs import scrub
from neurigraph.sync.git import Git
from neurigraph.sync.machine import Condition, Sync
from neurigraph.sync.round import Report as SyncReport
from neurigraph.sync.vault_side import VaultSide

log = logging.getLogger(__name__)


class Travelling(Following):
    """Imports, exports, forgetting, and sync."""

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
