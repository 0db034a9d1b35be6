"""An entry goes into a client's JSON and out again; not one other byte changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.connect.hooks import is_ours, with_hooks, without_hooks
from neurigraph.connect.json_text import (
    add_item,
    remove_item,
    remove_value,
    set_members,
    set_value,
)
from neurigraph.connect.json_tree import NotJson, read_json

PATH = ["mcpServers", "neurigraph"]
ENTRY = {"command": "/usr/bin/neurigraph", "args": ["mcp", "/home/ada/Notes"]}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=10), JSON, max_size=4)
LAYOUTS = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
    ]
)

BY_HAND = [
    '{"a": 1}',
    '{\n  "a": 1 // a remark\n}\n',
    '{\n  // first\n  "mcpServers": {\n    "other": {"command": "x"}, // theirs\n  },\n}\n',
    '{\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t},\n\t"theme": "dark"\n}',
    '{\r\n    "mcpServers": {"other": {}},\r\n    "x": [1, 2]\r\n}\r\n',
    '\ufeff{"theme":"dark"}',
    '{"mcpServers": {"other": {"command": "x"}}}',
    '// top\n{ /* in */ "a": [ {"b": "\\u00e9 // no remark"} ] } // end\n',
]


@pytest.mark.parametrize("text", BY_HAND)
def test_what_people_wrote_stays_and_comes_back(text: str) -> None:
    changed = set_value(text, PATH, ENTRY)
    assert read_json(changed).data["mcpServers"]["neurigraph"] == ENTRY
    assert set_value(changed, PATH, ENTRY) == changed
    assert remove_value(changed, PATH, empty_too=1) == text
    # nothing of the old text is gone or moved
    old = iter(changed)
    assert all(c in old for c in text)


@settings(deadline=None, max_examples=150)
@given(OBJECTS, LAYOUTS, st.booleans())
def test_any_settings_file_survives(
    data: dict[str, Any], layout: dict[str, Any], ascii: bool
) -> None:
    text = json.dumps(data, ensure_ascii=ascii, **layout)
    servers = data.get("mcpServers", {})
    if not isinstance(servers, dict):
        with pytest.raises(NotJson):
            set_value(text, PATH, ENTRY)
        return
    changed = set_value(text, PATH, ENTRY)
    assert json.loads(changed) == {**data, "mcpServers": {**servers, "neurigraph": ENTRY}}
    if "mcpServers" not in data:
        assert remove_value(changed, PATH, empty_too=1) == text
    assert remove_value(text, PATH) == text or "neurigraph" in servers


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=60))
def test_what_is_no_json_is_refused_and_nothing_hangs(text: str) -> None:
    try:
        read_json(text)
    except NotJson as error:
        assert str(error).startswith("line ")


@settings(deadline=None, max_examples=100)
@given(JSON)
def test_json_is_read_as_python_reads_it(value: Any) -> None:
    assert read_json(json.dumps(value)).data == value


def test_an_entry_of_ours_is_replaced_where_it_stands() -> None:
    text = '{\n  "mcpServers": {\n    "neurigraph": {"command": "old"},\n    "z": 1\n  }\n}\n'
    changed = set_value(text, PATH, ENTRY)
    assert list(read_json(changed).data["mcpServers"]) == ["neurigraph", "z"]
    assert changed.endswith('    "z": 1\n  }\n}\n')


def test_an_empty_or_missing_file_becomes_one() -> None:
    for text in ("", "\n", "{}"):
        assert json.loads(set_value(text, PATH, ENTRY)) == {"mcpServers": {"neurigraph": ENTRY}}


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"a": 1', 1), ('{\n"a" 1}', 2), ("[1]", 1), ('{"mcpServers": []}', 1), ('{"a": 1}\nx', 2)],
)
def test_a_damaged_file_is_left_alone_with_the_line_that_is_wrong(text: str, line: int) -> None:
    with pytest.raises(NotJson, match=f"^line {line}: "):
        set_value(text, PATH, ENTRY)


def test_items_join_a_list_and_leave_it() -> None:
    text = '{"list": [{"x": 1}]}'
    ours = {"us": True}
    added = add_item(text, ["list"], ours, lambda item: "us" in item)
    assert json.loads(added) == {"list": [{"x": 1}, ours]}
    assert add_item(added, ["list"], ours, lambda item: "us" in item) == added
    assert remove_item(added, ["list"], lambda item: "us" in item) == text


def test_hooks_join_those_of_others_and_leave_them() -> None:
    theirs = {
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo neurigraph"}]}]},
        "model": "opus",
    }
    text = json.dumps(theirs, indent=2) + "\n"
    changed = with_hooks(text, "/opt/neurigraph", "--vault /v", "SessionEnd")
    found = json.loads(changed)["hooks"]
    assert found["SessionStart"][0] == theirs["hooks"]["SessionStart"][0]
    assert (
        found["SessionStart"][1]["hooks"][0]["command"] == "/opt/neurigraph hook recall --vault /v"
    )
    assert found["SessionEnd"][0]["hooks"][0]["command"] == "/opt/neurigraph hook keep --vault /v"
    assert with_hooks(changed, "/opt/neurigraph", "--vault /v", "SessionEnd") == changed
    moved = with_hooks(changed, "/new/neurigraph", "--vault /v", "SessionEnd")
    assert "/opt" not in moved
    assert without_hooks(moved, "SessionEnd") == text
    assert not is_ours(theirs["hooks"]["SessionStart"][0])


def test_remarks_beside_our_entry_stay_when_it_goes() -> None:
    text = '{\n  "mcpServers": {\n    // mine, for later\n  }\n}\n'
    assert remove_value(set_value(text, PATH, ENTRY), PATH, empty_too=1) == text
    hooks = '{"hooks": {"Stop": [ /* none yet */ ]}}'
    changed = with_hooks(hooks, "neurigraph", "", "Stop")
    assert "/* none yet */" in without_hooks(changed, "Stop")


def test_what_a_person_added_to_our_entry_survives_an_update() -> None:
    text = (
        '{\n  "mcpServers": {\n    "neurigraph": {\n      "command": "old", // moved\n'
        '      "args": [],\n      "trust": true\n    }\n  }\n}\n'
    )
    changed = set_members(text, PATH, ENTRY, "command")
    held = read_json(changed).data["mcpServers"]["neurigraph"]
    assert held == {**ENTRY, "trust": True}
    assert "// moved" in changed
    other = '{"mcpServers": {"neurigraph": {"url": "http://127.0.0.1:7878/mcp"}}}'
    assert read_json(set_members(other, PATH, ENTRY, "command")).data["mcpServers"] == {
        "neurigraph": ENTRY
    }
    for empty in ("", "{}", '{"mcpServers": {"neurigraph": null}}'):
        changed = set_members(empty, PATH, ENTRY, "command")
        assert json.loads(changed) == {"mcpServers": {"neurigraph": ENTRY}}
