"""Reads conversations and questions in the format of LoCoMo (Maharana et al., 2024)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Session:
    """One session as the text that is saved: a date line, turns, captions of shared pictures."""

    name: str
    conversation: str
    text: str
    date: datetime | None


@dataclass(frozen=True)
class Question:
    """`evidence` are the names of the sessions that hold the answer, or a part of it."""

    text: str
    conversation: str
    category: int
    evidence: frozenset[str]


def read_locomo(path: Path) -> tuple[list[Session], list[Question]]:
    """Sessions and the questions of categories 1 to 4 that name evidence.

    (Category 5 asks for what is not there.)
    """
    sessions: list[Session] = []
    questions: list[Question] = []
    for number, sample in enumerate(json.loads(path.read_text("utf-8")), 1):
        name = str(sample.get("sample_id") or f"conversation {number}")
        mine = _sessions(sample["conversation"], name)
        known = {session.name for session in mine}
        sessions += mine
        for item in sample["qa"]:
            named = re.findall(r"D(\d+):\d+", " ".join(item.get("evidence") or ()))
            evidence = frozenset(f"{name} {n}" for n in named) & known
            if int(item["category"]) in (1, 2, 3, 4) and evidence:
                questions.append(
                    Question(str(item["question"]), name, int(item["category"]), evidence)
                )
    return sessions, questions


def _sessions(conversation: dict[str, Any], name: str) -> list[Session]:
    numbers = sorted(
        int(match[1]) for key in conversation if (match := re.fullmatch(r"session_(\d+)", key))
    )
    found = []
    for number in numbers:
        when = str(conversation.get(f"session_{number}_date_time", ""))
        lines = [when, *map(_turn, conversation[f"session_{number}"])]
        if len(lines) > 1:
            found.append(Session(f"{name} {number}", name, "\n".join(lines), _date(when)))
    return found


def _turn(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    shared = f" [shared {caption}]" if caption else ""
    return f"{turn['speaker']}: {turn['text']}{shared}"


def _date(text: str) -> datetime | None:
    """`1:56 pm on 8 May, 2023`."""
    try:
        return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
