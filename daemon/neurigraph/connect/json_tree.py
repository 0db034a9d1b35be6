"""Reads JSON, comments and trailing commas included, and knows where each value stands. Pure.

Clients read their settings with such tolerant readers, so people's files have both.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?\d[-+.eE\d]*|true|false|null")
DEEPEST = 200


class NotJson(ValueError):
    """A text that cannot be read; `line` is where, from 1."""

    def __init__(self, text: str, at: int, reason: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line}: {reason}")


@dataclass(slots=True)
class Member:
    """One member of an object, or one item of an array (then without a key).

    `comma` is where the comma behind it stands, or -1.
    """

    key: str
    start: int
    value: JsonNode
    comma: int = -1


@dataclass(slots=True)
class JsonNode:
    """A value and the characters that it takes up; `members` of an object or array in order."""

    kind: str
    start: int
    end: int
    data: Any
    members: list[Member] = field(default_factory=list)

    def member(self, key: str) -> Member | None:
        """The member of this name; of several the last, which is the one that counts."""
        return next((m for m in reversed(self.members) if m.key == key), None)


def read_json(text: str) -> JsonNode:
    """The tree of a whole text. Raises `NotJson`."""
    reader = _Reader(text)
    at = reader.skip(1 if text.startswith("\ufeff") else 0)
    node = reader.value(at, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise NotJson(text, end, "there is something after the end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > DEEPEST:
            raise NotJson(self._text, at, "it is nested too deeply")
        first = self._text[at : at + 1]
        if first == "{":
            return self._group(at, "object", "}", depth)
        if first == "[":
            return self._group(at, "array", "]", depth)
        found = (_STRING if first == '"' else _ATOM).match(self._text, at)
        if found is None:
            raise NotJson(self._text, at, "a value was expected")
        try:
            data = json.loads(found[0])
        except ValueError as error:
            raise NotJson(self._text, at, "a value cannot be read") from error
        return JsonNode("value", at, found.end(), data)

    def _group(self, start: int, kind: str, close: str, depth: int) -> JsonNode:
        node = JsonNode(kind, start, start, {} if kind == "object" else [])
        at = self.skip(start + 1)
        while self._text[at : at + 1] != close:
            if node.members and node.members[-1].comma < 0:
                raise NotJson(self._text, at, f"a comma or {close} was expected")
            member = self._member(at, kind, depth)
            node.members.append(member)
            if kind == "object":
                node.data[member.key] = member.value.data
            else:
                node.data.append(member.value.data)
            at = self.skip(member.value.end)
            if self._text[at : at + 1] == ",":
                member.comma = at
                at = self.skip(at + 1)
        node.end = at + 1
        return node

    def _member(self, at: int, kind: str, depth: int) -> Member:
        if kind == "array":
            return Member("", at, self.value(at, depth + 1))
        found = _STRING.match(self._text, at)
        if found is None:
            raise NotJson(self._text, at, "a name in quotes was expected")
        colon = self.skip(found.end())
        if self._text[colon : colon + 1] != ":":
            raise NotJson(self._text, colon, "a colon was expected")
        return Member(json.loads(found[0]), at, self.value(self.skip(colon + 1), depth + 1))
