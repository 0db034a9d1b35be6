"""The texts of memories that were used lately, kept in memory: what makes a memory hot."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

from neurigraph.index.record import Record, Sections

MOST_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of one memory, of the version of its text that `version` names."""

    version: str
    sections: Sections | None = None
    text: str | None = None
    body: str | None = None

    @property
    def size(self) -> int:
        """Bytes that it takes, near enough."""
        parts = [self.text or "", self.body or ""]
        if (s := self.sections) is not None:
            parts += [s.summary, s.decisions, s.open_questions, s.notes]
        return 500 + sum(map(sys.getsizeof, parts))


class Texts:
    """A bounded store of texts by memory; the ones used longest ago go first.

    Safe to use from several threads. A text of another version than the record's is never
    answered.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def text(self, record: Record) -> str | None:
        """The transcript of a memory, or the body of a person's note, if it is held."""
        held = self._of(record)
        return held.text if held else None

    def body(self, record: Record) -> str | None:
        """The body of a memory's note, if it is held."""
        held = self._of(record)
        return held.body if held else None

    def sections(self, record: Record) -> Sections | None:
        """The named parts of a memory's note, if they are held."""
        held = self._of(record)
        return held.sections if held else None

    def put(
        self,
        record: Record,
        *,
        text: str | None = None,
        body: str | None = None,
        sections: Sections | None = None,
    ) -> None:
        """Hold these too. What would push out most of the others is not held."""
        if max(len(text or ""), len(body or "")) * 4 > self._most:
            return
        with self._lock:
            old = self._take(record.id)
            if old is None or old.version != record.text_version:
                old = Held(record.text_version)
            new = replace(
                old,
                text=text if text is not None else old.text,
                body=body if body is not None else old.body,
                sections=sections if sections is not None else old.sections,
            )
            self._held[record.id] = new
            self._size += new.size
            while self._size > self._most and self._held:
                self._take(next(iter(self._held)))

    def forget(self, memory_id: str) -> None:
        """Let go of a memory that has become cold."""
        with self._lock:
            self._take(memory_id)

    def _of(self, record: Record) -> Held | None:
        with self._lock:
            held = self._held.get(record.id)
            if held is None or held.version != record.text_version or not held.version:
                return None
            self._held.move_to_end(record.id)
            return held

    def _take(self, memory_id: str) -> Held | None:
        held = self._held.pop(memory_id, None)
        if held is not None:
            self._size -= held.size
        return held
