"""Writes the transcript of a conversation as markdown, turn by turn.

What is written for a message never depends on what follows it, so the transcript of a longer
version of a conversation begins with the whole transcript of the shorter one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from neurigraph.clock import to_note_date
from neurigraph.importers.fields import clean, plain_json
from neurigraph.vault.turns import role_of

USER, ASSISTANT = "User", "Assistant"

_BACKTICKS = re.compile(r"`{3,}")
# as the turn splitter sees fences: however far indented or quoted
_FENCE = re.compile(r"^([ \t>]*)(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_HEADING = re.compile(r"^##[ \t]+(\S[^\n]{0,200})$", re.MULTILINE)
_OTHERS = frozenset({"system", "tool", "developer", "function", "narrator"})
_WORD = re.compile(r"[\w.+-]{1,40}")


class Transcript:
    """A transcript that grows by turns; `tool_text` bounds what is kept of a tool's answer, in
    characters."""

    def __init__(self, tool_text: int = 20_000) -> None:
        self._pieces: list[str] = []
        self._speaker = ""
        self._pending: list[str] = []
        self._dotted: bool | None = None
        self._tool_text = tool_text

    def turn(self, speaker: str, when: datetime | None = None, model: str = "") -> None:
        """Begin a turn; its heading is written once it says something.

        Messages of the assistant that follow one another are one turn, and what tools answer
        belongs to it; each message of a person is its own.
        """
        if speaker == self._speaker and speaker != USER:
            self._pending = []
            return
        parts = [speaker, model, to_note_date(when) if when else ""]
        self._pending = [part for part in parts if part]

    def say(self, text: str) -> None:
        """Add text that is seen: markdown as it came, with a fence left open closed and a heading
        that would read as the beginning of a turn escaped."""
        text = closed(clean(text)).strip("\n")
        if not text.strip():
            return
        self._begin()
        if "## " in text:
            text = _HEADING.sub(self._escaped, text)
        self._add(text)

    def code(self, text: str, language: str = "") -> None:
        """Add code that is seen."""
        if text.strip():
            self._add(fenced(clean(text), language))

    def fold(self, kind: str, title: str, body: str) -> None:
        """Add markdown that is folded away: a callout that Obsidian shows closed."""
        body = closed(clean(body)).strip("\n")
        if not body.strip():
            return
        one_line = " ".join(clean(title).split())[:120]
        quoted = "\n".join(f"> {line}" if line else ">" for line in body.split("\n"))
        self._add(f"> [!{kind}]- {one_line}\n{quoted}")

    def thinking(self, text: str) -> None:
        """Add what a model thought, folded."""
        self.fold("note", "Thinking", text)

    def call(self, tool: str, arguments: object) -> None:
        """Add that a tool was used and with what, folded. Code and long text stay readable."""
        self.fold("example", f"Tool: {tool or 'unnamed'}", _arguments(arguments) or "*no input*")

    def result(self, text: str, title: str = "Result") -> None:
        """Add what a tool answered, folded and bounded."""
        text = clean(text).strip("\n")
        if not text.strip():
            return
        if (over := len(text) - self._tool_text) > 0:
            head, tail = self._tool_text * 3 // 4, self._tool_text // 4
            text = f"{text[:head]}\n[… {over} characters left out …]\n{text[-tail:]}"
        self.fold("quote", title, fenced(text))

    def attached(self, name: str, kind: str = "Attachment") -> None:
        """Add a line that names a file."""
        name = " ".join(clean(name).split())
        self._add(f"*{kind}: {name}*")

    def text(self) -> str:
        """All that was said; empty when nothing was."""
        return "\n\n".join(self._pieces) + "\n" if self._pieces else ""

    def _escaped(self, match: re.Match[str]) -> str:
        parts = [part.strip() for part in match.group(1).rstrip(" \t#").split(" · ")]
        speaker = parts[0].strip("*_: \t")
        if len(parts) == 1 and self._dotted:
            return match.group()
        timed = len(parts) > 1 and any(c.isdigit() for c in parts[-1])
        opens = timed or role_of(speaker) != "other" or speaker.casefold() in _OTHERS
        return f"\\{match.group()}" if opens else match.group()

    def _add(self, piece: str) -> None:
        self._begin()
        self._pieces.append(piece)

    def _begin(self) -> None:
        """Write the heading that waits. Turns are known by the form of the first heading: where
        that has a time or a model, one that has neither gets a dash."""
        parts, self._pending = self._pending, []
        if not parts:
            return
        if self._dotted is None:
            self._dotted = len(parts) > 1
        if self._dotted and len(parts) == 1:
            parts.append("–")
        self._speaker = parts[0]
        self._pieces.append("## " + " · ".join(parts))


def fenced(text: str, language: str = "") -> str:
    """Code in a fence that nothing inside it can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    ticks = "`" * max(3, longest + 1)
    word = language if _WORD.fullmatch(language) else ""
    return f"{ticks}{word}\n{text.strip(chr(10))}\n{ticks}"


def closed(text: str) -> str:
    """Close a fence that is left open, so that it does not swallow the turns that follow."""
    if "```" not in text and "~~~" not in text:
        return text
    before = opened = ""
    for match in _FENCE.finditer(text):
        prefix, mark, rest = match.groups()
        if not opened:
            if mark[0] == "~" or "`" not in rest:
                before, opened = prefix, mark
        elif mark[0] == opened[0] and len(mark) >= len(opened) and not rest.strip():
            opened = ""
    return f"{text.rstrip(chr(10))}\n{before}{opened}" if opened else text


def _arguments(value: object) -> str:
    if isinstance(value, str):
        return fenced(value) if value.strip() else ""
    if not isinstance(value, dict):
        return fenced(plain_json(value), "json") if value not in (None, []) else ""
    short: dict[str, Any] = {}
    long: dict[str, str] = {}
    for name, argument in value.items():
        if isinstance(argument, str) and ("\n" in argument or len(argument) > 200):
            long[str(name)] = argument
        else:
            short[str(name)] = argument
    pieces = [fenced(plain_json(short), "json")] if short else []
    pieces += [f"{name}:\n{fenced(clean(text))}" for name, text in long.items()]
    return "\n\n".join(pieces)


_STAMP = re.compile(
    r"^## (?:User|Assistant)\b[^\n]*?( · \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)$", re.MULTILINE
)


def timeless(transcript: str) -> str:
    """The transcript without the times in its headings, which are local: the same conversation
    imported on a machine in another time zone differs in nothing else."""
    return _STAMP.sub(lambda match: match.group()[: -len(match.group(1))], transcript)


def continued(stored: str, read: str) -> str:
    """The transcript that was read, with the stored times where it says what is stored.

    The answer is `stored` itself when nothing is new, begins with it when the conversation has
    grown, and is `read` as it is when they part ways.
    """
    known = timeless(stored)
    if known == stored or not timeless(read).startswith(known):
        return read
    cut = len(known)
    for match in _STAMP.finditer(read):
        if match.start() >= cut:
            break
        cut += len(match.group(1))
    return stored + read[cut:]


def tool_answer(value: object) -> str:
    """The text in what a tool answered, whatever its form; images and the like are named."""
    found: list[str] = []
    _collect(value, found, 0)
    return "\n".join(piece for piece in found if piece.strip())


def _collect(value: object, found: list[str], depth: int) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, list):
        for item in value:
            _collect(item, found, depth + 1)
    elif isinstance(value, Mapping) and value:
        kind = value.get("type")
        for key in ("text", "content", "output", "result", "stdout"):
            if isinstance(value.get(key), str | list) and depth < 8:
                _collect(value[key], found, depth + 1)
                return
        if kind in ("image", "input_image"):
            found.append("[image]")
        else:
            found.append(plain_json(value))
    elif value is not None:
        found.append(str(value))
