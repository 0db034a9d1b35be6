"""Patching notes: the value that was asked for is there, every other byte is where it was."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.vault.frontmatter import find_head
from neurigraph.vault.note import read_note, section_text, sections, set_keys, set_section
from neurigraph.vault.sections import contained, unix_lines
from neurigraph.vault.yaml_scalars import as_text
from neurigraph.vault.yaml_text import Properties

TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "no",
            "Yes",
            "null",
            "~",
            "12",
            "012",
            "0x1F",
            "0o17",
            "1_000",
            "12:30",
            "1e5",
            ".5",
            ".inf",
            "a: b",
            "a #b",
            "#a",
            "- a",
            "-",
            "---",
            "...",
            "?",
            "? a",
            "[a]",
            "[[A|B (0.8)]]",
            "{{date}}",
            "@me",
            "`x`",
            "%x",
            "*a",
            "&a",
            "!a",
            "'a'",
            '"a" b',
            "a\nb",
            "a\r\nb\n",
            "a\tb",
            "\x00\x07\x1b\x7f\x85\xa0",
            "\u2028\u2029\ufeff",
            "\ufffe\uffff",
            "😀 Ünï",
            "C:\\x",
            "2026-11-30",
            "2026-11-30T10:30:00",
            "2026-99-99",
            "=",
            "<<",
            "a:",
            ":a",
            "key: 'x",
            "trailing ",
        ]
    ),
    st.text(max_size=20),
    st.text(alphabet="ab:#-'\"[]{}&*!|>%@`,?\\ \n\t01.~", max_size=10),
)
VALUES = st.one_of(TEXTS, st.booleans(), st.integers(), st.lists(TEXTS, max_size=4))

EOLS = st.sampled_from(["\n", "\r\n", "\r"])
PROPERTY = st.sampled_from(
    [
        "a: one",
        "b: two   # said of b",
        "c: 'it''s'",
        'd: "x: \\u00e9"# not a comment: the quote ends',
        'd: "x: y" # c',
        "e:",
        "e:   # nothing yet",
        "f:\n  - x\n  # about y\n  - y   # c\n  - 'z: z'",
        "f:\n- x\n- y\n\n- z",
        "f:\n    - x\n    -   y\n    -\n    - ",
        "g: [x, 'y, z', [[W]], {p: q}]",
        "g: [x,\n  y, # c\n  z\n  ]",
        "g: [\nx\n]",
        "h: |\n  text\n    more\n\n  end",
        "h: |+\n  text\n\n\n",
        "h: >-\n  folded\n  text\n\n",
        "h:    |2\n   x\n",
        "h: |\n\n",
        'i: "many\n  lines\n\n  # no comment"',
        "i: plain\n  over\n  lines",
        "j: [[Link|alias]]",
        "k:\n  x: 1\n  y:\n    - z\n    - w",
        '"quoted key": v',
        "'l': v",
        "m : spaced",
        "on: 012",
        "? v\n: w",
        "o: {p: q, r: [s]}",
        "p:\n  value below",
        "# a comment",
        "",
        "   # an indented comment",
        "type: memory",
        "nested:\n- - a\n  - b\n- c: d\n  e: f",
        "q: !tag x",
        "r: &anchor x",
        "-1: minus",
    ]
)


def unlike(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """What differs between two versions, without their common lines at both ends."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return b"".join(a), b"".join(b)


def wanted(value: object) -> object:
    return [as_text(item) for item in value] if isinstance(value, list) else as_text(value)  # type: ignore[arg-type]


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    bom, eol = draw(st.sampled_from(["", "\ufeff"])), draw(EOLS)
    block = "\n".join(draw(st.lists(PROPERTY, max_size=8, unique_by=lambda line: line[:1])))
    indent = draw(st.sampled_from(["", "", "", "  "]))
    block = "".join(f"{indent}{line}\n" for line in block.split("\n")) if block else ""
    tail = draw(st.sampled_from(["", "...\n", "\n", "# end\n", "\n\n# end\n\n"]))
    body = draw(st.sampled_from(["", "body", "body\n", "\n---\nx\n", "no\n\n## Summary\nx"]))
    text = f"{bom}---{draw(st.sampled_from(['', '  ']))}\n{block}{tail}---\n{body}"
    return text.replace("\n", eol).encode()


def around(raw: bytes, key: str) -> tuple[bytes, bytes]:
    """The bytes above the line of a key and those from the line of the next key on."""
    text = raw.decode().removeprefix("\ufeff")
    head = find_head(text)
    assert head is not None
    starts = [
        (name, head.start + node.start_mark.index)
        for name, node, _ in Properties(text[head.start : head.end]).pairs()
    ]
    index = [name for name, _ in starts].index(key)
    at = starts[index][1]
    above = text[: 1 + max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))]
    if index + 1 == len(starts):
        return above.encode(), text[head.body_start :].encode()
    return above.encode(), text[starts[index + 1][1] :].encode()


def assert_patched(raw: bytes, key: str, value: object) -> None:
    before = read_note(raw)
    assume(before.writable)
    new = set_keys(raw, {key: value})  # type: ignore[dict-item]
    after = read_note(new)
    assert after.writable
    assert after.data[key] == wanted(value)
    assert {**after.data, key: None} == {**before.data, key: None}
    assert list(after.data) == [*before.data, *([] if key in before.data else [key])]
    assert after.body == before.body
    if key in before.data:
        assert around(new, key) == around(raw, key)
    assert new.startswith(b"\xef\xbb\xbf") == raw.startswith(b"\xef\xbb\xbf")
    for comment in (b"# a comment", b"# end"):
        assert new.count(comment) == raw.count(comment)
    assert set_keys(new, {key: value}) == new  # type: ignore[dict-item]


@settings(deadline=None, max_examples=250)
@given(notes(), st.sampled_from([*"abcdefghijklmopqrv", "quoted key", "new", "nested"]), VALUES)
def test_a_set_value_reads_back_and_all_else_stays(raw: bytes, key: str, value: object) -> None:
    assert_patched(raw, key, value)


@settings(deadline=None, max_examples=250)
@given(notes(), st.randoms(use_true_random=False))
def test_a_removed_key_is_gone_and_all_else_stays(raw: bytes, chance: random.Random) -> None:
    before = read_note(raw)
    assume(before.writable and before.data)
    key = chance.choice(list(before.data))
    new = set_keys(raw, {key: None})
    after = read_note(new)
    assert after.data == {name: value for name, value in before.data.items() if name != key}
    assert after.body == before.body
    if b"..." not in raw:  # which cannot stand without a property above it
        for comment in (b"# a comment", b"# end"):
            assert new.count(comment) == raw.count(comment)
    gone, added = unlike(raw, new)
    assert not added
    assert key.encode() in gone


@settings(deadline=None, max_examples=250)
@given(
    st.one_of(
        st.binary(max_size=80),
        st.binary(max_size=60).map(lambda block: b"---\n" + block + b"\n---\n"),
        st.text(alphabet="ab:-# \n\r\"'[]{}|>&*", max_size=40).map(
            lambda block: f"---\n{block}\n---\nx".encode()
        ),
    ),
    VALUES,
)
@example(b"---\n{a: 1}\n---\n", "x")
@example(b"---\n{}\n---\n", ["x", "y"])
@example(b'---\n{"a": 1,\n "b": {"c": [2]}, }\n---\n', "x")
@example(b"---\na: b\n...\n---\n", "x")
@example(b"---\n!!map\na: b\n---\n", "x")
@example(b"---\n---\n", "x")
@example(b"", "x")
def test_any_bytes_take_a_property_or_refuse_it(raw: bytes, value: object) -> None:
    before = read_note(raw)
    try:
        new = set_keys(raw, {"a": value})  # type: ignore[dict-item]
    except NotWritable:
        assert not before.writable
        return
    after = read_note(new)
    assert after.data == {**before.data, "a": wanted(value)}
    assert after.body == before.body


@settings(deadline=None, max_examples=250)
@given(TEXTS)
def test_every_yaml_reader_reads_the_same_text_back(value: str) -> None:
    raw = set_keys(b"", {"key": value, "list": [value]})
    block = raw.decode().removeprefix("---\n").removesuffix("---\n")
    loaded = yaml.safe_load(block)
    if hasattr(loaded["key"], "isoformat"):
        assert loaded["key"].isoformat() == value
    else:
        assert loaded == {"key": value, "list": [value]}


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("plain words, even (these) & those", "k: plain words, even (these) & those"),
        ("a: b", 'k: "a: b"'),
        ("no", 'k: "no"'),
        ("12:30", 'k: "12:30"'),
        ("[[A|B (0.8)]]", 'k: "[[A|B (0.8)]]"'),
        ("2026-11-30T10:30:00", "k: 2026-11-30T10:30:00"),
        ("2026-11-30", "k: 2026-11-30"),
        ("2026-13-30", 'k: "2026-13-30"'),
        (True, "k: true"),
        (48211, "k: 48211"),
        (0.5, "k: 0.5"),
        ("two\nlines\x07", 'k: "two\\nlines\\u0007"'),
        ("extractive 5c1e09ab", "k: extractive 5c1e09ab"),
        ([], "k: []"),
        (["x", "#y"], 'k:\n  - x\n  - "#y"'),
    ],
)
def test_how_a_value_is_written(value: object, line: str) -> None:
    assert set_keys(b"", {"k": value}) == f"---\n{line}\n---\n".encode()  # type: ignore[dict-item]


OWN = b"""---
type: memory
temperature: hot           # hot | warm | cold | deep-cold
"title" : 'it''s'   # the real words
keywords:   # mine
- lisinopril   # a drug

# found by me
- blood pressure
# how often
access_count: 3
notes: |
  # no comment
  text

unknown: {keep: me}
---
body
"""


@pytest.mark.parametrize(
    ("changes", "gone", "added"),
    [
        (
            {"temperature": "cold"},
            b"temperature: hot           # hot | warm | cold | deep-cold\n",
            b"temperature: cold           # hot | warm | cold | deep-cold\n",
        ),
        (
            {"title": "a: b"},
            b"\"title\" : 'it''s'   # the real words\n",
            b'"title" : "a: b"   # the real words\n',
        ),
        ({"keywords": ["lisinopril", "blood pressure", "x"]}, b"", b"- x\n"),
        ({"keywords": ["blood pressure"]}, b"- lisinopril   # a drug\n", b""),
        ({"keywords": ["lisinopril", "y"]}, b"\n# found by me\n- blood pressure\n", None),
        ({"access_count": 4}, b"access_count: 3\n", b"access_count: 4\n"),
        ({"access_count": None}, b"access_count: 3\n", b""),
        ({"notes": "x"}, b"notes: |\n  # no comment\n  text\n", b"notes: x\n"),
        ({"pinned": True}, b"", b"pinned: true\n"),
        ({"type": "memory", "access_count": 3, "title": "it's"}, b"", b""),
    ],
)
def test_only_the_lines_of_the_key_change(
    changes: Mapping[str, str | int | bool | list[str] | None], gone: bytes, added: bytes | None
) -> None:
    for raw in (OWN, OWN.replace(b"\n", b"\r\n")):
        new = set_keys(raw, changes)
        old_lines, new_lines = (part.replace(b"\r\n", b"\n") for part in unlike(raw, new))
        assert old_lines == gone
        assert added is None or new_lines == added
        assert new.count(b"\n") == new.count(b"\r\n") or b"\r" not in raw
        assert b"# found by me" in new


def test_a_note_without_frontmatter_gets_one_with_its_own_line_endings() -> None:
    assert set_keys(b"hi\r\n", {"a": "b"}) == b"---\r\na: b\r\n---\r\nhi\r\n"
    assert set_keys(b"\xef\xbb\xbfhi", {"a": "b"}) == b"\xef\xbb\xbf---\na: b\n---\nhi"
    rules = b"---\ntext\n---\n"
    assert set_keys(rules, {"a": "b"}) == b"---\na: b\n---\n" + rules
    assert set_keys(rules, {"a": None}) == rules


@pytest.mark.parametrize(
    "raw",
    [
        b"---\na: b: c\n---\n",
        b"---\na: b\na: c\n---\n",
        b"---\na: b\n",
        b"a\x00",
        b"\xff",
        b"---\nd: {{date}}\n---\n",
    ],
)
def test_a_note_that_cannot_be_read_for_certain_is_never_written_to(raw: bytes) -> None:
    for change in ({"a": "b"}, {"z": None}):
        with pytest.raises(NotWritable):
            set_keys(raw, change)
    with pytest.raises(NotWritable):
        set_section(raw, "Summary", "x")


@pytest.mark.parametrize(
    "key", ["", "a: b", "a\nb", "#a", " a", "a ", "- a", "no", "12", "[a]", "a#"]
)
def test_names_that_are_no_plain_property_are_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        set_keys(b"", {key: "x"})


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf"), [1], ["\udfff"]])
def test_values_that_no_note_can_hold_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        set_keys(b"", {"a": value})  # type: ignore[dict-item]


def test_a_value_that_others_refer_to_is_not_pulled_away() -> None:
    raw = b"---\na: &x one\nb: *x\nc: 1\n---\n"
    with pytest.raises(NotWritable):
        set_keys(raw, {"a": "two"})
    assert read_note(set_keys(raw, {"b": "two"})).data == {"a": "one", "b": "two", "c": "1"}
    assert set_keys(raw, {"c": 2}) == raw.replace(b"c: 1", b"c: 2")


BODY = "# Title\n\nintro\n\n## Mine\nx\n```\n## Summary\n```\n"


def test_sections_are_made_in_their_order_above_a_persons_own() -> None:
    raw = BODY.encode()
    for heading in ("Open questions", "Summary", "Decisions"):
        raw = set_section(raw, heading, f"about {heading}")
    assert [one.heading for one in sections(raw.decode()) if one.level == 2] == [
        "Summary",
        "Decisions",
        "Open questions",
        "Mine",
    ] or raw.decode().index("## Open") < raw.decode().index("## Mine")
    assert raw.startswith(b"# Title\n\nintro\n\n## ")
    assert raw.endswith(b"## Mine\nx\n```\n## Summary\n```\n")


def test_only_the_lines_of_a_section_change() -> None:
    raw = b"---\r\na: b\r\n---\r\n## summary ##\r\n\r\nold\r\n\r\n\r\n## Mine\r\nx"
    assert set_section(raw, "Summary", "new\ntext") == raw.replace(b"old", b"new\r\ntext")
    assert set_section(raw, "Summary", "old\n") == raw
    gone = raw.replace(b"## summary ##\r\n\r\nold\r\n\r\n\r\n", b"")
    assert set_section(raw, "Summary", None) == gone
    assert set_section(raw, "Decisions", None) == raw


def test_text_in_a_section_cannot_break_out_of_it() -> None:
    raw = set_section(b"## Summary\nold\n\n## Mine\nx\n", "Summary", "a\n# b\n## c\n### d\n```\ne")
    assert raw == b"## Summary\na\n### b\n### c\n### d\n```\ne\n```\n\n## Mine\nx\n"


def test_a_section_is_made_below_a_fence_that_was_left_open() -> None:
    raw = set_section(b"text\n```\ncode", "Summary", "s")
    assert raw == b"text\n```\ncode\n```\n\n## Summary\ns\n"
    assert set_section(raw, "Summary", "s") == raw


SECTION_BODIES = st.lists(
    st.sampled_from(
        [
            "text",
            "",
            "## Summary",
            "## Decisions",
            "## Open questions ##",
            "# Title",
            "### Sub",
            "## Mine",
            "```",
            "~~~~",
            "  ## Indented",
            "    ## code",
            "##nothing",
            "##",
            "---",
        ]
    ),
    max_size=14,
)


@settings(deadline=None, max_examples=250)
@given(
    SECTION_BODIES,
    EOLS,
    st.booleans(),
    st.sampled_from(["Summary", "Decisions", "Open questions", "Other"]),
    st.one_of(st.text(max_size=30), SECTION_BODIES.map("\n".join)),
)
def test_a_section_reads_back_and_the_others_stay(
    lines: list[str], eol: str, final: bool, heading: str, text: str
) -> None:
    raw = (eol.join(["---", "a: b", "---", *lines]) + (eol if final else "")).encode()
    before = read_note(raw)
    assume(before.writable and before.data)
    new = set_section(raw, heading, text)
    after = read_note(new)
    assert after.data == before.data
    assert set_section(new, heading, text) == new

    def others(body: str) -> list[tuple[str, str]]:
        return [
            (one.heading, one.text.splitlines()[0] if one.text else "")
            for one in sections(body)
            if one.level == 2 and one.heading.casefold() != heading.casefold()
        ]

    if not before.body.count("```") and not before.body.count("~~~"):
        assert others(after.body) == others(before.body)
    if contained(text):
        assert unix_lines(section_text(after.body, heading)) == contained(text)
    removed = set_section(new, heading, None)
    assert read_note(removed).data == before.data
