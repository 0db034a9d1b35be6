"""How fast the keyword index is, beside Whoosh as it comes, on the same texts in the same run.

    python tests/bench/bench_keyword.py [--notes 10000] [--transcripts 200] [--vault FOLDER]

Texts are made from a fixed seed: words of a Zipf-like vocabulary, with the punctuation, accents
and names that notes have. Rates are megabytes of UTF-8 a CPU-second, times in milliseconds.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import ID, TEXT, Schema
from whoosh.index import create_in

from neurigraph.index.keyword import Document, KeywordIndex, Query, query_terms

NOTE_BYTES, TRANSCRIPT_BYTES = 2_000, 190_000


class Prose:
    """Text that is like text: few words are frequent, most are rare."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        parts = [a + b for a in "bcdfgklmnprstvz" for b in "aeiou"]
        words = {"".join(self._chance.choices(parts, k=1 + i % 5)) for i in range(60_000)}
        self.words = ["the", "and", "to", "of", "in", "is", "that", "for", "it", *sorted(words)]
        self._weights = [0.0]
        for i in range(len(self.words)):
            self._weights.append(self._weights[-1] + 1 / (i + 3))
        self._weights.pop(0)

    def text(self, size: int) -> str:
        """About `size` characters in paragraphs."""
        drawn = self._chance.choices(self.words, cum_weights=self._weights, k=size // 5)
        parts: list[str] = []
        for i, word in enumerate(drawn):
            if i % 11 == 0:
                word = word.capitalize()
            if i % 11 == 10:
                word += self._chance.choice((".", ".", ",", "?", "…", ".\n\n", ": `code_name`"))
            parts.append(word)
        return " ".join(parts)[:size]

    def question(self) -> str:
        """Five to nine words, frequent and rare."""
        drawn = self._chance.choices(
            self.words, cum_weights=self._weights, k=self._chance.randint(5, 9)
        )
        return " ".join(drawn)


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
    return f"{statistics.median(ranked):7.2f} / {ranked[int(len(ranked) * 0.95)]:7.2f} ms"


def megabytes(texts: Sequence[str]) -> float:
    """Of UTF-8."""
    return sum(len(text.encode()) for text in texts) / 1e6


def stock_rate(texts: Sequence[str], folder: Path) -> float:
    """Whoosh's own field and writer."""
    folder.mkdir()
    index = create_in(folder, Schema(id=ID(stored=True), text=TEXT(analyzer=StemmingAnalyzer())))

    def work() -> None:
        writer = index.writer()
        for i, text in enumerate(texts):
            writer.add_document(id=str(i), text=text)
        writer.commit()

    return megabytes(texts) / cpu(work)


def our_rate(documents: Sequence[Document], index: KeywordIndex, at_once: int) -> float:
    """The way the indexer does it: some documents a commit."""

    def work() -> None:
        for i in range(0, len(documents), at_once):
            index.apply(documents[i : i + at_once], [])

    return megabytes([d.body + d.transcript for d in documents]) / cpu(work)


def compare(prose: Prose, folder: Path) -> None:
    """Indexing, theirs and ours."""
    for name, size, theirs, many in (
        ("notes of 2 KB", NOTE_BYTES, 400, 3000),
        ("transcripts of 190 KB", TRANSCRIPT_BYTES, 5, 60),
    ):
        texts = [prose.text(size) for _ in range(many)]
        stock = stock_rate(texts[:theirs], folder / f"stock-{size}")
        key = "body" if size == NOTE_BYTES else "transcript"
        documents = [
            Document(f"m-{i}", "1", title=text[:40], topic="Some Topic", **{key: text})
            for i, text in enumerate(texts)
        ]
        index = KeywordIndex(folder / f"ours-{size}")
        ours = our_rate(documents, index, 256)
        index.close()
        print(
            f"indexing {name:22} stock {stock:6.2f} MB/s   ours {ours:6.2f} MB/s"
            f"   {ours / stock:5.1f} times"
        )


def whole(prose: Prose, folder: Path, notes: int, transcripts: int) -> None:
    """A large index: build, search, update, merge, open."""
    documents = [
        Document(f"m-{i}", "1", title=prose.text(40), topic="A B", body=prose.text(NOTE_BYTES))
        for i in range(notes)
    ]
    documents += [
        Document(f"t-{i}", "1", title=prose.text(40), transcript=prose.text(TRANSCRIPT_BYTES))
        for i in range(transcripts)
    ]
    index = KeywordIndex(folder / "whole")
    rate = our_rate(documents, index, 256)
    print(f"\n{notes} notes and {transcripts} transcripts: {rate:.2f} MB/s", end="")
    print(f", {len(index._searcher.leaves)} segments")
    questions = [Query(tuple(query_terms(prose.question()))) for _ in range(200)]

    def searches() -> str:
        return spread([wall(lambda q=q: index.search(q, 50)) for q in questions])  # type: ignore[misc]

    print(f"search, as built            {searches()}")
    steps = []
    while True:
        more: list[bool] = []
        steps.append(wall(lambda more=more: more.append(index.merge())))  # type: ignore[misc]
        if not more[0]:
            break
    print(f"merges: {len(steps)}, longest {max(steps):.0f} ms")
    print(f"search, merged              {searches()}   {len(index._searcher.leaves)} segments")
    times = []
    for i in range(100):
        text = prose.text(NOTE_BYTES)
        changed = Document(f"m-{i % max(notes, 1)}", "2", title="new", body=text)
        times.append(wall(lambda d=changed: index.apply([d], [])))  # type: ignore[misc]
        if i % 8 == 7:
            index.merge()
    print(f"one update with commit      {spread(times)}")
    print(f"search, after 100 updates   {searches()}   {len(index._searcher.leaves)} segments")
    many = [Document(f"m-{i}", "3", title="new", body=prose.text(NOTE_BYTES)) for i in range(100)]
    print(f"100 updates in one commit   {wall(lambda: index.apply(many, [])):7.2f} ms")
    best = [m.id for m in index.search(questions[0], 60).best]
    print(
        f"marks in 60 candidates      {wall(lambda: index.marks(best, questions[0].terms)):7.2f} ms"
    )
    longest = [f"t-{i}" for i in range(min(60, transcripts))]
    taken = wall(lambda: index.marks(longest, questions[0].terms))
    print(f"marks in {len(longest)} long transcripts {taken:7.2f} ms")
    index.near_terms("begin")
    typo = wall(lambda: index.near_terms("bacedofi"))
    print(f"near terms                  {typo:7.2f} ms")
    print(f"all into one segment        {cpu(index.optimize):7.2f} CPU-seconds")
    print(f"search, one segment         {searches()}")
    index.close()
    size = sum(p.stat().st_size for p in (folder / "whole").iterdir()) / 1e6

    def reopen() -> None:
        again = KeywordIndex(folder / "whole")
        again.search(questions[0], 10)
        again.contents()
        again.close()

    print(f"open, search, contents      {wall(reopen):7.2f} ms   ({size:.0f} MB on disk)")


def vault(folder: Path, work: Path) -> None:
    """All notes of a folder."""
    texts = [p.read_text("utf-8", "replace") for p in sorted(folder.rglob("*.md"))]
    documents = [
        Document(f"p-{i}", "1", title=t[:40], body=t, created="2026-11-30")
        for i, t in enumerate(texts)
    ]
    index = KeywordIndex(work / "vault")
    size = megabytes(texts)
    taken = size / our_rate(documents, index, 256)
    print(f"\n{folder.name}: {len(texts)} notes, {size:.1f} MB in {taken:.2f} CPU-seconds")
    index.close()


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--notes", type=int, default=10_000)
    options.add_argument("--transcripts", type=int, default=200)
    options.add_argument("--vault", type=Path, help="a folder of notes to index as well")
    chosen = options.parse_args()
    prose = Prose(1)
    with tempfile.TemporaryDirectory() as name:
        compare(prose, Path(name))
        whole(prose, Path(name), chosen.notes, chosen.transcripts)
        if chosen.vault:
            vault(chosen.vault, Path(name))


if __name__ == "__main__":
    main()
