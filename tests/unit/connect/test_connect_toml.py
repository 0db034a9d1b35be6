"""An entry goes into Codex's TOML and out again; not one other byte changes."""

from __future__ import annotations

import tomllib

import pytest

from neurigraph.connect.rules import RULES, with_rules, without_rules
from neurigraph.connect.toml_text import NotToml, remove_table, set_table

PATH = ["mcp_servers", "neurigraph"]
ENTRY = {"command": 'C:\\Program Files\\"x"', "args": ["mcp", "/v"], "startup_timeout_sec": 60}

TEXTS = [
    "",
    'model = "gpt-5"\n',
    "# mine\n[a]\nb = 1\n",
    '[mcp_servers.other]\ncommand = "x"\n\n[tui]\nlist = [\n  [1],\n]\n',
    '[mcp_servers]\n[mcp_servers."neurigraph-two"]\ncommand = "y"\n',
    'model = "x"\r\n\r\n[profiles.a]\r\nb = 2\r\n',
    "date = 2026-11-30\ninline = {a = 1} # remark\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_people_wrote_stays_and_comes_back(text: str) -> None:
    changed = set_table(text, PATH, ENTRY)
    assert changed.startswith(text)
    assert tomllib.loads(changed)["mcp_servers"]["neurigraph"] == ENTRY
    assert set_table(changed, PATH, ENTRY) == changed
    assert remove_table(changed, PATH) == text


def test_a_text_that_looks_like_our_entry_stays() -> None:
    text = 'text = """\n[mcp_servers.neurigraph]\n"""\n'
    changed = set_table(text, PATH, ENTRY)
    assert changed.startswith(text)
    assert remove_table(changed, PATH).rstrip("\n") == text.rstrip("\n")


def test_tables_written_inline_are_extended_inline() -> None:
    text = 'mcp_servers = {o = {command = "x"}}\n'
    changed = set_table(text, PATH, ENTRY)
    assert tomllib.loads(changed)["mcp_servers"] == {"o": {"command": "x"}, "neurigraph": ENTRY}
    assert tomllib.loads(remove_table(changed, PATH)) == tomllib.loads(text)


def test_an_entry_of_ours_with_tables_within_goes_whole() -> None:
    text = (
        '[mcp_servers.neurigraph]\ncommand = "old"\nargs = [\n  "a",\n]\n\n'
        "[mcp_servers.neurigraph.env]\nX = '1'\n\n[tui]\nb = 1\n"
    )
    assert tomllib.loads(remove_table(text, PATH)) == {"tui": {"b": 1}}
    assert "[tui]\nb = 1\n" in remove_table(text, PATH)
    changed = tomllib.loads(set_table(text, PATH, ENTRY))
    assert changed["mcp_servers"]["neurigraph"] == {**ENTRY, "env": {"X": "1"}}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_remarks_and_settings_of_a_person_survive_an_update_and_a_removal(end: str) -> None:
    text = end.join(
        [
            'model = "x"',
            "",
            "# the memory",
            "[mcp_servers.neurigraph]",
            'command = "old"  # moved',
            'args = ["mcp"]',
            "startup_timeout_sec = 60",
            "tool_timeout_sec = 90",
            "",
            "# the other",
            "[mcp_servers.other]",
            'command = "y"',
            "# the end",
            "",
        ]
    )
    changed = set_table(text, PATH, ENTRY)
    assert tomllib.loads(changed)["mcp_servers"]["neurigraph"] == {**ENTRY, "tool_timeout_sec": 90}
    for remark in ("# the memory", "# moved", "# the other", "# the end"):
        assert remark in changed
    removed = remove_table(text, PATH)
    lines = ['model = "x"', "", "# the memory", "", "# the other", "[mcp_servers.other]"]
    assert removed == end.join([*lines, 'command = "y"', "# the end", ""])
    alone = end.join(["[mcp_servers.neurigraph]", 'command = "old"', "# mine", ""])
    assert remove_table(alone, PATH) == f"# mine{end}"


def test_a_byte_order_mark_stays_where_it_is() -> None:
    for text in ("\ufeff", '\ufeffmcp_servers = {o = {command = "x"}}\n', "\ufeffa = 1\n"):
        changed = set_table(text, PATH, ENTRY)
        assert changed.startswith("\ufeff")
        assert tomllib.loads(changed[1:])["mcp_servers"]["neurigraph"] == ENTRY
        assert remove_table(changed, PATH).startswith("\ufeff")


@pytest.mark.parametrize("text", ["a = ", "[x\n", "a = 1\na = 2\n", "mcp_servers = 3\n"])
def test_a_damaged_file_is_left_alone(text: str) -> None:
    with pytest.raises(NotToml):
        set_table(text, PATH, ENTRY)


@pytest.mark.parametrize(
    "text", ["", "# Mine\n", "# Mine\n\nBe kind.", "# Mine\r\n\r\nBe kind.\r\n"]
)
def test_rules_come_and_go_as_a_block(text: str) -> None:
    changed = with_rules(text)
    assert RULES.split("\n")[0] in changed
    assert changed.startswith(text)
    assert with_rules(changed) == changed
    back = without_rules(changed)
    assert back == text or back == text + "\n"
    assert without_rules(text) == text
    older = changed.replace(RULES.split("\n")[-1], "an older rule")
    assert with_rules(older) == changed
