"""`neurigraph import --watch` changes one setting and leaves the rest of the file as it was."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from neurigraph.capture.watch_setting import set_followed, with_followed
from neurigraph.errors import InvalidInput

FILE = """# my machine
[server]
port = 7900   # not the usual one

[imports]
secrets = "mask"
"""


def test_the_setting_is_added_and_all_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "local.toml"
    file.write_text(FILE)
    set_followed(file, ["/home/ada/.claude/projects"], "Work/Sessions")
    after = file.read_text()
    assert after.startswith(FILE.rstrip("\n"))
    assert tomllib.loads(after)["imports"] == {
        "secrets": "mask",
        "watch": ["/home/ada/.claude/projects"],
        "watch_topic": "Work/Sessions",
    }
    set_followed(file, [], None)
    assert tomllib.loads(file.read_text())["imports"]["watch"] == []
    assert "# not the usual one" in file.read_text()


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    set_followed(tmp_path / "local.toml", ["/a"], None)
    assert tomllib.loads((tmp_path / "local.toml").read_text()) == {"imports": {"watch": ["/a"]}}


def test_what_is_set_already_is_not_written_again() -> None:
    text = '[imports]\nwatch = [ "/a" ]\n'
    assert with_followed(text, ["/a"], None, "local.toml") == text


@pytest.mark.parametrize("text", ["[imports", "imports = 3\n", "[[imports]]\n"])
def test_a_file_that_cannot_be_read_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    file = tmp_path / "local.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match="mend it"):
        set_followed(file, ["/a"], None)
    assert file.read_text() == text
