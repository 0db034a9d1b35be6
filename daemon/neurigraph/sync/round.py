"""One round of sync: commit, fetch, merge, check out, push; again when somebody was faster."""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from neurigraph.clock import Clock
from neurigraph.errors import NeurigraphError
from neurigraph.sync.changes import Chosen, choose_changes, describe
from neurigraph.sync.contents import Contents
from neurigraph.sync.git import Entry, Git, Status
from neurigraph.sync.git_process import GitFailed, merge_text
from neurigraph.sync.merge_tree import merge_trees
from neurigraph.sync.pairing import memory_of, owned_id
from neurigraph.sync.placing import Naming

log = logging.getLogger(__name__)

ATTEMPTS = 8
"""How often a round begins again because somebody else pushed, or wrote to the vault."""

_PIECE = 400

_MANY = 20
"""Deleting more files than this, and nearly all there are, is rather an accident."""


class SyncStopped(NeurigraphError):
    """Sync cannot go on by itself; the message says what a person can do."""

    code = "sync_stopped"


class SyncWaits(NeurigraphError):
    """What arrived waits, because a note that it changes is being worked on here."""

    code = "sync_waits"

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        super().__init__(
            f"changes from elsewhere wait: {paths[0]}{more} was changed a moment ago or is open in "
            "Obsidian; close it, or sync now"
        )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a round has to know of the vault that it works on.

    `busy` answers which of these files a person is working on; `writing` is held while files
    are checked out; `arriving` is told, before, what they will hold (SHA-256 by path); `arrived`
    afterwards which paths changed; `noticed` is told what git finds changed here, before
    `held_out` says which files never leave this machine. `is_orphan` says of a file in `_recall`
    that no note is known for it, `has_secret` whether something in it looks like a secret;
    `id_at` answers the id of the note at a path, or an empty text.
    """

    busy: Callable[[Iterable[str]], list[str]]
    writing: Callable[[], AbstractContextManager[object]]
    arriving: Callable[[Mapping[str, str]], None]
    arrived: Callable[[list[str]], None]
    noticed: Callable[[Iterable[str]], None]
    held_out: Callable[[str], bool]
    is_orphan: Callable[[str], bool]
    has_secret: Callable[[str], bool]
    id_at: Callable[[str], str]
    progress: Callable[[str], None]


@dataclass(slots=True)
class Report:
    """What a round did. Counts are of files; `kept_twice` are conflict copies, `waiting` changes
    that were too young to be committed."""

    committed: int = 0
    waiting: int = 0
    arrived: int = 0
    merged: int = 0
    kept_twice: list[str] = field(default_factory=list)
    pushed: bool = False
    left_out: dict[str, str] = field(default_factory=dict)


class Round:
    """One round for one vault. `machine` names this one in messages and conflict copies."""

    def __init__(
        self, git: Git, remote: str, machine: str, clock: Clock, around: Surroundings
    ) -> None:
        self._git, self._remote, self._machine = git, remote, machine
        self._clock, self._around = clock, around
        self._in_the_way: set[str] = set()

    def run(self, *, asked: bool, quiet_seconds: float, anyway: bool = False) -> Report:
        """Do it all and answer what was done.

        `asked` by a person, it waits for nobody; `anyway` goes on after a history was rewritten.
        Raises `SyncStopped`, `SyncWaits`, `GitFailed`, `GitBusy` or `GitMissing`; whatever was
        committed until then stays.
        """
        report = Report()
        branch = self.check()
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0.05, 0.2 * attempt))
            self._around.progress("saving what changed here")
            self._commit(report, 0 if asked else quiet_seconds, anyway)
            url = self._git.remote_url(self._remote)
            if not url:
                return report
            self._around.progress("looking at the remote")
            there = self._fetch(branch, anyway)
            if there and not self._integrate(report, there, asked):
                continue
            if self._push(report, branch, there):
                return report
        raise SyncStopped(
            "others changed the vault faster than this machine could follow; sync again in a moment"
        )

    def check(self) -> str:
        """The branch to sync. Raises `SyncStopped` when a person is in the middle of something."""
        git = self._git
        if not git.is_repository():
            raise SyncStopped(
                "the vault is no git repository yet; begin with: neurigraph sync init"
            )
        if git.is_shallow():
            raise SyncStopped(
                "the vault was cloned without its history, which a merge needs; "
                "get it with: git fetch --unshallow"
            )
        begun = git.unfinished()
        if begun:
            raise SyncStopped(
                f"a {begun} that somebody began in the vault is not finished; finish it, or "
                f"undo it with: git {begun} {'reset' if begun == 'bisect' else '--abort'}"
            )
        branch = git.branch()
        if not branch:
            raise SyncStopped("no branch is checked out in the vault; use: git switch main")
        return branch

    def seen_name(self, branch: str) -> str:
        """The name under which this clone remembers what it last saw of the remote."""
        return f"refs/neurigraph/{self._remote}/{branch}"

    # -- commit

    def _commit(self, report: Report, quiet_seconds: float, anyway: bool) -> None:
        status = self._git.status()
        if any("U" in s.code or s.code in ("AA", "DD") for s in status):
            raise SyncStopped("git has files in conflict in the vault; resolve and commit them")
        self._around.noticed(s.path for s in status)
        found = choose_changes(
            status, self._git.root, self._held_out(status), self._clock(), quiet_seconds
        )
        report.left_out, report.waiting = found.left_out, len(found.waiting)
        chosen = self._without_moved_secrets(found)
        gone = sum("D" in s.code for s in chosen)
        if gone > _MANY and not anyway and gone > 0.8 * len(self._git.tree("HEAD")):
            raise SyncStopped(
                f"{gone} files, nearly all there are, are gone from the vault; bring them back "
                "with: git restore . — or, if that was meant: neurigraph sync now --anyway"
            )
        if chosen:
            self._git.stage(s.path for s in chosen)
            # what was given back its old bytes meanwhile leaves nothing to commit
            if self._git.has_staged():
                self._git.commit(describe(chosen, self._machine))
                report.committed += len(chosen)

    def _held_out(self, status: list[Status]) -> Callable[[str], bool]:
        """What stays on this machine. What a note no longer accounts for stays only when it looks
        like a secret, and was not committed before."""
        around = self._around
        tracked: set[str] = set()
        if any(around.is_orphan(s.path) for s in status):
            tracked = {memory_of(path) for path in self._git.tree("HEAD")}

        def held(path: str) -> bool:
            if around.is_orphan(path):
                return memory_of(path) not in tracked and around.has_secret(path)
            return around.held_out(path)

        return held

    def _without_moved_secrets(self, found: Chosen) -> list[Status]:
        """The changes without deletions of notes that are held now and have moved meanwhile: the
        others must not lose what they have."""
        deleted = [s.path for s in found.changes if "D" in s.code and s.path.endswith(".md")]
        held = {i for p in found.left_out if (i := self._around.id_at(p))}
        if not deleted or not held:
            return found.changes
        tree = self._git.tree("HEAD")
        before = self._git.contents(tree[p].oid for p in deleted if p in tree)
        moved = {p for p in deleted if p in tree and owned_id(p, before[tree[p].oid]) in held}
        return [s for s in found.changes if s.path not in moved]

    # -- fetch

    def _fetch(self, branch: str, anyway: bool) -> str:
        git = self._git
        seen = git.commit_of(self.seen_name(branch))
        there = git.fetch(self._remote, branch)
        if not seen or there == seen or anyway:
            return there
        where = f"{self._remote}/{branch}"
        if not there:
            raise SyncStopped(
                f"the remote has no branch {branch} any more; nothing was dropped here. "
                "If that was meant, give it back with: neurigraph sync now --anyway"
            )
        if git.is_ancestor(there, seen):
            lost = git.count(there, seen)
            raise SyncStopped(
                f"{where} has lost {lost} commits that this machine knows; nothing was dropped "
                "here. Give them back with: neurigraph sync now --anyway"
            )
        if not git.is_ancestor(seen, there):
            raise SyncStopped(
                f"the history of {where} was rewritten; nothing was dropped here. To join both "
                "histories: neurigraph sync now --anyway. To have only the new one, move the "
                "vault away and clone it again"
            )
        return there

    # -- merge

    def _integrate(self, report: Report, there: str, asked: bool) -> bool:
        """Bring in what the remote has; False when the vault changed meanwhile."""
        git = self._git
        head = git.commit_of("HEAD")
        if head and git.is_ancestor(there, head):
            return True
        target = there
        if head and not git.is_ancestor(head, there):
            target = self._merge(report, head, there)
        paths = git.changed(head, target)
        if not asked and (busy := self._around.busy(paths)):
            raise SyncWaits(busy)
        self._around.progress(f"taking over {len(paths)} files")
        with self._around.writing():
            self._announce(target, paths)
            try:
                git.fast_forward(target)
            except GitFailed as error:
                if not error.overtaken:
                    raise
                self._check_in_the_way(report, error.files)
                log.info("the vault changed during a merge: %s", error)
                return False
            report.arrived += len(paths)
            self._around.arrived(paths)
        return True

    def _check_in_the_way(self, report: Report, files: list[str]) -> None:
        """Stop for files that are no commit of ours and that a checkout would overwrite."""
        again = [f for f in files if f in self._in_the_way]
        self._in_the_way.update(files)
        if again:
            reason = report.left_out.get(again[0], "is changed here and not committed")
            raise SyncStopped(
                f"{again[0]} arrives from elsewhere, but the one here {reason}; rename or commit it"
            )

    def _merge(self, report: Report, head: str, there: str) -> str:
        """A commit that joins both, which no branch names yet."""
        git = self._git
        base = git.merge_base(head, there)
        self._around.progress("merging")
        contents = Contents(git.contents)
        sides = {"ours": head, "theirs": there}
        moment = self._clock().astimezone().strftime("%Y-%m-%d %H-%M")
        merge = merge_trees(
            git.tree(base),
            git.tree(head),
            git.tree(there),
            contents,
            lambda side: git.renames(base, sides[side]),
            merge_text,
            Naming(self._machine, moment),
        )
        changes = dict(merge.changes)
        new = [(p, e) for p, e in changes.items() if e is not None and contents.is_new(e.oid)]
        stored = git.store([contents[e.oid] for _, e in new])
        for (path, entry), oid in zip(new, stored, strict=True):
            changes[path] = Entry(entry.mode, oid)
        tree = git.write_tree(there, changes)
        report.merged += len(merge.merged)
        report.kept_twice += merge.kept_twice
        words = f"Merge what {self._machine} and {self._remote} changed"
        if merge.merged:
            words += f"\n\n{len(merge.merged)} files were changed on both sides"
        if merge.kept_twice:
            words += "\nkept twice:\n" + "".join(f"  {path}\n" for path in merge.kept_twice)
        return git.commit_tree(tree, [head, there], words)

    def _announce(self, target: str, paths: list[str]) -> None:
        """Say what notes and transcripts will hold, so that their arrival is no one's edit."""
        tree = self._git.tree(target)
        told = [p for p in paths if p in tree and p.lower().endswith((".md", ".gz"))]
        for start in range(0, len(told), _PIECE):
            piece = told[start : start + _PIECE]
            held = self._git.contents(tree[p].oid for p in piece if tree[p].mode[:3] == "100")
            self._around.arriving(
                {
                    p: hashlib.sha256(held[tree[p].oid]).hexdigest()
                    for p in piece
                    if tree[p].oid in held
                }
            )

    # -- push

    def _push(self, report: Report, branch: str, there: str) -> bool:
        """Push what the remote has not; False when somebody was faster."""
        git = self._git
        head = git.commit_of("HEAD")
        if head and head != there:
            self._around.progress("sending")
            try:
                git.push(self._remote, branch)
            except GitFailed as error:
                if not error.behind:
                    raise
                return False
            report.pushed = True
        if head:
            git.set_ref(self.seen_name(branch), head)
        return True
