"""Two versions of a whole vault become one: renames, deletions, cooling, and what both did."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

import pytest

from neurigraph.edits.tombstones import lines_for
from neurigraph.sync.contents import Contents
from neurigraph.sync.git import Entry
from neurigraph.sync.git_process import merge_text
from neurigraph.sync.merge_tree import TreeMerge, merge_trees
from neurigraph.sync.placing import Naming
from neurigraph.vault.note import new_note, read_note, set_keys, text, texts
from neurigraph.vault.packing import gunzip, gzip_bytes

Vault = dict[str, bytes]
ID, OTHER = "m-20261130-7f3a2c1b", "m-20261201-00000001"
NODE = "n-3f9c1a7e"
NOTE = "Medical/Medications/2026-11-30 Dose.md"
PLAIN = f"_recall/{ID}/transcript.md"
COPY = " (conflict from laptop 2026-12-01 10-00).md"


def memory(own: str = ID, body: str = "## Summary\nTen.\n\n## Notes\none\ntwo\nthree\n") -> bytes:
    data: dict[str, str | list[str]] = {
        "type": "memory",
        "id": own,
        "title": f"Dose {own[-3:]}",
        "created": f"{own[2:6]}-{own[6:8]}-{own[8:10]}T10:00:00",
        "keywords": ["dose"],
        "temperature": "hot",
        "last_accessed": "2026-11-30T10:00:00",
        "transcript": f"[[_recall/{own}/transcript|Transcript]]",
        "transcript_sha256": hashlib.sha256(own.encode()).hexdigest(),
    }
    return new_note(data, body)


def node(own: str = NODE, name: str = "Medications") -> bytes:
    return new_note({"type": "focused", "id": own, "created": "2026-11-01T10:00:00"}, f"# {name}\n")


TALK = b"## User\n\nHow much?\n\n## Assistant\n\nTen milligrams.\n"
BASE: Vault = {
    "Medical/Medications/Medications.md": node(),
    NOTE: memory(),
    PLAIN: TALK,
    "Diary/today.md": b"# Today\n\none\ntwo\nthree\n",
    "Diary/plan.png": bytes(range(256)),
}


def merged(base: Vault, ours: Vault, theirs: Vault) -> tuple[Vault, TreeMerge]:
    """Merge vaults given as paths and bytes."""
    held: dict[str, bytes] = {}

    def tree(vault: Vault) -> dict[str, Entry]:
        held.update({hashlib.sha1(d).hexdigest(): d for d in vault.values()})
        return {p: Entry("100644", hashlib.sha1(d).hexdigest()) for p, d in vault.items()}

    def read(oids: Iterable[str]) -> Mapping[str, bytes]:
        return {oid: held[oid] for oid in oids}

    sides = {"ours": ours, "theirs": theirs}

    def renames(name: str) -> Mapping[str, str]:
        return _look_alike(base, sides[name])

    trees = [tree(v) for v in (base, ours, theirs)]
    contents = Contents(read)
    result = merge_trees(
        trees[0], trees[1], trees[2], contents, renames, merge_text,
        Naming("laptop", "2026-12-01 10-00"),
    )  # fmt: skip
    after = {p: e.oid for p, e in trees[2].items()}
    for path, entry in result.changes.items():
        if entry is None:
            del after[path]
        else:
            after[path] = entry.oid
    return {p: contents[oid] for p, oid in after.items()}, result


def _look_alike(base: Vault, side: Vault) -> dict[str, str]:
    """What git's rename detection would find."""
    found: dict[str, str] = {}
    for old in sorted(set(base) - set(side)):
        for new in sorted(set(side) - set(base) - set(found.values())):
            if SequenceMatcher(None, base[old], side[new]).ratio() > 0.5:
                found[old] = new
                break
    return found


def change(vault: Vault, *gone: str, **_: object) -> Vault:
    return {p: d for p, d in vault.items() if p not in gone}


def moved(vault: Vault, old: str, new: str) -> Vault:
    return {p.replace(old, new, 1) if p.startswith(old) else p: d for p, d in vault.items()}


def both_ways(base: Vault, ours: Vault, theirs: Vault) -> list[Vault]:
    return [merged(base, ours, theirs)[0], merged(base, theirs, ours)[0]]


def test_edits_of_different_notes_and_of_one_note_all_stay() -> None:
    ours = BASE | {NOTE: BASE[NOTE].replace(b"one", b"one mine"), "New/a.md": b"a\n"}
    theirs = BASE | {NOTE: BASE[NOTE].replace(b"three", b"three yours"), "New/b.md": b"b\n"}
    expected = BASE | {
        NOTE: BASE[NOTE].replace(b"one", b"one mine").replace(b"three", b"three yours"),
        "New/a.md": b"a\n",
        "New/b.md": b"b\n",
    }
    assert both_ways(BASE, ours, theirs) == [expected, expected]


def test_a_memory_moved_here_and_edited_there_is_both() -> None:
    edited = BASE[NOTE].replace(b"two", b"two yours")
    ours = moved(BASE, NOTE, "Medical/Heart/Dose.md")
    expected = moved(BASE, NOTE, "Medical/Heart/Dose.md") | {"Medical/Heart/Dose.md": edited}
    assert both_ways(BASE, ours, BASE | {NOTE: edited}) == [expected, expected]


def test_a_persons_note_moved_here_and_edited_there_is_both() -> None:
    ours = moved(BASE, "Diary/today.md", "Old/2026.md")
    theirs = BASE | {"Diary/today.md": BASE["Diary/today.md"] + b"four\n"}
    expected = moved(BASE, "Diary/today.md", "Old/2026.md")
    expected["Old/2026.md"] = BASE["Diary/today.md"] + b"four\n"
    assert both_ways(BASE, ours, theirs) == [expected, expected]


def test_what_was_added_to_a_folder_that_the_other_renamed_follows_it() -> None:
    ours = moved(BASE, "Medical/", "Health/")
    theirs = BASE | {
        "Medical/Medications/new.md": b"new [[Medical/Medications/2026-11-30 Dose]]\n",
        "Medical/Sleep/Sleep.md": node("n-00000001", "Sleep"),
    }
    for after in both_ways(BASE, ours, theirs):
        assert not any(path.startswith("Medical/") for path in after)
        assert after["Health/Medications/new.md"] == (
            b"new [[Health/Medications/2026-11-30 Dose]]\n"
        )
        assert after["Health/Sleep/Sleep.md"] == node("n-00000001", "Sleep")


def test_a_topic_renamed_with_its_note_takes_additions_along() -> None:
    ours = moved(BASE, "Medical/Medications/", "Medical/Pills/")
    ours = moved(ours, "Medical/Pills/Medications.md", "Medical/Pills/Pills.md")
    edge = {"related_to": ["[[Medical/Medications/Medications|Medications (0.8)]]".strip("'")]}
    theirs = BASE | {
        "Medical/Medications/new.md": memory(OTHER),
        "Medical/Diet/Diet.md": set_keys(node("n-00000002", "Diet"), edge),
    }
    for after in both_ways(BASE, ours, theirs):
        assert after["Medical/Pills/new.md"] == memory(OTHER)
        diet = read_note(after["Medical/Diet/Diet.md"]).data
        assert texts(diet["related_to"]) == ["[[Medical/Pills/Pills|Medications (0.8)]]"]


def test_a_folder_renamed_on_both_machines_takes_one_of_the_names() -> None:
    ours = moved(BASE, "Medical/", "Health/") | {"Health/Medications/mine.md": b"mine\n"}
    theirs = moved(BASE, "Medical/", "Medicine/") | {"Medicine/Medications/yours.md": b"yours\n"}
    after, _ = merged(BASE, ours, theirs)
    expected = moved(BASE, "Medical/", "Medicine/") | {
        "Medicine/Medications/mine.md": b"mine\n",
        "Medicine/Medications/yours.md": b"yours\n",
    }
    assert after == expected


def test_a_note_moved_out_of_a_folder_that_the_other_renamed_stays_where_it_was_put() -> None:
    ours = moved(BASE, NOTE, "Home/Dose.md")
    theirs = moved(BASE, "Medical/", "Health/")
    expected = moved(moved(BASE, NOTE, "Home/Dose.md"), "Medical/", "Health/")
    assert both_ways(BASE, ours, theirs) == [expected, expected]


def test_deleted_here_and_edited_there_stays_whole() -> None:
    ours = change(BASE, NOTE, PLAIN)
    ours[".neurigraph-tombstones"] = "".join(
        f"{line}\n"
        for line in sorted(lines_for("", [hashlib.sha256(ID.encode()).hexdigest()]) | {"source 1"})
    ).encode()
    for edited in (
        {NOTE: BASE[NOTE].replace(b"two", b"two yours")},
        {PLAIN: TALK + b"\n## User\n\nThanks.\n"},
        {f"_recall/{ID}/artifacts/plan.txt": b"plan\n"},
    ):
        for after in both_ways(BASE, ours, BASE | edited):
            assert after == BASE | edited | {".neurigraph-tombstones": b"source 1\n"}


def test_deleted_here_and_only_cooled_or_opened_there_is_deleted() -> None:
    ours = change(BASE, NOTE, PLAIN)
    cooled = change(BASE, PLAIN) | {
        NOTE: set_keys(BASE[NOTE], {"temperature": "cold", "transcript": f"{PLAIN}.gz"}),
        f"{PLAIN}.gz": gzip_bytes(TALK),
    }
    opened = BASE | {NOTE: set_keys(BASE[NOTE], {"access_count": 5})}
    for theirs in (cooled, opened, moved(BASE, "Medical/", "Health/")):
        for after in both_ways(BASE, ours, theirs):
            assert not any("Dose" in path or path.startswith("_recall") for path in after)


def test_a_persons_note_deleted_here_and_edited_there_stays() -> None:
    ours = change(BASE, "Diary/today.md", "Diary/plan.png")
    theirs = BASE | {"Diary/today.md": b"# Today\n\nnew\n"}
    for after in both_ways(BASE, ours, theirs):
        assert after == change(theirs, "Diary/plan.png")


def test_compressed_here_and_edited_there_is_the_edit() -> None:
    ours = change(BASE, PLAIN) | {f"{PLAIN}.gz": gzip_bytes(TALK)}
    theirs = BASE | {PLAIN: TALK + b"more\n"}
    for after in both_ways(BASE, ours, theirs):
        assert after == BASE | {PLAIN: TALK + b"more\n"}


def test_a_transcript_stored_twice_is_never_deleted_twice() -> None:
    twice = BASE | {f"{PLAIN}.gz": gzip_bytes(TALK)}
    for after in both_ways(twice, change(twice, PLAIN), change(twice, f"{PLAIN}.gz")):
        assert [p for p in after if p.startswith(PLAIN)] in ([PLAIN], [f"{PLAIN}.gz"])


def test_compressed_on_both_is_compressed_whatever_packed_it() -> None:
    ours = change(BASE, PLAIN) | {f"{PLAIN}.gz": gzip_bytes(TALK)}
    import gzip

    theirs = change(BASE, PLAIN) | {f"{PLAIN}.gz": gzip.compress(TALK, 1)}
    after, result = merged(BASE, ours, theirs)
    assert gunzip(after[f"{PLAIN}.gz"]) == TALK
    assert not result.kept_twice


def test_compressed_here_and_opened_there_stays_plain_and_hot() -> None:
    cold = {"temperature": "cold", "transcript": f"{PLAIN}.gz"}
    ours = change(BASE, PLAIN) | {
        NOTE: set_keys(BASE[NOTE], dict(cold)),
        f"{PLAIN}.gz": gzip_bytes(TALK),
    }
    opened = {"last_accessed": "2026-12-20T10:00:00", "access_count": 4}
    theirs = BASE | {NOTE: set_keys(BASE[NOTE], dict(opened))}
    for after in both_ways(BASE, ours, theirs):
        assert after[PLAIN] == TALK
        assert f"{PLAIN}.gz" not in after
        data = read_note(after[NOTE]).data
        assert (data["temperature"], data["access_count"]) == ("hot", "4")
        assert data["transcript"] == f"[[_recall/{ID}/transcript|Transcript]]"


def test_a_conversation_that_grew_on_both_keeps_both_texts() -> None:
    ours, theirs = BASE | {PLAIN: TALK + b"mine\n"}, BASE | {PLAIN: TALK + b"yours\n"}
    after, result = merged(BASE, ours, theirs)
    aside = f"_recall/{ID}/transcript (set aside) from laptop 2026-12-01 10-00.md"
    assert after == BASE | {PLAIN: TALK + b"yours\n", aside: TALK + b"mine\n"}
    assert result.kept_twice == (aside,)


def test_one_line_changed_on_both_is_kept_twice_without_an_id() -> None:
    ours = BASE | {NOTE: BASE[NOTE].replace(b"two", b"two mine")}
    theirs = BASE | {NOTE: BASE[NOTE].replace(b"two", b"two yours")}
    after, result = merged(BASE, ours, theirs)
    beside = NOTE[:-3] + COPY
    assert result.kept_twice == (beside,)
    assert after[NOTE] == theirs[NOTE]
    assert after[beside] == ours[NOTE].replace(f"id: {ID}\n".encode(), b"")
    again, _ = merged(BASE, ours | {beside: b"older copy\n"}, theirs)
    assert again[beside[:-3] + " 2.md"] == after[beside]


def test_a_topic_made_on_both_machines_becomes_one() -> None:
    first = new_note({"type": "focused", "id": "n-1111aaaa", "created": "2026-12-01T08:00:00"}, "")
    second = new_note(
        {"type": "focused", "id": "n-0000bbbb", "created": "2026-12-01T09:00:00"}, "# Alpha\n"
    )
    ours = BASE | {"Work/Alpha/Alpha.md": first, "Work/Alpha/a.md": memory(OTHER)}
    theirs = BASE | {"work/alpha/alpha.md": second, "work/alpha/b.md": b"b\n"}
    after, _ = merged(BASE, ours, theirs)
    assert "work/alpha/a.md" in after
    assert not any(path.startswith("Work/") for path in after)
    one = read_note(after["work/alpha/alpha.md"])
    assert (one.data["id"], one.body) == ("n-1111aaaa", "# Alpha\n")


def test_two_memories_that_want_one_name_both_have_one() -> None:
    path = "Medical/Medications/2026-12-02 Talk.md"
    mine, yours = memory("m-20261202-aaaaaaaa"), memory("m-20261202-bbbbbbbb")
    link = b"see [[2026-12-02 Talk]]\n"
    ours = BASE | {path: mine, "Diary/mine.md": link}
    after, result = merged(BASE, ours, BASE | {path: yours, "Diary/yours.md": link})
    assert after[path] == yours
    assert after[path[:-3] + " 2.md"] == mine
    assert after["Diary/mine.md"] == b"see [[2026-12-02 Talk 2]]\n"
    assert after["Diary/yours.md"] == link
    assert not result.kept_twice


def test_two_different_memories_with_one_id_are_told_apart() -> None:
    own = "m-20261202-cccccccc"
    mine = set_keys(memory(own, "mine\n"), {"created": "2026-12-02T08:00:00"})
    yours = set_keys(
        memory(own, "yours\n"), {"created": "2026-12-02T09:00:00", "transcript_sha256": "ff"}
    )
    after, _ = merged(
        BASE,
        BASE | {"A/mine.md": mine, f"_recall/{own}/transcript.md": b"my talk\n"},
        BASE | {"A/yours.md": yours, f"_recall/{own}/transcript.md": b"your talk\n"},
    )
    assert after["A/yours.md"] == yours
    assert after[f"_recall/{own}/transcript.md"] == b"your talk\n"
    data = read_note(after["A/mine.md"]).data
    assert data["id"] != own
    assert after[f"_recall/{text(data['id'])}/transcript.md"] == b"my talk\n"
    assert data["transcript"] == f"[[_recall/{data['id']}/transcript|Transcript]]"


def test_one_memory_moved_to_two_places_is_in_one_of_them() -> None:
    ours, theirs = moved(BASE, NOTE, "A/Dose.md"), moved(BASE, NOTE, "B/Dose.md")
    after, _ = merged(BASE, ours, theirs)
    assert [p for p in after if "Dose" in p] == ["B/Dose.md"]


def test_a_daily_note_made_on_both_machines_holds_what_both_say_or_is_kept_twice() -> None:
    path = "Diary/2026-12-02.md"
    ours, theirs = BASE | {path: b"# Day\n\nmine\n"}, BASE | {path: b"# Day\n\nyours\n"}
    after, result = merged(BASE, ours, theirs)
    assert after[path] == theirs[path]
    assert after[path[:-3] + COPY] == ours[path]
    assert result.kept_twice == (path[:-3] + COPY,)


def test_attachments_and_settings_changed_on_both_are_kept_twice_unless_they_merge() -> None:
    ours = BASE | {"Diary/plan.png": b"\x00mine", "neurigraph.toml": b"[a]\nx = 1\n"}
    theirs = BASE | {"Diary/plan.png": b"\x00yours", "neurigraph.toml": b"[a]\nx = 2\n"}
    after, _ = merged(BASE, ours, theirs)
    assert after["Diary/plan.png"] == b"\x00yours"
    assert after["Diary/plan (conflict from laptop 2026-12-01 10-00).png"] == b"\x00mine"
    assert after["neurigraph.toml"] == b"[a]\nx = 2\n"
    assert after["neurigraph (conflict from laptop 2026-12-01 10-00).toml"] == b"[a]\nx = 1\n"


def test_histories_with_no_common_beginning_are_joined() -> None:
    ours = BASE | {"Mine/a.md": b"a\n"}
    theirs = BASE | {"Yours/b.md": b"b\n", NOTE: BASE[NOTE].replace(b"two", b"two yours")}
    after, _ = merged({}, ours, theirs)
    expected = theirs | {"Mine/a.md": b"a\n"}
    assert {p: d for p, d in after.items() if COPY not in p} == expected


def test_a_file_where_the_other_has_a_folder_gets_another_name() -> None:
    for after in both_ways(BASE, BASE | {"Work": b"x"}, BASE | {"Work/a.md": b"a\n"}):
        assert sorted(after.values()) == sorted({**BASE, "x": b"x", "a": b"a\n"}.values())
        folders = {p.rpartition("/")[0] for p in after}
        assert not folders & set(after)


@pytest.mark.parametrize("swap", [False, True])
def test_what_neither_changed_is_not_among_the_changes(swap: bool) -> None:
    ours, theirs = BASE | {"a.md": b"a\n"}, change(BASE, "Diary/plan.png")
    if swap:
        ours, theirs = theirs, ours
    _, result = merged(BASE, ours, theirs)
    assert set(result.changes) == ({"Diary/plan.png"} if swap else {"a.md"})
