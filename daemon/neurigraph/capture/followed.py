"""Folders of session logs that are followed: which logs have changed and are quiet now."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neurigraph.importers.kinds import Kind

LOGS = frozenset(
    {Kind.CLAUDE_CODE, Kind.CODEX, Kind.CODEX_DOCUMENT, Kind.GEMINI, Kind.GEMINI_DOCUMENT}
)
"""What is taken from followed folders; whatever else lies there is left alone."""

LONGEST = 300.0
"""Seconds after which a log that never rests is looked at nevertheless."""

AT_ONCE = 200
"""Logs that are read in one go."""

_ENDINGS = (".jsonl", ".json")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells that a log has changed: its size in bytes and its mtime in nanoseconds."""

    size: int
    mtime_ns: int


class Followed:
    """Remembers in a file of the state directory how each log was when it was last read.

    Losing that file costs a reading of all logs, which changes nothing.
    """

    def __init__(self, memory: Path, quiet_seconds: float) -> None:
        self._memory, self._quiet = memory, quiet_seconds
        self._read: dict[str, Stamp] = _load(memory)
        self._growing: dict[str, float] = {}

    def changed(self, folders: Sequence[str], now: float) -> dict[str, Stamp]:
        """The logs to be read now, each as it is; `now` is in seconds since the epoch.

        A folder that is not there, or cannot be read, has none.
        """
        found: dict[str, Stamp] = {}
        for folder in folders:
            for path, stamp in _logs(Path(folder).expanduser()):
                if self._read.get(path) == stamp:
                    continue
                since = self._growing.setdefault(path, now)
                if now - stamp.mtime_ns / 1e9 >= self._quiet or now - since >= LONGEST:
                    found[path] = stamp
                if len(found) >= AT_ONCE:
                    return found
        return found

    def done(self, read: dict[str, Stamp]) -> None:
        """These were read as they were then."""
        for path in read:
            self._growing.pop(path, None)
        self._read.update(read)
        draft = self._memory.with_name(self._memory.name + ".new")
        stamps = {path: [stamp.size, stamp.mtime_ns] for path, stamp in self._read.items()}
        draft.write_text(json.dumps(stamps), "utf-8", "surrogatepass")
        draft.replace(self._memory)


def _logs(folder: Path) -> Iterable[tuple[str, Stamp]]:
    for place, below, names in os.walk(folder):
        below[:] = sorted(below)
        for name in sorted(names):
            if not name.endswith(_ENDINGS) or name.startswith("."):
                continue
            try:
                status = os.stat(os.path.join(place, name), follow_symlinks=False)  # noqa: PTH116, PTH118
            except OSError:
                continue
            if status.st_size:
                yield os.path.join(place, name), Stamp(status.st_size, status.st_mtime_ns)  # noqa: PTH118


def _load(memory: Path) -> dict[str, Stamp]:
    try:
        known = json.loads(memory.read_text("utf-8", "surrogatepass"))
        return {path: Stamp(int(size), int(mtime)) for path, (size, mtime) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
