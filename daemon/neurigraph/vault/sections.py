"""The sections of a note: `## Summary`, `## Decisions`, `## Open questions` and a person's own."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.vault.frontmatter import dominant_break, read_note
from neurigraph.vault.markdown import outline, printable, unix
from neurigraph.vault.patch import writable

OWN_SECTIONS = ("Summary", "Decisions", "Open questions")
"""The sections that we write, in their order."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it, up to the next heading of its level or above.

    `text` is without the blank lines around it. body[start:end] is the whole section, heading
    and trailing blank lines included.
    """

    heading: str
    level: int
    text: str
    start: int
    end: int


def sections(body: str) -> list[Section]:
    """Every section of a note, in order; those of lower level lie inside of those above."""
    found = outline(body).headings
    result = []
    open_ends: dict[int, int] = {}
    # from the last to the first, so that the next heading of a level or above is known
    for heading in reversed(found):
        end = min(
            (at for level, at in open_ends.items() if level <= heading.level), default=len(body)
        )
        open_ends[heading.level] = heading.start
        text = _without_blank_ends(body[heading.end : end])
        result.append(Section(heading.text, heading.level, text, heading.start, end))
    result.reverse()
    return result


def section_text(body: str, heading: str) -> str:
    """What a note says under `## heading`; empty when it has no such section."""
    section = _find(body, heading)
    return section.text if section else ""


def without_sections(body: str, own: Collection[str] = OWN_SECTIONS) -> str:
    """The body without these `##` sections: what a person added, blank lines at its ends off."""
    kept, at = [], 0
    names = {name.casefold() for name in own}
    for section in sections(body):
        if section.level == 2 and section.heading.casefold() in names and section.start >= at:
            kept.append(body[at : section.start])
            at = section.end
    kept.append(body[at:])
    return _without_blank_ends("".join(kept))


def set_section(raw: bytes, heading: str, text: str | None) -> bytes:
    """The note with this text under `## heading`; None removes the section.

    Only the lines of that section change. Headings in the text are demoted to level 3 or below
    and a code fence left open in it is closed, so that it cannot swallow what follows; what no
    UTF-8 file can hold becomes U+FFFD. A section
    that is not there is made: `Summary` in front of the first `##` section, `Decisions` behind
    it, then `Open questions`. Raises NotWritable and InvalidInput.
    """
    heading = heading.strip()
    if not heading or "\n" in heading or "\r" in heading or heading.startswith("#"):
        raise InvalidInput("heading", "must be one line of text")
    note = writable(raw)
    body, eol = note.body, dominant_break(raw)
    section = _find(body, heading)
    if text is None:
        if section is None:
            return raw
        new = body[: section.start] + body[section.end :]
    else:
        wanted = contained(text)
        if section is not None and unix_lines(section.text) == wanted:
            return raw
        written = wanted.replace("\n", eol)
        if section is not None:
            new = _filled(body, section, written, eol)
        elif not wanted:
            return raw
        else:
            new = _with_new(body, heading, written, eol)
        back = _find(new, heading)
        if back is None or unix_lines(back.text) != wanted:
            raise NotWritable("", f"its text leaves no place for a section '{heading}'")
    changed = _with_body(raw, body, new, eol)
    if read_note(changed).data != note.data:
        raise NotWritable("", f"without '{heading}' its text would be taken for properties")
    return changed


def contained(text: str) -> str:
    """The text as it may stand in a section: no heading above level 3, no fence left open, no
    character that a note cannot hold."""
    lines = unix_lines(printable(text))
    found = outline(lines)
    for heading in reversed(found.headings):
        if heading.level < 3:
            at = lines.index("#", heading.start)
            lines = lines[:at] + "#" * (3 - heading.level) + lines[at:]
    return f"{lines}\n{found.open_fence}" if found.open_fence else lines


def unix_lines(text: str) -> str:
    """The text with line feeds alone and no blank lines at its ends."""
    return _without_blank_ends(text.replace("\r\n", "\n").replace("\r", "\n"))


def _find(body: str, heading: str) -> Section | None:
    name = heading.casefold()
    for section in sections(body):
        if section.level == 2 and section.heading.casefold() == name:
            return section
    return None


def _filled(body: str, section: Section, written: str, eol: str) -> str:
    """The body with new text in a section; the blank lines around it stay."""
    whole = body[section.start : section.end]
    line = re.match(r"[^\r\n]*(?:\r\n|\n|\r)?", whole)
    head = line[0] if line else ""
    rest = whole[len(head) :]
    core = _without_blank_ends(rest)
    if core:
        at = rest.index(core)
        before, after = rest[:at], rest[at + len(core) :]
    elif section.end < len(body):
        before, after = "", eol + (rest or eol)
    else:
        before, after = "", rest or eol
    if not written:
        before, after = "", after.lstrip("\r\n") or (eol if section.end < len(body) else "")
    if not head.endswith(("\n", "\r")):
        head += eol
    return body[: section.start] + head + before + written + after + body[section.end :]


def _with_new(body: str, heading: str, written: str, eol: str) -> str:
    """The body with a section that was not there, at its place in the usual order."""
    at = _place(body, heading)
    before, after = body[:at], body[at:]
    if not after and (fence := outline(body).open_fence):
        # an open fence runs to the end of a note; closing it there changes nothing but the room
        before += ("" if before.endswith(("\n", "\r")) else eol) + fence + eol
    if before.strip():
        breaks = len(unix(before)) - len(unix(before).rstrip(" \t\n"))
        ends = unix(before)[len(before) - breaks :].count("\n")
        before += eol * max(0, 2 - ends)
    return f"{before}## {heading}{eol}{written}{eol}{eol if after else ''}{after}"


def _place(body: str, heading: str) -> int:
    """Behind the nearest section of ours that comes before it, else before the first `##`
    section (a title at the top stays on top), else at the end."""
    found = sections(body)
    names = [name.casefold() for name in OWN_SECTIONS]
    if heading.casefold() in names:
        for name in reversed(names[: names.index(heading.casefold())]):
            for section in found:
                if section.level == 2 and section.heading.casefold() == name:
                    return section.end
        titled = found and found[0].level == 1 and not body[: found[0].start].strip()
        for section in found[1:] if titled else found:
            if section.level <= 2:
                return section.start
    return len(body)


def _without_blank_ends(text: str) -> str:
    return re.sub(r"\A(?:[ \t]*(?:\r\n|\n|\r))+", "", text).rstrip()


def _with_body(raw: bytes, old: str, new: str, eol: str) -> bytes:
    head = raw[: len(raw) - len(old.encode("utf-8"))]
    if new and head.rstrip(b" \t").endswith(b"-"):  # the closing fence is the last line
        head += eol.encode()
    return head + new.encode("utf-8")
