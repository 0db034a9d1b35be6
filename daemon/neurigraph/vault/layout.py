"""Names and places: where things are in the vault, and what is found there.

Paths are relative to the vault, with forward slashes, exactly as they stand on disk; Unicode form
and case matter only when two of them are compared.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from neurigraph.errors import VaultUnavailable
from neurigraph.vault.names import (
    MEMORY_ID,
    NODE_ID,
    STRANGER_ID,
    folder_node_id,
    is_conflict_copy,
    is_scratch,
    memory_file_name,
    new_memory_id,
    new_node_id,
    nfc,
    numbered,
    placeholder_of,
    safe_file_name,
    safe_name,
    same_name,
    stranger_id,
)
from neurigraph.vault.obsidian import template_folders

__all__ = [
    "GENERAL",
    "INBOX",
    "INBOX_DROP",
    "MEMORY_ID",
    "NODE_ID",
    "RECALL",
    "STRANGER_ID",
    "TRASH",
    "Exclusions",
    "Folder",
    "Seen",
    "Topic",
    "Unreadable",
    "folder_node_id",
    "is_conflict_copy",
    "is_offline",
    "is_placeholder",
    "is_scratch",
    "memory_file_name",
    "new_memory_id",
    "new_node_id",
    "nfc",
    "numbered",
    "placeholder_of",
    "recall_dir",
    "safe_file_name",
    "safe_name",
    "same_name",
    "scan",
    "stranger_id",
    "template_folders",
    "topic_of",
    "transcript_link",
    "transcript_path",
]

RECALL, INBOX_DROP, TRASH = "_recall", "_inbox", ".trash"
INBOX, GENERAL = "Inbox", "General"


@dataclass(frozen=True, slots=True)
class Topic:
    """Where a note belongs: the names of its broad and its focused node."""

    broad: str
    focused: str | None


def topic_of(rel_path: str) -> Topic:
    """The topic of a note, from its path.

    Folders deeper than two belong to the focused node above them; notes directly in a broad
    folder to `General`, notes at the root to `Inbox`, `General`.
    """
    folders = rel_path.split("/")[:-1]
    if not folders:
        return Topic(INBOX, GENERAL)
    return Topic(folders[0], folders[1] if len(folders) > 1 else GENERAL)


def recall_dir(memory_id: str) -> str:
    """The folder that holds a memory's transcript and artifacts."""
    return f"{RECALL}/{memory_id}"


def transcript_path(memory_id: str) -> str:
    """The path of a memory's plain transcript."""
    return f"{RECALL}/{memory_id}/transcript.md"


def transcript_link(memory_id: str) -> str:
    """The wikilink that a note carries while the transcript is plain."""
    return f"[[{RECALL}/{memory_id}/transcript|Transcript]]"


class Exclusions:
    """What in the vault is neither a note nor a topic.

    Always: names that begin with a dot, `_recall`, `_inbox`. Then template folders, and patterns
    from the settings: a path names a file or folder with all that is in it, relative to the
    vault; with `*`, `?` or `[…]` it is matched against every path and every folder above it.
    Case and Unicode form are ignored.
    """

    def __init__(self, patterns: Iterable[str] = (), template_folders: Iterable[str] = ()) -> None:
        places = {RECALL, INBOX_DROP}
        globs = []
        for pattern in (*patterns, *template_folders):
            clean = nfc(pattern.replace("\\", "/")).strip().strip("/").casefold()
            clean = clean.removeprefix("./")
            if not clean or clean == ".":
                continue
            if any(c in clean for c in "*?["):
                globs.append(fnmatch.translate(clean.removesuffix("/**").removesuffix("/*")))
                if clean.startswith("**/"):
                    globs.append(fnmatch.translate(clean[3:].removesuffix("/**")))
            else:
                places.add(clean)
        self._places = frozenset(places)
        self._globs = re.compile("|".join(globs)) if globs else None

    def covers(self, rel_path: str) -> bool:
        """Whether this file or folder, or one that it is in, is left out."""
        end = rel_path.find("/")
        while end >= 0:
            if self.names(rel_path[:end]):
                return True
            end = rel_path.find("/", end + 1)
        return self.names(rel_path)

    def names(self, rel_path: str) -> bool:
        """Whether it is this very file or folder that is left out, not one that it is in."""
        if rel_path.startswith(".", rel_path.rfind("/") + 1):
            return True
        path = nfc(rel_path).casefold()
        return path in self._places or (self._globs is not None and bool(self._globs.match(path)))


_OFFLINE = 0x1000 | 0x40000 | 0x400000
"""Windows file attributes OFFLINE, RECALL_ON_OPEN and RECALL_ON_DATA_ACCESS (WinNT.h)."""


def is_placeholder(path: Path) -> bool:
    """Whether the file's content is in a cloud and not on this disk; reading would fetch it."""
    if placeholder_of(path.name) is not None:
        return True
    try:
        return is_offline(path.lstat())
    except OSError:
        return False


def is_offline(status: os.stat_result) -> bool:
    """The same from a file's status; only Windows says so there."""
    return bool(getattr(status, "st_file_attributes", 0) & _OFFLINE)


class Seen(NamedTuple):
    """A markdown file as it stands on disk. `size` in bytes."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class Folder(NamedTuple):
    """A folder that may be a topic, with or without notes."""

    path: str


class Unreadable(NamedTuple):
    """A file or folder that could not be looked at, and what a person can do about it.

    With `unknown` nothing may be concluded about it or what is under it: it counts as being as it
    was. Without, it is there and is certainly not a note that we read (a link, a broken name).
    """

    path: str
    reason: str
    unknown: bool = True


def scan(
    root: Path, exclusions: Exclusions, under: str = ""
) -> Iterator[Seen | Folder | Unreadable]:
    """Every note and every folder of the vault or of one folder in it, in the order of names.

    `under` itself is not among the folders. Links are not followed. Raises `VaultUnavailable`
    when the vault's own folder cannot be read; another folder that cannot is `Unreadable`.
    """
    real = os.path.realpath(root)
    if not under:
        try:
            with os.scandir(real):
                pass
        except OSError as error:
            raise VaultUnavailable(str(root), _why(error)) from error
    elif os.path.realpath(_join(real, under)) != _join(real, under):
        # reached through a link: as a whole scan would not go there, neither does this one
        yield from _link(real, under, is_note=False)
        return
    pending = [under]
    while pending:
        folder = pending.pop()
        inner: list[str] = []
        yield from _look_into(real, folder, exclusions, inner)
        pending += reversed(inner)


def _look_into(
    real: str, folder: str, exclusions: Exclusions, inner: list[str]
) -> Iterator[Seen | Folder | Unreadable]:
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(_join(real, folder)) as listing:
            entries.extend(listing)
    except OSError as error:
        # what was listed before the failure is looked at; all else here stays unknown
        yield Unreadable(folder, _why(error))
    entries.sort(key=_name)
    prefix = f"{folder}/" if folder else ""
    for entry in entries:
        name = entry.name
        path = prefix + name
        is_note = name[-3:].lower() == ".md"
        try:
            if name.startswith("."):
                hidden = placeholder_of(name) or ""
                if hidden.lower().endswith(".md") and not exclusions.names(prefix + hidden):
                    yield Unreadable(prefix + hidden, _IN_CLOUD)
                continue
            if entry.is_symlink():
                if not exclusions.names(path):
                    yield from _link(real, path, is_note)
                continue
            if not is_note and not entry.is_dir(follow_symlinks=False):
                continue
            if exclusions.names(path) or is_scratch(name):
                continue
            if not name.isascii() and not _is_text(name):
                yield Unreadable(
                    path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
                    "its name is not valid UTF-8; rename it",
                    unknown=False,
                )
            elif entry.is_dir(follow_symlinks=False):
                inner.append(path)
                yield Folder(path)
            elif entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if is_offline(status):
                    yield Unreadable(path, _IN_CLOUD)
                else:
                    inode = status.st_ino or entry.inode()
                    yield Seen(path, status.st_size, status.st_mtime_ns, inode)
        except OSError as error:
            yield Unreadable(path, _why(error))


_IN_CLOUD = "is in the cloud and not on this disk; keep it downloaded to have it found"


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _join(real: str, path: str) -> str:
    return os.path.join(real, *path.split("/")) if path else real  # noqa: PTH118


def _link(real: str, path: str, is_note: bool) -> Iterator[Unreadable]:
    target = os.path.realpath(_join(real, path))
    if not is_note and not os.path.isdir(target):  # noqa: PTH112
        return
    if target == real or target.startswith(real + os.sep):
        reason = "is a link to another place in the vault, which is found there"
    else:
        reason = "is a link that leads out of the vault and is not followed; copy what it points to"
    yield Unreadable(path, reason, unknown=False)


def _why(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "cannot be read; give yourself permission to read it"
    if isinstance(error, FileNotFoundError):
        return "is not there; mount or restore it"
    return f"cannot be read ({error.strerror or error})"
