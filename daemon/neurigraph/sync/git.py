"""The one module that talks to git: the person's own, with their settings and credentials.

It never asks at a prompt, never forces a push and never rewrites history; every call has a time
limit and hands its words over as a list.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from neurigraph.errors import NeurigraphError
from neurigraph.sync.merge_note import Favour

QUICK, NETWORK = 60.0, 300.0
"""Seconds that a call on this machine, and one to the remote, may take."""

LOCK_PATIENCE = 20.0
"""Seconds to wait for another git that holds the lock of the index."""

OLDEST = (2, 30)

_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_OFFLINE = re.compile(
    r"could ?n[o']t resolve|connection (?:refused|reset|timed out|closed)|timed out"
    r"|network is (?:unreachable|down)|no route to host|temporary failure in name"
    r"|operation timed out|failed to connect|unable to connect|could not read from remote"
    r"|does not appear to be a git repository|early eof|the requested url returned error: 5"
    r"|unable to access|repository '.*' does not exist|hung up",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"authentication failed|could not read (?:username|password)|permission denied"
    r"|host key verification failed|access denied|invalid username|terminal prompts disabled"
    r"|returned error: 40[13]|not authorized|repository not found",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"non-fast-forward|fetch first|stale info|cannot lock ref|failed to update ref"
)
_LOCKED = re.compile(r"(?:index|HEAD)\.lock'?: File exists|Another git process seems to be running")


class GitFailed(NeurigraphError):
    """A git command failed; `words` are its own last words."""

    code = "git_failed"

    def __init__(self, command: str, words: str) -> None:
        self.command, self.words = command, words
        lines = [line for line in words.strip().splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
        shown = (fatal or lines or ["it gave no reason"])[0]
        super().__init__(f"git {command} failed: {shown}")

    @property
    def offline(self) -> bool:
        """Whether the remote could not be reached, which passes by itself."""
        return not self.refused and _OFFLINE.search(self.words) is not None

    @property
    def refused(self) -> bool:
        """Whether the remote refused who we are."""
        return _REFUSED.search(self.words) is not None

    @property
    def behind(self) -> bool:
        """Whether a push came too late: somebody else was faster."""
        return _BEHIND.search(self.words) is not None


class GitMissing(NeurigraphError):
    """There is no git, or one that is too old."""

    code = "git_missing"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; install git {'.'.join(map(str, OLDEST))} or newer")


class GitBusy(NeurigraphError):
    """Another git holds the lock of the index for too long."""

    code = "git_busy"

    def __init__(self, lock: Path) -> None:
        self.lock = lock
        super().__init__(
            f"another git is at work on the vault; if none runs, delete {lock} and sync again"
        )


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
        self._environment = _environment()
        self._identity: dict[str, str] | None = None

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

    def place(self, name: str) -> Path:
        """Where a file of git's own is, such as `MERGE_HEAD`."""
        return self.root / _line(self._run("rev-parse", "--git-path", name).stdout)

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
            if self.place(name).exists():
                return what
        return ""

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
                status = (self.root / ".git" / name).stat()
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

    def unstage(self, paths: Sequence[str]) -> None:
        """Take these files out of the index again, their content on disk untouched."""
        self._wait_for_lock()
        if self.commit_of("HEAD"):
            given = b"".join(os.fsencode(path) + b"\0" for path in paths)
            self._run(
                "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", given=given
            )

    def commit(self, message: str) -> str:
        """Commit the index, hooks included, and answer the id."""
        self._wait_for_lock()
        self._run(
            *self._who(), "commit", "--quiet", "--no-gpg-sign", "--file=-", given=message.encode()
        )
        return self.commit_of("HEAD")

    def fast_forward(self, commit: str) -> None:
        """Check a later commit out. Git refuses, and changes nothing, where a file on disk is
        not what the last commit says."""
        self._wait_for_lock()
        if not self.commit_of("HEAD"):
            self._run(*self._who(), "merge", "--ff-only", "--quiet", "--no-stat", commit)
            return
        self._run("update-index", "--refresh", "-q", accept=(0, 1))
        self._run(*self._who(), "merge", "--ff-only", "--quiet", "--no-stat", commit)

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

    def author_of(self, commit: str) -> str:
        """Who made a commit."""
        return _line(self._run("show", "-s", "--format=%an", commit).stdout)

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
        if not commit:
            return {}
        found = {}
        for line in self._run("ls-tree", "-r", "-z", commit).stdout.split(b"\0"):
            if line:
                facts, _, path = line.partition(b"\t")
                mode, _, oid = facts.decode("ascii").split(" ")
                found[_path(path)] = Entry(mode, oid)
        return found

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
            zeros = "0" * 40
            # what goes is taken away first: a file may become a folder
            lines = [f"0 {zeros}\t".encode() + os.fsencode(p) for p in gone]
            lines += [f"{e.mode} {e.oid}\t".encode() + os.fsencode(p) for p, e in kept]
            given = b"".join(line + b"\0" for line in lines)
            self._run("update-index", "-z", "--index-info", given=given, more=own)
            return _line(self._run("write-tree", more=own).stdout)

    def commit_tree(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A commit of this tree, which no branch names yet."""
        named = [word for parent in parents for word in ("-p", parent)]
        done = self._run(
            *self._who(), "commit-tree", "--no-gpg-sign", tree, *named, given=message.encode()
        )
        return _line(done.stdout)

    # -- the remote

    def fetch(self, remote: str, branch: str) -> str:
        """Get a remote's branch and answer its commit; empty when it has no such branch.

        Raises `GitFailed`.
        """
        there = self._run(
            "ls-remote", "--heads", "--", remote, f"refs/heads/{branch}", seconds=NETWORK
        ).stdout
        if not there.strip():
            return ""
        name = f"refs/remotes/{remote}/{branch}"
        self._run(
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--",
            remote,
            f"+refs/heads/{branch}:{name}",
            seconds=NETWORK,
        )
        return self.commit_of(name)

    def push(self, remote: str, branch: str) -> None:
        """Push what is checked out, never by force. Raises `GitFailed`."""
        self._run("push", "--quiet", "--", remote, f"HEAD:refs/heads/{branch}", seconds=NETWORK)

    # -- merging text

    def merge_text(
        self, base: bytes, ours: bytes, theirs: bytes, favour: Favour
    ) -> tuple[bytes, bool]:
        """Merge three versions of a text as git does, and whether there was no conflict."""
        return merge_text(base, ours, theirs, favour)

    # -- how it is done

    def _who(self) -> list[str]:
        """A stand-in for a name that the person has not told git."""
        if self._identity is None:
            known = self._try("var", "GIT_COMMITTER_IDENT").returncode == 0
            self._identity = (
                {} if known else {"user.name": "Neurigraph", "user.email": "sync@local"}
            )
        return [word for k, v in self._identity.items() for word in ("-c", f"{k}={v}")]

    def _wait_for_lock(self) -> None:
        lock = self.root / ".git" / "index.lock"
        deadline = time.monotonic() + LOCK_PATIENCE
        while lock.exists():
            if time.monotonic() > deadline:
                raise GitBusy(lock)
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
            if not _LOCKED.search(said):
                raise GitFailed(command, said)
            if time.monotonic() > deadline:
                raise GitBusy(self.root / ".git" / "index.lock")
            time.sleep(0.2)

    def _try(
        self,
        *words: str,
        given: bytes = b"",
        seconds: float = QUICK,
        more: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        environment = self._environment | dict(more or {})
        return _call(["-C", str(self.root), *words], given, seconds, environment)


def merge_text(base: bytes, ours: bytes, theirs: bytes, favour: Favour = "") -> tuple[bytes, bool]:
    """Merge three versions of a text as `git merge-file` does, and whether it had no conflict.

    What git does not take for text is not merged: ours comes back, in conflict.
    """
    with tempfile.TemporaryDirectory(prefix="neurigraph-") as folder:
        places = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for place, data in zip(places, (ours, base, theirs), strict=True):
            place.write_bytes(data)
        words = ["-c", "merge.conflictStyle=merge", "merge-file", "-p"]
        words += [f"--{favour}"] if favour else []
        words += ["-L", "ours", "-L", "base", "-L", "theirs", *map(str, places)]
        done = _call(words, b"", QUICK, _environment())
    if done.returncode > 127 or done.returncode < 0:
        return ours, False
    return done.stdout, done.returncode == 0


def check_git() -> str:
    """The version of the person's git. Raises `GitMissing`."""
    done = _call(["--version"], b"", QUICK, _environment())
    match = re.search(rb"(\d+)\.(\d+)\S*", done.stdout)
    if match is None:
        raise GitMissing("git does not say its version")
    if (int(match[1]), int(match[2])) < OLDEST:
        raise GitMissing(f"git {match[0].decode()} is too old")
    return match[0].decode()


def _call(
    words: Sequence[str], given: bytes, seconds: float, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("git", path=environment.get("PATH"))
    if program is None:
        raise GitMissing("git is not installed")
    fixed = ["--no-pager", "-c", "core.quotepath=off", "-c", "core.editor=true"]
    fixed += ["-c", "advice.detachedHead=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
    try:
        return subprocess.run(
            [program, *fixed, *words],
            input=given,
            capture_output=True,
            env=dict(environment),
            timeout=seconds,
            check=False,
            # no terminal to ask at, and no Ctrl-C meant for the daemon
            start_new_session=os.name == "posix",
            creationflags=0x08000000 if os.name == "nt" else 0,  # CREATE_NO_WINDOW
        )
    except subprocess.TimeoutExpired as error:
        command = next((w for w in words if not w.startswith("-")), "")
        raise GitFailed(command, f"error: timed out after {seconds:.0f} s") from error


def _environment() -> dict[str, str]:
    """The person's environment, in which git cannot ask anything."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if k
        not in (
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_COMMON_DIR",
            "GIT_NAMESPACE",
            "GIT_PREFIX",
        )
    }
    ssh = kept.get("GIT_SSH_COMMAND")
    kept |= {
        "LC_ALL": "C",
        "LANGUAGE": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GCM_INTERACTIVE": "never",
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        "GIT_MERGE_AUTOEDIT": "no",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    if ssh or not os.environ.get("GIT_SSH"):
        kept["GIT_SSH_COMMAND"] = f"{ssh or 'ssh'} -oBatchMode=yes -oConnectTimeout=20"
    return kept


def _line(out: bytes) -> str:
    return os.fsdecode(out).strip("\n\r")


def _path(raw: bytes) -> str:
    return os.fsdecode(raw)
