"""Everything goes out and comes back the same: export, then import into an empty vault."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.capture.exporting import everything
from neurigraph.capture.reader import read_here
from neurigraph.importers.export import ExportItem, write_folder, write_jsonl
from neurigraph.memory import Memory
from neurigraph.model import Conversation, NewArtifact
from vaults import opened

TEXT = st.text(min_size=1, max_size=300).filter(lambda t: t.strip() != "")
NAMES = st.sampled_from(["plan.pdf", "note.md", "data.csv", "old.gz", "Bild ä.png"])
FILES = st.builds(NewArtifact, NAMES, st.binary(max_size=50))
TALKS = st.builds(
    Conversation,
    content=TEXT,
    title=st.none() | TEXT,
    summary=st.none() | TEXT,
    keywords=st.none() | st.lists(TEXT, max_size=3).map(tuple),
    source_id=st.just(""),
    broad_topic=st.sampled_from(["Medical", "Work/Ünder", "a: b", None]),
    artifacts=st.lists(
        st.builds(NewArtifact, NAMES, st.binary(max_size=50)),
        max_size=2,
        unique_by=lambda a: a.name,
    ).map(tuple),
)
STRANGERS = st.lists(
    st.tuples(
        st.sampled_from(["Diary/a.md", "Diary/Deep/b c.md", "loose.md", "Work/Ünder/x.md"]),
        st.binary(max_size=120),
    ),
    max_size=3,
    unique_by=lambda pair: pair[0],
)


def take_in_this_process(memory: Memory) -> Memory:
    memory.capture.table = replace(memory.capture.table, source=read_here)
    # better keywords, which follow in the background, would change notes while a test looks at them
    memory.capture.better = lambda _: None
    return memory


def picture(memory: Memory) -> dict[str, Any]:
    """All that a person could tell two vaults apart by."""
    store = memory._store
    records = store.library.records()
    owned = [r for r in records if r.kind == "memory"]
    return {
        "notes": {r.path: (r.id, store.files.read(r.path)) for r in records},
        "transcripts": {
            r.id: store.recall.read(r.id) for r in owned if store.recall.form(r.id) != "missing"
        },
        "artifacts": {
            r.id: {
                a.name: store.recall.read_artifact(r.id, a.name)
                for a in store.recall.stat(r.id).artifacts
            }
            for r in owned
        },
        "topics": {p.path: p.id for p in memory.places() if p.note is not None},
        "edges": sorted(map(str, memory.edges())),
    }


@settings(deadline=None, max_examples=15)
@given(st.lists(TALKS, max_size=4), STRANGERS, st.booleans(), st.booleans())
def test_an_export_into_an_empty_vault_gives_the_same_memories(
    talks: list[Conversation], strangers: list[tuple[str, bytes]], cold: bool, as_folder: bool
) -> None:
    with TemporaryDirectory() as name:
        place = Path(name)
        for path, data in strangers:
            (place / "one" / path).parent.mkdir(parents=True, exist_ok=True)
            (place / "one" / path).write_bytes(data)
        with opened(place / "one", place / "s1") as memory:
            saved = [memory.save(talk) for talk in talks]
            topics = [p.id for p in memory.places() if p.kind == "focused"]
            if len(topics) > 1:
                memory.connect(topics[0], topics[1], "related_to", 0.7)
            for item in saved if cold else []:
                memory._store.recall.compress(item.id)
                memory._store.recall.compress_artifacts(item.id)
            while memory.summarizer()["waiting"]:
                time.sleep(0.01)  # better keywords are still being written
            before = picture(memory)
            items = [i for i in everything(memory._desk) if isinstance(i, ExportItem)]
        target = place / ("out" if as_folder else "out.jsonl")
        if as_folder:
            write_folder(items, target)
        else:
            with target.open("wb") as file:
                write_jsonl(items, file)
        with opened(place / "two", place / "s2") as memory:
            report = take_in_this_process(memory).import_from(target)
            assert not report.failed, report.rows
            assert picture(memory) == before
            again = memory.import_from(target)
            assert {row.what for row in again.rows} <= {"unchanged"}
            assert picture(memory) == before


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        yield take_in_this_process(memory)


def imported(memory: Memory, tmp_path: Path, *items: ExportItem) -> list[tuple[str, str]]:
    path = tmp_path / "e.jsonl"
    with path.open("wb") as file:
        write_jsonl(items, file)
    report = memory.import_from(path)
    assert not report.error
    return [(row.what, row.reason) for row in report.rows]


NOTE = b"---\ntype: memory\nid: m-20260101-0000000a\ntitle: Rye\n---\n## Summary\nBread.\n"
RYE = ExportItem("m-20260101-0000000a", "Food/Bread/rye.md", NOTE, "How long?")


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/plugins/evil/main.md",
        ".git/hooks/pre-commit.md",
        "Food/.hidden/x.md",
        "_recall/m-20260101-0000000b/transcript.md",
        "_inbox/x.md",
        "Food/run.js",
        "neurigraph.toml",
    ],
)
def test_a_path_where_no_note_belongs_is_refused(memory: Memory, tmp_path: Path, path: str) -> None:
    before = sorted(memory.vault.rglob("*"))
    ((what, reason),) = imported(memory, tmp_path, replace(RYE, path=path))
    assert what == "failed"
    assert reason
    assert sorted(memory.vault.rglob("*")) == before


def test_what_the_vault_holds_already_stays_as_it_is_there(memory: Memory, tmp_path: Path) -> None:
    assert imported(memory, tmp_path, RYE) == [("imported", "")]
    mine = memory.vault / "Food" / "Bread" / "rye.md"
    mine.write_bytes(NOTE.replace(b"Bread.", b"My own words."))
    (memory.vault / "Food" / "Bread" / "other.md").write_text("mine\n")
    memory.refresh({"Food/Bread/rye.md", "Food/Bread/other.md"})
    other = ExportItem("", "Food/Bread/other.md", b"theirs\n")
    assert imported(memory, tmp_path, RYE, other) == [
        ("unchanged", "it is here already and stays as it is"),
        ("imported", "Food/Bread/other.md is another note here"),
    ]
    assert b"My own words." in mine.read_bytes()
    assert (memory.vault / "Food" / "Bread" / "other.md").read_text() == "mine\n"
    assert (memory.vault / "Food" / "Bread" / "other 2.md").read_text() == "theirs\n"


def test_a_transcript_that_was_lost_here_comes_back_from_an_export(
    memory: Memory, tmp_path: Path
) -> None:
    saved = memory.save(Conversation("How long does rye rise?", title="Rye"))
    items = [i for i in everything(memory._desk) if isinstance(i, ExportItem)]
    (memory.vault / "_recall" / saved.id / "transcript.md").unlink()
    memory.refresh({f"_recall/{saved.id}/transcript.md"})
    assert ("updated", "its transcript was missing") in imported(memory, tmp_path, *items)
    assert memory.transcript(saved.id) == "How long does rye rise?"


def test_a_deleted_memory_does_not_come_back_with_an_export(memory: Memory, tmp_path: Path) -> None:
    saved = memory.save(Conversation("How long does rye rise?", title="Rye"))
    items = [i for i in everything(memory._desk) if isinstance(i, ExportItem) and i.transcript]
    memory.delete_memory(saved.id, "*")
    ((what, reason),) = imported(memory, tmp_path, *items)
    assert (what, "restore" in reason) == ("left_out", True)


def test_a_copy_that_a_person_made_of_a_note_comes_along(memory: Memory, tmp_path: Path) -> None:
    copy = ExportItem("", "Food/Bread/rye copy.md", NOTE)
    assert imported(memory, tmp_path, RYE, copy) == [("imported", ""), ("imported", "")]
    assert memory.memory("m-20260101-0000000a").path == "Food/Bread/rye.md"
    assert (memory.vault / copy.path).read_bytes() == NOTE


def test_an_export_says_what_it_could_not_hold(memory: Memory, tmp_path: Path) -> None:
    saved = memory.save(Conversation("How long does rye rise?", title="Rye"))
    place = memory.vault / "_recall" / saved.id / "transcript.md"
    place.unlink()
    place.with_name("transcript.md.gz").write_bytes(b"\x1f\x8bdamaged")
    lines = list(memory.export_lines())
    said = [line for line in lines if line.startswith(b'{"neurigraph":"problem"')]
    assert len(said) == 1
    assert b"damaged" in said[0]
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"".join(lines))
    with opened(tmp_path / "other", tmp_path / "s2") as other:
        report = take_in_this_process(other).import_from(path)
    failed = [row for row in report.rows if row.what == "failed"]
    assert len(failed) == 1
    assert "not exported" in failed[0].reason
