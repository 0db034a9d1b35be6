"""Work on files that at some points goes on only once something is on the disk itself.

Such work is a generator that yields each place it waits for. Done alone, a place is synced when
it is asked for. Done together with others, all that they wait for is synced at once, which costs
the disk one pass where it would be hundreds.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from neurigraph.vault import disk

T = TypeVar("T")

Steps: TypeAlias = Generator[Path, None, T]

WAVE = 30
"""Works that begin together: enough for one pass of the disk to serve, and while they begin those
before them go on."""


def alone(steps: Steps[T]) -> T:
    """Do the work, and answer what comes of it."""
    return together([steps])[0]


def together(many: Sequence[Steps[T]], pool: Executor | None = None) -> list[T]:
    """Do all of them side by side, and answer what comes of each, in their order.

    They begin in waves; the threads of a pool take the first step of a wave, where the heavy part
    of such work lies, while the waves before it go on here. What one of them raises ends all. A
    disk that does not take what was written is told to every work that waits for it.
    """
    works = [_Work(steps) for steps in many]
    begin = pool.map if pool is not None else map
    going: list[_Work[T]] = []
    for at in itertools.count(0, WAVE):
        fresh = works[at : at + WAVE]
        if not fresh and not going:
            break
        begun = begin(_Work.advance, fresh)
        for work in going:
            work.advance()
        for _ in begun:
            pass
        going = [work for work in (*going, *fresh) if work.place is not None]
        try:
            disk.sync_all([work.place for work in going if work.place is not None])
        except OSError as error:
            for work in going:
                work.error = error
    return [work.result for work in works]


class _Work(Generic[T]):
    """One of them: what it waits for, None once it is over."""

    result: T

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self.place: Path | None = None
        self.error: OSError | None = None

    def advance(self) -> None:
        error, self.error, self.place = self.error, None, None
        try:
            if error is not None:
                self.place = self._steps.throw(error)
            else:
                self.place = next(self._steps)
        except StopIteration as end:
            self.result = end.value
