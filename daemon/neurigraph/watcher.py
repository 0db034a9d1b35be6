"""Follows what editors, git and sync tools do to the vault, in quiet batches.

An editor saves in many ways: in place, by a temporary file and a rename, by moving the old file
away first. None is believed at once: paths are collected until nothing new has come for a moment,
and what is then on disk counts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from neurigraph.vault.layout import is_scratch

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.2
"""A deletion within this time of a creation is an editor's way of saving."""

LONGEST_SECONDS = 1.0
"""A busy vault is looked at this often nevertheless."""

RESCAN_ABOVE = 2_000
"""A burst of more paths than this is a checkout or a copy: compare the whole disk instead."""

ROOT_SECONDS = 2.0
"""How often the vault's folder is looked at: one that was mounted again is not watched any more."""

_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
]
"""Opened and closed events are left out: rescans cause them, and they would overflow the queue."""

Look = Callable[[set[str]], None]
"""Is told the changed paths, relative to the vault; an empty set means: look at everything."""


class Watcher(FileSystemEventHandler):
    """Watches a vault and tells `look` which paths changed."""

    def __init__(self, root: Path, look: Look) -> None:
        self._root, self._look = root, look
        self._observer = Observer()
        self._changed = threading.Condition()
        self._paths: set[str] = set()
        self._first = self._last = 0.0
        self._everything = False
        self._stopping = False
        self._watched: tuple[int, int] | None = None
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to watch. Raises OSError where the system's limit of watches is reached."""
        self._watch()
        self._thread.start()

    def _watch(self) -> None:
        self._watched = _identity(self._root)
        self._observer.schedule(self, str(self._root), recursive=True, event_filter=_EVENTS)
        self._observer.start()

    def stop(self) -> None:
        """Stop watching; what was collected is dropped, the next start finds it."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join(timeout=5)
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Collect the path of one event, and of its destination."""
        for raw in (event.src_path, getattr(event, "dest_path", "")):
            if not raw:
                continue
            try:
                path = Path(_text(raw)).relative_to(self._root).as_posix()
            except ValueError:
                continue
            if self._interests(path, event.is_directory):
                self._note(path)

    def _interests(self, path: str, directory: bool) -> bool:
        parts = path.split("/")
        if path == "." or is_scratch(parts[-1]):
            return False
        if parts[0] == "_inbox":
            return True
        if any(part.startswith(".") for part in parts):
            # leaves of Obsidian's workspace count as opened; all else in dot-folders is not ours
            return parts[0] == ".obsidian" and parts[-1].startswith("workspace")
        if parts[0] == "_recall":
            return len(parts) > 1
        return directory or path.lower().endswith(".md") or path == "neurigraph.toml"

    def _note(self, path: str) -> None:
        with self._changed:
            now = time.monotonic()
            if not self._paths:
                self._first = now
            self._last = now
            self._paths.add(path)
            if len(self._paths) > RESCAN_ABOVE:
                self._everything = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._paths or self._everything or self._stopping):
                    if not self._changed.wait(ROOT_SECONDS):
                        self._watch_again_if_replaced()
                while not self._stopping:
                    now = time.monotonic()
                    due = min(self._last + QUIET_SECONDS, self._first + LONGEST_SECONDS)
                    if now >= due and not self._git_is_busy(now):
                        break
                    self._changed.wait(max(due - now, 0.05))
                if self._stopping:
                    return
                paths = set() if self._everything else self._paths
                self._paths, self._everything = set(), False
            try:
                self._look(paths)
            except Exception:  # a loop that must survive whatever one batch holds
                log.exception("a change on disk could not be taken up; the next comparison will")

    def _watch_again_if_replaced(self) -> None:
        """The system follows a folder, not its name: take up the one that has the name now."""
        now = _identity(self._root)
        if now is None or now == self._watched:
            return
        log.info("the vault's folder was replaced; it is watched anew")
        self._observer.stop()
        self._observer = Observer()
        try:
            self._watch()
        except OSError as error:
            self._watched = None  # tried again
            log.warning("the vault cannot be watched: %s", error)
        else:
            self._everything = True

    def _git_is_busy(self, now: float) -> bool:
        """Git writes many files under its lock; a stale lock does not stop us for long."""
        return now - self._first < 60 and (self._root / ".git" / "index.lock").exists()


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _text(path: str | bytes) -> str:
    return path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else path
