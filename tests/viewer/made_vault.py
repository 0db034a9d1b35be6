"""Vaults for the viewer's tests: small ones with known words, and large ones to measure on."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

TOPICS = {
    "Medical": ["Medications", "Conditions", "Diet"],
    "Work": ["Billing service", "Hiring", "Roadmap"],
    "Home": ["Garden", "Renovation"],
    "Travel": ["Japan", "Portugal"],
    "Programming": ["Rust", "Python", "SQLite"],
}
COLORS = ["#e5484d", "#0091ff", "#30a46c", "#f76b15", "#6366f1"]
WORDS = [
    "lisinopril",
    "pressure",
    "morning",
    "dose",
    "diary",
    "refund",
    "ledger",
    "outage",
    "queue",
    "tomato",
    "balcony",
    "compost",
    "plaster",
    "electrician",
    "itinerary",
    "onsen",
    "lifetime",
    "parser",
    "borrow",
    "profiling",
    "index",
    "backup",
    "attention",
]
HOSTILE = (
    "## User\n\n<script>window.pwned = 1</script> <img src=x onerror='window.pwned = 2'> "
    "[press me](javascript:window.pwned=3) <svg onload=window.pwned=4>\n\n"
    "## Assistant\n\n<b>never closed <i>at all <iframe src=//example.org>\n"
)


class MadeVault:
    """A vault being filled; every memory has a title that says its number."""

    def __init__(self, root: Path, seed: int = 5) -> None:
        self.root = root
        self._random = random.Random(seed)
        self._places: list[Path] = []

    def sentence(self, words: int) -> str:
        """Words in a row, with a capital and a full stop."""
        return " ".join(self._random.choice(WORDS) for _ in range(words)).capitalize() + "."

    def topics(self, topics: dict[str, list[str]] = TOPICS, edges: int = 2) -> None:
        """Topics and `edges` edges out of each focused one."""
        every = [f"{broad}/{name}" for broad, names in topics.items() for name in names]
        for number, (broad, names) in enumerate(topics.items()):
            color = COLORS[number % len(COLORS)]
            self._node(self.root / broad, "broad", color, [])
            for name in names:
                path = f"{broad}/{name}"
                others = self._random.sample([p for p in every if p != path], edges)
                folder = self.root / broad / name
                self._node(folder, "focused", "#8b5cf6", others)
                self._places.append(folder)

    def _node(self, folder: Path, kind: str, color: str, others: list[str]) -> None:
        folder.mkdir(parents=True)
        links = []
        for other in others:
            name, weight = other.rpartition("/")[2], self._random.randint(1, 10) / 10
            links.append(f'  - "[[{other}/{name}|{name} ({weight})]]"')
        related = "\n".join(["related_to:", *links, ""]) if links else ""
        (folder / f"{folder.name}.md").write_text(
            f"---\ntype: {kind}\nid: n-{self._random.getrandbits(32):08x}\n"
            f"description: All about {folder.name.lower()}\n"
            f'color: "{color}"\n{related}---\n',
            "utf-8",
        )

    def memory(
        self,
        number: int,
        place: str | None = None,
        transcript: str | None = None,
        summary: str | None = None,
        created: datetime | None = None,
    ) -> Path:
        """One memory, `Memory 00001 …`; answers its note."""
        folder = self.root / place if place else self._random.choice(self._places)
        at = created or datetime(2026, 11, 1, 9) - timedelta(hours=number)
        memory_id = f"m-{at:%Y%m%d}-{number:08x}"
        title = f"Memory {number:05d} {self._random.choice(WORDS)}"
        text = transcript if transcript is not None else self.conversation(6)
        recall = self.root / "_recall" / memory_id
        recall.mkdir(parents=True)
        (recall / "transcript.md").write_text(text, "utf-8")
        note = folder / f"{at:%Y-%m-%d} {title}.md"
        keywords = "".join(f"  - {word}\n" for word in self._random.sample(WORDS, 3))
        note.write_text(
            f'---\ntype: memory\nid: {memory_id}\ntitle: "{title}"\n'
            f"created: {at:%Y-%m-%dT%H:%M:%S}\n"
            f"source_model: {self._random.choice(['claude', 'gpt-5', 'gemini'])}\n"
            f"keywords:\n{keywords}temperature: warm\n"
            f"last_accessed: {at:%Y-%m-%dT%H:%M:%S}\naccess_count: 1\n"
            f"token_count: {len(text) // 4}\n"
            f'transcript: "[[_recall/{memory_id}/transcript|Transcript]]"\n---\n'
            f"## Summary\n{summary or self.sentence(self._random.randint(8, 60))}\n",
            "utf-8",
        )
        return note

    def conversation(self, turns: int) -> str:
        """A conversation of so many turns, some with code."""
        parts = []
        for turn in range(turns):
            if turn % 2 == 0:
                parts.append(f"## User · 2026-11-01T09:00:00\n\n{self.sentence(12)}\n")
            else:
                code = "\n```python\nprint('ledger')\n```\n" if turn % 4 == 1 else ""
                parts.append(f"## Assistant · gpt-5\n\n{self.sentence(40)}\n{code}")
        return "\n".join(parts)
