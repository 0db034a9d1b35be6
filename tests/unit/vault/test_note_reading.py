"""Reading notes: whatever bytes a vault holds, a note comes out of them."""

from __future__ import annotations

import re
import time

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neurigraph.vault.note import (
    body_bytes,
    first_heading,
    flag,
    headings,
    is_owned,
    names,
    new_note,
    plain_text,
    read_note,
    text,
    texts,
)
from neurigraph.vault.yaml_text import FASTEST, NotAMapping, Properties, PurePythonNodes

PIECES = (
    *("--- \n", "---\n", "...\n", "a: b\n", "key:\n", "  - x\n", "- y\n", "# c\n", "\n\n", "\r\n"),
    *(
        '"',
        "'",
        "[",
        "]",
        "{",
        "}",
        "[[X]]",
        ": ",
        "\t",
        " ",
        "\r",
        "&a ",
        "*a",
        "!t ",
        "? ",
        "<<: ",
    ),
    *(">-\n", "|\n", "|+\n  z\n\n", "@", "`", "%", "\u2028", "\x85", "é", "😀", "\ufeff", "\x00"),
    "id: m-1\n",
)
YAML_PIECES = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)

ANY_NOTE = st.one_of(
    st.binary(max_size=200),
    YAML_PIECES.map(lambda block: f"---\n{block}\n---\nbody\n".encode("utf-8", "replace")),
    YAML_PIECES.map(lambda block: block.encode("utf-8", "replace")),
    st.binary(max_size=60).map(lambda block: b"---\n" + block + b"\n---\n"),
)


@settings(deadline=None, max_examples=250)
@given(ANY_NOTE)
@example(b"---\n? [a]\n: b\n---\n")
@example(b"---\n- a\n---\n")
@example(b"---\na: &x [*x]\n---\n")
@example(b"---\n" + b"[" * 5000 + b"\n---\n")
@example(b"---\na: " + b"[" * 200 + b"]" * 200 + b"\n---\n")
@example(b"\xff\xfe-\x00-\x00")
@example(b"---\na: \xff\n---\nb\n")
def test_reading_never_raises_for_any_bytes(raw: bytes) -> None:
    note = read_note(raw)
    assert note.raw == raw
    assert note.writable == (note.problem is None)
    assert note.problem is None or "\n" not in note.problem
    if note.writable:
        assert raw.endswith(note.body.encode())
        assert raw.endswith(body_bytes(note))


def test_every_scalar_stays_the_text_that_the_note_holds() -> None:
    raw = (
        b"---\ntime: 12:30\nanswer: no\noct: 012\nday: 2026-11-30\nnum: 1.50\non: x\n1: one\n"
        b"content: c\nhandler: h\nempty:\ntilde: ~\nblank: ''\nflag: true\n---\n"
    )
    assert read_note(raw).data == {
        "time": "12:30",
        "answer": "no",
        "oct": "012",
        "day": "2026-11-30",
        "num": "1.50",
        "on": "x",
        "1": "one",
        "content": "c",
        "handler": "h",
        "empty": None,
        "tilde": None,
        "blank": "",
        "flag": "true",
    }


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[[X]]", "[[X]]"),
        ("[[X|a, b]]", "[[X|a, b]]"),
        ('"[[X]]"', "[[X]]"),
        ("[[[X]], [[Y]]]", ["[[X]]", "[[Y]]"]),
        ("\n  - [[X]]\n  - '[[Y]]'", ["[[X]]", "[[Y]]"]),
        ("[a, b]", ["a", "b"]),
        ("[[a], [b]]", [["a"], ["b"]]),
        ("[]", []),
        ("\n  a: 1\n  b: {c: d}", {"a": "1", "b": {"c": "d"}}),
    ],
)
def test_an_unquoted_wikilink_is_text(written: str, read: object) -> None:
    assert read_note(f"---\nkey: {written}\n---\n".encode()).data == {"key": read}


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("title: a: b", "colon"),
        ("date: {{date}}", "{{…}}"),
        ("who: @me", "@"),
        ("code: `x`", "`"),
        ("a: b\n\tc: d", "spaces"),
        ("links: [[A]], [[B]]", "quotes"),
        ('title: "a" b', "quote"),
        ("id: one\nid: two", "more than once"),
        ("a: *b", "quotes"),
        ("a: {b: 1, b: 2}", "more than once"),
        ("a: \x01", "control"),
        ("a: b\n...\nc: d", "---"),
        ("a: [" + "[" * 60 + "]" * 60 + "]", "nested"),
    ],
)
def test_a_frontmatter_that_does_not_parse_says_what_to_do(block: str, says: str) -> None:
    note = read_note(f"---\n{block}\n---\nThe body.\n".encode())
    assert not note.writable
    assert note.problem is not None
    assert says in note.problem
    assert note.body == "The body.\n"


def test_a_billion_laughs_end_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    began = time.process_time()
    note = read_note(f"---\n{chr(10).join(lines)}\n---\nbody\n".encode())
    assert time.process_time() - began < 1
    assert not note.writable
    assert note.body == "body\n"


def test_a_private_memory_stays_private_while_its_frontmatter_is_broken() -> None:
    note = read_note(b"---\ntype: memory\nid: m-1\nprivate: true # hush\ntitle: a: b\n---\nx\n")
    assert not note.writable
    assert note.data["id"] == "m-1"
    assert flag(note.data["private"])
    doubled = read_note(b"---\nprivate: true\nid: m-1\nprivate: false\n---\nx\n")
    assert flag(doubled.data["private"])


def test_bytes_that_are_no_text_are_named_and_still_readable() -> None:
    latin = read_note("---\nid: a\n---\nGrüße\n".encode("latin-1"))
    assert "line 4" in (latin.problem or "")
    assert latin.data["id"] == "a"
    assert latin.body.startswith("Gr")
    assert "NUL" in (read_note(b"a\x00b").problem or "")
    wide = read_note("Grüße".encode("utf-16"))
    assert "UTF-16" in (wide.problem or "")
    assert wide.body == "Grüße"


@pytest.mark.parametrize(
    "raw",
    [
        b"---\nJust a paragraph\nbetween rules.\n---\nmore\n",
        b"---\n- a\n- b\n---\nmore\n",
        b'---\n\nText with: no, "sense" @all: x: y\n---',
        b"---\n@home\n---\nmore\n",
        b"-----\na: b\n-----\n",
        b" ---\na: b\n---\n",
        b"\n---\na: b\n---\n",
        b"---x\na: b\n---\n",
        b"---\n",
        b"---",
        b"",
    ],
)
def test_text_between_thematic_breaks_is_no_frontmatter(raw: bytes) -> None:
    note = read_note(raw)
    if b"Text with:" in raw:
        assert note.problem  # it could be either, so it is left alone
        return
    assert (note.data, note.body, note.problem) == ({}, raw.decode(), None)


def test_a_frontmatter_that_is_never_closed_is_a_problem_and_keeps_its_id() -> None:
    note = read_note(b"---\ntype: memory\nid: m-20261130-7f3a2c1b\n\n## Summary\nx\n")
    assert "never closed" in (note.problem or "")
    assert note.data["id"] == "m-20261130-7f3a2c1b"
    assert "## Summary" in note.body


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_bom_and_line_endings_are_healthy(bom: str, eol: str) -> None:
    raw = f"{bom}---  {eol}title: Ünï 😀{eol}list:{eol}- a{eol}---\t{eol}body{eol}".encode()
    note = read_note(raw)
    assert note.data == {"title": "Ünï 😀", "list": ["a"]}
    assert note.body == f"body{eol}"
    assert note.writable


def test_characters_that_only_yaml_takes_for_line_breaks_are_text() -> None:
    raw = "---\ntitle: a\u2028b\x85c\u2029d\nnext: x\n---\n".encode()
    assert read_note(raw).data == {"title": "a\u2028b\x85c\u2029d", "next": "x"}


def test_an_empty_frontmatter_is_healthy() -> None:
    for raw in (b"---\n---\nbody", b"---\n\n---\nbody", b"---\n# only a comment\n---\nbody"):
        note = read_note(raw)
        assert (note.data, note.body, note.problem) == ({}, "body", None)


@settings(deadline=None, max_examples=200)
@given(YAML_PIECES)
def test_the_parser_without_libyaml_reads_the_same(block: str) -> None:
    def read(parser: object) -> object:
        try:
            return Properties(block, parser).values  # type: ignore[arg-type]
        except (yaml.YAMLError, NotAMapping):
            return None

    fast, pure = read(FASTEST), read(PurePythonNodes)
    # each of the two refuses a few oddities that the other lets pass
    assert fast == pure or fast is None or pure is None


def test_a_note_of_twenty_megabytes_is_read_quickly() -> None:
    raw = b"---\ntitle: big\n---\n" + b"A line of text with [[a link]] in it.\n" * 530_000
    began = time.process_time()
    note = read_note(raw)
    assert time.process_time() - began < 1
    assert note.data == {"title": "big"}
    unclosed = b"---\n" + raw
    began = time.process_time()
    read_note(unclosed)
    assert time.process_time() - began < 1


def test_a_new_note_reads_back() -> None:
    data = {"title": "a: b", "keywords": ["x", "no"], "pinned": False, "gone": None, "count": 3}
    note = read_note(new_note(data, "## Summary\nx\n"))
    assert note.data == {"title": "a: b", "keywords": ["x", "no"], "pinned": "false", "count": "3"}
    assert note.body == "## Summary\nx\n"


def test_ours_is_what_has_both_our_type_and_our_id() -> None:
    memory, node = re.compile(r"m-[0-9]{8}-[0-9a-f]{8}"), re.compile(r"n-[0-9a-f]{8}")
    assert is_owned({"type": "memory", "id": "m-20261130-7f3a2c1b"}, memory, node)
    assert is_owned({"type": "broad", "id": "n-3f9c1a7e"}, memory, node)
    assert not is_owned({"type": "memory", "id": "n-3f9c1a7e"}, memory, node)
    assert not is_owned({"id": "m-20261130-7f3a2c1b"}, memory, node)
    assert not is_owned({"type": ["memory"], "id": ["m-20261130-7f3a2c1b"]}, memory, node)


def test_values_as_code_wants_them() -> None:
    assert [flag(value) for value in ("true", "Yes", "no", "", None, ["true"])] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert text(None) == "" and text(["a", "b"]) == "a, b" and text({"a": "b"}) == ""
    assert texts("a, b") == ["a, b"] and texts(["a", None, "b"]) == ["a", "b"]
    assert names("#a, b") == ["a", "b"] and names(["#a", " b "]) == ["a", "b"]


def test_headings_in_code_are_none() -> None:
    body = "intro\n```sh\n# not one\n```\n~~~\n## nor this\n```\n~~~\n# *Real* [[A|one]] ##\n#tag\n"
    assert [(one.level, one.text) for one in headings(body)] == [(1, "*Real* [[A|one]]")]
    assert first_heading(body) == "Real one"
    assert first_heading("#\ntext") == ""


def test_plain_text_is_words_without_markup() -> None:
    body = (
        "# Title\n\n> [!note] Callout\n> with **bold** and `code`\n\n- [x] done\n1. [[A/B|alias]]\n"
        "![[image.png]] and [words](https://x.y)\n\n```js\nalert(1)\n```\n%% hidden %%\n"
        "<!-- too -->\n| a | b |\n|---|---|\n| 1 | 2 |\n\nsnake_case, <b>tags</b> go. ^block-id\n"
    )
    plain = plain_text(body)
    for gone in (
        "#",
        "**",
        "`",
        "[[",
        "](",
        "alert",
        "hidden",
        "too",
        "---",
        "<b>",
        "!",
        "[x]",
        "block-id",
    ):
        assert gone not in plain
    for kept in ("Title", "Callout", "bold", "code", "done", "alias", "words", "snake_case", "1"):
        assert kept in plain


@pytest.mark.parametrize(
    "body",
    [
        "# " + " " * 100_000 + "x",
        "`" * 100_000,
        "` `` ``` " * 30_000,
        "![[" * 60_000,
        "[[a|" * 60_000,
        "<!--" * 50_000,
        "[" * 100_000,
        "](" * 80_000,
        "-" * 150_000 + "x",
        "|" + " " * 150_000 + "x",
        "%%" * 80_001,
        "*" * 150_000,
        "\n" * 150_000 + "x",
    ],
)
def test_hostile_text_costs_no_more_than_its_length(body: str) -> None:
    from neurigraph.vault.note import sections, wikilinks

    began = time.process_time()
    plain_text(body)
    headings(body)
    sections(body)
    wikilinks(body)
    assert time.process_time() - began < 2
