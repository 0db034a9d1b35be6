"""Great JSON files are read piece by piece, whatever the pieces are."""

from __future__ import annotations

import io
import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.importers import stream
from neurigraph.importers.stream import Broken, elements, lines, top_keys

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=5)


def read(data: str | bytes, limit: int = 10**6, chunk: int = 1 << 20) -> list[Any]:
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    with patch.object(stream, "CHUNK", chunk):
        return list(elements(io.BytesIO(raw), limit))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(OBJECTS, max_size=6),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.booleans(),
)
def test_any_array_comes_back_element_by_element(
    values: list[Any], chunk: int, indent: int | None, ascii_only: bool, wrapped: bool
) -> None:
    whole: Any = {"a": {"conversations": [1]}, "conversations": values} if wrapped else values
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    expected = json.loads(text.encode("utf-8", "replace").decode("utf-8", "replace"))
    found = read(text.encode("utf-8", "replace"), chunk=max(chunk, 300 if wrapped else 1))
    assert found == (expected["conversations"] if wrapped else expected)


@settings(deadline=None, max_examples=100)
@given(st.lists(OBJECTS, min_size=1, max_size=5), st.data(), st.integers(1, 40))
def test_a_file_cut_off_anywhere_gives_what_is_whole_and_says_so(
    values: list[Any], data: st.DataObject, chunk: int
) -> None:
    raw = json.dumps(values).encode()
    cut = data.draw(st.integers(1, len(raw) - 1))
    found = read(raw[:cut], chunk=chunk)
    assert isinstance(found[-1], Broken)
    assert found[-1].ended
    assert found[:-1] == values[: len(found) - 1]


def test_one_object_and_several_on_lines_are_elements_too() -> None:
    assert read('{"mapping": {}}') == [{"mapping": {}}]
    assert read('{"a": 1}\n{"b": 2}\n\n') == [{"a": 1}, {"b": 2}]
    assert read(b"\xef\xbb\xbf [ ] ") == []
    assert read("[{},]") == [{}]


def test_an_element_over_the_bound_is_passed_over_without_keeping_it() -> None:
    huge = {"text": 'a"]}\\' * 9000, "deep": [[{"x": 1}]]}
    found = read(json.dumps([{"a": 1}, huge, {"b": 2}]), limit=20_000, chunk=1000)
    assert found == [{"a": 1}, Broken("over 0 MB of JSON"), {"b": 2}]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
        ('{"a": nope, "b": "]}"}', "not valid JSON (Expecting value)"),
        ('{"a" 1, "b": {"c": [1]}}', "not valid JSON (Expecting ':' delimiter)"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_a_damaged_element_does_not_stop_the_rest(bad: str, reason: str) -> None:
    pad = {"pad": "x" * 100}
    found = read(f"[{json.dumps(pad)}, {bad}, {json.dumps(pad)}]", chunk=64)
    assert found[0] == found[2] == pad
    assert found[1].reason.startswith(reason)
    assert not found[1].ended


def test_brackets_that_do_not_fit_end_the_reading() -> None:
    assert read('[{"a": 1} {"b": 2}, {"c": 3}]')[-1].ended


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"")), max_size=8))
def test_lines_over_the_bound_are_passed_over_and_counted(rows: list[bytes]) -> None:
    raw = b"\n".join(rows)
    found = list(lines(io.BytesIO(raw), 20))
    assert [entry.number for entry in found] == list(range(1, len(found) + 1))
    assert sum(entry.size for entry in found) == len(raw)
    for entry, row in zip(found, rows, strict=False):
        body = None if entry.data is None else entry.data.rstrip(b"\n")
        assert body == (row if len(row) <= 20 else None)
    assert all(entry.ended for entry in found[:-1])


def test_the_keys_of_a_document_are_known_from_its_beginning() -> None:
    text = '{"a": {"x": {"deep": 1}}, "b\\"c": [{"y": "}]"}, {"z": 2}], "cut": {"last": "val'
    assert top_keys(text) == ({"a", 'b\\"c', "cut"}, {"x", "y", "z", "last"})
    assert top_keys('[{"m": {"n": 1}}, {"o"')[1] == {"m"}
