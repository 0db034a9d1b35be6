"""Whether the right memory comes first: asks the questions of a LoCoMo-format file.

    python tests/bench/retrieval.py FILE.json [--ablate] [--questions N] [--created]

One vault is made of all sessions through `Memory.save`, one memory a session, its topic the
conversation it belongs to; nothing but the text is handed in (with `--created` the date too).
Every question of categories 1 to 4 is then asked through `Memory.search`, the code that REST
uses: over the whole vault, and within its own conversation. A hit is any session that holds
evidence. Figures are plain means over questions.

The weights of the fusion are held out too: for each conversation they are chosen on the others,
and the line `held out` has every question answered with the weights of its own fold. Chosen is
the best of a coarse grid by hit@5 + NDCG@10; the defaults stay where the best is not ahead by more
than a standard error (Breiman et al., 1984), as weights that fit noise are none.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from retrieval_data import Question, Session, read_locomo
from retrieval_score import Score, mean, score
from rich.console import Console
from rich.table import Table

from neurigraph.clock import system_clock
from neurigraph.memory import Memory
from neurigraph.model import Conversation
from neurigraph.search import cascade, speakers, windows, words
from neurigraph.search.fusion import Evidence, Scored, fuse
from neurigraph.settings import SearchSettings, Settings

TOP = 50
STEPS = (0.2, 0.3, 0.4, 0.5)
"""Weights that a fold may choose from, for each of the three shares."""

TIDY = 20
"""Steps of merging: saves one by one leave as many segments."""

console = Console(width=130, highlight=False)
Order = list[str]


def main() -> int:
    """Read the words, build the vault, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="a LoCoMo-format JSON file")
    parser.add_argument(
        "--ablate", action="store_true", help="each part of the ranking off in turn"
    )
    parser.add_argument("--questions", type=int, default=0, help="ask only every so many-th part")
    parser.add_argument("--created", action="store_true", help="save each session with its date")
    chosen = parser.parse_args()
    sessions, questions = read_locomo(chosen.file)
    if chosen.questions:
        questions = questions[:: max(1, len(questions) // chosen.questions)]
    with tempfile.TemporaryDirectory() as folder:
        memory = _open(Path(folder))
        try:
            ids = _save(memory, sessions, chosen.created)
            _report(memory, questions, ids, chosen.ablate)
        finally:
            memory.close()
    return 0


def _open(folder: Path) -> Memory:
    vault, state = folder / "vault", folder / "state"
    vault.mkdir()
    state.mkdir()
    memory = Memory(vault, state, Settings(), system_clock)
    memory.open()
    memory.catch_up()
    return memory


def _save(memory: Memory, sessions: Sequence[Session], dated: bool) -> dict[str, str]:
    """Save all sessions and wait for their vectors: session name by memory id."""
    began = time.perf_counter()
    ids: dict[str, str] = {}
    for session in sessions:
        saved = memory.save(
            Conversation(
                session.text,
                created=session.date if dated else None,
                broad_topic="LoCoMo",
                focused_topic=session.conversation,
            )
        )
        for memory_id in saved.ids:
            ids[memory_id] = session.name
    for _ in range(TIDY):  # as the daemon does when it is idle
        memory.tidy_indexes()
    while memory.behind() != (0, 0):
        time.sleep(0.05)
    console.print(f"{len(sessions)} sessions saved in {time.perf_counter() - began:.1f} s")
    return ids


def _report(
    memory: Memory, questions: Sequence[Question], ids: Mapping[str, str], ablate: bool
) -> None:
    console.print(f"{len(questions)} questions\n")
    pooled, times = _ask(memory, questions, ids, "")
    own, _ = _ask(memory, questions, ids, "own")
    table = _table("all questions")
    _row(table, "pooled", questions, pooled)
    for category in sorted({q.category for q in questions}):
        _row(
            table,
            f"  category {category}",
            questions,
            pooled,
            lambda q, c=category: q.category == c,
        )
    _row(table, "own conversation", questions, own)
    console.print(table)
    times.sort()
    p50, p95 = statistics.median(times), times[int(len(times) * 0.95)]
    console.print(f"a question: p50 {p50:.1f} ms, p95 {p95:.1f} ms, snippets included\n")
    _folds(memory, questions, ids)
    if ablate:
        _ablate(memory, questions, ids)


def _ask(
    memory: Memory, questions: Sequence[Question], ids: Mapping[str, str], scope: str
) -> tuple[list[Order], list[float]]:
    orders, times = [], []
    for question in questions:
        within = f"LoCoMo/{question.conversation}" if scope else ""
        result = memory.search(question.text, scope=within, limit=TOP)
        times.append(result.took_ms)
        orders.append(list(dict.fromkeys(ids[hit.id] for hit in result.hits)))
    return orders, times


# -- weights that are held out


@dataclass(frozen=True)
class Seen:
    """What the fusion was given for a question, or the order where the cascade stopped before."""

    found: tuple[str, ...]
    evidence: Evidence | None

    def order(self, ids: Mapping[str, str], settings: SearchSettings) -> Order:
        """The sessions in order of the scores that these weights make."""
        if self.evidence is None:
            ranked: Sequence[str] = self.found
        else:
            ranked = [s.id for s in fuse(self.found, self.evidence, settings)]
        return list(dict.fromkeys(ids[i] for i in ranked))[:TOP]


def _folds(memory: Memory, questions: Sequence[Question], ids: Mapping[str, str]) -> None:
    """Choose the weights on three conversations, answer the fourth with them, four times."""
    seen = _see(memory, questions)
    grid = [
        SearchSettings(keyword_weight=k, window_weight=w, vector_weight=v)
        for k, w, v in itertools.product(STEPS, repeat=3)
        if abs(k + w + v - 1) < 1e-9
    ]
    scores = [_scores(seen, questions, ids, setting) for setting in grid]
    table = _table("weights chosen on the other conversations")
    held_out: dict[int, Score] = {}
    for conversation in dict.fromkeys(q.conversation for q in questions):
        others = [i for i, q in enumerate(questions) if q.conversation != conversation]
        mine = [i for i, q in enumerate(questions) if q.conversation == conversation]
        best = _choose([[found[i] for i in others] for found in scores], grid)
        weights = f"{best.keyword_weight}, {best.window_weight}, {best.vector_weight}"
        answered = scores[grid.index(best)]
        held_out |= {i: answered[i] for i in mine}
        _line(table, f"{conversation}: {weights}", [answered[i] for i in mine])
    _line(table, "held out", [held_out[i] for i in range(len(questions))])
    console.print(table)


def _scores(
    seen: Sequence[Seen],
    questions: Sequence[Question],
    ids: Mapping[str, str],
    settings: SearchSettings,
) -> list[Score]:
    return [
        score(one.order(ids, settings), question.evidence)
        for one, question in zip(seen, questions, strict=True)
    ]


def _choose(found: Sequence[Sequence[Score]], grid: Sequence[SearchSettings]) -> SearchSettings:
    """The weights that a fold takes: the best of the grid, or the defaults if as good as that."""
    usual = SearchSettings()
    worth = [[s.hit5 + s.ndcg10 for s in scores] for scores in found]
    if len(worth[0]) < 2:
        return usual
    best = max(range(len(grid)), key=lambda i: sum(worth[i]))
    ahead = [a - b for a, b in zip(worth[best], worth[grid.index(usual)], strict=True)]
    error = statistics.stdev(ahead) / len(ahead) ** 0.5
    return grid[best] if statistics.fmean(ahead) > error else usual


def _see(memory: Memory, questions: Sequence[Question]) -> list[Seen]:
    """What the fusion is given for each question."""
    caught: list[Seen] = []

    def watched(found: Sequence[str], evidence: Evidence, settings: SearchSettings) -> list[Scored]:
        caught.append(Seen(tuple(found), evidence))
        return fuse(found, evidence, settings)

    seen = []
    with _changed(cascade, "fuse", watched):
        for question in questions:
            caught.clear()
            hits = memory.search(question.text, limit=1).hits
            seen.append(caught[0] if caught else Seen(tuple(h.id for h in hits), None))
    return seen


# -- each part off in turn


def _ablate(memory: Memory, questions: Sequence[Question], ids: Mapping[str, str]) -> None:
    table = _table("each part off in turn")
    seen = _see(memory, questions)
    usual = SearchSettings()
    for name, changes in _SHARES.items():
        settings = usual.model_copy(update=changes)
        _line(table, name, _scores(seen, questions, ids, settings))
    for name, (module, constant, value) in _PARTS.items():
        with _changed(module, constant, value):
            _line(table, name, _scores(_see(memory, questions), questions, ids, usual))
    console.print(table)


@contextmanager
def _changed(module: ModuleType, name: str, value: object) -> Iterator[None]:
    usual = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, usual)


_SHARES: dict[str, dict[str, float]] = {
    "everything": {},
    "no full text over whole memories": {"keyword_weight": 0},
    "no windows": {"window_weight": 0},
    "no vectors": {"vector_weight": 0},
    "no times": {"time_weight": 0},
    "whole memories alone": {"window_weight": 0, "vector_weight": 0, "time_weight": 0},
    "windows alone": {"keyword_weight": 0, "vector_weight": 0, "time_weight": 0},
    "vectors alone": {"keyword_weight": 0, "window_weight": 0, "time_weight": 0},
}

_PARTS: dict[str, tuple[ModuleType, str, object]] = {
    "function words weigh like others": (words, "FUNCTION_WORD", 1.0),
    "who speaks makes no difference": (speakers, "OTHERS", 1.0),
    "windows with hard borders": (windows, "NEIGHBOURS", (1.0,)),
    "words that no memory has, not mended": (words, "MOST_MENDED", 0),
}


# -- tables


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name in ("questions", "R@1", "R@5", "R@10", "hit@5", "MRR", "NDCG@10"):
        table.add_column(name, justify="right")
    return table


def _row(
    table: Table,
    name: str,
    questions: Sequence[Question],
    orders: Sequence[Order],
    wanted: Callable[[Question], bool] = lambda question: True,
) -> None:
    pairs = [(q, o) for q, o in zip(questions, orders, strict=True) if wanted(q)]
    _line(table, name, [score(order, question.evidence) for question, order in pairs])


def _line(table: Table, name: str, scores: Sequence[Score]) -> None:
    found = mean(scores)
    figures = (found.r1, found.r5, found.r10, found.hit5, found.mrr, found.ndcg10)
    table.add_row(name, str(len(scores)), *(f"{figure:.4f}" for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
