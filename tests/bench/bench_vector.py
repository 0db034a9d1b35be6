"""Measures the vector index on a folder of markdown: `python tests/bench/bench_vector.py VAULT`.

Prints one table: time and CPU to embed and index every passage of 900 characters, how long
questions take (idle, and while everything is being indexed), how many of the truly nearest 20
passages are found, restart, memory and disk. Questions are eight words from the notes themselves.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from neurigraph.index.vector import PassageText, VectorIndex

WINDOW = 900


def read_memories(vault: Path, limit: int) -> dict[str, list[PassageText]]:
    """Passages by a made-up id, of at most `limit` notes."""
    memories = {}
    for number, path in enumerate(sorted(vault.rglob("*.md"))[:limit]):
        text = path.read_bytes().decode("utf-8", "replace")
        memories[f"p-{number:016x}"] = [
            PassageText(start, start + WINDOW, text[start : start + WINDOW], "note")
            for start in range(0, max(len(text), 1), WINDOW)
        ]
    return memories


def make_questions(memories: dict[str, list[PassageText]], count: int) -> list[str]:
    """Eight words in a row from passages drawn at random, always the same ones."""
    draw = random.Random(7)
    texts = [p.text.split() for passages in memories.values() for p in passages]
    long = [words for words in texts if len(words) > 12]
    questions = []
    for words in draw.sample(long, min(count, len(long))):
        start = draw.randrange(len(words) - 8)
        questions.append(" ".join(words[start : start + 8]))
    return questions


def percentiles(seconds: list[float]) -> str:
    """`p50 / p95 / max` in milliseconds."""
    ms = np.sort(np.array(seconds)) * 1000
    return f"{np.percentile(ms, 50):.1f} / {np.percentile(ms, 95):.1f} / {ms[-1]:.1f} ms"


def ask_all(index: VectorIndex, questions: list[str], k: int = 20) -> list[float]:
    """Seconds that each question took."""
    times = []
    for question in questions:
        began = time.perf_counter()
        index.search(question, k)
        times.append(time.perf_counter() - began)
    return times


def recall(index: VectorIndex, memories: dict[str, list[PassageText]], questions: list[str]) -> str:
    """Mean share of the exact nearest 20 that a search finds, and the mean loss of score."""
    passages = [p.text for found in memories.values() for p in found]
    rows = [index.embed(passages[i : i + 500]) for i in range(0, len(passages), 500)]
    vectors = np.vstack(rows)
    shares, losses = [], []
    for question, vector in zip(questions, index.embed(questions), strict=True):
        exact = np.sort(vectors @ vector)[-20:]
        found = np.array([match.score for match in index.search(question, 20)])
        shares.append(float((found >= exact[0] - 1e-5).sum()) / 20)
        losses.append(float(exact.mean() - found.mean()))
    return f"{np.mean(shares):.3f} (worst {min(shares):.2f}), score lost {np.mean(losses):.4f}"


def worker_memory(index: VectorIndex) -> float:
    """PSS of the worker in MB."""
    return psutil.Process(index.state()["pid"]).memory_full_info().pss / 1e6


def main() -> int:
    """Measure, print, clean up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--limit", type=int, default=100_000, help="at most this many notes")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--burn", action="store_true", help="keep one core busy meanwhile")
    arguments = parser.parse_args()
    memories = read_memories(arguments.vault, arguments.limit)
    questions = make_questions(memories, 300)
    total = sum(map(len, memories.values()))
    rows: list[tuple[str, str]] = [("memories / passages", f"{len(memories)} / {total}")]
    folder = Path(tempfile.mkdtemp(prefix="bench-vector-"))
    stop = threading.Event()
    if arguments.burn:
        threading.Thread(target=lambda: [sum(range(999)) for _ in iter(stop.is_set, True)]).start()
    index = VectorIndex(folder, embedder=arguments.embedder)
    try:
        began = time.perf_counter()
        index.start()
        rows.append(("start() returns after", f"{(time.perf_counter() - began) * 1000:.1f} ms"))
        index.wait_ready(60)
        rows.append(("ready after", f"{time.perf_counter() - began:.2f} s"))
        during = fill(index, memories, questions, rows)
        rows.append(("search while indexing p50/p95/max", percentiles(during)))
        rows.append(("search idle", percentiles(ask_all(index, questions))))
        rows.append(("search idle, k=200", percentiles(ask_all(index, questions[:100], 200))))
        some = list(memories)[:: max(len(memories) // 300, 1)]
        timed = [timed_call(lambda q=q: index.search(q, 20, some)) for q in questions[:50]]
        rows.append((f"search among {len(some)} memories", percentiles(timed)))
        most = list(memories)[len(memories) // 10 :]
        timed = [timed_call(lambda q=q: index.search(q, 20, most)) for q in questions[:50]]
        rows.append((f"search among {len(most)} memories", percentiles(timed)))
        timed = [timed_call(lambda q=q: index.best(q, some[:100])) for q in questions[:50]]
        rows.append(("best passage of 100 memories", percentiles(timed)))
        rows.append(("recall@20", recall(index, memories, questions)))
        rows.append(
            ("put all again, unchanged", f"{timed_call(lambda: put_all(index, memories)):.1f} s")
        )
        ids = list(memories)
        edits = [
            timed_call(lambda i=i: index.put({i: [PassageText(0, 9, f"edit {i}", "note")]}))
            for i in ids[:50]
        ]
        rows.append(("put one edited memory", percentiles(edits)))
        rows.append(
            ("delete 100 memories", f"{timed_call(lambda: index.delete(ids[-100:])):.2f} s")
        )
        rows.append(("worker PSS", f"{worker_memory(index):.0f} MB"))
        index.close()
        index = VectorIndex(folder, embedder=arguments.embedder)
        began = time.perf_counter()
        index.start()
        index.wait_ready(60)
        rows.append(("ready after a restart", f"{time.perf_counter() - began:.2f} s"))
        index.search("first question", 20)
        rows.append(("worker PSS after a restart", f"{worker_memory(index):.0f} MB"))
        size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        rows.append(("disk", f"{size / 1e6:.0f} MB"))
    finally:
        stop.set()
        index.close()
        shutil.rmtree(folder, ignore_errors=True)
    for name, value in rows:
        print(f"{name:<36} {value}")
    return 0


def put_all(index: VectorIndex, memories: dict[str, list[PassageText]]) -> None:
    """Hand everything over, 64 memories at a time."""
    ids = list(memories)
    for start in range(0, len(ids), 64):
        index.put({i: memories[i] for i in ids[start : start + 64]})


def fill(
    index: VectorIndex,
    memories: dict[str, list[PassageText]],
    questions: list[str],
    rows: list[tuple[str, str]],
) -> list[float]:
    """Index everything; the first half undisturbed, the second while questions are asked."""
    process = psutil.Process(index.state()["pid"])
    ids = list(memories)
    half = len(ids) // 2
    wall, used = time.perf_counter(), sum(process.cpu_times()[:2])
    put_all(index, {i: memories[i] for i in ids[:half]})
    first = time.perf_counter() - wall
    writer = threading.Thread(target=put_all, args=(index, {i: memories[i] for i in ids[half:]}))
    writer.start()
    times: list[float] = []
    while writer.is_alive():
        times += ask_all(index, questions[len(times) % len(questions) :][:1])
        time.sleep(0.05)
    rows.append(("first half, nobody asking", f"{first:.1f} s"))
    rows.append(
        ("second half, 20 questions a second", f"{time.perf_counter() - wall - first:.1f} s")
    )
    rows.append(("CPU of the worker, all", f"{sum(process.cpu_times()[:2]) - used:.1f} s"))
    return times


def timed_call(call: object) -> float:
    """Seconds that a call takes."""
    assert callable(call)
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
