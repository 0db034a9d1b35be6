"""What a person reads in a note whose summary no model wrote."""

from __future__ import annotations

import re
import socket
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.summarize.draft import Draft
from neurigraph.summarize.extractive import NO_PROSE, UNTITLED, extractive
from neurigraph.summarize.prose import length

CONVERSATIONS = Path(__file__).parent / "conversations"
NAMES = sorted(path.stem for path in CONVERSATIONS.glob("*.md"))


def conversation(name: str) -> str:
    return (CONVERSATIONS / f"{name}.md").read_text(encoding="utf-8")


@cache
def draft_of(name: str, quick: bool = False) -> Draft:
    return extractive(conversation(name), keywords_quick=quick)


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_is_whole_sentences_of_plain_prose(name: str) -> None:
    transcript = conversation(name)
    draft = draft_of(name)
    words = length(draft.summary)
    assert 60 <= words <= 300
    assert words < length(transcript)
    for paragraph in draft.summary.split("\n\n"):
        assert paragraph.rstrip('"').endswith((".", "!", "?", "。", "？"))
        assert "\n" not in paragraph
    assert not re.search(r"```|\*\*|^#|\||https?:|^\s*[-*] ", draft.summary, re.MULTILINE)
    assert not re.search(r"^(user|assistant)\b", draft.summary, re.IGNORECASE | re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_title_fits_one_line_and_greets_nobody(name: str) -> None:
    title = draft_of(name).title
    assert 8 < len(title) <= 80
    assert not re.match(r"hi\b|hello|hey|hallo|こんにちは|你好|Здравствуйте", title, re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quick", [True, False])
def test_keywords_are_ten_to_thirty_and_read_as_words(name: str, quick: bool) -> None:
    keywords = draft_of(name, quick).keywords
    assert 10 <= len(keywords) <= 30
    assert len({word.casefold() for word in keywords}) == len(keywords)
    for word in keywords:
        assert not re.fullmatch(r"[\W\d_]+", word)
        assert word.lower() not in {"the", "make", "use", "need", "and", "thing", "claude"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("medical", "lisinopril losartan potassium ibuprofen Okafor"),
        ("python_debugging", "pandas Kessler supplier format"),
        ("travel", "Lisbon Porto Arrábida Sintra"),
        ("german", "Tomaten Balkon Pflücksalat Tropfsystem"),
        ("japanese", "東京マラソン 走行距離 ランニング"),
        ("chinese", "照片 硬盘 感知哈希"),
        ("russian", "дом окна"),
    ],
)
def test_keywords_name_what_the_conversation_was_about(name: str, words: str) -> None:
    assert set(words.split()) <= set(draft_of(name).keywords)


def test_no_connection_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert extractive(conversation("travel")).keywords


def test_a_terse_go_ahead_is_a_decision() -> None:
    draft = extractive(
        "User: Should we wait for the state or seed the jitter?\n\nAssistant: Waiting is more"
        " robust.\n\nUser: go with waiting, and fix the leak too. don't"
        " touch the defaults\n\nAssistant: I'll do that.\n"
    )
    assert draft.decisions == "- Go with waiting, and fix the leak too."


def test_what_was_asked_and_decided_is_in_the_summary() -> None:
    summary = draft_of("medical").summary
    assert summary.startswith("I've been on lisinopril 10 mg for about six weeks")
    assert "ask for losartan 50 mg instead of lisinopril" in summary
    summary = draft_of("python_debugging").summary
    assert "got really slow after we moved from pandas 1.5 to 2.2" in summary
    assert "Let's go with the dictionary per supplier." in summary


def test_decisions_and_open_questions_are_only_what_was_said() -> None:
    draft = draft_of("travel")
    assert draft.decisions.splitlines() == [
        "- Let's go with Arrábida instead of Sintra.",
        "- We'll skip Coimbra and stay four nights in Porto so that there's time for the Douro"
        " train.",
        "- We'll book the flights for April 18 to 28 tonight.",
    ]
    assert draft.open_questions == (
        "- One open question is whether we take the bus or the rental car from Lisbon to Milfontes."
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_conversation_of_ours_ends_with_a_decision_and_leaves_something_open(
    name: str,
) -> None:
    draft = draft_of(name)
    assert draft.decisions
    assert draft.open_questions


def test_without_a_decision_there_is_none() -> None:
    draft = extractive(
        "User: Should I use tabs or spaces? I haven't decided yet if I use Go or Rust.\n\n"
        "Assistant: Let's use gofmt, it decides for you. I'll use tabs in the example.\n\n"
        "User: What if we decided to use both?\n\nAssistant: Then you get both problems.\n"
    )
    assert draft.decisions == ""


def test_a_last_question_without_an_answer_is_open() -> None:
    draft = extractive(
        "User: How big is the moon?\n\nAssistant: About 3,474 km across.\n\nUser: And how heavy?\n"
    )
    assert draft.open_questions == "- And how heavy?"


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("Hi!", "Which knots hold best in wet rope?"),
        ("Hello Claude, can you please help me to debug this pandas merge?", None),
        ("Good morning. I need help with my tax return for 2025.", None),
        ("Kannst du mir bitte erklären, wie Hefeteig geht?", None),
    ],
)
def test_a_title_says_what_was_asked(first: str, title: str | None) -> None:
    transcript = (
        f"## User\n\n{first}\n\n## Assistant\n\nSure, go on.\n\n"
        "## User\n\nWhich knots hold best in wet rope?\n\n## Assistant\n\nA bowline.\n"
    )
    expected = {
        "Hello Claude, can": "Debug this pandas merge",
        "Good morning. I n": "My tax return for 2025",
        "Kannst du mir bit": "Erklären, wie Hefeteig geht",
    }
    assert extractive(transcript).title == (title or expected[first[:17]])


def test_the_answer_is_kept_when_a_conversation_is_very_short() -> None:
    draft = extractive(
        "User: hi\n\nAssistant: Hello! How can I help you today?\n\n"
        "User: what's the capital of Australia?\n\n"
        "Assistant: The capital of Australia is Canberra.\n"
    )
    assert draft.summary == (
        "What's the capital of Australia?\n\nThe capital of Australia is Canberra."
    )
    assert {"Canberra", "Australia"} <= set(draft.keywords)


def test_people_with_names_are_told_apart() -> None:
    draft = extractive(
        "Anna: I found a flat in Leipzig with a garden.\n\nBen: That is wonderful news for you!\n\n"
        "Anna: The rent is 900 euros and the lease begins in May.\n\n"
        "Ben: I can lend you my van for the move on Saturday.\n"
    )
    assert draft.summary.startswith("Anna: I found a flat in Leipzig with a garden.")
    assert draft.title == "I found a flat in Leipzig with a garden"


def test_code_tables_quotes_and_links_stay_out() -> None:
    draft = extractive(
        "User: Why does my loop never end?\n\n```python\nwhile True:\n    print('the loop')\n\n"
        "    x = 1  # a comment. With words.\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "https://example.org/a/very/long/link\n\n"
        "Assistant: The loop never ends because `x` is set but never **tested**. "
        "See [the manual](https://docs.example.org) about the while statement.\n"
    )
    assert "Why does my loop never end?" in draft.summary
    assert "because x is set but never tested." in draft.summary
    assert not re.search(r"print|\|.*\||https|`|\*", draft.summary)


@pytest.mark.parametrize("text", ["", "  \n\n", "\ufeff"])
def test_nothing_said_gives_nothing(text: str) -> None:
    draft = extractive(text)
    assert draft.title == UNTITLED
    assert draft.keywords == ()
    assert draft.summary in {"", NO_PROSE}


def test_code_alone_is_said_to_be_code() -> None:
    draft = extractive("```python\nprint(1)\n```\n")
    assert draft.summary == NO_PROSE
    assert draft.title


def test_one_line_without_a_full_stop_becomes_a_sentence() -> None:
    draft = extractive("remember that my bike lock key is in the blue jar")
    assert draft.summary == "Remember that my bike lock key is in the blue jar."
    assert "bike lock key" in draft.keywords


def test_decomposed_letters_are_the_same_words() -> None:
    draft = extractive("User: Where is the cafe\u0301 Müller? The cafe\u0301 Müller is in Köln.\n")
    assert "café Müller" in draft.keywords


def test_secrets_and_numbers_are_no_keywords() -> None:
    key = "sk-ant-0123456789abcdef0123456789abcdef"
    draft = extractive(f"User: My key {key} and 4711234567 fail. The key {key} is from 2026-03-01.")
    assert not any(re.search(r"\d{4}", word) for word in draft.keywords)


def test_five_megabytes_take_no_longer_than_a_long_conversation() -> None:
    text = "\n\n".join(conversation(name) for name in ("medical", "travel", "python_debugging"))
    text *= 5_000_000 // len(text)
    for transcript in (text, text.replace("\n", " "), "x" * 5_000_000, "a b\n" * 1_000_000):
        began = time.process_time()
        draft = extractive(transcript, keywords_quick=True)
        assert time.process_time() - began < 3
        assert length(draft.summary) <= 300


@given(st.text(max_size=400) | st.text("ab. \n`|#>*-:[]()<_1。?", max_size=400))
@settings(deadline=None, max_examples=200)
def test_any_text_gives_a_draft(text: str) -> None:
    draft = extractive(text, keywords_quick=True)
    assert draft.title
    assert len(draft.title) <= 80
    assert "\n" not in draft.title
    assert len(draft.keywords) <= 30


def test_properties_and_comments_of_a_note_are_no_prose() -> None:
    draft = extractive(
        "---\npublish: true\naliases:\n  - Bread\n---\n# Sourdough for beginners\n\n%% do not"
        " edit this %%\n\nA starter needs a week of daily feeding. <!-- hidden words -->\n\n"
        "Bake the loaf in a hot pot with the lid on for 25 minutes.\n"
    )
    assert draft.title == "Sourdough for beginners"
    assert draft.summary.startswith("A starter needs a week of daily feeding.")
    assert not re.search("publish|edit|hidden", draft.summary)


def test_a_heading_before_the_turns_is_the_title() -> None:
    turns = "## User\n\nHow do I prune an apple tree in winter?\n\n## Assistant\n\nWith care.\n"
    assert extractive(f"# Apple trees\n\n{turns}").title == "Apple trees"
    for transcript in (f"# New chat\n\n{turns}", turns):
        assert extractive(transcript).title == "How do I prune an apple tree in winter?"


def test_a_long_list_of_names_is_not_poured_into_the_summary() -> None:
    names = "\n".join(f"- plugin number{at}/obsidian-tool{at} helper" for at in range(80))
    draft = extractive(f"These plugins have tests that are worth a look.\n\n{names}\n")
    assert draft.summary.startswith("These plugins have tests")
    assert length(draft.summary) < 40


@pytest.mark.parametrize(
    "piece",
    [
        *(".", "<!-- ", "%% a ", "**", "**a", "[[", "[a](", "- ", "`", "```\n", "| a ", "a."),
        *("a. ", "_a", "<a", "![", "http://", "> ", "# \n", "User:\n", "a\u0301", "。", "( "),
        *("'s ", "---\n", "==a", "\u200d"),
    ],
)
def test_no_text_takes_long_however_odd(piece: str) -> None:
    transcript = piece * (300_000 // len(piece))
    began = time.process_time()
    extractive(transcript, keywords_quick=True)
    assert time.process_time() - began < 2
