"""What cooling remembers from one run of the daemon to the next: a small file of this machine."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LastCycle:
    """How the last cycle that had leave to cool went. `problem` is a line for people, or None."""

    at: datetime
    compressed: int = 0
    deepened: int = 0
    saved_bytes: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """Why cooling is stopped, the time on the clock when it was, and whether the clock ran ahead
    (or behind) then."""

    reason: str
    at: datetime
    ahead: bool


@dataclass(slots=True)
class Journal:
    """The file, as values. `checked` is the time on the clock at the last trusted cycle; `orphans`
    are folders whose note is gone, with the moment when that was first seen."""

    path: Path
    last: LastCycle | None = None
    checked: datetime | None = None
    held: Held | None = None
    orphans: dict[str, datetime] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: Path) -> Journal:
        """What the file says; a damaged or absent one says nothing."""
        try:
            return _read(path, json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return cls(path)

    def save(self) -> None:
        """Write it. A write that fails costs nothing but this memory, and is logged."""
        values: dict[str, Any] = {
            "checked": _text(self.checked),
            "orphans": {i: m.isoformat() for i, m in self.orphans.items()},
        }
        if (last := self.last) is not None:
            values["last"] = {
                "at": _text(last.at),
                "compressed": last.compressed,
                "deepened": last.deepened,
                "saved_bytes": last.saved_bytes,
                "problem": last.problem,
            }
        if (held := self.held) is not None:
            values["held"] = {"reason": held.reason, "at": _text(held.at), "ahead": held.ahead}
        with self._lock:
            try:
                new = self.path.with_name(self.path.name + ".new")
                new.write_text(json.dumps(values, indent=1), "utf-8")
                os.replace(new, self.path)  # noqa: PTH105
            except OSError as error:
                log.warning("the last cycle was not noted: %s", error)


def _read(path: Path, values: Mapping[str, Any]) -> Journal:
    last, held, checked = values.get("last"), values.get("held"), values.get("checked")
    return Journal(
        path,
        last=LastCycle(**last | {"at": datetime.fromisoformat(last["at"])}) if last else None,
        checked=datetime.fromisoformat(checked) if checked else None,
        held=Held(**held | {"at": datetime.fromisoformat(held["at"])}) if held else None,
        orphans={i: datetime.fromisoformat(m) for i, m in values.get("orphans", {}).items()},
    )


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
