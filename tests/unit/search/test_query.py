"""Queries as people type them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.search.query import MAX_CLAUSES, MAX_WORDS, Filter, Query, read_query

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)

ODD = (
    *("topic:", 'tag:"a', '-"', '"', "-x", "before:2026-99", "on:last", "after:march", "31"),
    *("february", "99", "years", "ago", "(.*)+", "[^a]{9}", "\\", "'", "“", "東京", "café", "q4"),
    *("2030", "the", "day", "before", "yesterday"),
)


def read(text: str) -> Query:
    return read_query(text, NOW)


def test_words_phrases_and_exclusions_are_told_apart() -> None:
    query = read('lisinopril "blood  pressure" -diet -"low salt" dose')
    assert query.words == ("lisinopril", "blood", "pressure", "dose")
    assert query.phrases == ("blood pressure",)
    assert query.without == ("diet", "low salt")
    assert query.text == "lisinopril blood pressure dose"


def test_filters_take_bare_and_quoted_values_and_a_minus_turns_them_around() -> None:
    query = read('topic:Medical/Medications model:claude tag:#health -keyword:"low salt" dose')
    assert query.filters == (
        Filter("topic", "Medical/Medications"),
        Filter("model", "claude"),
        Filter("tag", "#health"),
        Filter("keyword", "low salt", negated=True),
    )
    assert query.words == ("dose",)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("after:2026-03", date(2026, 3, 1), None),
        ("before:2026-03", None, date(2026, 2, 28)),
        ("on:2026-03-05", date(2026, 3, 5), date(2026, 3, 5)),
        ("on:2025", date(2025, 1, 1), date(2025, 12, 31)),
        ("after:yesterday", date(2026, 11, 30), None),
        ('on:"last week"', date(2026, 11, 23), date(2026, 11, 29)),
        ("after:2026-03 before:2026-05-02", date(2026, 3, 1), date(2026, 5, 1)),
    ],
)
def test_dates_bound_the_answer(text: str, first: date | None, last: date | None) -> None:
    query = read(text)
    assert (query.first, query.last) == (first, last)
    assert not query.words


@pytest.mark.parametrize(
    "text", ["after:whenever", "error: no such file", "http://a.b/c", "C:\\temp", "topic:", "10:30"]
)
def test_what_only_looks_like_a_filter_is_words(text: str) -> None:
    query = read(text)
    assert not query.filters
    assert query.words


def test_a_minus_before_a_number_or_within_a_word_excludes_nothing() -> None:
    assert read("-5 degrees x-ray --verbose").without == ()
    assert read("-5 degrees x-ray --verbose").words == ("5", "degrees", "x-ray", "verbose")


def test_unbalanced_quotes_are_left_out_of_the_words() -> None:
    query = read('he said "never again')
    assert query.words == ("he", "said", "never", "again")
    assert query.phrases == ()


def test_typographic_quotes_are_quotes() -> None:
    assert read("“blood pressure” „low salt“ «eau»").phrases == (
        "blood pressure",
        "low salt",
        "eau",
    )


@pytest.mark.parametrize("text", ["", "   ", "?!.,;", "-", '""', "...---...", "\0\0"])
def test_nothing_but_punctuation_asks_for_nothing(text: str) -> None:
    assert read(text).is_empty


def test_a_query_of_ten_thousand_characters_is_bounded() -> None:
    query = read(" ".join(f"word{i} -no{i} tag:t{i}" for i in range(1_000)))
    assert len(query.words) <= MAX_WORDS
    assert len(query.without) + len(query.filters) <= MAX_CLAUSES


def test_times_in_a_question_raise_and_do_not_bound() -> None:
    query = read("what did we say about the boat in March?")
    assert query.first is None
    assert [time.first for time in query.times] == [date(2026, 3, 1)]


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.text(max_size=300),
        st.lists(
            st.sampled_from(ODD),
            max_size=40,
        ).map(" ".join),
    )
)
def test_every_text_means_something(text: str) -> None:
    query = read(text)
    assert len(query.words) <= MAX_WORDS
    assert all('"' not in phrase for phrase in query.phrases)
