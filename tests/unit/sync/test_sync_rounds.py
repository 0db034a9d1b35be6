"""One machine's round of sync: what is committed, what stops it, what it says."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from faults.without_powers import WRAP
from neurigraph.cli_sync import _print_condition
from neurigraph.errors import Forbidden, InvalidInput
from neurigraph.model import Conversation
from neurigraph.sync import git_process
from neurigraph.sync.drivers import is_registered
from neurigraph.sync.git import Git
from neurigraph.sync.git_process import GitBusy, GitFailed, GitMissing
from neurigraph.sync.round import SyncStopped
from neurigraph.vault.note import read_note, set_keys
from sync_machines import IDENTITY, Machine, Words, check, git, network, settle, words_in


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Machine, Machine, Words]]:
    with network(tmp_path / "net", ("laptop", "desktop")) as (machines, words):
        yield machines[0], machines[1], words


Pair = tuple[Machine, Machine, Words]


def committed(machine: Machine) -> set[str]:
    return set(git(machine.vault, "ls-files", "-z").split("\0")) - {""}


def words_of(machine: Machine) -> list[str]:
    return sorted(machine.words.written)


# -- what is committed


def test_only_what_belongs_to_the_vault_is_committed(pair: Pair) -> None:
    here, _, _ = pair
    for path in (
        ".obsidian/plugins/x/data.json",
        ".trash/old.md",
        "_inbox/export.zip",
        "_inbox/done/a.md",
        "Work/.plan.md.swp",
        "Work/plan.md~",
        "Work/nested/.git/config",
    ):
        full = here.vault / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text("key", "utf-8")
    (here.vault / ".gitignore").write_text("nothing\n", "utf-8")
    here.write("Work/plan.md")
    (here.vault / "Work/photo.png").write_bytes(b"\x89PNG")
    here.sync()
    assert committed(here) == {
        ".gitattributes",
        ".gitignore",
        "neurigraph.toml",
        "Work/plan.md",
        "Work/photo.png",
    }


def test_a_commit_says_what_changed(pair: Pair) -> None:
    here, _, _ = pair
    here.save("Work/Alpha")
    here.sync()
    message = git(here.vault, "log", "-1", "--format=%B")
    assert "3 notes, 1 transcript in Work/" in message
    assert "add Work/Alpha/Alpha.md" in message


def test_a_memory_with_a_secret_stays_on_this_machine_until_a_yes(pair: Pair) -> None:
    here, there, _ = pair
    here.memory.save(Conversation("The talk of today.\n" * 3, broad_topic="Work/Keys"))
    path = next(p for p in here.notes() if p.startswith("Work/Keys/"))
    full = here.vault / path
    full.write_bytes(set_keys(full.read_bytes(), {"secrets": "held"}))
    here.seen(path)
    report = here.memory.sync_now()
    assert path in report.left_out
    there.sync()
    assert not (there.vault / path).exists()
    assert not list((there.vault).glob("_recall/*/transcript.md"))
    full.write_bytes(set_keys(full.read_bytes(), {"secrets": "allowed"}))
    here.seen(path)
    settle([here, there])
    assert (there.vault / path).exists()


def test_a_held_memory_that_is_moved_is_not_deleted_elsewhere(pair: Pair) -> None:
    here, there, _ = pair
    here.save("Work/Keys")
    settle([here, there])
    path = next(p for p in here.notes() if "About" in p)
    full = here.vault / path
    full.write_bytes(set_keys(full.read_bytes(), {"secrets": "held"}))
    here.seen(path)
    here.move(path, "Home")
    here.cool()
    report = here.memory.sync_now()
    assert any(p.startswith("Home/") for p in report.left_out)
    there.sync()
    assert (there.vault / path).exists()
    assert there.memory.transcript(there.memory.search("about").hits[0].id)


def test_the_transcript_of_a_note_that_is_gone_travels_unless_it_looks_like_a_secret(
    pair: Pair,
) -> None:
    here, there, words = pair
    here.save("Work/Alpha")
    here.delete(next(p for p in here.notes() if "About" in p))
    secret = here.vault / "_recall/m-20261130-00000000/transcript.md"
    secret.parent.mkdir()
    secret.write_text("token ghp_abcdefghijklmnopqrstuvwxyz0123456789AB\n", "utf-8")
    settle([here, there])
    assert len(list(there.vault.glob("_recall/*/transcript.md"))) == 1
    assert "m-20261130-00000000" not in " ".join(committed(here))
    assert words.written


def test_what_was_too_fresh_for_a_round_goes_with_one_soon_after(pair: Pair) -> None:
    here, _, _ = pair
    here.sync()
    sync = here.memory.sync
    here.clock.ahead = timedelta(0)
    here.write("Home/fresh.md")
    sync._next = None  # a round that is due just now
    sync.tick()
    assert "Home/fresh.md" not in committed(here)
    assert sync.next_look > here.clock() + timedelta(minutes=1)
    here.clock.ahead = timedelta(seconds=here.memory.settings.sync.quiet_seconds + 1)
    sync.tick()
    assert "Home/fresh.md" in committed(here)


def test_while_a_part_of_a_memory_is_fresh_all_of_it_waits(pair: Pair) -> None:
    here, _, _ = pair
    here.save("Work/Alpha")
    here.write("Home/old.md")
    here.sync()
    before = committed(here)
    here.cool()
    (here.vault / "Home/old.md").rename(here.vault / "Home/new.md")
    os.utime(here.vault / "Home/new.md")
    here.clock.ahead = timedelta(0)
    sync = here.memory.sync
    sync._next = None
    sync.tick()
    assert sync.condition.problem == ""
    assert committed(here) >= {p for p in before if "transcript" in p or "old" in p}
    here.clock.ahead = timedelta(minutes=20)
    sync.tick()
    after = committed(here)
    assert "Home/new.md" in after
    assert "Home/old.md" not in after
    assert next(p for p in after if "transcript" in p).endswith(".gz")


def test_a_file_too_large_for_git_hosts_is_left_out_and_said(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _, _ = pair
    monkeypatch.setattr("neurigraph.sync.changes.LARGEST", 1000)
    (here.vault / "film.mp4").write_bytes(b"\0" * 2000)
    here.sync()
    assert "film.mp4 is larger than" in here.memory.sync_state()["problem"]  # type: ignore[operator]


def test_a_placeholder_of_the_cloud_is_no_deletion(pair: Pair) -> None:
    here, there, _ = pair
    here.write("Work/plan.md")
    here.sync()
    (here.vault / "Work/plan.md").rename(here.vault / "Work/.plan.md.icloud")
    settle([here, there])
    assert (there.vault / "Work/plan.md").exists()


def test_a_vault_that_is_suddenly_empty_is_not_committed(pair: Pair) -> None:
    here, there, words = pair
    for number in range(25):
        here.write(f"Work/plan {number}.md")
    settle([here, there])
    for path in here.notes():
        (here.vault / path).unlink()
    with pytest.raises(SyncStopped, match="nearly all"):
        here.sync()
    there.sync()
    assert len(there.notes()) == 25
    git(here.vault, "restore", ".")
    settle([here, there])
    check([here, there], words)


# -- beside other people's git


def test_a_merge_that_a_person_has_begun_is_left_alone(pair: Pair) -> None:
    here, there, words = pair
    here.write("Work/plan.md")
    settle([here, there])
    for machine in pair[:2]:
        machine.change_line("Work/plan.md", 2)
        full = machine.vault / "Work/plan.md"
        full.write_bytes(set_keys(full.read_bytes(), {"mood": machine.name}))
        machine.seen("Work/plan.md")
    there.sync()
    git(here.vault, "commit", "-qam", "mine")
    git(here.vault, "config", "--remove-section", "merge.neurigraph-note", ok=(0, 128))
    git(here.vault, "pull", "-q", "--no-rebase", ok=(1,))
    head = git(here.vault, "rev-parse", "HEAD")
    before = (here.vault / "Work/plan.md").read_bytes()
    assert b"<<<<<<<" in before
    with pytest.raises(SyncStopped, match="git merge --abort"):
        here.sync()
    assert here.memory.sync_state()["state"] == "stopped"
    here.memory.sync.follow()
    assert (here.vault / "Work/plan.md").read_bytes() == before
    assert git(here.vault, "rev-parse", "HEAD") == head
    here.seen("Work/plan.md")
    assert [p.path for p in here.memory.problems() if "conflict markers" in p.problem] == [
        "Work/plan.md"
    ]
    assert here.memory.search(words_of(here)[0]).hits
    git(here.vault, "merge", "--abort")
    settle([here, there])
    check([here, there], words)


def test_no_branch_checked_out_stops_and_says_so(pair: Pair) -> None:
    here, _, _ = pair
    git(here.vault, "checkout", "-q", "--detach")
    with pytest.raises(SyncStopped, match="no branch"):
        here.sync()


def test_another_gits_lock_is_waited_for_and_never_broken(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _, _ = pair
    here.write("Work/plan.md")
    lock = here.vault / ".git" / "index.lock"
    lock.touch()
    monkeypatch.setattr("neurigraph.sync.git.LOCK_PATIENCE", 0.3)
    with pytest.raises(GitBusy, match=r"index\.lock"):
        here.sync()
    assert lock.exists()
    monkeypatch.setattr("neurigraph.sync.git.LOCK_PATIENCE", 20.0)
    unlocking = threading.Timer(0.5, lock.unlink)
    unlocking.start()
    here.sync()
    unlocking.join()
    assert "Work/plan.md" in committed(here)


def test_settings_that_another_git_is_writing_are_waited_for(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _, _ = pair
    lock = here.vault / ".git" / "config.lock"
    lock.touch()
    monkeypatch.setattr("neurigraph.sync.git.LOCK_PATIENCE", 0.3)
    with pytest.raises(GitBusy, match=r"config\.lock"):
        here.memory.sync.git.set_config("x.y", "z")
    monkeypatch.setattr("neurigraph.sync.git.LOCK_PATIENCE", 20.0)
    unlocking = threading.Timer(0.5, lock.unlink)
    unlocking.start()
    here.memory.sync.git.set_config("x.y", "z")
    unlocking.join()
    assert here.memory.sync.git.config("x.y") == "z"


def test_the_hooks_of_a_person_run_and_may_refuse(pair: Pair) -> None:
    here, _, _ = pair
    hook = here.vault / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho no commits on Mondays >&2\nexit 1\n", "utf-8")
    hook.chmod(0o755)
    here.write("Work/plan.md")
    with pytest.raises(GitFailed, match="no commits on Mondays"):
        here.sync()
    assert "no commits on Mondays" in str(here.memory.sync_state()["problem"])
    hook.unlink()
    here.sync()
    assert here.memory.sync_state()["problem"] == ""


def test_what_a_plain_pull_brought_is_taken_up(pair: Pair) -> None:
    here, there, words = pair
    here.save("Work/Alpha")
    here.sync()
    there.memory.sync.follow()
    git(there.vault, "pull", "-q")
    assert not there.memory.search("about").hits
    assert there.memory.sync.follow()
    hit = there.memory.search("about").hits[0]
    assert there.memory.memory(hit.id).access_count == 0
    settle([here, there])
    check([here, there], words)


def test_what_plain_git_took_from_a_memory_comes_back(pair: Pair) -> None:
    here, there, words = pair
    here.save("Work/Alpha")
    settle([here, there])
    path = next(p for p in here.notes() if "About" in p)
    here.forget_about(path)
    here.sync()
    there.append(path)
    there.pull_plainly()
    settle([here, there])
    check([here, there], words)
    assert path in here.notes()


def test_a_clone_without_its_history_stops(pair: Pair, tmp_path: Path) -> None:
    here, _, _ = pair
    head = git(here.vault, "rev-parse", "HEAD")
    (here.vault / ".git" / "shallow").write_text(head, "utf-8")
    with pytest.raises(SyncStopped, match="fetch --unshallow"):
        here.sync()


def test_a_machine_without_git_says_so_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    here, _, _ = pair
    monkeypatch.setenv("PATH", "")
    here.memory.sync.git = Git(here.vault)
    for _ in range(3):
        here.memory.sync.tick()
    assert "git is not installed" in str(here.memory.sync_state()["problem"])
    assert len(caplog.records) == 1
    with pytest.raises(GitMissing):
        here.sync()


def test_a_vault_without_a_repository_says_how_to_begin(pair: Pair) -> None:
    here, _, _ = pair
    (here.vault / ".git").rename(here.vault.parent / "git elsewhere")
    here.memory.sync.tick()
    with pytest.raises(SyncStopped, match="sync init"):
        here.sync()


def test_a_file_whose_name_is_no_text_is_carried(pair: Pair) -> None:
    here, there, _ = pair
    (here.vault / os.fsdecode(b"caf\xe9.png")).write_bytes(b"x")
    settle([here, there])
    assert (there.vault / os.fsdecode(b"caf\xe9.png")).exists()


def test_a_note_whose_name_is_no_text_holds_nothing_up(pair: Pair) -> None:
    here, there, _ = pair
    odd = os.fsdecode(b"caf\xe9")
    (here.vault / odd).mkdir()
    for path in (f"{odd}.md", f"{odd}/inside.md"):
        (here.vault / path).write_text("odd\n", "utf-8")
    here.write("plain.md")
    settle([here, there])
    assert (there.vault / f"{odd}/inside.md").exists()
    assert "plain.md" in there.known()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_that_leads_out_of_the_vault_holds_nothing_up(pair: Pair, tmp_path: Path) -> None:
    here, there, _ = pair
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/diary.md").write_text("private\n", "utf-8")
    (here.vault / "diary.md").symlink_to(tmp_path / "outside/diary.md")
    (here.vault / "folder").symlink_to(tmp_path / "outside")
    here.write("plain.md")
    settle([here, there])
    (here.vault / "diary.md").unlink()
    (here.vault / "diary.md").symlink_to("plain.md")
    there.write("other.md")
    settle([here, there])
    assert (there.vault / "folder").is_symlink()
    assert {"plain.md", "other.md"} <= set(there.known())
    assert not {"diary.md", "folder/diary.md"} & set(there.known())


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_repository_within_the_vault_is_said_to_be_left_out(pair: Pair) -> None:
    here, _, _ = pair
    inner = here.vault / "Work/project"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    (inner / "notes.md").write_text("notes\n", "utf-8")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "theirs")
    report = here.memory.sync_now()
    assert list(report.left_out) == ["Work/project"]
    assert "Work/project is a git repository of its own" in here.memory.sync_state()["problem"]


def test_a_folder_that_became_a_file_holds_nothing_up(pair: Pair) -> None:
    here, there, words = pair
    for path in ("Work/plan.md", "Home/list.md"):
        here.write(path)
    settle([here, there])
    for folder in ("Work", "Home"):
        here.delete(f"{folder}/{'plan' if folder == 'Work' else 'list'}.md")
        (here.vault / folder).rmdir()
        (here.vault / folder).write_text(f"{words.new()} as a file\n", "utf-8")
        here.seen(folder)
    there.append("Home/list.md")
    settle([here, there])
    assert here.files() == there.files()
    assert not words.written - words.deleted - words_in(there)
    assert {"Work", "Home", "Home 2/list.md"} <= set(there.files())
    assert "Home 2/list.md" in here.known()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_a_note_that_may_not_be_read_is_left_out_and_said(
    pair: Pair, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "closed").touch(0)
    if os.access(tmp_path / "closed", os.R_OK):
        # nothing is closed to root: once more without that power
        words = [*WRAP, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        again = subprocess.run([*words, f"{__file__}::{request.node.name}"], check=False)
        assert again.returncode == 0
        return
    here, there, _ = pair
    here.write("closed.md")
    here.write("open.md")
    (here.vault / "closed.md").chmod(0)
    report = here.memory.sync_now()
    assert "cannot be read" in report.left_out["closed.md"]
    settle([here, there])
    assert "open.md" in there.known()
    (here.vault / "closed.md").chmod(0o600)
    settle([here, there])
    assert "closed.md" in there.known()


def test_settings_of_a_persons_git_put_no_conflict_markers_into_a_note(pair: Pair) -> None:
    here, there, _ = pair
    git(here.vault, "config", "merge.autoStash", "true")
    here.write("big.md")
    settle([here, there])
    there.change_line("big.md", 0)
    there.sync()
    large = (here.vault / "big.md").read_bytes() + b"x" * 96_000_000
    (here.vault / "big.md").write_bytes(large)
    with pytest.raises(SyncStopped, match="is larger than 95 MB"):
        here.sync()
    assert (here.vault / "big.md").read_bytes() == large


def test_a_repository_with_long_ids_merges_what_was_deleted(tmp_path: Path) -> None:
    remote, seed = tmp_path / "remote.git", tmp_path / "seed"
    long = ("init", "-q", "--object-format=sha256", "-b", "main")
    git(tmp_path, *long, str(seed))
    git(seed, "commit", "-q", "--allow-empty", "-m", "begin")
    git(tmp_path, *long, "--bare", str(remote))
    git(seed, "push", "-q", str(remote), "main")
    words = Words()
    machines = [Machine(name, tmp_path, remote, words) for name in ("laptop", "desktop")]
    here, there = machines
    try:
        for machine in machines:
            machine.memory.sync_init()
        for path in ("a.md", "b.md"):
            here.write(path)
        settle(machines)
        here.delete("a.md")
        there.append("b.md")
        settle(machines)
        check(machines, words)
        assert not (there.vault / "a.md").exists()
    finally:
        for machine in machines:
            machine.close()


# -- a note that somebody works on


def test_a_note_open_in_obsidian_waits_unless_a_person_asks(pair: Pair) -> None:
    here, there, words = pair
    here.write("Work/plan.md")
    settle([here, there])
    here.append("Work/plan.md")
    here.sync()
    (there.vault / ".obsidian").mkdir()
    (there.vault / ".obsidian/workspace.json").write_text(
        '{"main": {"type": "leaf", "state": {"type": "markdown", '
        '"state": {"file": "Work/plan.md"}}}}',
        "utf-8",
    )
    before = (there.vault / "Work/plan.md").read_bytes()
    there.clock.ahead += timedelta(minutes=11)
    there.memory.sync.tick()
    state = there.memory.sync_state()
    assert state["state"] == "idle"
    assert "Work/plan.md was changed a moment ago or is open in Obsidian" in str(state["problem"])
    assert (there.vault / "Work/plan.md").read_bytes() == before
    there.sync()
    assert (there.vault / "Work/plan.md").read_bytes() != before
    assert there.memory.sync_state()["problem"] == ""
    check([here, there], words)


def test_what_arrived_is_no_edit_of_this_machine(pair: Pair) -> None:
    here, there, _ = pair
    here.save("Work/Alpha")
    settle([here, there])
    path = next(p for p in here.notes() if "About" in p)
    here.append(path)
    own = str(read_note((here.vault / path).read_bytes()).data["id"])
    here.sync()
    there.sync()
    there.seen(path)  # the watcher, too, sees what git wrote
    found = there.memory.memory(own)
    assert found.access_count == 0
    assert found.last_accessed == there.memory._store.library.memory(own).noted_access
    assert there.memory._store.files.settled(path, there.clock(), 300)


# -- the remote


def offline(machine: Machine) -> str:
    return str(machine.memory.sync_state()["state"])


def test_offline_changes_are_kept_and_sent_later_with_longer_and_longer_pauses(pair: Pair) -> None:
    here, there, words = pair
    away = here.remote.with_name("away")
    here.remote.rename(away)
    here.write("Work/plan.md")
    here.clock.ahead += timedelta(minutes=3)
    sync = here.memory.sync
    waits = []
    for _ in range(3):
        sync.tick()
        assert offline(here) == "offline"
        wait = sync.next_look - here.clock()
        waits.append(wait)
        here.clock.ahead += wait + timedelta(seconds=1)
    assert waits[0] < waits[1] < waits[2]
    assert here.memory.sync_state()["ahead"] == 1
    away.rename(here.remote)
    sync.tick()
    assert offline(here) == "idle"
    settle([here, there])
    check([here, there], words)


class Locked(BaseHTTPRequestHandler):
    """A host that lets nobody in."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_remote_that_asks_for_a_password_is_told_and_nobody_is_asked(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, _, _ = pair
    asked = tmp_path / "asked"
    asking = tmp_path / "askpass"
    asking.write_text(f"#!/bin/sh\ntouch {asked}\necho x\n", "utf-8")
    asking.chmod(0o755)
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(asking))
    host = HTTPServer(("127.0.0.1", 0), Locked)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{host.server_port}/me/memory.git"
        git(here.vault, "remote", "set-url", "origin", address)
        here.write("Work/plan.md")
        with pytest.raises(GitFailed):
            here.sync()
    finally:
        host.shutdown()
        host.server_close()
    state = here.memory.sync_state()
    assert state["state"] == "stopped"
    assert "works in the vault without asking" in str(state["problem"])
    assert not asked.exists()
    assert "Work/plan.md" in committed(here)


def test_a_remote_that_does_not_answer_holds_up_no_stop(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, _, _ = pair
    asked = tmp_path / "asked"
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\ntouch {asked}\nexec sleep 100\n", "utf-8")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    git(here.vault, "remote", "set-url", "origin", "ssh://nowhere.example/vault")
    failed: list[Exception] = []

    def sync() -> None:
        try:
            here.sync()
        except GitFailed as error:
            failed.append(error)

    thread = threading.Thread(target=sync)
    thread.start()
    while not asked.exists():
        thread.join(0.05)
    started = time.monotonic()
    here.memory.wind_down()
    thread.join()
    assert time.monotonic() - started < 10
    assert failed


def rewrite(here: Machine, there: Machine, back: int) -> None:
    """Somebody forces another history onto the remote."""
    git(there.vault, "reset", "-q", "--hard", f"HEAD~{back}")
    if back == 1:
        git(there.vault, *IDENTITY, "commit", "-q", "--allow-empty", "-m", "another history")
    git(there.vault, "push", "-qf", "origin", "main")


@pytest.mark.parametrize(("back", "said"), [(1, "was rewritten"), (2, "has lost 2 commits")])
def test_a_rewritten_or_shortened_history_stops_and_drops_nothing(
    pair: Pair, back: int, said: str
) -> None:
    here, there, words = pair
    for name in ("one", "two"):
        here.write(f"Work/{name}.md")
        settle([here, there])
    rewrite(here, there, back)
    head, files = git(here.vault, "rev-parse", "HEAD"), here.files()
    with pytest.raises(SyncStopped, match=said):
        here.sync()
    here.memory.sync.tick()
    assert offline(here) == "stopped"
    assert said in str(here.memory.sync_state()["problem"])
    assert (git(here.vault, "rev-parse", "HEAD"), here.files()) == (head, files)
    here.memory.sync_now(anyway=True)
    assert here.files() == files
    there.memory.reconcile()
    there.memory.sync_now(anyway=True)
    settle([here, there])
    check([here, there], words)


def test_a_remote_without_its_branch_stops(pair: Pair) -> None:
    here, _, _ = pair
    here.write("Work/one.md")
    here.sync()
    git(here.remote, "update-ref", "-d", "refs/heads/main")
    with pytest.raises(SyncStopped, match="no branch main any more"):
        here.sync()
    here.memory.sync_now(anyway=True)
    assert git(here.remote, "rev-parse", "main") == git(here.vault, "rev-parse", "HEAD")


def test_two_that_push_at_the_same_moment_both_get_there(pair: Pair) -> None:
    from concurrent.futures import ThreadPoolExecutor

    here, there, words = pair
    for round_ in range(3):
        here.write(f"Work/here {round_}.md")
        there.write(f"Work/there {round_}.md")
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(m.sync) for m in (here, there)]:
                done.result()
    settle([here, there])
    check([here, there], words)


# -- beginning


def test_init_makes_a_repository_and_says_so_in_this_machines_settings(pair: Pair) -> None:
    here, _, _ = pair
    (here.state / "local.toml").write_text("# mine\n[server]\nport = 7000\n", "utf-8")
    done = here.memory.sync_init()
    text = (here.state / "local.toml").read_text("utf-8")
    assert text == "# mine\n[server]\nport = 7000\n\n[sync]\nenabled = true\n"
    assert "sync is on for this machine" in done
    assert is_registered(Git(here.vault))


@pytest.mark.parametrize(
    "url", ["ext::sh -c id", "--upload-pack=id", "nonsense", "/no/such/folder"]
)
def test_init_refuses_an_address_that_git_could_run(pair: Pair, url: str) -> None:
    here, _, _ = pair
    git(here.vault, "remote", "remove", "origin")
    with pytest.raises(InvalidInput, match="https or ssh"):
        here.memory.sync_init(url)
    assert git(here.vault, "remote").strip() == ""


def test_init_refuses_a_repository_of_something_else(pair: Pair, tmp_path: Path) -> None:
    here, _, _ = pair
    here.write("Work/one.md")
    here.sync()
    other, bare = tmp_path / "program", tmp_path / "program.git"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    (other / "main.c").write_text("int main(void) { return 0; }\n", "utf-8")
    git(other, "add", "-A")
    git(other, *IDENTITY, "commit", "-qm", "code")
    git(tmp_path, "clone", "-q", "--bare", str(other), str(bare))
    git(here.vault, "remote", "remove", "origin")
    with pytest.raises(Forbidden, match="no vault"):
        here.memory.sync_init(str(bare))


def test_two_vaults_without_a_common_history_are_joined(tmp_path: Path) -> None:
    with (
        network(tmp_path / "a", ("laptop",)) as (first, words),
        network(tmp_path / "b", ("desktop",)) as (second, _),
    ):
        here, there = first[0], second[0]
        there.words = words
        here.write("Work/one.md")
        there.write("Work/two.md")
        here.sync()
        git(there.vault, "remote", "set-url", "origin", str(here.remote))
        git(there.vault, "update-ref", "-d", "refs/remotes/origin/main")
        settle([here, there])
        check([here, there], words)
        assert {"Work/one.md", "Work/two.md"} <= set(here.notes())


def test_without_a_remote_the_history_is_kept_here(pair: Pair) -> None:
    here, _, _ = pair
    git(here.vault, "remote", "remove", "origin")
    here.write("Work/one.md")
    here.sync()
    assert "Work/one.md" in committed(here)
    assert here.memory.sync_state()["problem"] == ""


# -- by itself


def test_changes_go_out_after_a_quiet_time_and_not_before(pair: Pair) -> None:
    here, _, _ = pair
    sync = here.memory.sync
    sync.tick()
    here.write("Work/plan.md")
    sync.tick()
    assert "Work/plan.md" not in committed(here)
    here.clock.ahead += timedelta(seconds=121)
    sync.tick()
    assert "Work/plan.md" in committed(here)
    assert git(here.remote, "rev-parse", "main") == git(here.vault, "rev-parse", "HEAD")


def test_what_arrives_is_fetched_at_every_interval(pair: Pair) -> None:
    here, there, _ = pair
    there.memory.sync.tick()
    here.write("Work/plan.md")
    here.sync()
    there.memory.sync.tick()
    assert not (there.vault / "Work/plan.md").exists()
    there.clock.ahead += timedelta(minutes=11)
    there.memory.sync.tick()
    assert (there.vault / "Work/plan.md").exists()


def test_a_tick_with_nothing_to_do_costs_nearly_nothing(pair: Pair) -> None:
    sync = pair[0].memory.sync
    sync.tick()
    started = time.perf_counter()
    for _ in range(20):
        sync.tick()
    assert time.perf_counter() - started < 1


# -- our merge in plain git


def test_plain_git_merge_uses_our_merge(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there, words = pair
    here.memory.sync_init()
    here.save("Work/Alpha")
    settle([here, there])
    path = next(p for p in here.notes() if "About" in p)
    for machine, keyword in ((here, "mine"), (there, "yours")):
        full = machine.vault / path
        keys = read_note(full.read_bytes()).data
        held = keys["keywords"]
        assert isinstance(held, list)
        wanted: dict[str, Any] = {"keywords": [*held, keyword], "access_count": len(keyword)}
        full.write_bytes(set_keys(full.read_bytes(), wanted))
        machine.seen(path)
    there.sync()
    daemon = str(Path(git_process.__file__).parent.parent.parent)
    monkeypatch.setenv("PYTHONPATH", daemon)
    git(here.vault, "commit", "-qam", "mine")
    git(here.vault, "pull", "-q", "--no-rebase", "--no-edit")
    data = read_note((here.vault / path).read_bytes()).data
    assert {"mine", "yours"} <= set(data["keywords"] or ())
    assert data["access_count"] == "5"
    settle([here, there])
    check([here, there], words)


def test_where_our_python_is_gone_plain_git_merges_as_text(pair: Pair) -> None:
    here, there, _ = pair
    here.memory.sync_init()
    here.write("Work/plan.md")
    settle([here, there])
    command = git(here.vault, "config", "merge.neurigraph-note.driver").strip()
    git(
        here.vault,
        "config",
        "merge.neurigraph-note.driver",
        command.replace(sys.executable, "/gone"),
    )
    here.change_line("Work/plan.md", 0)
    there.append("Work/plan.md")
    there.sync()
    git(here.vault, "commit", "-qam", "mine")
    git(here.vault, "pull", "-q", "--no-rebase", "--no-edit")
    text = (here.vault / "Work/plan.md").read_text("utf-8")
    assert "w1w" in text
    assert "w2w" in text


def test_a_person_without_a_name_in_git_can_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    with network(tmp_path / "net", ("laptop",)) as (machines, _):
        here = machines[0]
        for key in ("user.name", "user.email"):
            git(here.vault, "config", "--unset", key)
        git(here.vault, "config", "user.useConfigOnly", "true")
        here.write("Work/plan.md")
        here.sync()
        assert git(here.vault, "log", "-1", "--format=%an").strip() == "Neurigraph"


def test_a_status_says_all_that_interfaces_show(pair: Pair) -> None:
    here, _, _ = pair
    here.sync()
    state = here.memory.sync_state()
    assert set(state) == {"enabled", "state", "last", "problem", "ahead", "behind"}
    assert str(state["last"]).endswith("Z")
    off = replace(here.memory.sync.condition, enabled=False, state="off", last=None)
    assert off.answer()["last"] is None


def test_a_status_with_something_to_see_to_is_not_called_in_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = {"state": "idle", "last": None, "ahead": 0, "behind": 0, "problem": ""}
    _print_condition(answer)
    assert capsys.readouterr().out == "In step.\n"
    _print_condition(answer | {"problem": "another git is at work on the vault"})
    said = capsys.readouterr().out
    assert "In step" not in said
    assert "another git is at work" in said
