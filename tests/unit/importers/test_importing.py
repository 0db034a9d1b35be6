"""What an import does to a vault: the first time, again, later, and when something is wrong."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neurigraph.capture.apart import Reader
from neurigraph.capture.parcel import Order
from neurigraph.capture.reader import read_here
from neurigraph.capture.report import Report
from neurigraph.edits import save
from neurigraph.edits.memories import MemoryEdit
from neurigraph.errors import InvalidInput, NeurigraphError
from neurigraph.memory import Memory
from neurigraph.model import Conversation, NewArtifact
from neurigraph.settings import ImportSettings, Settings
from neurigraph.vault import disk
from vaults import QUICK, opened

Vault = Callable[..., Memory]


def take_in_this_process(memory: Memory) -> Memory:
    """Without a process of its own, an import takes milliseconds."""
    memory.capture.table = replace(memory.capture.table, source=read_here)
    # better keywords, which follow in the background, would change notes while a test looks at them
    memory.capture.better = lambda _: None
    return memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        yield take_in_this_process(memory)


def turns(*said: str) -> list[dict[str, Any]]:
    """Messages of a Claude export, the person first."""
    return [
        {
            "uuid": f"u{number}",
            "sender": "human" if number % 2 == 0 else "assistant",
            "text": text,
            "created_at": f"2024-03-01T10:{number:02}:00Z",
        }
        for number, text in enumerate(said)
    ]


def talk(name: str, *said: str) -> dict[str, Any]:
    """A conversation of a Claude export."""
    return {
        "uuid": f"id-{name}",
        "name": name,
        "created_at": "2024-03-01T10:00:00Z",
        "updated_at": "2024-03-01T11:00:00Z",
        "chat_messages": turns(*said),
    }


BREAD = talk("Bread", "How long does rye have to rise in a cold kitchen?", "About five hours.")
KNEES = talk("Knees", "My knees hurt after running downhill, why is that?", "Eccentric load.")


def picture(memory: Memory) -> dict[str, tuple[bytes, int]]:
    """Every file of the vault, its bytes and when it was written."""
    return {
        str(path.relative_to(memory.vault)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in memory.vault.rglob("*")
        if path.is_file()
    }


def export_of(tmp_path: Path, *talks: Any, name: str = "conversations.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(list(talks)), "utf-8")
    return path


def whats(report: Report) -> dict[str, str]:
    """What became of each, by title."""
    assert not report.error
    return {row.title: row.what for row in report.rows}


def named(memory: Memory, title: str) -> str:
    """The id of the memory with this title."""
    found = [r for r in memory._store.library.memories() if r.title == title]
    assert len(found) == 1, [r.title for r in memory._store.library.memories()]
    return found[0].id


def test_each_conversation_becomes_one_memory_with_its_date_and_source(
    memory: Memory, tmp_path: Path
) -> None:
    report = memory.import_from(export_of(tmp_path, BREAD, KNEES))
    assert whats(report) == {"Bread": "imported", "Knees": "imported"}
    chunk = memory.memory(named(memory, "Bread"))
    assert chunk.created is not None
    assert chunk.created.isoformat() == "2024-03-01T10:00:00+00:00"
    assert (chunk.broad, chunk.focused) == ("Inbox", "General")
    assert chunk.source_id == "claude:id-Bread"
    assert Path(chunk.path).name == "2024-03-01 Bread.md"
    assert memory.transcript(chunk.id, opening=False).startswith("## User · 2024-03-01T10:00:00")
    assert memory.search("rye").hits[0].id == chunk.id


def test_what_is_years_old_is_not_hot_because_it_comes_in_today(
    memory: Memory, tmp_path: Path
) -> None:
    memory.import_from(export_of(tmp_path, BREAD))
    chunk = memory.memory(named(memory, "Bread"))
    assert chunk.temperature.value == "warm"
    assert chunk.last_accessed == chunk.created


def test_a_second_import_changes_no_byte(memory: Memory, tmp_path: Path) -> None:
    path = export_of(tmp_path, BREAD, KNEES)
    memory.import_from(path)
    before = picture(memory)
    report = memory.import_from(path)
    assert whats(report) == {"Bread": "unchanged", "Knees": "unchanged"}
    assert picture(memory) == before


def test_a_newer_export_updates_what_grew_where_a_person_has_put_it(
    memory: Memory, tmp_path: Path
) -> None:
    memory.import_from(export_of(tmp_path, BREAD, KNEES))
    bread = named(memory, "Bread")
    memory.update_memory(bread, MemoryEdit(broad_topic="Kitchen", focused_topic="Rye"), "*")
    longer = talk("Bread", *[m["text"] for m in BREAD["chat_messages"]], "And at 5 degrees?")
    report = memory.import_from(export_of(tmp_path, longer, KNEES))
    assert whats(report) == {"Bread": "updated", "Knees": "unchanged"}
    chunk = memory.memory(bread)
    assert (chunk.broad, chunk.focused) == ("Kitchen", "Rye")
    assert "And at 5 degrees?" in memory.transcript(bread, opening=False)


def test_a_transcript_that_a_person_edited_stays_and_the_newer_text_lies_beside_it(
    memory: Memory, tmp_path: Path
) -> None:
    memory.import_from(export_of(tmp_path, BREAD))
    bread = named(memory, "Bread")
    place = memory.vault / "_recall" / bread / "transcript.md"
    place.write_text(place.read_text("utf-8").replace("five hours", "SIX hours"), "utf-8")
    memory.refresh({f"_recall/{bread}/transcript.md"})
    said = [m["text"] for m in BREAD["chat_messages"]]
    for more in (["And then?"], ["And then?", "Bake it."]):
        report = memory.import_from(export_of(tmp_path, talk("Bread", *said, *more)))
        assert whats(report) == {"Bread": "unchanged"}
        assert "edited by hand" in report.rows[0].reason
        # the person is told, so that they find what is new beside their own text
        assert [row["title"] for row in report.summary()["rows"]] == ["Bread"]
    assert "SIX hours" in memory.transcript(bread, opening=False)
    assert [a.name for a in memory.memory(bread).artifacts] == ["newer version.md"]
    assert "Bake it." in memory.artifact(bread, "newer version.md").decode()


def test_another_branch_replaces_the_text_and_the_earlier_one_is_an_artifact(
    memory: Memory, tmp_path: Path
) -> None:
    memory.import_from(export_of(tmp_path, BREAD))
    bread = named(memory, "Bread")
    earlier = memory.transcript(bread, opening=False)
    other = talk("Bread", BREAD["chat_messages"][0]["text"], "It depends on the flour.")
    report = memory.import_from(export_of(tmp_path, other))
    assert whats(report) == {"Bread": "updated"}
    assert "flour" in memory.transcript(bread, opening=False)
    (artifact,) = memory.memory(bread).artifacts
    assert memory.artifact(bread, artifact.name).decode() == earlier


def test_one_bad_conversation_never_stops_the_rest(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save, "MOST_BYTES", 2_000)
    huge = talk("Huge", "word " * 1_000, "no")
    report = memory.import_from(export_of(tmp_path, BREAD, 7, huge, {"chat_messages": 3}, KNEES))
    found = whats(report)
    assert found["Bread"] == found["Knees"] == "imported"
    assert found["Huge"] == "failed"
    assert report.counts["failed"] >= 2
    assert report.failed
    assert "2,000" in next(row.reason for row in report.rows if row.title == "Huge")


def test_a_conversation_that_stands_twice_in_an_export_is_one_memory(
    memory: Memory, tmp_path: Path
) -> None:
    report = memory.import_from(export_of(tmp_path, BREAD, BREAD, KNEES))
    assert [row.what for row in report.rows] == ["imported", "unchanged", "imported"]
    assert memory.counts().memories == 2


def test_what_a_person_deleted_is_left_out(memory: Memory, tmp_path: Path) -> None:
    path = export_of(tmp_path, BREAD, KNEES)
    memory.import_from(path)
    memory.delete_memory(named(memory, "Bread"), "*")
    report = memory.import_from(path)
    assert whats(report) == {"Bread": "left_out", "Knees": "unchanged"}


def test_a_dry_run_tells_what_would_go_where_and_writes_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    memory.import_from(export_of(tmp_path, BREAD))
    before = picture(memory)
    longer = talk("Bread", *[m["text"] for m in BREAD["chat_messages"]], "And at 5 degrees?")
    path = export_of(tmp_path, longer, KNEES, KNEES)
    report = memory.import_from(path, "Sport/Running", dry_run=True)
    assert [(r.title, r.what, r.path) for r in report.rows][1:] == [
        ("Knees", "imported", "Sport/Running"),
        ("Knees", "unchanged", ""),
    ]
    assert report.rows[0].what == "updated"
    assert picture(memory) == before


@pytest.mark.parametrize(
    ("topic", "where"),
    [
        ("Sport/Running", ("Sport", "Running")),
        ("Sport", ("Sport", "General")),
        ("running", ("Sport", "Running")),
        ("Brand new", ("Brand new", "General")),
    ],
)
def test_a_topic_that_is_named_is_found_or_made(
    memory: Memory, tmp_path: Path, topic: str, where: tuple[str, str]
) -> None:
    memory.create_topic("Sport")
    memory.create_topic("Running", "Sport")
    memory.import_from(export_of(tmp_path, KNEES), topic)
    chunk = memory.memory(named(memory, "Knees"))
    assert (chunk.broad, chunk.focused) == where


def test_an_import_that_was_stopped_goes_on_from_there(memory: Memory, tmp_path: Path) -> None:
    talks = [talk(f"Talk {n}", f"Question {n} about sourdough?", "Yes.") for n in range(60)]
    path = export_of(tmp_path, *talks)
    inner = memory.capture.table.source
    seen = 0

    def stopping(order: Any) -> Any:
        nonlocal seen

        def parcels(found: Any) -> Any:
            nonlocal seen
            for parcel in found:
                seen += 1
                if seen == 20:
                    memory.capture.stop()
                yield parcel

        from contextlib import contextmanager

        @contextmanager
        def source() -> Any:
            with inner(order) as found:
                yield parcels(found)

        return source()

    memory.capture.table = replace(memory.capture.table, source=stopping)
    report = memory.import_from(path)
    assert report.stopped
    assert 10 < report.counts["imported"] < 30
    assert memory.counts().memories == report.counts["imported"]
    memory.capture.table = replace(memory.capture.table, source=inner)
    again = memory.import_from(path)
    assert again.counts["unchanged"] == report.counts["imported"]
    assert memory.counts().memories == 60


class PowerCut(BaseException):
    """What ends the process in the middle of a step."""


@pytest.mark.parametrize("step", [3, 17, 40, 66, 91])
def test_whatever_step_an_import_dies_at_the_next_one_makes_it_whole(
    tmp_path: Path, step: int
) -> None:
    long = talk("Long", *[f"turn {n} " + "word " * 3_000 for n in range(40)])
    path = export_of(tmp_path, BREAD, long, KNEES)
    vault, state = tmp_path / "vault", tmp_path / "state"
    with opened(vault, state) as memory:
        take_in_this_process(memory)
        left = step

        def count(_: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise PowerCut

        memory._store.files.on_step = count
        with pytest.raises(PowerCut):
            memory.import_from(path)
        memory._store.files.on_step = lambda _: None
    with opened(vault, state) as memory:
        take_in_this_process(memory)
        memory.import_from(path)
        titles = [r.title for r in memory._store.library.memories()]
        assert len(titles) == len(set(titles))
        assert {"Bread", "Knees", "Long (part 1 of 4)"} <= set(titles)
        parts = [named(memory, f"Long (part {n} of 4)") for n in range(1, 5)]
        chunks = [memory.memory(i) for i in parts]
        assert [c.next_part for c in chunks] == [*parts[1:], None]
        assert [c.previous_part for c in chunks] == [None, *parts[:-1]]
        assert whats(memory.import_from(path)) == dict.fromkeys(
            ["Bread", "Long", "Knees"], "unchanged"
        )


def with_setting(secrets: str) -> Settings:
    return QUICK.model_copy(update={"imports": ImportSettings(secrets=secrets)})  # type: ignore[call-arg,arg-type]


KEY = "ghp_" + "a1B2c3D4e5F6" * 3
LEAKY = talk("Leaky", f"Why does my token {KEY} not work here?", "It has expired.")


@pytest.mark.parametrize(
    ("setting", "kept", "mark"), [("warn", True, "held"), ("mask", False, ""), ("off", True, "")]
)
def test_what_looks_like_a_secret_is_marked_masked_or_left_as_the_setting_says(
    tmp_path: Path, setting: str, kept: bool, mark: str
) -> None:
    settings = with_setting(setting)
    with opened(tmp_path / "v", tmp_path / "s", settings) as memory:
        take_in_this_process(memory)
        memory.import_from(export_of(tmp_path, LEAKY, BREAD))
        leaky, bread = named(memory, "Leaky"), named(memory, "Bread")
        assert (KEY in memory.transcript(leaky, opening=False)) is kept
        assert memory.memory(leaky).secrets == mark
        assert memory.memory(bread).secrets == ""
        everywhere = b"".join(data for data, _ in picture(memory).values())
        assert (KEY.encode() in everywhere) is kept
        again = memory.import_from(export_of(tmp_path, LEAKY, BREAD))
        assert set(whats(again).values()) == {"unchanged"}


def test_a_held_memory_stays_out_of_git_until_a_person_says_yes(
    memory: Memory, tmp_path: Path
) -> None:
    memory.import_from(export_of(tmp_path, LEAKY, BREAD))
    leaky, bread = memory.memory(named(memory, "Leaky")), memory.memory(named(memory, "Bread"))
    for path in (leaky.path, f"_recall/{leaky.id}/transcript.md", "_inbox/export.zip"):
        assert memory.held_out(path), path
    for path in (bread.path, f"_recall/{bread.id}/transcript.md", "Inbox/gone.md", "x.txt"):
        assert not memory.held_out(path), path
    (held,) = memory.held()
    assert (held.id, held.found[0].kind, held.found[0].where) == (
        leaky.id,
        "GitHub token",
        "transcript",
    )
    memory.update_memory(leaky.id, MemoryEdit(secrets_ok=True), "*")
    assert not memory.held_out(leaky.path)
    assert not memory.held_out(f"_recall/{leaky.id}/transcript.md")
    assert memory.held() == []
    said = [m["text"] for m in LEAKY["chat_messages"]]
    memory.import_from(export_of(tmp_path, talk("Leaky", *said, "Thanks, that explains it.")))
    assert not memory.held_out(leaky.path), "what was allowed stays allowed"
    other = "glpat-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm"
    memory.import_from(export_of(tmp_path, talk("Leaky", *said, f"And why {other} then?")))
    assert memory.held_out(leaky.path), "a new one needs a new yes"


def test_a_transcript_is_held_before_its_note_is_known(memory: Memory) -> None:
    place = memory.vault / "_recall" / "m-20260101-0000000a"
    place.mkdir(parents=True)
    (place / "transcript.md").write_text("x")
    assert memory.held_out("_recall/m-20260101-0000000a/transcript.md")
    assert not memory.held_out("_recall/m-20260101-0000000b/transcript.md"), "a deletion travels"


def test_a_disk_that_is_full_ends_the_import_with_one_line(memory: Memory, tmp_path: Path) -> None:
    def full(step: str) -> None:
        if step == "written":
            raise OSError(28, "No space left on device")

    memory._store.files.on_step = full
    report = memory.import_from(export_of(tmp_path, BREAD, KNEES))
    memory._store.files.on_step = lambda _: None
    assert "disk is full" in report.error
    assert report.again
    assert report.rows == []
    assert whats(memory.import_from(export_of(tmp_path, BREAD, KNEES))) == {
        "Bread": "imported",
        "Knees": "imported",
    }


def test_progress_is_told_with_an_estimate(memory: Memory, tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []
    memory.events.subscribe(lambda e: said.append(dict(e.data)) if e.kind == "progress" else None)
    memory.import_from(export_of(tmp_path, BREAD, KNEES))
    mine = [data for data in said if data["job"] == "import"]
    assert mine[0]["done"] == 0
    assert mine[-1]["done"] == mine[-1]["total"] > 0
    assert "2 of 2 conversations" in mine[-1]["text"]


def test_a_conversation_goes_to_a_topic_that_it_fits_and_others_are_not_guessed(
    memory: Memory, tmp_path: Path
) -> None:
    for number, said in enumerate(("rye starter rising dough", "wheat dough oven crust rising")):
        memory.save(
            Conversation(
                f"## User\n\nTell me of {said}.\n\n## Assistant\n\nIt takes {said} time.\n",
                title=f"Bread {number}: {said}",
                broad_topic="Kitchen/Baking",
                keywords=("rye", "dough", "rising", "bread"),
            )
        )
    path = export_of(tmp_path, BREAD, KNEES)
    planned = memory.import_from(path, dry_run=True)
    assert [row.path for row in planned.rows] == ["Kitchen/Baking", "Inbox/General"]
    memory.import_from(path)
    assert memory.memory(named(memory, "Bread")).focused == "Baking"
    assert memory.memory(named(memory, "Knees")).broad == "Inbox"


def test_the_vault_is_not_imported_into_itself(memory: Memory, tmp_path: Path) -> None:
    memory.import_from(export_of(tmp_path, BREAD))
    (memory.vault / "_inbox").mkdir()
    dropped = memory.vault / "_inbox" / "x.md"
    dropped.write_text("x")
    memory.capture.check(dropped)
    memory.capture.check(tmp_path / "conversations.json")
    for path in (memory.vault, memory.vault / "Inbox", tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInput):
            memory.capture.check(path)


def test_a_conversation_that_was_forked_is_a_memory_of_its_own(
    memory: Memory, tmp_path: Path
) -> None:
    long = [f"turn {n} " + "word " * 3_000 for n in range(30)]
    talks = [talk("One", *long, "This way."), talk("Two", *long, "That way.")]
    report = memory.import_from(export_of(tmp_path, *talks))
    assert whats(report) == {"One": "imported", "Two": "imported"}
    for grown in ("More.", "Even more."):
        talks[0] = talk("One", *long, "This way.", grown)
        report = memory.import_from(export_of(tmp_path, *talks))
        assert whats(report)["Two"] == "unchanged"
    two = memory._store.library.from_source("claude:id-Two")
    assert memory.transcript(two[-1].id, opening=False).rstrip().endswith("That way.")


def test_the_same_words_from_two_places_are_one_memory(memory: Memory, tmp_path: Path) -> None:
    other = {**BREAD, "uuid": "another", "name": "Copy"}
    report = memory.import_from(export_of(tmp_path, BREAD, other))
    assert whats(report) == {"Bread": "imported", "Copy": "unchanged"}


def test_others_save_while_an_import_is_under_way(memory: Memory, tmp_path: Path) -> None:
    talks = [talk(f"Talk {n}", f"Question {n} about sourdough?", "Yes.") for n in range(120)]
    path = export_of(tmp_path, *talks)
    reports: list[Report] = []
    importing = threading.Thread(target=lambda: reports.append(memory.import_from(path)))
    importing.start()
    saved = []
    number = 0
    while importing.is_alive() and number < 25:
        number += 1
        words = f"## User\n\nWhat about knees, number {number}, please?\n"
        saved.append(memory.save(Conversation(words, broad_topic="Sport/Running")))
    importing.join()
    assert reports[0].counts["imported"] == 120
    assert len(saved) > 2
    assert {s.status for s in saved} == {"created"}
    assert memory.counts().memories == 120 + len(saved)
    assert memory.problems() == []


def test_an_import_that_waits_for_its_disk_can_be_stopped(memory: Memory, tmp_path: Path) -> None:
    begun = threading.Event()

    @contextmanager
    def silent(order: Order) -> Iterator[Reader]:
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            begun.set()
            try:
                yield Reader(process, order)
            finally:
                process.kill()

    memory.capture.table = replace(memory.capture.table, source=silent)
    reports: list[Report] = []
    path = export_of(tmp_path, BREAD)
    running = threading.Thread(target=lambda: reports.append(memory.import_from(path)))
    running.start()
    assert begun.wait(20)
    memory.capture.stop()
    running.join(20)
    assert not running.is_alive()
    assert (reports[0].stopped, reports[0].error) == (True, "")


def folders(memory: Memory) -> list[str]:
    return sorted(path.name for path in (memory.vault / "_recall").iterdir())


def test_what_an_interrupted_import_left_without_notes_is_finished_by_the_next(
    tmp_path: Path,
) -> None:
    path = export_of(tmp_path, BREAD, KNEES)
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        take_in_this_process(memory)
        # as if the process ended between transcripts and notes
        memory._saver.write = lambda _: []  # type: ignore[method-assign]
        memory.import_from(path)
        left = folders(memory)
        assert len(left) == 2
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        take_in_this_process(memory)
        assert whats(memory.import_from(path)) == {"Bread": "imported", "Knees": "imported"}
        assert folders(memory) == left
        assert memory.doctor(deep=True) == []
        assert not (memory.state_dir / "unfinished").exists()
        assert whats(memory.import_from(path)) == {"Bread": "unchanged", "Knees": "unchanged"}


def test_a_save_that_was_refused_leaves_nothing_once_it_is_tried_again(memory: Memory) -> None:
    talk = Conversation(
        "## User\n\nHow long does rye rise?\n",
        title="Rye",
        artifacts=(NewArtifact("a.txt", b"one"),),
    )
    create = memory._desk.files.create

    def refusing(rel: str, data: bytes, **more: Any) -> str:
        if rel.endswith(" Rye.md"):
            raise OSError("the disk is full")
        return create(rel, data, **more)

    memory._desk.files.create = refusing  # type: ignore[method-assign]
    with pytest.raises(OSError, match="full"):
        memory.save(talk)
    (left,) = folders(memory)
    memory._desk.files.create = create  # type: ignore[method-assign]
    assert memory.save(talk).id == left
    assert folders(memory) == [left]
    assert [a.name for a in memory.memory(left).artifacts] == ["a.txt"]
    assert memory.doctor(deep=True) == []


def test_a_save_that_a_full_disk_refused_leaves_no_empty_folder(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(place: Path, data: bytes, mode: int | None) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(place))

    memory.save(Conversation("## User\n\nHow long does rye rise?\n", title="Rye"))
    before = folders(memory)
    monkeypatch.setattr(disk, "write_new", full)
    with pytest.raises(NeurigraphError, match="disk is full"):
        memory.save(Conversation("## User\n\nWhy do knees hurt?\n", title="Knees"))
    assert folders(memory) == before


def test_what_somebody_put_beside_an_unfinished_transcript_is_never_removed(
    memory: Memory,
) -> None:
    talk = Conversation("## User\n\nHow long does rye rise?\n", title="Rye")
    write, memory._saver._creator.write = memory._saver._creator.write, lambda _: []  # type: ignore[method-assign]
    with suppress(IndexError):
        memory.save(talk)
    memory._saver._creator.write = write  # type: ignore[method-assign]
    (left,) = folders(memory)
    memory._saver._creator._unfinished.leave([left])
    kept = memory.vault / "_recall" / left / "artifacts" / "mine.txt"
    kept.parent.mkdir()
    kept.write_text("mine", "utf-8")
    assert memory.save(talk).id != left
    assert kept.read_text("utf-8") == "mine"
