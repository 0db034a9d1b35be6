"""The processes that read and draft: in order, alone responsible for what kills them, and gone
when nobody wants them any more."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from neurigraph.capture.apart import ReaderDied, read_apart
from neurigraph.capture.drafters import Drafter, prepared
from neurigraph.capture.parcel import Finished, Opened, Order, Piece, Refused
from neurigraph.capture.reader import read
from neurigraph.edits.prepared import Ready, sha256
from neurigraph.importers.source import Failed
from neurigraph.model import Conversation


def talk(number: int) -> Conversation:
    words = " ".join(f"word{number}x{n}" for n in range(30))
    return Conversation(f"## User\n\nTell me of {words}, please.\n", title=f"Talk {number}")


def export_of(place: Path, count: int) -> Path:
    talks = [
        {
            "uuid": f"id{n}",
            "name": f"Talk {n}",
            "chat_messages": [{"uuid": "a", "sender": "human", "text": f"Tell me of {n} loaves."}],
        }
        for n in range(count)
    ]
    path = place / "conversations.json"
    path.write_text(json.dumps(talks), "utf-8")
    return path


def test_what_is_drafted_side_by_side_comes_in_order() -> None:
    talks = [talk(n) for n in range(25)]
    known = {sha256(talks[n].content) for n in (3, 11, 12)}
    items = [(item, n) for n, item in enumerate([*talks, Failed("bad", "reason")])]
    found = list(prepared(items, Order((), known=known), helpers=2))
    assert [piece.done for piece in found] == list(range(26))
    for number, piece in enumerate(found[:-1]):
        assert isinstance(piece.item, Ready)
        assert piece.item.conversation == talks[number]
        assert bool(piece.item.parts) is (number not in (3, 11, 12))
    assert found == list(prepared(items, Order((), known=known), helpers=0))


def test_a_conversation_that_kills_its_drafter_fails_alone() -> None:
    drafter = Drafter("warn")
    try:
        drafter.give(talk(1))
        assert drafter._process is not None
        drafter._process.kill()
        drafter._process.wait()
        failed = drafter.take()
        assert isinstance(failed, Failed)
        assert failed.title == "Talk 1"
        drafter.give(talk(2))
        assert isinstance(drafter.take(), Ready)
    finally:
        drafter.close()


def test_a_process_of_its_own_reads_the_same(tmp_path: Path) -> None:
    order = Order((str(export_of(tmp_path, 3)),))
    with read_apart(order, tmp_path) as parcels:
        apart = list(parcels)
    assert apart == list(read(order))
    assert isinstance(apart[0], Opened)
    assert isinstance(apart[-1], Finished)


def test_what_cannot_be_imported_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "x.jpg").write_bytes(b"\xff\xd8\xff\x00")
    with read_apart(Order((str(tmp_path / "x.jpg"),)), tmp_path) as parcels:
        (refused,) = parcels
    assert isinstance(refused, Refused)


def test_a_reader_that_dies_is_told_and_leaves_no_process(tmp_path: Path) -> None:
    order = Order((str(export_of(tmp_path, 3_000)),))
    with read_apart(order, tmp_path) as parcels:
        assert isinstance(next(parcels), Opened)
        taken = [next(parcels) for _ in range(40)]  # past the first few, others help with drafts
        assert all(isinstance(parcel, Piece) for parcel in taken)
        family = psutil.Process().children(recursive=True)
        assert len(family) > 1
        family[0].kill()
        with pytest.raises(ReaderDied, match="import it again"):
            for _ in parcels:
                pass
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []


def test_leaving_early_ends_the_processes(tmp_path: Path) -> None:
    with read_apart(Order((str(export_of(tmp_path, 3_000)),)), tmp_path) as parcels:
        for _ in range(40):
            next(parcels)
        family = psutil.Process().children(recursive=True)
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
