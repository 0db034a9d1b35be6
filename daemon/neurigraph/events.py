"""A small bus that tells whoever listens what happened, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from neurigraph.model import Event

Listener = Callable[[Event], None]


class EventBus:
    """Hands each event to every listener, in the thread that publishes it.

    Listeners must be quick and must not raise; a web layer hops to its own loop from there.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Listen from now on; the answer ends it."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return end

    def publish(self, kind: str, **data: object) -> None:
        """Tell all listeners that something of this kind happened."""
        with self._lock:
            listeners = tuple(self._listeners)
        event = Event(kind, data)
        for listener in listeners:
            listener(event)
