"""What the tests of importers share: times in UTC, and small files made by hand."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neurigraph.importers.opened import Item
from neurigraph.importers.recognise import recognise


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Transcripts carry local times; here the place is Greenwich without summer."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a file: text as it is, values as JSON, a list under `lines` as JSON Lines."""

    def write(name: str, value: Any = None, *, lines: list[Any] | None = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if lines is not None:
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        elif isinstance(value, bytes):
            path.write_bytes(value)
        elif isinstance(value, str):
            path.write_text(value, "utf-8")
        else:
            path.write_text(json.dumps(value), "utf-8")
        return path

    return write


@pytest.fixture
def make_zip(tmp_path: Path) -> Callable[..., Path]:
    """Write a zip from names and contents; values become JSON."""

    def write(name: str, members: dict[str, Any]) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for member, value in members.items():
                data = value if isinstance(value, bytes | str) else json.dumps(value)
                packed.writestr(member, data)
        return path

    return write


@pytest.fixture
def read() -> Callable[[Path], list[Item]]:
    """Recognise and read everything at a path."""

    def everything(path: Path) -> list[Item]:
        with recognise(path) as found:
            return list(found.read())

    return everything
