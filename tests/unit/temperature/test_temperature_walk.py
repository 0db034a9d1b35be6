"""Memories through all four temperatures and back, as a person sees them."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from memory_vault import SetClock, Vault, talk

from neurigraph.edits.memories import MemoryEdit
from neurigraph.temperature.cycle import NEEDS_YES, OFF

PLAIN = {"transcript.md"}
COLD = {"transcript.md.gz"}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def test_a_memory_goes_through_all_four_temperatures_and_back(vault: Vault) -> None:
    file = b"the plan, in full " * 40
    memory = vault.save("harbour lights", files={"plan.txt": file})
    assert vault.card(memory).temperature == "hot"

    vault.clock.pass_time(hours=2)
    assert vault.card(memory).temperature == "warm"
    vault.memory.cool()
    assert vault.stored(memory) == {"transcript.md", "artifacts/plan.txt"}

    vault.clock.pass_time(days=7)
    assert vault.card(memory).temperature == "warm", "it is cold once it is compressed"
    result = vault.memory.cool()
    assert (result.compressed, result.deepened) == (1, 0)
    assert result.saved_bytes > 0
    assert vault.card(memory).temperature == "cold"
    assert vault.stored(memory) == {"transcript.md.gz", "artifacts/plan.txt"}
    note = vault.note(memory)
    assert note["temperature"] == "cold"
    assert note["transcript"] == f"_recall/{memory}/transcript.md.gz"

    vault.clock.pass_time(days=23)
    result = vault.memory.cool()
    assert (result.compressed, result.deepened) == (0, 1)
    assert vault.card(memory).temperature == "deep-cold"
    assert vault.stored(memory) == {"transcript.md.gz", "artifacts/plan.txt.gz"}
    assert vault.note(memory)["temperature"] == "deep-cold"
    assert vault.memory.artifact(memory, "plan.txt") == file

    assert vault.memory.search("harbour lights").hits[0].id == memory
    assert vault.card(memory).temperature == "deep-cold", "being found is no opening"

    assert vault.open_memory(memory) == talk("harbour lights")
    assert vault.card(memory).temperature == "hot"
    assert vault.stored(memory) == {"transcript.md", "artifacts/plan.txt"}
    note = vault.note(memory)
    assert note["temperature"] == "hot"
    assert note["access_count"] == "1"
    assert note["transcript"] == f"[[_recall/{memory}/transcript|Transcript]]"
    assert vault.card(memory).artifacts[0].compressed is False
    assert vault.memory.artifact(memory, "plan.txt") == file


def test_only_the_lines_of_the_report_change_in_a_note(vault: Vault) -> None:
    memory = vault.save("harbour lights", files={"plan.txt": b"x" * 500})
    path = vault.path / vault.card(memory).path
    raw = path.read_bytes().replace(b"pinned: false", b"pinned: false  # not yet\nmood: 'calm'")
    path.write_bytes(raw.replace(b"\n", b"\r\n") + b"\r\n## Mine\r\nno final newline")
    vault.memory.refresh({vault.card(memory).path})
    before = path.read_bytes()
    vault.clock.pass_time(days=31)
    vault.memory.cool()
    cold = path.read_bytes()
    assert b"temperature: deep-cold\r\n" in cold
    keys = (b"temperature:", b"last_accessed:", b"access_count:", b"transcript:", b"  - ")

    def others(raw: bytes) -> list[bytes]:
        return [line for line in raw.split(b"\n") if not line.startswith(keys)]

    assert others(cold) == others(before)
    vault.open_memory(memory)
    assert others(path.read_bytes()) == others(before)
    assert b"artifacts/plan.txt|plan.txt]]" in path.read_bytes()


def test_cooling_and_warming_change_no_version_that_an_editor_holds(vault: Vault) -> None:
    memory = vault.save("harbour lights", files={"plan.txt": b"x" * 500})
    version = vault.card(memory).version
    vault.clock.pass_time(days=31)
    vault.memory.cool()
    assert vault.card(memory).version == version
    vault.open_memory(memory)
    assert vault.card(memory).version == version
    vault.restart()
    assert vault.card(memory).version == version


def test_hot_and_warm_are_told_to_the_note_at_most_once_a_day(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    path = vault.path / vault.card(memory).path
    before = path.read_bytes()
    for _ in range(6):
        vault.clock.pass_time(hours=3)
        vault.open_memory(memory)
        vault.memory.cool()
    assert path.read_bytes() == before
    vault.clock.pass_time(hours=7)
    vault.memory.cool()
    told = path.read_bytes()
    assert b"access_count: 6" in told
    assert b"temperature: warm" in told
    vault.open_memory(memory)
    vault.clock.pass_time(hours=2)
    vault.memory.cool()
    assert path.read_bytes() == told


def test_a_pinned_memory_never_cools_and_pinning_warms(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    assert vault.stored(memory) == COLD
    vault.memory.update_memory(memory, MemoryEdit(pinned=True), "*")
    assert vault.memory.wait_warm()
    assert vault.stored(memory) == PLAIN
    assert vault.card(memory).temperature == "warm"
    vault.clock.pass_time(days=400)
    assert vault.memory.cool().compressed == 0
    assert vault.stored(memory) == PLAIN


def test_pinning_in_an_editor_warms_too(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    path = vault.path / vault.card(memory).path
    path.write_bytes(path.read_bytes().replace(b"pinned: false", b"pinned: true"))
    vault.memory.refresh({vault.card(memory).path})
    assert vault.memory.wait_warm()
    assert vault.stored(memory) == PLAIN


def test_notes_written_by_hand_have_a_temperature_and_are_never_touched(vault: Vault) -> None:
    note = vault.path / "Work" / "mine.md"
    note.parent.mkdir(exist_ok=True)
    note.write_bytes(b"# Mine\ntemperature is no key here\n")
    vault.memory.refresh({"Work/mine.md"})
    stamp = note.stat().st_mtime_ns
    mine = vault.all()[0]
    vault.clock.now = vault.clock.now.fromtimestamp(stamp / 1e9, vault.clock.now.tzinfo)
    vault.clock.pass_time(days=100)
    vault.memory.cool()
    assert vault.card(mine.id).temperature == "deep-cold"
    assert note.read_bytes() == b"# Mine\ntemperature is no key here\n"
    assert note.stat().st_mtime_ns == stamp
    assert vault.open_memory(mine.id).startswith("# Mine")
    assert vault.card(mine.id).temperature == "hot"


def test_nothing_is_compressed_before_a_person_said_yes(tmp_path: Path) -> None:
    vault = Vault(tmp_path, agreed=False)
    (vault.path / "neurigraph.toml").write_bytes(b"# mine\n[vault]\nexclude = []\n")
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=40)
    planned = vault.memory.planned_cooling()
    assert planned.plan.compress == [memory]
    assert planned.bytes > 0
    assert vault.memory.cool().problem == NEEDS_YES
    assert vault.stored(memory) == PLAIN
    assert vault.memory.temperature_status().agreed is False
    assert vault.memory.cool(agree=True).compressed == 1
    assert vault.stored(memory) == COLD
    kept = (vault.path / "neurigraph.toml").read_bytes()
    assert kept == b"# mine\n[vault]\nexclude = []\n\n[temperature]\nagreed = true\n"
    assert vault.memory.temperature_status().agreed is True
    vault.close()


def test_a_yes_that_arrives_with_a_sync_counts_and_never_switches_it_off(tmp_path: Path) -> None:
    vault = Vault(tmp_path, agreed=False)
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=40)
    file = vault.path / "neurigraph.toml"
    file.write_text('[temperature]\nagreed = true\ncool = "never"\n')
    vault.memory.refresh({"neurigraph.toml"})
    assert vault.memory.cool().problem == OFF
    assert vault.memory.planned_cooling().plan.compress == []
    assert vault.stored(memory) == PLAIN
    file.write_text("[temperature]\nagreed = true\n")
    vault.memory.refresh({"neurigraph.toml"})
    assert vault.memory.cool().compressed == 1
    vault.close()


def test_an_adopted_memory_starts_from_its_own_date(tmp_path: Path) -> None:
    first = Vault(tmp_path / "first")
    memory = first.save("an old boat")
    first.close()
    later = SetClock()
    later.pass_time(days=300)
    (tmp_path / "second").mkdir()
    (tmp_path / "first" / "vault").rename(tmp_path / "second" / "vault")
    second = Vault(tmp_path / "second", later)
    assert second.card(memory).temperature == "warm"
    assert second.memory.cool().compressed == 1
    assert second.card(memory).temperature == "deep-cold"
    second.close()


def test_the_access_log_survives_a_restart_and_its_loss_costs_no_report(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=2)
    vault.open_memory(memory)
    vault.memory.cool()
    vault.restart()
    assert vault.card(memory).access_count == 1
    vault.close()
    for file in vault.state.glob("access.sqlite*"):
        file.unlink()
    vault.open()
    assert vault.card(memory).access_count == 1
    vault.clock.pass_time(days=6)
    assert vault.memory.cool().compressed == 0
    vault.close()


def test_a_wrong_date_in_the_future_keeps_nothing_hot_for_ever(tmp_path: Path) -> None:
    vault = Vault(tmp_path, SetClock())
    memory = vault.save("harbour lights")
    vault.clock.jump(days=2000)
    vault.memory.transcript(memory)
    assert vault.memory.wait_warm()
    vault.clock.jump(days=-2000)
    vault.restart()
    vault.clock.pass_time(days=8)
    assert vault.card(memory).temperature == "warm"
    assert vault.memory.cool(agree=True).compressed == 1
    vault.close()


def test_a_full_disk_stops_the_cycle_with_one_line_and_loses_nothing(vault: Vault) -> None:
    ids = [vault.save(f"harbour {n}") for n in range(40)]
    vault.clock.pass_time(days=8)
    files = vault.memory._store.files

    def full(step: str) -> None:
        if step == "written":
            raise OSError(errno.ENOSPC, "No space left on device")

    files.on_step = full
    assert "disk is full" in str(vault.memory.cool().problem)
    files.on_step = lambda _: None
    assert [vault.memory.transcript(i, opening=False) for i in ids] == [
        talk(f"harbour {n}") for n in range(40)
    ]
    assert all(len(vault.stored(i)) == 1 for i in ids)
    assert vault.memory.cool().compressed == 40


def test_closing_ends_a_cycle_at_once_and_the_next_start_goes_on(vault: Vault) -> None:
    ids = [vault.save(f"harbour {n}") for n in range(60)]
    vault.clock.pass_time(days=8)
    vault.memory.events.subscribe(
        lambda event: vault.memory.wind_down() if event.data.get("job") == "cool" else None
    )
    first = vault.memory.cool()
    assert 0 < first.compressed < 60
    vault.restart()
    assert vault.memory.cool().compressed == 60 - first.compressed
    assert {frozenset(vault.stored(i)) for i in ids} == {frozenset(COLD)}


def test_saving_opening_and_editing_go_on_while_a_cycle_runs(vault: Vault) -> None:
    ids = [vault.save(f"harbour {number}") for number in range(60)]
    vault.clock.pass_time(days=8)
    begun = threading.Event()
    vault.memory.events.subscribe(
        lambda event: begun.set() if event.data.get("job") == "cool" else None
    )
    with ThreadPoolExecutor(2) as pool:
        cycle = pool.submit(vault.memory.cool)
        assert begun.wait(30)
        assert vault.memory.transcript(ids[-1]) == talk("harbour 59")
        vault.memory.update_memory(ids[-2], MemoryEdit(title="Edited"), "*")
        saved = vault.save("a word in between")
        assert cycle.result().problem is None
    assert vault.memory.wait_warm()
    vault.memory.cool()
    assert vault.stored(saved) == vault.stored(ids[-1]) == PLAIN
    assert vault.card(ids[-2]).title == "Edited"
    assert {frozenset(vault.stored(i)) for i in ids[:-1]} == {frozenset(COLD)}
    for number, memory in enumerate(ids):
        assert vault.memory.transcript(memory, opening=False) == talk(f"harbour {number}")
