"""A real daemon, a real MCP client, a person with an editor: one conversation's whole life."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from daemon_process import Daemon, daemon
from neurigraph.clock import system_clock
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.recall import Recall

TALK = """## User

My doctor wants to change my lisinopril. What should I know?

## Assistant

Ten milligrams is the usual start. Watch for a dry cough, and have potassium checked in two weeks.

## User

Good, we decided to start on Monday with ten milligrams in the morning.
"""


def ask_mcp(address: str, tool: str, **arguments: Any) -> Any:
    """One call of a tool by a real client over streamable HTTP."""

    async def call() -> Any:
        async with Client(f"{address}/mcp") as client:
            return (await client.call_tool(tool, arguments)).structured_content

    return asyncio.run(call())


def save_like_vim(path: Path, change: Callable[[str], str]) -> None:
    """Write a new file beside, move the old one away, move the new one in place."""
    new = path.with_name("4913")
    new.write_text(change(path.read_text("utf-8")), "utf-8")
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    new.rename(path)
    backup.unlink()


def save_like_obsidian(path: Path, change: Callable[[str], str]) -> None:
    """Truncate and write in place, as Obsidian's vault adapter does."""
    path.write_text(change(path.read_text("utf-8")), "utf-8")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Daemon]:
    vault = tmp_path / "vault"
    (vault / "Diary").mkdir(parents=True)
    (vault / "Diary" / "2026-11-28.md").write_text("A walk by the sea with Ada.\n", "utf-8")
    with daemon(vault, tmp_path / "state") as running:
        running.ready()
        yield running


class Finder:
    """Looks for a memory by all three ways and says where they found it."""

    def __init__(self, running: Daemon) -> None:
        self.running = running

    def paths(self, query: str) -> list[str | None]:
        rest = self.running.search(query)
        mcp = ask_mcp(self.running.address, "search_memory", query=query)["results"]
        cli = self.running.cli_json("search", query)["results"]
        return [found[0]["path"] if found else None for found in (rest, mcp, cli)]

    def is_at(self, query: str, path: str | None) -> None:
        """All three ways agree, as soon as the edit has been taken up."""

        def look() -> bool:
            found = self.running.search(query)
            return (found[0]["path"] if found else None) == path

        self.running.until(look, f"'{query}' at {path}")
        assert self.paths(query) == [path] * 3


def test_a_saved_conversation_is_found_through_every_change_that_a_person_makes(
    running: Daemon,
) -> None:
    finder, vault = Finder(running), running.vault
    saved = ask_mcp(
        running.address,
        "save_conversation",
        content=TALK,
        broad_topic="Medical",
        focused_topic="Medications",
        title="Lisinopril: first dose",
    )
    memory_id, path = saved["id"], saved["path"]
    finder.is_at("lisinopril cough", path)
    assert running.http.get(f"/api/memory/chunk/{memory_id}/transcript").text == TALK

    save_like_vim(vault / path, lambda text: text + "\n## My notes\nAsk about grapefruit.\n")
    finder.is_at("grapefruit", path)
    save_like_obsidian(vault / path, lambda text: text.replace("grapefruit", "pomelo"))
    finder.is_at("pomelo", path)
    running.until(lambda: not running.search("grapefruit"), "the old word is gone")
    assert "notes" in running.get(f"/api/memory/chunk/{memory_id}")

    (vault / "Medical" / "Heart").mkdir()
    moved = f"Medical/Heart/{Path(path).name}"
    (vault / path).rename(vault / moved)
    finder.is_at("pomelo", moved)
    assert running.get(f"/api/memory/chunk/{memory_id}")["focused"] == "Heart"

    (vault / "Medical").rename(vault / "Health")
    renamed = moved.replace("Medical/", "Health/")
    finder.is_at("pomelo", renamed)
    assert running.get(f"/api/memory/chunk/{memory_id}")["broad"] == "Health"
    assert [n["name"] for n in running.get("/api/graph/broad")["items"]] == ["Diary", "Health"]

    (vault / renamed).unlink()
    finder.is_at("pomelo", None)
    assert running.http.get(f"/api/memory/chunk/{memory_id}").status_code == 404
    assert (vault / "_recall" / memory_id / "transcript.md").exists()
    finder.is_at("sea with Ada", "Diary/2026-11-28.md")


def test_what_an_ai_edits_is_on_disk_and_what_a_person_undoes_comes_back(running: Daemon) -> None:
    saved = running.http.post(
        "/api/memory", json={"transcript": TALK, "broad_topic": "Medical/Medications"}
    ).json()
    address = f"/api/memory/chunk/{saved['id']}"
    before = running.get(address)
    stale = running.http.patch(address, json={"title": "x"}, headers={"If-Match": '"0000"'})
    assert stale.status_code == 409
    assert stale.json()["error"]["current"]["title"] == before["title"]
    assert running.http.patch(address, json={"title": "x"}).status_code == 428
    changed = running.http.patch(
        address, json={"title": "Dose: ten?"}, headers={"If-Match": before["version"]}
    )
    assert changed.json()["title"] == "Dose: ten?"
    assert 'title: "Dose: ten?"' in (running.vault / before["path"]).read_text("utf-8")
    deleted = running.http.delete(address, headers={"If-Match": changed.json()["version"]})
    assert deleted.status_code == 200
    assert not running.search("lisinopril")
    again = running.http.post("/api/memory", json={"transcript": TALK}).json()
    assert again["status"] == "deleted_before"
    assert "Restored" in running.cli("restore", saved["id"])
    assert running.search("lisinopril")[0]["id"] == saved["id"]
    assert running.http.get(f"{address}/transcript").text == TALK


def test_after_the_state_is_deleted_everything_comes_back_from_the_vault(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    queries = []
    with daemon(vault, state) as running:
        running.ready()
        for number in range(25):
            topic = f"Work/Project {number % 5}"
            words = f"alpha{number} beta{number % 7} gamma{number % 3}"
            talk = (
                f"## User\n\nTell me of {words}.\n\n## Assistant\n\nIt is about {words} indeed.\n"
            )
            running.http.post("/api/memory", json={"transcript": talk, "broad_topic": topic})
            queries += [f"alpha{number}", f"beta{number % 7} gamma{number % 3}"]
        (vault / "Work" / "loose.md").write_text("alpha3 beta3, by hand\n", "utf-8")
        running.until(lambda: running.search("by hand"), "the note by hand")
        nodes = {n["name"]: n for n in running.get("/api/graph/broad")["items"]}
        focused = running.get(f"/api/graph/broad/{nodes['Work']['id']}/focused")["items"]
        edge = {"source": focused[0]["id"], "target": focused[1]["id"], "weight": 0.7}
        assert running.http.post("/api/graph/edges", json=edge).status_code == 201
        memory = running.get("/api/memory")["items"][3]
        running.http.patch(
            f"/api/memory/chunk/{memory['id']}",
            json={"pinned": True},
            headers={"If-Match": memory["version"]},
        )
        assert running.stop() == 0
    recall = Recall(VaultFiles(vault, system_clock))
    stored = sorted(p.name for p in (vault / "_recall").iterdir())
    cold = next(name for name in stored if name != memory["id"])
    recall.compress(cold)

    def picture(running: Daemon) -> dict[str, Any]:
        running.ready()
        memories = running.get("/api/memory", per_page=500)["items"]
        return {
            "ids": {m["id"]: m["path"] for m in memories},
            "pins": sorted(m["id"] for m in memories if m["pinned"]),
            "cold": sorted(m["id"] for m in memories if m["temperature"] == "cold"),
            "nodes": {n["path"]: n["id"] for n in running.get("/api/graph/broad")["items"]},
            "edges": running.get("/api/graph/edges")["items"],
            "answers": {q: [h["id"] for h in running.search(q)] for q in queries},
        }

    with daemon(vault, state) as running:
        before = picture(running)
    assert before["cold"] == [cold]
    assert before["pins"] == [memory["id"]]
    assert len(queries) == 50
    shutil.rmtree(state)
    with daemon(vault, state) as running:
        running.cli("reindex")
        after = picture(running)
    assert after == before


def test_a_second_daemon_and_a_taken_port_are_one_line_and_exit_code_2(running: Daemon) -> None:
    said = running.cli("up", code=2)
    assert said.count("\n") == 1
    assert "already serves" in said
    port = running.address.rpartition(":")[2]
    other = running.state / "other vault"
    other.mkdir()
    said = running.cli("up", str(other), "--port", port, code=2)
    assert said.count("\n") == 1
    assert "--port" in said
    said = running.cli("up", str(other / "missing"), code=2)
    assert "neurigraph init" in said


def test_init_in_a_vault_that_exists_touches_no_file(running: Daemon) -> None:
    def picture() -> dict[str, tuple[bytes, int]]:
        return {
            str(p): (p.read_bytes(), p.stat().st_mtime_ns)
            for p in running.vault.rglob("*")
            if p.is_file()
        }

    before = picture()
    assert "none was touched" in running.cli("init", str(running.vault))
    assert picture() == before


def test_a_topic_with_a_hostile_name_stays_in_the_vault(running: Daemon) -> None:
    for name in ("../../etc", "CON", "..", "a/../../b", "nul.txt", "\u0000x", " ", "/"):
        answer = running.http.post(
            "/api/memory", json={"transcript": f"About {name}. " + TALK, "broad_topic": name}
        )
        assert answer.status_code in (201, 422), answer.text
    root = os.path.realpath(running.vault)
    outside = [p for p in running.vault.parent.iterdir() if p.name not in ("vault", "state")]
    assert outside == []
    for found in running.vault.rglob("*"):
        assert os.path.realpath(found).startswith(root)
        assert found.name.upper() not in ("CON", "NUL.TXT", "..")
