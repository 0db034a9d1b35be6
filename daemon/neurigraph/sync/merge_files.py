"""Merges two versions of any file of the vault, each kind by its own rule. Pure."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable

from neurigraph.errors import TooLarge
from neurigraph.sync.merge_note import Merged, TextMerge, merge_lines, merge_note
from neurigraph.sync.merge_values import TargetKey, plain_target
from neurigraph.vault.note import read_note
from neurigraph.vault.packing import Damaged, gunzip, gzip_bytes

TOMBSTONES = ".neurigraph-tombstones"

VOLATILE = frozenset({"temperature", "last_accessed", "access_count", "transcript", "artifacts"})
"""Properties that the daemon keeps by itself: a change of them is no edit."""


def merge_file(
    path: str,
    base: bytes,
    ours: bytes,
    theirs: bytes,
    merge_text: TextMerge,
    target_key: TargetKey = plain_target,
) -> Merged:
    """Merge two versions of a file; `base` is empty when both made it anew."""
    name = path.rpartition("/")[2].lower()
    if path == TOMBSTONES:
        return Merged(merge_tombstones(base, ours, theirs))
    if name.endswith(".gz"):
        return merge_gzip(base, ours, theirs, merge_text)
    if name.endswith(".md") and not path.startswith("_recall/"):
        return merge_note(base, ours, theirs, merge_text, target_key)
    check = _CHECKS.get(name.rpartition(".")[2])
    return merge_lines(base, ours, theirs, merge_text, check or _anything)


def merge_tombstones(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """The lines that either side has, without those that a side took away."""
    before, mine, other = ({*side.split(b"\n")} - {b""} for side in (base, ours, theirs))
    kept = (mine | other) - (before - mine) - (before - other)
    return b"".join(line + b"\n" for line in sorted(kept))


def merge_gzip(base: bytes, ours: bytes, theirs: bytes, merge_text: TextMerge) -> Merged:
    """Merge compressed files by what they hold; the result is compressed again."""
    try:
        inner = [gunzip(side) if side else b"" for side in (base, ours, theirs)]
    except (Damaged, TooLarge):
        return merge_lines(base, ours, theirs, merge_text)
    if inner[1] == inner[2]:
        return Merged(theirs)
    merged = merge_lines(inner[0], inner[1], inner[2], merge_text)
    if merged.data == inner[2]:
        return Merged(theirs, merged.conflict)
    return Merged(gzip_bytes(merged.data), merged.conflict)


def is_edited(base: bytes, side: bytes) -> bool:
    """Whether a person's words in a note differ, not only what the daemon keeps in it."""
    before, after = read_note(base), read_note(side)
    if not (before.writable and after.writable):
        return base != side
    if before.body != after.body:
        return True
    kept = [{k: v for k, v in n.data.items() if k not in VOLATILE} for n in (before, after)]
    return kept[0] != kept[1]


def _anything(made: bytes, ours: bytes, theirs: bytes) -> bool:
    return True


def _still(parse: Callable[[str], object]) -> Callable[[bytes, bytes, bytes], bool]:
    """Accepts what parses, when both versions did."""

    def reads(data: bytes) -> bool:
        try:
            parse(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return False
        return True

    def check(made: bytes, ours: bytes, theirs: bytes) -> bool:
        return reads(made) or not (reads(ours) and reads(theirs))

    return check


_CHECKS = {
    "toml": _still(tomllib.loads),
    "json": _still(json.loads),
    "canvas": _still(json.loads),
}
