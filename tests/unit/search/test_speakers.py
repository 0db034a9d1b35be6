"""What the person asked about says counts more."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from conftest import NOW, Shelf

from neurigraph.search.query import read_query
from neurigraph.search.speakers import ASSISTANT, USER, whom_asked_about
from neurigraph.search.words import terms_of

CHAT = "Ann: Hello there.\nBob: Good morning.\nAnn: How are you?\nBob: Fine.\nAnn: {}\nBob: {}\n"


def test_the_one_who_says_it_comes_before_the_one_who_is_told(shelf: Shelf) -> None:
    said, other = "I sold the kayak yesterday.", "What a pity, that was a good one."
    shelf.add("m-ann", CHAT.format(said, other))
    shelf.add("m-bob", CHAT.format(other, said))
    assert shelf.ids("did Ann sell the kayak?")[0] == "m-ann"
    assert shelf.ids("did Bob sell the kayak?")[0] == "m-bob"


def test_i_is_the_user_and_you_the_assistant(shelf: Shelf) -> None:
    turns = "## User · 2026-11-30T10:30:00\n\n{}\n\n## Assistant · gpt-5\n\n{}\n\n"
    hello = turns.format("Good morning.", "Good morning, what is it today?") * 2
    shelf.add("m-user", hello + turns.format("I prefer the red kayak.", "Red it is, then."))
    shelf.add("m-ai", hello + turns.format("Red it is, then.", "I prefer the red kayak."))
    assert shelf.ids("which kayak do I prefer?")[0] == "m-user"
    assert shelf.ids("which kayak did you prefer?")[0] == "m-ai"


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("what did I say", USER),
        ("what did you say", ASSISTANT),
        ("what did you tell me", frozenset()),
        ("boats", frozenset()),
    ],
)
def test_whom_a_question_is_about(text: str, roles: frozenset[str]) -> None:
    asked = whom_asked_about(terms_of(read_query(text, datetime.now(UTC))))
    assert asked.names & (USER | ASSISTANT) == roles


def test_a_text_without_speakers_counts_alike_for_all(shelf: Shelf) -> None:
    shelf.add("m-1", "The kayak of Ann is red.\nThe boat is blue.\n\nNothing else.", created=NOW)
    assert shelf.ids("which kayak is Ann's?") == ["m-1"]
