"""`make load` in twenty seconds: everything at once, and nothing is lost, doubled or unequal."""

from __future__ import annotations

from pathlib import Path

from load.harness import Load, run


def test_saving_searching_editing_checkouts_and_cooling_at_once(tmp_path: Path) -> None:
    load = Load(minutes=0.25, memories=300, clients=20, files=100)
    run(load, tmp_path)
    assert not load.errors
    assert not load.faults
    assert load.ledger.acknowledged and load.searches and load.edited and load.events
    assert {"checkouts", "cooling cycles"} <= set(load.calls)
