"""Neurigraph: the daemon, asked over MCP."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
from peers.mcp_http import McpHttp
from peers.peer import Peer

from daemon_process import Daemon


class Neurigraph(Peer):
    """With its defaults: full text and the vectors of the embedder that it brings along."""

    name = "neurigraph"
    how = "daemon, MCP `search_memory`; full text and vectors"

    def index(self) -> None:
        """Start and wait for the vectors too."""
        self._start()
        while True:
            status = self._daemon.get("/api/status")
            behind = status["index"]
            if status["state"] == "ready" and not any(behind.values()):
                return
            time.sleep(0.05)

    def _start(self) -> None:
        self._daemon = Daemon(self.vault, self.place / "state", {})
        self._mcp = McpHttp(self._daemon.address)

    def restart(self) -> None:
        """A clean stop first."""
        self.close()
        self._start()
        self.search("obsidian", 5)

    def search(self, query: str, limit: int) -> list[str]:
        """One call of the tool."""
        found = self._mcp.call("search_memory", query=query, limit=min(limit, 50))
        return [hit["path"] for hit in found["results"]]

    def close(self) -> None:
        """Stop the daemon."""
        self._mcp.close()
        self._daemon.stop()

    def processes(self) -> list[psutil.Process]:
        """The daemon; its worker is a child of it."""
        return [psutil.Process(self._daemon.process.pid)]

    def folders(self) -> list[Path]:
        """The state directory."""
        return [self.place / "state"]
