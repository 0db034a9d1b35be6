"""Any title makes a name that every system and every wikilink can bear."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.vault.names import (
    MEMORY_ID,
    NODE_ID,
    STRANGER_ID,
    folder_node_id,
    is_conflict_copy,
    is_scratch,
    memory_file_name,
    new_memory_id,
    new_node_id,
    numbered,
    placeholder_of,
    safe_file_name,
    safe_name,
    same_name,
    stranger_id,
)

ODD = st.lists(
    st.sampled_from(
        [
            *'\\/:*?"<>|#^[].~ ',
            "..",
            "CON",
            "nul",
            "com¹",
            "LPT9",
            ".md",
            "_recall",
            "é",
            "e\u0301",
            "\u0301",
            "\u200b",
            "\u200d",
            "\u202e",
            "\ud800",
            "\0",
            "\n",
            "\u2028",
            "😀",
            "東",
            "a",
            "b" * 60,
            "\u00a0",
        ]
    ),
    max_size=12,
).map("".join)
DEVICE = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ .]*(\..*)?\Z")


@given(ODD | st.text(), st.integers(16, 200))
@settings(deadline=None, max_examples=500)
def test_a_name_is_safe_for_every_system_and_stays_so(text: str, most: int) -> None:
    name = safe_name(text, max_bytes=most)
    assert name
    assert len(name.encode("utf-8")) <= most
    assert not set('\\/:*?"<>|#^[]\0\n\r\t') & set(name)
    assert not name.startswith((".", " ")) and not name.endswith((".", " "))
    assert not DEVICE.match(name) and not DEVICE.match(f"{name}.md")
    assert name.casefold() not in ("_recall", "_inbox")
    assert unicodedata.is_normalized("NFC", name)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in name)
    assert safe_name(name, max_bytes=most) == name


@given(ODD | st.text())
@settings(deadline=None, max_examples=300)
def test_a_file_from_elsewhere_gets_a_safe_name_too(text: str) -> None:
    name = safe_file_name(text)
    assert name and len(name.encode()) <= 120 and "/" not in name and "\\" not in name
    assert name not in (".", "..") and not DEVICE.match(name)
    assert safe_file_name(name) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../etc", "etc"),
        ("CON", "_CON"),
        ("con.md", "_con.md"),
        ("com¹", "_com¹"),
        ("Lisinopril: dose change", "Lisinopril dose change"),
        ("a/b\\c", "a b c"),
        ("C++ / C#", "C++ C"),
        ("  .hidden. ", "hidden"),
        ("e\u0301te\u0301", "été"),
        ("_recall", "recall"),
        ("", "Untitled"),
        ("???", "Untitled"),
        ("family 👨‍👩‍👧", "family 👨‍👩‍👧"),
        ("\u202eevil\u200b", "evil"),
    ],
)
def test_names_that_people_would_expect(text: str, name: str) -> None:
    assert safe_name(text) == name


def test_an_ending_survives_a_long_name() -> None:
    assert safe_file_name("x" * 300 + ".tar.gz").endswith("x.tar.gz")
    assert safe_file_name("/home/me/plan.pdf") == "plan.pdf"
    assert safe_file_name("C:\\Users\\me\\plan.pdf") == "plan.pdf"
    assert numbered("backup.tar.gz", 2) == "backup 2.tar.gz"
    assert numbered("v1.2 notes", 3) == "v1.2 notes 3"


def test_a_memory_is_named_by_date_and_title() -> None:
    created = datetime(2026, 11, 30, 12, tzinfo=UTC)
    day = created.astimezone().date().isoformat()
    assert (
        memory_file_name(created, "Lisinopril: dose", lambda _: False)
        == f"{day} Lisinopril dose.md"
    )
    taken = {f"{day} x.md", f"{day} x 2.md"}
    assert memory_file_name(created, "x", taken.__contains__) == f"{day} x 3.md"
    assert memory_file_name(created, f"{day} x", lambda _: False) == f"{day} x.md"
    long = memory_file_name(created, "東京" * 100, lambda _: False)
    assert len(long.encode()) <= 120 and long.endswith(".md")


def test_a_title_about_conflicts_makes_no_conflict_copy() -> None:
    title = "Why (Bob's conflicted copy 2026-01-01) appears .sync-conflict-20261130-103000-ABCDEFG"
    name = memory_file_name(datetime(2026, 11, 30, tzinfo=UTC), title, lambda _: False)
    assert not is_conflict_copy(name)


def test_ids_have_their_pattern_and_avoid_what_is_taken() -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert MEMORY_ID.fullmatch(new_memory_id(now, ()))
    assert NODE_ID.fullmatch(new_node_id(()))
    assert STRANGER_ID.fullmatch(stranger_id("Medical/x.md"))
    assert NODE_ID.fullmatch(folder_node_id("Medical"))
    assert not MEMORY_ID.match("m-20261130-7f3a2c1b\n")

    class AllButLast:
        def __init__(self) -> None:
            self.asked: list[object] = []

        def __contains__(self, made: object) -> bool:
            self.asked.append(made)
            return len(self.asked) < 3

    taken = AllButLast()
    assert new_node_id(taken) == taken.asked[-1]


def test_ids_do_not_depend_on_the_unicode_form_of_a_path() -> None:
    assert stranger_id("Caf\u00e9/x.md") == stranger_id("Cafe\u0301/x.md")
    assert folder_node_id("Caf\u00e9") == folder_node_id("Cafe\u0301")
    assert same_name("Caf\u00e9", "CAFE\u0301") and not same_name("a", "b")


@pytest.mark.parametrize(
    "name",
    [
        "Diet (Bob's conflicted copy 2026-11-30).md",
        "Diet (Bob's Conflicted Copy 2026-11-30 (1)).md",
        "Diet (Bob (Mac)'s conflicted copy 2026-11-30).md",
        "Diet (conflicted copy 2026-11-30 103000).md",
        "Diet (Conflicted copy MacBook 202611301030).md",
        "Diet.sync-conflict-20261130-103000-ABCDEFG.md",
        "Diet_conflict-20261130-103000.md",
        "Diet (SFConflict bob@example.org 2026-11-30-10-30-00).md",
        "Diet (conflict from laptop 2026-11-30).md",
        "Diet (conflict from my laptop 2026-11-30 1030).md",
    ],
)
def test_conflict_copies_of_sync_tools_are_known(name: str) -> None:
    assert is_conflict_copy(name)


@pytest.mark.parametrize(
    "name",
    [
        "Diet 2.md",
        "Diet (1).md",
        "Diet-DESKTOP.md",
        "Resolving a conflict.md",
        "Conflict (1939-1945).md",
        "conflicted copy.md",
        "Conflict from 1914.md",
    ],
)
def test_names_that_a_person_could_give_are_no_conflict_copies(name: str) -> None:
    assert not is_conflict_copy(name)


def test_files_that_editors_make_for_a_moment_are_known() -> None:
    for name in (
        "4913",
        "note.md~",
        ".note.md.swp",
        ".note.md.swx",
        ".#note.md",
        "#note.md#",
        "x.tmp",
        ".neurigraph-0123456789ab.tmp",
        "~$plan.docx",
        ".goutputstream-X1Y2Z3",
    ):
        assert is_scratch(name), name
    for name in ("note.md", "49131.md", "C# notes.md", "swp.md", "# heading.md", "tmp"):
        assert not is_scratch(name), name


def test_what_icloud_took_off_the_disk_is_known_by_its_stand_in() -> None:
    assert placeholder_of(".Diet.md.icloud") == "Diet.md"
    assert placeholder_of("Diet.md") is None
    assert placeholder_of(".icloud") is None
