"""Text from others never runs in Obsidian, and comes back to the character."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.vault.neutral import JOINER, is_inert, neutralize, restore_text

PIECES = [
    "<%",
    "<",
    "%",
    "`",
    "``",
    "```",
    "~~~",
    "````",
    "dataviewjs",
    "dataview",
    "run-js",
    "{",
    "&#100;",
    "\\",
    "$=",
    "=",
    " ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "![",
    "](",
    "]",
    "[",
    ")",
    "[r]: ",
    "http://x.y/z.png",
    "//h/p",
    "local.png",
    "<img",
    "<IMG",
    "<script",
    "<style",
    "<iframe",
    "/",
    ">",
    ' style="',
    "url(",
    '"',
    "'",
    " onerror=",
    " background=",
    "---",
    "\ufeff",
    JOINER,
    JOINER * 2,
    "İ",
    "é",
    "\ud800",
    "\0",
    "VIEW[",
    "`INPUT[x]`",
    "word",
    ": ",
    "(",
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)

DANGEROUS = [
    "<% tp.file.title %>",
    "a <%* await fetch('http://x') %> b",
    "```dataviewjs\ndv.pages()\n```",
    "~~~ DataviewJS\ndv.pages()\n~~~",
    "> ```dataview\n> list\n> ```",
    "````dataviewjs\nx\n````",
    "```js-engine\nx\n```",
    "```run-python\nx\n```",
    "```meta-bind-js-view\nx\n```",
    "```{dataviewjs}\nx\n```",
    "```&#100;ataviewjs\nx\n```",
    "```\\dataviewjs\nx\n```",
    "inline `$= dv.pages()` code",
    "inline `` $= dv.pages() `` code",
    "inline `\n$=dv.pages()` code",
    "inline `= this.file.name` code",
    "inline ` = this.file.name` code",
    "`BUTTON[run]`",
    "![pixel](http://evil.example/p.png)",
    "![pixel](//evil.example/p.png)",
    "![pixel](< https://evil.example/p.png>)",
    "![pixel](\nhttps://evil.example/p.png)",
    "![pixel](&#104;ttp://evil.example/p.png)",
    "![pixel](http\\://evil.example/p.png)",
    "![pixel](file:///etc/passwd)",
    "![a [nested] text](https://evil.example/p.png)",
    "[![badge](https://evil.example/p.svg)](https://evil.example)",
    "![pixel][far]\n\ntext\n\n[far]: https://evil.example/p.png",
    "![far]\n\n[far]:\nhttps://evil.example/p.png",
    '<img src="https://evil.example">',
    "<IMG/src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<iframe src=x></iframe>",
    "<style>@import url(https://evil.example)</style>",
    '<div style="background:url(https://evil.example)">',
    '<div style="background:&#117;rl(https://evil.example)">',
    "<b style=background:\\75rl(https://evil.example)>",
    '<p style=\'a\' title="x" style="background: url(//evil.example)">',
    '<table background="https://evil.example/x.png">',
    "<video src=x>",
    "<webview src=x>",
    "---\naliases: [mine]\n---\ntext",
    "\ufeff---\nid: m-20261130-7f3a2c1b\n---\n",
]

ORDINARY = [
    "User: How do I take `lisinopril`?\n\nAssistant: Once a day.",
    "`a` = 5 and `b` == 6; `x`, `y` = 1, 2",
    "```python\nif a < b and c > d:\n    print(f'{a:%Y}')\n```",
    "```js\nconst x = List<String>; vec![1, 2]; arr[i](http)\n```",
    "[a link](https://example.org) and https://example.org and ![[picture.png]]",
    "![local](attachments/plan.png)",
    "<b>bold</b> <details><summary>x</summary></details> List<Image> Map<Object, Link>",
    "| a | b |\n|---|---|\n\n---\n\ntext\n***\n",
    "%% a comment %% and ==marked== and 50% < 60%",
    "```mermaid\ngraph TD; A-->B\n```",
    "style = 'bold'; onClick={go}; on = 5; conversation = 1",
    "日本語のテキスト `コード`",
]


@given(HOSTILE | st.text())
@settings(deadline=None, max_examples=400)
def test_any_text_comes_back_to_the_character(text: str) -> None:
    assert restore_text(neutralize(text)) == text


@given(HOSTILE)
@settings(deadline=None, max_examples=400)
def test_nothing_runnable_is_left_and_only_joiners_are_added(text: str) -> None:
    quiet = neutralize(text)
    assert is_inert(quiet)
    assert quiet.replace(JOINER, "") == text.replace(JOINER, "")
    assert not re.search(
        r"<%|`\s*\$=|<(?:img|iframe)[\s/]|<(?:script|style)\b(?!-)", quiet, re.I | re.A
    )
    assert not re.match(r"\ufeff*---", quiet)


@given(st.text())
@settings(deadline=None, max_examples=200)
def test_any_text_on_disk_can_be_read(text: str) -> None:
    restore_text(text)


@pytest.mark.parametrize("text", DANGEROUS)
def test_what_plugins_would_run_or_fetch_is_made_inert(text: str) -> None:
    for around in (text, f"before\n\n{text}\n\nafter" if "---" not in text else text):
        quiet = neutralize(around)
        assert quiet != around
        assert is_inert(quiet)
        assert restore_text(quiet) == around


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert neutralize(text) == text


def test_a_joiner_that_was_there_survives_beside_an_inserted_one() -> None:
    for text in (
        f"<{JOINER}%",
        f"{JOINER}<%{JOINER}",
        f"`{JOINER}$=",
        JOINER * 5,
        f"```{JOINER}dataviewjs",
    ):
        assert restore_text(neutralize(text)) == text


def test_neutralising_twice_is_undone_in_two_steps() -> None:
    text = "<% x %> ![a](http://b)"
    twice = neutralize(neutralize(text))
    assert restore_text(restore_text(twice)) == text


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "~",
        "![](",
        "style=",
        ' style="',
        "/style=",
        "<img ",
        "](<",
        "`  ",
        "\n ",
        "```a&",
        "<b/style=",
    ],
)
def test_a_long_hostile_text_takes_no_longer_than_its_length_asks_for(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        neutralize(text)
        return time.process_time() - began

    # quadratic work would take minutes at this size
    assert seconds(400_000) < 3
