"""A Memory on a vault of its own, in this process, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from neurigraph.memory import Memory
from neurigraph.settings import IndexSettings, Settings, VaultSettings


class FixedClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now or datetime(2026, 11, 30, 10, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        """Let time pass."""
        self.now += timedelta(**by)


QUICK = Settings(
    index=IndexSettings(embedder="none"),  # type: ignore[call-arg]
    vault=VaultSettings(settle_seconds=0),  # type: ignore[call-arg]
)


@contextmanager
def opened(
    vault: Path, state: Path, settings: Settings = QUICK, clock: FixedClock | None = None
) -> Iterator[Memory]:
    """A Memory that has taken up the vault, closed at the end."""
    vault.mkdir(parents=True, exist_ok=True)
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    memory = Memory(vault, state, settings, clock or FixedClock())
    memory.open()
    memory.catch_up()
    try:
        yield memory
    finally:
        memory.close()
