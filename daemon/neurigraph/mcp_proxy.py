"""MCP over standard input and output: a thin proxy that hands each message to the daemon.

The transports are those of the Model Context Protocol (Basic, Transports): one JSON-RPC message a
line here, one POST a message there, answered with JSON or with server-sent events. The daemon
keeps no sessions, so it may be restarted at any time; what was asked meanwhile is asked again.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TypeAlias

import httpx

from neurigraph.client import DaemonUnreachable
from neurigraph.errors import NeurigraphError
from neurigraph.lock import DaemonCard
from neurigraph.mcp_messages import Message, NoMessage, check, error_answer, read_json

FindDaemon: TypeAlias = Callable[[], DaemonCard]
"""Answers the daemon's card, starting one if need be. Raises `NeurigraphError`."""

UNREACHABLE = -32000
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose requests say in a header what they are about (protocol 2026-07-28)."""

NOT_TWICE = frozenset({"update_memory", "delete_memory"})
"""Tools whose second call is not answered like the first."""

ATTEMPTS = 4
LAST_SECONDS = 3.0
"""How long answers that are under way are waited for once the client is gone."""

_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def serve_stdio(find: FindDaemon, scope: str) -> None:
    """Serve the client at standard input until it goes away."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    asyncio.run(_serve(lines, Proxy(find, scope, _write_line)))


async def _serve(lines: asyncio.Queue[bytes | None], proxy: Proxy) -> None:
    loop = asyncio.get_running_loop()

    def hand_over(line: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(lines.put_nowait, line)

    threading.Thread(target=_read_lines, args=(hand_over,), daemon=True).start()
    async with proxy:
        while (line := await lines.get()) is not None and not proxy.client_gone:
            proxy.take(line)
        await proxy.finish(LAST_SECONDS)


def _read_lines(hand_over: Callable[[bytes | None], None]) -> None:
    """Hand over each line. Reads the descriptor itself: a buffered reader that waits in a thread
    would hold up the interpreter's end."""
    held = b""
    while True:
        try:
            piece = os.read(0, 1 << 16)
        except OSError:
            piece = b""
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            hand_over(line)
        if not piece:
            if held.strip():
                hand_over(held)
            hand_over(None)
            return


def _write_line(message: Message) -> None:
    data = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.buffer.write(data.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.buffer.flush()


class Proxy:
    """Messages of one client, each a task of its own."""

    def __init__(self, find: FindDaemon, scope: str, write: Callable[[Message], None]) -> None:
        self._find, self._scope, self._write = find, scope, write
        self._card: DaemonCard | None = None
        self._finding = asyncio.Lock()
        self._version = ""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._unnamed = 0
        self.client_gone = False

    async def __aenter__(self) -> Proxy:
        """Open the connection pool. The daemon is on this machine: no proxies, no certificates."""
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(5, read=None, write=60, pool=None),
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
            verify=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self._http.aclose()

    def take(self, line: bytes) -> None:
        """Begin what a line asks for."""
        if not line.strip():
            return
        try:
            parsed = read_json(line)
        except NoMessage as error:
            self._tell(error.answer())
            return
        # older clients send several at once
        for one in parsed if isinstance(parsed, list) and parsed else [parsed]:
            try:
                message = check(one)
            except NoMessage as error:
                self._tell(error.answer())
                continue
            if message.get("method") == "notifications/cancelled":
                self._cancel(message)
            elif "method" in message:
                self._begin(message)

    def _begin(self, message: Message) -> None:
        if "id" in message:
            key = json.dumps(message["id"])
        else:
            self._unnamed += 1
            key = f"notification {self._unnamed}"
        task = asyncio.create_task(self._carry(message))
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: str, task: asyncio.Task[None]) -> None:
        # a client may have given another message the same id meanwhile
        if self._tasks.get(key) is task:
            del self._tasks[key]

    def _cancel(self, message: Message) -> None:
        # closing the answer's stream is how the daemon learns of it
        wanted = (message.get("params") or {}).get("requestId")
        task = self._tasks.get(json.dumps(wanted))
        if task is not None:
            task.cancel()

    async def finish(self, seconds: float) -> None:
        """Wait a little for what is under way, then stop it."""
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell(self, message: Message) -> None:
        try:
            self._write(message)
        except (BrokenPipeError, ValueError, OSError):
            self.client_gone = True

    # -- one message

    async def _carry(self, message: Message) -> None:
        wanted = message.get("id")
        try:
            await self._ask(message)
        except NeurigraphError as error:
            if "id" in message:
                self._tell(_refusal(message, str(error)))
        except httpx.HTTPError as error:
            if "id" in message:
                reason = f"the daemon does not answer ({error})"
                self._tell(error_answer(wanted, UNREACHABLE, reason))
        except ValueError:
            if "id" in message:
                self._tell(_refusal(message, "the daemon's answer cannot be read; ask again"))

    async def _ask(self, message: Message) -> None:
        """Ask the daemon; when it went away, wait for it or start it, and ask again."""
        for attempt in range(ATTEMPTS):
            card = await self._daemon()
            begun = False
            try:
                async with self._post(card, message) as answer:
                    if answer.status_code == 503 and attempt + 1 < ATTEMPTS:
                        await asyncio.sleep(1)
                        continue
                    if answer.status_code == 401:  # another daemon, with another token
                        self._card = None
                        continue
                    begun = answer.status_code == 200
                    if await self._pass_on(message, answer):
                        return
                    self._card = None
            except httpx.ConnectError:
                self._card = None
                continue
            except httpx.TransportError:
                self._card = None
                begun = True
            if begun and not _repeatable(message):
                raise DaemonUnreachable(
                    "the daemon stopped while it worked on this; look whether it was done"
                )
        raise DaemonUnreachable("the daemon does not answer; see: neurigraph status")

    @contextlib.asynccontextmanager
    async def _post(self, card: DaemonCard, message: Message) -> AsyncIterator[httpx.Response]:
        async with self._http.stream(
            "POST",
            f"{card.address}/mcp",
            params={"scope": self._scope} if self._scope else None,
            content=json.dumps(message).encode(),
            headers={
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
                "Authorization": f"Bearer {card.token}",
                **self._protocol_headers(message),
            },
        ) as answer:
            yield answer

    def _protocol_headers(self, message: Message) -> Mapping[str, str]:
        """What the protocol wants said in headers; since 2026-07-28 also method and name."""
        method, params = message["method"], message.get("params") or {}
        meta = params.get("_meta") if isinstance(params, dict) else None
        modern = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if not isinstance(modern, str):
            known = self._version if method != "initialize" else ""
            return {"MCP-Protocol-Version": known} if known else {}
        headers = {"MCP-Protocol-Version": modern, "Mcp-Method": _header(str(method))}
        if isinstance(name := params.get(NAMED_BY.get(method, "")), str):
            headers["Mcp-Name"] = _header(name)
        return headers

    async def _pass_on(self, message: Message, answer: httpx.Response) -> bool:
        """Write what the daemon answers; false when its final answer never came."""
        if "id" not in message:
            await answer.aread()
            return answer.status_code < 500
        kind = answer.headers.get("content-type", "")
        if kind.startswith("text/event-stream"):
            async for event in _events(answer):
                if self._hand_on(message, event):
                    return True
            return False
        if kind.startswith("application/json"):
            body = json.loads(await answer.aread())
            if isinstance(body, dict) and "jsonrpc" in body:
                return self._hand_on(message, body)
            refused = body.get("error") if isinstance(body, dict) else None
            if isinstance(refused, dict):
                raise DaemonUnreachable(str(refused.get("message", "the daemon refused this")))
        if 400 <= answer.status_code < 500 and answer.status_code != 401:
            raise DaemonUnreachable(f"the daemon refused this with status {answer.status_code}")
        return False

    def _hand_on(self, message: Message, event: Message) -> bool:
        final = "method" not in event
        if final:
            event["id"] = message["id"]
            result = event.get("result")
            if message["method"] == "initialize" and isinstance(result, dict):
                self._version = str(result.get("protocolVersion", ""))
        self._tell(event)
        return final

    async def _daemon(self) -> DaemonCard:
        async with self._finding:
            if self._card is None:
                self._card = await asyncio.to_thread(self._find)
            return self._card


async def _events(answer: httpx.Response) -> AsyncIterator[Message]:
    """The messages of an event stream (WHATWG HTML, section 9.2).

    Cut at line feeds alone: an answer may hold other characters that Python takes for line ends.
    """
    held = b""
    data: list[bytes] = []
    async for piece in answer.aiter_bytes():
        *lines, held = (held + piece).split(b"\n")
        for raw in lines:
            line = raw.removesuffix(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                message = json.loads(b"\n".join(data) or b"null")
                data = []
                if isinstance(message, dict):
                    yield message


def _repeatable(message: Message) -> bool:
    params = message.get("params")
    return not (
        message.get("method") == "tools/call"
        and isinstance(params, dict)
        and params.get("name") in NOT_TWICE
    )


def _header(value: str) -> str:
    """A header's value, in the protocol's base64 form where it is not plain printable ASCII."""
    if _PLAIN.fullmatch(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _refusal(message: Message, reason: str) -> Message:
    """Why a request cannot be answered; for a tool in the form that reaches the model."""
    if message.get("method") == "tools/call":
        content = [{"type": "text", "text": reason}]
        result = {"content": content, "isError": True}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return error_answer(message.get("id"), UNREACHABLE, reason)
