"""Keeps this machine's vault in step with the others: when to sync, and what to say about it."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from neurigraph.clock import Clock
from neurigraph.errors import Conflict, NeurigraphError
from neurigraph.settings import SyncSettings
from neurigraph.sync.begin import prepare, write_enabled
from neurigraph.sync.drivers import register
from neurigraph.sync.git import Git
from neurigraph.sync.git_process import GitBusy, GitFailed, GitMissing, check_git
from neurigraph.sync.round import Report, Round, SyncStopped, SyncWaits
from neurigraph.sync.vault_side import VaultSide
from neurigraph.vault.files import VaultFiles

log = logging.getLogger(__name__)

State = Literal["off", "idle", "syncing", "offline", "stopped"]

_FIRST_WAIT, _LONGEST_WAIT = timedelta(seconds=30), timedelta(hours=1)
"""How long an unreachable remote is left alone at first, and at most."""

_TIDY = timedelta(days=1)


class SyncRunning(Conflict):
    """A sync is under way already."""

    code = "sync_running"

    def __init__(self) -> None:
        super().__init__("a sync is under way already; its progress is in the status")


@dataclass(frozen=True, slots=True)
class Condition:
    """What is to be said about sync. `ahead` and `behind` count commits, as last seen."""

    enabled: bool
    state: State = "off"
    last: datetime | None = None
    problem: str = ""
    ahead: int = 0
    behind: int = 0

    def answer(self) -> dict[str, object]:
        """As JSON has it."""
        last = self.last.isoformat().replace("+00:00", "Z") if self.last else None
        return asdict(self) | {"last": last}


class Sync:
    """Sync of one vault on one machine. Rounds are serial; `tick` is to be called often."""

    def __init__(
        self, vault: Path, state: Path, settings: SyncSettings, clock: Clock, side: VaultSide
    ) -> None:
        self.git = Git(vault)
        self.remote = settings.remote
        self._settings, self._clock, self._side = settings, clock, side
        self._state_dir, self._memo = state, state / "sync.json"
        self._enabled = settings.enabled
        self._running = threading.Lock()
        self._state: State = "idle" if settings.enabled else "off"
        self._problem = self._trouble = ""
        self._ahead = self._behind = 0
        self._last: datetime | None = None
        self._changed_at: datetime | None = None
        self._next: datetime | None = None
        self._wait = timedelta(0)
        self._tidied = clock()
        self._head_stamp: tuple[int, ...] = ()
        self._head = ""
        self._registered = False
        self._recall()

    # -- what others ask

    @property
    def condition(self) -> Condition:
        """What is going on."""
        state: State = "stopped" if self._trouble and self._enabled else self._state
        problem = self._trouble or self._problem
        return Condition(self._enabled, state, self._last, problem, self._ahead, self._behind)

    @property
    def next_look(self) -> datetime:
        """When the remote is looked at next."""
        return self._next or self._clock()

    def begin(self, files: VaultFiles, url: str) -> list[str]:
        """Make the vault ready, switch sync on for this machine, and say what was done."""
        if not self._running.acquire(blocking=False):
            raise SyncRunning
        try:
            done = prepare(files, self.git, self.remote, url)
            register(self.git)
            write_enabled(self._state_dir / "local.toml")
        finally:
            self._running.release()
        self._enabled = True
        self._state = "idle" if self._state == "off" else self._state
        return [*done, "sync is on for this machine"]

    def heard(self, kind: str) -> None:
        """Something happened to the vault: what changes notes has to be committed some day."""
        if kind in ("memory", "node", "temperature"):
            self._changed_at = self._clock()

    def now(self, *, anyway: bool = False) -> Report:
        """Sync at once, because a person asked. Raises what went wrong."""
        return self._run(asked=True, anyway=anyway)

    def wind_down(self) -> None:
        """The daemon is about to end: wait for no remote."""
        self.git.hang_up()

    # -- by itself

    def tick(self) -> None:
        """Follow what another git did, and sync when it is time."""
        if not self.git.is_repository():
            return
        try:
            if not self._registered:
                register(self.git)
                self._registered = True
            self.follow()
            self._trouble = ""
        except NeurigraphError as error:
            if str(error) != self._trouble:
                log.warning("git in the vault cannot be used: %s", error)
            self._trouble = str(error)
            return
        now = self._clock()
        if not self._enabled or self._running.locked() or not self._is_due(now):
            return
        try:
            self._run(asked=False, anyway=False)
        except NeurigraphError as error:
            log.info("sync: %s", error)
        if now - self._tidied > _TIDY:
            self._tidied = now
            self.git.tidy()

    def _is_due(self, now: datetime) -> bool:
        if self._next is None or now >= self._next:
            return True
        if self._wait or self._changed_at is None:
            return False
        return now - self._changed_at >= timedelta(seconds=self._settings.quiet_seconds)

    def follow(self) -> list[str]:
        """Take up what a commit, pull or checkout by somebody else changed; answers the paths."""
        stamp = self.git.head_stamp()
        if stamp == self._head_stamp or self._running.locked() or self.git.is_locked():
            return []
        if self.git.unfinished():
            return []
        self._head_stamp = stamp
        before, head = self._head, self.git.commit_of("HEAD")
        if not before or before == head:
            self._remember(head)
            return []
        paths = self.git.changed(before, head) if self.git.commit_of(before) else []
        if paths:
            self._side.arrived(paths)
            self._side.bring_back(self.git, before, head)
        self._remember(head)
        return paths

    # -- how it is done

    def _run(self, *, asked: bool, anyway: bool) -> Report:
        if not self._running.acquire(blocking=False):
            raise SyncRunning
        try:
            self._state, self._changed_at = "syncing", None
            check_git()
            around = self._side.surroundings()
            once = Round(self.git, self.remote, machine_name(), self._clock, around)
            quiet = self._settings.quiet_seconds
            before = self.git.commit_of("HEAD") if self.git.is_repository() else ""
            report = once.run(asked=asked, quiet_seconds=quiet, anyway=anyway)
            if report.arrived and before:
                # somebody may have merged with plain git, and pushed it
                self._side.bring_back(self.git, before, self.git.commit_of("HEAD"))
        except NeurigraphError as error:
            self._failed(error)
            raise
        except BaseException:
            self._state, self._problem = "stopped", "sync failed; see the daemon's log"
            raise
        else:
            self._done(report)
            return report
        finally:
            self._look_again()
            self._running.release()

    def _done(self, report: Report) -> None:
        self._state = "idle" if self._enabled else "off"
        self._wait = timedelta(0)
        self._last = self._clock()
        self._next = self._last + timedelta(minutes=self._settings.interval_minutes)
        if report.waiting:
            self._changed_at = self._changed_at or self._last  # it was too young for this round
        self._problem = "".join(
            f"{path} {reason}. " for path, reason in sorted(report.left_out.items())[:3]
        ).strip()

    def _failed(self, error: NeurigraphError) -> None:
        now = self._clock()
        self._problem = str(error)
        if isinstance(error, SyncWaits):
            self._state = "idle"
            self._next = now + timedelta(seconds=max(self._settings.quiet_seconds, 5))
            return
        if isinstance(error, GitFailed) and error.offline:
            self._state = "offline"
        elif isinstance(error, GitBusy):
            self._state = "idle"
        else:
            self._state = "stopped"
            if isinstance(error, GitFailed) and error.refused:
                self._problem = (
                    f"the remote does not let git in: {error.reason}; see to it that `git push` "
                    "works in the vault without asking"
                )
        if not isinstance(error, SyncStopped | GitMissing):
            self._changed_at = self._changed_at or now
        self._wait = min(max(self._wait * 2, _FIRST_WAIT), _LONGEST_WAIT)
        self._next = now + self._wait

    def _look_again(self) -> None:
        """Note where git stands, and how far this machine and the remote are apart."""
        if not self.git.is_repository() or self._trouble:
            return
        self._head_stamp = self.git.head_stamp()
        self._remember(self.git.commit_of("HEAD"))
        branch = self.git.branch()
        there = self.git.commit_of(f"refs/remotes/{self.remote}/{branch}") if branch else ""
        if there and self._head:
            self._ahead = self.git.count(there, self._head)
            self._behind = self.git.count(self._head, there)
        else:
            self._ahead = self.git.count("", self._head) if self._head and branch else 0
            self._behind = 0

    def _remember(self, head: str) -> None:
        """Keep, for the next start, which commit is taken up and when a sync last went well."""
        self._head = head
        last = self._last.isoformat() if self._last else None
        self._memo.write_text(json.dumps({"last": last, "head": head}), "utf-8")

    def _recall(self) -> None:
        try:
            held = json.loads(self._memo.read_text("utf-8"))
            self._head = str(held["head"])
            self._last = datetime.fromisoformat(held["last"]) if held["last"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return


def machine_name() -> str:
    """What this machine is called, fit for file names and commit messages."""
    name = re.sub(r"[^\w .-]+", "-", socket.gethostname().partition(".")[0]).strip(" .-")
    return name[:30] or "this machine"
