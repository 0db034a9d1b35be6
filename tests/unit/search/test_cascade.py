"""The cascade: what comes first, which stages run, and what every odd query gets."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta

import pytest
from conftest import NOW, Shelf

from neurigraph.model import Temperature

FILLER = (
    "Maria: The garden needs water again. John: I fixed the gate and painted the fence.",
    "User: How do I proof bread dough in a cold kitchen? Assistant: Give it more hours.",
    "User: Book the train to Vienna. Assistant: The night train leaves at ten.",
)


@pytest.fixture
def house(shelf: Shelf) -> Shelf:
    """A handful of memories on different things."""
    for number, text in enumerate(FILLER):
        shelf.add(f"m-filler{number}", text, title=f"Notes {number}")
    shelf.add(
        "m-dose",
        "User: My doctor changed the lisinopril dose to ten milligrams.\n"
        "Assistant: Watch your blood pressure for two weeks and take it at night.",
        title="Lisinopril: dose change",
        topic="Medical/Medications",
        keywords=("lisinopril", "blood pressure"),
        tags=("health/heart",),
        created=datetime(2026, 3, 5, 10, tzinfo=UTC),
    )
    shelf.add(
        "m-salt",
        "User: Does salt raise pressure in the blood? Assistant: Yes, and lisinopril helps a bit.",
        title="Salt",
        topic="Medical/Diet",
        created=datetime(2026, 5, 1, 10, tzinfo=UTC),
        model="gpt-5",
    )
    return shelf


def test_a_title_that_covers_the_query_is_sure_and_does_not_wait_for_meaning(house: Shelf) -> None:
    result = house.search().search("lisinopril dose change")
    assert result.hits[0].id == "m-dose"
    assert result.hits[0].stage == "exact"
    assert result.stages == ("exact", "text")
    assert house.vectors.waited == 0


def test_exact_hits_that_fill_the_page_end_the_search(house: Shelf) -> None:
    result = house.search().search("lisinopril dose", limit=1)
    assert [hit.id for hit in result.hits] == ["m-dose"]
    assert result.stages == ("exact",)


def test_a_keyword_is_enough_and_what_only_mentions_the_word_comes_after(house: Shelf) -> None:
    assert house.ids("lisinopril") == ["m-dose", "m-salt"]


def test_a_question_goes_through_all_stages(house: Shelf) -> None:
    result = house.search().search("which dose did the doctor give me for the pressure?")
    assert result.hits[0].id == "m-dose"
    assert result.stages == ("text", "meaning")
    assert house.vectors.asked == house.vectors.waited == 1


def test_a_quoted_phrase_must_stand_in_the_text(house: Shelf) -> None:
    assert house.ids('"blood pressure"') == ["m-dose"]
    assert house.hits('"blood pressure"')[0].stage == "exact"
    assert house.ids('"pressure in the blood"') == ["m-salt"]
    assert house.ids('"salt raise" pressure') == ["m-salt"]


def test_a_phrase_that_nobody_said_falls_back_to_its_words(house: Shelf) -> None:
    assert house.ids('"pressure of blood"')[:1] == ["m-salt"]


def test_quotes_in_a_question_set_off_a_name_and_hide_nothing(house: Shelf) -> None:
    assert "m-salt" in house.ids('what about "blood pressure" and salt?')


def test_excluded_words_and_phrases_are_not_there(house: Shelf) -> None:
    assert house.ids("lisinopril -salt") == ["m-dose"]
    assert house.ids('lisinopril -"blood pressure"') == ["m-salt"]
    assert "m-dose" not in house.ids("what about the pressure in my blood -milligrams")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("topic:Medical", {"m-dose", "m-salt"}),
        ("topic:medical/medications", {"m-dose"}),
        ("topic:Diet", {"m-salt"}),
        ("lisinopril -topic:Diet", {"m-dose"}),
        ("tag:health", {"m-dose"}),
        ("tag:#health/heart", {"m-dose"}),
        ('keyword:"blood pressure"', {"m-dose"}),
        ("model:gpt", {"m-salt"}),
        ("after:2026-03 before:2026-04", {"m-dose"}),
        ("on:2026-05-01", {"m-salt"}),
        ("topic:Nowhere", set()),
        ("topic:Medical -lisinopril", set()),
    ],
)
def test_filters_hide_what_does_not_fit(house: Shelf, text: str, found: set[str]) -> None:
    assert set(house.ids(text)) == found


def test_filters_alone_list_newest_first(house: Shelf) -> None:
    assert house.ids("topic:Medical") == ["m-salt", "m-dose"]


def test_a_scope_limits_every_stage(house: Shelf) -> None:
    assert house.ids("lisinopril", within={"m-salt"}) == ["m-salt"]
    assert house.ids("what helps against pressure", within={"m-filler1"}) in ([], ["m-filler1"])
    assert house.ids("lisinopril", within=set()) == []


def test_a_time_raises_memories_of_that_time(shelf: Shelf) -> None:
    for month in (3, 6, 9):
        shelf.add(
            f"m-{month}",
            "User: We talked about the boat and the harbour.",
            created=datetime(2026, month, 10, 12, tzinfo=UTC),
        )
    assert shelf.ids("what about the boat in June?")[0] == "m-6"
    assert shelf.ids("the boat on 10 September 2026")[0] == "m-9"
    assert len(shelf.ids("the boat in June")) == 3


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("last month", ["m-30", "m-2"]),
        ("What did we talk about in October?", ["m-40"]),
        ("memories from November 2026", ["m-30", "m-2"]),
    ],
)
def test_a_time_alone_lists_the_memories_of_that_time(
    shelf: Shelf, query: str, found: list[str]
) -> None:
    for days in (2, 30, 40, 400):
        day = datetime(2026, 12, 1, 12, tzinfo=UTC) - timedelta(
            days=32 - days if days < 32 else days
        )
        shelf.add(f"m-{days}", "User: We sat in the boat.", created=day)
    assert shelf.ids(query)[: len(found)] == found
    assert shelf.ids(query, limit=1, offset=1) == shelf.ids(query, limit=2)[1:]


def test_a_transcript_that_opens_with_a_date_is_of_that_date(shelf: Shelf) -> None:
    for day in ("8 May, 2023", "9 June, 2023"):
        shelf.add(f"m-{day[:1]}", f"1:56 pm on {day}\nAnn: The boat is in the harbour.")
    assert shelf.ids("where was the boat last week of june 2023")[0] == "m-9"


def test_warmth_breaks_near_ties_only(shelf: Shelf) -> None:
    text = "User: The boat is in the harbour."
    shelf.add("m-a", text, temperature=Temperature.COLD)
    shelf.add("m-b", text, temperature=Temperature.HOT)
    shelf.add(
        "m-c", "User: The boat, the boat is here, said the boat.", temperature=Temperature.COLD
    )
    shelf.add("m-d", "User: Nothing of the kind, only water.", temperature=Temperature.HOT)
    order = shelf.ids("where is the boat in the harbour?")
    assert order.index("m-b") < order.index("m-a")
    assert "m-d" not in order[:2]


def test_pages_are_stable_and_add_up(shelf: Shelf) -> None:
    for number in range(23):
        shelf.add(f"m-{number:02}", f"User: boat number {number} of the harbour")
    whole = shelf.ids("boat in the harbour", limit=50)
    pages = [shelf.ids("boat in the harbour", limit=5, offset=o) for o in range(0, 25, 5)]
    assert [i for page in pages for i in page] == whole
    assert len(set(whole)) == 23


def test_without_vectors_the_answer_says_so_and_still_comes(house: Shelf) -> None:
    house.vectors.ready = False
    result = house.search().search("which dose did the doctor give me?")
    assert result.hits[0].id == "m-dose"
    assert result.stages == ("text",)


def test_vectors_that_fail_cost_nothing_but_themselves(house: Shelf) -> None:
    house.vectors.fails = True
    result = house.search().search("which dose did the doctor give me?")
    assert result.hits[0].id == "m-dose"
    assert result.stages == ("text",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lisinoprl dosage", "m-dose"),
        ("lissinopril", "m-dose"),
        ("bloodpressure", "m-dose"),
        ("mili grams", "m-dose"),
        ("milligram", "m-dose"),
        ("vienna nighttrain", "m-filler2"),
    ],
)
def test_typing_errors_and_split_words_find_their_memory(
    house: Shelf, text: str, found: str
) -> None:
    assert house.ids(text)[0] == found


def test_words_that_are_found_as_typed_count_more_than_guessed_ones(shelf: Shelf) -> None:
    for number in range(4):
        talk = "The garden needs water, and the fence some paint. " * 3
        shelf.add(f"m-p{number}", f"User: {talk} We stayed in Portugal for two weeks. {talk}")
        shelf.add(f"m-x{number}", f"User: {talk}")
    shelf.add("m-tip", "User: A tip: the tip of the pencil. Another tip.")
    assert shelf.ids("portugal trip")[0].startswith("m-p")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("User: 東京都に行きました。とても楽しかった。", "東京"),
        ("User: 我在北京大学学习中文。", "北京大学"),
        ("User: Врач назначил новое лекарство от давления.", "лекарство"),
        ("User: Мы говорили о лекарствах для бабушки.", "лекарства"),
        ("User: Le café est fermé à Noël.", "cafe noel"),
        ("User: Der Blutdruck steigt, sagt der Müller.", "muller blutdruck"),
        ("User: 한국어를 공부합니다", "한국어"),
    ],
)
def test_other_scripts_are_found(house: Shelf, text: str, query: str) -> None:
    house.add("m-other", text)
    assert house.ids(query)[0] == "m-other"


@pytest.mark.parametrize(
    "text",
    [
        "qwrtzxvb kjhgfdsq",
        "(.*)+$ [a-z]{99} \\b",
        "??? !!! ...",
        '"',
        "-",
        "lisinopril " * 900,
        "x" * 10_000,
        "\ue000lisinopril\ue001",
        "topic:Medical topic:Diet topic:",
    ],
)
def test_odd_queries_are_answered_quickly(house: Shelf, text: str) -> None:
    house.search().search("warm up")
    began = time.perf_counter()
    result = house.search().search(text)
    assert time.perf_counter() - began < 1
    assert result.total >= len(result.hits)


def test_nonsense_finds_nothing(house: Shelf) -> None:
    assert house.ids("qwrtzxvb kjhgfdsq") == []
    assert house.ids("??? !!!") == []


def test_a_memory_that_is_deleted_meanwhile_is_left_out(house: Shelf) -> None:
    del house.cards_by_id["m-dose"]
    assert house.ids("lisinopril") == ["m-salt"]


def test_only_the_texts_of_shown_memories_are_read(shelf: Shelf) -> None:
    for number in range(30):
        shelf.add(f"m-{number:02}", f"User: boat number {number} of the harbour")
    shelf.reads.clear()
    shelf.ids("boat of the harbour", limit=3)
    assert len(set(shelf.reads)) == 3


def test_limits_are_kept(shelf: Shelf) -> None:
    for number in range(60):
        shelf.add(f"m-{number:02}", "User: boat", created=NOW - timedelta(days=number))
    assert len(shelf.ids("boat", limit=500)) == 50
    assert len(shelf.ids("boat", limit=0)) == 1
    assert shelf.ids("boat", limit=10, offset=1_000) == []
    assert shelf.search().search("boat").total == 60


def test_twenty_facts_are_found_by_words_of_their_own_among_many(shelf: Shelf) -> None:
    chance = random.Random(4)
    things = ("violin", "kayak", "beehive", "telescope", "sourdough", "cactus", "ukulele", "drone")
    for number in range(60):
        filler = " ".join(chance.choice(FILLER) for _ in range(12))
        fact = f" Ann: I sold my {things[number]} to a neighbour. " if number < len(things) else " "
        shelf.add(f"m-{number:02}", filler + fact + filler)
    for number, thing in enumerate(things):
        assert shelf.ids(f"who bought the {thing} from Ann?")[0] == f"m-{number:02}"
