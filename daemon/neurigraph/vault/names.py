"""Ids and names: what notes, folders and files may be called, and what a name tells."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Callable, Container
from datetime import datetime

MEMORY_ID = re.compile(r"m-[0-9]{8}-[0-9a-f]{8}\Z")
NODE_ID = re.compile(r"n-[0-9a-f]{8}\Z")
STRANGER_ID = re.compile(r"p-[0-9a-f]{16}\Z")

NAME_BYTES = 120
"""The most bytes of a name that we make; leaves room for `.gz`, for suffixes and for deep folders
on systems that bound whole paths."""


# -- ids


def new_memory_id(now: datetime, taken: Container[str]) -> str:
    """An id for a new memory: `m-`, the local date, eight random hex digits."""
    day = now.astimezone().strftime("%Y%m%d")
    while (made := f"m-{day}-{secrets.token_hex(4)}") in taken:
        pass
    return made


def new_node_id(taken: Container[str]) -> str:
    """An id for a new node: `n-` and eight random hex digits."""
    while (made := f"n-{secrets.token_hex(4)}") in taken:
        pass
    return made


def stranger_id(path: str) -> str:
    """The id of a note that is not ours, from its path; it changes when the note moves."""
    return f"p-{_path_hash(path, 16)}"


def folder_node_id(path: str) -> str:
    """The id of a folder that has no node note, from its path."""
    return f"n-{_path_hash(path, 8)}"


def _path_hash(path: str, digits: int) -> str:
    return hashlib.sha256(nfc(path).encode("utf-8", "surrogatepass")).hexdigest()[:digits]


# -- names


def nfc(text: str) -> str:
    """Text in Unicode's composed form, in which paths are compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def same_name(a: str, b: str) -> bool:
    """Whether two names (or paths) mean the same thing to a person: form and case aside."""
    return a == b or nfc(a).casefold() == nfc(b).casefold()


_FORBIDDEN = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u2028\u2029\s]+')
_JOINING = "\u200c\u200d"  # inside emoji and in several scripts these carry meaning
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ .]*(?:\..*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_RESERVED = re.compile(r"\A_+(?=(?:recall|inbox)\Z)", re.IGNORECASE)


def safe_name(text: str, *, max_bytes: int = NAME_BYTES) -> str:
    r"""A file or folder name for any text, that every system and every wikilink can bear.

    Without ``\ / : * ? " < > | # ^ [ ]``, control and invisible characters, leading dot, trailing
    dot or space; no Windows device name, none of our own folders; composed form; at most
    `max_bytes` (16 or more) of UTF-8, cut between characters; never empty (`Untitled`).
    Applied to its own answer it changes nothing.
    """
    text = _FORBIDDEN.sub(" ", nfc(text))
    if not text.isascii():
        text = "".join(
            c for c in text if c in _JOINING or unicodedata.category(c) not in ("Cc", "Cf", "Cs")
        )
        text = nfc(_FORBIDDEN.sub(" ", nfc(text)))
    text = _RESERVED.sub("", _ends(_cut(text, max_bytes)))
    if _DEVICE.match(text):
        text = _ends(_cut(f"_{text}", max_bytes))
    return text or "Untitled"


def _ends(text: str) -> str:
    return text.lstrip(" ." + _JOINING).rstrip(" ." + _JOINING)


def _cut(text: str, max_bytes: int) -> str:
    data = text.encode("utf-8")
    return text if len(data) <= max_bytes else data[:max_bytes].decode("utf-8", "ignore")


def safe_file_name(text: str, *, max_bytes: int = NAME_BYTES) -> str:
    """`safe_name` for a file from elsewhere: only the last part of a path, its ending kept."""
    name = safe_name(re.split(r"[\\/]", text.rstrip("\\/"))[-1], max_bytes=4096)
    if len(name.encode("utf-8")) <= max_bytes:
        return name
    stem, ending = _split_ending(name)
    return _ends(_cut(stem, max_bytes - len(ending.encode("utf-8")))) + ending


def memory_file_name(created: datetime, title: str, taken: Callable[[str], bool]) -> str:
    """A free file name for a memory: local date and title, ending in `.md`.

    `taken` says whether a name is in use in the folder that it is meant for.
    """
    day = created.astimezone().date().isoformat()
    title = safe_name(title.removeprefix(day), max_bytes=NAME_BYTES - len(f"{day}  9999.md"))
    name = f"{day} {title}.md"
    if is_conflict_copy(name):
        name = name.replace("(", "").replace(")", "").replace(".sync-conflict", " sync-conflict")
    number = 1
    free = name
    while taken(free):
        number += 1
        free = numbered(name, number)
    return free


def numbered(name: str, number: int) -> str:
    """`plan.pdf` → `plan 2.pdf`; a long name is shortened so that the number fits."""
    stem, ending = _split_ending(name)
    suffix = f" {number}{ending}"
    return _cut(stem, 240 - len(suffix.encode("utf-8", "surrogatepass"))).rstrip(" .") + suffix


def _split_ending(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    if not stem or not dot or not 0 < len(ending) <= 16 or " " in ending:
        return name, ""
    for double in (".tar", ".md"):
        if stem.lower().endswith(double) and len(stem) > len(double):
            return stem[: -len(double)], stem[-len(double) :] + dot + ending
    return stem, dot + ending


# -- what a name tells


_CONFLICT = re.compile(
    r"""\([^()]*(?:\([^()]*\)[^()]*)*conflicted\ copy\b[^)]*\d{4}    # Dropbox, Nextcloud, Obsidian
      | _conflict-\d{8}-\d{6}                                       # ownCloud
      | \.sync-conflict-\d{8}-\d{6}                                 # Syncthing
      | \(sfconflict\ .+\d{4}-\d{2}-\d{2}                           # Seafile
      | \(conflict\ from\ .+\ \d{4}-\d{2}-\d{2}[^()]*\)""",  # ours
    re.IGNORECASE | re.VERBOSE,
)


def is_conflict_copy(name: str) -> bool:
    """Whether a sync tool made this file because two machines changed one note.

    Only names that no person would give are known: iCloud's `note 2.md`, OneDrive's `note-PC.md`
    and Google Drive's `note (1).md` cannot be told from a person's own.
    """
    return "conflict" in name.lower() and _CONFLICT.search(name) is not None


_SCRATCH = re.compile(
    r"4913|.*~|\.#.*|#.*#|~\$.*|\..*\.sw[a-z]|.*\.(?:tmp|temp|part|partial|crswap|crdownload)"
    r"|\.goutputstream-.*|.*\.sb-[0-9a-f]{8}-[A-Za-z0-9]{6}",
    re.IGNORECASE | re.DOTALL,
)


def is_scratch(name: str) -> bool:
    """Whether this is a file that editors and writers make for a moment (ours included)."""
    return _SCRATCH.fullmatch(name) is not None


def placeholder_of(name: str) -> str | None:
    """`.Diet.md.icloud` → `Diet.md`: the file that iCloud has taken off this disk, else None."""
    if name.startswith(".") and name.endswith(".icloud") and len(name) > 8:
        return name[1:-7]
    return None
