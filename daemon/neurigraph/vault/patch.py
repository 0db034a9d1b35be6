"""Properties changed line by line: every byte that is not meant stays as it is.

A YAML library would write the whole block anew. Here the parser only tells where a value stands,
the text of its lines is replaced, and the result is read back before it counts: when it does not
say exactly what was asked for, nothing is written.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence

import yaml

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.model import Value
from neurigraph.vault.frontmatter import Note, decode, dominant_break, find_head, read_note
from neurigraph.vault.markdown import printable
from neurigraph.vault.property_lines import (
    Below,
    Change,
    Keep,
    PropertyLines,
    new_lines,
    patched_flow,
)
from neurigraph.vault.yaml_scalars import Settable, as_text, check_key
from neurigraph.vault.yaml_text import NotAMapping, Properties

# From the one that keeps the most to the one that is the most sure; nearly always the first does.
_WAYS: tuple[tuple[Below, bool], ...] = (
    ("nothing", True),
    ("nothing", False),
    ("indented", True),
    ("indented", False),
    ("all", True),
    ("all", False),
)


def set_keys(note: bytes | Note, changes: Mapping[str, Settable]) -> bytes:
    """The note with these properties set, None removing one; nothing else changes.

    Afterwards `read_note(...).data[key]` is the value: text as it is, true and false, numbers and
    the items of lists as text. A key that already has its value keeps its lines. New keys go to
    the end of the block; a note without a block gets one. Raises NotWritable (with an empty path)
    for a note that cannot be read for certain, InvalidInput for names and values that no note
    can hold.
    """
    return change_keys(note, dict(changes))


def change_keys(of: bytes | Note, changes: Mapping[str, Change]) -> bytes:
    """`set_keys` for lists that keep some of their old items."""
    note = writable(of)
    raw = note.raw
    for key in changes:
        if key not in note.data:
            check_key(key)
    expected = _expected(note.data, changes)
    pending = {key: value for key, value in changes.items() if _differs(note.data, expected, key)}
    if not pending:
        return raw
    text, _ = decode(raw)
    eol = dominant_break(raw)
    if note.body_start == 0:
        new = [line for key, value in pending.items() for line in new_lines(key, value, eol)]
        return _insert(raw, f"---{eol}{''.join(new)}---{eol}")
    head = find_head(text)
    assert head is not None  # the note has a block: its body starts after it
    block = text[head.start : head.end]
    patched = _patched(note.properties or Properties(block), pending, expected, eol)
    if patched is None:
        raise NotWritable("", "its properties are written in a way that cannot be changed safely")
    return replace_block(raw, patched)


def replace_block(raw: bytes, new: str) -> bytes:
    """The note with other lines between its fences; it must have them."""
    text, _ = decode(raw)
    head = find_head(text)
    assert head is not None
    start = len(text[: head.start].encode("utf-8"))
    start += len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    end = start + len(text[head.start : head.end].encode("utf-8"))
    return raw[:start] + new.encode("utf-8") + raw[end:]


def new_note(data: Mapping[str, Settable], body: str) -> bytes:
    """A note from nothing: these properties in this order, None left out, and the body."""
    lines = [
        line
        for key, value in data.items()
        if value is not None
        for line in new_lines(check_key(key), value, "\n")
    ]
    return f"---\n{''.join(lines)}---\n{printable(body)}".encode()


def writable(of: bytes | Note) -> Note:
    """The note, read; raises NotWritable when it must never be written to."""
    note = read_note(of) if isinstance(of, bytes) else of
    if not note.writable:
        raise NotWritable("", note.problem or "it cannot be read for certain")
    return note


def _expected(data: Mapping[str, Value], changes: Mapping[str, Change]) -> dict[str, Value]:
    expected = dict(data)
    for key, value in changes.items():
        if value is None:
            expected.pop(key, None)
        elif isinstance(value, str | bool | int | float):
            expected[key] = as_text(value)
        else:
            old = data.get(key)
            held = old if isinstance(old, list) else [old]
            expected[key] = [_item_value(item, held) for item in value]
    return expected


def _item_value(item: object, old: Sequence[Value]) -> Value:
    if isinstance(item, Keep):
        return old[item.index] if item.text is None else as_text(item.text)
    if not isinstance(item, str):
        raise InvalidInput("value", "the items of a list must be text")
    return as_text(item)


def _differs(data: Mapping[str, Value], expected: Mapping[str, Value], key: str) -> bool:
    if key not in expected:
        return key in data
    return key not in data or data[key] != expected[key]


def _insert(raw: bytes, block: str) -> bytes:
    bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    return bom + block.encode("utf-8") + raw[len(bom) :]


def _patched(
    properties: Properties, changes: Mapping[str, Change], expected: Mapping[str, Value], eol: str
) -> str | None:
    """The block with the changes made, or None when no way of making them reads back right."""
    if properties.root is not None and properties.root.flow_style:
        try:
            attempt = patched_flow(properties.text, changes)
        except (yaml.YAMLError, NotAMapping):
            return None
        return attempt if reads_as(attempt, expected) else None
    for below, at_end in _WAYS:
        attempt = PropertyLines(properties, eol, below, at_end).patched(changes)
        if reads_as(attempt, expected):
            return attempt
    return None


def reads_as(block: str, expected: Mapping[str, Value]) -> bool:
    """Whether the whole frontmatter, fences and all, says this and nothing else."""
    text = f"---\n{block}---\n"
    head = find_head(text)
    if head is None or head.body_start != len(text):
        return False
    try:
        properties = Properties(block)
    except (yaml.YAMLError, NotAMapping):
        return False
    return not properties.duplicates and properties.values == expected
