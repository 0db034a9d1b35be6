"""Transcripts fall into turns, parts and passages without losing a character."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.vault.turns import (
    Span,
    estimate_tokens,
    format_turn,
    passages,
    split_parts,
    split_turns,
)

LINES = [
    "User: hello",
    "Assistant: hi",
    "**User:** x",
    "## User · 2026-11-30T10:30:00",
    "## Assistant · gpt-5",
    "```",
    "```python",
    "~~~",
    "````",
    "text.",
    "A sentence. Another one! And?",
    "",
    "",
    "Caroline: hey",
    "Melanie: ho",
    "# Heading",
    "\t",
    "日本語。",
    "\r",
    "Note: x",
    "> ```",
    "x" * 300,
]
CONVERSATION = st.lists(st.sampled_from(LINES), max_size=40).map("\n".join)
TEXT = CONVERSATION | st.text()


def who(text: str) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in split_turns(text)]


def roles(text: str) -> list[str]:
    return [turn.role for turn in split_turns(text)]


@given(TEXT)
@settings(deadline=None, max_examples=300)
def test_turns_joined_are_the_text(text: str) -> None:
    turns = split_turns(text)
    assert "".join(text[turn.start : turn.end] for turn in turns) == text
    assert all(turn.start < turn.end for turn in turns)


@given(TEXT, st.integers(1, 60))
@settings(deadline=None, max_examples=300)
def test_parts_joined_are_the_text_and_none_is_too_long(text: str, most: int) -> None:
    parts = split_parts(text, most)
    assert "".join(parts) == text
    assert all(part and estimate_tokens(part) <= most for part in parts)


@given(TEXT, st.integers(10, 400), st.integers(0, 2))
@settings(deadline=None, max_examples=300)
def test_every_character_is_in_a_passage_and_no_passage_is_too_long(
    text: str, most: int, overlap: int
) -> None:
    windows = passages(text, max_chars=most, overlap=overlap)
    assert all(0 < end - start <= most for start, end in windows)
    at = 0
    for start, end in windows:
        assert start <= at < end
        at = end
    assert at == len(text)


def test_turns_as_importers_write_them() -> None:
    text = (
        format_turn("User", "2026-11-30T10:30:00", "Is it safe?")
        + format_turn("Assistant · gpt-5", "2026-11-30T10:31:00", "Yes.\n\n## User\n\nnot a turn")
        + format_turn("User", "", "Thanks")
    )
    turns = split_turns(text)
    assert [(t.speaker, t.role, t.when) for t in turns[:2]] == [
        ("User", "user", "2026-11-30T10:30:00"),
        ("Assistant", "assistant", "2026-11-30T10:31:00"),
    ]
    assert turns[1].text.startswith("Yes.")


@pytest.mark.parametrize(
    "text",
    [
        "User: a\nAssistant: b",
        "**User:** a\n**Assistant:** b",
        "**User**: a\n\n**Assistant**: b",
        "Human: a\n\nAI: b",
        "## You\na\n## ChatGPT\nb",
        "#### You said:\na\n#### ChatGPT said:\nb",
        "__You:__\na\n__Claude:__\nb",
        "[10:30] User: a\n[10:31] Assistant: b",
        "User (2026-11-30 10:30): a\nClaude (2026-11-30 10:31): b",
        "用户：a\n助手：b",
        "USER:\na\nASSISTANT:\nb",
        "Q: a\nA: b",
    ],
)
def test_the_usual_ways_to_mark_speakers_are_known(text: str) -> None:
    assert roles(text) == ["user", "assistant"]
    assert [t.text for t in split_turns(text)] == ["a", "b"]


def test_people_are_known_by_their_names_once_they_speak_in_turns() -> None:
    text = "Caroline: hey\nMelanie: ho\nNote: x\nCaroline: so\nMelanie: yes\nNote: y"
    assert who(text) == [
        ("Caroline", "hey"),
        ("Melanie", "ho\nNote: x"),
        ("Caroline", "so"),
        ("Melanie", "yes\nNote: y"),
    ]


def test_labels_in_prose_are_no_speakers() -> None:
    text = "Summary: it went well.\n\nPros: cheap\nCons: slow\nPros: small\nCons: loud\n\nThe end."
    assert {speaker for speaker, _ in who(text)} == {""}


def test_a_chat_export_with_dates_before_names() -> None:
    text = (
        "30/11/2026, 10:30 - Bob: hi\n30/11/2026, 10:31 - Ann: ho\n"
        "30/11/2026, 10:32 - Bob: well\n30/11/2026, 10:33 - Ann: bye"
    )
    assert [(t.speaker, t.when) for t in split_turns(text)][1] == ("Ann", "30/11/2026, 10:31")


def test_what_stands_in_a_code_fence_is_no_turn() -> None:
    text = (
        "User: see\n```\nUser: in code\n## User\n```\nAssistant: fine\n"
        "~~~yaml\nUser: x\n~~~\nUser: ok"
    )
    assert [s for s, _ in who(text)] == ["User", "Assistant", "User"]


def test_a_fence_left_open_does_not_swallow_the_turns_after_it() -> None:
    text = "User: see\n```python\nx = 1\nAssistant: I see\nUser: more\nAssistant: sure"
    assert [s for s, _ in who(text)] == ["User", "Assistant", "User", "Assistant"]


def test_a_fence_left_open_does_not_pair_with_the_next_speakers_fence() -> None:
    text = "User: see\n```python\nx = 1\nAssistant: better\n```python\ny = 2\n```\nUser: thanks"
    assert [s for s, _ in who(text)] == ["User", "Assistant", "User"]


def test_a_longer_fence_holds_shorter_ones() -> None:
    text = "User: see\n````\n```\nUser: in code\n```\nUser: too\n````\nAssistant: yes"
    assert [s for s, _ in who(text)] == ["User", "Assistant"]


def test_text_without_speakers_falls_into_paragraphs() -> None:
    assert who("one\ntwo\n\nthree\n\n\n\nfour\n") == [
        ("", "one\ntwo"),
        ("", "three"),
        ("", "four"),
    ]
    assert split_turns("") == []
    assert len(split_turns(" \n\n ")) == 1


def test_what_comes_before_the_first_speaker_is_kept() -> None:
    turns = split_turns("Exported today.\n\nUser: a\nAssistant: b")
    assert [t.speaker for t in turns] == ["", "User", "Assistant"]


def test_tokens_are_a_quarter_of_the_bytes_and_one_a_character_in_cjk() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd" * 10) == 10
    assert estimate_tokens("東京都") == 3
    assert estimate_tokens("한국어 ok") == 3 + 1
    assert estimate_tokens("é" * 8) == 4


def test_a_long_conversation_is_cut_between_turns() -> None:
    turn = format_turn("User", "", "word " * 100)
    parts = split_parts(turn * 20, 1000)
    assert len(parts) > 1
    assert all(part.startswith("## User") for part in parts)


def test_a_single_line_of_a_megabyte_is_cut_too() -> None:
    text = "東京x" * 300_000
    parts = split_parts(text, 10_000)
    assert "".join(parts) == text
    assert max(estimate_tokens(p) for p in parts) <= 10_000
    assert min(estimate_tokens(p) for p in parts[:-1]) > 5_000


def test_windows_of_three_turns_share_a_turn() -> None:
    turns = [format_turn(n, "", f"{i} " + "word " * 30) for i in range(6) for n in ("User", "AI")]
    text = "".join(turns)
    windows = passages(text)
    starts = {t.start for t in split_turns(text)}
    assert all(start in starts for start, _ in windows)
    for (_, end), (start, _) in pairwise(windows):
        assert start < end, "neighbours share a turn"


def test_a_long_turn_is_cut_after_a_sentence() -> None:
    text = "User: " + "This is a sentence. " * 200
    windows = passages(text)
    assert len(windows) > 3
    assert all(text[:end].endswith(". ") for _, end in windows[:-1])
    assert windows[0] == Span(0, windows[0].end)


@pytest.mark.parametrize(
    "piece",
    ["```a\n", "```\n~~~\n", "A", "A ", "**A", "# ", "\n", " \n", "[aaaa", "1/1/1 ", "A (aaaaaa"],
)
def test_a_long_hostile_text_is_cut_in_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    split_turns(text)
    passages(text)
    split_parts(text, 1000)
    # quadratic work would take minutes at this size
    assert time.process_time() - began < 5
