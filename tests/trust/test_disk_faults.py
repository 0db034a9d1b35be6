"""The disk is full, read-only, partly closed, or gone: nothing that was acknowledged is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from daemon_process import Daemon, daemon
from faults.ledger import Ledger, conversation
from faults.rounds import diagnosis
from faults.small_disk import small_disk
from faults.without_powers import WRAP

NO_VECTORS = {"NEURIGRAPH_INDEX_EMBEDDER": "none"}
"""The faults of this page have nothing to do with them, and a start without them is quicker."""


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def refused(running: Daemon, text: str, broad: str = "Medical", focused: str = "Diet") -> str:
    """What the daemon says when it is asked to save and cannot."""
    answer = running.http.post(
        "/api/memory",
        json={"transcript": text, "broad_topic": broad, "focused_topic": focused},
    )
    assert answer.status_code == 503, answer.text
    message: str = answer.json()["error"]["message"]
    assert len(message.splitlines()) == 1
    return message


def is_whole(running: Daemon, ledger: Ledger) -> None:
    """Everything acknowledged is in the vault and served; the doctor has nothing to say of it."""
    running.ready(vectors=False)
    assert not ledger.faults_on_disk(running.vault)
    assert not ledger.faults_in(running)
    known = [d for d in diagnosis(running) if d["path"].startswith(("full text", "vectors"))]
    assert not known


def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path, ledger: Ledger) -> None:
    with (
        small_disk(tmp_path) as disk,
        daemon(
            disk.vault, tmp_path / "state", disk.program, **{**disk.settings, **NO_VECTORS}
        ) as running,
    ):
        running.ready(vectors=False)
        assert ledger.save(running.http, conversation("quince"))
        disk.fill()
        before = sorted(disk.vault.rglob("*"))
        assert "disk is full" in refused(running, conversation("medlar", turns=900))
        assert sorted(p for p in disk.vault.rglob("*") if p.is_file()) == [
            p for p in before if p.is_file()
        ]
        hit = running.search("quince")[0]
        change = running.http.patch(
            f"/api/memory/chunk/{hit['id']}",
            json={"summary": "longer than before. " * 2000},
            headers={"If-Match": "*"},
        )
        assert change.status_code == 503
        assert ledger.faults_on_disk(disk.vault) == []
        disk.free()
        assert ledger.save(running.http, conversation("medlar", turns=900))
        is_whole(running, ledger)


def test_a_read_only_vault_is_served_and_says_so_when_asked_to_save(
    tmp_path: Path, ledger: Ledger
) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    try:
        with daemon(vault, state, wrap=WRAP, **NO_VECTORS) as running:
            running.ready(vectors=False)
            assert ledger.save(running.http, conversation("quince"))
            _write_allowed(vault, False)
            refused(running, conversation("medlar"))
            assert running.search("quince")
            _write_allowed(vault, True)
            assert ledger.save(running.http, conversation("medlar"))
            is_whole(running, ledger)
            _write_allowed(vault, False)
        with pytest.raises(AssertionError, match=r"is not writable; mend its permissions$"):
            Daemon(vault, state, NO_VECTORS, wrap=WRAP)
    finally:
        _write_allowed(vault, True)


def _write_allowed(vault: Path, allowed: bool) -> None:
    for folder in (vault, *(p for p in vault.rglob("*") if p.is_dir())):
        folder.chmod(0o755 if allowed else 0o555)


def test_a_folder_without_permission_is_listed_and_its_memories_are_not_forgotten(
    tmp_path: Path, ledger: Ledger
) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    (vault / "Diary" / "Closed").mkdir(parents=True)
    note = vault / "Diary" / "Closed" / "sea.md"
    note.write_text("A walk by the sea with a pelican.\n", "utf-8")
    with daemon(vault, state, wrap=WRAP, **NO_VECTORS) as running:
        running.ready(vectors=False)
        assert ledger.save(running.http, conversation("quince"), "Diary/Closed")
        note.parent.chmod(0)
        try:
            diagnosis(running, repair="true")
            problems = {p["path"]: p["problem"] for p in running.get("/api/status")["problems"]}
            assert "permission" in problems["Diary/Closed"].lower()
            assert running.search("pelican") and running.search("quince")
            refused(running, conversation("medlar"), "Diary", "Closed")
            assert ledger.save(running.http, conversation("damson"), "Medical/Diet")
        finally:
            note.parent.chmod(0o755)
        diagnosis(running, repair="true")
        assert "Diary/Closed" not in {p["path"] for p in running.get("/api/status")["problems"]}
        assert ledger.save(running.http, conversation("medlar"), "Diary/Closed")
        is_whole(running, ledger)


def test_a_vault_that_goes_away_and_comes_back_is_followed_as_before(
    tmp_path: Path, ledger: Ledger
) -> None:
    vault, away = tmp_path / "vault", tmp_path / "away"
    (vault / "Diary").mkdir(parents=True)
    (vault / "Diary" / "sea.md").write_text("A walk by the sea with a pelican.\n", "utf-8")
    with daemon(vault, tmp_path / "state", **NO_VECTORS) as running:
        running.ready(vectors=False)
        assert ledger.save(running.http, conversation("quince"))

        vault.rename(away)
        assert refused(running, conversation("medlar"))
        assert "its folder is gone" in running.get("/api/status")["problems"][0]["problem"]
        assert running.search("pelican") and running.search("quince")
        away.rename(vault)
        assert ledger.save(running.http, conversation("medlar"))
        assert not running.get("/api/status")["problems"]
        edit_is_followed(running, "heron")

        # as when a disk is taken out and put in again: the same files, another folder
        vault.rename(away)
        vault.mkdir()
        assert refused(running, conversation("damson"))
        diagnosis(running)
        assert running.search("pelican") and running.search("quince")
        vault.rmdir()
        shutil.copytree(away, vault)
        assert ledger.save(running.http, conversation("damson"))
        edit_is_followed(running, "stork")
        is_whole(running, ledger)


def edit_is_followed(running: Daemon, word: str) -> None:
    """A person writes a word into a note, and it is found."""
    note = running.vault / "Diary" / "sea.md"
    note.write_text(f"{note.read_text('utf-8')}And a {word}.\n", "utf-8")
    running.until(lambda: running.search(word), f"finding {word}")
