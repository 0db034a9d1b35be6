"""What a person keeps private reaches no AI: not in hits, counts, names, hints or answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from mcp_calls import call, read, said
from neurigraph.edits.memories import MemoryEdit
from neurigraph.memory import Filter, Memory
from neurigraph.model import Conversation
from neurigraph.views import Reader
from vaults import opened

SECRET_TALK = (
    "## User\n\nTell nobody of the xylophone plan.\n\n## Assistant\n\nI am sealed. "
    + "We go over the notes, the mallets and the wooden bars one by one, slowly and with care. " * 3
    + "\n"
)
OPEN_TALK = "## User\n\nA walk in the park, was it long?\n\n## Assistant\n\nAn hour.\n"
MARKS = ("xylophone", "Xylo", "sealed")


def furnish(memory: Memory) -> dict[str, str]:
    """A vault with a private topic, a private memory, and an open one that links to them."""
    hidden_topic = memory.save(
        Conversation(SECRET_TALK, title="The xylophone plan", broad_topic="Xylo/Xylophones")
    )
    memory.update_topic("Xylo", memory.topic("Xylo").version, private=True)
    talk = SECRET_TALK.replace("plan", "plot")
    hidden = memory.save(
        Conversation(talk, title="The xylophone plot", broad_topic="Diary/Walks", source_id="src-1")
    )
    memory.update_memory(hidden.id, MemoryEdit(private=True), "*")
    shown = memory.save(Conversation(OPEN_TALK, title="A walk", broad_topic="Diary/Walks"))
    memory.connect("Diary/Walks", "Xylo/Xylophones", "leads_to", 0.9)
    return {"topic": hidden_topic.id, "hidden": hidden.id, "shown": shown.id, "talk": talk}


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "vault", tmp_path / "state"


def test_no_tool_and_no_resource_says_a_word_of_it(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        known = furnish(memory)
        hidden_node = memory.topic("Xylo/Xylophones").id
        texts = [
            said(memory, "search_memory", query="tell nobody my lips"),
            said(memory, "get_context"),
            said(memory, "get_context", query="tell nobody plan"),
            said(memory, "get_context", broad_topic="Diary"),
            said(memory, "list_topics"),
            said(memory, "recent_memories"),
            said(memory, "search_memory", query="walk", scope="Xyla"),
            said(memory, "search_memory", query="walk", scope="Xylophon"),
            said(memory, "warm_node", node_id="Xilo"),
            said(memory, "save_conversation", content=known["talk"]),
            said(memory, "save_conversation", content=SECRET_TALK, broad_topic="Diary"),
            said(memory, "save_conversation", content=OPEN_TALK + "\nmore", source_id="src-1"),
            said(memory, "connect_nodes", source="Diary", target="Walks"),
            read(memory, "memory://topics"),
        ]
        for memory_id in (known["topic"], known["hidden"]):
            texts.append(said(memory, "get_recall_file", chunk_id=memory_id))
            texts.append(said(memory, "update_memory", id=memory_id, version="*", title="got it"))
            texts.append(said(memory, "delete_memory", id=memory_id))
            for end in ("", "/transcript"):
                with pytest.raises(MCPError, match="no memory"):
                    read(memory, f"memory://memory/{memory_id}{end}")
        for text in texts:
            # what was asked for may be named again, what is hidden may not
            said_back = text.replace("Xylophon'", "'").replace("Xyla'", "'")
            for mark in (*MARKS, hidden_node, "leads_to"):
                assert mark not in said_back, said_back
        for tool, arguments in (
            ("search_memory", {"query": "x", "scope": hidden_node}),
            ("push_chunk", {"focused_node_id": hidden_node, "transcript": "hello there"}),
            ("warm_node", {"node_id": "Xylo"}),
            ("get_context", {"broad_topic": "Xylo"}),
            ("connect_nodes", {"source": "Diary", "target": "Xylo"}),
        ):
            with pytest.raises(ToolError, match=r"no topic '[^']+'$"):
                call(memory, tool, **arguments)
        assert memory.memory(known["hidden"]).title == "The xylophone plot"


def test_counts_leave_it_out(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        furnish(memory)
        topics = call(memory, "list_topics")
        assert [t["name"] for t in topics["topics"]] == ["Diary"]
        assert topics["topics"][0]["counts"]["memories"] == 1
        assert topics["edges"] == []
        assert call(memory, "recent_memories")["total"] == 1


def test_saving_a_private_conversation_again_makes_no_public_copy(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        known = furnish(memory)
        before = memory.counts().memories
        again = call(memory, "save_conversation", content=known["talk"], broad_topic="Diary")
        assert (again["id"], again["path"], again["topic"]) == ("", "", "")
        assert again["status"] == "unchanged"
        longer = call(memory, "save_conversation", content=known["talk"] + "\n## User\n\nOn.\n")
        assert longer["id"] == ""
        assert memory.counts().memories == before
        assert memory.transcript(known["hidden"]).endswith("On.\n")


def test_a_private_topic_is_never_suggested(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        furnish(memory)
        talk = "## User\n\nThe xylophone plan again: tell nobody?\n\n## Assistant\n\nSealed.\n"
        answer = call(memory, "save_conversation", content=talk)
        assert not answer["topic"].startswith("Xylo")


def test_a_connection_sees_its_scope_alone(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        inside = memory.save(Conversation("## User\n\nThe budget?\n", broad_topic="Work/Money"))
        outside = memory.save(Conversation("## User\n\nThe budget!\n", broad_topic="Home/Money"))
        reader = memory.reader_for("work")
        assert reader == Reader(ai=True, scope="Work")
        assert [h.id for h in memory.search("budget", reader=reader).hits] == [inside.id]
        assert [n.name for n in memory.topics("broad", reader=reader)] == ["Work"]
        saved = memory.save(Conversation("## User\n\nNew hire?\n"), reader=reader)
        assert memory.memory(saved.id).broad == "Work"
        kept = memory.save(Conversation("## User\n\nRent?\n", focused_topic="Money"), reader=reader)
        assert memory.memory(kept.id).path.startswith("Work/Money/")
        with pytest.raises(Exception, match="limited to Work"):
            memory.save(Conversation("## User\n\nTax?\n", broad_topic="Home"), reader=reader)
        with pytest.raises(Exception, match="no memory"):
            memory.delete_memory(outside.id, "*", reader)
        with pytest.raises(Exception, match="limited to Work"):
            memory.update_memory(inside.id, MemoryEdit(broad_topic="Home"), "*", reader)


def test_what_is_saved_into_a_scope_with_odd_characters_is_seen_in_it(
    place: tuple[Path, Path],
) -> None:
    with opened(*place) as memory:
        memory.save(Conversation("## User\n\nThe attic?\n", broad_topic="Home/Rooms"))
        for scope, path in (("Work: 2026", "Work 2026"), ("../x", "x"), ("..", "Untitled")):
            assert memory.reader_for(scope).scope == path
            saved = memory.save(
                Conversation(f"## User\n\nThe budget of {scope}?\n"),
                reader=memory.reader_for(scope),
            )
            seen, total = memory.memories(Filter(), reader=memory.reader_for(scope))
            assert ([c.id for c in seen], total) == ([saved.id], 1)
