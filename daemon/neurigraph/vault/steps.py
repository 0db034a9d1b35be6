"""Work on files that at some points goes on only once something is on the disk itself.

Such work is a generator that yields each place it waits for. Done alone, a place is synced when
it is asked for. Done together with others, all that they wait for is synced at once, which costs
the disk one pass where it would be hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from neurigraph.vault import disk

T = TypeVar("T")

Steps: TypeAlias = Generator[Path, None, T]

Run: TypeAlias = Callable[[Callable[["_Work[T]"], None], Iterable["_Work[T]"]], Iterable[None]]
"""`map`, or the `map` of a pool."""


def alone(steps: Steps[T]) -> T:
    """Do the work, and answer what comes of it."""
    return together([steps])[0]


def together(many: Sequence[Steps[T]], run: Run[T] = map) -> list[T]:
    """Do all of them side by side, and answer what comes of each, in their order.

    `run` takes the first step, where the heavy part of such work lies; the others are short.
    What one of them raises ends all. A disk that does not take what was written is told to
    every work that waits for it.
    """
    works = [_Work(steps) for steps in many]
    going = works
    while going:
        for _ in run(_Work.advance, going):
            pass
        run = map
        going = [work for work in going if work.place is not None]
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
