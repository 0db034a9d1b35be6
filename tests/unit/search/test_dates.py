"""The times that a question speaks of."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.search.dates import Time, closeness, date_of_words, span_of, times_in

TODAY = date(2026, 12, 1)  # a Tuesday


def spans(text: str) -> list[tuple[str, str]]:
    return [(str(time.first), str(time.last)) for time in times_in(text, TODAY)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 8 May 2023", "2023-05-08", "2023-05-08"),
        ("May 8th, 2023", "2023-05-08", "2023-05-08"),
        ("the 8th of may 2023", "2023-05-08", "2023-05-08"),
        ("the week before August 3, 2023", "2023-08-03", "2023-08-03"),
        ("2026-03-05", "2026-03-05", "2026-03-05"),
        ("2026-03", "2026-03-01", "2026-03-31"),
        ("the first half of September 2022", "2022-09-01", "2022-09-30"),
        ("Sept. 2022", "2022-09-01", "2022-09-30"),
        ("in February 2024", "2024-02-01", "2024-02-29"),
        ("taxes 2024", "2024-01-01", "2024-12-31"),
        ("summer of 2023", "2023-06-01", "2023-08-31"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("Q3 2025", "2025-07-01", "2025-09-30"),
        ("yesterday", "2026-11-30", "2026-11-30"),
        ("the day before yesterday", "2026-11-29", "2026-11-29"),
        ("last week", "2026-11-23", "2026-11-29"),
        ("last month", "2026-11-01", "2026-11-30"),
        ("last Friday", "2026-11-27", "2026-11-27"),
        ("two weeks ago", "2026-11-14", "2026-11-20"),
        ("a couple of days ago", "2026-11-29", "2026-11-29"),
        ("over the last three months", "2026-09-01", "2026-12-01"),
        ("in March", "2026-03-01", "2026-03-31"),
        ("June", "2026-06-01", "2026-06-30"),
        ("last December", "2026-12-01", "2026-12-31"),
    ],
)
def test_a_time_is_read_as_people_mean_it(text: str, first: str, last: str) -> None:
    assert spans(f"what did we say {text} about the boat?") == [(first, last)]


@pytest.mark.parametrize(
    "text",
    ["it may rain", "we march on", "the second sun", "31 April 2023", "room 1234", "version 3"],
)
def test_what_is_no_time_is_not_read_as_one(text: str) -> None:
    assert spans(text) == []


def test_a_month_without_a_year_is_the_latest_and_earlier_ones_a_little_less() -> None:
    (time,) = times_in("in October", TODAY)
    assert time.closeness(date(2026, 10, 10)) == 1
    assert 0.5 < time.closeness(date(2024, 10, 10)) < 1
    assert time.closeness(date(2024, 4, 10)) < 0.1
    (time,) = times_in("in December", date(2026, 11, 30))
    assert (time.first.year, time.closeness(date(2025, 12, 24))) == (2025, 1)


def test_closeness_fades_faster_before_than_after() -> None:
    time = Time(date(2026, 3, 5), date(2026, 3, 5))
    day = timedelta(days=1)
    assert closeness([time], time.first) == 1
    assert closeness([time], time.first + 5 * day) > closeness([time], time.first - 5 * day) > 0
    assert closeness([time], None) == 0
    assert closeness([], time.first) == 0


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        ("2026", "2026-01-01", "2026-12-31"),
        ("2026-3-5", "2026-03-05", "2026-03-05"),
        ("March", "2026-03-01", "2026-03-31"),
        ("march 2025", "2025-03-01", "2025-03-31"),
        ("last week", "2026-11-23", "2026-11-29"),
    ],
)
def test_a_whole_value_names_a_time(value: str, first: str, last: str) -> None:
    span = span_of(value, TODAY)
    assert span is not None
    assert (str(span.first), str(span.last)) == (first, last)


@pytest.mark.parametrize("value", ["", "soon", "2026-13", "2026-02-30", "0000"])
def test_what_names_no_time_is_none(value: str) -> None:
    assert span_of(value, TODAY) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("1 56 pm on 8 may 2023", date(2023, 5, 8)),
        ("10 juli 2022 notes", date(2022, 7, 10)),
        ("2023 05 08", date(2023, 5, 8)),
        ("hello there 2023", None),
        ("march on", None),
    ],
)
def test_the_date_that_opens_a_transcript_is_read(words: str, expected: date | None) -> None:
    assert date_of_words(words.split()) == expected


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=200), st.dates(min_value=date(1990, 1, 1)))
def test_no_text_is_too_odd_for_reading_times(text: str, today: date) -> None:
    for time in times_in(f"{text} 99 years ago in March", today):
        assert time.first <= time.last
        assert 0 <= time.closeness(today) <= 1
    span_of(text, today)
