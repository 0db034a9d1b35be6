"""A thin turn splitter for the forms `## User`, `User:` and `**User:**`."""

from __future__ import annotations

import re
from typing import Literal

from neurigraph.model import Turn

_HEADER = re.compile(
    r"^(?:#{1,4}\s+)?(?:\*\*)?(User|Assistant|Human|You|AI|System|ChatGPT|Claude|Me)(?:\*\*)?"
    r"(?::(?:\*\*)?[ \t]*|[ \t]*(?:·[^\n]*)?$)",
    re.MULTILINE | re.IGNORECASE,
)


def split_turns(text: str) -> list[Turn]:
    """The turns of a transcript; all of it is one turn of role `other` when none are marked."""
    marks = list(_HEADER.finditer(text))
    if not marks:
        return [Turn("", "other", "", text, 0, len(text))] if text.strip() else []
    turns: list[Turn] = []
    if text[: marks[0].start()].strip():
        turns.append(Turn("", "other", "", text[: marks[0].start()], 0, marks[0].start()))
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        name = mark[1].lower()
        role: Literal["user", "assistant"] = (
            "user" if name in {"user", "human", "you", "me"} else "assistant"
        )
        turns.append(Turn(mark[1], role, "", text[mark.end() : end], mark.start(), end))
    return turns
