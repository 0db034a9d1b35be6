"""Walking the vault finds every note and topic, and never mistakes trouble for a deletion."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from neurigraph.errors import VaultUnavailable
from neurigraph.vault.layout import (
    Exclusions,
    Folder,
    Seen,
    Topic,
    Unreadable,
    scan,
    template_folders,
    topic_of,
)


def put(root: Path, *paths: str) -> None:
    for path in paths:
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(path)


def notes(root: Path, exclusions: Exclusions | None = None, under: str = "") -> list[str]:
    found = scan(root, exclusions or Exclusions(), under)
    return [item.path for item in found if isinstance(item, Seen)]


def folders(root: Path) -> list[str]:
    return [item.path for item in scan(root, Exclusions()) if isinstance(item, Folder)]


def trouble(root: Path) -> list[Unreadable]:
    return [item for item in scan(root, Exclusions()) if isinstance(item, Unreadable)]


def test_notes_and_topics_are_found_in_the_order_of_names(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "Medical/Diet/x.md", "Medical/Diet/y.MD", "Medical/Diet/plan.pdf", "a.md")
    (tmp_path / "Empty").mkdir()
    assert notes(tmp_path) == ["a.md", "b.md", "Medical/Diet/x.md", "Medical/Diet/y.MD"]
    assert folders(tmp_path) == ["Empty", "Medical", "Medical/Diet"]
    seen = next(item for item in scan(tmp_path, Exclusions()) if isinstance(item, Seen))
    status = (tmp_path / "a.md").stat()
    assert seen == Seen("a.md", status.st_size, status.st_mtime_ns, status.st_ino)


def test_one_folder_can_be_looked_at_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "Medical/Diet/x.md", "Medical/y.md")
    assert notes(tmp_path, under="Medical") == ["Medical/y.md", "Medical/Diet/x.md"]


def test_what_is_no_memory_is_left_out(tmp_path: Path) -> None:
    put(
        tmp_path,
        "_recall/m-1/transcript.md",
        "_inbox/x.md",
        ".trash/x.md",
        ".obsidian/x.md",
        "Medical/.hidden/x.md",
        "Medical/.x.md",
        "Dashboards/x.md",
        "Meta/Templates/x.md",
        "Medical/x.excalidraw.md",
        "Medical/Old/deep/x.md",
        "Medical/Older/x.md",
        "4913",
        "kept.md",
    )
    left_out = Exclusions(["dashboards/", "*.excalidraw.md", "Medical/Old"], ["Meta/Templates"])
    assert notes(tmp_path, left_out) == ["kept.md", "Medical/Older/x.md"]


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("Archive", "Archive/x.md", True),
        ("Archive", "archive", True),
        ("Archive", "Archived/x.md", False),
        ("Archive", "Notes/Archive/x.md", False),
        ("*/Archive", "Notes/Archive/x.md", True),
        ("**/Archive", "Archive/x.md", True),
        ("Journal/**", "Journal/2026/x.md", True),
        ("Journal/*", "Journal/x.md", True),
        ("*.canvas.md", "a/b/x.canvas.md", True),
        ("./Archive/", "Archive/x.md", True),
        ("Caf\u00e9", "Cafe\u0301/x.md", True),
        ("", "x.md", False),
        ("/", "x.md", False),
        ("[", "x.md", False),
    ],
)
def test_patterns_of_the_settings(pattern: str, path: str, covered: bool) -> None:
    assert Exclusions([pattern]).covers(path) is covered


def test_a_vault_that_is_not_there_raises_and_deletes_nothing(tmp_path: Path) -> None:
    with pytest.raises(VaultUnavailable):
        list(scan(tmp_path / "unmounted", Exclusions()))
    put(tmp_path, "file")
    with pytest.raises(VaultUnavailable):
        list(scan(tmp_path / "file", Exclusions()))


class Locked:
    """Takes the permission to read a folder away; root does not care, so it goes by a stand-in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        real = os.scandir

        def scandir(path: str) -> object:
            if os.path.realpath(path) == os.path.realpath(folder):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)


def test_a_folder_without_permission_is_unknown_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "Medical/x.md", "Work/y.md")
    Locked(monkeypatch, tmp_path / "Medical")
    found = list(scan(tmp_path, Exclusions()))
    assert Unreadable("Medical", "cannot be read; give yourself permission to read it") in found
    assert [item.path for item in found if isinstance(item, Seen)] == ["Work/y.md"]
    Locked(monkeypatch, tmp_path)
    with pytest.raises(VaultUnavailable):
        list(scan(tmp_path, Exclusions()))


def test_a_folder_that_vanishes_meanwhile_is_unknown(tmp_path: Path) -> None:
    assert list(scan(tmp_path, Exclusions(), "Gone")) == [
        Unreadable("Gone", "is not there; mount or restore it")
    ]


def test_links_are_listed_and_not_followed(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    put(vault, "Medical/x.md", "plan.pdf")
    put(outside, "secret.md", "folder/y.md")
    (vault / "leak.md").symlink_to(outside / "secret.md")
    (vault / "Leak").symlink_to(outside / "folder")
    (vault / "loop").symlink_to(vault)
    (vault / "self.md").symlink_to(vault / "self.md")
    (vault / "dangling.md").symlink_to(vault / "nowhere.md")
    (vault / "same.md").symlink_to(vault / "Medical/x.md")
    (vault / "plan link.pdf").symlink_to(vault / "plan.pdf")
    assert notes(vault) == ["Medical/x.md"]
    assert folders(vault) == ["Medical"]
    listed = {item.path: item for item in trouble(vault)}
    assert set(listed) == {"leak.md", "Leak", "loop", "self.md", "dangling.md", "same.md"}
    assert not any(item.unknown for item in listed.values())
    assert "leads out" in listed["leak.md"].reason and "leads out" in listed["Leak"].reason
    assert "another place in the vault" in listed["same.md"].reason


def test_a_linked_folder_is_not_followed_when_it_alone_is_looked_at(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    put(vault, "x.md")
    put(outside, "secret.md", "deep/secret.md")
    (vault / "Leak").symlink_to(outside)
    for under in ("Leak", "Leak/deep"):
        found = list(scan(vault, Exclusions(), under))
        assert [item.path for item in found if isinstance(item, Unreadable)] == [under]
        assert len(found) == 1


def test_a_vault_reached_through_a_link_is_walked(tmp_path: Path) -> None:
    put(tmp_path / "real", "x.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert notes(tmp_path / "link") == ["x.md"]


def test_a_name_that_is_no_text_is_listed(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_text("x")
    except OSError:
        pytest.fail("this file system cannot hold such a name; run the tests on another")
    put(tmp_path, "good.md")
    assert notes(tmp_path) == ["good.md"]
    assert trouble(tmp_path) == [
        Unreadable("bad\ufffd.md", "its name is not valid UTF-8; rename it", unknown=False)
    ]


def test_a_note_that_icloud_took_off_the_disk_is_unknown_not_gone(tmp_path: Path) -> None:
    put(tmp_path, "Medical/.Diet.md.icloud", "Medical/.photo.jpg.icloud")
    assert [(item.path, item.unknown) for item in trouble(tmp_path)] == [("Medical/Diet.md", True)]


def test_names_come_as_they_stand_on_disk(tmp_path: Path) -> None:
    put(tmp_path, "Cafe\u0301/x.md")
    assert notes(tmp_path) == ["Cafe\u0301/x.md"]


def test_template_folders_are_those_that_obsidian_names(tmp_path: Path) -> None:
    assert template_folders(tmp_path) == ()
    core = tmp_path / ".obsidian/templates.json"
    plugin = tmp_path / ".obsidian/plugins/templater-obsidian/data.json"
    plugin.parent.mkdir(parents=True)
    core.write_text(json.dumps({"folder": "Templates/"}))
    plugin.write_text(json.dumps({"templates_folder": "Meta/Scripts", "other": 1}))
    assert template_folders(tmp_path) == ("Templates", "Meta/Scripts")
    for odd in (
        "",
        "{",
        "[]",
        "null",
        '{"folder": 5}',
        '{"folder": "/"}',
        '{"folder": ""}',
        "[" * 99_999,
    ):
        core.write_text(odd)
        assert template_folders(tmp_path) == ("Meta/Scripts",)


def test_a_path_tells_the_topic() -> None:
    assert topic_of("Medical/Medications/Old/x.md") == Topic("Medical", "Medications")
    assert topic_of("Medical/Medications/x.md") == Topic("Medical", "Medications")
    assert topic_of("Medical/x.md") == Topic("Medical", "General")
    assert topic_of("x.md") == Topic("Inbox", "General")
