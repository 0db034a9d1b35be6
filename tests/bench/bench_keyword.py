"""How fast the keyword index is, beside Whoosh as it comes, on the same texts in the same run.

    python tests/bench/bench_keyword.py [--sizes 1000,10000,50000] [--data FOLDER]

Texts are made from a fixed seed: words of a Zipf-like vocabulary, with the punctuation that notes
have. The questions are drawn like the texts, so most of their words stand in most memories: a
hard case. Rates are megabytes of UTF-8 a CPU-second, other times are wall time.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import ID, TEXT, Schema
from whoosh.index import create_in

from neurigraph.index.keyword import Document, KeywordIndex, Query, query_terms

NOTE, MEMORY, TRANSCRIPT = 2_000, 5_000, 190_000
"""Characters."""

AT_ONCE = 256
"""Documents that the indexer commits together."""


class Prose:
    """Text that is like text: few words are frequent, most are rare."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        parts = [a + b for a in "bcdfgklmnprstvz" for b in "aeiou"]
        words = {"".join(self._chance.choices(parts, k=1 + i % 5)) for i in range(60_000)}
        self._words = ["the", "and", "to", "of", "in", "is", "that", "for", "it", *sorted(words)]
        self._weights = [0.0]
        for i in range(len(self._words)):
            self._weights.append(self._weights[-1] + 1 / (i + 3))
        self._weights.pop(0)
        self._paragraphs: list[str] = []

    def text(self, size: int) -> str:
        """Some `size` characters in sentences and paragraphs."""
        drawn = self._chance.choices(self._words, cum_weights=self._weights, k=size // 5)
        parts: list[str] = []
        for i, word in enumerate(drawn):
            if i % 11 == 0:
                word = word.capitalize()
            if i % 11 == 10:
                word += self._chance.choice((".", ".", ",", "?", "…", ".\n\n", ": `code_name`"))
            parts.append(word)
        return " ".join(parts)[:size]

    def memory(self) -> str:
        """A memory of 5 KB put together of paragraphs from a pool: for many of them, quickly."""
        if not self._paragraphs:
            self._paragraphs = [self.text(500) for _ in range(20_000)]
        return "\n\n".join(self._chance.choices(self._paragraphs, k=MEMORY // 500))

    def question(self) -> Query:
        """Five to nine words."""
        size = self._chance.randint(5, 9)
        drawn = self._chance.choices(self._words, cum_weights=self._weights, k=size)
        return Query(tuple(query_terms(" ".join(drawn))))


def cpu(work: Callable[[], object]) -> float:
    """CPU-seconds of a piece of work."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def wall(work: Callable[[], object]) -> float:
    """Milliseconds of a piece of work."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def spread(times: Sequence[float]) -> str:
    """Median and 95th percentile."""
    ranked = sorted(times)
    return f"{statistics.median(ranked):.1f} / {ranked[int(len(ranked) * 0.95)]:.1f} ms"


def megabytes(texts: Sequence[str]) -> float:
    """Of UTF-8."""
    return sum(len(text.encode()) for text in texts) / 1e6


def build(documents: Sequence[Document], index: KeywordIndex) -> None:
    """The way the indexer does it."""
    for i in range(0, len(documents), AT_ONCE):
        index.apply(documents[i : i + AT_ONCE], [])


def searches(index: KeywordIndex, questions: Sequence[Query]) -> str:
    """Times of all questions."""
    for question in questions[:20]:
        index.search(question, 50)
    return spread([wall(lambda q=q: index.search(q, 50)) for q in questions])  # type: ignore[misc]


def updates(index: KeywordIndex, prose: Prose, ids: Sequence[str]) -> str:
    """Times of single updates with commit; what idle time tidies is tidied after each eighth."""
    times = []
    for i, name in enumerate(ids):
        changed = Document(name, "2", title="new", body=prose.text(NOTE))
        times.append(wall(lambda d=changed: index.apply([d], [])))  # type: ignore[misc]
        if i % 8 == 7:
            index.merge()
    return spread(times)


def compare(prose: Prose, folder: Path) -> Table:
    """Indexing, theirs and ours."""
    table = Table(
        "indexing, MB a CPU-second", "Whoosh's field", "ours", "times", "must be", box=None
    )
    for name, size, theirs, many, must in (
        ("notes of 2 KB", NOTE, 400, 3000, 8),
        ("transcripts of 190 KB", TRANSCRIPT, 5, 60, 10),
    ):
        texts = [prose.text(size) for _ in range(many)]
        schema = Schema(id=ID(stored=True), text=TEXT(analyzer=StemmingAnalyzer()))
        (folder / f"stock-{size}").mkdir()
        stock = create_in(folder / f"stock-{size}", schema)

        def plain(texts: Sequence[str] = texts[:theirs], stock: object = stock) -> None:
            writer = stock.writer()  # type: ignore[attr-defined]
            for i, text in enumerate(texts):
                writer.add_document(id=str(i), text=text)
            writer.commit()

        slow = megabytes(texts[:theirs]) / cpu(plain)
        key = "body" if size == NOTE else "transcript"
        documents = [
            Document(f"m-{i}", "1", title=text[:40], topic="Some Topic", **{key: text})
            for i, text in enumerate(texts)
        ]
        index = KeywordIndex(folder / f"ours-{size}")
        fast = megabytes(texts) / cpu(lambda d=documents, x=index: build(d, x))  # type: ignore[misc]
        index.close()
        table.add_row(name, f"{slow:.2f}", f"{fast:.1f}", f"{fast / slow:.1f}", f"{must}")
    return table


def whole(prose: Prose, folder: Path, notes: int = 10_000, transcripts: int = 200) -> Table:
    """An index of ten years."""
    table = Table("what", "measured", "must be", box=None)
    documents = [
        Document(f"m-{i}", "1", title=prose.text(40), topic="A B", body=prose.text(NOTE))
        for i in range(notes)
    ]
    documents += [
        Document(f"t-{i}", "1", title=prose.text(40), transcript=prose.text(TRANSCRIPT))
        for i in range(transcripts)
    ]
    index = KeywordIndex(folder)
    taken = cpu(lambda: build(documents, index))
    table.add_row(f"{notes:,} notes, {transcripts} transcripts", f"{taken:.1f} CPU-seconds", "")
    questions = [prose.question() for _ in range(200)]
    table.add_row("search before merging", searches(index, questions), "")
    steps = [0.0]
    while True:
        more: list[bool] = []
        steps.append(wall(lambda more=more: more.append(index.merge())))  # type: ignore[misc]
        if not more[0]:
            break
    table.add_row("longest step of merging", f"{max(steps):.0f} ms", "")
    table.add_row("search", searches(index, questions), "")
    scope = {d.id for d in documents[::3]}
    scoped = [wall(lambda q=q: index.search(q, 50, allow=scope)) for q in questions]  # type: ignore[misc]
    table.add_row("search in a third of them", spread(scoped), "")
    table.add_row("an update", updates(index, prose, [f"m-{i}" for i in range(100)]), "50 ms p95")
    table.add_row("search after 100 updates", searches(index, questions), "")
    many = [Document(f"m-{i}", "3", title="new", body=prose.text(NOTE)) for i in range(100)]
    table.add_row("100 updates in one", f"{wall(lambda: index.apply(many, [])):.1f} ms", "")
    long = [f"t-{i}" for i in range(60)]
    marks = [wall(lambda q=q: index.marks(long, q.terms)) for q in questions[:50]]  # type: ignore[misc]
    table.add_row("words marked in 60 transcripts", spread(marks), "")
    index.near_terms("begin")
    table.add_row(
        "words near a misspelt one", f"{wall(lambda: index.near_terms('bacadofi')):.1f} ms", ""
    )
    table.add_row("all into one segment", f"{cpu(index.optimize):.1f} CPU-seconds", "")
    table.add_row("search in one segment", searches(index, questions), "")
    index.close()
    table.add_row(
        "open, first search, contents", f"{reopen(folder, questions[0]):.0f} ms", "300 ms"
    )
    return table


def reopen(folder: Path, question: Query) -> float:
    """Milliseconds from nothing to an answer."""

    def work() -> None:
        index = KeywordIndex(folder)
        index.search(question, 10)
        index.contents()
        index.close()

    return wall(work)


def growth(prose: Prose, folder: Path, sizes: Sequence[int]) -> Table:
    """The same at several sizes, memories of 5 KB."""
    table = Table("memories", "indexing", "search", "an update", "open", "on disk", box=None)
    for size in sizes:
        index = KeywordIndex(folder / str(size))
        taken = 0.0
        for begin in range(0, size, AT_ONCE):
            documents = [
                Document(
                    f"m-{i}", "1", title=prose.text(40), topic="A B", transcript=prose.memory()
                )
                for i in range(begin, min(size, begin + AT_ONCE))
            ]
            taken += cpu(lambda d=documents, x=index: build(d, x))  # type: ignore[misc]
        while index.merge():
            pass
        questions = [prose.question() for _ in range(100)]
        row = [f"{size:,}", f"{taken:.1f} CPU-s", searches(index, questions)]
        row.append(updates(index, prose, [f"m-{i}" for i in range(50)]))
        index.close()
        used = sum(p.stat().st_size for p in (folder / str(size)).iterdir()) / 1e6
        row += [f"{reopen(folder / str(size), questions[0]):.0f} ms", f"{used:.0f} MB"]
        table.add_row(*row)
    return table


def vault(archive: Path, folder: Path) -> str:
    """All notes of a packed vault."""
    with tarfile.open(archive) as tar:
        members = [m for m in tar if m.isfile() and m.name.endswith(".md")]
        texts = [
            file.read().decode("utf-8", "replace")
            for member in members
            if (file := tar.extractfile(member)) is not None
        ]
    documents = [
        Document(f"p-{i}", "1", title=text[:40], body=text, created="2026-11-30")
        for i, text in enumerate(texts)
    ]
    index = KeywordIndex(folder)
    taken = cpu(lambda: build(documents, index))
    index.close()
    return f"{archive.name}: {len(texts):,} notes, {megabytes(texts):.1f} MB in {taken:.1f} CPU-s"


def run(data: Path | None, sizes: Sequence[int] = (1_000, 10_000)) -> None:
    """Measure and print."""
    prose, console = Prose(1), Console()
    with tempfile.TemporaryDirectory() as name:
        console.print(compare(prose, Path(name)))
        console.print()
        console.print(whole(prose, Path(name) / "whole"))
        console.print()
        console.print(growth(prose, Path(name) / "growth", sizes))
        archive = next(data.rglob("obsidian-hub.tar.gz"), None) if data else None
        if archive is not None:
            console.print(f"\n{vault(archive, Path(name) / 'vault')}")


def main() -> None:
    """Run it alone."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000", help="memories in the table of growth")
    options.add_argument("--data", type=Path, help="a folder with obsidian-hub.tar.gz")
    chosen = options.parse_args()
    run(chosen.data, [int(size) for size in chosen.sizes.split(",")])


if __name__ == "__main__":
    main()
