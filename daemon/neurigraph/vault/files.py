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
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from neurigraph.clock import Clock
from neurigraph.errors import (
    ChangedElsewhere,
    Duplicate,
    InvalidInput,
    NotFound,
    NotWritable,
    OutsideVault,
    VaultUnavailable,
)
from neurigraph.vault import disk, obsidian
from neurigraph.vault.layout import TRASH, nfc, numbered, same_name
from neurigraph.vault.steps import Steps, alone

_REMEMBERED = 50_000
"""Own writes that are remembered; more than the largest import writes between two looks."""

_TEMPORARY = re.compile(r"\.neurigraph-[0-9a-f]{12}\.tmp")
_LEFTOVER_AGE = timedelta(hours=1)


class VaultFiles:
    """The files of one vault. Paths are relative to `root`, with forward slashes.

    A file that is not there raises `FileNotFoundError`, as do reads other errors of the system; a
    disk that cannot be written to raises `VaultUnavailable`, a path that leads out of the vault
    `OutsideVault`. May be used from several threads.
    """

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self.on_step: Callable[[str], None] = _no_step
        self._clock = clock
        self._started = clock()
        self._real = os.path.realpath(root)
        self._identity = disk.identity(self._real)
        self._own: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()
        self._local = threading.local()

    # -- reading

    def path(self, rel: str) -> Path:
        """Where this file is; it need not exist. Links that stay in the vault are allowed."""
        return Path(disk.inside(self._real, rel))

    def read(self, rel: str) -> bytes:
        """The bytes of a file."""
        return self.path(rel).read_bytes()

    def exists(self, rel: str) -> bool:
        """Whether something has this path; a folder that cannot be looked into raises."""
        try:
            self.path(rel).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def digest(self, rel: str) -> str:
        """The SHA-256 of a file's bytes, as hex."""
        return hashlib.sha256(self.read(rel)).hexdigest()

    def actual(self, rel: str) -> str:
        """The path of what is on disk under this name, whatever its case and Unicode form.

        Parts that are not there stay as given.
        """
        found = ""
        for part in filter(None, disk.checked(rel).split("/")):
            name = part
            if not os.path.lexists(Path(self._real, found, name)):
                with suppress(OSError):
                    names = sorted(os.listdir(Path(self._real, found)))  # noqa: PTH208
                    name = next((other for other in names if same_name(other, part)), part)
            found = f"{found}/{name}" if found else name
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
        its place, and refuses them with False; such a file is synced at once in a batch too.
        `like` names a file whose permissions are taken on.
        """
        return alone(
            self.creating(rel, data, numbered_if_taken=numbered_if_taken, check=check, like=like)
        )

    def creating(
        self,
        rel: str,
        data: bytes,
        *,
        numbered_if_taken: bool = True,
        check: Callable[[bytes], bool] | None = None,
        like: str | None = None,
    ) -> Steps[str]:
        """`create`, in steps."""
        rel = _named(rel)
        full = self.path(rel)
        with self._writing(rel):
            self._make_folders(full.parent)
            mode = self.path(like).stat().st_mode & 0o777 if like is not None else None
            batch = self._batch if check is None else None
            temporary = self._write_temporary(full.parent, data, mode)
            try:
                if batch is None:
                    yield temporary
                self.on_step("written")
                if check is not None and not check(temporary.read_bytes()):
                    raise OSError(errno.EIO, "what was written does not read back the same")
                self.on_step("checked")
                rel = self._take_free_name(temporary, rel, numbered_if_taken)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            self.on_step("in place")
            self._remember(rel, data)
            if batch is not None:
                batch.add(self.path(rel))
                batch.add(full.parent)
            else:
                yield full.parent
        self.on_step("done")
        return rel

    def replace(self, rel: str, data: bytes, expected: bytes) -> None:
        """Give a file new bytes, if it still holds `expected`; else `ChangedElsewhere`.

        A file that is marked read-only raises `NotWritable`. A link within the vault stays one.
        """
        alone(self.replacing(rel, data, expected))

    def replacing(self, rel: str, data: bytes, expected: bytes) -> Steps[None]:
        """`replace`, in steps."""
        rel = _named(rel)
        full = Path(os.path.realpath(self.path(rel)))
        if not disk.holds(full, expected):
            raise ChangedElsewhere(rel)
        if data == expected:
            return
        with self._writing(rel):
            mode = full.stat().st_mode & 0o7777
            if not mode & 0o200:
                raise NotWritable(rel, "it is marked read-only")
            temporary = self._write_temporary(full.parent, data, mode)
            try:
                # a crash must never leave an empty file where a full one was: in a batch too
                yield temporary
                self.on_step("written")
                if not disk.holds(full, expected):
                    raise ChangedElsewhere(rel)
                self.on_step("compared")
                # before it can be seen, so that whoever sees it finds it to be ours
                self._remember(rel, data)
                self._exchange(temporary, full, rel, expected)
            finally:
                temporary.unlink(missing_ok=True)
            self.on_step("in place")
            if self._batch is not None:
                self._batch.add(full.parent)
            else:
                yield full.parent
        self.on_step("done")

    def edit(self, rel: str, change: Callable[[bytes], bytes], attempts: int = 3) -> bytes:
        """Read a file, change its bytes, write them back; tried again when somebody was faster.

        Answers the bytes that the file then holds. Raises `ChangedElsewhere` after `attempts`.
        """
        return alone(self.editing(rel, change, attempts))

    def editing(
        self, rel: str, change: Callable[[bytes], bytes], attempts: int = 3
    ) -> Steps[bytes]:
        """`edit`, in steps."""
        while True:
            attempts -= 1
            before = self.read(rel)
            after = change(before)
            try:
                yield from self.replacing(rel, after, before)
            except ChangedElsewhere:
                if attempts <= 0:
                    raise
            else:
                return after

    def make_folder(self, rel: str) -> None:
        """Make a folder and those above it; one that exists is left as it is."""
        full = self.path(_named(rel))
        with self._writing(rel):
            self._make_folders(full)

    # -- moving and removing

    def move(self, src: str, dst: str) -> str:
        """Move a file and answer where it went: `dst`, or its next free name."""
        src, dst = _named(src), _named(dst)
        source, target = self.path(src), self.path(dst)
        if not os.path.lexists(source):
            raise FileNotFoundError(errno.ENOENT, "there is no such file", src)
        if src == dst:
            return dst
        with self._writing(dst):
            self._make_folders(target.parent)
            if source.is_file():
                # a move is ours too, wherever it ends up
                self._remember_digest(dst, digest := self.digest(src))
            if disk.same_file(source, target):
                # only the case or the form of the name changes
                source.rename(target)
                placed = dst
            else:
                placed = self._take_free_name(source, dst, numbered_if_taken=True)
            self.on_step("moved")
            if placed != dst and self.path(placed).is_file():
                self._remember_digest(placed, digest)
            self._sync_folder(target.parent)
            self._sync_folder(source.parent)
        return placed

    def move_folder(self, src: str, dst: str) -> str:
        """Move a folder with all that is in it; raises `Duplicate` when `dst` is taken."""
        src, dst = _named(src), _named(dst)
        source, target = self.path(src), self.path(dst)
        if not source.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", src)
        if src == dst:
            return dst
        if f"{dst}/".startswith(f"{src}/"):
            raise InvalidInput("folder", f"{src} cannot be moved into itself")
        with self._writing(dst):
            self._make_folders(target.parent)
            if os.path.lexists(target) and not disk.same_file(source, target):
                raise Duplicate(f"{dst} is already there; choose another name")
            source.rename(target)
            self.on_step("moved")
            self._sync_folder(target.parent)
            self._sync_folder(source.parent)
        return dst

    def trash(self, rel: str) -> str:
        """Move a file or folder to `.trash`, under its own path, and answer its place there."""
        return self._move_any(rel, f"{TRASH}/{_named(rel)}")

    def restore(self, trash_rel: str, to: str) -> str:
        """Bring something back from `.trash`; answers where it went, which is `to` when free."""
        trash_rel = _named(trash_rel)
        if not trash_rel.startswith(f"{TRASH}/"):
            raise InvalidInput("path", f"{trash_rel} is not in the trash")
        if not self.exists(trash_rel):
            raise NotFound("thing in the trash", trash_rel)
        placed = self._move_any(trash_rel, to)
        self._drop_empty_folders(self.path(trash_rel).parent)
        return placed

    def remove_verified(self, rel: str, expected: bytes) -> None:
        """Remove a file that still holds exactly `expected`; else `ChangedElsewhere`.

        After a power cut it may be there again.
        """
        full = self.path(_named(rel))
        if not disk.holds(full, expected):
            raise ChangedElsewhere(rel)
        with self._writing(rel):
            self.on_step("compared for removal")
            full.unlink()
            self.on_step("removed")

    def remove_for_good(self, rel: str) -> None:
        """Remove a file, or a folder with all in it, past any trash; links are not followed.

        Only for what a person has asked to be forgotten. What is gone already is no error.
        """
        full = self.path(_named(rel))
        with self._writing(rel):
            if full.is_dir() and not full.is_symlink():
                shutil.rmtree(full)
            else:
                full.unlink(missing_ok=True)
            self.on_step("removed")
            self._sync_folder(full.parent)
            self._drop_empty_folders(full.parent)

    def clean_leftovers(self) -> list[str]:
        """Remove temporary files that an interrupted write left anywhere, and answer their paths.

        Only ours, and only those older than an hour or than this object.
        """
        removed = []
        before = max(self._clock() - _LEFTOVER_AGE, self._started)
        for folder, inner, names in os.walk(self._real):
            with suppress(ValueError):
                inner.remove(".git")
            for name in names:
                if not _TEMPORARY.fullmatch(name):
                    continue
                full = Path(folder, name)
                with suppress(OSError):
                    if disk.moment(full.lstat()) < before:
                        full.unlink()
                        removed.append(full.relative_to(self._real).as_posix())
        return removed

    # -- who wrote, and when

    def expect_write(self, rel: str, digest: str) -> None:
        """Say that a file is about to hold these bytes (SHA-256, hex) by our doing."""
        self._remember_digest(rel, digest)

    def is_own_write(self, rel: str, digest: str) -> bool:
        """Whether these bytes (SHA-256, hex) were lately written here by us."""
        with self._lock:
            return (nfc(rel), digest) in self._own

    def settled(self, rel: str, now: datetime, settle_seconds: float) -> bool:
        """Whether a background job may write: nobody else changed the file lately.

        A file that is not there, or cannot be read, is not settled.
        """
        try:
            age = now - disk.moment(self.path(rel).stat())
            # a time far in the future is a wrong clock, not a fresh edit
            if abs(age) >= timedelta(seconds=settle_seconds):
                return True
            return self.is_own_write(rel, self.digest(rel))
        except OSError:
            return False

    def open_in_obsidian(self) -> dict[str, datetime]:
        """The files that Obsidian has open, each with the moment when it last said so.

        It says so when its layout changes, and its word stands after it was closed: for rule 4
        every one counts, as an opening only one said in the last two hours.
        """
        return obsidian.open_files(Path(self._real))

    # -- many at once

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Within it, this thread's new files are synced to disk together at the end.

        Nothing made within counts as saved before the end. Batches may be nested.
        """
        if self._batch is not None:
            yield
            return
        batch = self._local.batch = disk.Batch()
        try:
            yield
        finally:
            self._local.batch = None
            with self._writing(""):
                batch.sync()
            self.on_step("batch done")

    # -- how it is done

    @property
    def _batch(self) -> disk.Batch | None:
        batch: disk.Batch | None = getattr(self._local, "batch", None)
        return batch

    @contextmanager
    def _writing(self, rel: str) -> Iterator[None]:
        """Refuses a vault that is not mounted, and says in one line why a write failed."""
        with disk.writing(self._real, rel):
            identity = disk.identity(self._real)
            if identity != self._identity:
                with os.scandir(self._real) as listing:
                    if self._identity and next(listing, None) is None:
                        reason = "it is empty and not the folder it was; mount it again"
                        raise VaultUnavailable(self._real, reason)
                self._identity = identity
            yield

    def _write_temporary(self, folder: Path, data: bytes, mode: int | None) -> Path:
        """A new file with these bytes."""
        temporary = _temporary_in(folder)
        self.on_step("start")
        try:
            disk.write_new(temporary, data, mode)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return temporary

    def _take_free_name(self, source: Path, rel: str, numbered_if_taken: bool) -> str:
        """Give a file the path `rel`, or the next free one; never over another."""
        folder, slash, name = rel.rpartition("/")
        number, wanted = 1, rel
        while True:
            try:
                disk.rename_without_overwriting(source, self.path(wanted))
                return wanted
            except FileExistsError:
                if not numbered_if_taken:
                    raise Duplicate(f"{rel} is already there; choose another name") from None
                number += 1
                wanted = f"{folder}{slash}{numbered(name, number)}"

    def _exchange(self, temporary: Path, full: Path, rel: str, expected: bytes) -> None:
        """Rename over the target, and take it back if somebody wrote to it at that very moment."""
        kept = _temporary_in(full.parent)
        try:
            os.link(full, kept)
        except FileNotFoundError as error:
            raise ChangedElsewhere(rel) from error  # deleted a moment ago: it stays so
        except OSError:
            # no hard links on this file system: the comparison just made has to do
            os.replace(temporary, full)  # noqa: PTH105
            return
        try:
            os.replace(temporary, full)  # noqa: PTH105
            self.on_step("replaced")
            if not disk.holds(kept, expected):
                os.replace(kept, full)  # noqa: PTH105
                raise ChangedElsewhere(rel)
        finally:
            kept.unlink(missing_ok=True)

    def _move_any(self, src: str, dst: str) -> str:
        source = self.path(src)
        if not source.is_dir() or source.is_symlink():
            return self.move(src, dst)
        number, wanted = 1, dst
        while True:
            try:
                return self.move_folder(src, wanted)
            except Duplicate:
                number += 1
                wanted = f"{dst} {number}"

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
        while trash in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _sync_folder(self, folder: Path) -> None:
        if self._batch is not None:
            self._batch.add(folder)
        else:
            disk.sync(folder)

    def _remember(self, rel: str, data: bytes) -> None:
        self._remember_digest(rel, hashlib.sha256(data).hexdigest())

    def _remember_digest(self, rel: str, digest: str) -> None:
        with self._lock:
            self._own[nfc(rel), digest] = None
            self._own.move_to_end((nfc(rel), digest))
            while len(self._own) > _REMEMBERED:
                self._own.popitem(last=False)


def _no_step(_: str) -> None:
    """The hook of a vault that nobody tests."""


def _named(rel: str) -> str:
    """The plain form of a path that may be written to, which the vault's own folder is not."""
    clean = disk.checked(rel)
    if not clean:
        raise OutsideVault(rel or "the vault itself")
    return clean


def _temporary_in(folder: Path) -> Path:
    return folder / f".neurigraph-{secrets.token_hex(6)}.tmp"
