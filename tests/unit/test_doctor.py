"""The doctor finds what is wrong and mends what it can."""

from __future__ import annotations

import os
from pathlib import Path

from neurigraph.model import Conversation
from neurigraph.service import agent, instructions, unit
from vaults import opened

TALK = "## User\n\nWhere do pelicans sleep?\n\n## Assistant\n\nOn islands, mostly.\n" * 3


def test_a_healthy_vault_has_no_findings(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        memory.save(Conversation(TALK))
        assert memory.doctor(deep=True) == []


def test_what_can_be_mended_is_mended_and_the_rest_is_told(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK))
        folder = memory.vault / "_recall" / saved.id
        plain = (folder / "transcript.md").read_bytes()
        memory._store.recall.compress(saved.id)
        (folder / "transcript.md").write_bytes(plain)
        lost = memory.vault / "_recall" / "m-20260101-0000000a"
        lost.mkdir()
        (lost / "transcript.md").write_text("whose?", "utf-8")
        os.chmod(memory.state_dir, 0o755)  # noqa: PTH101  # what the doctor must notice
        seen = {d.path: d for d in memory.doctor()}
        assert seen[f"_recall/{saved.id}"].mendable
        assert not seen["_recall/m-20260101-0000000a"].mendable
        done = {d.path: d.mended for d in memory.doctor(repair=True)}
        assert done[f"_recall/{saved.id}"]
        assert sorted(p.name for p in folder.iterdir()) == ["transcript.md"]
        assert memory.transcript(saved.id) == TALK
        assert lost.exists()
        assert memory.state_dir.stat().st_mode & 0o777 == 0o700
        assert [d.path for d in memory.doctor()] == ["_recall/m-20260101-0000000a"]


def test_an_index_that_lost_memories_is_found_out_and_filled(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK))
        memory._store.keyword.apply([], [saved.id])
        assert not memory.search("pelicans").hits
        assert [d.path for d in memory.doctor()] == ["full text"]
        memory.doctor(repair=True)
        assert memory.search("pelicans").hits[0].id == saved.id


def test_a_damaged_transcript_is_told_and_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK))
        memory._store.recall.compress(saved.id)
        packed = memory.vault / "_recall" / saved.id / "transcript.md.gz"
        packed.write_bytes(packed.read_bytes()[:-20])
        torn = packed.read_bytes()
        found = memory.doctor(deep=True, repair=True)
        assert any(d.path == f"_recall/{saved.id}" and not d.mended for d in found)
        assert packed.read_bytes() == torn


def test_a_repair_that_leaves_two_copies_is_no_repair(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK))
        packed = memory.vault / "_recall" / saved.id / "transcript.md.gz"
        packed.write_bytes(b"garbage")
        (found,) = memory.doctor(repair=True)
        assert not found.mended
        assert not found.mendable
        assert "delete the .gz if nothing is missing" in found.problem
        assert memory.transcript(saved.id) == TALK
        packed.unlink()
        assert memory.doctor() == []


def test_a_text_that_a_repair_set_aside_stays_listed(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        saved = memory.save(Conversation(TALK))
        memory._store.recall.compress(saved.id)
        folder = memory.vault / "_recall" / saved.id
        (folder / "transcript.md").write_text("Something else altogether.\n", "utf-8")
        memory.doctor(repair=True)
        (left,) = memory.doctor()
        assert left.path == f"_recall/{saved.id}/transcript (set aside).md"
        assert not left.mendable


def test_the_service_files_survive_odd_paths() -> None:
    vault = Path('/home/a "b"/50% $HOME & <notes>')
    assert '50%% $$HOME & <notes>"' in unit(vault)
    assert "&amp; &lt;notes&gt;" in agent(vault)
    assert "launchctl" in instructions(vault, "darwin")
    assert "schtasks" in instructions(vault, "win32")
    assert "systemctl --user" in instructions(vault, "linux")
