"""Examines a vault and what is derived from it, and mends what can be mended without a doubt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from neurigraph.errors import NeurigraphError
from neurigraph.index.record import Record
from neurigraph.store import Store
from neurigraph.temperature.shelf import SET_ASIDE
from neurigraph.vault.recall import Resolution

Mend = Callable[[], str]
"""Mends one finding and says what was done; raises NeurigraphError or OSError."""

Progress = Callable[[int, int], None]


class StillTwice(NeurigraphError):
    """A transcript stands beside a `.gz` that cannot be unpacked."""

    code = "still_twice"

    def __init__(self, memory_id: str) -> None:
        self.id = memory_id
        super().__init__(
            "the .gz beside the transcript is damaged; look at the plain one, and delete the .gz "
            "if nothing is missing"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be. `mend` is None where only a person can decide."""

    path: str
    problem: str
    mend: Mend | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding as it is told: `mended` says what was done, empty when nothing was, and `problem`
    then also why not."""

    path: str
    problem: str
    mendable: bool
    mended: str = ""


def examine(store: Store, state: Path, *, deep: bool, progress: Progress) -> Iterator[Finding]:
    """Everything that is wrong. `deep` reads every transcript; else their folders are looked at."""
    yield from _state(state)
    yield from _pairs(store)
    yield from _orphans(store)
    yield from _index(store)
    if deep:
        yield from _transcripts(store, progress)
    for problem in store.indexer.problems():
        yield Finding(problem.path, problem.problem)


def diagnose(
    store: Store, state: Path, *, repair: bool, deep: bool, progress: Progress
) -> list[Diagnosis]:
    """Examine, and with `repair` mend what can be mended."""
    found: dict[tuple[str, str], Diagnosis] = {}
    for finding in examine(store, state, deep=deep, progress=progress):
        done, problem, mendable = "", finding.problem, finding.mend is not None
        if repair and finding.mend is not None:
            try:
                done = finding.mend()
            except (NeurigraphError, OSError) as error:
                problem, mendable = f"{problem}; it could not be mended: {error}", False
        found[(finding.path, finding.problem)] = Diagnosis(finding.path, problem, mendable, done)
    return list(found.values())


def _state(state: Path) -> Iterator[Finding]:
    if os.name != "posix":
        return
    mode = state.stat().st_mode & 0o777
    if mode & 0o077:

        def close() -> str:
            state.chmod(0o700)
            return "only you can read it now"

        yield Finding(str(state), "other people on this machine can read the indexes", close)


def _pairs(store: Store) -> Iterator[Finding]:
    for memory_id in store.recall.pairs():

        def resolve(which: str = memory_id) -> str:
            said = store.recall.resolve_pair(which)
            store.recall.resolve_artifacts(which)
            for place in store.recall.stat(which).set_aside:
                store.indexer.note_problem(place, SET_ASIDE)
            record = store.library.find(which)
            if record is not None:
                store.indexer.look([record.path])
            if said is Resolution.UNCLEAR:
                raise StillTwice(which)
            return str(said if said is not Resolution.NOTHING else Resolution.SAME)

        yield Finding(
            f"_recall/{memory_id}", "something is stored both plain and compressed", resolve
        )


def _orphans(store: Store) -> Iterator[Finding]:
    listed = {problem.path for problem in store.indexer.problems()}
    for memory_id in store.recall.ids():
        if store.library.find(memory_id) is None and f"_recall/{memory_id}" not in listed:
            yield Finding(
                f"_recall/{memory_id}",
                "belongs to no note; restore the note, import or save the same again if that was "
                "interrupted, or leave it to go to the trash in 30 days",
            )


def _index(store: Store) -> Iterator[Finding]:
    """Full text and vectors hold what the vault has, no less and no more."""
    records = {r.id: r for r in store.library.memories()}
    held = store.keyword.contents()
    behind = [r for i, r in records.items() if r.version and held.get(i) != r.version]
    if behind:

        def follow() -> str:
            store.indexer.take_stock()
            store.indexer.look(r.path for r in behind)
            return "indexed again"

        yield Finding("full text", f"{len(behind)} memories are not up to date", follow)
    surplus = [i for i in held if i not in records]
    if surplus:

        def drop() -> str:
            store.keyword.apply([], surplus)
            store.indexer.take_stock()
            return "removed"

        yield Finding("full text", f"{len(surplus)} memories are held that are gone", drop)
    yield from _vectors(store, records)


def _vectors(store: Store, records: dict[str, Record]) -> Iterator[Finding]:
    if not store.vectors.ready or store.feeder.behind:
        return
    held = store.vectors.contents()
    missing = [r for i, r in records.items() if r.text_version and i not in held]
    if missing:

        def feed() -> str:
            store.feeder.again(missing)
            return "they are being made again"

        yield Finding("vectors", f"{len(missing)} memories have none", feed)
    surplus = [i for i in held if i not in records]
    if surplus:

        def drop() -> str:
            store.vectors.delete(surplus)
            return "removed"

        yield Finding("vectors", f"{len(surplus)} memories are held that are gone", drop)


def _transcripts(store: Store, progress: Progress) -> Iterator[Finding]:
    ours = [r for r in store.library.memories() if r.transcript and r.transcript.form != "missing"]
    for number, record in enumerate(ours, 1):
        try:
            store.recall.read(record.id)
        except (NeurigraphError, OSError) as error:
            yield Finding(f"_recall/{record.id}", str(error))
        if number % 100 == 0 or number == len(ours):
            progress(number, len(ours))
