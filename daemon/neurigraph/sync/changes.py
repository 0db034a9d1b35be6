"""Chooses which changed files of the vault are committed, and says in words what they are."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from neurigraph.sync.git import Status
from neurigraph.vault.layout import INBOX_DROP, RECALL, TRASH, is_scratch, topic_of

LARGEST = 95_000_000
"""Bytes; most places that host git refuse files of 100 MB and more."""

_NEVER = (".obsidian/", f"{TRASH}/", f"{INBOX_DROP}/", ".git/")
"""Obsidian's plugins keep keys in its folder; what was dropped for import is not yet a memory."""


def wanted(
    status: Iterable[Status],
    root: Path,
    held_out: Callable[[str], bool],
    now: datetime,
    quiet_seconds: float,
) -> tuple[list[Status], dict[str, str]]:
    """The changes to commit, and those that a person should know are left out, with the reason.

    What was changed less than `quiet_seconds` ago waits for the next round.
    """
    chosen: list[Status] = []
    left_out: dict[str, str] = {}
    for one in status:
        path = one.path
        if path.startswith(_NEVER) or path.endswith("/") or is_scratch(path.rpartition("/")[2]):
            continue
        if held_out(path):
            left_out[path] = "looks as if it held a secret, and stays on this machine"
            continue
        try:
            found = Path(root, path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            if _surely_gone(root, path):
                chosen.append(one)
            continue
        except OSError:
            continue  # what cannot be looked at is not gone
        age = now - datetime.fromtimestamp(found.st_mtime, UTC)
        if found.st_size > LARGEST:
            left_out[path] = f"is larger than {LARGEST / 1e6:.0f} MB, which git hosts refuse"
        elif not timedelta(0) <= age < timedelta(seconds=quiet_seconds):
            chosen.append(one)
    return chosen, left_out


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
