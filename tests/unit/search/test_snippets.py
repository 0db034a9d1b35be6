"""Snippets and passages: the right piece of the right text, marked, with whole words."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from conftest import Shelf
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.search.snippets import (
    MARK,
    PASSAGE_CHARS,
    SNIPPET_CHARS,
    UNMARK,
    Cut,
    find,
    mark,
    passage_around,
    snippet,
    whole_words,
)

WORDS = (
    *("the", "harbour", "was", "quiet", "and", "nobody", "spoke", "of", "rain", "until"),
    *("morning", "came", "over", "old", "stones"),
)


def prose(seed: int, size: int) -> str:
    chance = random.Random(seed)
    lines: list[str] = []
    length = 0
    while length < size:
        line = f"{chance.choice(('Ann', 'Bob'))}: " + " ".join(
            chance.choices(WORDS, k=chance.randint(6, 30))
        )
        lines.append(line + ".")
        length += len(line) + 2
    return "\n".join(lines)


def bare(text: str) -> str:
    return text.replace(MARK, "").replace(UNMARK, "")


def test_a_planted_word_comes_back_in_its_own_passage_wherever_it_stands(shelf: Shelf) -> None:
    text = prose(1, 190_000)
    for number in range(20):
        at = text.find(" ", number * len(text) // 20)
        planted = f"{text[:at]} zanzibarine{number:02} {text[at:]}"
        shelf.add(f"m-{number:02}", planted)
    for number in range(20):
        word = f"zanzibarine{number:02}"
        (hit, *_) = shelf.hits(word, limit=1)
        assert hit.id == f"m-{number:02}"
        assert f"{MARK}{word}{UNMARK}" in hit.snippet
        best = hit.passages[0]
        assert f"{MARK}{word}{UNMARK}" in best.text
        assert bare(best.text) == shelf.transcripts[hit.id][best.start : best.end]
        assert best.source == "transcript"


def test_matches_are_marked_in_every_form_of_the_word(shelf: Shelf) -> None:
    shelf.add("m-1", "Ann: She painted boats. Painting is fun.\nBob: A BOAT?")
    (hit,) = shelf.hits("painting a boat")
    assert hit.snippet.count(MARK) == 4
    assert f"{MARK}painted{UNMARK} {MARK}boats{UNMARK}" in hit.snippet
    assert f"{MARK}BOAT{UNMARK}?" in hit.snippet


def test_function_words_are_not_marked(shelf: Shelf) -> None:
    shelf.add("m-1", "Ann: What did you do with the boat?")
    (hit,) = shelf.hits("what did Ann do with the boat")
    assert MARK not in hit.snippet.replace(f"{MARK}boat{UNMARK}", "").replace(
        f"{MARK}Ann{UNMARK}", ""
    )


def test_a_phrase_is_one_mark(shelf: Shelf) -> None:
    shelf.add("m-1", "Ann: My blood pressure rose; the pressure of blood is odd.")
    (hit,) = shelf.hits('"blood pressure"')
    assert f"{MARK}blood pressure{UNMARK}" in hit.snippet


def test_private_use_characters_of_the_text_never_reach_the_answer(shelf: Shelf) -> None:
    shelf.add("m-1", f"Ann: The {MARK}boat{UNMARK} is {MARK}here{UNMARK}.")
    (hit,) = shelf.hits("boat")
    assert hit.snippet.count(MARK) == hit.snippet.count(UNMARK) == 1
    assert f"{MARK}boat{UNMARK}" in hit.snippet


def test_a_hit_has_its_best_three_passages_and_none_twice(shelf: Shelf) -> None:
    parts = [prose(n, 4_000) + f"\nAnn: The lighthouse number {n} is red.\n" for n in range(5)]
    shelf.add("m-1", "".join(parts))
    (hit,) = shelf.hits("which lighthouse is red?")
    assert len(hit.passages) == 3
    spans = sorted((p.start, p.end) for p in hit.passages)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all("lighthouse" in p.text for p in hit.passages)


def test_a_memory_found_by_its_title_shows_how_it_begins(shelf: Shelf) -> None:
    shelf.add("m-1", "", title="Harbour plan", note="## Summary\nWe will rebuild the quay.")
    (hit,) = shelf.hits("harbour plan")
    assert hit.snippet == "Summary We will rebuild the quay."
    assert hit.passages == ()


def test_the_summary_in_the_note_is_searched_and_shown_as_a_note(shelf: Shelf) -> None:
    shelf.add("m-1", "Ann: Hello.", note="## Summary\nThe quay is rebuilt in granite.")
    (hit,) = shelf.hits("granite")
    assert hit.passages[0].source == "note"
    assert f"{MARK}granite{UNMARK}" in hit.snippet


def test_a_file_that_is_newer_than_the_index_is_marked_where_its_words_are_now(
    shelf: Shelf,
) -> None:
    shelf.add("m-1", "Ann: The lighthouse is red.")
    shelf.transcripts["m-1"] = "Bob: Listen to this.\nAnn: The old lighthouse is red."
    (hit,) = shelf.hits("lighthouse")
    assert f"{MARK}lighthouse{UNMARK}" in hit.snippet
    shelf.transcripts["m-1"] = ""
    assert shelf.hits("lighthouse")[0].passages == ()


def test_marks_of_chinese_words_stand_at_their_characters(shelf: Shelf) -> None:
    shelf.add("m-1", "User: 我在北京大学学习。")
    (hit,) = shelf.hits("北京大学")
    assert bare(hit.snippet) == "User: 我在北京大学学习。"
    assert f"{MARK}北京大学{UNMARK}" in hit.snippet


def test_a_snippet_is_short_and_ends_with_whole_words() -> None:
    text = prose(3, 3_000)
    found = find(text, {"morn", "rain"})
    piece = snippet(text, Cut(0, len(text)), found)
    assert len(bare(piece)) <= SNIPPET_CHARS + 80
    assert piece.endswith("…")
    words = set(bare(piece).strip("…").replace(".", " ").replace(":", " ").split())
    assert words <= {*WORDS, "Ann", "Bob"}


@pytest.mark.parametrize("text", ["", "a", "word", "a b", "東京都東京都", "x" * 500])
def test_pieces_of_small_texts_stay_within_them(text: str) -> None:
    for start in range(0, len(text) + 2, 7):
        cut = whole_words(text, start, start + 5)
        assert 0 <= cut.start <= cut.end <= max(len(text), start)


@settings(deadline=None, max_examples=150)
@given(
    st.text(alphabet="ab é東京\n.\ue000\ue001", max_size=400),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_marking_changes_nothing_but_marks(text: str, start: int, length: int) -> None:
    cut = passage_around(text, min(start, len(text)), min(start + length, len(text)))
    assert cut.end - cut.start <= PASSAGE_CHARS + 100
    marked = mark(text, cut, find(text, {"ab", "東京"}))
    assert marked.count(MARK) == marked.count(UNMARK)
    assert bare(marked) == bare(text[cut.start : cut.end])
