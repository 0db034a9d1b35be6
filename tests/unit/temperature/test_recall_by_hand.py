"""What a person does to `_recall` by hand: an edit wins, nothing is lost, ids stay."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from memory_vault import SetClock, Vault, talk

from neurigraph.settings import load_settings

PLAIN, COLD = {"transcript.md"}, {"transcript.md.gz"}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


@pytest.fixture
def cold(vault: Vault) -> str:
    memory = vault.save("harbour lights", "A/Sea")
    vault.clock.pass_time(days=8)
    assert vault.memory.cool().compressed == 1
    return memory


def problem_at(vault: Vault, path: str) -> str:
    return next((p.problem for p in vault.memory.problems() if p.path == path), "")


def see(vault: Vault, memory_id: str) -> None:
    """The watcher's word about a memory's folder."""
    vault.memory.refresh({f"_recall/{memory_id}/transcript.md"})
    assert vault.memory.wait_warm()


def age(place: Path, clock: SetClock, seconds: float = 3600) -> None:
    moment = clock.now.timestamp() - seconds
    os.utime(place, (moment, moment))


def test_unpacking_by_hand_counts_as_opening(vault: Vault, cold: str) -> None:
    packed = vault.recall(cold) / "transcript.md.gz"
    (vault.recall(cold) / "transcript.md").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    see(vault, cold)
    assert vault.card(cold).temperature == "hot"
    assert vault.card(cold).access_count == 1
    vault.clock.pass_time(hours=2)
    assert vault.memory.cool().compressed == 0
    assert vault.note(cold)["transcript"].startswith("[[")


def test_an_edited_transcript_is_the_transcript_from_then_on(vault: Vault, cold: str) -> None:
    before = vault.note(cold)["transcript_sha256"]
    vault.open_memory(cold)
    place = vault.recall(cold) / "transcript.md"
    edited = place.read_text("utf-8") + "\nCorrected: the lamp is green.\n"
    place.write_text(edited, "utf-8")
    see(vault, cold)
    assert vault.memory.transcript(cold) == edited
    assert vault.memory.search("lamp is green").hits[0].id == cold
    assert vault.note(cold)["transcript_sha256"] == before
    vault.clock.pass_time(days=8)
    vault.memory.cool()
    assert vault.stored(cold) == COLD
    assert vault.memory.transcript(cold) == edited


def test_a_transcript_that_was_edited_a_moment_ago_waits(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    place = vault.recall(memory) / "transcript.md"
    vault.clock.pass_time(days=8)
    place.write_text(place.read_text("utf-8") + "\nmore\n", "utf-8")
    age(place, vault.clock, seconds=60)
    vault.memory.reconcile()
    result = vault.memory.cool()
    assert result.compressed == 0
    assert sum(result.skipped.values()) == 1
    vault.clock.pass_time(minutes=10)
    assert vault.memory.cool().compressed == 1


def test_an_edit_that_nobody_saw_yet_is_not_compressed_unread(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    place = vault.recall(memory) / "transcript.md"
    vault.clock.pass_time(days=8)
    edited = place.read_text("utf-8") + "\nthe lamp is green\n"
    place.write_text(edited, "utf-8")
    age(place, vault.clock)
    assert vault.memory.cool().skipped == {"changed meanwhile": 1}
    assert vault.memory.search("lamp green").hits[0].id == memory
    assert vault.memory.cool().compressed == 1
    assert vault.memory.transcript(memory) == edited


def test_a_memory_that_is_open_in_obsidian_waits(vault: Vault) -> None:
    memory, other = vault.save("harbour lights"), vault.save("a quiet garden")
    vault.clock.pass_time(days=8)
    show_in_obsidian(vault, vault.card(memory).path, f"_recall/{other}/transcript.md", hours_ago=5)
    assert vault.memory.cool().compressed == 0
    show_in_obsidian(vault, hours_ago=5)
    assert vault.memory.cool().compressed == 2


def show_in_obsidian(vault: Vault, *paths: str, hours_ago: float = 0) -> None:
    place = vault.path / ".obsidian" / "workspace.json"
    place.parent.mkdir(exist_ok=True)
    leaves = [
        {"type": "leaf", "state": {"type": "markdown", "state": {"file": path}}} for path in paths
    ]
    place.write_text(json.dumps({"main": {"type": "split", "children": leaves}}))
    age(place, vault.clock, hours_ago * 3600)
    vault.memory.refresh({".obsidian/workspace.json"})
    assert vault.memory.wait_warm()


def test_what_obsidian_has_open_is_opened_once_a_day(vault: Vault, cold: str) -> None:
    path = vault.card(cold).path
    show_in_obsidian(vault, path, hours_ago=3)
    assert vault.card(cold).access_count == 0, "Obsidian said so long ago, and may be closed"
    before = (vault.path / path).read_bytes()
    show_in_obsidian(vault, path)
    assert vault.card(cold).temperature == "hot"
    assert vault.stored(cold) == PLAIN
    assert (vault.path / path).read_bytes() == before, "an open note is not written to"
    vault.clock.pass_time(hours=3)
    show_in_obsidian(vault, path)
    assert vault.card(cold).access_count == 1
    vault.restart()
    show_in_obsidian(vault, path)
    assert vault.card(cold).access_count == 1
    vault.clock.pass_time(days=1)
    show_in_obsidian(vault, path)
    assert vault.card(cold).access_count == 2
    show_in_obsidian(vault)
    vault.memory.cool()
    assert vault.note(cold)["access_count"] == "2"


def test_a_transcript_open_in_obsidian_opens_its_memory(vault: Vault, cold: str) -> None:
    show_in_obsidian(vault, f"_recall/{cold}/transcript.md")
    assert vault.card(cold).access_count == 1


def test_a_plugin_that_rewrites_properties_opens_nothing(vault: Vault, cold: str) -> None:
    path = vault.path / vault.card(cold).path
    for old, new in ((b"title: ", b"title: New "), (b"keywords:", b"mood: calm\nkeywords:")):
        path.write_bytes(path.read_bytes().replace(old, new, 1))
        vault.memory.refresh({vault.card(cold).path})
    assert vault.card(cold).title == "New harbour lights"
    assert vault.card(cold).access_count == 0
    path.write_bytes(path.read_bytes() + b"\n## Mine\nwords of my own\n")
    vault.memory.refresh({vault.card(cold).path})
    assert vault.memory.wait_warm()
    assert vault.card(cold).access_count == 1
    assert vault.stored(cold) == PLAIN


def test_a_missing_transcript_is_a_listed_problem_and_comes_back(vault: Vault, cold: str) -> None:
    folder, kept = vault.recall(cold), vault.path.parent / "kept"
    shutil.copytree(folder, kept)
    shutil.rmtree(folder)
    see(vault, cold)
    place = f"_recall/{cold}"
    assert "missing" in problem_at(vault, place)
    assert vault.card(cold).has_transcript is False
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    vault.restart()
    assert vault.card(cold).id == cold
    assert "missing" in problem_at(vault, place)
    folder.mkdir()
    vault.memory.reconcile()
    assert "missing" in problem_at(vault, place)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    vault.memory.reconcile()
    assert problem_at(vault, place) == ""
    assert vault.memory.transcript(cold) == talk("harbour lights")
    assert vault.card(cold).access_count == 1, "being put back is no opening"


def test_a_clicked_dead_link_makes_an_empty_file_that_goes_to_the_trash(
    vault: Vault, cold: str
) -> None:
    empty = vault.recall(cold) / "transcript.md"
    empty.write_bytes(b"")
    age(empty, vault.clock, 10)
    see(vault, cold)
    assert vault.memory.transcript(cold, opening=False) == talk("harbour lights")
    vault.memory.cool()
    assert empty.exists(), "somebody may still be at work on it"
    vault.clock.pass_time(minutes=10)
    vault.memory.cool()
    assert vault.stored(cold) == COLD
    assert vault.card(cold).temperature == "cold"
    assert vault.memory.problems() == []


def test_another_text_in_the_place_is_set_aside_and_stays_listed(vault: Vault, cold: str) -> None:
    other = vault.recall(cold) / "transcript.md"
    other.write_text("a template, filled in\n")
    age(other, vault.clock)
    see(vault, cold)
    vault.memory.cool()
    aside = "transcript (set aside).md"
    assert vault.stored(cold) == COLD | {aside}
    assert "set aside" in problem_at(vault, f"_recall/{cold}/{aside}")
    vault.restart()
    assert "set aside" in problem_at(vault, f"_recall/{cold}/{aside}")
    assert vault.memory.transcript(cold) == talk("harbour lights")


def test_a_plain_edit_beside_the_gz_wins(vault: Vault, cold: str) -> None:
    edited = talk("harbour lights") + "\nThe lamp is green.\n"
    place = vault.recall(cold) / "transcript.md"
    place.write_text(edited)
    age(place, vault.clock)
    see(vault, cold)
    vault.memory.cool()
    assert vault.memory.transcript(cold) == edited
    assert len(vault.stored(cold)) == 1
    assert list((vault.path / ".trash").rglob("*transcript.md.gz"))


def test_a_damaged_gz_is_left_as_it_is_and_keeps_nobody_else_from_cooling(
    vault: Vault, cold: str
) -> None:
    packed = vault.recall(cold) / "transcript.md.gz"
    data = packed.read_bytes()[:-9]
    packed.write_bytes(data)
    see(vault, cold)
    other = vault.save("a quiet garden")
    vault.clock.pass_time(days=8)
    assert vault.memory.cool().compressed == 1
    assert vault.stored(other) == COLD
    assert packed.read_bytes() == data
    assert problem_at(vault, f"_recall/{cold}")


def test_the_folder_of_a_deleted_note_is_listed_and_trashed_after_30_days(
    vault: Vault, cold: str
) -> None:
    kept = vault.save("a quiet garden", "A/Garden")
    place, path = f"_recall/{cold}", vault.path / vault.card(cold).path
    raw = path.read_bytes()
    path.unlink()
    vault.memory.reconcile()
    assert "its note is gone" in problem_at(vault, place)
    vault.clock.pass_time(days=29)
    vault.restart()
    assert "its note is gone" in problem_at(vault, place)
    path.write_bytes(raw)
    vault.memory.reconcile()
    assert problem_at(vault, place) == ""
    assert vault.memory.transcript(cold) == talk("harbour lights")
    path.unlink()
    vault.memory.reconcile()
    vault.memory.survey_recall()
    vault.clock.pass_time(days=30)
    vault.memory.survey_recall()
    assert problem_at(vault, place) == ""
    assert not vault.recall(cold).exists()
    assert (vault.path / ".trash" / place).is_dir()
    assert vault.recall(kept).exists()


@pytest.mark.parametrize("why", ["unparsable", "in an excluded folder", "too large"])
def test_a_folder_whose_note_is_only_out_of_sight_is_never_trashed(
    why: str, vault: Vault, cold: str
) -> None:
    path = vault.path / vault.card(cold).path
    raw = path.read_bytes()
    if why == "unparsable":
        path.write_bytes(raw.replace(b"title: ", b"title: a: b: ", 1).replace(b"\nid:", b"\n\tid:"))
    elif why == "too large":
        path.write_bytes(raw + b"x" * 6_000_000)
    else:
        (vault.path / ".hidden").mkdir()
        path.rename(vault.path / ".hidden" / path.name)
    vault.memory.reconcile()
    vault.memory.survey_recall()
    vault.clock.pass_time(days=90)
    vault.memory.survey_recall()
    assert vault.recall(cold).exists()


def test_a_vault_copied_to_another_machine_is_as_cold_as_it_was(tmp_path: Path) -> None:
    first = Vault(tmp_path / "first", agreed=False)
    ids = [first.save(f"harbour {n}", f"A/T{n % 2}", {"f.txt": b"f" * 99}) for n in range(4)]
    first.clock.pass_time(days=31)
    first.memory.cool(agree=True)
    first.open_memory(ids[0])
    before = first.temperatures()
    first.close()
    (tmp_path / "second").mkdir()
    shutil.copytree(tmp_path / "first" / "vault", tmp_path / "second" / "vault")
    clock = SetClock(first.clock.now + timedelta(minutes=1))
    travelled, _ = load_settings(tmp_path / "second" / "vault", tmp_path, {})
    second = Vault(tmp_path / "second", clock, agreed=travelled.temperature.agreed)
    assert second.temperatures() == before
    assert second.memory.temperature_status().agreed
    for number, memory in enumerate(ids):
        assert second.memory.search(f"harbour {number}").hits[0].id == memory
        assert second.memory.transcript(memory, opening=False) == talk(f"harbour {number}")
    clock.pass_time(days=8)
    assert second.memory.cool().compressed == 1
    second.close()


def test_cold_is_found_after_everything_was_indexed_anew(vault: Vault) -> None:
    ids = {f"zebra{n} quagga{n % 3}": vault.save(f"zebra{n} quagga{n % 3}") for n in range(12)}
    hot = {q: [(h.id, h.snippet) for h in vault.memory.search(q).hits] for q in ids}
    vault.clock.pass_time(days=40)
    assert vault.memory.cool().compressed == 12
    cold = {q: [(h.id, h.snippet) for h in vault.memory.search(q).hits] for q in ids}
    assert cold == hot
    vault.close()
    shutil.rmtree(vault.state)
    vault.state.mkdir()
    vault.open()
    anew = {q: [(h.id, h.snippet) for h in vault.memory.search(q).hits] for q in ids}
    assert anew == hot
    assert set(vault.temperatures().values()) == {"deep-cold"}
