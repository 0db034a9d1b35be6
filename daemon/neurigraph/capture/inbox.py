"""The vault's `_inbox`: what is dropped there is imported, then put away with what became of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from neurigraph.capture.report import Report
from neurigraph.errors import Duplicate
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.layout import INBOX_DROP, is_scratch, numbered

DONE, FAILED = "done", "failed"

PATIENCE = 60.0
"""Seconds that a file which seems cut off is given to become whole, from its last change on."""

_UNFINISHED = (".crdownload", ".part", ".partial", ".download", ".opdownload", ".filepart")
_STILL_WRITTEN = "still being written"


@dataclass(slots=True)
class _Seen:
    """A dropped file as it was last looked at, and since when it has been so."""

    signature: tuple[int, int, int]
    since: float
    cut_off: bool = False


class Inbox:
    """What lies in `_inbox`. Files that are still being written are left to be finished."""

    def __init__(self, files: VaultFiles, quiet_seconds: float, patience: float = PATIENCE) -> None:
        self._files = files
        self._quiet, self._patience = quiet_seconds, patience
        self._seen: dict[str, _Seen] = {}

    def waiting(self, now: float) -> list[str]:
        """The names of what can be imported now; `now` is a monotonic time in seconds."""
        names = self._names()
        self._seen = {name: seen for name, seen in self._seen.items() if name in names}
        ready = []
        for name in names:
            signature = _signature(self._files.path(f"{INBOX_DROP}/{name}"))
            seen = self._seen.get(name)
            if seen is None or seen.signature != signature:
                self._seen[name] = _Seen(signature, now)
                if self._quiet > 0:
                    continue
                seen = self._seen[name]
            quiet = self._patience if seen.cut_off else self._quiet
            if now - seen.since >= quiet:
                ready.append(name)
        return ready

    def put_away(self, name: str, report: Report, now: float) -> str:
        """Move what was imported to `done` or `failed`, there with the reasons beside it.

        Answers where it went, or nothing when it is left for a while: it seems cut off, or the
        vault could not be written to.
        """
        seen = self._seen.get(name)
        if report.stopped:
            return ""
        if seen is not None and report.again:
            seen.since, seen.cut_off = now, True
            return ""
        if _STILL_WRITTEN in report.error and seen is not None and not seen.cut_off:
            seen.cut_off = True
            return ""
        place = self._move(name, FAILED if report.failed else DONE)
        if report.failed:
            self._files.create(f"{place}.why.txt", _reasons(name, report).encode())
        self._seen.pop(name, None)
        return place

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._files.path(INBOX_DROP)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [
            entry.name
            for entry in entries
            if not (entry.name in (DONE, FAILED) and entry.is_dir())
            and not entry.name.startswith(".")
            and not is_scratch(entry.name)
            and not entry.name.lower().endswith(_UNFINISHED)
            # a link could lead anywhere, and come with a vault from somebody else
            and not entry.is_symlink()
        ]

    def _move(self, name: str, to: str) -> str:
        source, number = f"{INBOX_DROP}/{name}", 1
        target = f"{INBOX_DROP}/{to}/{name}"
        if not self._files.path(source).is_dir():
            return self._files.move(source, target)
        while True:
            try:
                return self._files.move_folder(source, target)
            except Duplicate:
                number += 1
                target = f"{INBOX_DROP}/{to}/{numbered(name, number)}"


def _signature(path: Path) -> tuple[int, int, int]:
    """What changes while a file or folder is being written: files, bytes, newest change."""
    if not path.is_dir():
        try:
            status = path.stat()
        except OSError:
            return 0, 0, 0
        return 1, status.st_size, status.st_mtime_ns
    count = size = newest = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                status = Path(folder, name).lstat()
            except OSError:
                continue
            count, size = count + 1, size + status.st_size
            newest = max(newest, status.st_mtime_ns)
    return count, size, newest


def _reasons(name: str, report: Report) -> str:
    """A page for people: what went wrong with a dropped file."""
    lines = [f"{name}: {report.words()}."]
    if report.error:
        lines.append(report.error)
    lines += [f"- {row.title}: {row.reason}" for row in report.rows if row.what == "failed"]
    lines += [
        "",
        "Mend or replace it and drop it into _inbox again; what was imported stays.",
    ]
    return "\n".join(lines) + "\n"
