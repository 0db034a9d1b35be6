"""The door to everything that comes in or goes out: imports, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from neurigraph.capture.parcel import Order
from neurigraph.capture.report import Report
from neurigraph.capture.run import Progress, Table, run_import
from neurigraph.edits.prepared import Ready
from neurigraph.edits.topics import GENERAL, INBOX
from neurigraph.errors import NotFound
from neurigraph.events import EventBus
from neurigraph.model import Conversation

Suggest = Callable[[Ready], str]
"""The path of the topic that a conversation fits, among those that exist; empty when none does."""


class Capture:
    """Runs imports. `idle(False)` is called when one begins, so that what can wait does."""

    def __init__(
        self,
        table: Table,
        events: EventBus,
        suggest: Suggest,
        idle: Callable[[bool], None],
    ) -> None:
        self._table, self._events = table, events
        self._suggest, self._idle = suggest, idle
        self._serial = threading.Lock()
        self._stop = threading.Event()
        self._closing = False
        self.last: Report | None = None

    def run(self, path: Path, topic: str = "", *, dry_run: bool = False) -> Report:
        """Import what lies at a path; progress comes as events of the job `import`."""
        order = self._order((str(path),), drafts=not dry_run)
        with self._serial:
            self._stop.clear()
            report = self._import(order, topic, dry_run, self._say)
        self.last = report
        return report

    def stop(self) -> None:
        """End the import that is under way after the conversation at hand."""
        self._stop.set()

    def close(self) -> None:
        """End everything, for good."""
        self._closing = True
        self._stop.set()

    def _order(self, paths: tuple[str, ...], *, drafts: bool = True) -> Order:
        library, settings = self._table.desk.library, self._table.desk.settings
        known = frozenset(r.transcript_sha256 for r in library.memories() if r.transcript_sha256)
        return Order(paths, settings.imports.secrets, known, drafts)

    def _import(
        self, order: Order, topic: str, dry_run: bool, say: Callable[[Progress], None]
    ) -> Report:
        self._idle(False)
        try:
            return run_import(
                self._table,
                order,
                lambda ready: self._placed(ready, topic),
                dry_run=dry_run,
                say=say,
                stopping=lambda: self._closing or self._stop.is_set(),
            )
        finally:
            self._idle(True)

    def _placed(self, ready: Ready, topic: str) -> Conversation:
        """The conversation with its topic: the one that was asked for, else one that fits."""
        conversation = ready.conversation
        if conversation.broad_topic or conversation.focused_topic:
            return conversation
        path = self._known_topic(topic) if topic else self._suggest(ready)
        broad, _, focused = (path or f"{INBOX}/{GENERAL}").partition("/")
        return replace(conversation, broad_topic=broad, focused_topic=focused or GENERAL)

    def _known_topic(self, topic: str) -> str:
        """The path of the topic that is meant: one that exists by id or name, else a new one."""
        try:
            return self._table.desk.library.node(topic).path
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
