"""The one module that talks to git: the person's own, with their settings and credentials.

It never asks at a prompt, never forces a push and never rewrites history; every call has a time
limit and hands its words over as a list.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from neurigraph.sync.git_process import (
    LOCKED,
    NETWORK,
    QUICK,
    Cancel,
    GitBusy,
    GitFailed,
    call,
    environment,
)

_SSH_OPTIONS = (
    "-oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=15 -oServerAliveCountMax=4"
)

LOCK_PATIENCE = 20.0
"""Seconds to wait for another git that holds the lock of the index."""

_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a tree of git: its mode (`100644`, …) and the id of its content."""

    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class Status:
    """A file that differs from the last commit. `code` is git's two letters, `??` for new."""

    path: str
    code: str


class Git:
    """The repository of one vault. Paths are relative to it, with forward slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._environment = environment()
        self._identity: dict[str, str] | None = None
        self._folder: Path | None = None
        self._network_calls = Cancel()

    def hang_up(self) -> None:
        """End what is under way with the remote, and begin nothing with it any more."""
        self._network_calls.end()

    # -- what is there

    def is_repository(self) -> bool:
        """Whether the vault has a `.git` of its own."""
        return (self.root / ".git").exists()

    def top(self) -> Path | None:
        """The folder of the repository that the vault is in, or None."""
        done = self._try("rev-parse", "--show-toplevel")
        return Path(_line(done.stdout)) if done.returncode == 0 else None

    def init(self, branch: str = "main") -> None:
        """Make a repository of the vault."""
        self._run("init", "--quiet", f"--initial-branch={branch}")

    @property
    def folder(self) -> Path:
        """Git's own folder for this working tree. Raises `GitFailed` when git refuses it."""
        if self._folder is None:
            self._folder = Path(_line(self._run("rev-parse", "--absolute-git-dir").stdout))
        return self._folder

    def is_locked(self) -> bool:
        """Whether another git is writing the index."""
        return (self.folder / "index.lock").exists()

    def unfinished(self) -> str:
        """What a person has begun and not finished (`merge`, `rebase`, …), or an empty text."""
        for name, what in (
            ("MERGE_HEAD", "merge"),
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
            ("BISECT_LOG", "bisect"),
        ):
            if (self.folder / name).exists():
                return what
        return ""

    def is_shallow(self) -> bool:
        """Whether the clone lacks the beginning of its history."""
        return (self.folder / "shallow").exists()

    def branch(self) -> str:
        """The branch that is checked out, also before its first commit; empty when detached."""
        done = self._try("symbolic-ref", "--quiet", "--short", "HEAD")
        return _line(done.stdout) if done.returncode == 0 else ""

    def commit_of(self, name: str) -> str:
        """The id of the commit that a name stands for, or an empty text."""
        done = self._try("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
        return _line(done.stdout) if done.returncode == 0 else ""

    def head_stamp(self) -> tuple[int, ...]:
        """Something that changes whenever another commit is checked out; cheap to ask for."""
        stamp: list[int] = []
        for name in ("HEAD", "logs/HEAD", "packed-refs", "ORIG_HEAD"):
            try:
                status = (self.folder / name).stat()
                stamp += [status.st_mtime_ns, status.st_size]
            except OSError:
                stamp += [0, 0]
        return tuple(stamp)

    def config(self, key: str) -> str:
        """A setting of git's for this repository, or an empty text."""
        done = self._try("config", "--get", key)
        return _line(done.stdout) if done.returncode == 0 else ""

    def set_config(self, key: str, value: str) -> None:
        """Set a setting of this clone alone."""
        self._run("config", "--local", key, value)

    def attribute(self, name: str, path: str) -> str:
        """What `.gitattributes` says of a path."""
        out = self._run("check-attr", "-z", name, "--", path).stdout.split(b"\0")
        return out[2].decode("utf-8", "replace") if len(out) > 2 else ""

    def remote_url(self, remote: str) -> str:
        """The address of a remote, or an empty text."""
        return self.config(f"remote.{remote}.url")

    def add_remote(self, remote: str, url: str) -> None:
        """Make a remote known."""
        self._run("remote", "add", "--", remote, url)

    # -- the working tree and commits

    def status(self) -> list[Status]:
        """All files that differ from the last commit; ignored ones are left out."""
        self._wait_for_lock()
        out = self._run(
            "-c",
            "core.untrackedCache=keep",
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=all",
        ).stdout
        return [
            Status(_path(line[3:]), line[:2].decode("ascii"))
            for line in out.split(b"\0")
            if len(line) > 3
        ]

    def stage(self, paths: Iterable[str]) -> None:
        """Put these files, as they are on disk or gone, into the index."""
        self._wait_for_lock()
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        self._run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", given=given)

    def has_staged(self) -> bool:
        """Whether the index differs from the last commit."""
        if not self.commit_of("HEAD"):
            return bool(self._run("ls-files", "-z").stdout)
        return self._try("diff-index", "--cached", "--quiet", "HEAD", "--").returncode != 0

    def commit(self, message: str) -> str:
        """Commit the index, hooks included, and answer the id."""
        self._wait_for_lock()
        words = ("commit", "--quiet", "--no-gpg-sign", "--file=-")
        try:
            self._run(*self._who(), *words, given=message.encode("utf-8", "replace"))
        except GitFailed:
            if self.has_staged():
                raise  # else another git has committed it meanwhile
        return self.commit_of("HEAD")

    def fast_forward(self, commit: str) -> None:
        """Check a later commit out. Git refuses, and changes nothing, where a file on disk is
        not what the last commit says."""
        self._wait_for_lock()
        self._run("update-index", "--refresh", "-q", accept=(0, 1))
        # a person's merge.autoStash would write conflict markers into notes instead of refusing
        words = ("merge", "--ff-only", "--no-autostash", "--quiet", "--no-stat", commit)
        self._run(*self._who(), *words)

    # -- history

    def merge_base(self, one: str, other: str) -> str:
        """A last commit that both come from, or an empty text."""
        done = self._try("merge-base", one, other)
        return _line(done.stdout) if done.returncode == 0 else ""

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` comes from `old`."""
        return self._try("merge-base", "--is-ancestor", old, new).returncode == 0

    def count(self, old: str, new: str) -> int:
        """How many commits `new` has that `old` has not."""
        done = self._try("rev-list", "--count", f"{old}..{new}" if old else new)
        digits = _line(done.stdout)
        return int(digits) if digits.isdigit() else 0

    def merges(self, old: str, new: str) -> list[list[str]]:
        """The merges among the commits that `new` has and `old` has not, each with its parents."""
        words = ["rev-list", "--merges", "--parents", "--max-count=200", new]
        out = self._run(*words, *([f"^{old}"] if old else [])).stdout
        return [line.split() for line in out.decode("ascii").splitlines()]

    def says(self, commit: str, words: str) -> bool:
        """Whether some text file of a commit holds these words."""
        return self._try("grep", "-qIF", "-e", words, commit).returncode == 0

    def ever_held(self, words: str, paths: Sequence[str]) -> list[str]:
        """The paths that any commit ever had of these, and of files with these words in them.

        Reads the whole history, which may take seconds.
        """
        asked = [["--", *paths]] if paths else []
        asked += [[f"-S{words}"]] if words else []
        found: dict[str, None] = {}
        for question in asked:
            listing = ("log", "--all", "--format=", "--name-only", "--relative", "-z", *question)
            out = self._run(*listing).stdout
            found |= {_path(raw): None for raw in out.split(b"\0") if raw.strip()}
        return sorted(found)

    def files_in(self, commit: str, folder: str) -> dict[str, Entry]:
        """The files of one folder in a commit, by path."""
        return _entries(self._run("ls-tree", "-r", "-z", commit, "--", f"{folder}/").stdout)

    def set_ref(self, name: str, commit: str) -> None:
        """Remember a commit under a name of our own."""
        self._run("update-ref", name, commit)

    # -- trees and contents

    def empty_tree(self) -> str:
        """The id of the tree that holds nothing."""
        done = self._try("rev-parse", "--show-object-format")
        return _EMPTY_TREES.get(_line(done.stdout), _EMPTY_TREES["sha1"])

    def tree(self, commit: str) -> dict[str, Entry]:
        """All files of a commit by path; submodules are among them with mode `160000`."""
        return _entries(self._run("ls-tree", "-r", "-z", commit).stdout) if commit else {}

    def changed(self, old: str, new: str) -> list[str]:
        """The paths in which two commits differ."""
        out = self._run(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", old or self.empty_tree(), new
        ).stdout
        return [_path(name) for name in out.split(b"\0") if name]

    def renames(self, old: str, new: str) -> dict[str, str]:
        """Files that git takes for renamed, by likeness: old path to new."""
        out = self._run(
            "diff-tree", "-r", "-z", "-M", "-l3000", "--diff-filter=R", "--name-status", old, new
        ).stdout.split(b"\0")
        return {
            _path(out[at + 1]): _path(out[at + 2])
            for at in range(0, len(out) - 2, 3)
            if out[at].startswith(b"R")
        }

    def contents(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The bytes behind these ids."""
        wanted = list(dict.fromkeys(oids))
        if not wanted:
            return {}
        out = self._run("cat-file", "--batch", given="".join(f"{o}\n" for o in wanted).encode())
        found, at, data = {}, 0, out.stdout
        for oid in wanted:
            end = data.index(b"\n", at)
            facts = data[at:end].split(b" ")
            if len(facts) != 3:
                raise GitFailed("cat-file", f"error: {oid} is missing from the repository")
            size = int(facts[2])
            found[oid] = data[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def store(self, contents: Sequence[bytes]) -> list[str]:
        """Keep these bytes in the repository and answer their ids."""
        if not contents:
            return []
        with tempfile.TemporaryDirectory(prefix="neurigraph-") as folder:
            places = []
            for number, data in enumerate(contents):
                place = Path(folder, str(number))
                place.write_bytes(data)
                places.append(place)
            given = "".join(f"{place}\n" for place in places).encode()
            out = self._run(
                "hash-object", "-w", "--no-filters", "--stdin-paths", given=given
            ).stdout
        return out.decode("ascii").split()

    def write_tree(self, start: str, changes: Mapping[str, Entry | None]) -> str:
        """A tree like that of the commit `start`, but for these files; None removes one."""
        with tempfile.TemporaryDirectory(prefix="neurigraph-") as folder:
            own = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            self._run("read-tree", start, more=own)
            gone = [p for p, e in changes.items() if e is None]
            kept = [(p, e) for p, e in changes.items() if e is not None]
            none = "0" * len(self.empty_tree())
            # what goes is taken away first: a file may become a folder
            lines = [f"0 {none}\t".encode() + os.fsencode(p) for p in gone]
            lines += [f"{e.mode} {e.oid}\t".encode() + os.fsencode(p) for p, e in kept]
            given = b"".join(line + b"\0" for line in lines)
            self._run("update-index", "-z", "--index-info", given=given, more=own)
            return _line(self._run("write-tree", more=own).stdout)

    def commit_tree(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A commit of this tree, which no branch names yet."""
        named = [word for parent in parents for word in ("-p", parent)]
        done = self._run(
            *self._who(),
            "commit-tree",
            "--no-gpg-sign",
            tree,
            *named,
            given=message.encode("utf-8", "replace"),
        )
        return _line(done.stdout)

    # -- the remote

    def remote_branches(self, remote: str) -> list[str]:
        """The branches of a remote, its main one first. Raises `GitFailed`."""
        out = self._run(
            "ls-remote", "--symref", "--", remote, "HEAD", "refs/heads/*",
            seconds=NETWORK, more=self._network(),
        ).stdout.decode("utf-8", "replace")  # fmt: skip
        main, found = "", []
        for line in out.splitlines():
            facts, _, name = line.partition("\t")
            if name == "HEAD" and facts.startswith("ref: refs/heads/"):
                main = facts.removeprefix("ref: refs/heads/")
            elif name.startswith("refs/heads/"):
                found.append(name.removeprefix("refs/heads/"))
        first = (main, "main", "master")
        return sorted(found, key=lambda b: (first.index(b) if b in first else 3, b))

    def begin_branch(self, branch: str) -> None:
        """Give a repository without a commit this branch to begin on."""
        self._run("symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def fetch(self, remote: str, branch: str) -> str:
        """Get a remote's branch and answer its commit; empty when it has no such branch.

        Raises `GitFailed`.
        """
        name = f"refs/remotes/{remote}/{branch}"
        words = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
        ]
        words += ["--", remote, f"+refs/heads/{branch}:{name}"]
        try:
            self._run(*words, seconds=NETWORK, more=self._network())
        except GitFailed as error:
            if not error.no_such_branch:
                raise
            return ""
        return self.commit_of(name)

    def push(self, remote: str, branch: str) -> None:
        """Push what is checked out, never by force. Raises `GitFailed`."""
        self._run(
            "push", "--quiet", "--", remote, f"HEAD:refs/heads/{branch}",
            seconds=NETWORK, more=self._network(),
        )  # fmt: skip

    def tidy(self) -> None:
        """Let git pack what it thinks is worth it."""
        self._try(
            "-c",
            "gc.auto=6700",
            "-c",
            "gc.autoDetach=false",
            "gc",
            "--auto",
            "--quiet",
            seconds=600,
        )

    # -- how it is done

    def _who(self) -> list[str]:
        """A stand-in for a name that the person has not told git."""
        if self._identity is None:
            known = self._try("var", "GIT_COMMITTER_IDENT").returncode == 0
            self._identity = (
                {} if known else {"user.name": "Neurigraph", "user.email": "sync@localhost"}
            )
        return [word for k, v in self._identity.items() for word in ("-c", f"{k}={v}")]

    def _network(self) -> dict[str, str]:
        """The person's own ssh, told to fail rather than ask."""
        if os.environ.get("GIT_SSH") and not os.environ.get("GIT_SSH_COMMAND"):
            return {}
        command = os.environ.get("GIT_SSH_COMMAND") or self.config("core.sshCommand") or "ssh"
        if not command.split("/")[-1].startswith("ssh"):
            return {}
        return {"GIT_SSH_COMMAND": f"{command} {_SSH_OPTIONS}"}

    def _wait_for_lock(self) -> None:
        deadline = time.monotonic() + LOCK_PATIENCE
        while self.is_locked():
            if time.monotonic() > deadline:
                raise GitBusy(self.folder / "index.lock")
            time.sleep(0.1)

    def _run(
        self,
        *words: str,
        given: bytes = b"",
        seconds: float = QUICK,
        accept: Sequence[int] = (0,),
        more: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        deadline = time.monotonic() + LOCK_PATIENCE
        while True:
            done = self._try(*words, given=given, seconds=seconds, more=more)
            if done.returncode in accept:
                return done
            said = (done.stderr + done.stdout[-2000:]).decode("utf-8", "replace")
            command = next((w for w in words if not w.startswith("-") and "=" not in w), "")
            locked = LOCKED.search(said)
            if locked is None:
                raise GitFailed(command, said)
            if time.monotonic() > deadline:
                raise GitBusy(self.folder / f"{locked['config'] or 'index'}.lock")
            time.sleep(0.2)

    def _try(
        self,
        *words: str,
        given: bytes = b"",
        seconds: float = QUICK,
        more: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        surroundings = self._environment | dict(more or {})
        cancel = self._network_calls if seconds == NETWORK else None
        return call(["-C", str(self.root), *words], given, seconds, surroundings, cancel)


def _entries(listing: bytes) -> dict[str, Entry]:
    found = {}
    for line in listing.split(b"\0"):
        if line:
            facts, _, path = line.partition(b"\t")
            mode, _, oid = facts.decode("ascii").split(" ")
            found[_path(path)] = Entry(mode, oid)
    return found


def _line(out: bytes) -> str:
    return os.fsdecode(out).strip("\n\r")


def _path(raw: bytes) -> str:
    return os.fsdecode(raw)
