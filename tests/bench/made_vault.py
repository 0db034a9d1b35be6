"""Writes a vault of made-up memories straight to disk, for measuring."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from neurigraph.edits.compose import MemoryDraft, memory_note
from neurigraph.edits.save import sha256
from neurigraph.model import Temperature
from neurigraph.vault.turns import estimate_tokens

_SOUNDS = "ba ko ri ten mu sal ver lo pi dra ne shi gor ul wem ta fo zin ek ra"
_SYLLABLES = _SOUNDS.split()
TOPICS = [(f"Field {b}", f"Matter {b}-{f}") for b in range(8) for f in range(8)]


class Writer:
    """Makes text whose words are as unevenly frequent as those of a language (Zipf)."""

    def __init__(self, seed: int = 1, vocabulary: int = 30_000) -> None:
        self._chance = random.Random(seed)
        made: dict[str, None] = {}
        while len(made) < vocabulary:
            made["".join(self._chance.choices(_SYLLABLES, k=self._chance.randint(2, 4)))] = None
        self.words = list(made)
        total, self._weights = 0.0, []
        for rank in range(1, vocabulary + 1):
            total += 1 / rank
            self._weights.append(total)

    def some(self, count: int) -> list[str]:
        """This many words."""
        return self._chance.choices(self.words, cum_weights=self._weights, k=count)

    def talk(self, size: int) -> str:
        """A conversation of about this many bytes."""
        parts, length, speaker = [], 0, 0
        while length < size:
            sentences = [
                " ".join(self.some(self._chance.randint(6, 16))).capitalize() + "."
                for _ in range(self._chance.randint(2, 6))
            ]
            name = ("User", "Assistant")[speaker % 2]
            part = f"## {name}\n\n{' '.join(sentences)}\n\n"
            parts.append(part)
            length += len(part)
            speaker += 1
        return "".join(parts)


def make_vault(
    root: Path, sizes: Sequence[tuple[int, int]], *, seed: int = 1, end: datetime | None = None
) -> list[str]:
    """A vault with memories of these (number, bytes of transcript), and their ids in order."""
    writer, chance = Writer(seed), random.Random(seed)
    end = end or datetime(2026, 11, 30, 12, tzinfo=UTC)
    ids: list[str] = []
    for count, size in sizes:
        for _ in range(count):
            number = len(ids)
            when = end - timedelta(minutes=chance.randint(0, 60 * 24 * 365 * 5))
            memory_id = f"m-{when:%Y%m%d}-{hashlib.sha256(str(number).encode()).hexdigest()[:8]}"
            _write(root, memory_id, when, writer, size, TOPICS[number % len(TOPICS)])
            ids.append(memory_id)
    return ids


def _write(
    root: Path, memory_id: str, when: datetime, writer: Writer, size: int, topic: tuple[str, str]
) -> None:
    transcript = writer.talk(size)
    title = " ".join(writer.some(5)).capitalize()
    draft = MemoryDraft(
        id=memory_id,
        title=title,
        created=when,
        source_model="claude",
        source_id="",
        keywords=writer.some(8),
        token_count=estimate_tokens(transcript),
        transcript_sha256=sha256(transcript),
        summary=" ".join(writer.some(60)).capitalize() + ".",
        summary_by="extractive",
        decisions="",
        open_questions="",
        artifacts=(),
        accessed=when,
        temperature=Temperature.WARM,
    )
    folder = root / topic[0] / topic[1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{when:%Y-%m-%d} {title[:60]} {memory_id[-8:]}.md").write_bytes(memory_note(draft))
    recall = root / "_recall" / memory_id
    recall.mkdir(parents=True)
    (recall / "transcript.md").write_text(transcript, "utf-8")
