"""Years of conversations through the command line and a real daemon: in, again, hostile, out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon_process import Daemon, daemon

sys.path.append(str(Path(__file__).parent.parent / "bench"))

from make_export import make_export


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Daemon]:
    vault = tmp_path / "vault"
    vault.mkdir()
    with daemon(vault, tmp_path / "state", NEURIGRAPH_IMPORTS_QUIET_SECONDS="1") as running:
        running.ready(vectors=False)
        yield running


def picture(vault: Path) -> dict[str, bytes]:
    return {
        path.relative_to(vault).as_posix(): path.read_bytes()
        for path in vault.rglob("*")
        if path.is_file()
    }


def claude(*talks: tuple[str, str, str]) -> str:
    """A Claude export of conversations: name, question, answer."""
    return json.dumps(
        [
            {
                "uuid": f"id-{name}",
                "name": name,
                "created_at": "2024-03-01T10:00:00Z",
                "chat_messages": [
                    {"uuid": "a", "sender": "human", "text": asked},
                    {"uuid": "b", "sender": "assistant", "text": answered},
                ],
            }
            for name, asked, answered in talks
        ]
    )


RYE = ("Rye", "How long does rye rise in a cold kitchen?", "About five hours.")
KNEES = ("Knees", "Why do my knees hurt downhill?", "Eccentric load.")


def test_an_export_is_found_by_its_words_and_importing_it_again_changes_nothing(
    running: Daemon, tmp_path: Path
) -> None:
    export = tmp_path / "export.zip"
    with zipfile.ZipFile(export, "w") as packed:
        packed.writestr("conversations.json", claude(RYE, KNEES))
    said = running.cli("import", str(export), "--dry-run", "--topic", "Life/Chats")
    assert "Life/Chats" in said
    assert "2 imported" in said
    assert picture(running.vault) == {}
    assert "2 imported" in running.cli("import", str(export), "--topic", "Life/Chats")
    (hit,) = running.search("rye cold kitchen")
    assert hit["path"] == "Life/Chats/2024-03-01 Rye.md"
    running.until(lambda: not running.get("/api/status")["index"]["vector_behind"], "vectors")
    running.until(lambda: not running.get("/api/status")["summarizer"].get("waiting"), "summaries")
    before = picture(running.vault)
    assert "2 unchanged" in running.cli("import", str(export))
    assert picture(running.vault) == before
    result = running.cli_json("import", str(export))
    assert [row["what"] for row in result["rows"]] == ["unchanged", "unchanged"]
    assert running.get("/api/import", what="failed")["total"] == 0


def test_a_failure_is_in_the_table_with_its_reason_and_the_exit_code_is_1(
    running: Daemon, tmp_path: Path
) -> None:
    broken = claude(RYE)[:-1] + ', {"chat_messages": [], "name": 3}, 17, ' + claude(KNEES)[1:]
    (tmp_path / "e.json").write_text(broken)
    said = running.cli("import", str(tmp_path / "e.json"), code=1)
    assert "2 imported" in said
    assert "failed" in said
    assert "it is not an object" in said
    assert running.search("knees downhill")


def hostile_files(place: Path) -> dict[str, tuple[Path, str]]:
    """Files that nothing can be imported from, each with a word of the line that must be said."""
    good = place / "good.zip"
    with zipfile.ZipFile(good, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", claude(RYE, KNEES) + " " * 5000)
    torn = place / "torn.zip"
    torn.write_bytes(good.read_bytes()[:-40])
    photo = place / "photo.jpg"
    photo.write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(range(256)) * 9)
    half = place / "half.json"
    half.write_text(claude(RYE, KNEES)[:-30])
    bomb = place / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b"[" + b" " * 40_000_000 + b"]")
    # the first part of the log is plain, so that it is known for what it is; then 2 GB of nothing
    line = place / "line.jsonl"
    record = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user"}}
    with line.open("wb") as file:
        for _ in range(4_000):
            file.write(json.dumps(record).encode() + b"\n")
        file.write(b'{"type": "user", "message": "')
        file.seek(2_000_000_000, os.SEEK_CUR)
        file.write(b'"}\n')
    return {
        "a torn zip": (torn, "cut off"),
        "a wrong file": (photo, "no export that is known"),
        "half of an export": (half, "still being written"),
        "a zip bomb": (bomb, "bomb"),
        "a line of 2 GB": (line, "2000 MB"),
    }


def test_hostile_and_half_written_files_give_one_line_and_change_nothing(
    running: Daemon, tmp_path: Path
) -> None:
    for what, (path, word) in hostile_files(tmp_path).items():
        said = running.cli("import", str(path), code=1)
        lines = [line for line in said.splitlines() if word in line]
        assert len(lines) == 1, (what, said)
        assert "Traceback" not in said
        assert picture(running.vault) == {}, what
    assert "there is no" in running.cli("import", str(tmp_path / "nowhere.zip"), code=1)
    assert running.get("/api/status")["state"] == "ready"


def test_names_that_lead_out_of_an_export_are_refused(running: Daemon, tmp_path: Path) -> None:
    for number, name in enumerate(("../../evil.md", "/tmp/evil.md", "a\\..\\..\\evil.md")):
        export = tmp_path / f"evil{number}.zip"
        with zipfile.ZipFile(export, "w") as packed:
            packed.writestr("conversations.json", claude(RYE))
            packed.writestr(name, "# Evil\n\nOut of the zip.\n")
        said = running.cli("import", str(export), code=1)
        assert "leads out of its folder" in said, name
        assert said.count("\n") == 1, said
        assert picture(running.vault) == {}
    (tmp_path / "own.jsonl").write_text(
        '{"neurigraph":"export","version":1}\n'
        '{"id":"","path":"../evil.md","note":"x"}\n'
        '{"id":"","path":".obsidian/plugins/evil.md","note":"x"}\n'
        '{"neurigraph":"end","items":2}\n'
    )
    assert "2 failed" in running.cli("import", str(tmp_path / "own.jsonl"), code=1)
    assert not list(tmp_path.rglob("evil.md"))
    assert picture(running.vault) == {}


def test_an_import_that_the_power_ended_goes_on_when_it_is_asked_again(tmp_path: Path) -> None:
    export = tmp_path / "export.zip"
    make_export(export, 150, 3)
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    with daemon(vault, state) as running:
        running.ready(vectors=False)
        body = {"path": str(export), "topic": "Old/Chats"}
        assert running.http.post("/api/import", json=body).status_code == 202
        running.until(lambda: running.get("/api/status")["counts"]["memories"] > 30, "a part")
        running.kill()
    with daemon(vault, state) as running:
        running.ready(vectors=False)
        result = running.cli_json("import", str(export), "--topic", "Old/Chats")
        counts = result["counts"]
        assert counts["failed"] == 0
        assert counts["imported"] + counts["unchanged"] == 150
        assert counts["unchanged"] > 0
        assert running.get("/api/memory")["total"] == 150
        assert running.get("/api/status")["problems"] == []


def test_a_title_of_pages_takes_a_line_or_two_of_the_plan(running: Daemon, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(claude(("Rye " * 2_000, *RYE[1:])))
    assert len(running.cli("import", str(tmp_path / "e.json"), "--dry-run").splitlines()) < 12


def test_ctrl_c_stops_an_import_and_says_how_to_go_on(running: Daemon, tmp_path: Path) -> None:
    export = tmp_path / "export.zip"
    make_export(export, 4000, 60)  # far more than is imported until the signal comes
    command = [sys.executable, "-m", "neurigraph", "import", str(export)]
    started = subprocess.Popen(
        command, env=running.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    running.until(lambda: running.get("/api/status")["counts"]["memories"] > 10, "a part")
    started.send_signal(signal.SIGINT)
    said, _ = started.communicate(timeout=60)
    assert "Stopped. Import it again" in said
    assert running.get("/api/status")["counts"]["memories"] < 4000


def test_what_is_dropped_into_the_inbox_is_imported_or_put_aside_with_the_reason(
    running: Daemon,
) -> None:
    inbox = running.vault / "_inbox"
    inbox.mkdir()
    (inbox / "conversations.json").write_text(claude(RYE))
    (inbox / "photo.jpg").write_bytes(b"\xff\xd8\xff\x00" * 50)
    running.until(lambda: (inbox / "done" / "conversations.json").exists(), "import")
    assert running.search("rye cold kitchen")
    running.until(lambda: (inbox / "failed" / "photo.jpg.why.txt").exists(), "putting aside")


def test_a_file_that_is_still_written_into_the_inbox_is_not_touched(running: Daemon) -> None:
    inbox = running.vault / "_inbox"
    inbox.mkdir()
    text = claude(RYE, KNEES)
    with (inbox / "slow.json").open("w", encoding="utf-8") as file:
        for start in range(0, len(text), 40):
            file.write(text[start : start + 40])
            file.flush()
            time.sleep(0.3)  # as a slow download does: there is no event to wait for
            assert (inbox / "slow.json").exists()
    running.until(lambda: (inbox / "done" / "slow.json").exists(), "import")
    assert running.search("knees downhill")


def log_line(number: int, said: str) -> str:
    kind = "user" if number % 2 == 0 else "assistant"
    record: dict[str, Any] = {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": "s1",
        "timestamp": f"2026-03-01T10:{number:02}:00Z",
        "cwd": "/home/ada/bread",
        "message": {"role": kind, "content": said},
    }
    return json.dumps(record) + "\n"


def test_session_logs_are_followed_as_they_grow_also_after_a_restart(tmp_path: Path) -> None:
    logs = tmp_path / "projects" / "bread"
    logs.mkdir(parents=True)
    log = logs / "s1.jsonl"
    log.write_text(log_line(0, "How long does rye rise?"))
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    quick = {"NEURIGRAPH_IMPORTS_QUIET_SECONDS": "1"}
    with daemon(vault, state, **quick) as running:
        running.ready(vectors=False)
        said = running.cli("import", "--watch", str(logs.parent), "--topic", "Work/Sessions")
        assert str(logs.parent) in said
        running.until(lambda: running.search("rye"), "the log")
        half = log_line(1, "About five hours, says the zymologist.")
        with log.open("a", encoding="utf-8") as file:
            file.write(half[:60])
        time.sleep(3)  # nothing is to happen, so there is no event to wait for
        assert not running.search("zymologist")
        with log.open("a", encoding="utf-8") as file:
            file.write(half[60:])
        running.until(lambda: running.search("zymologist"), "the rest of the line")
    before = picture(vault)
    with daemon(vault, state, **quick) as running:
        running.ready(vectors=False)
        with log.open("a", encoding="utf-8") as file:
            file.write(log_line(2, "Thanks, I will ask the baker Ottoline."))
        running.until(lambda: running.search("Ottoline"), "what was added")
        assert running.get("/api/memory")["total"] == 1
        (memory,) = running.get("/api/memory")["items"]
        assert (memory["broad"], memory["focused"]) == ("Work", "Sessions")
        assert memory["path"] in before
        said = running.cli("import", "--watch", str(tmp_path), code=1)
        assert "name a folder of logs alone" in said
        assert "No folder" in running.cli("import", "--unwatch", str(logs.parent))
    assert "watch = []" in next(state.glob("*/local.toml")).read_text()


def test_everything_goes_out_and_comes_back_into_an_empty_vault(
    running: Daemon, tmp_path: Path
) -> None:
    (tmp_path / "e.json").write_text(claude(RYE, KNEES))
    running.cli("import", str(tmp_path / "e.json"), "--topic", "Life/Chats")
    (running.vault / "Diary").mkdir()
    (running.vault / "Diary" / "day.md").write_bytes(b"\xef\xbb\xbfMet Ada.\r\n")
    running.until(lambda: running.search("Ada"), "the diary")
    running.until(lambda: not running.get("/api/status")["summarizer"].get("waiting"), "summaries")
    one, folder = tmp_path / "all.jsonl", tmp_path / "all"
    assert "notes are in" in running.cli("export", str(one))
    running.cli("export", str(folder))
    assert "is there already" in running.cli("export", str(one), code=1)
    assert (folder / "Diary" / "day.md").read_bytes() == b"\xef\xbb\xbfMet Ada.\r\n"
    memories = running.get("/api/memory", per_page=500)["items"]
    expected = {p: b for p, b in picture(running.vault).items() if p.endswith(".md")}
    for number, source in enumerate((one, folder)):
        vault = tmp_path / f"vault{number}"
        vault.mkdir()
        with daemon(vault, tmp_path / f"state{number}") as other:
            other.ready(vectors=False)
            other.cli("import", str(source))
            found = other.get("/api/memory", per_page=500)["items"]
            assert {m["id"] for m in found} == {m["id"] for m in memories}
        assert {p: b for p, b in picture(vault).items() if p.endswith(".md")} == expected


def test_a_secret_is_listed_allowed_and_a_memory_forgotten_by_command(
    running: Daemon, tmp_path: Path
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    leaky = ("Leaky", f"Why does my token {key} not work?", "It expired.")
    (tmp_path / "e.json").write_text(claude(leaky, RYE))
    assert "1 of them hold" in running.cli("import", str(tmp_path / "e.json"))
    said = running.cli("secrets")
    assert "GitHub token" in said
    assert key not in said
    (held,) = running.cli_json("secrets")
    assert "1 allowed" in running.cli("secrets", "--allow", held["id"])
    assert "Nothing is held" in running.cli("secrets")
    for wrong in ("", "../x"):
        assert f"no memory '{wrong}'" in running.cli("forget", wrong, "--yes", code=1)
    assert "Forgotten: Leaky" in running.cli("forget", held["id"], "--yes")
    assert not running.search("token expired")
    assert key.encode() not in b"".join(picture(running.vault).values())
    assert "1 left out" in running.cli("import", str(tmp_path / "e.json"))
