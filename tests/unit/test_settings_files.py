"""Files of settings that are damaged, hostile or odd."""

import os
from pathlib import Path

import pytest

from neurigraph.errors import InvalidInput
from neurigraph.settings import Settings, load_settings

DAMAGED = {
    "no toml": b"[temperature\nx = = \xff\n",
    "no text": b"\xff\xfe\x00",
    "brackets in thousands": b"[vault]\nexclude = " + b"[" * 5000 + b"]" * 5000,
    "a number of 6,000 digits": b"[temperature]\ncold_after_days = " + b"9" * 6000,
    "two megabytes": b"#" * 2_000_000,
}
TOO_LARGE = (
    "[vault]\nsettle_seconds = 1000000000000000\n",
    "[vault]\nreconcile_minutes = 1e300\n",
    "[temperature]\ncold_after_days = inf\ndeep_cold_after_days = nan\nwarm_limit = 1e9\n",
    "[search]\nkeyword_weight = inf\n",
    "[artifacts]\nmax_bytes = 99999999999999999999\n",
)


def loaded(place: Path) -> tuple[Settings, tuple[str, ...]]:
    return load_settings(place, place / "state", {})


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_in_the_vault_is_ignored_and_said_in_a_line(
    tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "neurigraph.toml").write_bytes(data)
    settings, ignored = loaded(tmp_path)
    assert settings == Settings()
    assert [len(line.splitlines()) for line in ignored] == [1]
    assert "neurigraph.toml" in ignored[0]


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_of_this_machine_stops_the_start_with_its_name(
    tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "local.toml").write_bytes(data)
    with pytest.raises(InvalidInput, match=r"local\.toml"):
        loaded(tmp_path)


def test_a_folder_or_a_pipe_in_place_of_the_file_is_said_and_holds_up_nothing(
    tmp_path: Path,
) -> None:
    odd = tmp_path / "neurigraph.toml"
    odd.mkdir()
    assert "not a file" in loaded(tmp_path)[1][0]
    odd.rmdir()
    os.mkfifo(odd)
    assert "not a file" in loaded(tmp_path)[1][0]


@pytest.mark.parametrize("text", TOO_LARGE)
def test_numbers_that_no_date_and_no_score_can_bear_are_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "neurigraph.toml").write_text(text)
    settings, ignored = loaded(tmp_path)
    assert settings == Settings()
    assert len(ignored) == text.count("=")
