"""Runs git as a process: the person's own, with their settings and credentials, unable to ask."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from neurigraph.errors import NeurigraphError
from neurigraph.sync.merge_note import Favour

QUICK, NETWORK = 600.0, 7200.0
"""Seconds that a call on this machine, and one to the remote, may take at the very most: a checkout
must not be broken off, and a first push may be large. A dead line is noticed much sooner."""

OLDEST = (2, 30)

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
_OVERTAKEN = re.compile(
    r"would be overwritten|not possible to fast-forward|not uptodate|local changes",
    re.IGNORECASE,
)
LOCKED = re.compile(
    r"(?:index|HEAD|packed-refs)\.lock'?: File exists|Another git process seems to be running"
    r"|could not lock (?P<config>config) file .*: File exists"
)


class GitFailed(NeurigraphError):
    """A git command failed; `words` are its own last words."""

    code = "git_failed"

    def __init__(self, command: str, words: str) -> None:
        self.command, self.words = command, words
        lines = [line for line in words.strip().splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
        self.reason = (fatal or lines or ["it gave no reason"])[0]
        super().__init__(f"git {command} failed: {self.reason}")

    @property
    def offline(self) -> bool:
        """Whether the remote could not be reached, which passes by itself."""
        return not self.refused and _OFFLINE.search(self.words) is not None

    @property
    def refused(self) -> bool:
        """Whether the remote refused who we are."""
        return _REFUSED.search(self.words) is not None

    @property
    def overtaken(self) -> bool:
        """Whether files on disk, or the branch, changed while a merge was worked out."""
        return _OVERTAKEN.search(self.words) is not None

    @property
    def no_such_branch(self) -> bool:
        """Whether the remote was reached and does not have the branch."""
        return "couldn't find remote ref" in self.words

    @property
    def files(self) -> list[str]:
        """The files that git names in a list below its words."""
        return [line.strip() for line in self.words.splitlines() if line.startswith("\t")]

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
    """Another git holds a lock for too long, mostly that of the index."""

    code = "git_busy"

    def __init__(self, lock: Path) -> None:
        self.lock = lock
        super().__init__(
            f"another git is at work on the vault; if none runs, delete {lock} and sync again"
        )


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
        done = call(words, b"", QUICK, environment())
    if done.returncode > 127 or done.returncode < 0:
        return ours, False
    return done.stdout, done.returncode == 0


def check_git() -> str:
    """The version of the person's git. Raises `GitMissing`."""
    done = call(["--version"], b"", QUICK, environment())
    match = re.search(rb"(\d+)\.(\d+)\S*", done.stdout)
    if match is None:
        raise GitMissing("git does not say its version")
    if (int(match[1]), int(match[2])) < OLDEST:
        raise GitMissing(f"git {match[0].decode()} is too old")
    return match[0].decode()


class Cancel:
    """Ends a call from another thread, and all that are begun with it afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def end(self) -> None:
        """End what runs, and let nothing begin."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                _end(self._process)

    def take(self, process: subprocess.Popen[bytes] | None) -> None:
        """This process runs now; None when it has ended."""
        with self._lock:
            self._process = process
            if process is not None and self._ended:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and whatever it has started, such as ssh."""
    if os.name == "posix":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    else:
        process.terminate()


def call(
    words: Sequence[str],
    given: bytes,
    seconds: float,
    environment: Mapping[str, str],
    cancel: Cancel | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git and answer what came out, whatever its exit code.

    Raises `GitMissing`, or `GitFailed` after `seconds`.
    """
    program = shutil.which("git", path=environment.get("PATH"))
    if program is None:
        raise GitMissing("git is not installed")
    fixed = ["--no-pager", "-c", "core.quotepath=off", "-c", "core.editor=true"]
    fixed += ["-c", "advice.detachedHead=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
    fixed += ["-c", "http.lowSpeedLimit=100", "-c", "http.lowSpeedTime=60"]
    process = subprocess.Popen(
        [program, *fixed, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        # no terminal to ask at, and no Ctrl-C meant for the daemon
        start_new_session=os.name == "posix",
        creationflags=0x08000000 if os.name == "nt" else 0,  # CREATE_NO_WINDOW
    )
    if cancel is not None:
        cancel.take(process)
    try:
        out, error_out = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        _end(process)
        process.communicate()
        command = next((w for w in words if not w.startswith("-")), "")
        raise GitFailed(command, f"error: timed out after {seconds:.0f} s") from error
    finally:
        if cancel is not None:
            cancel.take(None)
    return subprocess.CompletedProcess(process.args, process.returncode, out, error_out)


def environment() -> dict[str, str]:
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
    return kept
