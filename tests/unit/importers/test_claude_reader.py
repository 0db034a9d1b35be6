"""Claude exports: blocks, attachments, artifacts, branches, and the manifest of 2026."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurigraph.importers.opened import Item
from neurigraph.importers.recognise import recognise
from neurigraph.importers.source import Failed, UnreadableExport
from neurigraph.model import Conversation

Read = Callable[[Path], list[Item]]


def said(sender: str, *blocks: Any, minute: int = 0, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {
        "uuid": f"m{minute}",
        "sender": sender,
        "text": "This block is not supported on your current device yet.",
        "content": content,
        "created_at": f"2026-03-01T09:{minute:02}:00.123456Z",
        **more,
    }


def talk(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": "c-7",
        "name": "Rye",
        "summary": "",
        "created_at": "2026-03-01T09:00:00.123456Z",
        "updated_at": "2026-03-01T09:05:00.000001Z",
        "account": {"uuid": "a"},
        "chat_messages": list(messages),
        **more,
    }


def only(items: list[Item]) -> Conversation:
    assert len(items) == 1
    assert isinstance(items[0], Conversation), items[0]
    return items[0]


def content_of(make: Any, read: Read, *messages: dict[str, Any]) -> str:
    return only(read(make("conversations.json", [talk(*messages)]))).content


def test_a_plain_conversation(make_zip: Any, read: Read) -> None:
    path = make_zip(
        "data-2026.zip",
        {
            "users.json": [{"uuid": "a", "full_name": "A"}],
            "projects.json": [{"uuid": "p", "name": "P", "docs": []}],
            "conversations.json": [talk(said("human", "Rye?"), said("assistant", "A.", minute=1))],
        },
    )
    assert only(read(path)) == Conversation(
        content="## User · 2026-03-01T09:00:00\n\nRye?\n\n"
        "## Assistant · 2026-03-01T09:01:00\n\nA.\n",
        title="Rye",
        created=datetime(2026, 3, 1, 9, 0, 0, 123456, UTC),
        source_model="claude",
        source_id="claude:c-7",
    )


def test_content_wins_over_text_and_text_serves_where_content_is_empty(
    make: Any, read: Read
) -> None:
    assert "This block" not in content_of(make, read, said("human", "Hi"))
    assert "From text" in content_of(make, read, said("human", text="From text"))


@pytest.mark.parametrize("content", ['[{"type": "text", "text": "Hi"}]', "Hi", '"Hi"'])
def test_content_may_be_json_in_a_string(make: Any, read: Read, content: str) -> None:
    message = {"sender": "human", "text": "", "content": content}
    assert content_of(make, read, message) == "## User\n\nHi\n"


def test_thinking_tools_and_results_are_folded_and_bookkeeping_is_left_out(
    make: Any, read: Read
) -> None:
    content = content_of(
        make,
        read,
        said("human", "Look"),
        said(
            "assistant",
            {"type": "thinking", "thinking": "First\n\nthen", "summaries": []},
            {"type": "token_budget"},
            {"type": "injected_prompt_block", "text": "never shown"},
            {"type": "tool_use", "id": "t", "name": "web_search", "input": {"query": "rye"}},
            {"type": "tool_result", "content": [{"type": "text", "text": "hardy grain"}]},
            "Hardy.",
            minute=1,
        ),
    )
    assert content == (
        "## User · 2026-03-01T09:00:00\n\nLook\n\n"
        "## Assistant · 2026-03-01T09:01:00\n\n"
        "> [!note]- Thinking\n> First\n>\n> then\n\n"
        '> [!example]- Tool: web_search\n> ```json\n> {\n>   "query": "rye"\n> }\n> ```\n\n'
        "> [!quote]- Result\n> ```\n> hardy grain\n> ```\n\n"
        "Hardy.\n"
    )


def test_attached_text_is_kept_folded_and_a_pasted_message_is_what_the_person_said(
    make: Any, read: Read
) -> None:
    attachment = {"file_name": "log.txt", "extracted_content": "line 1\n## User\nline 3"}
    content = content_of(
        make, read, said("human", "See", attachments=[attachment], files=[{"file_name": "p.png"}])
    )
    assert content.endswith(
        "See\n\n> [!quote]- Attachment: log.txt\n> ```\n> line 1\n> ## User\n> line 3\n> ```\n\n"
        "*Attachment: p.png*\n"
    )
    pasted = {"file_name": "", "extracted_content": "All that I wrote"}
    content = content_of(make, read, said("human", text="", attachments=[pasted]))
    assert content == "## User · 2026-03-01T09:00:00\n\nAll that I wrote\n"


def test_documents_images_and_voice_notes(make: Any, read: Read) -> None:
    content = content_of(
        make,
        read,
        said(
            "human",
            {"type": "document", "title": "Plan.pdf"},
            {"type": "image", "file_name": "cat.png"},
            {"type": "voice_note", "title": "Note", "text": "Spoken words"},
        ),
    )
    assert content.endswith("*Attachment: Plan.pdf*\n\n*Image: cat.png*\n\nSpoken words\n")


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def test_the_last_state_of_what_claude_made_becomes_an_artifact(make: Any, read: Read) -> None:
    found = only(
        read(
            make(
                "conversations.json",
                [
                    talk(
                        said("human", "Write"),
                        said(
                            "assistant",
                            use(
                                "artifacts",
                                id="page",
                                command="create",
                                type="text/html",
                                title="My page",
                                content="<p>one</p>",
                            ),
                            use(
                                "artifacts", id="page", command="update", old_str="one", new_str="2"
                            ),
                            use(
                                "artifacts", id="page", command="update", old_str="no", new_str="x"
                            ),
                            use(
                                "artifacts",
                                id="code",
                                command="create",
                                type="application/vnd.ant.code",
                                language="python",
                                title="Tool",
                                content="old",
                            ),
                            use("artifacts", id="code", command="rewrite", content="new = 1"),
                            use("artifacts", id="lost", command="update", old_str="a", new_str="b"),
                            use("create_file", path="/mnt/a/notes.md", file_text="# N\nx"),
                            use("str_replace", path="/mnt/a/notes.md", old_str="x", new_str="y"),
                            use("create_file", path="/mnt/b/notes.md", file_text="other"),
                            minute=1,
                        ),
                    )
                ],
            )
        )
    )
    assert [(file.name, file.data.decode()) for file in found.artifacts] == [
        ("My page.html", "<p>2</p>"),
        ("Tool.py", "new = 1"),
        ("notes.md", "# N\ny"),
        ("notes 2.md", "other"),
    ]


def test_where_messages_name_parents_the_newest_leaf_is_followed(make: Any, read: Read) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    content = content_of(
        make,
        read,
        said("human", "Q", minute=0, parent_message_uuid=root),
        said("assistant", "first try", minute=1, parent_message_uuid="m0"),
        said("assistant", "second try", minute=3, parent_message_uuid="m0"),
        said("human", "to the first", minute=2, parent_message_uuid="m1"),
    )
    assert "second try" in content
    assert "first" not in content


def test_empty_conversations_are_counted_not_imported(make: Any) -> None:
    with recognise(make("conversations.json", [talk(), talk(said("human", "Hi"))])) as export:
        assert len(list(export.read())) == 1
        assert export.skipped["empty conversation"] == 1


def test_a_conversation_without_any_id_keeps_one_name(make: Any, read: Read) -> None:
    message = {"sender": "human", "text": "Hi"}
    bare = {"name": "N", "chat_messages": [message]}
    first = only(read(make("a.json", [bare]))).source_id
    assert first == only(read(make("b.json", [bare]))).source_id
    assert first.startswith("claude:")


def test_a_manifest_leads_to_the_zips_beside_it(make_zip: Any, make: Any, read: Read) -> None:
    links = [
        f"https://storage.example.org/x/{name}.zip?sig=abc"
        for name in ("conversations-000", "conversations-001", "projects-000")
    ]
    manifest = make("manifest-9d86.json", {"files": [{"download_url": link} for link in links]})
    with pytest.raises(UnreadableExport, match="download them into the same folder"):
        recognise(manifest)
    make_zip("conversations-000.zip", {"conversations.json": [talk(said("human", "Hi"))]})
    make_zip("projects-000.zip", {"projects/1.json": {"uuid": "p", "docs": []}})
    items = read(manifest)
    assert [type(item).__name__ for item in items] == ["Failed", "Conversation"]
    assert isinstance(items[0], Failed)
    assert items[0].title == "conversations-001.zip"


def test_a_claude_export_is_not_taken_for_one_of_chatgpt(make: Any) -> None:
    path = make("conversations.json", json.dumps([talk(said("human", "Hi"))], indent=2))
    with recognise(path) as export:
        assert [kind.value for kind in export.kinds] == ["Claude export"]
