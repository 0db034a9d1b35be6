"""The door to everything that comes in or goes out: imports, one at a time."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from neurigraph.capture.followed import LOGS, Followed
from neurigraph.capture.inbox import Inbox
from neurigraph.capture.parcel import Order
from neurigraph.capture.report import Report
from neurigraph.capture.run import Progress, Table, run_import
from neurigraph.edits.prepared import Ready
from neurigraph.edits.topics import GENERAL, INBOX
from neurigraph.errors import InvalidInput, NotFound
from neurigraph.events import EventBus
from neurigraph.importers.source import Bounds
from neurigraph.model import Conversation
from neurigraph.vault.layout import INBOX_DROP

log = logging.getLogger(__name__)

Suggest = Callable[[Ready], str]
"""The path of the topic that a conversation fits, among those that exist; empty when none does."""

BETTER = 50
"""The newest of what was imported get better summaries; a whole archive would take hours."""

Suggesting = Callable[[], Suggest]
"""Begins the suggestions of one import."""


class Capture:
    """Runs imports.

    `idle(False)` is called when one begins, so that what can wait does. `better` is told which
    memories deserve a better summary.
    """

    def __init__(
        self,
        table: Table,
        events: EventBus,
        suggesting: Suggesting,
        idle: Callable[[bool], None],
        state: Path,
        better: Callable[[Sequence[str]], None] = lambda _: None,
    ) -> None:
        settings = table.desk.settings.imports
        self.table, self._events = table, events
        self._inbox = Inbox(table.desk.files, settings.quiet_seconds)
        self._followed = Followed(state / "followed.json", settings.quiet_seconds)
        self.folders, self.watch_topic = settings.watch, settings.watch_topic
        self._suggesting, self._idle, self.better = suggesting, idle, better
        self._serial = threading.Lock()
        self._stop = threading.Event()
        self._closing = False
        self.last: Report | None = None

    def check(self, path: Path) -> None:
        """Raise `InvalidInput` for what must not be imported: the vault into itself."""
        vault = Path(os.path.realpath(self.table.desk.files.root))
        place = Path(os.path.realpath(path))
        if not place.exists():
            raise InvalidInput("path", f"{path} is not there; name a file, a zip or a folder")
        if place == vault or place in vault.parents:
            raise InvalidInput("path", f"the vault lies in {path}; name a folder without it")
        if vault in place.parents and (vault / INBOX_DROP) not in place.parents:
            raise InvalidInput("path", f"{path} lies in the vault, whose notes are known already")

    def run(self, path: Path, topic: str = "", *, dry_run: bool = False) -> Report:
        """Import what lies at a path; progress comes as events of the job `import`."""
        # without drafts nothing could be suggested
        order = self._order((str(path),), drafts=not (dry_run and topic))
        with self._serial:
            self._stop.clear()
            report = self._import(order, topic, dry_run, self._say)
        self.last = report
        return report

    def take_inbox(self) -> int:
        """Import what lies in `_inbox` and is complete; answers how many things were put away."""
        count = 0
        for name in self._inbox.waiting(time.monotonic()):
            if self._closing:
                break
            report = self.run(self.table.desk.files.path(f"{INBOX_DROP}/{name}"))
            place = self._inbox.put_away(name, report, time.monotonic())
            if place:
                count += 1
                log.info("%s: %s", place, report.words())
                self._events.publish("inbox", path=place, counts=report.counts, error=report.error)
        return count

    def follow(self) -> int:
        """Bring in what was added to the logs in followed folders; answers how many logs."""
        if not self.folders:
            return 0
        changed = self._followed.changed(self.folders, time.time())
        if not changed:
            return 0
        order = replace(self._order(tuple(changed)), kinds=LOGS)
        with self._serial:
            self._stop.clear()
            report = self._import(order, self.watch_topic, False, lambda _: None)
        if not report.again and not report.stopped:
            self._followed.done(changed)
        if report.changed or report.error:
            log.info("followed logs: %s %s", report.words(), report.error)
        return len(changed)

    def watch(self, folders: Sequence[str], topic: str) -> None:
        """Follow these folders from now on."""
        self.folders, self.watch_topic = tuple(folders), topic

    def stop(self) -> None:
        """End the import that is under way after the conversation at hand."""
        self._stop.set()

    def close(self) -> None:
        """End everything, for good, after the conversation at hand."""
        self._closing = True
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait until no import is under way."""
        if self._serial.acquire(timeout=seconds):
            self._serial.release()
            return True
        return False

    def _order(self, paths: tuple[str, ...], *, drafts: bool = True) -> Order:
        library, settings = self.table.desk.library, self.table.desk.settings
        known = frozenset(r.transcript_sha256 for r in library.memories() if r.transcript_sha256)
        bounds = Bounds(artifact=settings.artifacts.max_bytes)
        return Order(paths, settings.imports.secrets, known, drafts, bounds=bounds)

    def _import(
        self, order: Order, topic: str, dry_run: bool, say: Callable[[Progress], None]
    ) -> Report:
        suggest = self._suggesting() if not topic else lambda _: self._known_topic(topic)
        self._idle(False)
        try:
            report = run_import(
                self.table,
                order,
                lambda ready: _placed(ready, suggest),
                dry_run=dry_run,
                say=say,
                stopping=lambda: self._closing or self._stop.is_set(),
            )
        finally:
            self._idle(True)
        # what comes back from our own exports has no source here, and stays as it was
        new = [r for r in report.rows if r.what in ("imported", "updated") and r.source_id]
        new.sort(key=lambda row: row.created, reverse=True)
        if not dry_run:
            self.better([row.id for row in new[:BETTER]])
        return report

    def _known_topic(self, topic: str) -> str:
        """The path of the topic that is meant: one that exists by id or name, else a new one."""
        try:
            return self.table.desk.library.node(topic).path
        except NotFound:
            return topic.strip().strip("/")

    def _say(self, progress: Progress) -> None:
        self._events.publish(
            "progress",
            job="import",
            done=progress.done,
            total=progress.total,
            text=progress.words(),
            left=round(progress.left, 1) if progress.left is not None else None,
        )


def _placed(ready: Ready, suggest: Suggest) -> Conversation:
    """The conversation with its topic: its own, else one that is suggested."""
    conversation = ready.conversation
    if conversation.broad_topic or conversation.focused_topic:
        return conversation
    broad, _, focused = (suggest(ready) or f"{INBOX}/{GENERAL}").partition("/")
    return replace(conversation, broad_topic=broad, focused_topic=focused or GENERAL)
