"""The only writer: every file of the vault is made, changed, moved and removed here.

A write goes to a temporary file in the same folder, is synced to disk, and takes its place by a
rename; what it replaces must still be what the caller read, and nothing is ever written over a
file that the caller did not name. `on_step` is called at every step, so that tests can end the
process there.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from neurigraph.clock import Clock
from neurigraph.errors import (
    ChangedElsewhere,
    Duplicate,
    InvalidInput,
    NotFound,
    OutsideVault,
    VaultUnavailable,
)
from neurigraph.vault.layout import TRASH, nfc, numbered, read_json, same_name

_REMEMBERED = 50_000
"""Own writes that are remembered; more than the largest import writes between two looks."""

_TEMPORARY = re.compile(r"\.neurigraph-[0-9a-f]{12}\.tmp")
_LEFTOVER_AGE = timedelta(hours=1)
_WORKSPACES = (".obsidian/workspace.json", ".obsidian/workspace-mobile.json")


class VaultFiles:
    """The files of one vault. Paths are relative to `root`, with forward slashes.

    Reading a file that is not there raises `FileNotFoundError`; a disk that cannot be written to
    raises `VaultUnavailable`; a path that leads out of the vault raises `OutsideVault`.
    """

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self.on_step: Callable[[str], None] = _no_step
        self._clock = clock
        self._started = clock()
        self._real = os.path.realpath(root)
        self._own: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()
        self._batch: _Batch | None = None

    # -- reading

    def path(self, rel: str) -> Path:
        """Where this file is; it need not exist. Links that stay in the vault are allowed."""
        full = Path(self._real, _checked(rel))
        real = os.path.realpath(full)
        if real != self._real and not real.startswith(self._real + os.sep):
            raise OutsideVault(rel)
        return full

    def read(self, rel: str) -> bytes:
        """The bytes of a file."""
        return self.path(rel).read_bytes()

    def exists(self, rel: str) -> bool:
        """Whether something has this path."""
        return os.path.lexists(self.path(rel))

    def digest(self, rel: str) -> str:
        """The SHA-256 of a file's bytes, as hex."""
        return hashlib.sha256(self.read(rel)).hexdigest()

    def actual(self, rel: str) -> str:
        """The path of what is on disk under this name, whatever its case and Unicode form.

        Parts that are not there stay as given.
        """
        found = ""
        for part in PurePosixPath(_checked(rel)).parts:
            here = f"{found}/{part}" if found else part
            if not os.path.lexists(Path(self._real, here)):
                with suppress(OSError):
                    names = sorted(os.listdir(Path(self._real, found)))  # noqa: PTH208
                    part = next((name for name in names if same_name(name, part)), part)
            found = f"{found}/{part}" if found else part
        return found

    # -- making and changing

    def create(
        self,
        rel: str,
        data: bytes,
        *,
        numbered_if_taken: bool = True,
        check: Callable[[bytes], bool] | None = None,
        like: str | None = None,
    ) -> str:
        """Make a file and answer its path; folders are made as needed. Nothing is overwritten.

        A taken name becomes `name 2.md` and so on, or raises `Duplicate` without
        `numbered_if_taken`. `check` is given the bytes read back from disk before the file takes
        its place, and refuses them with False. `like` names a file whose permissions are taken on.
        """
        full = self.path(rel)
        with _writing(self._real, rel):
            self._make_folders(full.parent)
            mode = self.path(like).stat().st_mode & 0o777 if like is not None else None
            temporary = self._write_temporary(full.parent, data, mode, sync=self._batch is None)
            try:
                if check is not None and not check(temporary.read_bytes()):
                    raise OSError(errno.EIO, "what was written does not read back the same")
                self.on_step("checked")
                rel = self._take_free_name(temporary, rel, numbered_if_taken)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            self.on_step("in place")
            self._remember(rel, data)
            self._settle_on_disk(self.path(rel))
        self.on_step("done")
        return rel

    def replace(self, rel: str, data: bytes, expected: bytes) -> None:
        """Give a file new bytes, if it still holds `expected`; else `ChangedElsewhere`."""
        full = Path(os.path.realpath(self.path(rel)))
        if not _holds(full, expected):
            raise ChangedElsewhere(rel)
        if data == expected:
            return
        with _writing(self._real, rel):
            mode = full.stat().st_mode & 0o7777
            # a crash must never leave an empty file where a full one was: synced in a batch too
            temporary = self._write_temporary(full.parent, data, mode, sync=True)
            try:
                if not _holds(full, expected):
                    raise ChangedElsewhere(rel)
                self.on_step("compared")
                self._exchange(temporary, full, rel, expected)
            finally:
                temporary.unlink(missing_ok=True)
            self.on_step("in place")
            self._remember(rel, data)
            self._settle_on_disk(full, data=False)
        self.on_step("done")

    def edit(self, rel: str, change: Callable[[bytes], bytes], attempts: int = 3) -> bytes:
        """Read a file, change its bytes, write them back; tried again when somebody was faster.

        Answers the bytes that the file then holds. Raises `ChangedElsewhere` after `attempts`.
        """
        for left in range(attempts - 1, -1, -1):
            before = self.read(rel)
            after = change(before)
            try:
                self.replace(rel, after, before)
            except ChangedElsewhere:
                if not left:
                    raise
            else:
                return after
        raise ChangedElsewhere(rel)

    def make_folder(self, rel: str) -> None:
        """Make a folder and those above it; one that exists is left as it is."""
        full = self.path(rel)
        with _writing(self._real, rel):
            self._make_folders(full)

    # -- moving and removing

    def move(self, src: str, dst: str) -> str:
        """Move a file and answer where it went: `dst`, or its next free name."""
        source = self.path(src)
        if not os.path.lexists(source):
            raise FileNotFoundError(errno.ENOENT, "there is no such file", src)
        target = self.path(dst)
        if src == dst:
            return dst
        with _writing(self._real, dst):
            self._make_folders(target.parent)
            own = None if source.is_symlink() or source.is_dir() else self.digest(src)
            if _same_file(source, target):
                # only the case or the form of the name changes
                source.rename(target)
                placed = dst
            else:
                placed = self._take_free_name(source, dst, numbered_if_taken=True)
            self.on_step("moved")
            if own is not None:
                self._remember_digest(placed, own)
            self._sync_folder(self.path(placed).parent)
            self._sync_folder(source.parent)
        return placed

    def move_folder(self, src: str, dst: str) -> str:
        """Move a folder with all that is in it; raises `Duplicate` when `dst` is taken."""
        source, target = self.path(src), self.path(dst)
        if not source.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", src)
        if f"{dst}/".startswith(f"{src}/") and src != dst:
            raise InvalidInput("folder", f"{src} cannot be moved into itself")
        if src == dst:
            return dst
        with _writing(self._real, dst):
            self._make_folders(target.parent)
            if os.path.lexists(target) and not _same_file(source, target):
                raise Duplicate(f"{dst} is already there; choose another name")
            source.rename(target)
            self.on_step("moved")
            self._sync_folder(target.parent)
            self._sync_folder(source.parent)
        return dst

    def trash(self, rel: str) -> str:
        """Move a file or folder to `.trash`, under its own path, and answer its place there."""
        return self._move_any(rel, f"{TRASH}/{rel}")

    def restore(self, trash_rel: str, to: str) -> str:
        """Bring something back from `.trash`; answers where it went, which is `to` when free."""
        if not trash_rel.startswith(f"{TRASH}/"):
            raise InvalidInput("path", f"{trash_rel} is not in the trash")
        if not self.exists(trash_rel):
            raise NotFound("thing in the trash", trash_rel)
        placed = self._move_any(trash_rel, to)
        self._drop_empty_folders(self.path(trash_rel).parent)
        return placed

    def remove_verified(self, rel: str, expected: bytes) -> None:
        """Remove a file that still holds exactly `expected`; else `ChangedElsewhere`."""
        full = self.path(rel)
        if not _holds(full, expected):
            raise ChangedElsewhere(rel)
        with _writing(self._real, rel):
            self.on_step("compared for removal")
            full.unlink()
            self.on_step("removed")
            self._sync_folder(full.parent)

    def clean_leftovers(self) -> list[str]:
        """Remove temporary files that an interrupted write left anywhere, and answer their paths.

        Only ours, and only those older than an hour or than this process' start.
        """
        removed = []
        before = self._clock() - _LEFTOVER_AGE
        if self._started > before:
            before = self._started
        for folder, _, names in os.walk(self._real):
            for name in names:
                if not _TEMPORARY.fullmatch(name):
                    continue
                full = Path(folder, name)
                with suppress(OSError):
                    if _moment(full.lstat()) < before:
                        full.unlink()
                        removed.append(full.relative_to(self._real).as_posix())
        return removed

    # -- who wrote, and when

    def is_own_write(self, rel: str, digest: str) -> bool:
        """Whether these bytes (SHA-256, hex) were lately written here by us."""
        with self._lock:
            return (nfc(rel), digest) in self._own

    def settled(self, rel: str, now: datetime, settle_seconds: float) -> bool:
        """Whether a background job may write: nobody else changed the file lately.

        A file that is not there, or cannot be read, is not settled.
        """
        try:
            age = now - _moment(self.path(rel).stat())
            # a time far in the future is a wrong clock, not a fresh edit
            if abs(age) >= timedelta(seconds=settle_seconds):
                return True
            return self.is_own_write(rel, self.digest(rel))
        except OSError:
            return False

    def open_in_obsidian(self) -> dict[str, datetime]:
        """The files that Obsidian has open, each with the moment when it last said so.

        Read from the leaves of its workspace files, which it writes when the layout changes. They
        name what was open last even after Obsidian was closed. Paths in composed form.
        """
        found: dict[str, datetime] = {}
        for place in _WORKSPACES:
            full = Path(self._real, place)
            try:
                written = _moment(full.stat())
            except OSError:
                continue
            for file in _leaves(read_json(full)):
                found[file] = max(written, found.get(file, written))
        return found

    # -- many at once

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Within it, new files are synced to disk together at the end, not one by one.

        Nothing made within counts as saved before the end. Batches may be nested.
        """
        with self._lock:
            outer = self._batch
            batch = outer or _Batch()
            self._batch = batch
        try:
            yield
        finally:
            if outer is None:
                with self._lock:
                    self._batch = None
                with _writing(self._real, ""):
                    batch.sync(self._real)

    # -- how it is done

    def _write_temporary(self, folder: Path, data: bytes, mode: int | None, *, sync: bool) -> Path:
        temporary = folder / f".neurigraph-{secrets.token_hex(6)}.tmp"
        self.on_step("start")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666)
        try:
            with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123
                if mode is not None and hasattr(os, "fchmod"):
                    # some mounted file systems know no permissions
                    with suppress(OSError):
                        os.fchmod(file.fileno(), mode)
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
                self.on_step("written")
                if sync:
                    os.fsync(file.fileno())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        self.on_step("synced")
        return temporary

    def _take_free_name(self, source: Path, rel: str, numbered_if_taken: bool) -> str:
        """Give a file (or folder) the path `rel`, or the next free one; never over another."""
        folder, slash, name = rel.rpartition("/")
        number, wanted = 1, rel
        while True:
            try:
                _rename_without_overwriting(source, self.path(wanted))
                return wanted
            except FileExistsError:
                if not numbered_if_taken:
                    raise Duplicate(f"{rel} is already there; choose another name") from None
                number += 1
                wanted = f"{folder}{slash}{numbered(name, number)}"

    def _exchange(self, temporary: Path, full: Path, rel: str, expected: bytes) -> None:
        """Rename over the target, and take it back if somebody wrote to it at that very moment."""
        kept = full.parent / f".neurigraph-{secrets.token_hex(6)}.tmp"
        try:
            os.link(full, kept)
        except OSError:
            # no hard links on this file system: the comparison just made has to do
            os.replace(temporary, full)  # noqa: PTH105
            return
        try:
            os.replace(temporary, full)  # noqa: PTH105
            self.on_step("replaced")
            if not _holds(kept, expected):
                os.replace(kept, full)  # noqa: PTH105
                raise ChangedElsewhere(rel)
        finally:
            kept.unlink(missing_ok=True)

    def _move_any(self, src: str, dst: str) -> str:
        if not self.path(src).is_dir() or self.path(src).is_symlink():
            return self.move(src, dst)
        folder, slash, name = dst.rpartition("/")
        number, wanted = 1, dst
        while True:
            try:
                return self.move_folder(src, wanted)
            except Duplicate:
                number += 1
                wanted = f"{folder}{slash}{name} {number}"

    def _make_folders(self, folder: Path) -> None:
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
            if len(str(folder)) < len(self._real):
                raise VaultUnavailable(self._real, "its folder is gone; mount or restore it")
        for made in reversed(missing):
            made.mkdir(exist_ok=True)
            self.on_step("folder made")
            self._sync_folder(made.parent)

    def _drop_empty_folders(self, folder: Path) -> None:
        trash = Path(self._real, TRASH)
        while folder != trash and trash in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _settle_on_disk(self, full: Path, data: bool = True) -> None:
        batch = self._batch
        if batch is not None and data:
            batch.add(full)
        else:
            self._sync_folder(full.parent)

    def _sync_folder(self, folder: Path) -> None:
        batch = self._batch
        if batch is not None:
            batch.add_folder(folder)
        else:
            _sync(folder)

    def _remember(self, rel: str, data: bytes) -> None:
        self._remember_digest(rel, hashlib.sha256(data).hexdigest())

    def _remember_digest(self, rel: str, digest: str) -> None:
        with self._lock:
            self._own[nfc(rel), digest] = None
            self._own.move_to_end((nfc(rel), digest))
            while len(self._own) > _REMEMBERED:
                self._own.popitem(last=False)


class _Batch:
    """What was written and not yet synced."""

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._folders: set[Path] = set()
        self._lock = threading.Lock()

    def add(self, file: Path) -> None:
        with self._lock:
            self._files.append(file)
            self._folders.add(file.parent)

    def add_folder(self, folder: Path) -> None:
        with self._lock:
            self._folders.add(folder)

    def sync(self, root: str) -> None:
        # on Linux alone does sync() wait for the disk; it beats thousands of single calls
        if sys.platform == "linux" and len(self._files) + len(self._folders) > 40:
            os.sync()
            return
        for place in (*self._files, *sorted(self._folders)):
            _sync(place)


def _no_step(_: str) -> None:
    """The hook of a vault that nobody tests."""


def _checked(rel: str) -> str:
    """A path in its plain form, refused if its text alone leads out."""
    if "\0" in rel or rel.startswith(("/", "\\")) or re.match(r"[A-Za-z]:[\\/]", rel):
        raise OutsideVault(rel.replace("\0", "\\0"))
    if os.sep == "\\" and ("\\" in rel or ":" in rel):
        raise OutsideVault(rel)
    path = PurePosixPath(rel)
    if ".." in path.parts:
        raise OutsideVault(rel)
    return "" if str(path) == "." else str(path)


@contextmanager
def _writing(root: str, rel: str) -> Iterator[None]:
    """Say in one line what keeps the disk from being written to."""
    try:
        yield
    except FileNotFoundError as error:
        if Path(root).is_dir():
            raise
        raise VaultUnavailable(root, "its folder is gone; mount or restore it") from error
    except FileExistsError as error:
        raise Duplicate(f"{rel} is in the way of a folder; choose another name") from error
    except PermissionError as error:
        reason = f"no permission to write {rel or 'to it'}; give yourself that permission"
        raise VaultUnavailable(root, reason) from error
    except OSError as error:
        reason = f"{rel} was not written ({error.strerror or error})"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = "the disk is full; nothing was written, free some space"
        elif error.errno == errno.EROFS:
            reason = "the disk is read-only; nothing was written"
        raise VaultUnavailable(root, reason) from error


def _holds(full: Path, expected: bytes) -> bool:
    try:
        return full.read_bytes() == expected
    except FileNotFoundError:
        return False


def _same_file(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b) and same_name(str(a), str(b))
    except OSError:
        return False


def _rename_without_overwriting(source: Path, target: Path) -> None:
    """Raises `FileExistsError` when the target is there, on every system.

    POSIX rename overwrites; a hard link does not. Where there are no links, the name is taken
    with an empty file first.
    """
    if os.name == "nt" or source.is_dir():
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "is already there", str(target))
        source.rename(target)
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENAMETOOLONG):
            raise
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.close(descriptor)
        os.replace(source, target)  # noqa: PTH105
        return
    source.unlink()


def _sync(place: Path) -> None:
    """Have a file or folder written to the disk itself; a folder where the system can."""
    if place.is_dir() and os.name == "nt":
        return
    # gone again (moved, removed) by the time it is synced: there is nothing left to keep
    with suppress(FileNotFoundError):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def _moment(status: os.stat_result) -> datetime:
    return datetime.fromtimestamp(status.st_mtime, UTC)


def _leaves(workspace: object) -> Iterator[str]:
    pending = [workspace]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item
        elif isinstance(item, dict):
            pending += item.values()
            outer = item.get("state")
            inner = outer.get("state") if isinstance(outer, dict) else None
            file = inner.get("file") if isinstance(inner, dict) else None
            if item.get("type") == "leaf" and isinstance(file, str) and file:
                yield nfc(file)
