"""Work in steps: alone and with others it comes to the same, and waits for the disk."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neurigraph.vault import disk
from neurigraph.vault.steps import WAVE, Steps, alone, together


def written(folder: Path, number: int, log: list[str]) -> Steps[int]:
    """Writes a file and goes on once it is on the disk."""
    place = folder / str(number)
    place.write_bytes(b"x")
    yield place
    log.append(f"{number} synced")
    return number


@pytest.mark.parametrize("threads", [0, 3])
def test_all_of_many_works_are_done_and_answer_in_their_order(tmp_path: Path, threads: int) -> None:
    many, log = 2 * WAVE + 7, list[str]()
    works = [written(tmp_path, number, log) for number in range(many)]
    if threads:
        with ThreadPoolExecutor(threads) as pool:
            assert together(works, pool) == list(range(many))
    else:
        assert together(works) == list(range(many))
    assert len(log) == many


def test_no_work_goes_on_before_its_file_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    sync_all = disk.sync_all
    monkeypatch.setattr(disk, "sync_all", lambda p: (sync_all(p), log.append(f"disk: {len(p)}")))
    assert together([written(tmp_path, n, log) for n in range(3)]) == [0, 1, 2]
    assert log == ["disk: 3", "0 synced", "1 synced", "2 synced", "disk: 0"]


def test_a_disk_that_refuses_is_told_to_every_work_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def careful(number: int) -> Steps[str]:
        try:
            yield tmp_path
        except OSError as error:
            return f"{number}: {error.strerror}"
        return "not told"

    monkeypatch.setattr(disk, "sync_all", refuse)
    with pytest.raises(OSError, match="Input/output"):
        alone(written(tmp_path, 1, []))
    monkeypatch.setattr(disk, "sync_all", lambda places: refuse(places) if places else None)
    assert together([careful(1), careful(2)]) == ["1: Input/output error", "2: Input/output error"]
