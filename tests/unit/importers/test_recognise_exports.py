"""Files are known by what they hold; what cannot be imported gives one clear line."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurigraph.importers.opened import Item
from neurigraph.importers.recognise import recognise
from neurigraph.importers.source import Bounds, Failed, UnreadableExport
from neurigraph.model import Conversation

Read = Callable[[Path], list[Item]]

CHATGPT = [
    {
        "id": "c",
        "title": "T",
        "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["Hi"]}}}},
    }
]
CLAUDE = [{"uuid": "u", "name": "N", "chat_messages": [{"sender": "human", "text": "Hi"}]}]
CODE = {
    "type": "user",
    "uuid": "1",
    "sessionId": "s",
    "message": {"role": "user", "content": "Hi"},
}


def conversations(items: list[Item]) -> list[Conversation]:
    assert all(isinstance(item, Conversation) for item in items), items
    return [item for item in items if isinstance(item, Conversation)]


def refused(path: Path, bounds: Bounds | None = None) -> str:
    with pytest.raises(UnreadableExport) as caught:
        recognise(path, bounds)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_names_say_nothing_content_does(make: Any, make_zip: Any, read: Read) -> None:
    assert conversations(read(make("photo.jpg", CHATGPT)))[0].source_id == "chatgpt:c"
    assert conversations(read(make("x", CLAUDE)))[0].source_id == "claude:u"
    assert conversations(read(make("notes.txt", lines=[CODE])))[0].source_id == "claude-code:s"
    named = make_zip("no-ending", {"conversations.json": CHATGPT})
    assert conversations(read(named))[0].source_id == "chatgpt:c"
    prose = "[ ] buy rye\n[x] bake\n"
    assert conversations(read(make("conversations.json", prose)))[0].content == prose


def test_an_export_that_an_editor_saved_as_utf_16_is_not_called_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(CLAUDE), "utf-16")
    assert "save it as UTF-8" in refused(path)
    path.write_text(json.dumps(CLAUDE), "utf-32")
    assert "binary file" in refused(path)


@pytest.mark.parametrize("start", [b"%PDF-1.4\n%plain\n", b"{\\rtf1\\ansi hello}"])
def test_a_document_that_is_no_plain_text_is_not_imported_as_one(
    tmp_path: Path, start: bytes
) -> None:
    (tmp_path / "talk.txt").write_bytes(start)
    assert "no export that is known (PDF or RTF)" in refused(tmp_path / "talk.txt")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_is_refused_at_once_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "conversations.json")
    assert "it is a pipe or a device" in refused(tmp_path / "conversations.json")
    (tmp_path / "link.json").symlink_to("conversations.json")
    assert "it is a pipe or a device" in refused(tmp_path / "link.json")
    assert "there is no such file" in refused(tmp_path / "nothing.json")


def test_a_zip_that_is_cut_off_changes_nothing(make_zip: Any, tmp_path: Path) -> None:
    data = make_zip("e.zip", {"conversations.json": CHATGPT * 50}).read_bytes()
    for keep in (len(data) - 10, len(data) // 2, 30):
        (tmp_path / "torn.zip").write_bytes(data[:keep])
        assert refused(tmp_path / "torn.zip").startswith("torn.zip: the zip is cut off or damaged")


def test_a_zip_with_a_damaged_member_changes_nothing(make_zip: Any) -> None:
    path = make_zip("e.zip", {"a.json": CLAUDE, "conversations.json": CHATGPT * 500})
    with zipfile.ZipFile(path) as packed:
        at = packed.getinfo("conversations.json").header_offset + 60
    data = bytearray(path.read_bytes())
    data[at : at + 8] = b"\0\xff\0\xff\0\xff\0\xff"
    path.write_bytes(data)
    assert "conversations.json in it is damaged" in refused(path)


@pytest.mark.parametrize("cut", [0.3, 0.9, 0.999])
def test_json_that_is_still_being_written_changes_nothing(
    make: Any, make_zip: Any, cut: float
) -> None:
    text = json.dumps(CHATGPT * 500)
    text = text[: int(len(text) * cut) - 2]
    assert "still being written" in refused(make("conversations.json", text))
    assert "is cut off in the middle" in refused(make_zip("e.zip", {"conversations.json": text}))


def test_wrong_files_give_one_clear_line(make: Any, make_zip: Any, tmp_path: Path) -> None:
    assert "what can be imported" in refused(make("a.bin", b"\0\1\2"))
    assert "what can be imported" in refused(make("a.json", {"name": "left-pad", "x": [1]}))
    assert "no conversations" in refused(make("a.json", []))
    assert "no conversations" in refused(make("empty.txt", ""))
    assert "web page" in refused(make("chat.html", "<!DOCTYPE html><html></html>"))
    assert "no conversations" in refused(make_zip("a.zip", {"a.json": {"x": 1}, "b.png": b"\0"}))
    assert "no such file" in refused(tmp_path / "missing.zip")
    (tmp_path / "folder").mkdir()
    assert "nothing in this folder" in refused(tmp_path / "folder")
    inner = make_zip("inner.zip", {"conversations.json": CHATGPT}).read_bytes()
    assert "other zips" in refused(make_zip("outer.zip", {"inner.zip": inner}))


def test_a_password_protected_zip_is_said_to_be_one(make_zip: Any) -> None:
    path = make_zip("e.zip", {"conversations.json": CHATGPT})
    data = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + at] |= 1
    path.write_bytes(data)
    assert "protected by a password" in refused(path)


def test_zip_bombs_are_refused_unopened(make_zip: Any) -> None:
    bomb = make_zip("bomb.zip", {"conversations.json": b"[" + b" " * 20_000_000 + b"]"})
    assert "zip bomb" in refused(bomb)
    many = make_zip("many.zip", {f"{n}.json": "[]" for n in range(50)})
    assert "more than 20 files" in refused(many, Bounds(zip_members=20))
    assert "unpacked" in refused(many, Bounds(zip_total=90))


@pytest.mark.parametrize(
    "name", ["../../notes.md", "a/../../b.md", "/etc/x.md", "C:\\notes.md", "a\\..\\..\\b.md"]
)
def test_a_zip_with_names_that_lead_out_of_it_is_refused(make_zip: Any, name: str) -> None:
    path = make_zip("e.zip", {"conversations.json": CHATGPT, name: "# windows"})
    assert "leads out of its folder" in refused(path)


def test_attachments_whose_names_climb_out_touch_nothing(
    make_zip: Any, read: Read, tmp_path: Path
) -> None:
    talk = json.loads(json.dumps(CHATGPT[0]))
    talk["mapping"]["a"]["message"]["metadata"] = {
        "attachments": [
            {"id": "file-EVIL", "name": "../../../evil.txt"},
            {"id": "file-ABS", "name": "/etc/passwd"},
        ]
    }
    before = set(tmp_path.rglob("*"))
    path = make_zip(
        "e.zip",
        {
            "conversations.json": [talk],
            "file-EVIL.dat": "boo",
            "file-ABS.dat": "root",
        },
    )
    found = conversations(read(path))
    assert [(a.name, a.data) for a in found[0].artifacts] == [
        ("evil.txt", b"boo"),
        ("passwd", b"root"),
    ]
    assert set(tmp_path.rglob("*")) - before == {path}


def test_a_huge_line_in_a_log_gives_one_line_and_no_memory(make: Any) -> None:
    path = make("log.jsonl", lines=[CODE])
    with path.open("ab") as log:
        log.write(b'{"type": "user", "x": "' + b"a" * 3_000_000 + b'"}\n')
        log.write(json.dumps(CODE | {"uuid": "2"}).encode() + b"\n")
    with recognise(path, Bounds(line=1_000_000)) as export:
        items = list(export.read())
    assert items == [Failed("log.jsonl, line 2", "the line has 3 MB and was left out")]


def test_a_huge_first_line_does_not_hide_what_a_log_is(make: Any) -> None:
    path = make("log.jsonl", b'{"x": "' + b"a" * 5_000_000 + b'"}\n' + json.dumps(CODE).encode())
    with recognise(path) as export:
        assert [kind.value for kind in export.kinds] == ["Claude Code log"]


def test_a_folder_of_everything(make: Any, make_zip: Any, read: Read, tmp_path: Path) -> None:
    make("all/gpt/conversations.json", CHATGPT)
    make("all/gpt/file-abc.md", "# an attachment")
    make("all/notes/2026-02-03 rye.md", "# Rye\n\ntext")
    make("all/code/s.jsonl", lines=[CODE])
    make("all/torn.json", json.dumps(CLAUDE)[:-20])
    make("all/picture.png", b"\x89PNG")
    make("all/.git/config.md", "hidden")
    make("all/package.json", {"name": "x"})
    make_zip("all/claude.zip", {"conversations.json": CLAUDE})
    make_zip("all/broken.zip", {"conversations.json": CLAUDE})
    broken = tmp_path / "all" / "broken.zip"
    broken.write_bytes(broken.read_bytes()[:-9])
    with recognise(tmp_path / "all") as export:
        items = list(export.read())
        skipped = dict(export.skipped)
    ids = sorted(i.source_id for i in items if isinstance(i, Conversation))
    assert ids[:3] == ["chatgpt:c", "claude-code:s", "claude:u"]
    assert len(ids) == 4
    assert ids[3].startswith("file:")
    assert sorted(i.title for i in items if isinstance(i, Failed)) == ["broken.zip", "torn.json"]
    assert skipped == {"attachment of an export": 1, "other file": 2}


def test_progress_reaches_the_whole(make: Any, make_zip: Any) -> None:
    with recognise(make_zip("e.zip", {"conversations.json": CHATGPT * 3})) as export:
        assert export.done_bytes == 0
        assert export.total_bytes > 100
        list(export.read())
        assert export.done_bytes == export.total_bytes


def test_an_element_over_the_bound_is_failed_and_the_rest_imported(make: Any) -> None:
    huge = {**CHATGPT[0], "title": "x" * 5_000_000}
    path = make("conversations.json", [CHATGPT[0], huge, CHATGPT[0]])
    with recognise(path, Bounds(conversation=2_000_000)) as export:
        kinds = [type(item).__name__ for item in export.read()]
    assert kinds == ["Conversation", "Failed", "Conversation"]


def test_plain_markdown_honours_its_frontmatter(make: Any, read: Read) -> None:
    note = (
        "---\ntitle: 'Rye: a talk'\ndate: 2026-02-03T10:00:00\ntags: [bread, '#rye']\n"
        "keywords:\n  - oven\n---\n# Heading\n\nUser: Hi\n"
    )
    assert conversations(read(make("note.md", note)))[0] == Conversation(
        content="# Heading\n\nUser: Hi\n",
        title="Rye: a talk",
        created=datetime(2026, 2, 3, 10, tzinfo=UTC),
        source_id=conversations(read(make("note.md", note)))[0].source_id,
        keywords=("oven", "bread", "rye"),
    )


def test_plain_text_takes_title_and_date_from_heading_and_name(make: Any, read: Read) -> None:
    found = conversations(read(make("2026-02-03 talk.md", "intro\n\n# The talk #\n\ntext")))[0]
    assert (found.title, found.created) == ("The talk", datetime(2026, 2, 3, tzinfo=UTC))
    assert found.content == "intro\n\n# The talk #\n\ntext"
    found = conversations(read(make("chat.txt", "Caf\xe9".encode("cp1252"))))[0]
    assert (found.title, found.content) == ("chat", "Café")
    found = conversations(read(make("wide.txt", "Ёлка".encode("utf-16"))))[0]
    assert found.content == "Ёлка"


def test_frontmatter_with_more_in_it_is_kept_whole(make: Any, read: Read) -> None:
    note = "---\ntitle: T\nmood: good\n---\nBody\n"
    assert conversations(read(make("note.md", note)))[0].content == note


def test_two_files_of_one_name_stay_two_and_a_grown_one_stays_itself(
    make: Any, read: Read, tmp_path: Path
) -> None:
    def identity(path: Path) -> str:
        return conversations(read(path))[0].source_id

    first = identity(make("a/chat.txt", "Hello\nmore"))
    assert identity(make("b/chat.txt", "Goodbye\n")) != first
    assert identity(make("a/chat.txt", "Hello\nmore\nand more")) == first
    make("f/x/chat.txt", "Hello")
    make("f/y/chat.txt", "Hello")
    ids = {item.source_id for item in conversations(read(tmp_path / "f"))}
    assert len(ids) == 2
