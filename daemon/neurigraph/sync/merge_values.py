"""Which value each property takes when two machines changed a note. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from neurigraph.clock import from_note_date
from neurigraph.model import Temperature, Value
from neurigraph.vault.layout import nfc
from neurigraph.vault.note import edge_alias, flag, names, parse_link, text

TargetKey = Callable[[str], str]
"""What a link's target is compared by: two spellings of one note have the same."""

Values = Mapping[str, Value]

ABSENT: Final = object()
"""Stands for a property that a note does not have, which is not the same as an empty one."""

_REPORTS = ("temperature", "last_accessed", "access_count")
_TEXT_FACTS = ("token_count", "transcript_sha256")
_SETS = frozenset({"keywords", "tags", "aliases", "tag", "alias", "cssclasses", "cssclass"})
_NO_TEXT = frozenset(
    {"color", "id", "type", "created", "transcript", "part", "summary_source", *_REPORTS}
    | {*_TEXT_FACTS, "source_model", "pinned", "private"}
)
"""Properties of which the other machine's value need not be kept: nobody wrote it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where the merged properties come from.

    `ours` are keys whose lines are taken from our version, `gone` those that are removed, `new`
    values that neither version has as they are; all else is theirs. `conflicts` are keys of which
    both versions hold another text; theirs was taken.
    """

    ours: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    new: Mapping[str, list[str]] = field(default_factory=dict)
    conflicts: frozenset[str] = frozenset()

    def values(self, ours: Values, theirs: Values) -> dict[str, Value]:
        """The merged properties."""
        merged = {k: v for k, v in theirs.items() if k not in self.gone and k not in self.ours}
        merged |= {k: ours[k] for k in ours if k in self.ours}
        for key, items in self.new.items():
            merged[key] = list(items)
        return merged


def plain_target(target: str) -> str:
    """A link's target by its own text: without `.md`, in one form and case."""
    bare = target[:-3] if target.lower().endswith(".md") else target
    return nfc(bare.strip().lstrip("/")).casefold()


def choose(
    base: Values, ours: Values, theirs: Values, target_key: TargetKey = plain_target
) -> Chosen:
    """Merge the properties of two versions, each by its own rule; `base` is what both began with.

    A property that one side alone changed takes that side's value.
    """
    special = _reports(base, ours, theirs) | _text_facts(base, ours, theirs)
    special |= _identity(base, ours, theirs)
    taken: set[str] = set()
    gone: set[str] = set()
    new: dict[str, list[str]] = {}
    conflicts: set[str] = set()
    for key in dict.fromkeys((*theirs, *ours, *base)):
        before, mine, other = (side.get(key, ABSENT) for side in (base, ours, theirs))
        if key in special:
            pick: object = mine if special[key] else other
        else:
            pick = _three_way(before, mine, other)
            if pick is None:
                pick, clash = _both(key, before, mine, other, target_key)
                if clash:
                    conflicts.add(key)
            else:
                pick = pick[0]
        if pick is ABSENT:
            gone.add(key)
        elif other is not ABSENT and pick == other:
            continue
        elif mine is not ABSENT and pick == mine:
            taken.add(key)
        elif isinstance(pick, list):
            new[key] = pick
    return Chosen(frozenset(taken), frozenset(gone), new, frozenset(conflicts))


def _three_way(before: object, mine: object, other: object) -> tuple[object] | None:
    """The value where at most one side changed it; None where both did."""
    if mine in (other, before):
        return (other,)
    if other == before:
        return (mine,)
    return None


def _both(
    key: str, before: object, mine: object, other: object, target_key: TargetKey
) -> tuple[object, bool]:
    """The value where both sides changed it, and whether text was passed over."""
    if mine is ABSENT or mine is None or mine == "":
        return other, False
    if other is ABSENT or other is None or other == "":
        return mine, False
    if key in ("pinned", "private"):
        return max(mine, other, key=lambda value: (flag(_value(value)), str(value))), False
    items = _items(key, before, mine, other, target_key)
    if items is not None:
        return items, False
    if key in _NO_TEXT:
        return max(mine, other, key=str), False
    return other, True


def _value(value: object) -> Value:
    return value if isinstance(value, str | list | dict) else None


# -- lists: keywords, tags, edges, artifacts and whatever else is one


def _items(
    key: str, before: object, mine: object, other: object, target_key: TargetKey
) -> list[str] | None:
    """The merged list, or None when these values are no lists of different texts."""

    def keyed(value: object) -> dict[str, str] | None:
        return _by_key(key, value, target_key)

    old, left, right = keyed(before) or {}, keyed(mine), keyed(other)
    if left is None or right is None:
        return None
    if not (isinstance(mine, list) or isinstance(other, list) or key in _SETS):
        links = [parse_link(item) for item in (*left.values(), *right.values())]
        if any(link is None for link in links):
            return None
    merged = []
    for name in dict.fromkeys((*right, *left)):
        picked = _one_item(old.get(name), left.get(name), right.get(name))
        if picked is not None:
            merged.append(picked)
    return merged


def _one_item(before: str | None, mine: str | None, other: str | None) -> str | None:
    if mine in (other, before):
        return other
    if other == before or other is None:
        return mine
    if mine is None:
        return other
    # the stronger edge; of two files the one that is not compressed
    return max(
        mine, other, key=lambda item: (_weight(item), not _target(item).endswith(".gz"), item)
    )


def _weight(item: str) -> float:
    link = parse_link(item)
    weight = edge_alias(link.alias)[1] if link else None
    return 1.0 if weight is None else weight


def _target(item: str) -> str:
    link = parse_link(item)
    return link.target if link else item


def _by_key(key: str, value: object, target_key: TargetKey) -> dict[str, str] | None:
    if value is ABSENT or value is None:
        return {}
    if isinstance(value, str):
        items: Sequence[object] = names(value) if key in _SETS else [value]
    elif isinstance(value, list):
        items = value
    else:
        return None
    found: dict[str, str] = {}
    for item in items:
        if not isinstance(item, str):
            return None
        name = _item_key(item, target_key)
        if name in found:
            return None
        found[name] = item
    return found


def _item_key(item: str, target_key: TargetKey) -> str:
    link = parse_link(item)
    if _target(item).startswith("_recall/"):
        return f"file {_target(item).removesuffix('.gz')}"
    if link is None or not link.target:
        return f"text {item}"
    return f"link {target_key(link.target)}#{link.heading}"


# -- properties that belong together: True takes ours, False theirs


def _changed(base: Values, side: Values, keys: Sequence[str]) -> bool:
    return any(side.get(k, ABSENT) != base.get(k, ABSENT) for k in keys)


def _reports(base: Values, ours: Values, theirs: Values) -> dict[str, bool]:
    """Hottest temperature, newest access, greatest count, once both sides have written them."""
    if not (_changed(base, ours, _REPORTS) and _changed(base, theirs, _REPORTS)):
        return {}
    mine, other = _heat(ours), _heat(theirs)
    found = {
        "temperature": mine < other,
        "last_accessed": _moment(ours) > _moment(theirs),
        "access_count": _count(ours, "access_count") > _count(theirs, "access_count"),
    }
    if mine[0] != other[0] and ours.get("transcript") != theirs.get("transcript"):
        found["transcript"] = mine < other
    return {key: mine for key, mine in found.items() if key in ours and key in theirs}


def _heat(values: Values) -> tuple[int, str]:
    word = text(values.get("temperature"))
    try:
        return Temperature(word).rank, word
    except ValueError:
        return len(Temperature), word


def _moment(values: Values) -> tuple[datetime, str]:
    word = text(values.get("last_accessed"))
    return from_note_date(word) or datetime.min.replace(tzinfo=UTC), word


def _count(values: Values, key: str) -> tuple[int, str]:
    digits = text(values.get(key))
    valid = digits.isascii() and digits.isdigit() and len(digits) < 16
    return int(digits) if valid else -1, digits


def _text_facts(base: Values, ours: Values, theirs: Values) -> dict[str, bool]:
    """What is said of a transcript stays together; the longer one's counts."""
    if not (_changed(base, ours, _TEXT_FACTS) and _changed(base, theirs, _TEXT_FACTS)):
        return {}
    mine, other = (
        (_count(v, "token_count"), text(v.get("transcript_sha256"))) for v in (ours, theirs)
    )
    return {key: mine > other for key in _TEXT_FACTS if key in ours and key in theirs}


def _identity(base: Values, ours: Values, theirs: Values) -> dict[str, bool]:
    """One topic that was made twice keeps what was made first, with its id."""
    mine, other = ours.get("id"), theirs.get("id")
    if mine == other or base.get("id") in (mine, other) or mine is None or other is None:
        return {}
    first = min((_made(ours), text(mine), True), (_made(theirs), text(other), False))[2]
    return {key: first for key in ("id", "type", "created") if key in (ours if first else theirs)}


def _made(values: Values) -> datetime:
    return from_note_date(text(values.get("created"))) or datetime.max.replace(tzinfo=UTC)
