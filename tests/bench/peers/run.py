"""`make peers`: the same notes and the same questions for us, basic-memory and ripgrep, in one run.

    python tests/bench/peers/run.py [--data FOLDER] [--locomo FILE] [--notes N] [--questions N]
                                    [--venv FOLDER] [--only NAME ...] [--conversations]

FOLDER holds obsidian-hub.tar.gz; the LoCoMo-format file is looked for in it too. Prints tables in
markdown, with ratios to ours. What could not be measured is left out and said.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from bench_vault import make_vault, percentile  # noqa: E402
from peers.basic_memory import BasicMemory, install  # noqa: E402
from peers.ours import Neurigraph  # noqa: E402
from peers.peer import Peer, picture  # noqa: E402
from peers.ripgrep import Ripgrep  # noqa: E402
from retrieval_data import Question, Session, read_locomo  # noqa: E402
from retrieval_score import Score, mean, score  # noqa: E402

QUERIES = ("plugin settings", "how to theme", "zettelkasten", "daily notes template", "graph view")
REPEATS = 10
EDITS = 8
PATIENCE = 60.0
Make = Callable[[Path, Path], Peer]


@dataclass
class Measured:
    """The figures of one peer; None was not measured."""

    peer: Peer
    figures: dict[str, float | None] = field(default_factory=dict)
    quality: Score | None = None


def main() -> int:
    """Read the words, measure everybody, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a vault is made up where there is none")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--notes", type=int, default=1000, help="of the vault; 0 for all")
    parser.add_argument("--questions", type=int, default=0, help="ask only every so many-th part")
    parser.add_argument("--venv", type=Path, help="where basic-memory is, or is installed to")
    parser.add_argument("--conversations", action="store_true", help="leave the vault out")
    parser.add_argument("--only", nargs="*", help="names of peers")
    chosen = parser.parse_args()
    locomo = chosen.locomo
    if locomo is None and chosen.data is not None:
        locomo = next(chosen.data.rglob("locomo*.json"), None)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        makes: dict[str, Make] = {"neurigraph": Neurigraph}
        if not chosen.only or "basic-memory" in chosen.only:
            command = install(chosen.venv or root / "basic-memory")
            makes["basic-memory"] = lambda vault, at: BasicMemory(vault, at, command)
        if shutil.which("rg"):
            makes["ripgrep"] = Ripgrep
        if chosen.only:
            makes = {name: make for name, make in makes.items() if name in chosen.only}
        if not chosen.conversations:
            original = first_notes(make_vault(root, chosen.data), chosen.notes)
            vaults = [on_a_vault(make, original, root / name) for name, make in makes.items()]
            print_figures(f"A vault of {len(picture(original)):,} notes", vaults)
        if locomo is None:
            print("\nNo LoCoMo-format file was given: retrieval was not measured.")
            return 0
        sessions, questions = read_locomo(locomo)
        if chosen.questions:
            questions = questions[:: max(1, len(questions) // chosen.questions)]
        talks = [
            on_conversations(make, sessions, questions, root / f"{name} talks")
            for name, make in makes.items()
        ]
        print_quality(f"{len(sessions)} conversations, {len(questions)} questions", talks)
    return 0


def first_notes(vault: Path, most: int) -> Path:
    """The same vault with its first notes, by path, alone."""
    shutil.rmtree(vault / ".git", ignore_errors=True)
    if most:
        for path in sorted(p for p in vault.rglob("*.md") if p.is_file())[most:]:
            path.unlink()
    return vault


def on_a_vault(make: Make, original: Path, place: Path) -> Measured:
    """Time, memory and disk on a copy of the vault, for one peer."""
    vault = place / "vault"
    shutil.copytree(original, vault, symlinks=True)
    before = picture(vault)
    peer = make(vault, place)
    found = Measured(peer)
    figures = found.figures
    took = timed(peer.index)
    figures["to fully searchable, s"] = took if peer.folders() else None
    try:
        figures["restart to first answer, s"] = timed(peer.restart)
        figures["edit to found, p50, s"] = edit_to_found(peer)
        times = search_times(peer, QUERIES * REPEATS)
        figures["search p50, ms"] = statistics.median(times)
        figures["search p95, ms"] = percentile(times, 95)
        figures["memory, PSS MB"] = peer.memory_mb() or None
        figures["disk beside the notes, MB"] = peer.disk_mb()
    finally:
        peer.close()
    after = picture(vault)
    figures["notes whose bytes it changed"] = sum(before[p] != after.get(p) for p in before)
    return found


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def edit_to_found(peer: Peer) -> float | None:
    """From an editor's save until the new word is found; None when it never was."""
    chance = random.Random(1)
    notes = editable(peer.vault)
    waits = []
    for number in range(EDITS):
        note = chance.choice(notes)
        original, stamp = note.read_bytes(), note.stat()
        word = f"zebra{number}quagga"
        began = time.perf_counter()
        note.write_bytes(original + f"\n{word}\n".encode())
        try:
            while not peer.search(word, 5):
                if time.perf_counter() - began > PATIENCE:
                    return None
                time.sleep(0.01)
            waits.append(time.perf_counter() - began)
        finally:
            note.write_bytes(original)
            os.utime(note, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    return statistics.median(waits)


def editable(vault: Path) -> list[Path]:
    """Notes that any of them indexes: in no hidden folder and in none of templates."""
    found = []
    for path in sorted(p for p in vault.rglob("*.md") if p.is_file()):
        inner = path.relative_to(vault).as_posix()
        if not inner.startswith(".") and "/." not in inner and "template" not in inner.lower():
            found.append(path)
    return found


def search_times(peer: Peer, queries: Sequence[str]) -> list[float]:
    """Milliseconds a search, after one that is not counted."""
    peer.search(queries[0], 10)
    return [timed(lambda q=query: peer.search(q, 10)) * 1000 for query in queries]


def on_conversations(
    make: Make, sessions: Sequence[Session], questions: Sequence[Question], place: Path
) -> Measured:
    """Whether the right session comes first, each session one plain note, the same for all."""
    vault = place / "vault"
    vault.mkdir(parents=True)
    names = {}
    for number, session in enumerate(sessions):
        path = vault / f"Session {number}.md"
        path.write_text(session.text, "utf-8")
        names[path.name] = session.name
    peer = make(vault, place)
    peer.index()
    scores, times = [], []
    try:
        for question in questions:
            began = time.perf_counter()
            found = peer.search(question.text, 20)
            times.append((time.perf_counter() - began) * 1000)
            order = [names[Path(p).name] for p in found if Path(p).name in names]
            scores.append(score(order, question.evidence))
    finally:
        peer.close()
    return Measured(peer, {"question p95, ms": percentile(times, 95)}, mean(scores))


def print_figures(title: str, measured: Sequence[Measured]) -> None:
    """A table: a row a figure, a column a peer, ratios to the first."""
    print(f"\n### {title}\n")
    print("| | " + " | ".join(m.peer.name for m in measured) + " |")
    print("|---|" + "---:|" * len(measured))
    for what in measured[0].figures:
        ours = measured[0].figures[what]
        cells = []
        for number, one in enumerate(measured):
            value = one.figures.get(what)
            cell = "–" if value is None else f"{value:,.4g}"
            if number and value and ours:
                cell += f" ({value / ours:.2f}×)"
            cells.append(cell)
        print(f"| {what} | " + " | ".join(cells) + " |")
    print()
    for one in measured:
        print(f"- {one.peer.name}: {one.peer.how}")


def print_quality(title: str, measured: Sequence[Measured]) -> None:
    """A table of how well each finds."""
    print(f"\n### {title}\n")
    print("| | R@1 | R@5 | R@10 | hit@5 | MRR | NDCG@10 | question p95, ms |")
    print("|---|" + "---:|" * 7)
    for one in measured:
        if one.quality is None:
            continue
        q = one.quality
        cells = [f"{v:.3f}" for v in (q.r1, q.r5, q.r10, q.hit5, q.mrr, q.ndcg10)]
        cells.append(f"{one.figures['question p95, ms']:.0f}")
        print(f"| {one.peer.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
