"""Machines that share a vault by git, each with its real daemon."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from fastmcp import Client

from daemon_process import PATIENCE, Daemon
from neurigraph.vault.note import read_note, text
from sync_machines import People, Words, plain

SETTINGS = {
    "NEURIGRAPH_VAULT_SETTLE_SECONDS": "0",
    "NEURIGRAPH_INDEX_EMBEDDER": "none",
    "NEURIGRAPH_TEMPERATURE_COLD_AFTER_DAYS": "0.000001",
    "NEURIGRAPH_TEMPERATURE_DEEP_COLD_AFTER_DAYS": "0.000001",
    "NEURIGRAPH_TEMPERATURE_HOT_MINUTES": "1",
}


class SyncFailed(Exception):
    """A sync that was asked for did not come to its end."""


class DaemonMachine(People):
    """A machine with a daemon as a process of its own; AIs come over MCP, the rest over REST."""

    def __init__(
        self, name: str, folder: Path, remote: Path, words: Words, **settings: str
    ) -> None:
        super().__init__(name, folder, remote, words)
        self.daemon = Daemon(self.vault, self.state, SETTINGS | settings)
        self.daemon.ready(vectors=False)

    def close(self) -> None:
        """End it."""
        self.daemon.stop()

    def follow(self) -> None:
        """The daemon has noticed what another git did."""
        self._until_known()

    def sync(self) -> None:
        """Sync at once. Raises `SyncFailed`."""
        deadline = time.monotonic() + PATIENCE
        while (answer := self.daemon.http.post("/api/sync", json={})).status_code == 409:
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.05)
        assert answer.status_code == 202, answer.text
        while (job := self.daemon.get("/api/jobs/sync"))["state"] == "running":
            time.sleep(0.02)
        if job["state"] == "failed":
            raise SyncFailed(job["error"])

    def condition(self) -> dict[str, Any]:
        """What the status says of sync."""
        condition: dict[str, Any] = self.daemon.get("/api/status")["sync"]
        return condition

    def is_offline(self) -> bool:
        """Whether the last sync found no network."""
        return bool(self.condition()["state"] == "offline")

    def known(self) -> dict[str, bool]:
        """The notes that the daemon knows, by path; node notes as they lie on disk."""
        self._until_known()
        return self._known()

    def _known(self) -> dict[str, bool]:
        items = self.daemon.get("/api/memory", per_page=500)["items"]
        found = {m["path"]: m["has_transcript"] or not m["id"].startswith("m-") for m in items}
        return found | dict.fromkeys(self._node_notes(), True)

    def _node_notes(self) -> list[str]:
        files = self.files()
        return [
            path
            for path, data in files.items()
            if path.endswith(".md")
            and not path.startswith("_")
            and text(read_note(data).data.get("type")) in ("broad", "focused")
        ]

    def _until_known(self) -> None:
        """Wait until the watcher has taken up everything."""

        def look() -> bool:
            on_disk = {p for p in self.files() if p.endswith(".md") and not p.startswith("_")}
            known = self._known()
            return known.keys() == on_disk and all(known.values())

        self.daemon.until(look, "all notes known")

    # -- what AIs and our interfaces do

    def save(self, topic: str) -> None:
        """Save a conversation over MCP."""
        word = self.words.new()
        talk = f"## User\n\nTell me of {word}.\n\n## Assistant\n\nIt is so.\n"
        broad, _, focused = topic.partition("/")
        asked: dict[str, Any] = {"content": talk, "title": f"About {word}", "broad_topic": broad}
        if focused:
            asked["focused_topic"] = focused

        async def call() -> None:
            async with Client(f"{self.daemon.address}/mcp") as client:
                await client.call_tool("save_conversation", asked)

        asyncio.run(call())

    def _id_of(self, path: str) -> str:
        def look() -> str | None:
            items = self.daemon.get("/api/memory", per_page=500)["items"]
            return next((m["id"] for m in items if m["path"] == path), None)

        return self.daemon.until(look, f"{path} known")

    def forget_about(self, path: str) -> None:
        """Delete a memory through REST: its note and its transcript go to the trash."""
        own = self._id_of(path)
        self.words.delete((self.vault / path).read_bytes())
        for stored in (self.vault / "_recall" / own).rglob("*"):
            if stored.is_file():
                self.words.delete(plain(stored.name, stored.read_bytes()))
        answer = self.daemon.http.delete(f"/api/memory/chunk/{own}", headers={"If-Match": "*"})
        assert answer.status_code == 200, answer.text

    def cool(self) -> None:
        """Run a cooling cycle; to this daemon a second is a month."""
        answer = self.daemon.http.post("/api/temperature/maintenance", params={"agree": "true"})
        assert answer.status_code == 202, answer.text
        while self.daemon.get("/api/jobs/cool")["state"] == "running":
            time.sleep(0.02)

    def open(self, path: str) -> None:
        """Read a transcript."""
        self.daemon.http.get(f"/api/memory/chunk/{self._id_of(path)}/transcript")
