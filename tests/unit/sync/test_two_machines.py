"""Machines with a Memory each, and what comes out when both did something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_machines import Machine, Words, check, git, network, settle


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Machine, Machine, Words]]:
    with network(tmp_path / "net", ("laptop", "desktop")) as (machines, words):
        yield machines[0], machines[1], words


def test_what_is_saved_here_is_found_there(pair: tuple[Machine, Machine, Words]) -> None:
    here, there, words = pair
    here.save("Medical/Medications")
    here.sync()
    there.sync()
    assert [h.title for h in there.memory.search("about").hits] == ["About w0w"]
    check([here, there], words)
    before = there.memory.memory(there.memory.search("about").hits[0].id)
    assert before.access_count == 0


def test_both_change_things_and_both_have_everything(pair: tuple[Machine, Machine, Words]) -> None:
    here, there, words = pair
    for number in range(3):
        here.save(f"Work/Project {number}")
    settle([here, there])
    for path in here.notes():
        here.append(path)
        there.change_line(path, 1)
    here.rename_folder("Work/Project 1", "Work/Finished")
    there.save("Work/Project 1")
    here.cool()
    there.edit_transcript(there.notes()[0])
    settle([here, there])
    check([here, there], words)
    assert "Work/Project 1" not in here.folders()
    log = git(here.vault, "log", "--format=%s", "-n", "3")
    assert "Merge what" in log
