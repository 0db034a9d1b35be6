"""Writes which folders are followed into this machine's `local.toml`, all else as it was."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from neurigraph.errors import InvalidInput


def set_followed(file: Path, folders: Sequence[str], topic: str | None) -> None:
    """Set `imports.watch`, and `imports.watch_topic` unless it is None.

    Raises `InvalidInput` when the file is no TOML; it is then left as it is.
    """
    try:
        before = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        before = ""
    except UnicodeDecodeError as error:
        raise InvalidInput(str(file), f"it is no text ({error}); mend it first") from error
    after = with_followed(before, folders, topic, str(file))
    if after != before:
        draft = file.with_name(f"{file.name}.new")
        draft.write_bytes(after.encode())
        draft.replace(file)


def with_followed(text: str, folders: Sequence[str], topic: str | None, name: str) -> str:
    """The text of such a file with these settings. Raises `InvalidInput` when it is no TOML."""
    try:
        expected = tomllib.loads(text)
        document = tomlkit.parse(text)
        wanted: dict[str, Any] = {"watch": list(folders)}
        if topic is not None:
            wanted["watch_topic"] = topic
        if expected.get("imports", {}) | wanted == expected.get("imports", {}):
            return text
        expected.setdefault("imports", {}).update(wanted)
        section = document.setdefault("imports", tomlkit.table())
        for key, value in wanted.items():
            section[key] = value
        after = tomlkit.dumps(document)
        if tomllib.loads(after) != expected:
            raise InvalidInput(name, "set watch under [imports] in it by hand")
    except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise InvalidInput(name, f"it is no TOML for settings ({error}); mend it first") from error
    return after
