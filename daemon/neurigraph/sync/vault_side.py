"""What sync has to know of the vault, and what it does there after files have arrived."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError, OutsideVault, TooLarge
from neurigraph.events import EventBus
from neurigraph.importers.secrets import find_secrets
from neurigraph.index.indexer import Outcome
from neurigraph.index.record import Record
from neurigraph.sync.git import Git
from neurigraph.sync.pairing import memory_of
from neurigraph.sync.round import Surroundings
from neurigraph.vault.layout import nfc, recall_dir
from neurigraph.vault.packing import Damaged, decode, gunzip

log = logging.getLogger(__name__)


class VaultSide:
    """The vault as sync works on it. `take_up` is told what a look at arrived files found."""

    def __init__(
        self,
        desk: Desk,
        writing: Callable[[], AbstractContextManager[object]],
        take_up: Callable[[list[str], Outcome], None],
        held_out: Callable[[str], bool],
        events: EventBus,
    ) -> None:
        self._desk, self._take_up, self._held_out = desk, take_up, held_out
        self._writing, self._events = writing, events

    def surroundings(self) -> Surroundings:
        """All of it, for a round."""
        return Surroundings(
            busy=self.busy,
            writing=self._writing,
            arriving=self.arriving,
            arrived=self.arrived,
            noticed=self.noticed,
            held_out=self.held_out,
            is_orphan=self.is_orphan,
            has_secret=self.has_secret,
            id_at=self.id_at,
            progress=self._say,
        )

    def busy(self, paths: Iterable[str]) -> list[str]:
        """Which of these files a person is working on: just changed, or open in Obsidian."""
        files, now = self._desk.files, self._desk.clock()
        opened = files.open_in_obsidian()
        patience = self._desk.settings.vault.settle_seconds
        return [
            path
            for path in self._readable(paths)
            if files.exists(path)
            and (nfc(path) in opened or not files.settled(path, now, patience))
        ]

    def arriving(self, digests: Mapping[str, str]) -> None:
        """These files are about to hold these bytes: no person's edit."""
        for path, digest in digests.items():
            self._desk.files.expect_write(path, digest)

    def noticed(self, paths: Iterable[str]) -> None:
        """Look at new notes that the watcher has not told of yet, before they are committed."""
        library = self._desk.library
        notes = (p for p in paths if p.lower().endswith(".md") and library.at(p) is None)
        unknown = self._readable(notes)
        if unknown:
            self._desk.indexer.look(unknown)

    def held_out(self, path: str) -> bool:
        """Whether a file stays on this machine. Of a link git carries where it leads, no text."""
        link = Path(self._desk.files.root, path).is_symlink()
        return not link and self._held_out(path)

    def is_orphan(self, path: str) -> bool:
        """Whether a file belongs to a memory of which no note is known."""
        memory_id = memory_of(path)
        return bool(memory_id) and self._desk.library.find(memory_id) is None

    def has_secret(self, path: str) -> bool:
        """Whether something in a file of a memory looks like a secret."""
        if self._desk.settings.imports.secrets == "off":
            return False
        try:
            data = self._desk.files.read(path)
            data = gunzip(data) if path.endswith(".gz") else data
        except (OSError, Damaged, OutsideVault, TooLarge):
            return False
        return bool(find_secrets(decode(data)))

    def id_at(self, path: str) -> str:
        """The id of the note at a path, or an empty text."""
        record = self._desk.library.at(path)
        return record.id if record is not None else ""

    def arrived(self, paths: list[str]) -> None:
        """Take up in one batch what a merge or a pull, ours or another tool's, has changed."""
        paths = self._readable(paths)
        memories = {m for path in paths if (m := memory_of(path))}
        for memory_id in sorted(memories):
            self._make_one(memory_id)
        gone = {folder for path in paths for folder in self._gone_above(path)}
        outcome = self._desk.indexer.look([*paths, *sorted(gone)])
        self._take_up(paths, outcome)

    def _readable(self, paths: Iterable[str]) -> list[str]:
        """Those that the vault can read. Git carries more: names that are no text, and links
        that lead out."""
        found = []
        for path in paths:
            try:
                path.encode("utf-8")
                self._desk.files.path(path)
            except (UnicodeEncodeError, OutsideVault):
                continue
            found.append(path)
        return found

    def _make_one(self, memory_id: str) -> None:
        """A plain transcript beside its `.gz`, which a merge by plain git can leave."""
        recall = self._desk.recall
        try:
            if recall.form(memory_id) == "both":
                log.info("after a merge, %s: %s", memory_id, recall.resolve_pair(memory_id).value)
            recall.resolve_artifacts(memory_id)
        except (NeurigraphError, OSError) as error:
            log.warning("%s is left as it is after a merge: %s", memory_id, error)

    def bring_back(self, git: Git, before: str, after: str) -> list[str]:
        """Give memories back the files that a merge by plain git has taken from them.

        Where one side deleted a memory and the other edited its note, git keeps the note alone.
        """
        found: dict[str, bytes] = {}
        incomplete = self._without_transcript()
        for merge, *parents in git.merges(before, after) if incomplete else ():
            for record in incomplete:
                folder = recall_dir(record.id)
                having = {p: e for p in parents if (e := git.files_in(p, folder))}
                lacking = [p for p in parents if p not in having]
                # a transcript that somebody removed from a memory that they kept stays removed
                kept = any(git.says(p, f"id: {record.id}") for p in lacking)
                if kept or not lacking or git.files_in(merge, folder):
                    continue
                for entries in having.values():
                    held = git.contents(e.oid for e in entries.values())
                    found |= {p: held[e.oid] for p, e in entries.items()}
        restored = []
        for path, data in sorted(found.items()):
            if not self._desk.files.exists(path):
                restored.append(self._desk.files.create(path, data, numbered_if_taken=False))
        if restored:
            log.info("after a merge, %d files of memories were brought back", len(restored))
            self.arrived(restored)
        return restored

    def _without_transcript(self) -> list[Record]:
        return [
            record
            for record in self._desk.library.memories()
            if record.kind == "memory"
            and (record.transcript is None or record.transcript.form == "missing")
        ]

    def _gone_above(self, path: str) -> list[str]:
        found = []
        folder = path.rpartition("/")[0]
        while folder and not os.path.lexists(self._desk.files.path(folder)):
            found.append(folder)
            folder = folder.rpartition("/")[0]
        return found

    def _say(self, words: str) -> None:
        self._events.publish("progress", job="sync", done=0, total=0, text=words)
