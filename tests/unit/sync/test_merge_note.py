"""Two machines changed one note: what becomes of every line."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.edits.compose import summary_source
from neurigraph.sync.git_process import merge_text
from neurigraph.sync.merge_note import Merged, merge_lines, merge_note, without_id
from neurigraph.vault.note import read_note, section_text, set_keys, texts

BASE = b"""---
type: memory
id: m-20261130-7f3a2c1b
title: "Lisinopril: dose"   # as the doctor said
created: 2026-11-30T10:30:00
keywords:
  - lisinopril
  - blood pressure
temperature: hot
last_accessed: 2026-11-30T10:30:00
access_count: 3
pinned: false
# where it belongs
related_to:
  - "[[Medical/Diet/Diet|Diet (0.8)]]"
mood: {calm: yes}
---
## Summary
Ten milligrams in the morning.

## Notes
one
two
three
four
five
"""


def merged(ours: bytes, theirs: bytes, base: bytes = BASE) -> Merged:
    return merge_note(base, ours, theirs, merge_text)


def swap(old: str, new: str, raw: bytes = BASE) -> bytes:
    assert old.encode() in raw
    return raw.replace(old.encode(), new.encode())


def values(result: Merged) -> dict[str, object]:
    assert not result.conflict
    note = read_note(result.data)
    assert note.writable, note.problem
    return dict(note.data)


def test_edits_of_different_properties_and_paragraphs_all_stay() -> None:
    ours = swap("one\n", "one\nmine\n", swap("mood: {calm: yes}", "mood: {calm: no}  # today"))
    theirs = swap("five\n", "five\nyours\n", swap("pinned: false", "pinned: true\nfriends: [Ada]"))
    result = merged(ours, theirs)
    assert result == Merged(
        swap(
            "five\n",
            "five\nyours\n",
            swap(
                "one\n",
                "one\nmine\n",
                swap(
                    "mood: {calm: yes}",
                    "mood: {calm: no}  # today",
                    swap("pinned: false", "pinned: true\nfriends: [Ada]"),
                ),
            ),
        )
    )
    assert merged(theirs, ours) == result


def test_keywords_merge_as_sets() -> None:
    ours = swap("  - blood pressure\n", "  - kidneys\n")
    theirs = swap("  - blood pressure\n", "  - blood pressure\n  - cough\n")
    assert values(merged(ours, theirs))["keywords"] == ["lisinopril", "cough", "kidneys"]
    assert set(texts(read_note(merged(theirs, ours).data).data["keywords"])) == {
        "lisinopril",
        "cough",
        "kidneys",
    }


def test_tags_on_one_line_merge_as_sets() -> None:
    base = b"---\ntags: a, b\n---\n"
    result = merged(b"---\ntags: a, b, c\n---\n", b"---\ntags: [a, b, d]\n---\n", base)
    assert values(result)["tags"] == ["a", "b", "d", "c"]


def test_edges_merge_by_their_target_however_it_is_spelled() -> None:
    ours = swap(
        '  - "[[Medical/Diet/Diet|Diet (0.8)]]"\n',
        '  - "[[Diet|Diet (0.9)]]"\n  - "[[Medical/Sleep/Sleep|Sleep]]"\n',
    )
    theirs = swap(
        '  - "[[Medical/Diet/Diet|Diet (0.8)]]"\n',
        '  - "[[Medical/Diet/Diet|Diet (0.8)]]"\n  - "[[Medical/Heart/Heart|Heart (0.4)]]"\n',
    )

    def resolved(target: str) -> str:
        return target.rpartition("/")[2]

    result = merge_note(BASE, ours, theirs, merge_text, resolved)
    assert values(result)["related_to"] == [
        "[[Diet|Diet (0.9)]]",
        "[[Medical/Heart/Heart|Heart (0.4)]]",
        "[[Medical/Sleep/Sleep|Sleep]]",
    ]


def test_an_edge_that_one_side_removed_and_the_other_left_is_gone() -> None:
    ours = swap('related_to:\n  - "[[Medical/Diet/Diet|Diet (0.8)]]"\n', "")
    theirs = swap("pinned: false", "pinned: true")
    assert "related_to" not in values(merged(ours, theirs))
    assert b"# where it belongs" in merged(ours, theirs).data


def test_the_stronger_of_two_new_weights_counts() -> None:
    ours, theirs = swap("(0.8)", "(0.6)"), swap("(0.8)", "(0.7)")
    for result in (merged(ours, theirs), merged(theirs, ours)):
        assert values(result)["related_to"] == ["[[Medical/Diet/Diet|Diet (0.7)]]"]


def test_opened_there_and_cooled_here_is_hot_with_the_newest_access() -> None:
    cooled = swap("temperature: hot", 'temperature: cold\ntranscript: "_recall/x/transcript.md.gz"')
    opened = swap(
        "last_accessed: 2026-11-30T10:30:00\naccess_count: 3",
        "last_accessed: 2026-12-20T08:00:00\naccess_count: 9",
    )
    for result in (merged(cooled, opened), merged(opened, cooled)):
        found = values(result)
        assert found["temperature"] == "hot"
        assert found["last_accessed"] == "2026-12-20T08:00:00"
        assert found["access_count"] == "9"


def test_cooled_here_and_untouched_there_is_cold() -> None:
    cooled = swap("temperature: hot", "temperature: cold")
    assert values(merged(cooled, swap("one\n", "one more\n")))["temperature"] == "cold"


def test_a_persons_summary_stands_over_a_generated_one() -> None:
    made = set_keys(
        BASE, {"summary_source": summary_source("extractive", "Ten milligrams in the morning.")}
    )
    person = swap("Ten milligrams in the morning.", "I take ten, and feel well.", made)
    better = "The dose is ten milligrams, taken in the morning; potassium after two weeks."
    again = swap("Ten milligrams in the morning.", better, made)
    again = set_keys(again, {"summary_source": summary_source("ollama:llama3", better)})
    for result in (merged(person, again, made), merged(again, person, made)):
        assert not result.conflict
        note = read_note(result.data)
        assert section_text(note.body, "Summary") == "I take ten, and feel well."
        assert note.data["summary_source"] == read_note(made).data["summary_source"]


def test_of_two_generated_summaries_one_is_taken_whole() -> None:
    made = set_keys(
        BASE, {"summary_source": summary_source("extractive", "Ten milligrams in the morning.")}
    )
    sides = []
    for words in ("It is ten milligrams, each morning.", "Ten, mornings."):
        side = swap("Ten milligrams in the morning.", words, made)
        sides.append(set_keys(side, {"summary_source": summary_source("ollama:x", words)}))
    for result in (merged(*sides, made), merged(*reversed(sides), made)):
        assert not result.conflict
        note = read_note(result.data)
        assert section_text(note.body, "Summary") == "It is ten milligrams, each morning."
        source = note.data["summary_source"]
        assert source == summary_source("ollama:x", "It is ten milligrams, each morning.")


def test_two_titles_take_theirs_and_say_that_ours_is_to_be_kept_beside() -> None:
    ours, theirs = (
        swap('"Lisinopril: dose"', "Blood pressure"),
        swap('"Lisinopril: dose"', "The dose"),
    )
    result = merged(ours, theirs)
    assert result.conflict
    assert read_note(result.data).data["title"] == "The dose"
    assert b"# as the doctor said" in result.data


def test_the_same_paragraph_changed_twice_has_no_markers_and_is_a_conflict() -> None:
    result = merged(swap("three", "three apples"), swap("three", "three pears"))
    assert result.conflict
    assert b"three pears" in result.data
    assert b"<<<<" not in result.data
    assert b"====" not in result.data


def test_what_one_side_added_to_the_others_addition_is_no_conflict() -> None:
    ours = swap("five\n", "five\nsix\n")
    theirs = swap("five\n", "five\nsix\nseven\n")
    for result in (merged(ours, theirs), merged(theirs, ours)):
        assert result == Merged(theirs)


def test_a_property_removed_here_and_changed_there_stays() -> None:
    ours, theirs = (
        swap("mood: {calm: yes}\n", ""),
        swap("mood: {calm: yes}", "mood: {calm: maybe}"),
    )
    for result in (merged(ours, theirs), merged(theirs, ours)):
        assert values(result)["mood"] == {"calm": "maybe"}


def test_comments_of_both_sides_stay() -> None:
    ours = swap("# where it belongs\n", "# where it belongs\n# mine\n")
    theirs = swap("# where it belongs\n", "# yours\n# where it belongs\n")
    result = merged(
        swap("pinned: false", "pinned: true", ours),
        swap("access_count: 3", "access_count: 4", theirs),
    )
    for line in (b"# mine\n", b"# yours\n", b"# where it belongs\n"):
        assert result.data.count(line) == 1
    values(result)


def test_crlf_on_one_side_is_kept_and_no_conflict() -> None:
    ours = swap("one\n", "one\nmine\n").replace(b"\n", b"\r\n")
    theirs = swap("five\n", "five\nyours\n")
    expected = swap("five\n", "five\nyours\n", swap("one\n", "one\nmine\n")).replace(b"\n", b"\r\n")
    assert merged(ours, theirs) == Merged(expected)
    assert merged(theirs, ours) == Merged(expected)
    bom = b"\xef\xbb\xbf"
    assert merged(bom + ours, theirs) == Merged(bom + expected)


def test_a_note_whose_properties_do_not_parse_merges_as_text_or_is_kept_twice() -> None:
    broken = swap("created: 2026", "broken: a: b\ncreated: 2026")
    result = merged(broken, swap("five\n", "five\nyours\n"))
    assert result == Merged(swap("five\n", "five\nyours\n", broken))
    result = merged(swap("two", "2", broken), swap("two", "zwei"))
    assert result.conflict
    assert result.data.count(b"zwei") == 1


def test_a_topic_made_on_both_machines_keeps_the_id_that_was_first() -> None:
    ours = b"---\ntype: focused\nid: n-11111111\ncreated: 2026-11-30T10:00:00\n---\n# Diet\n"
    theirs = (
        b"---\ntype: focused\nid: n-00000000\ncreated: 2026-11-30T12:00:00\n"
        b"description: Food\n---\n# Diet\n"
    )
    for result in (merged(ours, theirs, b""), merged(theirs, ours, b"")):
        found = values(result)
        assert found["id"] == "n-11111111"
        assert found["created"] == "2026-11-30T10:00:00"
        assert found["description"] == "Food"


def test_a_version_that_is_set_aside_has_no_id() -> None:
    assert without_id(BASE) == swap("id: m-20261130-7f3a2c1b\n", "")
    broken = b"---\nid: m-20261130-7f3a2c1b\na: b: c\n---\n"
    assert without_id(broken) == broken


# -- any two edits

LINES = st.sampled_from(["apple", "pear", "plum", "", "## Notes", "- item", "ein Satz. ", "日本"])
KEYS = ["title", "keywords", "tags", "mood", "related_to", "access_count", "pinned", "x-y"]
PLAIN = st.sampled_from(["true", "12:30", "no", "words and words", "a: b", "#5", ""])
ITEMS = st.lists(st.sampled_from(["a", "b", "c", "d: e", "[[A]]", "[[B/C|C (0.4)]]"]), unique=True)


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    """A note with some properties and some lines."""
    data: dict[str, str | list[str]] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True)):
        data[key] = draw(st.one_of(PLAIN, ITEMS))
    body = "".join(f"{line}\n" for line in draw(st.lists(LINES, max_size=12)))
    return set_keys(body.encode(), dict(data)) if data else body.encode()


@st.composite
def edits(draw: st.DrawFn, base: bytes, mark: str) -> tuple[bytes, list[str]]:
    """An edit of a note, and the lines of text that it added."""
    note = read_note(base)
    head, lines = base[: len(base) - len(note.body.encode())], note.body.splitlines(keepends=True)
    added = []
    for number in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        if lines and draw(st.booleans()):
            del lines[min(at, len(lines) - 1)]
        else:
            added.append(f"{mark} {number}")
            lines.insert(at, f"{mark} {number}\n")
    raw = head + "".join(lines).encode()
    if not read_note(raw).writable:
        return base, []
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3)):
        raw = set_keys(raw, {key: draw(st.one_of(PLAIN, ITEMS, st.none()))})
    return raw, [line for line in added if f"{line}\n".encode() in raw]


@settings(deadline=None, max_examples=120)
@given(st.data())
def test_no_line_that_one_side_added_is_lost_and_every_result_parses(data: st.DataObject) -> None:
    base = data.draw(notes())
    ours, our_lines = data.draw(edits(base, "mine"))
    theirs, their_lines = data.draw(edits(base, "yours"))
    result = merged(ours, theirs, base)
    assert read_note(result.data).writable
    assert b"<<<<<<<" not in result.data
    lines = Counter(read_note(result.data).body.splitlines())
    assert all(lines[line] == 1 for line in their_lines)
    if not result.conflict:
        assert all(lines[line] == 1 for line in our_lines)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_merging_again_and_merging_with_an_unchanged_side_change_nothing(
    data: st.DataObject,
) -> None:
    base = data.draw(notes())
    ours, _ = data.draw(edits(base, "mine"))
    theirs, _ = data.draw(edits(base, "yours"))
    assert merged(ours, base, base) == Merged(ours)
    assert merged(base, theirs, base) == Merged(theirs)
    assert merged(ours, ours, base) == Merged(ours)
    once = merged(ours, theirs, base).data
    assert merged(once, theirs, theirs) == Merged(once)
    assert merged(once, once, base) == Merged(once)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_without_a_conflict_it_does_not_matter_who_merges(data: st.DataObject) -> None:
    base = data.draw(notes())
    ours, _ = data.draw(edits(base, "mine"))
    theirs, _ = data.draw(edits(base, "yours"))
    one, other = merged(ours, theirs, base), merged(theirs, ours, base)
    assert one.conflict == other.conflict
    if not one.conflict:
        left, right = read_note(one.data), read_note(other.data)
        assert left.body == right.body
        assert {k: _unordered(v) for k, v in left.data.items()} == {
            k: _unordered(v) for k, v in right.data.items()
        }


def _unordered(value: object) -> object:
    return sorted(map(str, value)) if isinstance(value, list) else value


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_the_text_of_a_note_merges_exactly_as_git_merges_it(data: st.DataObject) -> None:
    lines = st.lists(LINES, max_size=10).map(lambda x: "".join(f"{line}\n" for line in x).encode())
    base, ours, theirs = (data.draw(lines) for _ in range(3))
    made, clean = merge_text(base, ours, theirs, "")
    result = merge_lines(base, ours, theirs, merge_text)
    if clean and ours != theirs and base not in (ours, theirs):
        assert result == Merged(made)


def test_text_merges_are_those_of_git_merge_file(tmp_path: Path) -> None:
    for name, raw in (("o", swap("one", "1")), ("b", BASE), ("t", swap("five", "5"))):
        (tmp_path / name).write_bytes(raw)
    out = subprocess.run(
        ["git", "merge-file", "-p", "o", "b", "t"], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    assert merge_text(BASE, swap("one", "1"), swap("five", "5"), "") == (out, True)


@pytest.mark.parametrize("data", [b"\x00\x01", b"a\x00b\n"])
def test_what_is_no_text_is_never_merged(data: bytes) -> None:
    assert merge_lines(data, data + b"1", data + b"2", merge_text) == Merged(data + b"2", True)
