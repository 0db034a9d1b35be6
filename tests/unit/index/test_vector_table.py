"""Exact answers: always those of a plain comparison with every vector, ties by id."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.index.vector_table import VectorTable

MEMORIES = st.integers(0, 12).map(lambda number: f"m-{number}")
IDS = st.builds("{}:{}".format, MEMORIES, st.integers(0, 3))
VECTORS = st.lists(st.integers(-3, 3), min_size=4, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), IDS, VECTORS), st.tuples(st.just("remove"), IDS, st.none())
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=150)
@given(STEPS, VECTORS, st.integers(1, 40), st.none() | st.sets(MEMORIES))
def test_the_table_answers_like_a_comparison_with_every_vector(
    steps: list[tuple[str, str, list[int] | None]],
    asked: list[int],
    k: int,
    among: set[str] | None,
) -> None:
    table = VectorTable(4)
    held: dict[str, np.ndarray] = {}
    for what, record_id, numbers in steps:
        if what == "put":
            held[record_id] = np.array(numbers, np.float32)
            table.put([record_id], held[record_id][np.newaxis])
        else:
            held.pop(record_id, None)
            table.remove([record_id])
    vector = np.array(asked, np.float32)
    expected = sorted(
        (
            (i, float(v @ vector))
            for i, v in held.items()
            if among is None or i.partition(":")[0] in among
        ),
        key=lambda pair: (-pair[1], pair[0]),
    )
    assert len(table) == len(held)
    assert table.nearest(vector, k, among) == expected[:k]


def test_a_table_grows_beyond_its_first_room() -> None:
    table = VectorTable(2)
    for start in range(0, 5000, 500):
        ids = [f"m-{n}:0" for n in range(start, start + 500)]
        table.put(ids, np.array([[n, 1] for n in range(start, start + 500)], np.float32))
    assert len(table) == 5000
    assert table.nearest(np.array([1, 0], np.float32), 2) == [
        ("m-4999:0", 4999),
        ("m-4998:0", 4998),
    ]
