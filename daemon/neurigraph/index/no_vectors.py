"""Stands in the place of the vector index where a person wants none: `embedder = "none"`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from neurigraph.errors import NotReady
from neurigraph.index.passage import PassageText, VectorMatch


class Vectors(Protocol):
    """What the daemon asks of a vector index; see `VectorIndex` for the meaning."""

    on_event: Callable[[str, str], None] | None

    @property
    def ready(self) -> bool: ...
    def start(self) -> None: ...
    def close(self) -> None: ...
    def wait_ready(self, timeout: float | None = None) -> bool: ...
    def put(self, items: Mapping[str, Sequence[PassageText]]) -> None: ...
    def delete(self, ids: Collection[str]) -> None: ...
    def begin_search(
        self, text: str, k: int, allow: Collection[str] | None = None
    ) -> Callable[[], list[VectorMatch]]: ...
    def contents(self) -> dict[str, int]: ...
    def state(self) -> dict[str, Any]: ...


class NoVectors:
    """Takes everything, holds nothing, and is never ready to be searched."""

    ready = False

    def __init__(self) -> None:
        self.on_event: Callable[[str, str], None] | None = None

    def start(self) -> None:
        """Nothing starts."""

    def close(self) -> None:
        """Nothing ends."""

    def wait_ready(self, timeout: float | None = None) -> bool:
        """There is nothing to wait for."""
        return True

    def put(self, items: Mapping[str, Sequence[PassageText]]) -> None:
        """Nothing is kept."""

    def delete(self, ids: Collection[str]) -> None:
        """Nothing was kept."""

    def begin_search(
        self, text: str, k: int, allow: Collection[str] | None = None
    ) -> Callable[[], list[VectorMatch]]:
        """Raises `NotReady`: full text has to do."""
        raise NotReady("search by meaning")

    def contents(self) -> dict[str, int]:
        """Nothing is held."""
        return {}

    def state(self) -> dict[str, Any]:
        """What there is to tell: nothing."""
        return {}
