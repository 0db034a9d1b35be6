"""Single steps on the disk, each with its platform's traps, for `files.py` alone."""

from __future__ import annotations

import errno
import os
import re
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from neurigraph.errors import Duplicate, InvalidInput, OutsideVault, VaultUnavailable
from neurigraph.vault.names import same_name

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")

_SYNC_ALL = 40
"""From this many files on, one sync of everything is faster than one of each."""


def checked(rel: str) -> str:
    """A path in its plain form; refused if its text alone leads out or is no path.

    The vault's own folder is the empty text.
    """
    if "\0" in rel or rel.startswith(("/", "\\")) or _DRIVE.match(rel):
        raise OutsideVault(rel.replace("\0", "\\0"))
    if os.name == "nt" and ("\\" in rel or ":" in rel):
        raise OutsideVault(rel)
    parts = rel.split("/")
    if ".." in parts:
        raise OutsideVault(rel)
    if not rel.isascii():
        try:
            os.fsencode(rel)
        except UnicodeEncodeError as error:
            raise InvalidInput("path", "it holds half a character; use another name") from error
    return "/".join(part for part in parts if part not in ("", "."))


def inside(root: str, rel: str) -> str:
    """The full path of `rel` under `root` (a real path); refused if a link on it leads out."""
    full = root.rstrip(os.sep)
    parts = checked(rel).split("/")
    for number, part in enumerate(parts):
        full = f"{full}{os.sep}{part}" if part else full
        if os.path.islink(full):  # noqa: PTH114
            rest = full + "".join(f"{os.sep}{below}" for below in parts[number + 1 :])
            real = os.path.realpath(rest)
            if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
                raise OutsideVault(rel)
            return rest
    return full or root


@contextmanager
def writing(root: str, rel: str) -> Iterator[None]:
    """Turns what the system says about a failed write into one line for people."""
    try:
        yield
    except FileNotFoundError as error:
        if Path(root).is_dir():
            raise
        raise VaultUnavailable(root, "its folder is gone; mount or restore it") from error
    except (FileExistsError, NotADirectoryError) as error:
        raise Duplicate(f"a file is in the way of {rel}; choose another name") from error
    except PermissionError as error:
        reason = f"no permission to write {rel or 'to it'}; give yourself that permission"
        raise VaultUnavailable(root, reason) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput("path", f"{rel[:60]}… is too long for this disk") from error
        reason = f"{rel} was not written ({error.strerror or error})"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = "the disk is full and nothing was written; free some space"
        elif error.errno == errno.EROFS:
            reason = "the disk is read-only and nothing was written"
        raise VaultUnavailable(root, reason) from error


def identity(folder: str) -> tuple[int, int] | None:
    """Which folder this is, whatever its name; None while it is not there."""
    try:
        status = os.stat(folder)  # noqa: PTH116
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def moment(status: os.stat_result) -> datetime:
    """When a file was last changed."""
    return datetime.fromtimestamp(status.st_mtime, UTC)


def holds(full: Path, expected: bytes) -> bool:
    """Whether a file is there and has exactly these bytes."""
    try:
        return full.read_bytes() == expected
    except FileNotFoundError:
        return False


def same_file(a: Path, b: Path) -> bool:
    """Whether two names that differ in case or Unicode form alone are one file here."""
    try:
        return same_name(str(a), str(b)) and a.samefile(b)
    except OSError:
        return False


def write_new(full: Path, data: bytes, mode: int | None) -> None:
    """Make a file that must not be there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(full, flags, 0o666), "wb", buffering=0) as file:  # noqa: PTH123
        if mode is not None and hasattr(os, "fchmod"):
            # some mounted file systems know no permissions
            with suppress(OSError):
                os.fchmod(file.fileno(), mode)
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def rename_without_overwriting(source: Path, target: Path) -> None:
    """Raises `FileExistsError` when the target is there, on every system.

    POSIX rename overwrites; a hard link does not. Where there are no links, the name is taken
    with an empty file first.
    """
    if os.name == "nt":
        source.rename(target)
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV):
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.replace(source, target)  # noqa: PTH105
        return
    source.unlink()


def sync(place: Path) -> None:
    """Have a file or folder written to the disk itself; a folder where the system can."""
    if os.name == "nt" and place.is_dir():
        return
    # gone again (moved, removed) by the time it is synced: there is nothing left to keep
    with suppress(FileNotFoundError):
        # Windows syncs only what may be written to
        descriptor = os.open(place, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            # some network file systems cannot sync a folder
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def sync_all(places: Collection[Path]) -> None:
    """Have all of them written to the disk itself. Raises what the disk says of any."""
    # on Linux alone does sync() wait for the disk; it tells no errors, so each is asked for its own
    if sys.platform == "linux" and len(places) > _SYNC_ALL:
        os.sync()
    for place in dict.fromkeys(places):
        sync(place)


class Batch:
    """Files and folders that were written and are synced together later."""

    def __init__(self) -> None:
        self._places: dict[Path, None] = {}
        self._lock = threading.Lock()

    def add(self, place: Path) -> None:
        """Sync this one too."""
        with self._lock:
            self._places[place] = None

    def sync(self) -> None:
        """Have all of them written to the disk itself."""
        sync_all(self._places)
