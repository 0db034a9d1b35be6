"""What is dropped into `_inbox` and what grows in followed folders is taken once it is quiet."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neurigraph.capture import followed as following
from neurigraph.capture.followed import Followed
from neurigraph.capture.inbox import Inbox
from neurigraph.capture.reader import read_here
from neurigraph.capture.report import Report, Row
from neurigraph.clock import system_clock
from neurigraph.memory import Memory
from neurigraph.settings import ImportSettings
from neurigraph.vault.files import VaultFiles
from vaults import QUICK, opened

AT_ONCE = QUICK.model_copy(update={"imports": ImportSettings(quiet_seconds=0)})  # type: ignore[call-arg]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "vault", tmp_path / "state", AT_ONCE) as memory:
        memory.capture.table = replace(memory.capture.table, source=read_here)
        memory.capture.better = lambda _: None
        (memory.vault / "_inbox").mkdir()
        yield memory


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_dropped_file_is_imported_and_put_away(memory: Memory) -> None:
    inbox = memory.vault / "_inbox"
    (inbox / "rye.md").write_text("# Rye\n\nHow long does rye rise?\n", "utf-8")
    (inbox / "folder").mkdir()
    (inbox / "folder" / "knees.txt").write_text("Why do my knees hurt?\n", "utf-8")
    assert memory.capture.take_inbox() == 2
    assert names(inbox) == ["done/folder/knees.txt", "done/rye.md"]
    assert memory.search("rye").total == 1
    assert memory.search("knees").total == 1
    assert memory.capture.take_inbox() == 0


def test_the_same_name_twice_keeps_both(memory: Memory) -> None:
    inbox = memory.vault / "_inbox"
    for text in ("one", "two"):
        (inbox / "a.md").write_text(f"# {text}\n\nAbout {text}.\n", "utf-8")
        (inbox / "f").mkdir()
        (inbox / "f" / "b.md").write_text(f"# {text}\n\nIn a folder about {text}.\n", "utf-8")
        memory.capture.take_inbox()
    assert names(inbox) == ["done/a 2.md", "done/a.md", "done/f 2/b.md", "done/f/b.md"]


def test_what_cannot_be_imported_is_put_aside_with_the_reason(memory: Memory) -> None:
    inbox = memory.vault / "_inbox"
    (inbox / "photo.jpg").write_bytes(b"\xff\xd8\xff\x00" * 100)
    memory.capture.take_inbox()
    assert names(inbox) == ["failed/photo.jpg", "failed/photo.jpg.why.txt"]
    why = (inbox / "failed" / "photo.jpg.why.txt").read_text("utf-8")
    assert "no export that is known" in why
    assert "drop it into _inbox again" in why


def test_half_of_an_export_is_given_time_to_become_whole(tmp_path: Path) -> None:
    files = VaultFiles(tmp_path, system_clock)
    inbox = Inbox(files, quiet_seconds=2, patience=60)
    dropped = tmp_path / "_inbox" / "e.json"
    dropped.parent.mkdir()
    dropped.write_text("[1")
    assert inbox.waiting(100) == []
    dropped.write_text("[1, 2")
    assert inbox.waiting(102) == []
    assert inbox.waiting(103) == []
    assert inbox.waiting(104) == ["e.json"]
    torn = Report("e.json", error="it is cut off in the middle, or still being written")
    assert inbox.put_away("e.json", torn, 104) == ""
    assert inbox.waiting(110) == []
    assert inbox.waiting(163) == ["e.json"]
    assert inbox.put_away("e.json", torn, 163) == "_inbox/failed/e.json"


def test_a_vault_that_cannot_be_written_leaves_the_inbox_as_it_is(tmp_path: Path) -> None:
    inbox = Inbox(VaultFiles(tmp_path, system_clock), quiet_seconds=0)
    (tmp_path / "_inbox").mkdir()
    (tmp_path / "_inbox" / "e.json").write_text("[]")
    assert inbox.waiting(100) == ["e.json"]
    assert inbox.put_away("e.json", Report("e.json", error="disk full", again=True), 100) == ""
    assert (tmp_path / "_inbox" / "e.json").exists()
    assert inbox.waiting(110) == []


def test_links_downloads_under_way_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "_inbox"
    (place / "done").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("x")
    (place / "link.md").symlink_to(tmp_path / "secret.md")
    for name in (".hidden", "export.zip.crdownload", "x.part", "draft.md~"):
        (place / name).write_text("x")
    inbox = Inbox(VaultFiles(tmp_path, system_clock), quiet_seconds=0)
    assert inbox.waiting(1) == []


def test_rows_that_failed_are_named_in_the_reasons(tmp_path: Path) -> None:
    inbox = Inbox(VaultFiles(tmp_path, system_clock), quiet_seconds=0)
    (tmp_path / "_inbox").mkdir()
    (tmp_path / "_inbox" / "e.json").write_text("[]")
    inbox.waiting(1)
    rows = [Row("Bread", "imported"), Row("Knees", "failed", reason="it is too large")]
    place = inbox.put_away("e.json", Report("e.json", rows=rows), 1)
    why = (tmp_path / f"{place}.why.txt").read_text("utf-8")
    assert "1 imported, 1 failed" in why
    assert "Knees: it is too large" in why


# -- followed logs


def line(number: int, said: str) -> str:
    """A line of a Claude Code log."""
    kind = "user" if number % 2 == 0 else "assistant"
    record = {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": "s1",
        "timestamp": f"2026-03-01T10:{number:02}:00Z",
        "cwd": "/home/ada/bread",
        "message": {"role": kind, "content": said},
    }
    return json.dumps(record) + "\n"


class Logs:
    """A folder of session logs that is followed."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory, self.folder = memory, folder
        folder.mkdir(parents=True)
        memory.capture.watch([str(folder)], "Work/Sessions")

    def write(self, text: str, name: str = "s1.jsonl") -> None:
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def texts(self) -> list[str]:
        library = self.memory._store.library
        return [
            self.memory.transcript(r.id, opening=False)
            for r in library.memories()
            if r.kind == "memory"
        ]


@pytest.fixture
def logs(memory: Memory, tmp_path: Path) -> Logs:
    return Logs(memory, tmp_path / "projects" / "bread")


def test_a_log_is_followed_as_it_grows_and_half_a_line_waits(memory: Memory, logs: Logs) -> None:
    logs.write(line(0, "How long does rye rise?"))
    assert memory.capture.follow() == 1
    half = line(1, "About five hours.")
    logs.write(half[:40])
    memory.capture.follow()
    (text,) = logs.texts()
    assert "five hours" not in text
    logs.write(half[40:] + line(2, "Thanks!"))
    memory.capture.follow()
    (text,) = logs.texts()
    assert "five hours" in text
    assert "Thanks!" in text
    (chunk,), _ = memory.memories(_all())
    assert (chunk.broad, chunk.focused) == ("Work", "Sessions")


def _all() -> Any:
    from neurigraph.memory import Filter

    return Filter()


def test_nothing_is_read_or_written_while_nothing_changes(memory: Memory, logs: Logs) -> None:
    logs.write(line(0, "How long does rye rise?") + line(1, "Five hours."))
    memory.capture.follow()
    before = {p: p.stat().st_mtime_ns for p in memory.vault.rglob("*")}
    assert memory.capture.follow() == 0
    again = Followed(memory.state_dir / "followed.json", 0)
    assert again.changed(memory.capture.folders, 1e12) == {}, "nor after a restart"
    assert {p: p.stat().st_mtime_ns for p in memory.vault.rglob("*")} == before


def test_only_session_logs_are_taken_from_followed_folders(memory: Memory, logs: Logs) -> None:
    (logs.folder / "settings.json").write_text('{"theme": "dark"}')
    (logs.folder / "notes.md").write_text("# Not a log\n")
    (logs.folder / "numbers.jsonl").write_text("1\n2\n")
    assert memory.capture.follow() == 2
    assert memory.capture.follow() == 0
    assert memory.counts().memories == 0


def test_a_log_that_never_rests_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "LONGEST", 100.0)
    log = tmp_path / "logs" / "s.jsonl"
    log.parent.mkdir()
    found = Followed(tmp_path / "f.json", quiet_seconds=10)
    for now in range(1_000, 1_100, 5):
        log.write_text("x" * now)
        os.utime(log, (now, now))
        assert found.changed([str(log.parent)], now) == {}
    log.write_text("more")
    os.utime(log, (1_100, 1_100))
    assert list(found.changed([str(log.parent)], 1_100)) == [str(log)]


def test_a_folder_that_is_gone_and_a_torn_memory_of_what_was_read_do_no_harm(
    tmp_path: Path,
) -> None:
    (tmp_path / "f.json").write_text('{"a": 3')
    found = Followed(tmp_path / "f.json", quiet_seconds=0)
    assert found.changed([str(tmp_path / "nowhere")], 1) == {}
