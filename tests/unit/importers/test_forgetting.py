"""What is forgotten leaves nothing behind that we could have removed."""

from __future__ import annotations

import logging
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from neurigraph.edits.memories import MemoryEdit
from neurigraph.errors import NotFound, VersionRequired
from neurigraph.memory import Memory
from neurigraph.model import Conversation, NewArtifact
from vaults import opened

WORD = "zugzwangify"
TALK = Conversation(
    f"## User\n\nThe word is {WORD}, and there are more words here.\n",
    title=f"About {WORD}",
    broad_topic="Games/Chess",
    source_id="test:chess",
    artifacts=(NewArtifact(f"{WORD}.txt", WORD.encode()),),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        yield memory


def traces(folder: Path, *words: str) -> list[str]:
    """Every file below a folder whose name or bytes hold one of these words."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        for word in words
        if word.lower() in path.name.lower()
        or (path.is_file() and word.lower().encode() in path.read_bytes().lower())
    )


def test_nothing_of_a_forgotten_memory_is_left(memory: Memory, tmp_path: Path) -> None:
    handler = logging.FileHandler(memory.state_dir / "daemon.log")
    logging.getLogger().addHandler(handler)
    try:
        saved = memory.save(TALK)
        memory.transcript(saved.id)
        logging.getLogger("neurigraph").warning("%s cannot be read", memory.memory(saved.id).path)
        logging.getLogger("neurigraph").warning("something else")
        other = memory.save(Conversation("## User\n\nHow long does rye rise?\n", title="Rye"))
        memory.delete_memory(saved.id, "*")
        memory.restore_memory(saved.id)
        memory.update_memory(saved.id, MemoryEdit(focused_topic="Openings"), "*")
        done = memory.forget_memory(saved.id, "*")
        logging.getLogger("neurigraph").warning("and later")
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    assert done.title == f"About {WORD}"
    assert traces(tmp_path, WORD, saved.id) == []
    log = (memory.state_dir / "daemon.log").read_text()
    assert "something else" in log
    assert "and later" in log
    assert memory.search("rye").hits[0].id == other.id
    assert memory.save(TALK).status == "deleted_before"
    with pytest.raises(NotFound):
        memory.memory(saved.id)


def test_what_lies_in_the_trash_can_be_forgotten(memory: Memory, tmp_path: Path) -> None:
    saved = memory.save(TALK)
    memory.delete_memory(saved.id, "*")
    assert traces(memory.vault / ".trash", WORD)
    memory.forget_memory(saved.id, "*")
    assert traces(tmp_path, WORD, saved.id) == []
    with pytest.raises(NotFound):
        memory.restore_memory(saved.id)
    with pytest.raises(NotFound):
        memory.forget_memory(saved.id, "*")


def test_the_parts_around_a_forgotten_part_no_longer_link_to_it(memory: Memory) -> None:
    turn = "## User\n\n" + "word " * 9_000 + "\n\n## Assistant\n\n" + "answer " * 9_000 + "\n\n"
    saved = memory.save(Conversation(turn * 6, title="Long"))
    first, second, third = saved.ids[:3]
    memory.forget_memory(second, "*")
    assert memory.memory(first).next_part is None
    assert memory.memory(third).previous_part is None
    for memory_id in (first, third):
        assert second not in (memory.vault / memory.memory(memory_id).path).read_text("utf-8")


def test_a_persons_own_note_can_be_forgotten_too(memory: Memory, tmp_path: Path) -> None:
    note = memory.vault / "Diary" / "day.md"
    note.parent.mkdir()
    note.write_text(f"# Day\n\n{WORD}\n", "utf-8")
    memory.refresh({"Diary/day.md"})
    (hit,) = memory.search(WORD).hits
    memory.forget_memory(hit.id, "*")
    assert traces(tmp_path, WORD) == []


def test_a_version_must_be_named_and_what_remains_is_said(memory: Memory) -> None:
    saved = memory.save(TALK)
    with pytest.raises(VersionRequired):
        memory.forget_memory(saved.id, None)
    done_folder = memory.vault / "_inbox" / "done"
    done_folder.mkdir(parents=True)
    (done_folder / "export.zip").write_bytes(b"x")
    copy = memory.vault / "Games" / "copy.md"
    copy.write_bytes((memory.vault / memory.memory(saved.id).path).read_bytes())
    memory.refresh({"Games/copy.md"})
    done = memory.forget_memory(saved.id, "*")
    assert any("Games/copy.md" in line for line in done.remains)
    assert any("_inbox/done" in line for line in done.remains)
    assert copy.exists()


def git(vault: Path, *words: str) -> None:
    """Git with an identity, as a person would run it."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *who, *words], cwd=vault, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_what_gits_history_still_holds_is_said_with_how_to_remove_it(memory: Memory) -> None:
    saved = memory.save(TALK)
    first = memory.memory(saved.id).path
    git(memory.vault, "init", "--quiet")
    git(memory.vault, "add", "--all")
    git(memory.vault, "commit", "--quiet", "-m", "one")
    memory.update_memory(saved.id, MemoryEdit(focused_topic="Openings"), "*")
    git(memory.vault, "add", "--all")
    git(memory.vault, "commit", "--quiet", "-m", "two")
    second = memory.memory(saved.id).path
    (line,) = memory.forget_memory(saved.id, "*").remains
    assert "git filter-repo --invert-paths" in line
    for path in (first, second, f"_recall/{saved.id}"):
        assert f"--path '{path}'" in line
    new = memory.save(Conversation("## User\n\nHow long does rye rise?\n", title="Rye"))
    assert memory.forget_memory(new.id, "*").remains == ()
