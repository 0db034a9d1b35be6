"""What we export comes back the same, byte for byte, in both forms."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.errors import Duplicate
from neurigraph.importers import export
from neurigraph.importers.export import (
    ExportItem,
    id_of,
    read_folder,
    read_jsonl,
    safe_path,
    write_folder,
    write_jsonl,
)
from neurigraph.importers.recognise import recognise
from neurigraph.importers.source import Failed, Reading, UnreadableExport
from neurigraph.model import NewArtifact

NAMES = st.sampled_from(["plan.pdf", "Bild ä.png", "a b.txt", "notes.md"])
ARTIFACTS = st.lists(
    st.builds(NewArtifact, NAMES, st.binary(max_size=40)), max_size=3, unique_by=lambda a: a.name
).map(lambda found: tuple(sorted(found, key=lambda a: a.name)))
ENDINGS = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def items(draw: st.DrawFn) -> list[ExportItem]:
    """Notes as they are in real vaults: ours, of people, broken, with BOM and any bytes."""
    found = []
    for number in range(draw(st.integers(0, 4))):
        path = f"{draw(st.sampled_from(['Medical', 'Ünder/Deep', 'a b']))}/{number} note.md"
        body = draw(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
        if draw(st.booleans()):
            known, end = f"m-20261130-{number:08x}", draw(ENDINGS)
            head = [
                b"---",
                b"type: memory",
                b"mood:  'odd' # kept",
                f"id: {known}".encode(),
                b"---",
            ]
            bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
            note = bom + end.join(head) + end + body
            transcript = draw(st.none() | st.text(max_size=80))
            found.append(ExportItem(known, path, note, transcript, draw(ARTIFACTS)))
        else:
            note = b"stranger " + body
            found.append(ExportItem("", path, note))
    return sorted(found, key=lambda item: tuple(item.path.split("/")))


def written(found: list[ExportItem]) -> bytes:
    out = io.BytesIO()
    assert write_jsonl(found, out) == len(found)
    return out.getvalue()


@settings(deadline=None, max_examples=80)
@given(items())
def test_json_lines_give_back_what_was_written(found: list[ExportItem]) -> None:
    assert list(read_jsonl(io.BytesIO(written(found)), Reading("x"))) == found


@settings(deadline=None, max_examples=40)
@given(items())
def test_a_folder_gives_back_what_was_written(found: list[ExportItem]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name) / "export"
        assert write_folder(found, folder) == len(found)
        read = [item for item in read_folder(folder) if isinstance(item, ExportItem)]
        assert sorted(read, key=lambda item: item.path) == sorted(found, key=lambda i: i.path)


def test_both_forms_are_recognised(tmp_path: Path) -> None:
    found = [ExportItem("", "Bread/Rye.md", "# Rye ☕\n".encode())]
    (tmp_path / "e.jsonl").write_bytes(written(found))
    write_folder(found, tmp_path / "folder")
    for path in (tmp_path / "e.jsonl", tmp_path / "folder"):
        with recognise(path) as opened:
            assert list(opened.read()) == found


def test_a_note_whose_frontmatter_cannot_be_read_keeps_its_id_in_the_folder(
    tmp_path: Path,
) -> None:
    odd = ExportItem("m-20261130-00000001", "a.md", b"---\nid: [broken\n", "text")
    assert id_of(odd.note) == ""
    write_folder([odd], tmp_path / "out")
    assert list(read_folder(tmp_path / "out")) == [odd]


def test_an_export_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    found = [ExportItem("", f"{n}.md", b"x" * 50) for n in range(9)]
    raw = written(found)
    for cut in (len(raw) // 2, len(raw) - 3, len(written([])) + 10):
        (tmp_path / "e.jsonl").write_bytes(raw[:cut])
        with pytest.raises(UnreadableExport, match="cut off"):
            recognise(tmp_path / "e.jsonl")
    with pytest.raises(UnreadableExport):
        write_folder([*found, ExportItem("", "../x", b"")], tmp_path / "folder")
    with pytest.raises(UnreadableExport, match="not written to its end"):
        recognise(tmp_path / "folder")


def test_a_damaged_line_fails_alone(tmp_path: Path) -> None:
    good = ExportItem("", "a.md", b"x")
    lines = written([good, good]).split(b"\n")
    bad = [
        b'{"path": "b.md"}',
        b'{"path": "../b.md", "note": "x"}',
        b'{"path": "b.md", "note": "x"}\n{"artifact": "n", "part": 0, "base64": "?"}',
        b'{"path": "b.md", "note": "x"}\n{"artifact": "../n", "part": 0, "base64": ""}',
        b'{"path": "b.md", "note": "x"}\n{"artifact": "n", "part": 1, "base64": ""}',
        b'{"path": "b.md", "note": "x", "transcript": 3}',
        b'{"path": "b.md", "note": "x", "id": "../../m"}',
    ]
    raw = b"\n".join([*lines[:2], *bad, lines[2], b""])
    found = list(read_jsonl(io.BytesIO(raw), Reading("x")))
    assert [isinstance(item, Failed) for item in found] == [False, *[True] * 7, False]


def test_an_export_never_writes_over_anything(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(Duplicate, match="not empty"):
        write_folder([], tmp_path)
    same = [ExportItem("", "a.md", b"1"), ExportItem("", "a.md", b"2")]
    with pytest.raises(Duplicate, match="twice"):
        write_folder(same, tmp_path / "new")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "C:\\x", "a\\b", "c:/x"])
def test_paths_that_leave_the_folder_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableExport):
        safe_path(path)
    with pytest.raises(UnreadableExport):
        write_folder([ExportItem("", path, b"x")], tmp_path / "out")


def test_a_great_artifact_is_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_PIECE", 10)
    files = (NewArtifact("a", bytes(range(45))), NewArtifact("b", b""), NewArtifact("c", b"x" * 20))
    item = ExportItem("m-20261130-00000001", "a.md", b"x", "t", files)
    raw = written([item, item])
    assert raw.count(b'"artifact"') == 2 * (5 + 1 + 2)
    assert list(read_jsonl(io.BytesIO(raw), Reading("x"))) == [item, item]


def test_the_lines_are_readable_json(tmp_path: Path) -> None:
    item = ExportItem(
        "m-20261130-00000001", "a.md", b"# \xc3\xa9", "Ёлка", (NewArtifact("a", b"1"),)
    )
    header, line, artifact, last, end = written([item]).decode().split("\n")
    assert json.loads(last) == {"neurigraph": "end", "items": 1}
    assert json.loads(header) == {"neurigraph": "export", "version": 1}
    assert json.loads(line) == {
        "id": "m-20261130-00000001",
        "path": "a.md",
        "note": "# é",
        "transcript": "Ёлка",
    }
    assert json.loads(artifact) == {"artifact": "a", "part": 0, "base64": "MQ=="}
    assert (end, "Ёлка" in line) == ("", True)
