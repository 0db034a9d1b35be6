"""Long texts come in pages that join without gap, and no answer is longer than it says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.mcp_pages import SNAP, at_token, clip, page
from neurigraph.vault.turns import estimate_tokens

TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from("ab \n東京é😀"), st.characters(codec="utf-8")), max_size=3000
)


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.integers(min_value=SNAP + 10, max_value=600))
def test_pages_that_follow_one_another_give_the_whole_text(text: str, limit: int) -> None:
    offset: int | None = 0
    pieces = []
    while offset is not None:
        piece, following = page(text, offset, limit)
        assert following is None or following > offset
        assert piece or not text
        pieces.append(piece)
        offset = following
    assert "".join(pieces) == text


@settings(deadline=None, max_examples=100)
@given(TEXTS, st.integers(min_value=SNAP + 10, max_value=600))
def test_a_page_is_about_as_long_as_asked_for(text: str, limit: int) -> None:
    piece, _ = page(text, 0, limit)
    assert estimate_tokens(piece) <= limit + 2


def test_pages_begin_with_whole_lines_where_lines_are_near() -> None:
    text = "".join(f"line number {n} of a long talk\n" for n in range(400))
    _, following = page(text, 0, 500)
    assert following is not None
    assert page(text, following, 500)[0].startswith("line number")


def test_a_token_of_ascii_is_four_characters_and_of_chinese_one() -> None:
    assert at_token("abcdefgh", 1) == 4
    assert at_token("東京都庁", 2) == 2
    assert at_token("ab", 10) == 2


def test_a_clipped_text_says_that_it_was_cut() -> None:
    assert clip("short", 10) == "short"
    cut = clip("many words " * 100, 20)
    assert cut.endswith("…")
    assert estimate_tokens(cut) <= 21
