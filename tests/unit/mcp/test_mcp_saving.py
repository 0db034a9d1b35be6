"""Saving over MCP: one memory a conversation, parts of long ones, files only from where allowed."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from fastmcp.exceptions import ToolError

from mcp_calls import call, said
from neurigraph.settings import ArtifactSettings
from vaults import QUICK, opened

TALK = """## User

My doctor wants to change my lisinopril from five to ten milligrams. What should I know?

## Assistant

Ten milligrams is the usual start. Watch for a dry cough, and have potassium checked in two weeks.

## User

Good, we decided to start on Monday with ten milligrams in the morning.
"""


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "vault", tmp_path / "state"


def test_what_the_saving_ai_says_of_it_is_kept(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        saved = call(
            memory,
            "save_conversation",
            content=TALK,
            broad_topic="Medical",
            focused_topic="Medications",
            source_model="claude",
            title="Lisinopril: dose change",
            summary="Ten milligrams from Monday.",
            keywords=["lisinopril", "blood pressure"],
            decisions="- ten milligrams from Monday",
            open_questions="- what about grapefruit?",
        )
        chunk = memory.memory(saved["id"])
        assert saved["topic"] == "Medical/Medications"
        assert (chunk.title, chunk.summary) == (
            "Lisinopril: dose change",
            "Ten milligrams from Monday.",
        )
        assert chunk.keywords == ("lisinopril", "blood pressure")
        assert chunk.decisions == "- ten milligrams from Monday"
        assert chunk.open_questions == "- what about grapefruit?"
        assert chunk.summary_source.startswith("claude ")
        assert memory.transcript(chunk.id) == TALK


def test_the_same_conversation_saved_twice_is_one_memory(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        first = call(memory, "save_conversation", content=TALK)
        again = call(memory, "save_conversation", content=TALK, broad_topic="Elsewhere")
        assert (again["status"], again["id"]) == ("unchanged", first["id"])
        assert "saved before" in again["note"]
        assert memory.counts().memories == 1


def test_a_longer_version_updates_the_memory(place: tuple[Path, Path]) -> None:
    longer = TALK + "\n## Assistant\n\nAll the best for Monday, and mind the grapefruit.\n"
    with opened(*place) as memory:
        first = call(memory, "save_conversation", content=TALK, broad_topic="Medical")
        grown = call(memory, "save_conversation", content=longer)
        assert (grown["status"], grown["id"]) == ("updated", first["id"])
        assert memory.transcript(first["id"]) == longer
        shorter = call(memory, "save_conversation", content=TALK)
        assert (shorter["status"], shorter["id"]) == ("unchanged", first["id"])
        assert memory.transcript(first["id"]) == longer


def test_the_same_source_with_another_text_is_a_memory_of_its_own(
    place: tuple[Path, Path],
) -> None:
    with opened(*place) as memory:
        first = call(memory, "save_conversation", content=TALK, source_id="chat-7")
        other = call(memory, "save_conversation", content="Another talk.", source_id="chat-7")
        assert other["status"] == "created"
        assert other["id"] != first["id"]
        assert first["id"] in other["note"]


def test_what_was_deleted_is_not_saved_again(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        first = call(memory, "save_conversation", content=TALK)
        assert "restore" in call(memory, "delete_memory", id=first["id"])["restore"]
        again = call(memory, "save_conversation", content=TALK)
        assert (again["status"], again["id"]) == ("deleted_before", "")


def test_a_long_conversation_becomes_linked_parts_that_give_it_back(
    place: tuple[Path, Path],
) -> None:
    turn = "## User\n\nTell me number {n}.\n\n## Assistant\n\n" + "A sentence of some length. " * 40
    talk = "".join(turn.format(n=n) + "\n\n" for n in range(400))
    with opened(*place) as memory:
        saved = call(
            memory, "save_conversation", content=talk, title="Numbers", broad_topic="Maths"
        )
        parts = saved["parts"]
        assert len(parts) == 3
        chunks = [memory.memory(i) for i in parts]
        assert [c.title for c in chunks] == [f"Numbers (part {n} of 3)" for n in (1, 2, 3)]
        assert [c.next_part for c in chunks] == [parts[1], parts[2], None]
        assert [c.previous_part for c in chunks] == [None, parts[0], parts[1]]
        assert "".join(memory.transcript(i) for i in parts) == talk
        pages, part, offset = "", parts[0], 0
        while part:
            page = call(memory, "get_recall_file", chunk_id=part, offset=offset, limit=20_000)
            pages += page["quoted"]["transcript"]
            offset = page["next_offset"] or 0
            part = part if page["next_offset"] else page["next_part"]
        assert pages == talk
        again = call(memory, "save_conversation", content=talk)
        assert (again["status"], again["parts"]) == ("unchanged", parts)


def test_wrong_arguments_are_named_and_never_repeated(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        for tool, arguments, words in (
            ("save_conversation", {"content": "  "}, "content: the conversation is empty"),
            ("save_conversation", {"content": TALK, "colour": "red"}, "colour: "),
            ("search_memory", {"query": "x", "limit": 51}, "limit: "),
            ("search_memory", {}, "query: "),
            ("get_recall_file", {"chunk_id": "m-20261130-00000000"}, "no memory 'm-20261130-0"),
            ("push_chunk", {"focused_node_id": "Nowhere", "transcript": "x"}, "no topic"),
            ("connect_nodes", {"source": "A", "target": "B", "weight": 3}, "weight: "),
        ):
            with pytest.raises(ToolError, match=f"^{words}") as caught:
                call(memory, tool, **arguments)
            assert "\n" not in str(caught.value)
            assert TALK[:20] not in str(caught.value)


def test_a_misspelled_topic_gets_the_nearest_names(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        call(memory, "save_conversation", content=TALK, broad_topic="Medical")
        with pytest.raises(ToolError, match="no topic 'Medcal'; nearest: Medical"):
            call(memory, "search_memory", query="dose", scope="Medcal")


def test_lists_that_come_as_text_are_taken(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        for keywords in ('["dose", "cough"]', "dose, cough"):
            saved = call(memory, "save_conversation", content=TALK + keywords, keywords=keywords)
            assert memory.memory(saved["id"]).keywords == ("dose", "cough")


def test_a_change_needs_the_version_that_was_read(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        memory_id = call(memory, "save_conversation", content=TALK)["id"]
        with pytest.raises(ToolError, match="changed meanwhile"):
            call(memory, "update_memory", id=memory_id, version="0000", title="New")
        assert memory.wait_improved()  # its summary is written better meanwhile
        version = memory.memory(memory_id).version
        with pytest.raises(ToolError, match="say what is to change"):
            call(memory, "update_memory", id=memory_id, version=version)
        changed = call(
            memory,
            "update_memory",
            id=memory_id,
            version=version,
            title="New",
            broad_topic="Medical",
            focused_topic="Heart",
            pinned=True,
        )["memory"]
        assert (changed["title"], changed["topic"]) == ("New", "Medical/Heart")
        assert changed["pinned"]


# -- files


def test_a_file_comes_in_as_base64(place: tuple[Path, Path]) -> None:
    data = b"%PDF-1.4 a plan"
    with opened(*place) as memory:
        saved = call(
            memory,
            "save_conversation",
            content=TALK,
            artifacts=[{"name": "plan.pdf", "base64": base64.b64encode(data).decode()}],
        )
        assert memory.artifact(saved["id"], "plan.pdf") == data
        page = call(memory, "get_recall_file", chunk_id=saved["id"])
        assert page["artifacts"] == ["plan.pdf"]


def test_no_file_is_copied_from_a_folder_that_is_not_allowed(
    place: tuple[Path, Path], tmp_path: Path
) -> None:
    key = tmp_path / "id_ed25519"
    key.write_text("PRIVATE KEY")
    with opened(*place) as memory:
        for path in (
            str(key),
            "~/.ssh/id_ed25519",
            "id_ed25519",
            "/etc/passwd",
            "/proc/self/environ",
        ):
            with pytest.raises(ToolError, match=r"artifacts\.allowed_folders"):
                call(
                    memory,
                    "save_conversation",
                    content=TALK,
                    artifacts=[{"name": "x", "path": path}],
                )
        assert memory.counts().memories == 0


@pytest.mark.parametrize("way", ["link", "folder link", "hard link", "dots", "folder", "pipe"])
def test_no_way_around_the_allowed_folder(
    place: tuple[Path, Path], tmp_path: Path, way: str
) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    allowed.mkdir()
    outside.mkdir()
    (outside / "key").write_text("PRIVATE KEY")
    path = allowed / "key"
    if way == "link":
        path.symlink_to(outside / "key")
    elif way == "folder link":
        (allowed / "way").symlink_to(outside)
        path = allowed / "way" / "key"
    elif way == "hard link":
        path.hardlink_to(outside / "key")
    elif way == "dots":
        path = allowed / ".." / "outside" / "key"
    elif way == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    settings = QUICK.model_copy(
        update={"artifacts": ArtifactSettings(allowed_folders=(str(allowed),))}  # type: ignore[call-arg]
    )
    with opened(*place, settings) as memory:
        artifacts = [{"name": "key", "path": str(path)}]
        told = said(memory, "save_conversation", content=TALK, artifacts=artifacts)
        assert "artifacts[0]" in told
        assert "PRIVATE" not in told
        with pytest.raises(ToolError, match=r"artifacts\[0\]"):
            call(memory, "save_conversation", content=TALK, artifacts=artifacts)
        assert not list(memory.vault.rglob("key"))


def test_a_file_from_an_allowed_folder_is_copied(place: tuple[Path, Path], tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "plan.txt").write_text("the plan")
    settings = QUICK.model_copy(
        update={"artifacts": ArtifactSettings(allowed_folders=(str(allowed),), max_bytes=100)}
    )
    with opened(*place, settings) as memory:
        saved = call(
            memory,
            "save_conversation",
            content=TALK,
            artifacts=[{"name": "../../plan.txt", "path": str(allowed / "plan.txt")}],
        )
        [name] = call(memory, "get_recall_file", chunk_id=saved["id"])["artifacts"]
        assert "/" not in name
        assert memory.artifact(saved["id"], name) == b"the plan"
        (allowed / "large").write_bytes(b"x" * 101)
        for handed in (
            {"name": "large", "path": str(allowed / "large")},
            {"name": "large", "base64": base64.b64encode(b"x" * 200).decode()},
        ):
            with pytest.raises(ToolError, match=r"artifacts\.max_bytes"):
                call(memory, "save_conversation", content=TALK + "!", artifacts=[handed])
