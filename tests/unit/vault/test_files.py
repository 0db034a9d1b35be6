"""Files are written whole or not at all, and never over what somebody else wrote."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from neurigraph.errors import (
    ChangedElsewhere,
    Duplicate,
    InvalidInput,
    NotFound,
    NotWritable,
    OutsideVault,
    VaultUnavailable,
)
from neurigraph.vault.files import VaultFiles

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def fixed_clock() -> datetime:
    return NOW


@pytest.fixture
def files(tmp_path: Path) -> VaultFiles:
    vault = tmp_path / "vault"
    vault.mkdir()
    return VaultFiles(vault, fixed_clock)


def everything(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


class Stop(Exception):
    """The process ends here, for the test."""


def at_step(wanted: str, action: Callable[[], object]) -> Callable[[str], None]:
    """Do something once, when this step is reached."""
    done: list[str] = []

    def step(name: str) -> None:
        if name == wanted and not done:
            done.append(name)
            action()

    return step


def stop() -> None:
    raise Stop


# -- making


def test_a_new_file_never_overwrites(files: VaultFiles) -> None:
    assert files.create("Medical/x.md", b"one") == "Medical/x.md"
    assert files.create("Medical/x.md", b"two") == "Medical/x 2.md"
    assert files.create("Medical/x.md", b"three") == "Medical/x 3.md"
    with pytest.raises(Duplicate):
        files.create("Medical/x.md", b"four", numbered_if_taken=False)
    assert everything(files.root) == {
        "Medical/x.md": b"one",
        "Medical/x 2.md": b"two",
        "Medical/x 3.md": b"three",
    }


def test_a_file_that_appears_at_the_last_moment_is_not_overwritten(files: VaultFiles) -> None:
    files.on_step = at_step("checked", lambda: (files.root / "x.md").write_bytes(b"theirs"))
    assert files.create("x.md", b"ours") == "x 2.md"
    assert (files.root / "x.md").read_bytes() == b"theirs"


def test_where_the_disk_ignores_case_a_name_is_taken_in_any_case(
    files: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(source: Path, target: Path, **rest: bool) -> None:
        names = {p.name.casefold() for p in Path(target).parent.iterdir()}
        if Path(target).name.casefold() in names:
            raise FileExistsError(17, "File exists", str(target))
        real(source, target, **rest)

    monkeypatch.setattr(os, "link", link)
    files.create("Medical.md", b"one")
    assert files.create("medical.md", b"two") == "medical 2.md"


def test_a_disk_without_hard_links_does_as_well(
    files: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    assert files.create("x.md", b"one") == "x.md"
    assert files.create("x.md", b"two") == "x 2.md"
    files.replace("x.md", b"new", b"one")
    assert files.move("x.md", "y.md") == "y.md"
    assert files.move("y.md", "x 2.md") == "x 2 2.md"
    assert everything(files.root) == {"x 2.md": b"two", "x 2 2.md": b"new"}


def test_a_file_that_does_not_read_back_the_same_is_not_made(files: VaultFiles) -> None:
    with pytest.raises(VaultUnavailable):
        files.create("x.md", b"text", check=lambda _: False)
    assert everything(files.root) == {}


def test_a_file_in_the_way_of_a_folder_is_said(files: VaultFiles) -> None:
    files.create("Medical", b"a file")
    with pytest.raises(Duplicate, match="in the way"):
        files.create("Medical/x.md", b"text")
    with pytest.raises(Duplicate):
        files.make_folder("Medical")


def test_a_name_too_long_for_the_disk_is_said(files: VaultFiles) -> None:
    with pytest.raises(InvalidInput, match="too long"):
        files.create("x" * 300 + ".md", b"text")


# -- changing


def test_a_change_needs_the_bytes_that_were_read(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    files.replace("x.md", b"two", b"one")
    with pytest.raises(ChangedElsewhere):
        files.replace("x.md", b"three", b"one")
    with pytest.raises(ChangedElsewhere):
        files.replace("gone.md", b"three", b"one")
    assert everything(files.root) == {"x.md": b"two"}


@pytest.mark.parametrize("step", ["start", "written", "compared", "replaced"])
def test_a_person_who_writes_in_place_at_any_moment_wins(files: VaultFiles, step: str) -> None:
    files.create("x.md", b"one")
    inode = (files.root / "x.md").stat().st_ino
    held = (files.root / "x.md").open("r+b")

    def write() -> None:
        # an editor that opened the file earlier and writes into it now
        held.write(b"person")
        held.flush()

    with held:
        files.on_step = at_step(step, write)
        with pytest.raises(ChangedElsewhere):
            files.replace("x.md", b"ours", b"one")
    assert everything(files.root) == {"x.md": b"person"}
    assert (files.root / "x.md").stat().st_ino == inode


@pytest.mark.parametrize("step", ["start", "written", "compared"])
def test_a_note_that_is_deleted_while_we_write_to_it_stays_deleted(
    files: VaultFiles, step: str
) -> None:
    files.create("x.md", b"one")
    files.on_step = at_step(step, (files.root / "x.md").unlink)
    with pytest.raises(ChangedElsewhere):
        files.replace("x.md", b"ours", b"one")
    assert everything(files.root) == {}


@pytest.mark.parametrize("step", ["start", "written"])
def test_a_person_who_saves_by_renaming_wins(files: VaultFiles, step: str) -> None:
    files.create("x.md", b"one")

    def save() -> None:
        (files.root / "new").write_bytes(b"person")
        (files.root / "new").replace(files.root / "x.md")

    files.on_step = at_step(step, save)
    with pytest.raises(ChangedElsewhere):
        files.replace("x.md", b"ours", b"one")
    assert everything(files.root) == {"x.md": b"person"}


def test_an_edit_is_tried_again_on_what_somebody_else_wrote(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    files.on_step = at_step("written", lambda: (files.root / "x.md").write_bytes(b"two"))
    assert files.edit("x.md", lambda before: before + b"+ours") == b"two+ours"

    def always() -> Callable[[str], None]:
        count = iter(range(100))

        def step(name: str) -> None:
            if name == "written":
                (files.root / "x.md").write_bytes(b"%d" % next(count))

        return step

    files.on_step = always()
    with pytest.raises(ChangedElsewhere):
        files.edit("x.md", lambda before: before + b"+ours")


def test_a_change_that_changes_nothing_touches_nothing(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    before = (files.root / "x.md").stat()
    files.replace("x.md", b"one", b"one")
    assert (files.root / "x.md").stat() == before


def test_permissions_are_kept_and_read_only_is_respected(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    (files.root / "x.md").chmod(0o640)
    files.replace("x.md", b"two", b"one")
    assert (files.root / "x.md").stat().st_mode & 0o777 == 0o640
    (files.root / "x.md").chmod(0o444)
    with pytest.raises(NotWritable):
        files.replace("x.md", b"three", b"two")
    files.create("y.md", b"", like="x.md")
    assert (files.root / "y.md").stat().st_mode & 0o777 == 0o444


@pytest.mark.parametrize("step", ["start", "written", "compared", "replaced", "in place"])
def test_ended_anywhere_a_change_is_whole_or_has_not_happened(files: VaultFiles, step: str) -> None:
    files.create("x.md", b"old")
    files.on_step = at_step(step, stop)
    with pytest.raises(Stop):
        files.replace("x.md", b"new", b"old")
    assert everything(files.root) in ({"x.md": b"old"}, {"x.md": b"new"})


KILL = """
import os, sys
from pathlib import Path
from neurigraph.clock import system_clock
from neurigraph.vault.files import VaultFiles
files = VaultFiles(Path(sys.argv[1]), system_clock)
files.on_step = lambda step: os._exit(9) if step == sys.argv[3] else None
if sys.argv[2] == "create":
    files.create("new.md", b"new")
else:
    files.replace("x.md", b"new", b"old")
"""


@pytest.mark.parametrize(
    ("action", "step"),
    [
        ("create", "written"),
        ("create", "in place"),
        ("replace", "written"),
        ("replace", "replaced"),
    ],
)
def test_killed_in_the_middle_nothing_is_half_and_the_next_start_tidies(
    files: VaultFiles, action: str, step: str
) -> None:
    files.create("x.md", b"old")
    ended = subprocess.run([sys.executable, "-c", KILL, str(files.root), action, step], check=False)
    assert ended.returncode == 9
    later = VaultFiles(files.root, lambda: datetime.now(UTC) + timedelta(hours=2))
    later.clean_leftovers()
    left = everything(files.root)
    assert left in ({"x.md": b"old"}, {"x.md": b"new"}, {"x.md": b"old", "new.md": b"new"})
    assert not later.clean_leftovers()


def test_only_our_own_old_leftovers_are_tidied(files: VaultFiles) -> None:
    ours, fresh = ".neurigraph-0123456789ab.tmp", ".neurigraph-ba9876543210.tmp"
    names = [
        f"Medical/{ours}",
        f"Medical/{fresh}",
        "Medical/.neurigraph-x.tmp",
        "Medical/other.tmp",
    ]
    for name in names:
        files.create(name, b"x")
        old = (NOW - timedelta(minutes=5)).timestamp()
        os.utime(files.root / name, (old, old))
    late = (NOW + timedelta(minutes=5)).timestamp()
    os.utime(files.root / "Medical" / fresh, (late, late))
    assert files.clean_leftovers() == [f"Medical/{ours}"]
    assert set(everything(files.root)) == set(names[1:])


# -- places


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../../x",
        "..",
        "/etc/passwd",
        "\\\\host\\x",
        "C:/x",
        "C:\\x",
        "a\0b",
        "a/..",
        "//x",
    ],
)
def test_a_path_that_leads_out_is_refused(files: VaultFiles, path: str) -> None:
    with pytest.raises(OutsideVault):
        files.path(path)
    with pytest.raises(OutsideVault):
        files.create(path, b"x")


@pytest.mark.parametrize("path", ["", ".", "./"])
def test_the_vault_itself_is_never_written_moved_or_trashed(files: VaultFiles, path: str) -> None:
    for action in (files.trash, files.make_folder, lambda p: files.move_folder(p, "x")):
        with pytest.raises(OutsideVault):
            action(path)


def test_a_link_that_leads_out_is_refused(files: VaultFiles, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret")
    (files.root / "leak").symlink_to(outside)
    (files.root / "leak.md").symlink_to(outside / "secret.md")
    for path in ("leak/secret.md", "leak/new.md", "leak.md", "leak"):
        with pytest.raises(OutsideVault):
            files.read(path)
    for path in ("leak/new.md", "leak/deep/new.md"):
        with pytest.raises(OutsideVault):
            files.create(path, b"x")
    with pytest.raises(OutsideVault):
        files.replace("leak.md", b"x", b"secret")
    (tmp_path / "vault-2").mkdir()
    (files.root / "near").symlink_to(tmp_path / "vault-2")
    with pytest.raises(OutsideVault):
        files.create("near/x.md", b"x")
    assert everything(outside) == {"secret.md": b"secret"}


def test_a_link_within_the_vault_stays_a_link_when_its_note_changes(files: VaultFiles) -> None:
    files.create("Medical/x.md", b"one")
    (files.root / "x.md").symlink_to(files.root / "Medical/x.md")
    files.replace("x.md", b"two", b"one")
    assert (files.root / "x.md").is_symlink()
    assert files.read("Medical/x.md") == b"two"


def test_names_of_other_systems_are_ordinary_names_here(files: VaultFiles) -> None:
    for name in ("a: b.md", "what?.md", "C: drive.md", "back\\slash.md", "...md"):
        assert files.create(name, b"x") == name
        assert files.read(name) == b"x"


def test_a_path_with_half_a_character_is_said(files: VaultFiles) -> None:
    with pytest.raises(InvalidInput):
        files.create("\ud800.md", b"x")


def test_a_name_is_found_whatever_its_case_and_form(files: VaultFiles) -> None:
    files.create("Medical/Cafe\u0301.md", b"x")
    assert files.actual("medical/caf\u00e9.md") == "Medical/Cafe\u0301.md"
    assert files.actual("medical/new.md") == "Medical/new.md"
    assert files.actual("") == ""


# -- moving and removing


def test_a_move_never_overwrites(files: VaultFiles) -> None:
    files.create("a.md", b"a")
    files.create("b.md", b"b")
    assert files.move("a.md", "b.md") == "b 2.md"
    assert files.move("b 2.md", "Deep/er/c.md") == "Deep/er/c.md"
    assert files.move("b.md", "b.md") == "b.md"
    with pytest.raises(FileNotFoundError):
        files.move("gone.md", "x.md")
    assert everything(files.root) == {"b.md": b"b", "Deep/er/c.md": b"a"}


def test_a_name_can_change_its_case(files: VaultFiles) -> None:
    files.create("medical/x.md", b"x")
    assert files.move("medical/x.md", "medical/X.md") == "medical/X.md"
    assert files.move_folder("medical", "Medical") == "Medical"
    assert everything(files.root) == {"Medical/X.md": b"x"}


def test_a_folder_moves_with_all_that_is_in_it(files: VaultFiles) -> None:
    files.create("Medical/Diet/x.md", b"x")
    files.create("Health/y.md", b"y")
    with pytest.raises(Duplicate):
        files.move_folder("Medical", "Health")
    with pytest.raises(InvalidInput):
        files.move_folder("Medical", "Medical/Diet/Medical")
    assert files.move_folder("Medical/Diet", "Health/Diet") == "Health/Diet"
    assert set(everything(files.root)) == {"Health/Diet/x.md", "Health/y.md"}


def test_the_trash_keeps_everything_and_gives_it_back(files: VaultFiles) -> None:
    files.create("Medical/x.md", b"one")
    assert files.trash("Medical/x.md") == ".trash/Medical/x.md"
    files.create("Medical/x.md", b"two")
    assert files.trash("Medical/x.md") == ".trash/Medical/x 2.md"
    assert files.restore(".trash/Medical/x.md", "Medical/x.md") == "Medical/x.md"
    assert files.restore(".trash/Medical/x 2.md", "Medical/x.md") == "Medical/x 2.md"
    assert not (files.root / ".trash/Medical").exists()
    assert files.trash("Medical") == ".trash/Medical"
    files.create("Medical/z.md", b"z")
    assert files.trash("Medical") == ".trash/Medical 2"
    assert files.restore(".trash/Medical", "Medical") == "Medical"
    assert everything(files.root) == {
        "Medical/x.md": b"one",
        "Medical/x 2.md": b"two",
        ".trash/Medical 2/z.md": b"z",
    }
    with pytest.raises(NotFound):
        files.restore(".trash/gone.md", "x.md")
    with pytest.raises(InvalidInput):
        files.restore("Medical/x.md", "y.md")
    with pytest.raises(OutsideVault):
        files.restore(".trash/../../x.md", "y.md")


def test_a_file_is_removed_only_while_it_holds_what_was_expected(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    with pytest.raises(ChangedElsewhere):
        files.remove_verified("x.md", b"two")
    files.remove_verified("x.md", b"one")
    assert everything(files.root) == {}


# -- trouble with the disk


def test_a_full_disk_is_said_and_leaves_nothing_behind(
    files: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.create("x.md", b"one")

    def fsync(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(VaultUnavailable, match="disk is full"):
        files.create("y.md", b"text")
    with pytest.raises(VaultUnavailable, match="disk is full"):
        files.replace("x.md", b"two", b"one")
    assert everything(files.root) == {"x.md": b"one"}


def test_a_vault_that_is_gone_is_said_and_not_made_anew(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    files.root.rename(files.root.parent / "elsewhere")
    with pytest.raises(VaultUnavailable, match="gone"):
        files.create("Medical/y.md", b"text")
    assert not files.root.exists()
    (files.root.parent / "elsewhere").rename(files.root)
    assert files.create("Medical/y.md", b"text") == "Medical/y.md"


def test_the_empty_folder_of_an_unmounted_disk_is_not_written_to(files: VaultFiles) -> None:
    files.root.rename(files.root.parent / "elsewhere")
    files.root.mkdir()
    with pytest.raises(VaultUnavailable, match="mount it again"):
        files.create("x.md", b"text")
    assert not list(files.root.iterdir())
    (files.root / "note.md").write_bytes(b"mounted again, as another folder")
    assert files.create("x.md", b"text") == "x.md"


def test_a_vault_that_is_made_after_the_start_can_be_filled(tmp_path: Path) -> None:
    later = VaultFiles(tmp_path / "later", fixed_clock)
    with pytest.raises(VaultUnavailable):
        later.create("x.md", b"text")
    (tmp_path / "later").mkdir()
    assert later.create("x.md", b"text") == "x.md"


# -- who wrote, and when


def test_our_own_writes_are_known_by_path_and_bytes(files: VaultFiles) -> None:
    def own(path: str, data: bytes) -> bool:
        return files.is_own_write(path, hashlib.sha256(data).hexdigest())

    files.create("Cafe\u0301.md", b"one")
    assert own("Caf\u00e9.md", b"one")
    assert not own("Caf\u00e9.md", b"two") and not own("other.md", b"one")
    files.create("x.md", b"one")
    files.replace("x.md", b"two", b"one")
    assert own("x.md", b"two")
    files.move("x.md", "y.md")
    assert own("y.md", b"two")
    assert files.digest("y.md") == hashlib.sha256(b"two").hexdigest()


def test_a_change_is_known_as_ours_before_it_can_be_seen(files: VaultFiles) -> None:
    files.create("x.md", b"one")
    seen: list[bool] = []
    files.on_step = at_step(
        "replaced", lambda: seen.append(files.is_own_write("x.md", files.digest("x.md")))
    )
    files.replace("x.md", b"two", b"one")
    assert seen == [True]


def test_a_note_that_a_person_changed_lately_is_not_settled(files: VaultFiles) -> None:
    def changed(seconds_ago: float) -> None:
        when = NOW.timestamp() - seconds_ago
        os.utime(files.root / "x.md", (when, when))

    (files.root / "x.md").write_bytes(b"theirs")
    changed(10)
    assert not files.settled("x.md", NOW, 300)
    changed(301)
    assert files.settled("x.md", NOW, 300)
    changed(-20)
    assert not files.settled("x.md", NOW, 300), "a clock that is a little ahead"
    changed(-10_000_000)
    assert files.settled("x.md", NOW, 300), "a clock that was wrong"
    files.replace("x.md", b"ours", b"theirs")
    changed(10)
    assert files.settled("x.md", NOW, 300)
    assert not files.settled("gone.md", NOW, 300)


def test_what_obsidian_has_open_is_read_from_its_workspace(files: VaultFiles) -> None:
    assert files.open_in_obsidian() == {}
    leaf = {
        "type": "leaf",
        "state": {"type": "markdown", "state": {"file": "Medical/Cafe\u0301.md"}},
    }
    workspace = {
        "main": {
            "type": "split",
            "children": [{"type": "tabs", "children": [leaf, {"type": "leaf"}]}],
        },
        "left": {
            "children": [{"type": "leaf", "state": {"type": "search", "state": {"query": "x"}}}]
        },
        "floating": {"children": [{"type": "leaf", "state": {"state": {"file": "y.md"}}}]},
        "lastOpenFiles": ["closed.md"],
    }
    place = files.root / ".obsidian/workspace.json"
    place.parent.mkdir()
    place.write_text(json.dumps(workspace))
    os.utime(place, (NOW.timestamp() - 60, NOW.timestamp() - 60))
    said = NOW - timedelta(minutes=1)
    assert files.open_in_obsidian() == {"Medical/Caf\u00e9.md": said, "y.md": said}
    mobile = files.root / ".obsidian/workspace-mobile.json"
    mobile.write_text(json.dumps({"main": {**leaf, "state": {"state": {"file": "y.md"}}}}))
    os.utime(mobile, (NOW.timestamp(), NOW.timestamp()))
    assert files.open_in_obsidian()["y.md"] == NOW
    for odd in ("", "{", "[1]", "null", '{"type": "leaf", "state": 3}', "[" * 99_999, "\0"):
        place.write_text(odd)
        assert "Medical/Caf\u00e9.md" not in files.open_in_obsidian()


# -- many at once


def test_a_batch_is_on_disk_when_it_ends(
    files: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append("one"), real(fd))[1])
    monkeypatch.setattr(os, "sync", lambda: synced.append("all"))
    with files.batch():
        for number in range(100):
            files.create(f"Medical/{number}.md", b"x")
        with files.batch():
            files.create("y.md", b"x")
        assert synced == []
        files.replace("y.md", b"z", b"x")
        assert synced == ["one"], "what replaces something is synced at once"
    assert "all" in synced or len(synced) > 100
    assert len(everything(files.root)) == 101


def test_a_small_or_broken_batch_is_synced_too(
    files: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(fd), real(fd))[1])
    with pytest.raises(Stop), files.batch():
        files.create("x.md", b"x")
        raise Stop
    assert len(synced) == 2, "the file and its folder"
    files.create("y.md", b"x")
    assert len(synced) == 4
