"""Which answers of a model are kept, and which are told for what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_servers import GOOD

from neurigraph.summarize.checks import Answer, Source, check_answer, read_answer
from neurigraph.summarize.draft import SummarizerFailed
from neurigraph.summarize.extractive import extractive
from neurigraph.summarize.reader import SYSTEM

CONVERSATIONS = Path(__file__).parent / "conversations"
NAMES = sorted(path.stem for path in CONVERSATIONS.glob("*.md"))


def conversation(name: str) -> str:
    return (CONVERSATIONS / f"{name}.md").read_text(encoding="utf-8")


def answer(summary: str, *keywords: str, **more: object) -> Answer:
    value = {**GOOD, "decisions": [], "open_questions": [], "summary": summary, **more}
    value["keywords"] = list(keywords)
    return read_answer("model", json.dumps(value))


def check(name: str, found: Answer) -> None:
    check_answer("model", found, Source(conversation(name)), SYSTEM)


FAITHFUL = {
    "german": answer(
        "Es ging um Gemüseanbau auf einem sechs Quadratmeter großen Balkon nach Südosten im dritten"
        " Stock. Empfohlen wurden Cherrytomaten, Pflücksalat, Basilikum und Snackgurken; Tomaten"
        " werden ab Mitte März vorgezogen und dürfen nach den Eisheiligen ins Freie. Das Gewicht"
        " ist unbedenklich, denn zehn Töpfe mit nasser Erde wiegen rund 200 kg. Für den Urlaub im"
        " August fiel die Wahl auf ein Tropfsystem mit einem Tank von 60 Litern und Solarpumpe. Ob"
        " die Nachbarin nachfüllen kann, ist noch ungewiss.",
        "Balkon",
        "Tomaten",
        "Tropfsystem",
        "Solarpumpe",
    ),
    "japanese": answer(
        "来年三月の東京マラソン完走に向けた準備について相談した。現在は週二回五キロ程度しか走っていないため、"
        "最初の三か月は週三回に増やし、その後は長距離走を加え、本番の三週間前から練習量を減らす計画が示された。"
        "右膝の痛みについては筋力不足が原因とされ、スクワットとランジが勧められた。"
        "週三回のランニングと週二回の筋トレを始めること、新しいランニングシューズを買うことが決まった。",
        "東京マラソン",
        "筋トレ",
        "右膝",
    ),
    "chinese": answer(
        "用户想把旧硬盘里的两万张照片备份到新的NAS，其中有很多重复。建议先用哈希值去重，相似照片用感知哈希查找，"
        "再按三二一原则备份。因为不想每个月付费，用户决定买一块移动硬盘放在父母家，每三个月更新一次。"
        "NAS用两块盘还是四块盘还没有确定，助手认为两块盘做镜像就够了。",
        "照片",
        "NAS",
        "移动硬盘",
    ),
    "russian": answer(
        "Обсуждалось утепление дачного дома из бруса под Тверью для зимнего проживания. Ассистент"
        " посоветовал начать с чердака и пола, так как через них уходит больше половины тепла, и"
        " уплотнить окна вместо их замены. Решено этой осенью утеплить чердак эковатой, а пол"
        " отложить до весны. Неясно, выдержит ли проводка электрический котёл.",
        "утепление",
        "чердак",
        "эковата",
    ),
    "travel": answer(
        "The user and their partner asked for a ten-day route through Portugal in late April with"
        " hiking, good food and few crowds. The plan follows the railway from Porto to Lisbon and"
        " ends with the Fishermen's Trail at Vila Nova de Milfontes; the cost comes to about 2000"
        " euros for two. They replaced Sintra with the Arrábida natural park, dropped Coimbra for a"
        " fourth night in Porto, and will book flights for April 18 to 28. Vegetarian food is easy"
        " in the cities and harder on the coast.",
        "Portugal",
        "Fishermen's Trail",
        "Arrábida",
    ),
    "python_debugging": answer(
        "A nightly import job slowed down from 4 to 50 minutes after the move from pandas 1.5 to"
        " 2.2. The profile showed that to_datetime was called for every row because of an apply,"
        " and that concatenating inside the loop copied everything again. German files from the"
        " supplier Kessler use dots in dates, so each supplier now gets its own date format from a"
        " dictionary, which brought the job to 95 seconds. Rows with swapped days will be repaired"
        " by importing Kessler again since January.",
        "pandas",
        "to_datetime",
        "Kessler",
    ),
}


@pytest.mark.parametrize("name", sorted(FAITHFUL))
def test_a_faithful_summary_in_other_words_is_kept(name: str) -> None:
    check(name, FAITHFUL[name])


@pytest.mark.parametrize("name", NAMES)
def test_an_extractive_summary_would_pass(name: str) -> None:
    draft = extractive(conversation(name))
    check(name, answer(draft.summary, *draft.keywords))


@pytest.mark.parametrize("name", sorted(FAITHFUL))
def test_a_faithful_summary_of_something_else_is_not(name: str) -> None:
    for other in FAITHFUL:
        if other != name:
            with pytest.raises(SummarizerFailed, match=r"not in the transcript|too long"):
                check(name, FAITHFUL[other])


def test_a_model_that_invents_people_is_told() -> None:
    summary = GOOD["summary"].replace("Dr. Okafor", "Dr. Henderson of the Mayo Clinic in Boston")
    with pytest.raises(SummarizerFailed, match="Boston, Clinic, Henderson"):
        check("medical", answer(summary, "losartan"))


def test_a_model_that_invents_figures_is_told() -> None:
    summary = GOOD["summary"].replace("10 mg", "40 mg").replace("4.9", "6.85").replace("50", "75")
    with pytest.raises(SummarizerFailed, match="numbers that the transcript does not hold"):
        check("medical", answer(summary, "losartan"))


def test_a_model_that_lists_keywords_of_its_own_is_told() -> None:
    found = answer(GOOD["summary"], "cryptocurrency", "football", "losartan")
    with pytest.raises(SummarizerFailed, match="keywords are not in the transcript"):
        check("medical", found)


REPEATED = "The user has a dry cough because of lisinopril and wants losartan instead. "


@pytest.mark.parametrize(
    "summary",
    [
        REPEATED * 8,
        REPEATED * 3 + GOOD["summary"],
        GOOD["summary"] + " The potassium is high, and the potassium is high, and" * 6,
        "the cough and the drug and " * 30,
    ],
)
def test_a_model_that_goes_round_in_circles_is_told(summary: str) -> None:
    with pytest.raises(SummarizerFailed, match=r"over and over|repeats"):
        check("medical", answer(summary, "losartan"))


def test_a_model_that_goes_round_in_circles_in_japanese_is_told() -> None:
    with pytest.raises(SummarizerFailed, match=r"over and over|repeats"):
        check("japanese", answer("東京マラソンの準備をしています。" * 10, "東京マラソン"))
    with pytest.raises(SummarizerFailed, match=r"over and over|repeats"):
        check("japanese", answer("東京マラソンの準備と練習と" * 12, "東京マラソン"))


@pytest.mark.parametrize(
    "summary",
    [
        "I'm sorry, but I can't help with medical questions about lisinopril or losartan.",
        "I cannot summarize this conversation because it holds private medical information about"
        " lisinopril and potassium.",
        "As an AI language model, I do not give advice on losartan, potassium or ibuprofen.",
        "No transcript was provided, so there is no cough and no lisinopril to summarize here.",
    ],
)
def test_a_refusal_is_no_summary(summary: str) -> None:
    with pytest.raises(SummarizerFailed, match=r"refused|too short"):
        check("medical", answer(summary, "losartan"))


def test_a_refusal_that_is_told_of_is_kept() -> None:
    summary = GOOD["summary"] + " The assistant said that it cannot help with the exact dose."
    check("medical", answer(summary, "losartan"))


def test_instructions_given_back_are_no_summary() -> None:
    summary = (
        "You write the entry of a personal memory: what one conversation was about, so that its"
        " owner finds and understands it later. The user has a cough from lisinopril and a high"
        " potassium, and asks for losartan instead of lisinopril because of the cough at night."
    )
    with pytest.raises(SummarizerFailed, match="repeats the instructions"):
        check("medical", answer(summary, "losartan"))


def test_too_little_and_too_much_are_no_summaries() -> None:
    with pytest.raises(SummarizerFailed, match="too short"):
        check("medical", answer("A cough from lisinopril.", "cough"))
    with pytest.raises(SummarizerFailed, match="too long"):
        check("medical", answer(conversation("medical"), "cough"))


def test_one_number_that_was_reckoned_is_forgiven() -> None:
    summary = FAITHFUL["travel"].summary + " The plan covers 10 days and 160 euros for trains."
    check("travel", answer(summary, "Portugal"))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"<think>Let me see {{}}.</think>{json.dumps(GOOD)}",
        f"```json\n{json.dumps(GOOD, indent=2)}\n```\nThere you go!",
        json.dumps({**GOOD, "keywords": ", ".join(GOOD["keywords"])}),
    ],
)
def test_json_is_read_however_it_is_wrapped(text: str) -> None:
    assert read_answer("model", text).keywords == tuple(GOOD["keywords"])


def test_markup_in_an_answer_becomes_plain_text() -> None:
    found = answer("## Summary\n\n**The** `cough` is [a side effect](http://x.example).\n\n- No!")
    assert found.summary == "Summary\n\nThe cough is a side effect.\n\n- No!"
    assert answer("x", title="# A\ntitle\u0007 `<b>here</b>`").title == "A title here"


@given(st.text(max_size=300) | st.text('{}[]",: \\nsummarykeywo1"', max_size=300))
@settings(deadline=None, max_examples=200)
def test_any_answer_is_read_or_refused(text: str) -> None:
    try:
        read_answer("model", text)
    except SummarizerFailed as failed:
        assert "\n" not in str(failed)


@given(st.text(max_size=500), st.text(max_size=500))
@settings(deadline=None, max_examples=100)
def test_any_answer_about_any_text_is_kept_or_refused(said: str, transcript: str) -> None:
    found = Answer("", said, (said[:20],), (), ())
    try:
        check_answer("model", found, Source(transcript), SYSTEM)
    except SummarizerFailed as failed:
        assert failed.again
