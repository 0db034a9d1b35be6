"""Real MCP clients against a real daemon: the inspector over HTTP, FastMCP's client over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from daemon_process import PATIENCE, Daemon, daemon
from inspector import Inspector
from neurigraph.mcp_text import QUOTED

TALK = """## User

My doctor wants to change my lisinopril. What should I know?

## Assistant

Ten milligrams is the usual start. Watch for a dry cough, and have potassium checked in two weeks.

## User

Good, we decided to start on Monday with ten milligrams in the morning.
"""
OTHER = """## User

Which paint for the balcony wall?

## Assistant

A mineral paint, since it breathes. One litre does eight square metres.
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Daemon]:
    (tmp_path / "vault").mkdir()
    with daemon(tmp_path / "vault", tmp_path / "state") as running:
        running.ready(vectors=False)
        yield running


def stdio(env: dict[str, str], *more: str) -> Client[Any]:
    """A client that starts `neurigraph mcp` as its configuration says."""
    command = [sys.executable, "-m", "neurigraph", "mcp", *more]
    # without a shell of its own the transport would keep the process for the next client
    return Client(StdioTransport(command[0], command[1:], env=env, keep_alive=False))


def test_the_inspector_drives_every_tool_resource_and_prompt(running: Daemon) -> None:
    inspector = Inspector(f"{running.address}/mcp")
    names = [t["name"] for t in inspector.ask("tools/list")["tools"]]
    done = set()

    def call(tool: str, **arguments: Any) -> Any:
        done.add(tool)
        return inspector.call(tool, arguments)

    saved = call(
        "save_conversation",
        content=TALK,
        broad_topic="Medical",
        focused_topic="Medications",
        title="Lisinopril: first dose",
        keywords=["lisinopril", "dose"],
    )
    memory_id = saved["id"]
    assert (running.vault / saved["path"]).is_file()
    pushed = call("push_chunk", focused_node_id="Medications", transcript=OTHER, title="Paint")
    found = call("search_memory", query="dry cough", limit=3)
    assert found["results"][0]["id"] == memory_id
    assert "dry cough" in found["results"][0]["quoted"]["passages"][0]["text"]
    context = call("get_context", query="lisinopril", max_tokens=500)
    assert context["memories"][0]["id"] == memory_id
    assert context["tokens"] <= 500
    topics = call("list_topics")
    [medical] = topics["topics"]
    assert (medical["name"], medical["counts"]["memories"]) == ("Medical", 2)
    page = call("get_recall_file", chunk_id=memory_id)
    assert page["quoted"]["transcript"] == TALK
    recent = call("recent_memories", days=1)
    assert {m["id"] for m in recent["memories"]} == {memory_id, pushed["id"]}
    version = next(m["version"] for m in recent["memories"] if m["id"] == pushed["id"])
    moved = call(
        "update_memory",
        id=pushed["id"],
        version=version,
        broad_topic="Home",
        focused_topic="Balcony",
    )
    assert moved["memory"]["topic"] == "Home/Balcony"
    edge = call("connect_nodes", source="Balcony", target="Medications", weight=0.6)["edge"]
    assert (edge["source"], edge["target"], edge["weight"]) == (
        "Home/Balcony",
        "Medical/Medications",
        0.6,
    )
    assert call("warm_node", node_id=medical["id"])["warmed"] == 0
    assert "restore" in call("delete_memory", id=pushed["id"])["restore"]
    assert done == set(names)

    resources = inspector.ask("resources/list")["resources"]
    assert [r["uri"] for r in resources] == ["memory://topics"]
    templates = inspector.ask("resources/templates/list")["resourceTemplates"]
    assert [t["uriTemplate"] for t in templates] == [
        "memory://memory/{id}",
        "memory://memory/{id}/transcript",
    ]
    for uri, word in (
        ("memory://topics", "Medical/Medications"),
        (f"memory://memory/{memory_id}", "Lisinopril: first dose"),
        (f"memory://memory/{memory_id}/transcript", "have potassium checked"),
    ):
        [content] = inspector.ask("resources/read", "--uri", uri)["contents"]
        assert word in content["text"]
        assert QUOTED in content["text"]
    prompts = [p["name"] for p in inspector.ask("prompts/list")["prompts"]]
    assert prompts == ["recall", "save-this-conversation"]
    for name in prompts:
        words = ["--prompt-name", name, "--prompt-args", "topic=lisinopril"]
        [message] = inspector.ask("prompts/get", *words)["messages"]
        assert "lisinopril" in message["content"]["text"]
    wrong = inspector.answer("search_memory", {"query": "x", "scope": "Medcal"})
    assert wrong["isError"]
    assert wrong["content"][0]["text"] == "no topic 'Medcal'; nearest: Medical"


def test_over_stdio_a_client_saves_and_the_next_one_finds(running: Daemon) -> None:
    async def first() -> str:
        async with stdio(running.env) as client:
            assert len(await client.list_tools()) == 11
            answer = await client.call_tool(
                "save_conversation", {"content": TALK, "broad_topic": "Medical"}
            )
            return str(answer.structured_content["id"])

    async def second(memory_id: str) -> None:
        async with stdio(running.env) as client:
            answer = await client.call_tool("search_memory", {"query": "what dose on Monday?"})
            assert answer.structured_content["results"][0]["id"] == memory_id
            page = await client.call_tool("get_recall_file", {"chunk_id": memory_id})
            assert page.structured_content["quoted"]["transcript"] == TALK
            [resource] = await client.read_resource(f"memory://memory/{memory_id}/transcript")
            assert "dry cough" in resource.text
            prompt = await client.get_prompt("recall", {"topic": "dose"})
            assert "dose" in prompt.messages[0].content.text

    asyncio.run(second(asyncio.run(first())))


def test_a_connection_with_a_scope_shows_that_topic_alone(running: Daemon) -> None:
    for talk, topic in ((TALK, "Medical/Medications"), (OTHER, "Home/Balcony")):
        body = {"transcript": talk, "broad_topic": topic}
        assert running.http.post("/api/memory", json=body).status_code == 201

    async def over_stdio() -> None:
        async with stdio(running.env, "--scope", "Home") as client:
            topics = (await client.call_tool("list_topics", {})).structured_content
            assert (topics["scope"], [t["name"] for t in topics["topics"]]) == ("Home", ["Home"])
            found = await client.call_tool("search_memory", {"query": "lisinopril paint"})
            assert [h["topic"] for h in found.structured_content["results"]] == ["Home/Balcony"]

    asyncio.run(over_stdio())
    inspector = Inspector(f"{running.address}/mcp?scope=home")
    assert [t["name"] for t in inspector.call("list_topics")["topics"]] == ["Home"]


def test_ten_clients_share_one_daemon_that_the_first_has_to_start(tmp_path: Path) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    env = {
        **os.environ,
        "NEURIGRAPH_STATE": str(state),
        "NEURIGRAPH_VAULT": str(vault),
        "NEURIGRAPH_INDEX_EMBEDDER": "none",
        "HOME": str(tmp_path),
    }

    async def one(number: int) -> str:
        async with stdio(env) as client:
            talk = f"## User\n\nNumber {number}?\n\n## Assistant\n\nIt is number {number}.\n"
            answer = await client.call_tool(
                "save_conversation", {"content": talk, "broad_topic": "Numbers"}
            )
            return str(answer.structured_content["id"])

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(n) for n in range(10)))

    try:
        ids = asyncio.run(all_of_them())
        assert len(set(ids)) == 10
        assert len(list((vault / "Numbers").rglob("2*.md"))) == 10
        assert len(list(state.glob("*/daemon.json"))) == 1
    finally:
        down = [sys.executable, "-m", "neurigraph", "down"]
        done = subprocess.run(down, env=env, check=False, timeout=60, capture_output=True)
    assert done.stdout.strip() == b"Stopped."


class Raw:
    """`neurigraph mcp` as a process, spoken to line by line."""

    def __init__(self, env: dict[str, str], *more: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "neurigraph", "mcp", *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        self._number = 0

    def send(self, line: bytes) -> None:
        self._in.write(line + b"\n")
        self._in.flush()

    def read(self) -> Any:
        return json.loads(self._out.readline())

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a request, past all notifications."""
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(request).encode())
        while True:
            answer = self.read()
            if answer.get("id") == self._number:
                return answer

    def begin(self) -> Any:
        answer = self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def end(self) -> int:
        self._in.close()
        code = self.process.wait(timeout=PATIENCE)
        self._out.close()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


def test_the_proxy_outlives_a_restart_of_the_daemon_and_ends_with_its_client(
    tmp_path: Path,
) -> None:
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    quick = {"NEURIGRAPH_INDEX_EMBEDDER": "none"}
    with daemon(vault, state, **quick) as running:
        running.ready()
        raw = Raw(running.env)
        began = raw.begin()["result"]
        assert began["protocolVersion"] == "2025-06-18"
        assert "long-term memory" in began["instructions"]
        saved = raw.ask("tools/call", name="save_conversation", arguments={"content": TALK})
        assert saved["result"]["structuredContent"]["status"] == "created"
        assert running.stop() == 0
    with daemon(vault, state, **quick) as running:
        found = raw.ask("tools/call", name="search_memory", arguments={"query": "dry cough"})
        assert found["result"]["structuredContent"]["total"] == 1
        running.kill()
        # nobody starts another: the proxy does
        found = raw.ask("tools/call", name="search_memory", arguments={"query": "dry cough"})
        assert found["result"]["structuredContent"]["total"] == 1
        assert raw.end() == 0
        assert "Stopped" in running.cli("down")


def test_odd_lines_are_answered_and_nothing_else_is_printed(running: Daemon) -> None:
    raw = Raw(running.env)
    raw.send(b"this is no JSON")
    assert raw.read()["error"]["code"] == -32700
    raw.send(b"[1, 2]")
    assert raw.read()["error"]["code"] == -32600
    assert raw.read()["error"]["code"] == -32600
    raw.send(b"")
    assert raw.ask("no/such/method")["error"]["code"] in (-32601, -32602)
    raw.begin()
    many = (
        b'[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]'
    )
    raw.send(many)
    assert {raw.read()["id"], raw.read()["id"]} == {"a", "b"}
    talk = "## User\n\nOdd\u2028line\u0085ends, and an emoji 😀?\n"
    raw.ask("tools/call", name="save_conversation", arguments={"content": talk})
    found = raw.ask("tools/call", name="search_memory", arguments={"query": "odd emoji"})
    memory_id = found["result"]["structuredContent"]["results"][0]["id"]
    page = raw.ask("tools/call", name="get_recall_file", arguments={"chunk_id": memory_id})
    assert page["result"]["structuredContent"]["quoted"]["transcript"] == talk
    assert raw.end() == 0


def test_a_vault_that_is_not_there_is_said_in_the_answer(tmp_path: Path) -> None:
    env = {**os.environ, "NEURIGRAPH_STATE": str(tmp_path / "state"), "HOME": str(tmp_path)}
    raw = Raw(env, str(tmp_path / "missing"))
    assert "neurigraph init" in raw.begin()["error"]["message"]
    told = raw.ask("tools/call", name="list_topics", arguments={})["result"]
    assert told["isError"]
    assert "neurigraph init" in told["content"][0]["text"]
    assert raw.end() == 0


def test_the_proxy_loads_nothing_heavy() -> None:
    code = (
        "import sys, neurigraph.cli, neurigraph.mcp_proxy; "
        "heavy = {'chromadb', 'whoosh', 'numpy', 'fastmcp', 'mcp', 'starlette', 'wordllama'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
