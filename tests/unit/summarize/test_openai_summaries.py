"""What happens when an OpenAI-compatible server writes the summaries, and when it cannot."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_servers import GOOD, ModelServer, openai_server

from neurigraph.summarize.draft import SummarizerFailed
from neurigraph.summarize.openai_summarizer import OpenAISummarizer

MEDICAL = (Path(__file__).parent / "conversations" / "medical.md").read_text(encoding="utf-8")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with openai_server() as state:
        yield state


def summarizer(
    server: ModelServer, model: str = "gemma", key: str = "", timeout: float = 5
) -> OpenAISummarizer:
    return OpenAISummarizer(f"{server.url}/v1", model, key, timeout)


def test_a_good_answer_becomes_the_draft(server: ModelServer) -> None:
    draft = summarizer(server, key="secret-key").summarize(MEDICAL)
    assert draft.summary == GOOD["summary"]
    assert draft.source == "openai:gemma"
    assert server.headers[0]["Authorization"] == "Bearer secret-key"
    assert server.asked[0]["response_format"]["json_schema"]["strict"] is True


def test_without_a_key_none_is_sent(server: ModelServer) -> None:
    summarizer(server).summarize(MEDICAL)
    assert "Authorization" not in server.headers[0]


def test_a_server_without_json_schema_is_asked_in_a_plainer_form(server: ModelServer) -> None:
    server.refuses = lambda body: body.get("response_format", {}).get("type") == "json_schema"
    assert summarizer(server).summarize(MEDICAL).summary == GOOD["summary"]
    assert server.asked[-1]["response_format"] == {"type": "json_object"}


def test_a_server_that_knows_no_response_format_is_asked_without(server: ModelServer) -> None:
    server.refuses = lambda body: "response_format" in body
    server.answers = [f"<think>Hm.</think>\n```json\n{json.dumps(GOOD)}\n```"]
    assert summarizer(server).summarize(MEDICAL).summary == GOOD["summary"]
    assert "response_format" not in server.asked[-1]


def test_a_reasoning_model_is_asked_in_its_own_words(server: ModelServer) -> None:
    server.refuses = lambda body: "max_tokens" in body or "temperature" in body
    assert summarizer(server).summarize(MEDICAL).summary == GOOD["summary"]
    assert "max_completion_tokens" in server.asked[-1]


def test_the_form_that_worked_is_kept_for_the_parts_that_follow(server: ModelServer) -> None:
    server.refuses = lambda body: "response_format" in body
    summarizer(server).summarize(MEDICAL * 12)
    assert sum("response_format" in body for body in server.asked) == 3


@pytest.mark.parametrize(
    ("answer", "reason", "lasting", "times"),
    [
        (500, "answered 500", False, 3),
        (401, "key was refused", True, 1),
        (404, "no such model", True, 1),
        (429, "answered 429", False, 1),
        (307, "answered 307", False, 1),
        (b"<html>hello</html>", "something else", False, 3),
        (b'{"choices": []}', "something else", False, 3),
        (b'{"choices": [{"message": {"content": null}}]}', "empty", False, 3),
        (json.dumps(GOOD)[:-30], "cut off", False, 3),
        ("no", "not JSON", False, 3),
    ],
)
def test_a_bad_answer_fails_with_its_reason(
    server: ModelServer, answer: object, reason: str, lasting: bool, times: int
) -> None:
    server.answers = [answer]
    with pytest.raises(SummarizerFailed, match=reason) as failed:
        summarizer(server, key="secret-key").summarize(MEDICAL)
    assert failed.value.lasting is lasting
    assert len(server.asked) == times
    assert "secret-key" not in str(failed.value)


def test_a_hang_ends_with_the_time_out(server: ModelServer) -> None:
    server.answers = [None]
    began = time.monotonic()
    with pytest.raises(SummarizerFailed, match=r"no answer within 0\.2 seconds"):
        summarizer(server, timeout=0.2).summarize(MEDICAL)
    assert time.monotonic() - began < 3
    assert len(server.asked) == 1


def test_an_answer_at_the_limit_is_cut_off(server: ModelServer) -> None:
    server.done_reason = "length"
    with pytest.raises(SummarizerFailed, match="cut off"):
        summarizer(server).summarize(MEDICAL)


def test_a_server_on_this_machine_says_its_model_itself(server: ModelServer) -> None:
    assert summarizer(server, model="").summarize(MEDICAL).source == "openai:llama3.2:3b"
    server.models = []
    with pytest.raises(SummarizerFailed, match=r"summarize\.openai_model"):
        summarizer(server, model="").summarize(MEDICAL)
    with pytest.raises(SummarizerFailed, match=r"summarize\.openai_model"):
        OpenAISummarizer("https://example.org/v1").summarize(MEDICAL)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "127.0.0.1/v1", "http://[oops"])
def test_an_address_that_is_none_is_said(url: str) -> None:
    with pytest.raises(SummarizerFailed, match=r"summarize\.openai_url") as failed:
        OpenAISummarizer(url, "gemma").summarize(MEDICAL)
    assert failed.value.lasting


@pytest.mark.parametrize("key", ["smart ’quote’", "two\nlines"])
def test_a_malformed_key_is_said_but_not_shown(server: ModelServer, key: str) -> None:
    with pytest.raises(SummarizerFailed, match="key") as failed:
        summarizer(server, key=key).summarize(MEDICAL)
    assert key not in str(failed.value)


def test_nothing_listening_is_said(server: ModelServer) -> None:
    with openai_server() as gone:
        pass
    with pytest.raises(SummarizerFailed, match="nothing answers"):
        summarizer(gone).summarize(MEDICAL)


def test_only_a_loopback_server_is_local() -> None:
    assert OpenAISummarizer("http://localhost:8080/v1", "gemma").local
    assert OpenAISummarizer("http://[::1]:8080/v1", "gemma").local
    assert not OpenAISummarizer("https://api.example.org/v1", "gemma").local
    assert not OpenAISummarizer("http://localhost.example.org/v1", "gemma").local
    assert not OpenAISummarizer("http://127.0.0.1:11434/v1", "gpt-oss:20b-cloud").local
