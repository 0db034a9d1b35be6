"""What the indexes make of a disk that changes, moves, disappears and comes back."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from neurigraph.errors import NotFound, NotReady, VaultUnavailable
from neurigraph.index.keyword import Document, KeywordIndex
from neurigraph.memory import Filter, Memory
from neurigraph.model import Conversation
from vaults import FixedClock, opened

TALK = "## User\n\nWhere do pelicans sleep at night?\n\n## Assistant\n\nOn islands, mostly.\n"


def write(memory: Memory, path: str, text: str) -> None:
    """As an editor would, and tell the memory."""
    place = memory.vault / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")
    memory.refresh({path})


def paths(memory: Memory, query: str) -> list[str]:
    return [h.path for h in memory.search(query).hits]


def test_an_unmounted_vault_loses_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        write(memory, "Birds/Sea/a.md", "pelican\n")
        shutil.move(memory.vault, tmp_path / "away")
        with pytest.raises(VaultUnavailable):
            memory.reconcile()
        memory.vault.mkdir()
        with pytest.raises(VaultUnavailable, match="mount"):
            memory.reconcile()
        assert paths(memory, "pelican") == ["Birds/Sea/a.md"]
        memory.vault.rmdir()
        shutil.move(tmp_path / "away", memory.vault)
        memory.reconcile()
        assert paths(memory, "pelican") == ["Birds/Sea/a.md"]


def test_a_note_that_the_cloud_keeps_elsewhere_is_not_deleted(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        write(memory, "Birds/a.md", "pelican\n")
        (memory.vault / "Birds" / "a.md").rename(memory.vault / "Birds" / ".a.md.icloud")
        memory.refresh({"Birds/a.md"})
        assert paths(memory, "pelican") == ["Birds/a.md"]
        memory.reconcile()
        assert paths(memory, "pelican") == ["Birds/a.md"]


def test_a_note_of_the_persons_that_moved_is_found_under_its_old_id(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        write(memory, "Birds/a.md", "# Pelican\n\nwhere they sleep\n")
        old = memory.search("pelican").hits[0].id
        memory.open_memory(old)
        (memory.vault / "Fish").mkdir()
        (memory.vault / "Birds" / "a.md").rename(memory.vault / "Fish" / "b.md")
        memory.refresh({"Birds/a.md", "Fish/b.md"})
        found = memory.memory(old)
        assert (found.path, found.broad) == ("Fish/b.md", "Fish")
        assert found.id != old
        assert found.access_count == 1


def test_a_copy_with_the_same_id_is_the_persons_note_until_mended(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK, broad_topic="Birds/Sea"))
        original = memory.vault / saved.path
        copy = original.with_name(original.stem + " 1.md")
        shutil.copy(original, copy)
        rel = copy.relative_to(memory.vault).as_posix()
        memory.refresh({rel})
        assert memory.memory(saved.id).path == saved.path
        assert any(p.path == rel and "same id" in p.problem for p in memory.problems())
        original.unlink()
        memory.refresh({saved.path})
        assert memory.memory(saved.id).path == rel
        assert not [p for p in memory.problems() if p.path == rel]
        assert memory.transcript(saved.id) == TALK


def test_our_own_writes_and_rewritten_frontmatter_are_no_activity(tmp_path: Path) -> None:
    clock = FixedClock()
    with opened(tmp_path / "vault", tmp_path / "state", clock=clock) as memory:
        saved = memory.save(Conversation(TALK, broad_topic="Birds/Sea"))
        memory.wait_improved()
        memory.refresh({saved.path})
        assert memory.memory(saved.id).access_count == 0
        path = memory.vault / saved.path
        path.write_text(path.read_text("utf-8").replace("title:", "cssclass: x\ntitle:"), "utf-8")
        memory.refresh({saved.path})
        assert memory.memory(saved.id).access_count == 0
        path.write_text(path.read_text("utf-8") + "\nMy own thought.\n", "utf-8")
        memory.refresh({saved.path})
        assert memory.memory(saved.id).access_count == 1
        memory.search("pelicans")
        assert memory.memory(saved.id).access_count == 1


def test_an_edit_of_the_transcript_by_hand_is_found(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK, broad_topic="Birds/Sea"))
        place = memory.vault / "_recall" / saved.id / "transcript.md"
        place.write_text(TALK + "\nAlbatrosses do not.\n", "utf-8")
        memory.refresh({f"_recall/{saved.id}/transcript.md"})
        assert paths(memory, "albatrosses") == [saved.path]
        assert memory.transcript(saved.id).endswith("Albatrosses do not.\n")


def test_a_lost_transcript_is_a_listed_problem_and_the_note_stays(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK, broad_topic="Birds/Sea"))
        shutil.rmtree(memory.vault / "_recall" / saved.id)
        memory.refresh({f"_recall/{saved.id}"})
        assert any(saved.id in p.path and "missing" in p.problem for p in memory.problems())
        assert memory.memory(saved.id).has_transcript is False
        assert memory.memory(saved.id).title


def test_topics_without_notes_are_topics_and_loose_notes_have_a_place(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        (memory.vault / "Empty" / "Inner").mkdir(parents=True)
        write(memory, "loose.md", "a loose note\n")
        write(memory, "Birds/top.md", "in the broad folder\n")
        write(memory, "Birds/Sea/Deep/Deeper/x.md", "deep down\n")
        write(memory, ".hidden/x.md", "hidden pelican\n")
        memory.reconcile()
        assert [n.path for n in memory.topics("broad")] == ["Birds", "Empty", "Inbox"]
        assert [n.path for n in memory.topics("focused", "Birds")] == ["Birds/General", "Birds/Sea"]
        assert [n.path for n in memory.topics("focused", "Empty")] == ["Empty/Inner"]
        assert memory.topic("Empty/Inner").temperature == "cold"
        assert memory.memory(memory.search("loose").hits[0].id).focused == "General"
        assert memory.memory(memory.search("deep down").hits[0].id).focused == "Sea"
        assert paths(memory, "hidden") == []


def test_edges_come_from_properties_and_links(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        write(memory, "Birds/Sea/a.md", '---\nsee_also: "[[Fish/River/b|B (0.3)]]"\n---\nx\n')
        write(memory, "Birds/Air/c.md", "[[b]] and [[b|again]] and [[nowhere]] and [[a]]\n")
        write(memory, "Fish/River/b.md", "---\nup:\n  - '[[Birds/Sea/a]]'\n---\ny\n")
        names = {p.id: p.path for p in memory.places()}
        edges = {
            (names[e.source], names[e.target], e.relationship, e.weight, e.derived)
            for e in memory.edges()
        }
        assert edges == {
            ("Birds/Sea", "Fish/River", "see_also", 0.3, False),
            ("Fish/River", "Birds/Sea", "up", 0.5, False),
            ("Birds/Air", "Fish/River", "links_to", 0.2, True),
            ("Birds/Air", "Birds/Sea", "links_to", 0.1, True),
        }


def test_an_edge_made_here_stands_in_the_note_as_obsidian_writes_it(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        memory.create_topic("Birds")
        sea = memory.create_topic("Sea", "Birds")
        air = memory.create_topic("Air", "Birds")
        memory.connect(sea.id, air.id, "related_to", 0.8)
        note = (memory.vault / "Birds" / "Sea" / "Sea.md").read_text("utf-8")
        assert 'related_to:\n  - "[[Birds/Air/Air|Air (0.8)]]"' in note
        memory.change_edge(sea.id, air.id, "related_to", weight=0.2, renamed="near")
        assert [(e.relationship, e.weight) for e in memory.edges()] == [("near", 0.2)]
        memory.disconnect(sea.id, air.id, "near")
        assert memory.edges() == []


def test_unknown_topics_say_what_comes_nearest(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        memory.create_topic("Medical")
        with pytest.raises(NotFound, match="nearest: Medical"):
            memory.topic("Medcal")
        assert memory.memories(Filter())[1] == 0


def test_what_the_index_lost_comes_back_at_the_next_start(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    with opened(vault, state) as memory:
        write(memory, "Birds/a.md", "pelican\n")
        write(memory, "Birds/b.md", "albatross\n")
    shutil.rmtree(state / "keyword")
    with opened(vault, state) as memory:
        assert paths(memory, "pelican") == ["Birds/a.md"]
    (state / "catalog.sqlite").write_bytes(b"torn")
    with opened(vault, state) as memory:
        assert paths(memory, "albatross") == ["Birds/b.md"]
        assert any("catalog" in line for line in memory.notices())


def test_full_text_that_breaks_while_running_is_built_again_and_said(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    with opened(vault, state) as memory:
        for number in range(30):
            write(memory, f"Birds/{number}.md", f"pelican number{number}\n")
    for segment in (state / "keyword").glob("*.arrays"):
        data = bytearray(segment.read_bytes())
        data[len(data) // 3 : len(data) // 3 + 64] = b"\xff" * 64
        segment.write_bytes(data)
    with opened(vault, state) as memory:
        for query in ("pelican", "number7", "number29"):
            with contextlib.suppress(NotReady):
                memory.search(query)
        saved = memory.save(Conversation(TALK))
        assert saved.status == "created"
        memory.reconcile()
        assert paths(memory, "number7") == ["Birds/7.md"]
        assert memory.search("pelicans sleep").hits[0].id == saved.id
        assert any("full-text" in line for line in memory.notices())


def test_what_full_text_holds_of_no_note_is_dropped_at_the_next_start(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    with opened(vault, state) as memory:
        write(memory, "Birds/a.md", "pelican\n")
    # the power failed after full text had the note, before the catalog did, and then it was moved
    index = KeywordIndex(state / "keyword")
    index.apply([Document(id="p-0123456789abcdef", version="1", body="pelican ghost")], [])
    index.close()
    with opened(vault, state) as memory:
        assert paths(memory, "pelican") == ["Birds/a.md"]
        assert not memory.doctor()
