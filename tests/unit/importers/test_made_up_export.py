"""The made-up export that imports are measured with is a real one, and is streamed."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from bench.make_export import make_export
from neurigraph.importers.recognise import recognise
from neurigraph.model import Conversation


@pytest.mark.parametrize("name", ["export.zip", "export.json"])
def test_a_great_export_takes_little_memory(name: str, tmp_path: Path) -> None:
    size = make_export(tmp_path / name, conversations=120, megabytes=12)
    assert size > 10_000_000
    tracemalloc.start()
    try:
        with recognise(tmp_path / name) as export:
            ids = set()
            for item in export.read():
                assert isinstance(item, Conversation)
                assert item.content.startswith("## User · ")
                ids.add(item.source_id)
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(ids) == export.count == 120
    assert peak < 12_000_000


def test_the_same_arguments_make_the_same_export(tmp_path: Path) -> None:
    make_export(tmp_path / "a.json", 3, 0.1)
    make_export(tmp_path / "b.json", 3, 0.1)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
