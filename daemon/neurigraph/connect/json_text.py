"""Changes one place of a JSON text and leaves every other byte as it is. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neurigraph.connect.json_tree import JsonNode, Member, NotJson, read_json

_REMARK = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """The text with this value at this path of keys; objects on the way are made.

    An empty text counts as an empty object. Raises `NotJson` for a text that cannot be read, and
    for one that has something else than an object on the way.
    """
    text = text if text.strip("\ufeff \t\r\n") else _bom(text) + "{}\n"
    node, missing = _walk(text, path[:-1])
    key = path[-1]
    for outer in reversed(missing):
        key, value = outer, {key: value}
    known = None if missing else node.member(key)
    if known is None:
        return _insert(text, node, json.dumps(key, ensure_ascii=False) + ": ", value)
    if known.value.data == value:
        return text
    indent = _indent_at(text, known.start)
    new = _written(text, value, indent)
    return text[: known.value.start] + new + text[known.value.end :]


def set_members(text: str, path: Sequence[str], values: Mapping[str, Any], known_by: str) -> str:
    """The text with an object at this path that has these members.

    An object that is there and has the member `known_by` keeps its others, any other value is
    replaced whole. Raises `NotJson`.
    """
    held: Any = read_json(text).data if text.strip("\ufeff \t\r\n") else None
    for key in path:
        held = held.get(key) if isinstance(held, dict) else None
    if not isinstance(held, dict) or known_by not in held:
        return set_value(text, path, dict(values))
    for key, value in values.items():
        text = set_value(text, [*path, key], value)
    return text


def remove_value(text: str, path: Sequence[str], *, empty_too: int = 0) -> str:
    """The text without the value at this path; unchanged when there is none.

    The `empty_too` objects above it go as well where they are left empty.
    """
    if not text.strip("\ufeff \t\r\n"):
        return text
    node, missing = _walk(text, path[:-1])
    known = None if missing else node.member(path[-1])
    if known is None:
        return text
    if empty_too and len(path) > 1 and len(node.members) == 1 and not _remarks(text, node, known):
        return remove_value(text, path[:-1], empty_too=empty_too - 1)
    return _cut(text, node, known)


def add_item(text: str, path: Sequence[str], item: Any, is_ours: Callable[[Any], bool]) -> str:
    """The text with this item in the list at this path, in place of the one that was ours."""
    text = text if text.strip("\ufeff \t\r\n") else _bom(text) + "{}\n"
    node, missing = _walk(text, path[:-1])
    known = None if missing else node.member(path[-1])
    if known is None:
        return set_value(text, path, [item])
    items = known.value
    if items.kind != "array":
        raise NotJson(text, items.start, f"{path[-1]} is no list")
    for member in items.members:
        if is_ours(member.value.data):
            if member.value.data == item:
                return text
            new = _written(text, item, _indent_at(text, member.start))
            return text[: member.value.start] + new + text[member.value.end :]
    return _insert(text, items, "", item)


def remove_item(
    text: str, path: Sequence[str], is_ours: Callable[[Any], bool], *, empty_too: int = 0
) -> str:
    """The text without the items of a list that are ours, nor what is left empty above them."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    while True:
        node, missing = _walk(text, path[:-1])
        known = None if missing else node.member(path[-1])
        if known is None or known.value.kind != "array":
            return text
        items = known.value
        ours = next((m for m in items.members if is_ours(m.value.data)), None)
        if ours is None:
            return text
        if len(items.members) == 1 and empty_too and not _remarks(text, items, ours):
            return remove_value(text, path, empty_too=empty_too - 1)
        text = _cut(text, items, ours)


def _remarks(text: str, node: JsonNode, only: Member) -> bool:
    """Whether remarks of a person stand in an object or list beside its only member."""
    end = only.value.end if only.comma < 0 else only.comma + 1
    return bool((text[node.start + 1 : only.start] + text[end : node.end - 1]).strip())


def _bom(text: str) -> str:
    return "\ufeff" if text.startswith("\ufeff") else ""


def _walk(text: str, path: Sequence[str]) -> tuple[JsonNode, list[str]]:
    """The innermost object on the path that exists, and the keys that do not."""
    node = read_json(text)
    if node.kind != "object":
        raise NotJson(text, node.start, "an object was expected")
    for number, key in enumerate(path):
        member = node.member(key)
        if member is None:
            return node, list(path[number:])
        if member.value.kind != "object":
            raise NotJson(text, member.value.start, f"{key} is no object")
        node = member.value
    return node, []


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    """The white space with which the line of this character begins."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return re.match(r"[ \t]*", line.lstrip("\ufeff"))[0]  # type: ignore[index]  # always matches


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)", text)
    if found is None:
        return "  "
    return "\t" if found[1].startswith("\t") else found[1]


def _written(text: str, value: Any, indent: str) -> str:
    """A value in the file's own style, for a place that is indented so far."""
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (_end_of_line(text) + indent).join(lines)


def _insert(text: str, node: JsonNode, lead: str, value: Any) -> str:
    end = _end_of_line(text)
    if not node.members:
        outer = _indent_at(text, node.start)
        inner = outer + _unit(text)
        # comments may stand in an empty object: they stay
        held = text[node.start + 1 : node.end - 1].rstrip()
        new = f"{held}{end}{inner}{lead}{_written(text, value, inner)}{end}{outer}"
        return text[: node.start + 1] + new + text[node.end - 1 :]
    last = node.members[-1]
    on_a_line = "\n" in text[node.start : node.members[0].start]
    inner = _indent_at(text, last.start) if on_a_line else ""
    shown = _written(text, value, inner) if on_a_line else json.dumps(value, ensure_ascii=False)
    before = last.value.end if last.comma < 0 else last.comma + 1
    # a remark behind the last member stays with it
    remark = _REMARK.match(text, before) if on_a_line else None
    at = remark.end() if remark else before
    first, second = (",", "") if last.comma < 0 else ("", ",")
    between = f"{end}{inner}" if on_a_line else " "
    return text[:before] + first + text[before:at] + between + lead + shown + second + text[at:]


def _cut(text: str, node: JsonNode, member: Member) -> str:
    """Without this member, its comma and the white space before it."""
    number = next(i for i, m in enumerate(node.members) if m is member)
    start = node.start + 1 + len(text[node.start + 1 : member.start].rstrip())
    end = member.value.end if member.comma < 0 else member.comma + 1
    before, after = text[:start], text[end:]
    if member.comma < 0 and number:
        comma = node.members[number - 1].comma
        before = text[:comma] + text[comma + 1 : start]
    if len(node.members) == 1 and not (before[node.start + 1 :] + text[end : node.end - 1]).strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    return before + after
