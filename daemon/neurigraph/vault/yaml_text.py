"""YAML read as a person reads it: every scalar stays the text that the note holds.

Nothing is resolved: `12:30`, `no`, `012` and `2026-11-30` come out as written, and an unquoted
`[[Name]]` is the wikilink that its writer meant, not a list in a list. The parser keeps the place
of every value, so that a single line can be changed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from neurigraph.model import Value

MAX_DEPTH = 40
"""How deep maps and lists may nest; hand-written frontmatter stays below five."""

_EMPTY = frozenset({"", "~", "null", "Null", "NULL"})

# YAML 1.1 breaks lines at the first three, every editor and YAML 1.2 do not; libyaml drops
# the last in the middle of a text.
_MISREAD = "\x85\u2028\u2029\ufeff"


class NotAMapping(ValueError):
    """The text is YAML, but no `key: value` lines: a paragraph, a list, several documents."""


class _AllText:
    """Keeps the parser from guessing types."""

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        return ""

    def descend_resolver(self, node: Node | None, index: Any) -> None:
        return None

    def ascend_resolver(self) -> None:
        return None


class PurePythonNodes(_AllText, Reader, Scanner, Parser, Composer):
    """The parser for machines whose PyYAML was built without libyaml: the same, slower."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)


NodeParser = Callable[[str], Any]


def _fastest() -> NodeParser:
    if not yaml.__with_libyaml__:
        return PurePythonNodes
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # not in the type stubs

    class LibYamlNodes(_AllText, CParser):
        """The parser in C, about ten times as fast."""

    return LibYamlNodes


FASTEST: NodeParser = _fastest()


class Properties:
    """The `key: value` lines of a frontmatter, parsed.

    `text` is what was parsed; offsets of nodes count its characters. `root` is None when there
    are no keys. Raises yaml.YAMLError when it cannot be parsed and NotAMapping when it is no
    mapping. Aliases cannot blow up: no more values are built than the text has room to write.
    """

    def __init__(self, text: str, parser: NodeParser = FASTEST) -> None:
        self.text = text
        self._shield = _shield_for(text)
        self._unshield = {shield: char for char, shield in self._shield.items()}
        self._room = 2 * len(text) + 16
        self.duplicates: list[str] = []
        try:
            root = parser(text.translate(self._shield) if self._shield else text).get_single_node()
        except RecursionError:
            raise yaml.YAMLError("it is nested too deeply") from None
        if root is not None and not isinstance(root, MappingNode):
            if not isinstance(root, ScalarNode) or root.value or root.style:
                raise NotAMapping
            root = None
        self.root: MappingNode | None = root
        self.values: dict[str, Value] = {}
        if root is not None:
            self.values = self._mapping(root, 0)

    def pairs(self) -> Iterator[tuple[str, ScalarNode, Node]]:
        """Key, key node and value node of every top-level property, in order."""
        if self.root is not None:
            for key, value in self.root.value:
                yield self._restored(key.value), key, value

    def value_of(self, node: Node) -> Value:
        """What a node of this text says."""
        return self._value(node, 0)

    def wikilink(self, node: Node) -> str | None:
        """The source text of a node when it is an unquoted `[[Name]]`, else None."""
        if not isinstance(node, SequenceNode) or not node.flow_style or len(node.value) != 1:
            return None
        inner = node.value[0]
        start, end = node.start_mark.index, node.end_mark.index
        if (
            not isinstance(inner, SequenceNode)
            or inner.start_mark.index != start + 1
            or inner.end_mark.index != end - 1
            or any(isinstance(item, SequenceNode) for item in inner.value)
        ):
            return None
        source = self.text[start:end]
        return None if "\n" in source or "\r" in source else source

    def _value(self, node: Node, depth: int) -> Value:
        self._room -= 1
        if self._room < 0 or depth > MAX_DEPTH:
            raise _marked("it is nested too deeply or repeats itself", node.start_mark)
        if isinstance(node, ScalarNode):
            if not node.style and node.value in _EMPTY:
                return None
            return self._restored(node.value)
        if isinstance(node, MappingNode):
            return self._mapping(node, depth)
        link = self.wikilink(node)
        if link is not None:
            return link
        return [self._value(item, depth + 1) for item in node.value]

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise _marked("a key is not plain text", key.start_mark)
            name = self._restored(key.value)
            if name in found:
                self.duplicates.append(name)
            found[name] = self._value(value, depth + 1)
        return found

    def _restored(self, text: str) -> str:
        return text.translate(self._unshield) if self._unshield else text


def _shield_for(text: str) -> dict[int, int]:
    """Stand-ins, unused in the text, for characters that the parser would misread."""
    if not any(char in text for char in _MISREAD):
        return {}
    free = (code for code in range(0xE000, 0xF8FF) if chr(code) not in text)
    return {ord(char): next(free) for char in _MISREAD}


def _marked(problem: str, mark: Mark | None) -> yaml.YAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
