"""Links and edges: what Obsidian would follow is found, and a rename changes only the target."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from neurigraph.errors import InvalidInput, NotWritable
from neurigraph.model import Value
from neurigraph.vault.note import (
    OWN_KEYS,
    Link,
    edge_alias,
    edge_value,
    edges_of,
    parse_link,
    read_note,
    replace_links,
    set_edge,
    wikilinks,
)


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[[A]]", [Link("A")]),
        ("[[A/B#H|the alias]]", [Link("A/B", "H", "the alias")]),
        ("![[A.pdf#page=2]]", [Link("A.pdf", "page=2", embed=True)]),
        ("[[A#H#Sub]] [[A#^block]]", [Link("A", "H#Sub"), Link("A", "^block")]),
        ("[[A|]]", [Link("A")]),
        ("| [[A\\|b]] |", [Link("A", alias="b")]),
        ("| [[A#H\\|b]] |", [Link("A", "H", "b")]),
        ("[[ A ]]", [Link("A")]),
        ("[[#Heading]]", []),
        ("[[]]", []),
        (
            "[x](a%20b.md) [y](<c d.md#H%20i>)",
            [Link("a b.md", "", "x"), Link("c d.md", "H i", "y")],
        ),
        ('![x](a.md "title")', [Link("a.md", "", "x", True)]),
        ("[x](https://e.org/a.md) [y](a.png) [z](//e.org/a.md)", []),
        ("`[[A]]` ``[[B]] ` `` [[C]]", [Link("C")]),
        ("a ` b [[A]]", [Link("A")]),
        ("a ` b\n\n[[A]] ` c", [Link("A")]),
        ("\\`[[A]]\\`", [Link("A")]),
        ("```\n[[A]]\n```\n[[B]]", [Link("B")]),
        ("```\n[[A]]", []),
        ("~~~ md\r\n[[A]]\r\n~~~\r\n[[B]]", [Link("B")]),
        ("%%[[A]]%% [[B]] %%\n[[C]]\n%%", [Link("B")]),
        ("100%% sure [[A]]", [Link("A")]),
        ("`%%` [[A]] %%x%%", [Link("A")]),
        ("[[A\nB]]", []),
        ("[[[A]]]", [Link("A")]),
        ("[[A|x [1] y]]", [Link("A", alias="x [1] y")]),
    ],
)
def test_the_links_of_a_text(body: str, links: list[Link]) -> None:
    assert wikilinks(body) == links


def test_a_value_is_a_link_when_it_is_nothing_else() -> None:
    assert parse_link(" [[A|B]] ") == Link("A", alias="B")
    assert parse_link("see [[A]]") is None
    assert parse_link("[[A]], [[B]]") is None
    assert parse_link("A") is None


@pytest.mark.parametrize(
    ("alias", "read"),
    [
        ("Diet (0.8)", ("Diet", 0.8)),
        ("Diet (0,8)", ("Diet", 0.8)),
        ("Diet (.8) ", ("Diet", 0.8)),
        ("Diet(1)", ("Diet", 1.0)),
        ("Diet (0)", ("Diet", 0.0)),
        ("(0.5)", ("", 0.5)),
        ("Report (2024)", ("Report (2024)", None)),
        ("Diet (1.5)", ("Diet (1.5)", None)),
        ("Diet (-1)", ("Diet (-1)", None)),
        ("Diet (0.8) more", ("Diet (0.8) more", None)),
        ("", ("", None)),
    ],
)
def test_the_weight_of_an_edge_stands_in_brackets_behind_its_name(
    alias: str, read: tuple[str, float | None]
) -> None:
    assert edge_alias(alias) == read


@settings(deadline=None, max_examples=200)
@given(
    st.text(alphabet="ab ()0.[]|\n1", max_size=12),
    st.one_of(st.none(), st.floats(0, 1).map(lambda weight: round(weight, 3))),
)
def test_an_edge_reads_back_with_its_weight(name: str, weight: float | None) -> None:
    link = parse_link(edge_value("Medical/Diet/Diet", name, weight))
    assert link is not None
    assert link.target == "Medical/Diet/Diet"
    read = edge_alias(link.alias)[1]
    assert read == weight or (weight is None and read == 1.0)


@pytest.mark.parametrize("target", ["", "C#/C#", "a|b", "[x]", "a\nb"])
def test_an_edge_to_a_name_that_no_link_can_hold_is_refused(target: str) -> None:
    with pytest.raises(InvalidInput):
        edge_value(target, "x", None)


def test_edges_are_properties_that_are_links_under_keys_that_are_not_ours() -> None:
    raw = b"""---
type: focused
id: n-3f9c1a7e
transcript: "[[_recall/m-1/transcript|Transcript]]"
previous_part: "[[Part 1]]"
tags: "[[A]]"
Aliases: ["[[A]]"]
related_to:
  - "[[Medical/Diet/Diet|Diet (0.8)]]"
  - [[Unquoted]]
  - just text
  -
depends_on: '[[C#H|C]]'
up: [[D]]
recall: "[[_recall/m-1/transcript]]"
both: [[[E]], [[F|f (0.2)]]]
embed: "![[G]]"
map: {x: "[[H]]"}
---
"""
    assert [
        (one.relationship, one.link.target, one.weight) for one in edges_of(read_note(raw).data)
    ] == [
        ("related_to", "Medical/Diet/Diet", 0.8),
        ("related_to", "Unquoted", None),
        ("depends_on", "C", None),
        ("up", "D", None),
        ("both", "E", None),
        ("both", "F", 0.2),
    ]


EDGES = b"""---
related_to:
  # the first
  - "[[A|A (0.4)]]"   # c
  - 'plain'
  - [[B]]
one: "[[C]]"   # lone
flow: [[[D]], 'x: y', "[[E]]"]
---
body
"""


@pytest.mark.parametrize(
    ("relationship", "target", "value", "old", "new"),
    [
        (
            "related_to",
            "A",
            "[[A|A (0.9)]]",
            b'  - "[[A|A (0.4)]]"   # c\n',
            b'  - "[[A|A (0.9)]]"   # c\n',
        ),
        ("related_to", "Z", "[[Z]]", b"  - [[B]]\n", b'  - [[B]]\n  - "[[Z]]"\n'),
        ("related_to", "B", None, b"  - [[B]]\n", b""),
        ("one", "C", "[[C|C (0.1)]]", b'"[[C]]"   # lone', b'"[[C|C (0.1)]]"   # lone'),
        ("one", "C", None, b'one: "[[C]]"   # lone\n', b""),
        (
            "one",
            "Z",
            "[[Z]]",
            b'one: "[[C]]"   # lone\n',
            b'one:   # lone\n  - "[[C]]"\n  - "[[Z]]"\n',
        ),
        (
            "flow",
            "E",
            None,
            b"flow: [[[D]], 'x: y', \"[[E]]\"]\n",
            b"flow:\n  - \"[[D]]\"\n  - 'x: y'\n",
        ),
        ("new", "N", "[[N]]", b"---\nbody", b'new:\n  - "[[N]]"\n---\nbody'),
        ("one", "Z", None, b"", b""),
        ("related_to", "A", "[[A|A (0.4)]]", b"", b""),
    ],
)
def test_one_edge_is_set_and_the_other_lines_stay(
    relationship: str, target: str, value: str | None, old: bytes, new: bytes
) -> None:
    for eol in (b"\n", b"\r\n"):
        raw, expected = EDGES.replace(b"\n", eol), EDGES.replace(old, new, 1).replace(b"\n", eol)
        if not old:
            expected = raw
        assert set_edge(raw, relationship, lambda seen: seen == target, value) == expected


def test_the_same_edge_twice_becomes_one() -> None:
    raw = b'---\nr:\n  - "[[A]]"\n  - "[[B]]"\n  - "[[A|again]]"\n---\n'
    assert set_edge(raw, "r", lambda seen: seen == "A", "[[A|x]]") == (
        b'---\nr:\n  - "[[A|x]]"\n  - "[[B]]"\n---\n'
    )


def test_an_edge_has_no_name_of_ours_and_is_a_link() -> None:
    for key in (*OWN_KEYS, "tags", "a: b", ""):
        with pytest.raises(InvalidInput):
            set_edge(b"", key, lambda seen: True, "[[A]]")
    with pytest.raises(InvalidInput):
        set_edge(b"", "related_to", lambda seen: True, "A")
    with pytest.raises(NotWritable):
        set_edge(b"---\na: {b: c}\n---\n", "a", lambda seen: True, "[[A]]")


RENAMED = {"A": 'It\'s "new"', "Old/B": "New/B", "old.md": "n ü (1).md", "C": "x]y"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[A]]", '[[It\'s "new"]]'),
        ("![[A#h|b (0.3)]]", '![[It\'s "new"#h|b (0.3)]]'),
        ("[[ A |b]]", '[[ It\'s "new" |b]]'),
        ("[[Old/B\\|b]] [[B]]", "[[New/B\\|b]] [[B]]"),
        ("[x](old.md#h 'T')", "[x](n%20ü%20%281%29.md#h 'T')"),
        ("`[[A]]` %%[[A]]%%\n```\n[[A]]\n```", "`[[A]]` %%[[A]]%%\n```\n[[A]]\n```"),
        ("[[C]]", "[[C]]"),
        ("[[A|\r\n[[A]]\r\n", '[[A|\r\n[[It\'s "new"]]\r\n'),
    ],
)
def test_a_rename_changes_the_target_in_a_text_and_nothing_else(old: str, new: str) -> None:
    assert replace_links(old.encode(), RENAMED.get).decode() == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('k: "[[A|n (0.8)]]"  # c', 'k: "[[It\'s \\"new\\"|n (0.8)]]"  # c'),
        ("k: '[[A]]'", "k: '[[It''s \"new\"]]'"),
        ("k: [[Old/B|b]]", "k: [[New/B|b]]"),
        ("k:\n- [[Old/B]]\n- '[[Old/B#h]]'", "k:\n- [[New/B]]\n- '[[New/B#h]]'"),
        ("k: [ '[[Old/B]]', x ]", "k: [ '[[New/B]]', x ]"),
        ("k: see [[Old/B]] there", "k: see [[New/B]] there"),
        ("k: |\n  text [[Old/B]]\n  more", "k: |\n  text [[New/B]]\n  more"),
        ("k: {x: '[[Old/B]]'}", "k: {x: '[[New/B]]'}"),
        ("# [[Old/B]]\nk: v", "# [[Old/B]]\nk: v"),
        ('k: "\\u00e9 [[Old/B]]"', 'k: "é [[New/B]]"'),
        ("{k: '[[Old/B]]'}", "{k: '[[New/B]]'}"),
    ],
)
def test_a_rename_changes_the_target_in_properties(old: str, new: str) -> None:
    raw, expected = f"\ufeff---\n{old}\n---\n[[Old/B]]", f"\ufeff---\n{new}\n---\n[[New/B]]"
    assert replace_links(raw.encode(), RENAMED.get).decode() == expected


def test_an_unquoted_link_is_quoted_when_its_new_name_needs_it() -> None:
    raw = b"---\nk: [[A]]\n---\n"
    for name in ("x, y: z", "it #1"[:2] + "s", "'q"):
        new = replace_links(raw, lambda _, name=name: name)  # type: ignore[misc]
        assert read_note(new).data == {"k": f"[[{name}]]"}


def test_a_rename_never_writes_to_a_note_that_cannot_be_read_for_certain() -> None:
    raw = b"---\na: b: c\n---\n[[A]]"
    with pytest.raises(NotWritable):
        replace_links(raw, RENAMED.get)
    assert replace_links(raw, lambda _: None) == raw


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "[[A]]",
                "![[A#h|b]]",
                "[[B]]",
                "[x](A.md)",
                "`",
                "```\n",
                "%%",
                "\n",
                "\r\n",
                "text",
            ),
            *("[[", "]]", "|", "#", "\\", "é", "]", "[", "(", ")", "<", "\n\n"),
        ]
    ),
    max_size=14,
).map("".join)


@settings(deadline=None, max_examples=250)
@given(
    PIECES, PIECES.map(lambda text: text.replace("\n", " ").replace("\r", "")), st.integers(0, 3)
)
def test_a_rename_there_and_back_gives_the_same_bytes(body: str, value: str, style: int) -> None:
    written = [value, f"'{value}'", f"|\n  {value}", f"\n  - {value}\n  - x"][style]
    raw = f"---\nk: {written}\n---\n{body}".encode()
    note = read_note(raw)
    assume(note.writable)
    there = replace_links(raw, {"A": "Z", "A.md": "Z.md"}.get)
    after = read_note(there)
    assert [link.target for link in wikilinks(after.body)] == [
        {"A": "Z", "A.md": "Z.md"}.get(link.target, link.target) for link in wikilinks(note.body)
    ]
    assert replace_links(there, {"Z": "A", "Z.md": "A.md"}.get) == raw


STYLES = st.sampled_from(
    [
        "r:",
        "r: '[[A]]'   # c",
        "r: [[A|x (0.2)]]",
        "r: ['[[A]]', [[B]], 'p: q']   # c",
        "r: [\n  '[[A]]', # c\n  [[B]]\n  ]",
        "r:\n- [[A]]   # c\n# about B\n- '[[B]]'\n-\n- {x: y}",
        'r:   # edges\n    - "[[A]]"\n    -   [[B]]\n\n    - >-\n      [[C]]\n',
        "r: |\n  [[A]]\n",
        "# nothing",
    ]
)


@settings(deadline=None, max_examples=250)
@given(
    STYLES,
    st.sampled_from(["", "a: 1\n", "# c\n", "a: |+\n  x\n\n"]),
    st.sampled_from(["", "z: 1\n", "# c\nz: 1\n", "\n"]),
    st.sampled_from("ABCD"),
    st.sampled_from([None, "plain", "Name (0.7)"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_an_edge_is_set_in_any_style_of_list(
    style: str, above: str, below: str, target: str, alias: str | None, eol: str
) -> None:
    raw = f"---\n{above}{style}\n{below}---\nbody\n".replace("\n", eol).encode()
    before = read_note(raw)
    value = None if alias is None else f"[[{target}|{alias}]]"
    new = set_edge(raw, "r", lambda seen: seen == target, value)
    after = read_note(new)

    def others(data: Mapping[str, Value]) -> list[object]:
        held = data.get("r")
        items = held if isinstance(held, list) else [held] if held else []
        links = [(item, parse_link(item) if isinstance(item, str) else None) for item in items]
        return [item for item, link in links if link is None or link.target != target]

    assert others(after.data) == others(before.data)
    ours = [edge for edge in edges_of(after.data) if edge.link.target == target]
    assert [edge.link.alias for edge in ours] == ([] if alias is None else [alias])
    assert {**after.data, "r": None} == {**before.data, "r": None}
    assert after.body == before.body
    assert set_edge(new, "r", lambda seen: seen == target, value) == new
