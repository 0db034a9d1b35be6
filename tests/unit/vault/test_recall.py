"""Transcripts and artifacts come back to the byte, plain or gzipped, whatever happens between."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.clock import system_clock
from neurigraph.errors import (
    ChangedElsewhere,
    Duplicate,
    NotFound,
    OutsideVault,
    TooLarge,
    TranscriptDamaged,
    TranscriptMissing,
)
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.packing import Damaged, decode, encode, gunzip, gzip_bytes, is_edit
from neurigraph.vault.recall import Recall, Resolution

ID = "m-20261130-7f3a2c1b"
TEXT = "## User · 2026-11-30\n\nIs <% this %> safe?\r\n\n## Assistant\n\nYes, `$= it` is.\n" * 5


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def files(vault: Path) -> VaultFiles:
    return VaultFiles(vault, system_clock)


@pytest.fixture
def recall(files: VaultFiles) -> Recall:
    return Recall(files)


def folder(vault: Path) -> Path:
    return vault / "_recall" / ID


def plain(vault: Path) -> Path:
    return folder(vault) / "transcript.md"


def packed(vault: Path) -> Path:
    return folder(vault) / "transcript.md.gz"


def everything(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


ODD = st.text() | st.lists(
    st.sampled_from(
        [
            "\0",
            "\r",
            "\r\n",
            "\ud800",
            "\udfff",
            "\ufeff",
            "\u2060",
            "<%",
            "---\n",
            "é",
            "東",
            "x\n",
        ]
    )
).map("".join)


@given(ODD)
@settings(deadline=None, max_examples=300)
def test_every_text_survives_disk_and_gzip(text: str) -> None:
    data = encode(text)
    assert decode(data) == text
    assert decode(gunzip(gzip_bytes(data))) == text


@given(st.binary())
@settings(deadline=None, max_examples=200)
def test_any_bytes_on_disk_can_be_read(data: bytes) -> None:
    decode(data)
    with pytest.raises((Damaged, TooLarge)):
        gunzip(b"\x1f\x8b" + data, 1000)


@pytest.mark.parametrize(
    "text", ["", TEXT, "\r\n\0\ud800\ufeff", "x" * 500_000, "---\nid: x\n---\n"]
)
def test_what_is_handed_in_is_what_comes_back(vault: Path, recall: Recall, text: str) -> None:
    recall.store(ID, text)
    assert recall.form(ID) == "plain"
    assert recall.read(ID) == text
    size = plain(vault).stat().st_size
    assert recall.compress(ID) == size - packed(vault).stat().st_size
    assert recall.form(ID) == "gzip"
    assert recall.read(ID) == text
    assert recall.compress(ID) == 0
    recall.decompress(ID)
    assert recall.decompress(ID) == 0
    assert recall.form(ID) == "plain"
    assert recall.read(ID) == text
    assert list(everything(vault)) == [f"_recall/{ID}/transcript.md"]


def test_the_same_text_makes_the_same_gzip_and_any_tool_opens_it(
    vault: Path, recall: Recall
) -> None:
    recall.store(ID, TEXT)
    stored = plain(vault).read_bytes()
    recall.compress(ID)
    data = packed(vault).read_bytes()
    assert gzip.decompress(data) == stored
    assert data[4:8] == b"\0\0\0\0", "no time"
    assert data[3] == 0, "no name"
    recall.decompress(ID)
    recall.compress(ID)
    assert packed(vault).read_bytes() == data


def test_nothing_on_disk_would_run_in_obsidian(vault: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    assert b"<%" not in plain(vault).read_bytes()
    assert b"`$=" not in plain(vault).read_bytes()


def test_permissions_survive_cooling(vault: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    plain(vault).chmod(0o600)
    recall.compress(ID)
    assert packed(vault).stat().st_mode & 0o777 == 0o600


def test_storing_twice_is_refused_unless_it_is_the_same(recall: Recall) -> None:
    recall.store(ID, TEXT)
    recall.store(ID, TEXT)
    with pytest.raises(Duplicate):
        recall.store(ID, "other")
    recall.compress(ID)
    recall.store(ID, TEXT)
    with pytest.raises(Duplicate):
        recall.store(ID, "other")
    assert recall.read(ID) == TEXT


def test_a_missing_transcript_is_said(recall: Recall) -> None:
    for action in (recall.read, recall.compress, recall.decompress):
        with pytest.raises(TranscriptMissing, match="restore it"):
            action(ID)
    assert recall.stat(ID).form == "missing"
    assert list(recall.ids()) == []


@pytest.mark.parametrize(
    "bad", ["", "x", "../../etc", "m-20261130-7f3a2c1b/..", "m-20261130-7F3A2C1B", f"{ID}\n"]
)
def test_an_id_that_is_none_reaches_no_file(recall: Recall, bad: str) -> None:
    for action in (
        recall.read,
        recall.compress,
        recall.form,
        recall.stat,
        recall.compress_artifacts,
    ):
        with pytest.raises((NotFound, OutsideVault)):
            action(bad)
    with pytest.raises((NotFound, OutsideVault)):
        recall.add_artifact(bad, "x", b"x")


def test_what_a_person_edits_by_hand_is_read(vault: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    plain(vault).write_bytes(b"latin \xe9 and <% mine")
    assert recall.read(ID) == "latin \ufffd and <% mine"


def test_a_person_who_edits_while_it_is_compressed_keeps_the_edit(
    vault: Path, files: VaultFiles, recall: Recall
) -> None:
    recall.store(ID, TEXT)
    edit = encode(TEXT) + b"more"

    def step(name: str) -> None:
        if name == "in place":
            plain(vault).write_bytes(edit)

    files.on_step = step
    with pytest.raises(ChangedElsewhere):
        recall.compress(ID)
    assert everything(vault) == {f"_recall/{ID}/transcript.md": edit}


# -- damaged and hostile gzip files


@pytest.mark.parametrize("cut", [0, 1, 10, -1, -8])
def test_a_damaged_gzip_is_said_and_never_deleted(vault: Path, recall: Recall, cut: int) -> None:
    recall.store(ID, TEXT)
    recall.compress(ID)
    damaged = packed(vault).read_bytes()[:cut]
    packed(vault).write_bytes(damaged)
    for action in (recall.read, recall.decompress):
        with pytest.raises(TranscriptDamaged, match="backup"):
            action(ID)
    assert packed(vault).read_bytes() == damaged
    plain(vault).write_bytes(b"something else")
    assert recall.resolve_pair(ID) is Resolution.UNCLEAR
    assert recall.read(ID) == "something else"
    assert packed(vault).read_bytes() == damaged


def test_a_flipped_bit_is_noticed(vault: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    recall.compress(ID)
    data = bytearray(packed(vault).read_bytes())
    data[-6] ^= 1
    packed(vault).write_bytes(data)
    with pytest.raises(TranscriptDamaged):
        recall.read(ID)


def test_a_bomb_is_refused_without_filling_the_memory(vault: Path, files: VaultFiles) -> None:
    recall = Recall(files, most_bytes=100_000)
    folder(vault).mkdir(parents=True)
    packed(vault).write_bytes(gzip_bytes(b"\0" * 50_000_000))
    with pytest.raises(TooLarge):
        recall.read(ID)
    packed(vault).write_bytes(gzip_bytes(b"") * 100_000)
    with pytest.raises(TranscriptDamaged):
        recall.read(ID)


def test_a_transcript_over_the_bound_stays_plain(files: VaultFiles) -> None:
    recall = Recall(files, most_bytes=100)
    recall.store(ID, "x" * 101)
    with pytest.raises(TooLarge):
        recall.compress(ID)
    assert recall.read(ID) == "x" * 101


def test_gzip_files_put_together_by_hand_are_read() -> None:
    assert gunzip(gzip_bytes(b"a") + gzip_bytes(b"b") + b"\0\0") == b"ab"
    with pytest.raises(Damaged):
        gunzip(gzip_bytes(b"a") + b"junk")


# -- a plain file beside the gzip


def pair(vault: Path, recall: Recall, text: str) -> None:
    recall.store(ID, TEXT)
    recall.compress(ID)
    plain(vault).write_bytes(text.encode())


def test_an_interrupted_cooling_is_finished(vault: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    stored = plain(vault).read_bytes()
    recall.compress(ID)
    plain(vault).write_bytes(stored)
    assert recall.form(ID) == "both" and list(recall.pairs()) == [ID]
    assert recall.read(ID) == TEXT
    assert recall.resolve_pair(ID) is Resolution.SAME
    assert recall.read(ID) == TEXT and list(recall.pairs()) == []
    assert recall.resolve_pair(ID) is Resolution.NOTHING


def test_an_edit_of_the_same_text_wins_and_the_old_one_is_kept(vault: Path, recall: Recall) -> None:
    pair(vault, recall, TEXT + "\nand this\n")
    assert recall.read(ID).endswith("and this\n")
    assert recall.resolve_pair(ID) is Resolution.EDITED
    assert recall.read(ID).endswith("and this\n")
    trashed = vault / f".trash/_recall/{ID} earlier transcript.md.gz"
    assert decode(gunzip(trashed.read_bytes())) == TEXT


def test_another_text_is_set_aside_and_the_transcript_stays(vault: Path, recall: Recall) -> None:
    pair(vault, recall, "# My template\n\n- [ ] fill me in\n")
    assert recall.read(ID) == TEXT
    assert recall.resolve_pair(ID) is Resolution.SET_ASIDE
    assert recall.read(ID) == TEXT and recall.form(ID) == "gzip"
    aside = f"_recall/{ID}/transcript (set aside).md"
    assert recall.stat(ID).set_aside == (aside,)
    assert (vault / aside).read_text().startswith("# My template")
    pair_again = "another\n"
    plain(vault).write_text(pair_again)
    recall.compress(ID)
    assert len(recall.stat(ID).set_aside) == 2


@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_an_empty_file_from_a_clicked_link_goes_to_the_trash(
    vault: Path, recall: Recall, text: str
) -> None:
    pair(vault, recall, text)
    assert recall.read(ID) == TEXT
    assert recall.resolve_pair(ID) is Resolution.EMPTY
    assert recall.read(ID) == TEXT and recall.form(ID) == "gzip"
    assert (vault / f".trash/_recall/{ID} empty transcript.md").exists()


def test_an_edit_shares_half_of_the_lines_that_were_there() -> None:
    assert is_edit("a\nb\nnew", "a\nb\nc")
    assert is_edit("a\r\n  b\n", "a\nb")
    assert is_edit("a\nb\n" + "more\n" * 100, "a\nb")
    assert not is_edit("a", "a\nb\nc")
    assert not is_edit("a\na\na", "a\nb\nc\nd")
    assert not is_edit("", "a") and not is_edit("", "") and not is_edit("a", "")


# -- ended at every step


STEPS = ["start", "written", "checked", "in place", "done", "compared for removal", "removed"]


class Stop(BaseException):
    """The process ends here, for the test."""


def stop_at(files: VaultFiles, wanted: str) -> Callable[[], None]:
    def step(name: str) -> None:
        if name == wanted:
            raise Stop

    files.on_step = step
    return lambda: setattr(files, "on_step", lambda _: None)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("action", ["compress", "decompress", "artifacts", "artifacts back"])
def test_ended_at_any_step_nothing_is_lost_and_the_next_start_mends_it(
    vault: Path, files: VaultFiles, recall: Recall, action: str, step: str
) -> None:
    recall.store(ID, TEXT)
    recall.add_artifact(ID, "plan.pdf", b"plan" * 1000)
    if action == "decompress":
        recall.compress(ID)
    if action == "artifacts back":
        recall.compress_artifacts(ID)
    act = {
        "compress": recall.compress,
        "decompress": recall.decompress,
        "artifacts": recall.compress_artifacts,
        "artifacts back": recall.decompress_artifacts,
    }[action]
    go_on = stop_at(files, step)
    with pytest.raises(Stop):
        act(ID)
    go_on()

    assert recall.read(ID) == TEXT
    assert recall.read_artifact(ID, "plan.pdf") == b"plan" * 1000
    assert [a.name for a in recall.stat(ID).artifacts] == ["plan.pdf"]

    for memory_id in list(recall.pairs()):
        recall.resolve_pair(memory_id)
        recall.resolve_artifacts(memory_id)
    assert list(recall.pairs()) == []
    assert recall.read(ID) == TEXT
    assert recall.read_artifact(ID, "plan.pdf") == b"plan" * 1000
    act(ID)
    assert recall.read(ID) == TEXT
    assert recall.read_artifact(ID, "plan.pdf") == b"plan" * 1000
    assert len(everything(vault)) == 2


KILL = """
import os, sys
from pathlib import Path
from neurigraph.clock import system_clock
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.recall import Recall
files = VaultFiles(Path(sys.argv[1]), system_clock)
files.on_step = lambda step: os._exit(9) if step == sys.argv[4] else None
getattr(Recall(files), sys.argv[2])(sys.argv[3])
"""


@pytest.mark.parametrize("action", ["compress", "decompress"])
@pytest.mark.parametrize("step", ["written", "in place", "removed"])
def test_killed_in_the_middle_the_transcript_is_whole_after_a_restart(
    vault: Path, recall: Recall, action: str, step: str
) -> None:
    recall.store(ID, TEXT)
    if action == "decompress":
        recall.compress(ID)
    ended = subprocess.run([sys.executable, "-c", KILL, str(vault), action, ID, step], check=False)
    assert ended.returncode == 9

    later = VaultFiles(vault, lambda: datetime.now(UTC) + timedelta(hours=2))
    restarted = Recall(later)
    later.clean_leftovers()
    for memory_id in list(restarted.pairs()):
        restarted.resolve_pair(memory_id)
    assert restarted.read(ID) == TEXT
    assert len(everything(vault)) == 1


# -- artifacts


def test_artifacts_come_back_by_name_and_to_the_byte(vault: Path, recall: Recall) -> None:
    given_files = {
        "plan.pdf": b"%PDF" * 500,
        "backup.tar.gz": gzip_bytes(b"inner"),
        "backup.tar": b"tar" * 300,
        "note.md": b"<% \xff %> `$= x` ![](http://x)",
        "empty": b"",
    }
    for name, data in given_files.items():
        assert recall.add_artifact(ID, name, data).name == name
    assert b"<%" not in (folder(vault) / "artifacts/note.md").read_bytes()
    for action in (
        None,
        recall.compress_artifacts,
        recall.compress_artifacts,
        recall.decompress_artifacts,
    ):
        if action is not None:
            action(ID)
        assert {a.name for a in recall.stat(ID).artifacts} == set(given_files)
        for name, data in given_files.items():
            assert recall.read_artifact(ID, name) == data
        for artifact in recall.stat(ID).artifacts:
            assert (vault / artifact.path).stat().st_size == artifact.size


def test_an_attached_gzip_is_never_taken_for_a_compressed_artifact(recall: Recall) -> None:
    inner = gzip_bytes(b"secret inner text")
    assert recall.add_artifact(ID, "x.gz", inner).name == "x.gz"
    recall.add_artifact(ID, "x", b"another file")
    recall.compress_artifacts(ID)
    assert recall.read_artifact(ID, "x.gz") == inner
    assert recall.read_artifact(ID, "x") == b"another file"
    assert {a.name: a.compressed for a in recall.stat(ID).artifacts} == {"x": True, "x.gz": False}


def test_artifacts_of_one_name_are_numbered_also_beside_compressed_ones(recall: Recall) -> None:
    names = [recall.add_artifact(ID, "plan.pdf", b"1").name]
    recall.compress_artifacts(ID)
    names += [recall.add_artifact(ID, name, b"2").name for name in ("plan.pdf", "PLAN.pdf")]
    assert names == ["plan.pdf", "plan 2.pdf", "PLAN 3.pdf"]
    assert recall.read_artifact(ID, "plan.pdf") == b"1"


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "..\\..\\x",
        "/abs",
        "as-is",
        "con.txt",
        "",
        ".",
        "..",
        "a\0b",
        ".hidden",
        "\ud800",
    ],
)
def test_no_artifact_name_leads_out_of_its_folder(vault: Path, recall: Recall, name: str) -> None:
    artifact = recall.add_artifact(ID, name, b"x")
    real = (vault / artifact.path).resolve()
    assert real.is_file() and real.is_relative_to((folder(vault) / "artifacts").resolve())
    assert recall.read_artifact(ID, artifact.name) == b"x"
    recall.add_artifact(ID, "later.gz", b"y")
    assert recall.read_artifact(ID, "later.gz") == b"y"


def test_an_artifact_that_is_not_there_is_said_with_those_that_are(recall: Recall) -> None:
    recall.add_artifact(ID, "plan.pdf", b"x")
    for name in ("other.pdf", "../transcript.md", "../../../x.md"):
        with pytest.raises(NotFound, match=r"plan\.pdf"):
            recall.read_artifact(ID, name)


def test_a_gzip_that_a_person_put_beside_another_file_is_kept(vault: Path, recall: Recall) -> None:
    recall.add_artifact(ID, "plan.pdf", b"plan")
    theirs = gzip_bytes(b"not the plan")
    (folder(vault) / "artifacts/plan.pdf.gz").write_bytes(theirs)
    assert recall.read_artifact(ID, "plan.pdf") == b"plan"
    assert recall.resolve_artifacts(ID) == 1
    recall.compress_artifacts(ID)
    assert recall.read_artifact(ID, "plan.pdf") == b"plan"
    assert recall.read_artifact(ID, "plan.pdf.gz") == theirs


def test_links_in_recall_are_not_followed(vault: Path, tmp_path: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret").write_bytes(b"secret")
    (folder(vault) / "artifacts").mkdir()
    (folder(vault) / "artifacts/secret").symlink_to(outside / "secret")
    assert recall.stat(ID).artifacts == ()
    with pytest.raises(NotFound):
        recall.read_artifact(ID, "secret")
    other = "m-20261130-00000000"
    (vault / "_recall" / other).symlink_to(outside)
    with pytest.raises(OutsideVault):
        recall.read(other)
    assert list(recall.ids()) == [ID]


def test_a_folder_that_cannot_be_looked_into_is_not_missing(
    recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall.store(ID, TEXT)

    def scandir(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(PermissionError):
        recall.stat(ID)


def test_readers_never_notice_that_it_is_compressed_and_back(recall: Recall) -> None:
    recall.store(ID, TEXT)
    recall.add_artifact(ID, "plan.pdf", b"plan" * 500)
    wrong: list[object] = []
    done = threading.Event()

    def keep_reading() -> None:
        while not done.is_set():
            if recall.read(ID) != TEXT or recall.read_artifact(ID, "plan.pdf") != b"plan" * 500:
                wrong.append("text")
            if recall.stat(ID).form == "missing" or len(recall.stat(ID).artifacts) != 1:
                wrong.append("stat")

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(keep_reading) for _ in range(2)]
        try:
            for _ in range(25):
                recall.compress(ID)
                recall.compress_artifacts(ID)
                recall.decompress(ID)
                recall.decompress_artifacts(ID)
        finally:
            done.set()
        for reader in readers:
            reader.result()
    assert wrong == []


def test_what_is_stored_is_told_without_reading_it(vault: Path, recall: Recall) -> None:
    recall.store(ID, TEXT)
    recall.add_artifact(ID, "plan.pdf", b"plan")
    status = recall.stat(ID)
    assert (status.form, status.size) == ("plain", plain(vault).stat().st_size)
    assert status.mtime_ns == plain(vault).stat().st_mtime_ns
    assert [(a.name, a.size, a.compressed) for a in status.artifacts] == [("plan.pdf", 4, False)]
    (vault / "_recall/not-an-id").mkdir()
    (vault / "_recall/.DS_Store").write_bytes(b"")
    assert list(recall.ids()) == [ID]
