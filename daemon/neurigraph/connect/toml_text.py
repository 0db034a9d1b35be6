"""Adds one table to a TOML text, or removes it, and leaves every other byte as it is. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

_BOM = "\ufeff"


class NotToml(ValueError):
    """A text that cannot be read or changed safely."""


def set_table(text: str, path: Sequence[str], values: Mapping[str, str | int | list[str]]) -> str:
    """The text with this table. What else a person set in it stays. Raises `NotToml`."""
    before = _read(text)
    held = _at(before, path)
    if isinstance(held, dict) and all(held.get(k) == v for k, v in values.items()):
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    if isinstance(held, dict) and "command" in held:
        _put(before, path, {**held, **values})
        changed = _with_library(text, path, values)
        if changed is not None and _fits(changed, before):
            return changed
    cleared = remove_table(text, path)
    block = end.join(
        [f"[{'.'.join(map(_key, path))}]", *(f"{_key(k)} = {_value(v)}" for k, v in values.items())]
    )
    wanted = _read(cleared)
    _put(wanted, path, dict(values))
    gap = "" if cleared in ("", _BOM) else end if cleared.endswith("\n") else end * 2
    appended = f"{cleared}{gap}{block}{end}"
    if _fits(appended, wanted):
        return appended
    # the tables are written inline, say: then the library finds the place
    rewritten = _with_library(cleared, path, values)
    if rewritten is not None and _fits(rewritten, wanted):
        return rewritten
    raise NotToml("this file is written in a way that cannot be changed safely")


def _with_library(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str | None:
    """The text with these values in the table that is there, or None where that cannot be."""
    bom = _BOM if text.startswith(_BOM) else ""
    try:
        document = tomlkit.parse(text.removeprefix(_BOM))
        place: Any = document
        for key in path[:-1]:
            place = place.setdefault(key, tomlkit.table())
        if path[-1] not in place:
            place[path[-1]] = dict(values)
        for key, value in values.items():
            if place[path[-1]].get(key) != value:
                place[path[-1]][key] = value
        return bom + tomlkit.dumps(document)
    except (TOMLKitError, AttributeError, KeyError, TypeError):
        return None


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
        return tomllib.loads(text.removeprefix(_BOM))
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
    """Cut from our headers to the next one, but for remarks at the end, which are a person's.
    Wrong where brackets begin a line of a value, which the caller's comparison finds."""
    kept: list[str] = []
    cut: list[str] = []
    ours = False
    for line in [*text.splitlines(keepends=True), ""]:
        header = _header(line)
        if header is None and line:
            (cut if ours else kept).append(line)
            continue
        kept += _remarks(cut, bool(kept), more=bool(line))
        cut = []
        ours = header is not None and header[: len(path)] == list(path)
        if ours:
            while kept and not kept[-1].strip(_BLANK):
                kept.pop()
        (cut if ours else kept).append(line)
    return "".join(kept)


_BLANK = "\r\n\t "


def _remarks(cut: Sequence[str], after_others: bool, *, more: bool) -> list[str]:
    """What stays of lines that are cut: the remarks behind the last value, set off by a line."""
    if not cut:
        return []
    end = "\r\n" if cut[0].endswith("\r\n") else "\n"
    at = len(cut)
    while at and (not cut[at - 1].strip() or cut[at - 1].lstrip().startswith("#")):
        at -= 1
    lines = list(cut[at:])
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return [end] if more and after_others else []
    return [end, *lines] if after_others else lines


def _without_key(text: str, path: Sequence[str]) -> str | None:
    bom = _BOM if text.startswith(_BOM) else ""
    try:
        document = tomlkit.parse(text.removeprefix(_BOM))
        place: Any = document
        above: list[tuple[Any, str]] = []
        for key in path[:-1]:
            above.append((place, key))
            place = place[key]
        del place[path[-1]]
        for outer, key in reversed(above):
            if not outer[key]:
                del outer[key]
        return bom + tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError):
        return None


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: str | int | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return tomlkit.item(value).as_string()
