"""A save is stored at once; a better summary follows when a model is there, never over a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from model_servers import GOOD, ModelServer, ollama_server

from neurigraph.edits.compose import summary_source
from neurigraph.edits.memories import MemoryEdit
from neurigraph.improve import improved
from neurigraph.memory import Memory
from neurigraph.model import Conversation
from neurigraph.settings import IndexSettings, Settings, SummarizeSettings
from neurigraph.summarize.extractive import extractive
from vaults import QUICK, opened

TALK = (Path(__file__).parent / "conversations" / "medical.md").read_text("utf-8")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ollama_server() as state:
        state.models = [{"name": "llama3.2", "details": {"family": "llama"}}]
        state.answers = [GOOD]
        yield state


def asking(server: ModelServer) -> Settings:
    return QUICK.model_copy(
        update={
            "index": IndexSettings(embedder="none", ollama_url=server.url),  # type: ignore[call-arg]
            "summarize": SummarizeSettings(provider="ollama", ollama_model="llama3.2"),  # type: ignore[call-arg]
        }
    )


def save(memory: Memory, **more: object) -> str:
    saved = memory.save(Conversation(TALK, broad_topic="Medical", **more))  # type: ignore[arg-type]
    assert memory.wait_improved()
    return saved.id


def test_a_model_writes_a_better_summary_after_the_save(
    tmp_path: Path, server: ModelServer
) -> None:
    with opened(tmp_path / "v", tmp_path / "s", asking(server)) as memory:
        chunk = memory.memory(save(memory))
        assert chunk.summary == GOOD["summary"]
        assert chunk.summary_source == summary_source("ollama:llama3.2", str(GOOD["summary"]))
        assert chunk.keywords == tuple(GOOD["keywords"])
        assert "Dr. Okafor" in chunk.decisions
        assert "potassium test" in chunk.open_questions
        assert memory.summarizer()["name"] == "ollama:llama3.2"
        assert memory.transcript(chunk.id) == TALK
        assert [h.id for h in memory.search("bradykinin paracetamol").hits] == [chunk.id]


def test_without_a_model_the_keywords_get_better(tmp_path: Path) -> None:
    settings = QUICK.model_copy(update={"summarize": SummarizeSettings(provider="extractive")})  # type: ignore[call-arg]
    with opened(tmp_path / "v", tmp_path / "s", settings) as memory:
        chunk = memory.memory(save(memory))
        better = extractive(TALK)
        assert chunk.keywords == better.keywords
        assert chunk.summary == better.summary.strip()
        assert chunk.summary_source.startswith("extractive ")
        assert memory.summarizer() == {"name": "extractive", "waiting": 0, "problem": ""}


@pytest.mark.parametrize("answer", ['{"title": "cut o', 500, {"summary": "no"}])
def test_a_model_that_fails_leaves_the_first_summary(
    tmp_path: Path, server: ModelServer, answer: object
) -> None:
    server.answers = [answer]
    with opened(tmp_path / "v", tmp_path / "s", asking(server)) as memory:
        chunk = memory.memory(save(memory))
        assert chunk.summary_source.startswith("extractive ")
        assert chunk.summary == extractive(TALK).summary.strip()
        # it is tried again, later
        assert memory.summarizer()["waiting"] == 1
        assert "no summary from ollama" in str(memory.summarizer()["problem"])


def test_a_model_that_is_not_installed_is_not_asked_for_again_and_again(
    tmp_path: Path, server: ModelServer
) -> None:
    server.models = [{"name": "other"}]
    with opened(tmp_path / "v", tmp_path / "s", asking(server)) as memory:
        save(memory)
        state = memory.summarizer()
        assert state["waiting"] == 0
        assert "ollama pull llama3.2" in str(state["problem"])


def test_what_the_saving_ai_wrote_is_left_alone(tmp_path: Path, server: ModelServer) -> None:
    with opened(tmp_path / "v", tmp_path / "s", asking(server)) as memory:
        chunk = memory.memory(save(memory, summary="Mine.", source_model="claude"))
        assert (chunk.summary, server.asked) == ("Mine.", [])


def test_keywords_of_the_saving_ai_stay_under_a_better_summary(
    tmp_path: Path, server: ModelServer
) -> None:
    with opened(tmp_path / "v", tmp_path / "s", asking(server)) as memory:
        chunk = memory.memory(save(memory, keywords=("mine",), decisions="- my own"))
        assert chunk.summary == GOOD["summary"]
        assert (chunk.keywords, chunk.decisions) == (("mine",), "- my own")


def test_a_person_who_was_quicker_keeps_their_words(tmp_path: Path, server: ModelServer) -> None:
    server.answers = [None]
    with opened(tmp_path / "v", tmp_path / "s", asking(server)) as memory:
        saved = memory.save(Conversation(TALK, broad_topic="Medical"))
        memory.update_memory(saved.id, MemoryEdit(summary="By hand."), "*")
        server.answers = [GOOD]
        server.released.set()
        assert memory.wait_improved()
        assert memory.memory(saved.id).summary == "By hand."


def test_what_is_private_is_read_on_this_machine_alone(tmp_path: Path, server: ModelServer) -> None:
    remote = SummarizeSettings(  # type: ignore[call-arg]
        provider="openai", openai_url="http://models.example.invalid/v1", openai_model="x"
    )
    with opened(
        tmp_path / "v", tmp_path / "s", QUICK.model_copy(update={"summarize": remote})
    ) as memory:
        memory.create_topic("Medical")
        topic = memory.topic("Medical")
        memory.update_topic("Medical", topic.version, private=True)
        save(memory)
        # nobody was asked, so nothing could fail
        assert memory.summarizer()["problem"] == ""


def test_a_note_is_changed_only_where_it_is_still_as_it_was_made() -> None:
    quick, better = extractive(TALK, keywords_quick=True), extractive(TALK)
    summary = quick.summary.strip()
    raw = (
        "---\ntype: memory\nid: m-20261130-7f3a2c1b\n"
        f"transcript_sha256: abc\nsummary_source: {summary_source('extractive', summary)}\n"
        f"mine: yes # keep\n---\n## Summary\n{summary}\n\n## My notes\nNever touch.\n"
    ).encode()
    assert improved(raw, "another", quick, better) == raw
    edited = raw.replace(b"## Summary\n", b"## Summary\nBy me. ")
    assert improved(edited, "abc", quick, better) == edited
    for source in (b"claude", b"ollama:x", b"edited"):
        theirs = raw.replace(b"summary_source: extractive", b"summary_source: " + source)
        assert improved(theirs, "abc", quick, better) == theirs
    assert improved(b"no note at all", "abc", quick, better) == b"no note at all"
