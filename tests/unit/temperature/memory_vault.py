"""A vault with a Memory in this process, a clock that is set by hand, and no vectors."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from neurigraph.memory import Filter, Memory
from neurigraph.model import Chunk, Conversation, NewArtifact
from neurigraph.settings import Settings
from neurigraph.vault.note import read_note, text

START = datetime.now(UTC).replace(microsecond=0)


class SetClock:
    """A wall clock that stands until it is moved, and a boot clock that no jump moves."""

    def __init__(self, now: datetime = START) -> None:
        self.now, self.running = now, 0.0

    def __call__(self) -> datetime:
        return self.now

    def boot(self) -> float:
        return self.running

    def pass_time(self, **span: float) -> None:
        """Time goes by."""
        self.now += timedelta(**span)
        self.running += timedelta(**span).total_seconds()

    def jump(self, **span: float) -> None:
        """Somebody sets the clock."""
        self.now += timedelta(**span)


class Vault:
    """A vault that can be opened, closed and opened again."""

    def __init__(
        self, root: Path, clock: SetClock | None = None, *, agreed: bool = True, **settings: Any
    ) -> None:
        self.path, self.state = root / "vault", root / "state"
        self.path.mkdir(exist_ok=True, parents=True)
        self.state.mkdir(exist_ok=True)
        self.clock = clock or SetClock()
        self.settings = Settings.model_validate(
            {
                "index": {"embedder": "none"},
                "vault": {"settle_seconds": 300},
                "temperature": {"agreed": agreed, **settings},
            }
        )
        self.memory = self.open()

    def open(self) -> Memory:
        """A fresh start of the daemon."""
        self.memory = Memory(self.path, self.state, self.settings, self.clock, boot=self.clock.boot)
        self.memory.open()
        self.memory.catch_up()
        assert self.memory.wait_warm()
        return self.memory

    def restart(self) -> Memory:
        """Stop and start again."""
        self.memory.close()
        return self.open()

    def close(self) -> None:
        self.memory.close()

    def save(
        self, words: str, topic: str = "Work/Plans", files: Mapping[str, bytes] | None = None
    ) -> str:
        """Save a conversation about these words, and answer its id."""
        artifacts = tuple(NewArtifact(n, d) for n, d in (files or {}).items())
        saved = self.memory.save(
            Conversation(talk(words), title=words, broad_topic=topic, artifacts=artifacts)
        )
        assert saved.status == "created"
        return saved.id

    def open_memory(self, memory_id: str) -> str:
        """Open a transcript, and wait until all that it calls for is done."""
        found = self.memory.transcript(memory_id)
        assert self.memory.wait_warm()
        return found

    def card(self, memory_id: str) -> Chunk:
        return self.memory.memory(memory_id)

    def all(self) -> list[Chunk]:
        found, _ = self.memory.memories(Filter())
        return found

    def note(self, memory_id: str) -> dict[str, str]:
        """What the note on disk says, as text."""
        raw = (self.path / self.card(memory_id).path).read_bytes()
        return {key: text(value) for key, value in read_note(raw).data.items()}

    def recall(self, memory_id: str) -> Path:
        return self.path / "_recall" / memory_id

    def stored(self, memory_id: str) -> set[str]:
        """The files of a memory, relative to its folder."""
        folder = self.recall(memory_id)
        return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}

    def temperatures(self) -> dict[str, str]:
        return {c.id: c.temperature.value for c in self.all()}


def talk(words: str) -> str:
    """A conversation in which these words come up."""
    return (
        f"## User\n\nTell me about {words}.\n\n"
        + f"## Assistant\n\nThere is much to say about {words}, and some of it is long. " * 6
        + "\n"
    )
