"""The stdio proxy against daemons that answer well, late, in part, or not at all."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from neurigraph.client import DaemonUnreachable
from neurigraph.lock import DaemonCard
from neurigraph.mcp_proxy import Proxy

Answer = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One POST, and ways to answer it."""

    state: FakeDaemon
    body: Any

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.heard.append((self.path, dict(self.headers), self.body))
        answers = self.state.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        return None


@dataclass
class FakeDaemon:
    """What a daemon answers, one after the other, the last again and again; what it heard."""

    answers: list[Answer]
    heard: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    card: DaemonCard = field(default_factory=lambda: DaemonCard(1, "127.0.0.1", 1, "tok", "0"))
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(*answers: Answer) -> Iterator[FakeDaemon]:
    state = FakeDaemon(list(answers))
    handler = type("Bound", (Request,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.card = DaemonCard(1, "127.0.0.1", server.server_address[1], "tok", "0")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def result(request: Request) -> None:
    """A plain JSON answer."""
    body = {"jsonrpc": "2.0", "id": request.body.get("id"), "result": {"ok": True}}
    request.send(200, "application/json", json.dumps(body).encode())


def drop(request: Request) -> None:
    """The connection breaks after the first bytes of the answer."""
    request.send_response(200)
    request.send_header("Content-Type", "text/event-stream")
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b"event: message\r\n")
    request.wfile.flush()
    request.connection.shutdown(2)


def refuse(status: int, message: str) -> Answer:
    body = json.dumps({"error": {"code": "x", "message": message}}).encode()
    return lambda request: request.send(status, "application/json", body)


def converse(
    state: FakeDaemon | None,
    talk: Callable[[Proxy, asyncio.Queue[Any]], Awaitable[None]],
    scope: str = "",
) -> None:
    """A talk with a proxy; what it says comes in the queue."""

    def find() -> DaemonCard:
        if state is None:
            raise DaemonUnreachable("there is no vault here")
        return state.card

    async def run() -> None:
        said: asyncio.Queue[Any] = asyncio.Queue()
        async with Proxy(find, scope, said.put_nowait) as proxy:
            await asyncio.wait_for(talk(proxy, said), 60)
            await proxy.finish(5)
            assert said.empty()

    asyncio.run(run())


def line(method: str, params: dict[str, Any] | None = None, number: object = 1) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return json.dumps(message).encode()


def call(tool: str) -> bytes:
    return line("tools/call", {"name": tool, "arguments": {}})


def test_an_answer_in_events_is_passed_on_with_its_progress() -> None:
    def events(request: Request) -> None:
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
        final = {"jsonrpc": "2.0", "id": 1, "result": {"text": "odd \u2028 and \x85 line ends"}}
        parts = [json.dumps(p, ensure_ascii=False) for p in (progress, final)]
        data = ": ping\r\n\r\n" + "".join(f"event: message\r\ndata: {p}\r\n\r\n" for p in parts)
        request.send(200, "text/event-stream", data.encode())

    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(line("tools/list"))
        assert (await said.get())["method"] == "notifications/progress"
        assert (await said.get())["result"] == {"text": "odd \u2028 and \x85 line ends"}

    with serving(events) as state:
        converse(state, talk)


def test_the_daemon_hears_who_asks_and_for_what() -> None:
    def welcome(request: Request) -> None:
        answer = {"protocolVersion": "2025-06-18"}
        body = {"jsonrpc": "2.0", "id": 1, "result": answer}
        request.send(200, "application/json", json.dumps(body).encode())

    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(line("initialize"))
        await said.get()
        proxy.take(line("tools/list", number="b"))
        assert (await said.get())["id"] == "b"
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        proxy.take(line("resources/read", {"uri": "memory://é", "_meta": meta}))
        await said.get()

    with serving(welcome, result) as state:
        converse(state, talk, "Work & Play")
        first, second, third = (headers for _, headers, _ in state.heard)
        assert state.heard[0][0] == "/mcp?scope=Work+%26+Play"
        assert first["Authorization"] == "Bearer tok"
        assert "Mcp-Protocol-Version" not in {k.title() for k in first}
        second, third = ({k.title(): v for k, v in h.items()} for h in (second, third))
        assert second["Mcp-Protocol-Version"] == "2025-06-18"
        assert third["Mcp-Protocol-Version"] == "2026-07-28"
        assert third["Mcp-Method"] == "resources/read"
        name = base64.b64encode("memory://é".encode()).decode()
        assert third["Mcp-Name"] == f"=?base64?{name}?="


def test_what_broke_off_is_asked_again_where_that_does_no_harm() -> None:
    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(call("search_memory"))
        assert (await said.get())["result"] == {"ok": True}

    with serving(drop, result) as state:
        converse(state, talk)
        assert len(state.heard) == 2


def test_what_broke_off_is_not_done_twice_where_it_would() -> None:
    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(call("delete_memory"))
        told = (await said.get())["result"]
        assert told["isError"]
        assert "look whether it was done" in told["content"][0]["text"]

    with serving(drop, result) as state:
        converse(state, talk)
        assert len(state.heard) == 1


def test_a_daemon_that_is_starting_is_waited_for_and_a_new_token_is_looked_up() -> None:
    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(line("tools/list"))
        assert (await said.get())["result"] == {"ok": True}

    with serving(refuse(503, "MCP is still starting"), refuse(401, "token"), result) as state:
        converse(state, talk)
        assert len(state.heard) == 3


def test_a_refusal_is_told_in_its_own_words() -> None:
    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(line("tools/list"))
        assert (await said.get())["error"]["message"] == "requests from other web pages are refused"

    with serving(refuse(403, "requests from other web pages are refused")) as state:
        converse(state, talk)


def test_a_cancelled_request_is_not_answered() -> None:
    def hang(request: Request) -> None:
        request.state.released.wait(30)
        result(request)

    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(line("tools/call", {"name": "search_memory"}, number=7))
        while not state.heard:
            await asyncio.sleep(0)
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        proxy.take(json.dumps({"jsonrpc": "2.0", **cancel}).encode())
        proxy.take(line("ping", number=8))
        assert (await said.get())["id"] == 8

    with serving(hang, result) as state:
        converse(state, talk)


def test_without_a_daemon_tools_and_others_are_told_why() -> None:
    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(line("initialize"))
        assert (await said.get())["error"]["message"] == "there is no vault here"
        proxy.take(call("list_topics"))
        assert "no vault" in (await said.get())["result"]["content"][0]["text"]
        proxy.take(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    converse(None, talk)


def test_garbage_from_a_client_is_answered_and_ends_nothing() -> None:
    garbage = [
        b"no json",
        b"\xff\xfe",
        b"[]",
        b"5",
        b"[" * 100_000,
        b'{"id": 1}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": ["ping"]}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "x"}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}',
    ]

    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        for piece in garbage:
            proxy.take(piece)
            assert (await said.get())["error"]["message"]
        proxy.take(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": null}')
        proxy.take(b"[" + line("ping", number=7) + b"," + line("ping", number=8) + b"]")
        assert {(await said.get())["id"], (await said.get())["id"]} == {7, 8}

    with serving(result) as state:
        converse(state, talk)
        assert len(state.heard) == 2


def test_half_a_character_reaches_the_daemon_as_a_whole_one() -> None:
    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        cut = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x\\ud83d"}}'
        proxy.take(cut)
        await said.get()

    with serving(result) as state:
        converse(state, talk)
        assert state.heard[0][2]["params"]["name"] == "x\ufffd"


def test_what_the_daemon_refuses_is_not_said_to_be_silence() -> None:
    def too_large(request: Request) -> None:
        request.send(413, "text/plain", b"too large")

    def damaged(request: Request) -> None:
        request.send(200, "application/json", b"{")

    async def talk(proxy: Proxy, said: asyncio.Queue[Any]) -> None:
        proxy.take(call("save_conversation"))
        assert "refused this with status 413" in (await said.get())["result"]["content"][0]["text"]
        proxy.take(call("search_memory"))
        assert "cannot be read" in (await said.get())["result"]["content"][0]["text"]

    with serving(too_large, damaged) as state:
        converse(state, talk)
        assert len(state.heard) == 2
