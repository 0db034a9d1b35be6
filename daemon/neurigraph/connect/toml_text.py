"""Adds one table to a TOML text, or removes it, and leaves every other byte as it is. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError


class NotToml(ValueError):
    """A text that cannot be read or changed safely."""


def set_table(text: str, path: Sequence[str], values: Mapping[str, str | int | list[str]]) -> str:
    """The text with this table. Raises `NotToml`."""
    before = _read(text)
    if _at(before, path) == values:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    cleared = remove_table(text, path)
    block = end.join(
        [f"[{'.'.join(map(_key, path))}]", *(f"{_key(k)} = {_value(v)}" for k, v in values.items())]
    )
    wanted = _read(cleared)
    _put(wanted, path, dict(values))
    gap = "" if not cleared else end if cleared.endswith("\n") else end * 2
    appended = f"{cleared}{gap}{block}{end}"
    if _fits(appended, wanted):
        return appended
    # the tables are written inline, say: then the library finds the place
    document = tomlkit.parse(cleared)
    place: Any = document
    for key in path[:-1]:
        place = place.setdefault(key, tomlkit.table())
    place[path[-1]] = dict(values)
    rewritten = tomlkit.dumps(document)
    if _fits(rewritten, wanted):
        return rewritten
    raise NotToml("this file is written in a way that cannot be changed safely")


def remove_table(text: str, path: Sequence[str]) -> str:
    """The text without this table and those within it; unchanged when there is none."""
    before = _read(text)
    if _at(before, path) is None:
        return text
    bare, pruned = _read(text), _read(text)
    _drop(bare, path, prune=False)
    _drop(pruned, path, prune=True)
    for candidate in (_without_lines(text, path), _without_key(text, path)):
        if candidate is not None and (_fits(candidate, bare) or _fits(candidate, pruned)):
            return candidate
    raise NotToml("this file is written in a way that cannot be changed safely")


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from error


def _fits(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return _read(text) == wanted
    except NotToml:
        return False


def _at(data: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data


def _put(data: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise NotToml(f"{key} is no table")
    data[path[-1]] = value


def _drop(data: dict[str, Any], path: Sequence[str], *, prune: bool) -> None:
    """Remove a value; with `prune` also the tables above it that held nothing else."""
    inner = data[path[0]]
    if len(path) == 1:
        del data[path[0]]
        return
    _drop(inner, path[1:], prune=prune)
    if prune and not inner:
        del data[path[0]]


def _header(line: str) -> list[str] | None:
    """The path of a table header, in its plain and quoted spellings."""
    found = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$", line)
    if found is None:
        return None
    keys = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)', found[1])
    return [a or b or c for a, b, c in keys]


def _without_lines(text: str, path: Sequence[str]) -> str:
    """Cut from our headers to the next one. Wrong where brackets begin a line of a value, which
    the caller's comparison finds."""
    kept: list[str] = []
    ours = False
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header is not None:
            starts = header[: len(path)] == list(path)
            if starts and not ours:
                while kept and not kept[-1].strip():
                    kept.pop()
            if ours and not starts and kept:
                kept.append("\r\n" if line.endswith("\r\n") else "\n")
            ours = starts
        if not ours:
            kept.append(line)
    return "".join(kept)


def _without_key(text: str, path: Sequence[str]) -> str | None:
    try:
        document = tomlkit.parse(text)
        place: Any = document
        above: list[tuple[Any, str]] = []
        for key in path[:-1]:
            above.append((place, key))
            place = place[key]
        del place[path[-1]]
        for outer, key in reversed(above):
            if not outer[key]:
                del outer[key]
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError):
        return None


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: str | int | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return tomlkit.item(value).as_string()
