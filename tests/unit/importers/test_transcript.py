"""Transcripts are read back as the turns that were written, whatever was said in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.importers.transcript import (
    ASSISTANT,
    USER,
    Transcript,
    closed,
    continued,
    fenced,
    tool_answer,
)
from neurigraph.vault.turns import split_turns

T0 = datetime(2026, 11, 30, 10, 30, tzinfo=UTC)
LINES = st.sampled_from(
    [
        "```",
        "````",
        "```python",
        "~~~",
        "    ```",
        "> ```",
        "## User",
        "## User · 2026-11-30T10:30:00",
        "## Answer",
        "# Assistant",
        "## Notes · 3",
        "User: hi",
        "**Assistant:** yes",
        "some words",
        "",
        "> [!note]- x",
    ]
) | st.text(max_size=12)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)
PIECES = st.tuples(
    st.sampled_from([USER, ASSISTANT]),
    st.sampled_from(["say", "thinking", "call", "result", "code"]),
    TEXTS,
)


def write(pieces: list[tuple[str, str, str]], timed: list[bool]) -> tuple[str, list[str]]:
    transcript = Transcript()
    for number, (speaker, how, text) in enumerate(pieces):
        when = T0 + timedelta(minutes=number) if timed[number % len(timed)] else None
        transcript.turn(speaker, when)
        if how == "call":
            transcript.call("tool", {"text": text})
        else:
            getattr(transcript, how)(text)
    speakers: list[str] = []
    for speaker, how, text in pieces:
        silent = how != "call" and not text.replace("\0", "x").replace("\r", "\n").strip()
        if not silent and (speaker == USER or not speakers or speakers[-1] != speaker):
            speakers.append(speaker)
    return transcript.text(), speakers


@settings(deadline=None, max_examples=250)
@given(st.lists(PIECES, max_size=6), st.lists(st.booleans(), min_size=1, max_size=3))
def test_nothing_that_is_said_opens_or_swallows_a_turn(
    pieces: list[tuple[str, str, str]], timed: list[bool]
) -> None:
    text, speakers = write(pieces, timed)
    assert [turn.speaker for turn in split_turns(text)] == speakers


@settings(deadline=None, max_examples=100)
@given(st.lists(PIECES, min_size=1, max_size=6), st.lists(st.booleans(), min_size=1, max_size=3))
def test_more_messages_only_add_to_a_transcript(
    pieces: list[tuple[str, str, str]], timed: list[bool]
) -> None:
    assert write(pieces, timed)[0].startswith(write(pieces[:-1], timed)[0])


def said(*texts: str, hours: int = 0) -> str:
    transcript = Transcript()
    for number, text in enumerate(texts):
        when = T0 + timedelta(hours=hours, minutes=number)
        transcript.turn(ASSISTANT if number % 2 else USER, when)
        transcript.say(text)
    return transcript.text()


def test_another_time_zone_makes_no_other_conversation() -> None:
    here, there = said("Q", "A"), said("Q", "A", hours=7)
    assert here != there
    assert continued(here, there) == here
    grown = continued(here, said("Q", "A", "Q2", "A2", hours=7))
    assert grown.startswith(here)
    assert grown[len(here) :] == said("Q", "A", "Q2", "A2", hours=7)[len(here) :]


def test_another_branch_stays_what_it_is() -> None:
    other = said("Q", "B", hours=7)
    assert continued(said("Q", "A"), other) == other
    longer = said("Q", "A", "Q2")
    assert continued(longer, said("Q", "A")) == said("Q", "A")
    assert continued("by hand", other) == other


def test_headings_in_an_answer_stay_as_they_are_unless_they_would_open_a_turn() -> None:
    assert "\n## Answer\n" in said("Q", "x\n## Answer\ny")
    assert "\n\\## User · 2026-01-01\n" in said("Q", "x\n## User · 2026-01-01\ny")
    untimed = Transcript()
    untimed.turn(USER)
    untimed.say("## You\n## Setup")
    assert untimed.text() == "## User\n\n\\## You\n## Setup\n"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```py\nx", "\n```"),
        ("~~~~\n```\nx", "\n~~~~"),
        ("- a\n    ```\n    x", "\n    ```"),
        ("```\nx\n```", ""),
        ("a ``` b", ""),
        ("``` a `b` c", ""),
    ],
)
def test_a_fence_left_open_is_closed(text: str, end: str) -> None:
    assert closed(text) == text + end


def test_code_with_backticks_gets_a_longer_fence() -> None:
    assert fenced("a ```` b", "py") == "`````py\na ```` b\n`````"
    assert fenced("x", "not a language!") == "```\nx\n```"


def test_what_tools_answer_is_found_in_every_form() -> None:
    image = {"type": "image", "source": {"data": "AAAA"}}
    assert tool_answer("a") == "a"
    assert (
        tool_answer([{"type": "text", "text": "a"}, image, {"content": ["b"]}]) == "a\n[image]\nb"
    )
    assert tool_answer({"output": "x"}) == "x"
    assert tool_answer({"n": 1}) == '{\n  "n": 1\n}'
    assert tool_answer(None) == ""
