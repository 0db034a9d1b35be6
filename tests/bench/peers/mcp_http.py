"""A small MCP client over streamable HTTP: connect, call a tool, read its structured answer."""

from __future__ import annotations

import time
from typing import Any

import httpx

from load.harness import MCP_HEADERS, answered


class McpHttp:
    """A connection to the MCP server at an address, tried for `patience` seconds."""

    def __init__(self, address: str, patience: float = 60) -> None:
        self._http = httpx.Client(base_url=address, timeout=120)
        self._headers = dict(MCP_HEADERS)
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        deadline = time.monotonic() + patience
        while True:
            try:
                answer = self._post({"id": 1, "method": "initialize", "params": hello})
                break
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        answer.raise_for_status()
        if session := answer.headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        self._post({"method": "notifications/initialized"})

    def _post(self, message: dict[str, Any]) -> httpx.Response:
        return self._http.post("/mcp", json={"jsonrpc": "2.0", **message}, headers=self._headers)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool. Raises ValueError with what it said instead."""
        params = {"name": tool, "arguments": arguments}
        result = answered(self._post({"id": 2, "method": "tools/call", "params": params}))
        if result.get("isError"):
            raise ValueError(result["content"][0]["text"])
        return dict(result["structuredContent"])

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()
