"""The lines of a frontmatter block: which belong to a property, and what they become."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from neurigraph.model import Value
from neurigraph.vault.yaml_scalars import Plain, Settable, render, render_flow
from neurigraph.vault.yaml_text import Properties

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Keep:
    """Stands in a new list for an item of the old one, whose lines stay byte for byte; with
    `text`, for its place and its comment, the value itself being new."""

    index: int
    text: str | None = None


Items: TypeAlias = "Sequence[str | Keep]"
Change: TypeAlias = "Plain | Items | None"
"""What becomes of a property; None removes it."""

Below: TypeAlias = Literal["nothing", "indented", "all"]
"""Blank and indented lines go with a property that stands below a `|` text: without it they
would become part of that text."""

_Edit: TypeAlias = "tuple[int, int, str]"


@dataclass(frozen=True, slots=True)
class _Property:
    """Offsets of one property: its lines are text[start:end]; `colon` is where the colon behind
    its key stands, None when that is on another line."""

    key: str
    start: int
    end: int
    colon: int | None
    value: Node
    value_start: int
    value_end: int


def new_lines(key: str, value: Change, eol: str, indent: str = "") -> list[str]:
    """The lines of a property that was not there."""
    if value is None:
        return []
    if isinstance(value, str | bool | int | float):
        return [f"{indent}{key}: {render(value)}{eol}"]
    if not value:
        return [f"{indent}{key}: []{eol}"]
    items = [f"{indent}  - {render(item)}{eol}" for item in value if isinstance(item, str)]
    return [f"{indent}{key}:{eol}", *items]


class PropertyLines:
    """A block of `key: value` lines that can be changed one property at a time.

    `below` says what between two properties belongs to the upper one; `at_end` puts new
    properties at the very end of the block, else behind the last property.
    """

    def __init__(self, properties: Properties, eol: str, below: Below, at_end: bool) -> None:
        self._source = properties
        self._text = properties.text
        self._eol = eol
        self._at_end = at_end
        self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(self._text))]
        root = properties.root
        start = root.start_mark.index if root is not None else 0
        self._indent = " " * (start - self._line_start(start))
        self._properties = list(self._located(below))

    def patched(self, changes: Mapping[str, Change]) -> str:
        """The text of the block with the changes made."""
        edits: list[_Edit] = []
        known = {one.key: one for one in self._properties}
        added: list[str] = []
        for key, change in changes.items():
            if key not in known:
                added += new_lines(key, change, self._eol, self._indent)
            elif change is None:
                edits.append((known[key].start, known[key].end, ""))
            elif isinstance(change, str | bool | int | float):
                edits.append(self._scalar_edit(known[key], render(change)))
            else:
                edits.append(self._list_edit(known[key], change))
        if added:
            end = len(self._text)
            if not self._at_end:
                end = self._properties[-1].end if self._properties else 0
            edits.append((end, end, "".join(added)))
        return _applied(self._text, edits)

    def spans(self) -> list[tuple[str, int, int]]:
        """Key, start and end of the lines of every property, in order. What lies between two of
        them are comments and blank lines."""
        return [(one.key, one.start, one.end) for one in self._properties]

    def _line_start(self, offset: int) -> int:
        return self._starts[bisect.bisect_right(self._starts, offset) - 1]

    def _line_end(self, offset: int) -> int:
        """The offset behind the line break of the line that `offset` is in."""
        index = bisect.bisect_right(self._starts, offset)
        return self._starts[index] if index < len(self._starts) else len(self._text)

    def _located(self, below: Below) -> list[_Property]:
        pairs = list(self._source.pairs())
        starts = [self._line_start(key.start_mark.index) for _, key, _ in pairs]
        ends = [*starts[1:], len(self._text)][: len(pairs)]
        found = []
        for (name, key, value), start, limit in zip(pairs, starts, ends, strict=True):
            key_end = key.end_mark.index
            last = limit if below == "all" else self._content_end(value, key_end, limit)
            while below == "indented" and last < limit and self._text[last].isspace():
                last = self._line_end(last)
            at = _skip_blanks(self._text, key_end)
            colon = at if self._text[at : at + 1] == ":" else None
            if self._text[start : key.start_mark.index].strip():
                colon = None  # `? key`, or several keys in a line
            from_, to = value.start_mark.index, value.end_mark.index
            if from_ <= key_end or to > limit:  # an alias: the node lies where its anchor is
                from_, to = last, last
            found.append(_Property(name, start, last, colon, value, from_, to))
        return found

    def _content_end(self, value: Node, key_end: int, limit: int) -> int:
        """Where the last line of a value ends; comments and blank lines below are not its own."""
        leaf = value
        while isinstance(leaf, CollectionNode) and not leaf.flow_style and leaf.value:
            last = leaf.value[-1]
            leaf = last[1] if isinstance(leaf, MappingNode) else last
        end = leaf.end_mark.index
        if not key_end <= end <= limit:
            return min(self._line_end(key_end), limit)
        if isinstance(leaf, ScalarNode) and leaf.style in ("|", ">"):
            header = self._text[leaf.start_mark.index : self._line_end(leaf.start_mark.index)]
            return end if "+" in header.split("#")[0] else self._without_blank_lines(end, key_end)
        if end == limit and self._line_start(end) == end and end > key_end:
            return self._without_blank_lines(end, key_end)
        return min(self._line_end(end), limit)

    def _without_blank_lines(self, end: int, key_end: int) -> int:
        floor = self._line_end(key_end)
        while end > floor:
            start = self._line_start(end - 1)
            if self._text[start:end].strip():
                break
            end = start
        return max(end, floor)

    def _scalar_edit(self, one: _Property, new: str) -> _Edit:
        """The value replaced where it stands; the key as written and a comment behind stay."""
        if one.colon is None:
            return one.start, one.end, f"{self._indent}{one.key}: {new}{self._eol}"
        head = one.colon + 1
        line_end = self._line_end(head)
        if head <= one.value_start < line_end and one.value_end <= line_end == one.end:
            gap = "" if one.value_start > head else " "
            tail = self._text[one.value_end : line_end]
            if tail.strip() and not tail.startswith((" ", "\t")):
                tail = f" {tail}"
            return one.value_start, line_end, f"{gap}{new}{tail or self._eol}"
        return head, one.end, f" {new}{self._comment_after(one)}{self._eol}"

    def _comment_after(self, one: _Property) -> str:
        """The comment on the line of the key when its value stands on other lines or is short."""
        assert one.colon is not None
        line_end = self._line_end(one.colon)
        begin = one.colon + 1
        if begin <= one.value_start < line_end:
            if one.value_end > line_end:
                return ""
            begin = one.value_end
        rest = self._text[begin:line_end].rstrip()
        if not rest.lstrip().startswith("#"):
            return ""
        return rest if rest[0] in " \t" else f" {rest}"

    def _list_edit(self, one: _Property, items: Items) -> _Edit:
        if not items:
            return self._scalar_edit(one, "[]")
        old = self._source.value_of(one.value)
        wanted = _reused(items, old if isinstance(old, list) else [old])
        listed = self._listed(one)
        if listed is not None:
            return listed.start, one.end, listed.rewritten(wanted, self._eol)
        lines = [f"{self._indent}  - {self._moved(one, item)}{self._eol}" for item in wanted]
        if one.colon is None:
            return one.start, one.end, f"{self._indent}{one.key}:{self._eol}{''.join(lines)}"
        head = f"{self._comment_after(one)}{self._eol}"
        return one.colon + 1, one.end, head + "".join(lines)

    def _moved(self, one: _Property, item: str | Keep) -> str:
        """An item on its way out of `[…]` or a lone value, quoted as it was."""
        if not isinstance(item, Keep):
            return render(item)
        if item.text is not None:
            return render(item.text)
        node = one.value
        if isinstance(node, SequenceNode) and self._source.wikilink(node) is None:
            node = node.value[item.index]
        source = self._text[node.start_mark.index : node.end_mark.index]
        value = self._source.value_of(node)
        if isinstance(value, str) and (source[:1] not in ('"', "'") or _LINE_BREAK.search(source)):
            return render(value)
        return source

    def _listed(self, one: _Property) -> _Listed | None:
        """The items of a list that stands below its key, one a line; None for any other value."""
        node = one.value
        if not isinstance(node, SequenceNode) or node.flow_style or one.colon is None:
            return None
        start = at = self._line_end(one.colon)
        first = node.start_mark.index
        column = first - self._line_start(first)
        gaps, items, spans = [], [], []
        for item in node.value:
            dash = self._dash_line(at, one.end, column)
            if dash is None:
                return None
            end = self._content_end(item, dash + column + 1, one.end)
            gaps.append(self._text[at:dash])
            items.append(self._text[dash:end])
            spans.append((item.start_mark.index - dash, item.end_mark.index - dash))
            at = end
        rest = self._text[at : one.end]
        return _Listed(start, " " * column, tuple(gaps), tuple(items), tuple(spans), rest)

    def _dash_line(self, at: int, limit: int, column: int) -> int | None:
        while at < limit:
            end = self._line_end(at)
            line = self._text[at:end]
            if line[:column].isspace() >= bool(column) and line[column : column + 1] == "-":
                return at
            if line.strip() and not line.lstrip().startswith("#"):
                return None
            at = end
        return None


@dataclass(frozen=True, slots=True)
class _Listed:
    """The lines of a list: `gaps[i]` are the comments and blank lines above `items[i]`, in which
    the value stands at `spans[i]`."""

    start: int
    indent: str
    gaps: tuple[str, ...]
    items: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    rest: str

    def rewritten(self, wanted: Items, eol: str) -> str:
        """The lines of the new list. Comments stay, also those of items that go."""
        kept = {item.index for item in wanted if isinstance(item, Keep)}
        lines: list[str] = []
        told = 0
        for item in wanted:
            if isinstance(item, Keep):
                lines += self._comments(told, item.index, kept)
                lines += [self.gaps[item.index], self._kept(item, eol)]
                told = max(told, item.index + 1)
            else:
                lines.append(f"{self.indent}- {render(item)}{eol}")
        lines += self._comments(told, len(self.gaps), kept)
        return "".join(lines) + self.rest

    def _kept(self, item: Keep, eol: str) -> str:
        line = self.items[item.index]
        if item.text is None:
            return line
        start, end = self.spans[item.index]
        single = 0 < start < end <= len(line.rstrip()) and not _LINE_BREAK.search(line.rstrip())
        if single:
            return f"{line[:start]}{render(item.text)}{line[end:]}"
        return f"{self.indent}- {render(item.text)}{eol}"

    def _comments(self, start: int, end: int, kept: set[int]) -> list[str]:
        gone = [self.gaps[index] for index in range(start, end) if index not in kept]
        return [gap for gap in gone if gap.strip()]


def patched_flow(block: str, changes: Mapping[str, Change]) -> str:
    """A block that is one `{…}`, changed in place. Raises yaml.YAMLError when that broke it."""
    for key, wanted in changes.items():
        source = Properties(block)
        change = _resolved(wanted, source.values.get(key))
        assert source.root is not None
        pairs = list(source.pairs())
        names = [name for name, _, _ in pairs]
        if key not in names:
            at = pairs[-1][2].end_mark.index if pairs else source.root.start_mark.index + 1
            comma = ", " if pairs else ""
            edit = (at, at, f"{comma}{key}: {render_flow(change)}")
        elif change is not None:
            _, node, value = pairs[names.index(key)]
            edit = (node.end_mark.index, value.end_mark.index, f": {render_flow(change)}")
        else:
            index = names.index(key)
            start, end = pairs[index][1].start_mark.index, pairs[index][2].end_mark.index
            if index + 1 < len(pairs):
                end = pairs[index + 1][1].start_mark.index
            elif index:
                start = pairs[index - 1][2].end_mark.index
            edit = (start, end, "")
        block = _applied(block, [edit])
    return block


def _resolved(change: Change, old: Value) -> Settable:
    """The change with kept items as text; those that are none are left out."""
    if change is None or isinstance(change, str | bool | int | float):
        return change
    held = old if isinstance(old, list) else [old]
    items = (item if isinstance(item, str) else item.text or held[item.index] for item in change)
    return [item for item in items if isinstance(item, str)]


def _reused(items: Items, old: Sequence[Value]) -> list[str | Keep]:
    """The new list with every item that the old one has, each used once, taken from there."""
    claimed = {item.index for item in items if isinstance(item, Keep)}
    free = [index for index in range(len(old)) if index not in claimed]
    taken: list[str | Keep] = []
    for item in items:
        same = next((i for i in free if isinstance(item, str) and old[i] == item), None)
        if same is None:
            taken.append(item)
        else:
            free.remove(same)
            taken.append(Keep(same))
    return taken


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _applied(text: str, edits: Sequence[_Edit]) -> str:
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:start] + new + text[end:]
    return text
