"""The vault that a newcomer starts with is whole and says nothing odd."""

from __future__ import annotations

import hashlib
from pathlib import Path

import yaml

from neurigraph.clock import system_clock
from neurigraph.edits.compose import is_generated
from neurigraph.resources import template_dir
from neurigraph.template import make_vault
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.note import flag, read_note, section_text, text
from neurigraph.vault.recall import Recall
from neurigraph.vault.turns import split_turns


def test_every_memory_of_the_template_has_its_transcript_and_an_untouched_summary() -> None:
    root = template_dir()
    recall = Recall(VaultFiles(root, system_clock))
    memories = 0
    for path in root.rglob("*.md"):
        if "_recall" in path.parts:
            continue
        note = read_note(path.read_bytes())
        assert note.problem is None
        if text(note.data.get("type")) != "memory":
            continue
        memories += 1
        transcript = recall.read(text(note.data["id"]))
        digest = hashlib.sha256(transcript.encode()).hexdigest()
        assert digest == text(note.data["transcript_sha256"])
        assert len(split_turns(transcript)) >= 4
        assert is_generated(text(note.data["summary_source"]), section_text(note.body, "Summary"))
        assert not flag(note.data.get("private"))
    assert memories >= 12


def test_the_dashboards_are_bases_that_obsidian_can_read() -> None:
    for path in (template_dir() / "Dashboards").glob("*.base"):
        base = yaml.safe_load(path.read_text("utf-8"))
        assert base["filters"] == {"and": ['type == "memory"']}
        assert all(view["type"] in ("table", "cards") for view in base["views"])


def test_a_new_vault_is_the_template_to_the_byte(tmp_path: Path) -> None:
    make_vault(tmp_path / "Vault")
    root = template_dir()
    for path in root.rglob("*"):
        if path.is_file():
            assert (tmp_path / "Vault" / path.relative_to(root)).read_bytes() == path.read_bytes()


def test_an_empty_vault_has_its_settings_and_no_memories(tmp_path: Path) -> None:
    make_vault(tmp_path / "Vault", empty=True)
    names = {p.name for p in (tmp_path / "Vault").iterdir()}
    assert {".gitignore", ".gitattributes", "neurigraph.toml", ".obsidian"} <= names
    assert not list((tmp_path / "Vault").rglob("*.md"))


def test_nothing_in_the_template_is_compiled_by_an_installer() -> None:
    assert not list(template_dir().rglob("*.py"))
