"""ChatGPT exports, with every oddity that they are known for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from neurigraph.importers.opened import Item
from neurigraph.importers.recognise import recognise
from neurigraph.importers.source import Failed
from neurigraph.model import Conversation

T0 = 1_764_498_600.0  # 2025-11-30T10:30:00 UTC

Read = Callable[[Path], list[Item]]


def message(
    said: Any,
    role: str = "user",
    at: float | None = T0,
    kind: str = "text",
    **more: Any,
) -> dict[str, Any]:
    content = said if isinstance(said, dict) else {"content_type": kind, "parts": [said]}
    return {"author": {"role": role}, "create_time": at, "content": content, **more}


def chain(*messages: dict[str, Any] | None, **conversation: Any) -> dict[str, Any]:
    """A conversation whose messages follow one another."""
    mapping: dict[str, Any] = {}
    for number, found in enumerate(messages):
        children = [f"n{number + 1}"] if number + 1 < len(messages) else []
        parent = f"n{number - 1}" if number else None
        mapping[f"n{number}"] = {
            "id": f"n{number}",
            "parent": parent,
            "children": children,
            "message": found,
        }
    known = {"title": "A talk", "conversation_id": "c-1", "create_time": T0, "mapping": mapping}
    return {**known, "current_node": f"n{len(messages) - 1}", **conversation}


def only(items: list[Item]) -> Conversation:
    assert len(items) == 1
    assert isinstance(items[0], Conversation), items[0]
    return items[0]


def test_a_plain_conversation_keeps_title_date_model_and_turns(make: Any, read: Read) -> None:
    path = make(
        "conversations.json",
        [
            chain(
                None,
                message("What is **rye**?"),
                message("A grain.", "assistant", T0 + 5, metadata={"model_slug": "gpt-5"}),
                message("And spelt?", at=T0 + 60),
                message("Wheat.", "assistant", T0 + 66, metadata={"model_slug": "gpt-5-mini"}),
            )
        ],
    )
    found = only(read(path))
    assert found == Conversation(
        content=(
            "## User · 2025-11-30T10:30:00\n\nWhat is **rye**?\n\n"
            "## Assistant · gpt-5 · 2025-11-30T10:30:05\n\nA grain.\n\n"
            "## User · 2025-11-30T10:31:00\n\nAnd spelt?\n\n"
            "## Assistant · gpt-5-mini · 2025-11-30T10:31:06\n\nWheat.\n"
        ),
        title="A talk",
        created=datetime(2025, 11, 30, 10, 30, tzinfo=UTC),
        source_model="gpt-5-mini",
        source_id="chatgpt:c-1",
    )


def test_only_the_branch_that_the_person_sees_is_kept(make: Any, read: Read) -> None:
    talk = chain(message("Hello"), message("First answer", "assistant", T0 + 500))
    talk["mapping"]["other"] = {
        "id": "other",
        "parent": "n0",
        "message": message("Second answer", "assistant", T0 + 9),
    }
    talk["mapping"]["n0"]["children"] = ["n1", "other"]
    talk["current_node"] = "other"
    content = only(read(make("conversations.json", [talk]))).content
    assert "Second answer" in content
    assert "First answer" not in content


def test_without_a_current_node_the_newest_leaf_is_followed(make: Any, read: Read) -> None:
    talk = chain(message("Hello"), message("Old", "assistant", T0 + 1))
    talk["mapping"]["other"] = {"parent": "n0", "message": message("New", "assistant", T0 + 2)}
    del talk["current_node"]
    content = only(read(make("conversations.json", [talk]))).content
    assert "New" in content
    assert "Old" not in content


def test_children_left_out_and_an_empty_root(make: Any, read: Read) -> None:
    talk = chain(None, message("Q"), message("A", "assistant"))
    for node in talk["mapping"].values():
        del node["children"]
    assert "Q" in only(read(make("conversations.json", [talk]))).content


def test_parents_left_out_are_known_from_the_children(make: Any, read: Read) -> None:
    talk = chain(message("Q"), message("A", "assistant"))
    for node in talk["mapping"].values():
        del node["parent"]
    content = only(read(make("conversations.json", [talk]))).content
    assert content.index("Q") < content.index("A\n")


def test_a_circle_of_parents_ends(make: Any, read: Read) -> None:
    talk = chain(message("Q"), message("A", "assistant"))
    talk["mapping"]["n0"]["parent"] = "n1"
    assert "Q" in only(read(make("conversations.json", [talk]))).content


def test_the_profile_and_hidden_and_system_messages_are_not_shown(make: Any, read: Read) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    talk = chain(
        message("You are a model.", "system"),
        message({"content_type": "user_editable_context", "user_profile": "I like tea"}),
        message("secret instructions", metadata=hidden),
        message("Hi"),
        message("", "system"),
        message("Hello!", "assistant", T0 + 1),
        message("", "system"),
        message("Anything else?", "assistant", T0 + 2),
    )
    assert only(read(make("conversations.json", [talk]))).content == (
        "## User · 2025-11-30T10:30:00\n\nHi\n\n"
        "## Assistant · 2025-11-30T10:30:01\n\nHello!\n\nAnything else?\n"
    )


def test_missing_metadata_times_author_and_title(make: Any, read: Read) -> None:
    talk = {
        "id": "c-9",
        "title": None,
        "mapping": {
            "a": {"message": {"author": None, "content": {"parts": ["lost"]}}},
            "b": {"parent": "a", "message": {"author": {"role": "user"}, "content": "text"}},
            "c": {"parent": "b", "message": message("Yes", at=None)},
        },
    }
    found = only(read(make("conversations.json", [talk])))
    assert found.title is None
    assert found.created is None
    assert found.source_model == "chatgpt"
    assert "## User\n\nYes" in found.content


def test_thoughts_code_and_output_are_folded_and_fences_cannot_break_out(
    make: Any, read: Read
) -> None:
    thoughts = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "Plan", "content": "Compute it."}],
    }
    code = {"content_type": "code", "language": "python", "text": 'print("```")'}
    output = {"content_type": "execution_output", "text": "```\n42"}
    talk = chain(
        message("Compute"),
        message(thoughts, "assistant", T0 + 1, metadata={"model_slug": "o3"}),
        message({"content_type": "reasoning_recap", "content": "Thought for 3s"}, "assistant"),
        message(code, "assistant", recipient="python"),
        message(output, "tool", author={"role": "tool", "name": "python"}),
        message("It is 42.", "assistant", recipient="all"),
    )
    assert only(read(make("conversations.json", [talk]))).content == (
        "## User · 2025-11-30T10:30:00\n\nCompute\n\n"
        "## Assistant · o3 · 2025-11-30T10:30:01\n\n"
        "> [!note]- Thinking\n> **Plan**\n>\n> Compute it.\n\n"
        '> [!example]- Tool: python\n> ````\n> print("```")\n> ````\n\n'
        "> [!quote]- Result\n> ````\n> ```\n> 42\n> ````\n\n"
        "It is 42.\n"
    )


def test_browsing_quotes_errors_and_unknown_kinds_are_kept_folded(make: Any, read: Read) -> None:
    talk = chain(
        message("Search"),
        message(
            {
                "content_type": "tether_quote",
                "title": "Rye",
                "url": "https://example.org",
                "text": "Rye is hardy.",
            },
            "tool",
        ),
        message({"content_type": "tether_browsing_display", "result": "L1: found"}, "tool"),
        message({"content_type": "sonic_webpage", "title": "Page", "text": "Body"}, "tool"),
        message({"content_type": "system_error", "name": "Timeout", "text": "Too slow"}, "tool"),
        message({"content_type": "from_the_future", "text": "New thing"}, "assistant"),
        message({"content_type": "stranger_still", "blob": 3}, "assistant"),
        message("Done", "assistant"),
    )
    with recognise(make("conversations.json", [talk])) as export:
        content = only(list(export.read())).content
    folded = [line for line in content.split("\n") if line.startswith("> [!")]
    assert folded == [
        "> [!quote]- Quote: Rye",
        "> [!quote]- Result",
        "> [!quote]- Page",
        "> [!quote]- Result",
        "> [!quote]- from_the_future",
    ]
    for text in ("Rye is hardy.", "L1: found", "Body", "Timeout", "New thing"):
        assert text in content
    assert export.skipped["stranger_still"] == 1


def test_a_voice_chat_keeps_what_was_said(make: Any, read: Read) -> None:
    spoken = {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "audio_transcription", "text": "How far is the moon?"},
            {
                "content_type": "real_time_user_audio_video_asset_pointer",
                "audio_asset_pointer": {"asset_pointer": "sediment://file_0000abc"},
            },
        ],
    }
    talk = chain(message(spoken), message("Far.", "assistant"))
    content = only(read(make("conversations.json", [talk]))).content
    assert "How far is the moon?\n\n*Recording: file_0000abc*\n" in content


def test_files_in_the_zip_become_artifacts_under_their_real_names(
    make_zip: Any, read: Read
) -> None:
    picture = {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AAA1"},
            {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_BBB2"},
            "What are these?",
        ],
    }
    attachments = [
        {"id": "file-AAA1", "name": "cat.png", "mime_type": "image/png"},
        {"id": "file-CCC3", "name": "../../plan?.pdf", "mime_type": "application/pdf"},
        {"id": "file-DDD4", "name": "gone.txt"},
    ]
    talk = chain(message(picture, metadata={"attachments": attachments}))
    path = make_zip(
        "export.zip",
        {
            "conversations.json": [talk],
            "file-AAA1.dat": b"\x89PNG\r\n\x1a\n...",
            "user-x/file_BBB2-sanitized.dat": b"\xff\xd8\xff...",
            "file-CCC3-plan.pdf": b"%PDF-1.7",
            "conversation_asset_file_names.json": {"file_BBB2-sanitized.dat": "beach.jpg"},
            "file-notes.txt": "an attachment of somebody, no note",
        },
    )
    found = only(read(path))
    assert [(file.name, file.data[:4]) for file in found.artifacts] == [
        ("cat.png", b"\x89PNG"),
        ("beach.jpg", b"\xff\xd8\xff."),
        ("plan .pdf", b"%PDF"),
    ]
    assert (
        "*Image: cat.png*\n\n*Image: beach.jpg*\n\nWhat are these?\n\n"
        "*Attachment: plan .pdf*\n\n*Attachment: gone.txt*" in found.content
    )


def test_a_picture_that_a_tool_made_is_seen(make_zip: Any, read: Read) -> None:
    drawn = {
        "content_type": "multimodal_text",
        "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_E5"}],
    }
    prompt = {"content_type": "code", "text": '{"prompt": "a cat"}'}
    talk = chain(
        message("Draw"),
        message(prompt, "assistant", recipient="dalle.text2im"),
        message(drawn, "tool", author={"role": "tool", "name": "dalle.text2im"}),
    )
    path = make_zip("e.zip", {"conversations.json": [talk], "dalle/file_E5.webp": b"RIFF1234WEBP"})
    found = only(read(path))
    assert [file.name for file in found.artifacts] == ["file_E5.webp"]
    assert found.content.endswith("*Image: file_E5.webp*\n")


def test_marks_of_citations_become_the_links_that_people_see(make: Any, read: Read) -> None:
    mark, lost = "\ue200cite\ue202turn0search1\ue201", "\ue200navlist\ue202x\ue201"
    metadata = {"content_references": [{"matched_text": mark, "alt": "([Rye](https://r.org))"}]}
    talk = chain(message("Q"), message(f"Hardy.{mark}{lost}", "assistant", metadata=metadata))
    content = only(read(make("conversations.json", [talk]))).content
    assert "Hardy.([Rye](https://r.org))\n" in content


def test_numbered_parts_and_the_wrapped_form_are_read_in_order(make_zip: Any, read: Read) -> None:
    path = make_zip(
        "export.zip",
        {
            "conversations-000.json": [chain(message("one"), conversation_id="1")],
            "conversations-001.json": {
                "version": 2,
                "conversations": [chain(message("two"), conversation_id="2")],
            },
            "export_manifest.json": {"files": ["conversations-000.json"]},
            "user.json": {"id": "user-1", "email": "a@example.org"},
            "chat.html": "<html></html>",
        },
    )
    assert [item.source_id for item in read(path) if isinstance(item, Conversation)] == [
        "chatgpt:1",
        "chatgpt:2",
    ]


def test_one_bad_conversation_never_stops_the_rest(make: Any, read: Read) -> None:
    good, bad = chain(message("fine")), chain(message("x"), title="Broken one", mapping=3)
    bad["mapping"] = {"a": {"message": {"author": {"role": "user"}, "content": {"parts": 7}}}}
    items = read(make("conversations.json", [None, "text", good, bad, good]))
    assert [type(item).__name__ for item in items] == [
        "Failed",
        "Failed",
        "Conversation",
        "Conversation",
    ]
    assert isinstance(items[0], Failed)
    assert items[0].title == "conversations.json, conversation 1"


def test_half_characters_and_nul_can_be_written_to_disk(make: Any, read: Read) -> None:
    talk = chain(message("a \ud83d b \ud83d\ude00 c \x00"), title="T \udfff")
    found = only(read(make("conversations.json", [talk])))
    assert (found.content + (found.title or "")).encode()
    assert "😀" in found.content
    assert "\0" not in found.content


def test_an_export_that_was_unpacked_into_a_folder_finds_its_files(
    make: Any, read: Read, tmp_path: Path
) -> None:
    metadata = {"attachments": [{"id": "file-Z9", "name": "notes.txt"}]}
    make("dir/conversations.json", [chain(message("see file", metadata=metadata))])
    make("dir/file-Z9.dat", "my notes")
    make("dir/file-Z9-other.md", "# not a note")
    make("dir/user.json", {"id": "u"})
    for path in (tmp_path / "dir", tmp_path / "dir" / "conversations.json"):
        found = only(read(path))
        assert [(file.name, file.data) for file in found.artifacts] == [("notes.txt", b"my notes")]


def test_a_longer_version_begins_with_the_whole_shorter_one(make: Any, read: Read) -> None:
    said = [
        message("Q1 ```unclosed"),
        message("A1", "assistant", T0 + 1),
        message("A1b", "assistant", T0 + 2),
        message("Q2", at=T0 + 3),
        message("A2", "assistant", T0 + 4),
    ]
    texts = [
        only(read(make(f"{n}.json", [chain(*said[:n])]))).content for n in range(1, len(said) + 1)
    ]
    for shorter, longer in pairwise(texts):
        assert longer.startswith(shorter)
