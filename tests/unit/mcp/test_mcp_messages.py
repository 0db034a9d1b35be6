"""What a client can send wrongly is answered so that whoever wrote it can mend it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from mcp_calls import call, said
from neurigraph.mcp_gate import MOST_BYTES
from neurigraph.mcp_messages import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from neurigraph.mcp_server import mcp_app
from vaults import opened

WRONG = [
    (b"hello", PARSE_ERROR, "not JSON: Expecting value at line 1, column 1", None),
    (b"", PARSE_ERROR, "not JSON", None),
    (b'{"id": "\xe9"}', PARSE_ERROR, "no UTF-8", None),
    (b"[" * 100_000, PARSE_ERROR, "nested too deeply", None),
    (b"[]", INVALID_REQUEST, "one message at a time", None),
    (b"5", INVALID_REQUEST, "a JSON object", None),
    (b'{"id": 3, "method": "ping"}', INVALID_REQUEST, "jsonrpc", 3),
    (b'{"jsonrpc": "2.0", "id": 3}', INVALID_REQUEST, "method: is missing", 3),
    (b'{"jsonrpc": "2.0", "id": 3, "method": ["ping"]}', INVALID_REQUEST, "method", 3),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID_REQUEST, "id: must", None),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', INVALID_REQUEST, "id: must", None),
    (b'{"jsonrpc": "2.0", "id": "a", "method": "x", "params": [1]}', INVALID_PARAMS, "params", "a"),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x",'
        b'"arguments": "query"}}',
        INVALID_PARAMS,
        "params.arguments: must be an object",
        1,
    ),
]


@contextmanager
def served(folder: Path) -> Iterator[TestClient]:
    with opened(folder / "vault", folder / "state") as memory:
        app, lifespan = mcp_app(memory)
        outer = Starlette(routes=[Mount("/", app)], lifespan=lambda _: lifespan())
        with TestClient(outer, base_url="http://127.0.0.1") as client:
            yield client


def post(client: TestClient, data: bytes, kind: str = "application/json") -> Any:
    headers = {"Content-Type": kind, "Accept": "application/json, text/event-stream"}
    return client.post("/mcp", content=data, headers=headers)


def asked(client: TestClient, tool: str, arguments: str) -> dict[str, Any]:
    """The result of a tool whose arguments are sent as they stand here."""
    params = f'{{"name": "{tool}", "arguments": {arguments}}}'
    message = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
    answer = post(client, message.encode())
    data = next(x for x in answer.text.splitlines() if x.startswith("data: "))
    result: dict[str, Any] = json.loads(data.removeprefix("data: "))["result"]
    return result


def test_what_is_no_message_is_answered_as_json_that_says_what_is_wrong(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        for data, code, words, wanted in WRONG:
            answer = post(client, data)
            assert answer.status_code == 400
            body = answer.json()
            assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", wanted, code)
            assert words in body["error"]["message"]
            assert "pydantic" not in answer.text
        assert "application/json" in post(client, b"{}", "text/plain").json()["error"]["message"]
        assert "POST" in client.get("/mcp").json()["error"]["message"]
        large = {"Content-Type": "application/json", "Content-Length": str(MOST_BYTES + 1)}
        refused = client.post("/mcp", content=b"{}", headers=large)
        assert (refused.status_code, refused.json()["id"]) == (413, None)


def test_a_text_cut_within_an_emoji_is_saved(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        talk = r'{"content": "## User\n\nGood \ud83d\ude00 or \ud83d"}'
        saved = asked(client, "save_conversation", talk)["structuredContent"]["id"]
        found = asked(client, "get_recall_file", f'{{"chunk_id": "{saved}"}}')
        assert "Good \U0001f600 or \ufffd" in found["content"][0]["text"]


def test_a_file_as_large_as_the_setting_allows_is_taken(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        content = base64.b64encode(bytes(6_000_000)).decode()
        files = [{"name": "scan.bin", "base64": content}]
        arguments = {"content": "## User\n\nKeep the scan.\n", "artifacts": files}
        result = asked(client, "save_conversation", json.dumps(arguments))
        assert result["structuredContent"]["status"] == "created"
        [kept] = (tmp_path / "vault/_recall").rglob("scan.bin")
        assert kept.stat().st_size == 6_000_000


def test_arguments_that_are_null_count_as_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        nothing: dict[str, Any] = {"broad_topic": None, "keywords": None, "artifacts": None}
        saved = call(memory, "save_conversation", content="## User\n\nHello there.\n", **nothing)
        assert saved["status"] == "created"
        assert "query: Missing required argument" in said(memory, "search_memory", query=None)


def test_an_argument_that_a_tool_does_not_have_is_answered_with_those_it_has(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        words = said(memory, "search_memory", query="walk", topic="Diary")
        assert (
            "topic: Unexpected keyword argument; search_memory takes query, scope, limit" in words
        )
        words = said(memory, "save_conversation", content="Hello", artifacts="plan.pdf")
        assert "artifacts.0: Input should be an object" in words
