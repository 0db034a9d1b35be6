"""Windows: where the words of a query come together."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.search.windows import BIN, Occurrences, find_windows


def text(*places: tuple[int, int]) -> Occurrences:
    return Occurrences(
        np.array([p for p, _ in places], np.int64), np.array([t for _, t in places], np.int64)
    )


def best(*texts: Occurrences, weights: tuple[float, ...] = (1.0, 1.0)) -> list[float]:
    windows = find_windows(texts, np.array(weights))
    return [round(score, 6) for score in windows.best_of_each(len(texts)).tolist()]


def test_words_together_are_worth_more_than_words_apart() -> None:
    together, apart = best(text((100, 0), (104, 1)), text((100, 0), (900, 1)))
    assert together > apart


def test_two_different_words_are_worth_more_than_one_twice() -> None:
    different, same = best(text((100, 0), (104, 1)), text((100, 0), (104, 0)))
    assert different > same


def test_a_border_between_bins_parts_nothing() -> None:
    across, apart = best(
        text((10 * BIN - 1, 0), (10 * BIN, 1)), text((10 * BIN - 1, 0), (16 * BIN, 1))
    )
    assert across > apart


def test_windows_do_not_reach_into_the_next_text() -> None:
    alone = best(text((5, 0)))
    beside = best(text((5, 0)), text((0, 1), (3, 1)), text((BIN, 1)))
    assert beside[0] == alone[0]


def test_rare_words_weigh_more() -> None:
    rare, common = best(text((100, 0)), text((100, 1)), weights=(5.0, 0.5))
    assert rare > common


def test_nothing_found_is_no_window() -> None:
    assert best(text(), text()) == [0, 0]
    assert find_windows((), np.empty(0)).of_text(0, 9) == []


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 3)), max_size=30).map(
            lambda places: text(*sorted(places))
        ),
        min_size=1,
        max_size=6,
    )
)
def test_every_text_is_scored_as_if_it_were_alone(texts: list[Occurrences]) -> None:
    weights = (1.0, 2.0, 0.3, 4.0)
    assert best(*texts, weights=weights) == [best(t, weights=weights)[0] for t in texts]
