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

USER, ASSISTANT = "User", "Assistant"

_BACKTICKS = re.compile(r"`{3,}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADER = re.compile(
    r"#{1,6} (?:user|you|human|me|assistant|ai|claude|chatgpt|gemini|system|tool)(?: · .*)?\s*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w.+-]{1,40}")


class Transcript:
    """A transcript that grows by turns; `tool_text` bounds what is kept of a tool's answer, in
    characters."""

    def __init__(self, tool_text: int = 20_000) -> None:
        self._pieces: list[str] = []
        self._speaker = ""
        self._pending = ""
        self._tool_text = tool_text
        self.turns = 0

    def turn(self, speaker: str, when: datetime | None = None, model: str = "") -> None:
        """Begin a turn; its heading is written once it says something.

        Messages of the assistant that follow one another are one turn, and what tools answer
        belongs to it; each message of a person is its own.
        """
        if speaker == self._speaker and speaker != USER:
            return
        parts = [speaker, model, to_note_date(when) if when else ""]
        self._speaker = speaker
        self._pending = "## " + " · ".join(part for part in parts if part)

    def say(self, text: str) -> None:
        """Add text that is seen: markdown as it came, with a fence left open closed and a line
        that would read as the beginning of a turn escaped."""
        text = _settled(clean(text)).strip("\n")
        if text.strip():
            self._add(text)

    def code(self, text: str, language: str = "") -> None:
        """Add code that is seen."""
        if text.strip():
            self._add(fenced(clean(text), language))

    def fold(self, kind: str, title: str, body: str) -> None:
        """Add markdown that is folded away: a callout that Obsidian shows closed."""
        body = _settled(clean(body), escape=False).strip("\n")
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

    def _add(self, piece: str) -> None:
        if self._pending:
            self._pieces.append(self._pending)
            self._pending = ""
            self.turns += 1
        self._pieces.append(piece)


def fenced(text: str, language: str = "") -> str:
    """Code in a fence that nothing inside it can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    ticks = "`" * max(3, longest + 1)
    word = language if _WORD.fullmatch(language) else ""
    return f"{ticks}{word}\n{text.strip(chr(10))}\n{ticks}"


def _settled(text: str, escape: bool = True) -> str:
    """Close a fence that is left open, so that it does not swallow the turns that follow, and
    escape lines outside of fences that are headings of a turn by their form."""
    headings = escape and "# " in text
    if not headings and "```" not in text and "~~~" not in text:
        return text
    opened = ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match is None:
            if headings and not opened and _HEADER.fullmatch(line):
                lines[number] = f"\\{line}"
            continue
        mark, rest = match.groups()
        if not opened:
            if mark[0] == "~" or "`" not in rest:
                opened = mark
        elif mark[0] == opened[0] and len(mark) >= len(opened) and not rest.strip():
            opened = ""
    text = "\n".join(lines)
    return f"{text.rstrip(chr(10))}\n{opened}" if opened else text


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


_STAMPED = re.compile(
    r"^(## (?:User|Assistant)\b[^\n]*?)(?: · \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)?$", re.MULTILINE
)


def timeless(transcript: str) -> str:
    """The transcript without the times in its headings, which are local: the same conversation
    imported on a machine in another time zone differs in nothing else."""
    return _STAMPED.sub(r"\1", transcript)


def compare(old: str, new: str) -> str:
    """How a conversation read again stands to what is stored: `same`, `grown` (the stored text
    is the beginning of it), `shorter`, or `branched`."""
    if old == new:
        return "same"
    known, read = timeless(old), timeless(new)
    if known == read:
        return "same"
    if read.startswith(known):
        return "grown"
    return "shorter" if known.startswith(read) else "branched"


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
