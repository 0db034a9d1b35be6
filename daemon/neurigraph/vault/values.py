"""Frontmatter values as code wants them: text, lists of text, yes or no, ours or not."""

from __future__ import annotations

from collections.abc import Mapping
from re import Pattern

from neurigraph.model import Value

_YES = frozenset({"true", "yes", "on", "y", "1"})


def flag(value: Value) -> bool:
    """Whether a checkbox is ticked; words that YAML 1.1 takes for yes count too."""
    return isinstance(value, str) and value.strip().lower() in _YES


def text(value: Value) -> str:
    """A value as one line of text; a list joined by commas, a map as nothing."""
    if isinstance(value, str):
        return value
    return ", ".join(texts(value))


def texts(value: Value) -> list[str]:
    """A value as a list of texts; a lone text is one, what is empty is left out."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str) and item]
    return []


def names(value: Value) -> list[str]:
    """Tags, aliases or keywords: a lone text is split at commas, as in Obsidian."""
    items = value.split(",") if isinstance(value, str) else texts(value)
    found = (item.strip().removeprefix("#").strip() for item in items)
    return [item for item in found if item]


def is_memory(data: Mapping[str, Value], memory_id: Pattern[str]) -> bool:
    """Whether a note is a memory of ours: both our type and an id of our pattern."""
    return data.get("type") == "memory" and _matches(data, memory_id)


def is_node(data: Mapping[str, Value], node_id: Pattern[str]) -> bool:
    """Whether a note is a node of ours: both our type and an id of our pattern."""
    return data.get("type") in ("broad", "focused") and _matches(data, node_id)


def is_owned(data: Mapping[str, Value], memory_id: Pattern[str], node_id: Pattern[str]) -> bool:
    """Whether a note is ours, as a memory or as a node."""
    return is_memory(data, memory_id) or is_node(data, node_id)


def _matches(data: Mapping[str, Value], pattern: Pattern[str]) -> bool:
    value = data.get("id")
    return isinstance(value, str) and pattern.fullmatch(value) is not None
