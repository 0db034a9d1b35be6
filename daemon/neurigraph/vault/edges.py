"""Edges in frontmatter: properties whose values are wikilinks, their key the relationship."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.model import Value
from neurigraph.vault.frontmatter import decode, find_head, read_note
from neurigraph.vault.links import Link, edge_alias, parse_link, with_targets
from neurigraph.vault.patch import change_keys, reads_as, replace_block, writable
from neurigraph.vault.property_lines import Keep
from neurigraph.vault.yaml_scalars import quoted
from neurigraph.vault.yaml_text import Properties

OWN_KEYS = frozenset(
    {
        "type",
        "id",
        "title",
        "description",
        "color",
        "created",
        "source_model",
        "source_id",
        "keywords",
        "temperature",
        "last_accessed",
        "access_count",
        "pinned",
        "private",
        "token_count",
        "transcript",
        "transcript_sha256",
        "artifacts",
        "summary_source",
        "previous_part",
        "next_part",
    }
)
"""The properties that we write. A link in one of them is no edge."""

NOT_EDGES = OWN_KEYS | {"tags", "tag", "aliases", "alias", "cssclasses", "cssclass"}


@dataclass(frozen=True, slots=True)
class RawEdge:
    """An edge as a note says it: the target is not resolved, a missing weight is None."""

    relationship: str
    link: Link
    weight: float | None


def edges_of(data: Mapping[str, Value]) -> list[RawEdge]:
    """The edges that a note's properties say, in order. Links into `_recall` are none."""
    edges = []
    for key, value in data.items():
        if key.lower() in NOT_EDGES:
            continue
        for item in value if isinstance(value, list) else [value]:
            link = parse_link(item) if isinstance(item, str) else None
            if link is None or link.embed or not link.target or _is_recall(link.target):
                continue
            edges.append(RawEdge(key, link, edge_alias(link.alias)[1]))
    return edges


def set_edge(
    raw: bytes, relationship: str, target_matches: Callable[[str], bool], value: str | None
) -> bytes:
    """The note with one edge added, replaced or (None) removed; other lines stay.

    Of several items whose target matches, the first takes the value and the others go. A list
    that becomes empty goes with its key. Raises NotWritable and InvalidInput.
    """
    if relationship.lower() in NOT_EDGES:
        raise InvalidInput("relationship", f"'{relationship}' has a meaning of its own")
    if value is not None and parse_link(value) is None:
        raise InvalidInput("value", "an edge is one wikilink")
    old = writable(raw).data.get(relationship)
    if isinstance(old, dict):
        raise NotWritable("", f"its property '{relationship}' is a map, not a list of links")
    held = old if isinstance(old, list) else ([] if old is None else [old])
    items: list[str | Keep] = []
    placed = value is None
    for index, item in enumerate(held):
        link = parse_link(item) if isinstance(item, str) else None
        if link is None or not target_matches(link.target):
            items.append(Keep(index))
        elif not placed and value is not None:
            items.append(Keep(index) if item == value else Keep(index, value))
            placed = True
    if not placed and value is not None:
        items.append(value)
    if items == [Keep(index) for index in range(len(held))]:
        return raw
    if not items:
        return change_keys(raw, {relationship: None})
    if isinstance(old, str) and len(items) == 1:
        return change_keys(raw, {relationship: value})
    return change_keys(raw, {relationship: items})


def replace_links(raw: bytes, new_target: Callable[[str], str | None]) -> bytes:
    """The note with the targets of its links replaced, in properties and text, nothing else.

    `new_target` is asked with each target as written and answers the new one or None. Raises
    NotWritable when there is something to replace in a note that must not be written to.
    """
    if b"[[" not in raw and b"](" not in raw:
        return raw
    note = read_note(raw)
    text, _ = decode(raw)
    if not note.writable:
        if with_targets(text, new_target) != text:
            raise NotWritable("", note.problem or "it cannot be read for certain")
        return raw
    body = with_targets(note.body, new_target)
    changed = raw
    if body != note.body:
        changed = raw[: len(raw) - len(note.body.encode("utf-8"))] + body.encode("utf-8")
    head = find_head(text) if note.body_start else None
    if head is None:
        return changed
    block = text[head.start : head.end]
    renamed = _renamed(block, new_target)
    return changed if renamed == block else replace_block(changed, renamed)


def _renamed(block: str, new_target: Callable[[str], str | None]) -> str:
    """The frontmatter block with the targets in its values replaced and everything else kept."""
    if "[[" not in block and "](" not in block:
        return block
    properties = Properties(block)
    expected = {key: _mapped(value, new_target) for key, value in properties.values.items()}
    if expected == properties.values:
        return block
    for keep_quoting in (True, False):
        edits: dict[int, tuple[int, str]] = {}
        for _, _, value in properties.pairs():
            _collect(properties, value, new_target, keep_quoting, edits)
        new = block
        for start in sorted(edits, reverse=True):
            end, text = edits[start]
            new = new[:start] + text + new[end:]
        if reads_as(new, expected):
            return new
    raise NotWritable("", "a link in its properties cannot be changed safely")


def _mapped(value: Value, new_target: Callable[[str], str | None]) -> Value:
    if isinstance(value, str):
        return with_targets(value, new_target)
    if isinstance(value, list):
        return [_mapped(item, new_target) for item in value]
    if isinstance(value, dict):
        return {key: _mapped(item, new_target) for key, item in value.items()}
    return None


def _collect(
    properties: Properties,
    node: Node,
    new_target: Callable[[str], str | None],
    keep_quoting: bool,
    edits: dict[int, tuple[int, str]],
) -> None:
    link = properties.wikilink(node)
    if link is None and not isinstance(node, ScalarNode):
        if isinstance(node, MappingNode):
            for _, value in node.value:
                _collect(properties, value, new_target, keep_quoting, edits)
        elif isinstance(node, SequenceNode):
            for item in node.value:
                _collect(properties, item, new_target, keep_quoting, edits)
        return
    old = properties.value_of(node)
    new = _mapped(old, new_target)
    if old == new or not isinstance(new, str):
        return
    start, end = node.start_mark.index, node.end_mark.index
    source = properties.text[start:end]
    style = node.style or "" if isinstance(node, ScalarNode) else ""
    if style == "'":
        written = with_targets(source, lambda target: _in_single_quotes(target, new_target))
    else:
        written = with_targets(source, new_target)
    escaped = style == '"' and ("\\" in written or '"' in new)
    if style not in ("|", ">") and (escaped or not keep_quoting):
        written = quoted(new)
    edits[start] = (end, written)


def _in_single_quotes(target: str, new_target: Callable[[str], str | None]) -> str | None:
    """What a target becomes where a single quote is written twice."""
    new = new_target(target.replace("''", "'"))
    return None if new is None else new.replace("'", "''")


def _is_recall(target: str) -> bool:
    return target.removeprefix("./").startswith("_recall/")
