"""A coding AI with our hooks: its session begins with what the memory knows and ends in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon_process import Daemon, daemon
from neurigraph.mcp_text import QUOTED


def turn(role: str, text: str, number: int) -> dict[str, Any]:
    """A line of a session's log as Claude Code writes it."""
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "session-1",
        "timestamp": f"2026-11-30T08:{number:02}:00.000Z",
        "cwd": "/home/ada/rye-bread",
        "isSidechain": False,
        "message": {"role": role, "content": text},
    }


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Daemon]:
    (tmp_path / "vault").mkdir()
    quick = {"NEURIGRAPH_INDEX_EMBEDDER": "none"}
    with daemon(tmp_path / "vault", tmp_path / "state", **quick) as running:
        running.ready()
        yield running


def test_a_session_ends_in_the_memory_and_the_next_one_begins_with_it(
    running: Daemon, tmp_path: Path
) -> None:
    log = tmp_path / "session-1.jsonl"
    turns = [
        turn("user", "The rye-bread oven controller overshoots. Why?", 0),
        turn("assistant", "Its integral term winds up; clamp it at forty.", 1),
    ]
    log.write_text("".join(json.dumps(t) + "\n" for t in turns), "utf-8")
    begin = {"hook_event_name": "SessionStart", "cwd": "/home/ada/rye-bread", "source": "startup"}
    assert running.cli("hook", "recall", stdin=json.dumps(begin)) == ""

    ended = {"hook_event_name": "SessionEnd", "transcript_path": str(log), "cwd": "/home/ada"}
    assert running.cli("hook", "keep", stdin=json.dumps(ended)) == ""
    [hit] = running.until(lambda: running.search("integral clamp"), "the session in the memory")

    told = json.loads(running.cli("hook", "recall", stdin=json.dumps(begin)))
    context = told["hookSpecificOutput"]["additionalContext"]
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "rye-bread" in context
    assert QUOTED in context
    assert hit["id"] in context

    turns.append(turn("user", "Clamped at forty, it holds within two degrees.", 2))
    log.write_text("".join(json.dumps(t) + "\n" for t in turns), "utf-8")
    running.cli("hook", "keep", stdin=json.dumps(ended))
    running.until(lambda: running.search("within two degrees"), "the longer session")
    assert running.get("/api/memory")["total"] == 1


def test_hooks_never_stand_in_the_way(running: Daemon) -> None:
    for words in ("", "no json", "[]", '{"cwd": ""}', '{"transcript_path": "/nowhere"}'):
        assert running.cli("hook", "recall", stdin=words) == ""
        assert running.cli("hook", "keep", stdin=words) == ""
    said = running.cli("hook", "recall", "--vault", "/nowhere", stdin='{"cwd": "/x"}')
    assert said.startswith("neurigraph: ")
