"""The lines of a note's properties, merged: each property's own lines move as they are written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import yaml

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.sync.merge_values import Chosen
from neurigraph.vault.frontmatter import Head, decode, find_head
from neurigraph.vault.note import read_note, set_keys
from neurigraph.vault.property_lines import PropertyLines
from neurigraph.vault.yaml_text import NotAMapping, Properties


@dataclass(frozen=True, slots=True)
class Block:
    """The lines between a note's fences: `lines` of each property, and the comments `below` it;
    those above all of them are below the empty name."""

    lines: dict[str, str]
    below: dict[str, str]


def block_of(text: str) -> Block | None:
    """The properties' lines, taken apart; None for a block that is not made of whole lines."""
    if not text.strip():
        return Block({}, {"": text})
    try:
        properties = Properties(text)
    except (yaml.YAMLError, NotAMapping):
        return None
    if properties.root is None or properties.root.flow_style or properties.duplicates:
        return Block({}, {"": text}) if properties.root is None else None
    spans = PropertyLines(properties, "\n", "nothing", True).spans()
    lines: dict[str, str] = {}
    below = {"": text[: spans[0][1]]}
    at = spans[0][1]
    for index, (key, start, end) in enumerate(spans):
        limit = spans[index + 1][1] if index + 1 < len(spans) else len(text)
        if start < at or not start < end <= limit:
            return None
        lines[key], below[key] = text[start:end], text[end:limit]
        at = end
    return Block(lines, below)


def merged_head(base: bytes, ours: bytes, theirs: bytes, chosen: Chosen) -> bytes | None:
    """The head of a note (all above its body) with the chosen properties, or None.

    The three are heads; theirs is the frame into which our lines are put. None when no way of
    writing it reads back as chosen or a comment would be lost.
    """
    wanted = chosen.values(read_note(ours).data, read_note(theirs).data)
    frame = theirs if _inner(theirs) is not None else ours
    for attempt in (_by_lines, _by_values):
        made = attempt(base, ours, theirs, frame, chosen)
        if made is None:
            continue
        note = read_note(made)
        exact = note.writable and dict(note.data) == wanted and not note.body
        if exact and not any(_lost_comments(base, side, made) for side in (ours, theirs)):
            return made
    return None


def _inner(head: bytes) -> tuple[str, Head] | None:
    text, _ = decode(head)
    found = find_head(text)
    return (text, found) if found else None


def _block_text(head: bytes) -> str:
    inner = _inner(head)
    return inner[0][inner[1].start : inner[1].end] if inner else ""


def _by_lines(
    base: bytes, ours: bytes, theirs: bytes, frame: bytes, chosen: Chosen
) -> bytes | None:
    before, mine, other = (block_of(_block_text(h)) for h in (base, ours, theirs))
    inner = _inner(frame)
    if before is None or mine is None or other is None or inner is None:
        return None
    values, others = read_note(ours).data, read_note(theirs).data
    same = {k for k, v in values.items() if k in others and others[k] == v}
    keys = _order([k for k in other.lines if k not in chosen.gone], mine, chosen)
    pieces = [_gap("", before, mine, other)]
    for key in keys:
        pieces += [
            _lines_of(key, before, mine, other, chosen, same),
            _gap(key, before, mine, other),
        ]
    for key in dict.fromkeys((*other.lines, *mine.lines)):
        if key not in keys and (gap := _gap(key, before, mine, other)).strip():
            # comments outlive the property that they stood below
            pieces.append(gap)
    text, head = inner
    ended = "".join(_ended(piece) for piece in pieces)
    made = (text[: head.start] + ended + text[head.end :]).encode("utf-8")
    try:
        return set_keys(made, dict(chosen.new))
    except (NotWritable, InvalidInput):
        return None


def _lines_of(
    key: str, before: Block, mine: Block, other: Block, chosen: Chosen, same: set[str]
) -> str:
    if key in chosen.ours or key not in other.lines:
        return mine.lines[key]
    if key in same and other.lines[key] == before.lines.get(key):
        return mine.lines[key]  # the same value, which we wrote in another way
    return other.lines[key]


def _order(keys: list[str], mine: Block, chosen: Chosen) -> list[str]:
    """Their keys in their order, and each of our new ones behind the one that it stood behind."""
    previous = ""
    for key in mine.lines:
        wanted = key in chosen.ours or key in chosen.new
        if wanted and key not in keys:
            keys.insert(keys.index(previous) + 1 if previous in keys else len(keys), key)
        previous = key
    return keys


def _gap(key: str, before: Block, mine: Block, other: Block) -> str:
    """What stands below a property: blank lines and comments of both sides."""
    old, left, right = (b.below.get(key, "") for b in (before, mine, other))
    if left in (right, old):
        return right
    if right == old:
        return left
    known = Counter(right.splitlines())
    missing = [line for line in left.splitlines(keepends=True) if not known[line.rstrip("\r\n")]]
    return _ended(right) + "".join(missing)


def _ended(piece: str) -> str:
    return piece if not piece or piece.endswith(("\n", "\r")) else piece + "\n"


def _by_values(
    base: bytes, ours: bytes, theirs: bytes, frame: bytes, chosen: Chosen
) -> bytes | None:
    """The frame with each value that differs set anew; for blocks that are one `{…}`."""
    wanted = chosen.values(read_note(ours).data, read_note(theirs).data)
    held = read_note(frame).data
    changes: dict[str, str | list[str] | None] = {k: None for k in held if k not in wanted}
    for key, value in wanted.items():
        if key in held and held[key] == value:
            continue
        if isinstance(value, str):
            changes[key] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            changes[key] = [item for item in value if isinstance(item, str)]
        else:
            return None
    try:
        return set_keys(frame, changes)
    except (NotWritable, InvalidInput):
        return None


def _lost_comments(base: bytes, side: bytes, made: bytes) -> bool:
    """Whether a comment line that this side added is not in what was made."""
    added = _comments(side) - _comments(base)
    return bool(added - _comments(made))


def _comments(head: bytes) -> Counter[str]:
    lines = (line.strip() for line in _block_text(head).splitlines())
    return Counter(line for line in lines if line.startswith("#"))
