"""No answer floods a context: each keeps within its tokens and says what it left out."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from mcp_calls import call, read
from neurigraph import mcp_calls as calls
from neurigraph.mcp_reading import MOST_PAGE, SEARCH_TOKENS, TOPIC_TOKENS
from neurigraph.mcp_server import mcp_server
from neurigraph.memory import Memory
from neurigraph.model import Conversation
from neurigraph.vault.turns import estimate_tokens
from vaults import FixedClock, opened


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "vault", tmp_path / "state"


def talk(number: int) -> str:
    body = f"The zebra number {number} grazes by the river in the evening sun. " * 60
    return f"## User\n\nWhere is zebra {number}?\n\n## Assistant\n\n{body}\n"


def fill(memory: Memory, many: int) -> list[str]:
    return [
        memory.save(Conversation(talk(n), broad_topic=f"Animals/Herd {n % 4}")).id
        for n in range(many)
    ]


def test_many_hits_are_cut_to_what_fits_and_the_rest_is_said(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        fill(memory, 40)
        answer = call(memory, "search_memory", query="zebra river", limit=50)
        quoted = [h["quoted"] for h in answer["results"]]
        assert estimate_tokens(json.dumps(quoted)) <= SEARCH_TOKENS * 1.3
        assert answer["total"] == 40
        if len(answer["results"]) < 40:
            assert "did not fit" in answer["left_out"]


def test_a_context_keeps_its_bound_and_counts_as_opened(place: tuple[Path, Path]) -> None:
    clock = FixedClock()
    with opened(*place, clock=clock) as memory:
        ids = fill(memory, 12)
        before = {i: memory.memory(i).access_count for i in ids}
        answer = call(memory, "get_context", query="zebra river", max_tokens=600)
        shown = [m["id"] for m in answer["memories"]]
        assert shown
        assert answer["tokens"] <= 600
        assert "did not fit into 600 tokens" in answer["left_out"]
        for memory_id in ids:
            opened_now = memory.memory(memory_id).access_count - before[memory_id]
            assert opened_now == (1 if memory_id in shown else 0)
        # being found is no opening
        call(memory, "search_memory", query="zebra river", limit=50)
        assert sum(memory.memory(i).access_count for i in ids) == len(shown)


def test_a_context_of_nothing_begins_with_the_hottest_of_each_topic(
    place: tuple[Path, Path],
) -> None:
    clock = FixedClock()
    with opened(*place, clock=clock) as memory:
        ids = fill(memory, 12)
        clock.advance(days=3)
        memory.open_memory(ids[5])
        answer = call(memory, "get_context", max_tokens=4_000)
        shown = answer["memories"]
        assert shown[0]["id"] == ids[5]
        assert len({m["topic"] for m in shown[:4]}) == 4


def test_too_many_topics_leave_out_the_emptiest(place: tuple[Path, Path]) -> None:
    vault, state = place
    for broad in range(6):
        for focused in range(60):
            (vault / f"Broad {broad}" / f"A focused topic number {focused}").mkdir(parents=True)
    with opened(vault, state) as memory:
        memory.save(Conversation(talk(1), broad_topic="Broad 3/A focused topic number 59"))
        answer = call(memory, "list_topics")
        assert estimate_tokens(json.dumps(answer)) <= TOPIC_TOKENS * 1.3
        assert "are not shown" in answer["left_out"]
        paths = [f["path"] for b in answer["topics"] for f in b["focused"]]
        assert "Broad 3/A focused topic number 59" in paths
        assert len(answer["topics"]) == 6


def test_a_long_transcript_as_a_resource_says_how_to_go_on(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        text = "".join(talk(n) for n in range(40))
        memory_id = memory.save(Conversation(text)).id
        content = read(memory, f"memory://memory/{memory_id}/transcript")
        assert estimate_tokens(content) <= MOST_PAGE * 1.1
        assert f"get_recall_file(chunk_id='{memory_id}', offset={MOST_PAGE})" in content


def test_an_offset_past_the_end_is_refused_with_the_size(place: tuple[Path, Path]) -> None:
    with opened(*place) as memory:
        memory_id = memory.save(Conversation(talk(1))).id
        with pytest.raises(Exception, match=r"^offset: the transcript of .* has \d+ tokens"):
            call(memory, "get_recall_file", chunk_id=memory_id, offset=1_000_000)


def test_a_long_call_says_that_it_goes_on(
    place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "PROGRESS_SECONDS", 0.01)
    heard: list[str | None] = []
    enough = threading.Event()

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)
        enough.set()

    with opened(*place) as memory:

        class Slow(Memory):
            """Answers once somebody has been told that it takes time."""

            def wait_opened(self, timeout: float) -> bool:
                return enough.wait(30)

        memory.__class__ = Slow

        async def run() -> Any:
            async with Client(mcp_server(memory)) as client:
                return await client.call_tool("list_topics", {}, progress_handler=listen)

        assert asyncio.run(run()).structured_content["topics"] == []
    assert heard
    assert str(heard[0]).startswith("listing (")
