"""A record goes into the catalog and comes out the same."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from neurigraph.index.catalog import Catalog
from neurigraph.index.record import (
    Link,
    Record,
    Sections,
    Stamp,
    TranscriptStamp,
    from_json,
    opening_of,
    to_json,
)

RECORD = Record(
    path="Medical/Medications/2026-11-30 Dose.md",
    kind="memory",
    id="m-20261130-7f3a2c1b",
    stamp=Stamp(10, 20, 30),
    digest="ab",
    title="Dose: ten mg — 東京",
    version="v",
    text_version="t",
    created=datetime(2026, 11, 30, 10, 30, tzinfo=UTC),
    keywords=("lisinopril", "blood pressure"),
    noted_access=datetime(2026, 11, 30, 11, tzinfo=UTC),
    noted_count=3,
    pinned=True,
    links=(Link("Diet", "related_to", 0.0), Link("Heart")),
    transcript=TranscriptStamp("gzip", 5, 6, "d", "o", (("plan.pdf", 7, True),)),
)


def test_a_record_survives_the_catalog(tmp_path: Path) -> None:
    assert from_json(to_json(RECORD)) == RECORD
    plain = Record("a.md", "note", "p-0", Stamp(0, 0), "", "A", "", "", writable=False)
    assert from_json(to_json(plain)) == plain
    with Catalog(tmp_path / "c.sqlite") as catalog:
        catalog.put([RECORD, plain])
        assert sorted(catalog.load(), key=lambda r: r.path) == [RECORD, plain]


def test_what_indexes_hold_outlives_a_new_version_of_the_note(tmp_path: Path) -> None:
    with Catalog(tmp_path / "c.sqlite") as catalog:
        catalog.put([RECORD])
        catalog.set_held("vector", {RECORD.id: "t"})
        catalog.put([RECORD])
        assert catalog.held("vector") == {RECORD.id: "t"}
        catalog.clear_held("vector")
        assert catalog.held("vector") == {}


def test_the_parts_of_a_notes_text_come_back(tmp_path: Path) -> None:
    parts = Sections("s", "d", "o", "n")
    with Catalog(tmp_path / "c.sqlite") as catalog:
        catalog.put([Record("a.md", "note", "p", Stamp(1, 1), "", "A", "", "", sections=parts)])
        assert catalog.sections(["a.md", "missing.md"]) == {"a.md": parts}


def test_a_damaged_catalog_is_set_aside_and_begun_anew(tmp_path: Path) -> None:
    place = tmp_path / "c.sqlite"
    with Catalog(place) as catalog:
        catalog.put([RECORD])
    place.write_bytes(b"not a database at all" * 500)
    catalog, damaged = Catalog.open(place)
    assert damaged
    assert catalog.load() == []
    assert (tmp_path / "c.sqlite.damaged").exists()
    catalog.close()


def test_an_id_that_moved_twice_leads_to_where_it_is_now(tmp_path: Path) -> None:
    with Catalog(tmp_path / "c.sqlite") as catalog:
        catalog.redirect("p-1", "p-2")
        catalog.redirect("p-2", "p-3")
        assert catalog.redirects() == {"p-1": "p-3", "p-2": "p-3"}
        catalog.redirect("p-3", "p-1")
        assert catalog.redirects() == {"p-2": "p-1", "p-3": "p-1"}


def test_only_long_enough_transcripts_are_told_apart_by_their_beginning() -> None:
    assert opening_of("short") == ""
    assert opening_of("x" * 200) == opening_of("x" * 5000)
