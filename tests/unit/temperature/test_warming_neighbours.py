"""Opening a memory warms what is joined to it, and nothing else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from memory_vault import Vault, talk

PLAIN, COLD = {"transcript.md"}, {"transcript.md.gz"}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path, warm_limit=3)
    yield made
    made.close()


@contextmanager
def files_read_in(folder: Path) -> Iterator[list[str]]:
    """The files of a folder that this thread opens meanwhile: what an answer waits for."""
    opened: list[str] = []
    watching = [threading.get_ident()]

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and watching[0] == threading.get_ident():
            opened.extend(str(a) for a in arguments[:1] if str(a).startswith(str(folder)))

    sys.addaudithook(hear)
    try:
        yield opened
    finally:
        watching[0] = 0


def test_a_hot_memory_is_answered_without_reading_a_file(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    vault.memory.open_memory(memory)
    assert vault.memory.wait_warm()
    with files_read_in(vault.path) as opened:
        assert vault.memory.transcript(memory) == talk("harbour lights")
        assert "harbour lights" in vault.memory.memory(memory).summary
    assert opened == []


def test_heavy_edges_unpack_light_ones_only_load_summaries_in_both_directions(
    vault: Vault,
) -> None:
    home = vault.save("home", "A/Home")
    near = vault.save("near", "A/Near")
    towards = vault.save("towards", "B/Towards")
    far = vault.save("far", "A/Far")
    alone = vault.save("alone", "A/Alone")
    vault.memory.connect("A/Home", "A/Near", weight=0.8)
    vault.memory.connect("B/Towards", "A/Home", "depends_on", weight=0.51)
    vault.memory.connect("A/Home", "A/Far", weight=0.5)
    vault.clock.pass_time(days=40)
    assert vault.memory.cool().compressed == 5
    vault.open_memory(home)
    stored = {i: vault.stored(i) for i in (home, near, towards, far, alone)}
    assert stored == {home: PLAIN, near: PLAIN, towards: PLAIN, far: COLD, alone: COLD}
    temperatures = vault.temperatures()
    assert temperatures[home] == "hot"
    assert temperatures[near] == temperatures[towards] == "hot", "warming is a use"
    assert vault.note(near)["transcript"].startswith("[[")
    assert vault.card(near).access_count == 0
    with files_read_in(vault.path) as opened:
        assert vault.card(far).summary
        assert vault.memory.transcript(near, opening=False)
        for topic, words in (("A/Near", "near"), ("A/Far", "far"), ("B/Towards", "")):
            assert vault.memory.context(topic, words).memories
    assert opened == []
    vault.clock.pass_time(days=3)
    assert vault.memory.cool().compressed == 0


def test_only_the_newest_are_unpacked_and_many_openings_share_the_bound(vault: Vault) -> None:
    home = [vault.save(f"home {n}", "A/Home") for n in range(3)]
    near = []
    for number in range(6):
        vault.clock.pass_time(minutes=5)
        near.append(vault.save(f"near {number}", "A/Near"))
    vault.memory.connect("A/Home", "A/Near", weight=0.9)
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    for memory in home:
        vault.open_memory(memory)
    assert [vault.stored(i) == PLAIN for i in near] == [False] * 3 + [True] * 3
    vault.clock.pass_time(hours=2)
    vault.open_memory(home[0])
    assert [vault.stored(i) == PLAIN for i in near] == [True] * 6


def test_entering_a_topic_warms_its_neighbours_but_not_itself(vault: Vault) -> None:
    home, near = vault.save("home", "A/Home"), vault.save("near", "A/Near")
    vault.memory.connect("A/Home", "A/Near", weight=0.9)
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    vault.memory.open_topic("A/Home")
    assert vault.memory.wait_warm()
    assert (vault.stored(home), vault.stored(near)) == (COLD, PLAIN)


def test_warming_a_topic_unpacks_all_of_it(vault: Vault) -> None:
    inside = [vault.save(f"inside {n}", f"A/Part {n % 2}") for n in range(5)]
    outside = vault.save("outside", "B/Other")
    vault.clock.pass_time(days=8)
    vault.memory.cool()
    assert vault.memory.warm("A") == (5, 0)
    assert all(vault.stored(i) == PLAIN for i in inside)
    assert vault.stored(outside) == COLD
    vault.clock.pass_time(days=3)
    assert vault.memory.cool().compressed == 0


def test_a_warmed_neighbour_does_not_warm_its_own_neighbours(vault: Vault) -> None:
    a, b, c = (vault.save(name, f"Chain/{name}") for name in ("one", "two", "three"))
    vault.memory.connect("Chain/one", "Chain/two", weight=0.9)
    vault.memory.connect("Chain/two", "Chain/three", weight=0.9)
    vault.clock.pass_time(days=40)
    vault.memory.cool()
    vault.open_memory(a)
    vault.memory.refresh({f"_recall/{b}/transcript.md", f"_recall/{b}/transcript.md.gz"})
    assert vault.memory.wait_warm()
    assert (vault.stored(b), vault.stored(c)) == (PLAIN, COLD)
    assert vault.card(b).access_count == 0


def test_what_was_edited_a_moment_ago_is_read_anew_however_hot(vault: Vault) -> None:
    memory = vault.save("harbour lights")
    vault.open_memory(memory)
    place = vault.recall(memory) / "transcript.md"
    place.write_text(place.read_text() + "\nA line by hand.\n")
    assert vault.memory.transcript(memory).endswith("A line by hand.\n")
