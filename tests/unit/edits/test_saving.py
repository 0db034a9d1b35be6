"""What becomes of a conversation that is saved once, twice, longer, or another way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neurigraph.edits.memories import MemoryEdit
from neurigraph.edits.save import Saver
from neurigraph.errors import InvalidInput
from neurigraph.memory import Memory
from neurigraph.model import Conversation, NewArtifact
from vaults import opened

TALK = "## User\n\nWhat about lisinopril and my dry cough at night, please?\n\n" + (
    "## Assistant\n\nA cough is a known effect of ACE inhibitors; losartan rarely causes one.\n\n"
    "## User\n\nGood, then I will ask Dr. Okafor for losartan 50 mg tomorrow morning.\n"
)
MORE = TALK + "\n## Assistant\n\nTell her about the nights as well.\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    place = tmp_path_factory.mktemp("saving")
    with opened(place / "vault", place / "state") as memory:
        yield memory


def unlike(name: str) -> str:
    """The talk, told apart from that of other tests by its first words."""
    return TALK.replace("What about", f"{name}: what about")


def test_the_same_conversation_twice_is_one_memory(shared: Memory) -> None:
    talk = unlike("twice")
    first = shared.save(Conversation(talk))
    second = shared.save(Conversation(talk))
    assert (first.status, second.status) == ("created", "unchanged")
    assert second.id == first.id


def test_a_longer_version_updates_the_memory_and_a_shorter_one_does_not(shared: Memory) -> None:
    talk = unlike("longer")
    first = shared.save(Conversation(talk, broad_topic="Medical/Medications"))
    longer = talk + "\n## Assistant\n\nTell her about the nights as well.\n"
    second = shared.save(Conversation(longer, decisions="- Tell her about the nights."))
    assert (second.status, second.id) == ("updated", first.id)
    assert shared.transcript(first.id) == longer
    assert "Tell her about the nights." in shared.memory(first.id).decisions
    assert shared.save(Conversation(talk)).status == "unchanged"
    assert shared.transcript(first.id) == longer


def test_a_summary_that_a_person_wrote_outlives_a_longer_version(shared: Memory) -> None:
    talk = unlike("person")
    saved = shared.save(Conversation(talk))
    path = shared.vault / shared.memory(saved.id).path
    note = path.read_text("utf-8")
    summary = shared.memory(saved.id).summary
    path.write_text(note.replace(summary, "My own words."), "utf-8")
    shared.refresh({shared.memory(saved.id).path})
    shared.save(Conversation(talk + "\n## User\n\nThanks, that helped me a lot!\n"))
    assert shared.memory(saved.id).summary == "My own words."


def test_a_transcript_that_a_person_edited_is_never_written_over(shared: Memory) -> None:
    talk = unlike("edited")
    saved = shared.save(Conversation(talk, source_id="test:edited"))
    place = shared.vault / "_recall" / saved.id / "transcript.md"
    place.write_text(talk.replace("50 mg", "25 mg"), "utf-8")
    shared.refresh({f"_recall/{saved.id}/transcript.md"})
    again = shared.save(Conversation(talk + "\nMore.\n", source_id="test:edited"))
    assert again.status == "created"
    assert again.id != saved.id
    assert "25 mg" in shared.transcript(saved.id)


def test_another_branch_of_an_import_keeps_the_earlier_text(shared: Memory) -> None:
    saver: Saver = shared._saver
    talk = unlike("branch")
    first = saver.save(Conversation(talk, source_id="test:branch"))
    other = talk.replace("losartan 50 mg tomorrow", "valsartan next week")
    again = saver.save(Conversation(other, source_id="test:branch"), keep_earlier=True)
    assert (again.status, again.id) == ("updated", first.id)
    assert shared.transcript(first.id) == other
    names = [a.name for a in shared.memory(first.id).artifacts]
    assert [n for n in names if n.startswith("earlier version")] == names
    assert shared.artifact(first.id, names[0]).decode() == talk


def test_a_long_conversation_becomes_linked_parts_that_give_it_back(shared: Memory) -> None:
    turn = "## User\n\nparts " + "word " * 3000 + "\n\n## Assistant\n\n" + "answer " * 3000 + "\n\n"
    talk = turn * 8
    saved = shared.save(Conversation(talk, title="Long"))
    assert len(saved.ids) > 1
    assert "".join(shared.transcript(i) for i in saved.ids) == talk
    parts = [shared.memory(i) for i in saved.ids]
    assert parts[0].title == f"Long (part 1 of {len(parts)})"
    assert [p.next_part for p in parts] == [*saved.ids[1:], None]
    assert [p.previous_part for p in parts] == [None, *saved.ids[:-1]]
    assert shared.save(Conversation(talk)).status == "unchanged"


def test_what_was_deleted_does_not_come_back_by_itself(shared: Memory) -> None:
    talk = unlike("deleted")
    saved = shared.save(Conversation(talk, source_id="test:deleted"))
    shared.delete_memory(saved.id, "*")
    assert shared.save(Conversation(talk)).status == "deleted_before"
    assert shared.save(Conversation("other", source_id="test:deleted")).status == "deleted_before"
    assert shared.restore_memory(saved.id).id == saved.id
    assert shared.save(Conversation(talk)).status == "unchanged"
    assert shared.transcript(saved.id) == talk


def test_words_from_others_cannot_run_or_break_the_note(shared: Memory) -> None:
    saved = shared.save(
        Conversation(
            unlike("hostile"),
            title='a"\n---\ntype: focused\nid: n-00000000 <% tp.file %>',
            summary="# Top\n```dataviewjs\ndv.pages()\n```\n---\n## Summary\nagain ![](http://x/y.png)",
            keywords=("a: b", "[[x]]", "- y", "'", "\u0000"),
            decisions="## Summary\nmine",
        )
    )
    chunk = shared.memory(saved.id)
    raw = (shared.vault / chunk.path).read_text("utf-8")
    assert "<%" not in raw
    assert "```dataviewjs" not in raw
    assert "![](http" not in raw
    assert chunk.owned
    assert "again" in chunk.summary
    assert "mine" in chunk.decisions


def test_an_empty_conversation_names_the_field(shared: Memory) -> None:
    with pytest.raises(InvalidInput, match="content"):
        shared.save(Conversation(" \n"))


def test_a_move_takes_links_along_and_a_new_name_takes_the_folder(shared: Memory) -> None:
    saved = shared.save(Conversation(unlike("moves"), broad_topic="Work/Alpha"))
    path = shared.memory(saved.id).path
    diary = shared.vault / "Work" / "Alpha" / "diary.md"
    diary.write_text(f"See [[{path[:-3]}|that talk]] and [[{Path(path).stem}]].\n", "utf-8")
    shared.refresh({"Work/Alpha/diary.md"})
    moved = shared.update_memory(
        saved.id, MemoryEdit(broad_topic="Work", focused_topic="Beta"), "*"
    )
    assert moved.focused == "Beta"
    text = diary.read_text("utf-8")
    assert f"[[{moved.path[:-3]}|that talk]]" in text
    assert f"[[{Path(path).stem}]]" in text
    node = shared.topic("Work/Beta")
    renamed = shared.update_topic(node.id, node.version, name="Gamma")
    assert (renamed.id, renamed.path) == (node.id, "Work/Gamma")
    assert (shared.vault / "Work" / "Gamma" / "Gamma.md").exists()
    assert f"[[{shared.memory(saved.id).path[:-3]}|that talk]]" in diary.read_text("utf-8")


def test_the_same_file_is_not_attached_twice(shared: Memory) -> None:
    saved = shared.save(Conversation(unlike("files"), artifacts=(NewArtifact("plan.txt", b"one"),)))
    shared.add_artifacts(saved.id, [NewArtifact("plan.txt", b"one"), NewArtifact("b.txt", b"two")])
    assert [a.name for a in shared.memory(saved.id).artifacts] == ["b.txt", "plan.txt"]
