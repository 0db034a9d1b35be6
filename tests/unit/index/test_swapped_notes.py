"""Notes that exchange their names or their ids while nobody told the daemon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from neurigraph.memory import Memory
from neurigraph.model import Conversation
from vaults import opened

BIRDS = ("pelican", "heron", "bittern")


def saved(memory: Memory) -> tuple[list[str], list[Path]]:
    """Three memories: their ids and their notes."""
    results = [
        memory.save(Conversation(f"## User\n\nAbout the {bird}\n", broad_topic="Birds/Sea"))
        for bird in BIRDS
    ]
    return [r.id for r in results], [memory.vault / r.path for r in results]


def turn(places: Sequence[Path]) -> None:
    """Each takes the name of the next, as with `mv`."""
    aside = places[0].with_name("aside")
    places[0].rename(aside)
    for place, following in zip(places[1:], places, strict=False):
        place.rename(following)
    aside.rename(places[-1])


def told(memory: Memory, places: Sequence[Path]) -> set[str]:
    return {p.relative_to(memory.vault).as_posix() for p in places}


def found(memory: Memory) -> list[tuple[str, ...]]:
    return [tuple(h.id for h in memory.search(bird).hits) for bird in BIRDS]


@pytest.mark.parametrize("how_many", [2, 3])
@pytest.mark.parametrize("way", ["at once", "one by one", "backwards", "compared", "restarted"])
def test_notes_that_exchange_their_names_stay_the_memories_that_they_are(
    tmp_path: Path, how_many: int, way: str
) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    with opened(vault, state) as memory:
        ids, places = saved(memory)
        places = places[:how_many]
        if way != "restarted":
            turn(places)
        if way == "at once":
            memory.refresh(told(memory, places))
        elif way in ("one by one", "backwards"):
            for place in places if way == "one by one" else reversed(places):
                memory.refresh(told(memory, [place]))
        elif way == "compared":
            memory.reconcile()
        if way != "restarted":
            check(memory, ids, places)
    if way == "restarted":
        turn(places)
    with opened(vault, state) as memory:
        check(memory, ids, places)


def check(memory: Memory, ids: list[str], places: list[Path]) -> None:
    assert found(memory) == [(memory_id,) for memory_id in ids]
    assert not memory.problems()
    now = dict(zip(ids[1 : len(places)] + ids[:1], places, strict=True))
    for memory_id, place in now.items():
        assert memory.vault / memory.memory(memory_id).path == place
        assert "About the" in memory.transcript(memory_id)


def test_an_id_that_moves_on_to_another_note_is_found_there(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        ids, places = saved(memory)
        first, second = (place.read_text("utf-8") for place in places[:2])
        places[0].write_text(second.replace(ids[1], "nobody's"), "utf-8")
        places[1].write_text(first, "utf-8")
        memory.refresh(told(memory, places[1:2]))
        assert memory.vault / memory.memory(ids[0]).path == places[1]
        memory.refresh(told(memory, places[:1]))
        assert memory.vault / memory.memory(ids[0]).path == places[1]
        assert ids[0] in {h.id for h in memory.search("pelican").hits}
