"""Merges two versions of a note, so that neither machine's edit is lost. Pure but for the text
merge, which is git's own and handed in.

Properties merge one by one, by rules of their own; the body as text. What truly conflicts takes
the other machine's words, and ours are said to be set aside: the caller keeps them beside.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from neurigraph.edits.compose import is_generated
from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.sync.merge_head import merged_head
from neurigraph.sync.merge_values import TargetKey, choose, plain_target
from neurigraph.vault.note import (
    Note,
    body_bytes,
    read_note,
    section_text,
    set_keys,
    set_section,
    text,
)

Favour = Literal["", "ours", "theirs"]
TextMerge = Callable[[bytes, bytes, bytes, Favour], tuple[bytes, bool]]
"""Merges base, ours and theirs as lines of text, and says whether that was possible without
conflict. With a side to favour, conflicts take its lines; then False means: no text."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged file. With `conflict` some of our words are not in it: keep our version beside."""

    data: bytes
    conflict: bool = False


def merge_note(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    merge_text: TextMerge,
    target_key: TargetKey = plain_target,
) -> Merged:
    """Merge two versions of a note that both began as `base` (empty when both made it anew)."""
    if ours in (theirs, base):
        return Merged(theirs)
    if theirs == base:
        return Merged(ours)
    sides = _Sides(base, ours, theirs)
    plain = sides.without_form()
    if plain is not None:
        merged = merge_note(plain.base, plain.ours, plain.theirs, merge_text, target_key)
        return Merged(sides.with_form(merged.data), merged.conflict)
    notes = [read_note(side) for side in (base, ours, theirs)]
    if all(note.writable for note in notes):
        merged_or_none = _by_parts(notes, merge_text, target_key)
        if merged_or_none is not None:
            return merged_or_none
    return merge_lines(base, ours, theirs, merge_text, _healthy)


def merge_lines(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    merge_text: TextMerge,
    accept: Callable[[bytes, bytes, bytes], bool] = lambda made, ours, theirs: True,
) -> Merged:
    """Merge a file as lines of text; `accept` may refuse what came out, given both versions."""
    if ours in (theirs, base):
        return Merged(theirs)
    if theirs == base:
        return Merged(ours)
    made, clean = merge_text(base, ours, theirs, "")
    if clean and accept(made, ours, theirs):
        return Merged(made)
    if not clean:
        whole = [
            side
            for favour, lost in _FAVOURS
            if (side := _favouring(base, ours, theirs, merge_text, favour)) is not None
            and not _lost_lines(base, ours if lost == "ours" else theirs, side)
            and accept(side, ours, theirs)
        ]
        if whole:
            return Merged(max(whole, key=lambda side: (len(side), side)))
        side = _favouring(base, ours, theirs, merge_text, "theirs")
        if side is not None and accept(side, ours, theirs):
            return Merged(side, conflict=True)
    return Merged(theirs, conflict=True)


_FAVOURS: tuple[tuple[Favour, str], ...] = (("theirs", "ours"), ("ours", "theirs"))


def _favouring(
    base: bytes, ours: bytes, theirs: bytes, merge_text: TextMerge, favour: Favour
) -> bytes | None:
    made, is_text = merge_text(base, ours, theirs, favour)
    return made if is_text else None


def without_id(raw: bytes) -> bytes:
    """A version that lies beside its note: the same bytes without the line of the id."""
    try:
        return set_keys(raw, {"id": None})
    except (NotWritable, InvalidInput):
        return raw


def _healthy(made: bytes, ours: bytes, theirs: bytes) -> bool:
    """A merge as text must not damage properties that could be read before."""
    if not (read_note(ours).writable and read_note(theirs).writable):
        return True
    return read_note(made).writable


def _lost_lines(base: bytes, side: bytes, made: bytes) -> bool:
    """Whether a line that this side added is not in what was made."""
    kept = _lines(made)
    added = _lines(side) - _lines(base)
    return any(count > kept[line] for line, count in added.items())


def _lines(data: bytes) -> Counter[bytes]:
    return Counter(line for raw in data.splitlines() if (line := raw.strip()))


# -- part by part


def _by_parts(notes: list[Note], merge_text: TextMerge, target_key: TargetKey) -> Merged | None:
    """Properties by key, the summary as a whole, the rest as text. None when that is unsafe."""
    base, ours, theirs = _with_one_summary(notes)
    chosen = choose(base.data, ours.data, theirs.data, target_key)
    heads = [_head(note) for note in (base, ours, theirs)]
    if heads[1] == heads[2] or heads[1] == heads[0]:
        head: bytes | None = heads[2]
    elif heads[2] == heads[0]:
        head = heads[1]
    else:
        head = merged_head(heads[0], heads[1], heads[2], chosen)
    if head is None:
        return None
    bodies = [body_bytes(note) if note.body_start else note.raw for note in (base, ours, theirs)]
    body = merge_lines(bodies[0], bodies[1], bodies[2], merge_text)
    if head and body.data and not head.endswith((b"\n", b"\r")):
        head += b"\n"
    made = head + body.data
    note = read_note(made)
    same_body = (body_bytes(note) if note.body_start else note.raw) == body.data
    if not note.writable or not same_body or dict(note.data) != dict(read_note(head).data):
        return None
    return Merged(made, body.conflict or bool(chosen.conflicts))


def _head(note: Note) -> bytes:
    if note.body_start == 0:
        return b""
    return note.raw[: len(note.raw) - len(body_bytes(note))]


def _with_one_summary(notes: list[Note]) -> list[Note]:
    """The three versions with one summary where a generated one would conflict with another.

    A person's words stand over generated ones; of two generated ones the longer is taken.
    """
    texts = [section_text(note.body, "Summary") for note in notes]
    sources = [text(note.data.get("summary_source")) for note in notes]
    if texts[1] == texts[2] or texts[0] in (texts[1], texts[2]):
        return notes
    made = [is_generated(source, words) for source, words in zip(sources, texts, strict=True)]
    if not (made[1] or made[2]):
        return notes
    if made[1] and made[2]:
        first = (len(texts[1]), texts[1]) > (len(texts[2]), texts[2])
    else:
        first = not made[1]
    winner = 1 if first else 2
    if not texts[winner]:
        return notes
    try:
        result = []
        for note in notes:
            raw = set_section(note.raw, "Summary", texts[winner])
            result.append(read_note(set_keys(raw, {"summary_source": sources[winner] or None})))
    except (NotWritable, InvalidInput):
        return notes
    return result if all(note.writable for note in result) else notes


# -- byte order mark and line ends


@dataclass(frozen=True, slots=True)
class _Sides:
    """The three versions as bytes."""

    base: bytes
    ours: bytes
    theirs: bytes

    def without_form(self) -> _Sides | None:
        """The three without BOM and with line feeds, when they differ in that; else None."""
        given = (self.base, self.ours, self.theirs) if self.base else (self.ours, self.theirs)
        if len({self._form(side) for side in given}) == 1:
            return None
        if any(not _uniform(side) for side in (self.base, self.ours, self.theirs)):
            return None
        plain = [_plain(side) for side in (self.base, self.ours, self.theirs)]
        return _Sides(*plain)

    def with_form(self, data: bytes) -> bytes:
        """The merged bytes with the BOM and the line ends that the sides agree on."""
        base, ours, theirs = (self._form(s) for s in (self.base, self.ours, self.theirs))
        bom = ours[0] if theirs[0] == base[0] and self.base else theirs[0]
        pairs = ours[1] if theirs[1] == base[1] and self.base else theirs[1]
        data = data.replace(b"\n", b"\r\n") if pairs else data
        return codecs.BOM_UTF8 + data if bom else data

    @staticmethod
    def _form(side: bytes) -> tuple[bool, bool]:
        return side.startswith(codecs.BOM_UTF8), b"\r\n" in side


def _uniform(side: bytes) -> bool:
    pairs = side.count(b"\r\n")
    return side.count(b"\r") == pairs and pairs in (0, side.count(b"\n"))


def _plain(side: bytes) -> bytes:
    return side.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
