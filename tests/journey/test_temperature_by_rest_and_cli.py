"""A real daemon cools and warms: what the status says, the commands print and Obsidian is left."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from daemon_process import Daemon, daemon

TALK = """## User

What is the tide like at {place}?

## Assistant

At {place} the tide turns twice a day, and the lamp of {place} is green.
"""


def save(running: Daemon, place: str, topic: str) -> str:
    """Save a conversation, and answer its id."""
    body = {"transcript": TALK.format(place=place), "broad_topic": topic, "title": place}
    answer = running.http.post("/api/memory", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def make_old(vault: Path, days: int) -> None:
    """As if everything had been written and read so many days ago."""
    old = datetime.now() - timedelta(days=days)
    for note in vault.rglob("*.md"):
        lines = [
            f"{line.split(':')[0]}: {old.isoformat(timespec='seconds')}"
            if line.startswith(("created:", "last_accessed:"))
            else line
            for line in note.read_text("utf-8").split("\n")
        ]
        if "_recall" not in note.parts:
            note.write_text("\n".join(lines), "utf-8")
        os.utime(note, (old.timestamp(), old.timestamp()))


@pytest.fixture
def aged(tmp_path: Path) -> Iterator[tuple[Daemon, dict[str, str]]]:
    """A daemon over a vault that nobody opened for 40 days, and that nobody said yes for."""
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    with daemon(vault, state) as running:
        running.ready(vectors=False)
        ids = {p: save(running, p, f"Sea/{p}") for p in ("Harlow", "Quay", "Ness")}
        edge = {"source": "Sea/Harlow", "target": "Sea/Quay", "weight": 0.9}
        assert running.http.post("/api/graph/edges", json=edge).status_code == 201
        assert running.stop() == 0
    make_old(vault, 40)
    for file in state.glob("*/access.sqlite*"):
        file.unlink()
    with daemon(vault, state) as running:
        running.ready(vectors=False)
        yield running, ids


def stored(running: Daemon, memory_id: str) -> str:
    # for a moment both stand there: the one is removed when the other has been read back
    folder = running.vault / "_recall" / memory_id
    return " and ".join(sorted(p.name for p in folder.glob("transcript*")))


def temperature(running: Daemon, memory_id: str) -> str:
    return str(running.get(f"/api/memory/chunk/{memory_id}")["temperature"])


def test_a_vault_cools_after_the_first_yes_and_opening_warms_the_neighbours(
    aged: tuple[Daemon, dict[str, str]],
) -> None:
    running, ids = aged
    status = running.get("/api/temperature/status")
    assert status["counts"] == {"hot": 0, "warm": 3, "cold": 0, "deep_cold": 0}
    assert status["planned"]["compress"] == 3
    assert (status["agreed"], status["cool"], status["held"]) == (False, "auto", None)
    due = datetime.fromisoformat(
        running.until(lambda: running.get("/api/temperature/status")["next_cycle"], "a next cycle")
    )
    assert due.timestamp() - time.time() < 200
    assert "Would compress 3 transcripts" in running.cli("cool", "--dry-run")
    plan = running.http.post("/api/temperature/maintenance", params={"dry_run": "true"})
    assert plan.status_code == 200
    assert {m["id"] for m in plan.json()["memories"]} == set(ids.values())
    said = running.cli("cool", code=1)
    assert "neurigraph cool --yes" in said
    assert {stored(running, i) for i in ids.values()} == {"transcript.md"}

    assert "Compressed 3 transcripts" in running.cli("cool", "--yes")
    assert {stored(running, i) for i in ids.values()} == {"transcript.md.gz"}
    assert "agreed = true" in (running.vault / "neurigraph.toml").read_text("utf-8")
    status = running.get("/api/temperature/status")
    assert status["counts"] == {"hot": 0, "warm": 0, "cold": 0, "deep_cold": 3}
    assert status["last_cycle"]["compressed"] == 3
    assert status["last_cycle"]["saved_bytes"] > 0
    assert status["last_cycle"]["problem"] is None
    assert "Nothing was to be compressed" in running.cli("cool")
    for place, memory_id in ids.items():
        assert running.search(f"lamp of {place}")[0]["id"] == memory_id

    answer = running.http.get(f"/api/memory/chunk/{ids['Harlow']}/transcript")
    assert answer.text == TALK.format(place="Harlow")
    running.until(lambda: stored(running, ids["Harlow"]) == "transcript.md", "it is unpacked")
    running.until(lambda: stored(running, ids["Quay"]) == "transcript.md", "the neighbour too")
    assert temperature(running, ids["Harlow"]) == "hot"
    assert stored(running, ids["Ness"]) == "transcript.md.gz"
    done = running.cli_json("warm", "Sea")
    assert (done["warmed"], done["left"]) == (1, 0)
    assert stored(running, ids["Ness"]) == "transcript.md"
    assert "nearest" in running.cli("warm", "Seaa", code=1)


def test_what_obsidian_shows_is_opened_by_its_workspace_file(
    aged: tuple[Daemon, dict[str, str]],
) -> None:
    running, ids = aged
    running.cli("cool", "--yes")
    path = running.get(f"/api/memory/chunk/{ids['Ness']}")["path"]
    place = running.vault / ".obsidian"
    place.mkdir()
    leaf = {"type": "leaf", "state": {"type": "markdown", "state": {"file": path}}}
    workspace: dict[str, Any] = {"main": {"type": "split", "children": [leaf]}}
    (place / "workspace.json").write_text(json.dumps(workspace), "utf-8")
    running.until(lambda: stored(running, ids["Ness"]) == "transcript.md", "it is unpacked")
    assert running.get(f"/api/memory/chunk/{ids['Ness']}")["access_count"] == 1


def test_an_opened_memory_can_be_edited_with_the_version_that_was_read(
    aged: tuple[Daemon, dict[str, str]],
) -> None:
    running, ids = aged
    running.cli("cool", "--yes")
    address = f"/api/memory/chunk/{ids['Ness']}"
    version = running.get(address)["version"]
    assert running.http.post(f"{address}/open").json()["temperature"] == "hot"
    running.until(lambda: stored(running, ids["Ness"]) == "transcript.md", "it is unpacked")
    changed = running.http.patch(
        address, json={"title": "Ness, again"}, headers={"If-Match": version}
    )
    assert changed.status_code == 200, changed.text
