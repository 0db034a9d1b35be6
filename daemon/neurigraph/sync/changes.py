"""Chooses which changed files of the vault are committed, and says in words what they are."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from neurigraph.sync.git import Status
from neurigraph.sync.pairing import memory_of, place_of
from neurigraph.vault.layout import INBOX_DROP, RECALL, TRASH, is_scratch, topic_of

LARGEST = 95_000_000
"""Bytes; most places that host git refuse files of 100 MB and more."""

HELD = "looks as if it held a secret, and stays on this machine"

UNREADABLE = "cannot be read; give yourself permission to read it"
NESTED = "is a git repository of its own, whose files git does not carry from here"

_NEVER = (".obsidian/", f"{TRASH}/", f"{INBOX_DROP}/", ".git/")
"""Obsidian's plugins keep keys in its folder; what was dropped for import is not yet a memory."""


@dataclass(slots=True)
class Chosen:
    """The changes to commit. `waiting` are fresh ones, for the next round; `left_out` are files
    that a person should know are not carried, with the reason."""

    changes: list[Status] = field(default_factory=list)
    waiting: list[Status] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def choose_changes(
    status: Iterable[Status],
    root: Path,
    held_out: Callable[[str], bool],
    now: datetime,
    quiet_seconds: float,
) -> Chosen:
    """Which changes are to be committed; what is younger than `quiet_seconds` waits.

    What belongs together goes together: all of a memory's folder waits while a part of it does,
    and nothing is said to be deleted while its new place may be among what waits.
    """
    chosen = Chosen()
    gone: list[Status] = []
    for one in status:
        path = one.path
        if path.startswith(_NEVER) or is_scratch(path.rpartition("/")[2]):
            continue
        if path.endswith("/"):
            chosen.left_out[path.rstrip("/")] = NESTED
            continue
        full = Path(root, path)
        try:
            found = full.lstat()
        except (FileNotFoundError, NotADirectoryError):
            if _surely_gone(root, path):
                gone.append(one)
            continue
        except OSError:
            continue  # what cannot be looked at is not gone
        if stat.S_ISREG(found.st_mode) and not os.access(full, os.R_OK):
            chosen.left_out[path] = UNREADABLE
            continue
        if held_out(path):
            chosen.left_out[path] = HELD
            continue
        age = now - datetime.fromtimestamp(found.st_mtime, UTC)
        if found.st_size > LARGEST:
            size = f"{LARGEST / 1e6:.0f} MB"
            chosen.left_out[path] = f"is larger than {size}, which git hosts refuse"
        elif timedelta(0) <= age < timedelta(seconds=quiet_seconds):
            chosen.waiting.append(one)
        else:
            chosen.changes.append(one)
    unsettled = {memory_of(p) for p in (*chosen.left_out, *(s.path for s in chosen.waiting))}
    unsettled -= {""}
    new_waits = any("?" in one.code for one in chosen.waiting)
    for one in gone:
        if new_waits and not _is_stored_otherwise(root, one.path):
            chosen.waiting.append(one)
        else:
            chosen.changes.append(one)
    together = [s for s in chosen.changes if memory_of(s.path) in unsettled]
    chosen.waiting += together
    chosen.changes = [s for s in chosen.changes if s not in together]
    return chosen


def _is_stored_otherwise(root: Path, path: str) -> bool:
    """Whether a file of a memory is gone only because it was compressed or unpacked."""
    plain = place_of(path)
    return bool(memory_of(path)) and any(Path(root, p).exists() for p in (plain, f"{plain}.gz"))


def _surely_gone(root: Path, path: str) -> bool:
    """Whether the folder that held a file can be read and holds neither it nor a placeholder."""
    folder = Path(root, path).parent
    name = path.rpartition("/")[2]
    while folder != root and not os.path.lexists(folder):
        name = folder.name
        folder = folder.parent
    try:
        with os.scandir(folder) as listing:
            names = {entry.name for entry in listing}
    except NotADirectoryError:
        return True  # a file has taken the folder's place
    except OSError:
        return False
    return name not in names and f".{name}.icloud" not in names


def describe(changes: Iterable[Status], machine: str) -> str:
    """A commit message: how many notes changed and where, then each file."""
    lines = []
    topics: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for one in sorted(changes, key=lambda s: s.path):
        verb = "add" if "?" in one.code or "A" in one.code else "change"
        verb = "remove" if "D" in one.code else verb
        lines.append(f"{verb} {one.path}")
        if one.path.startswith(f"{RECALL}/"):
            kinds["transcripts"] += 1
        elif one.path.lower().endswith(".md"):
            kinds["notes"] += 1
            topic = topic_of(one.path)
            topics[f"{topic.broad}/{topic.focused}"] += 1
        else:
            kinds["files"] += 1
    parts = [
        f"{kinds[kind]} {kind if kinds[kind] > 1 else kind[:-1]}"
        for kind in ("notes", "transcripts", "files")
        if kinds[kind]
    ]
    places = [name for name, _ in topics.most_common(3)]
    where = f" in {', '.join(places)}" if places else ""
    more = f" and {len(topics) - 3} more topics" if len(topics) > 3 else ""
    body = "\n".join(lines[:200])
    tail = f"\nand {len(lines) - 200} more" if len(lines) > 200 else ""
    return f"{machine}: {', '.join(parts)}{where}{more}\n\n{body}{tail}\n"
