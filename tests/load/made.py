"""A vault of thousands of memories, made in seconds, and a git checkout that replaces files."""

from __future__ import annotations

import hashlib
import random
import subprocess
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 2, 9, 30)
_SYLLABLES = ("ba", "re", "mi", "to", "lun", "sar", "kel", "do", "vin", "pra", "ost", "em")
WORDS = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES][::2]
"""864 words that memories are made of; queries draw from them."""


def sentence(chance: random.Random) -> str:
    """A dozen words, the first ones likelier, as in any language."""
    ranks = (min(int(chance.paretovariate(0.6)), len(WORDS)) - 1 for _ in range(12))
    words = " ".join(WORDS[rank * 37 % len(WORDS)] for rank in ranks)
    return f"{words.capitalize()}."


def transcript(chance: random.Random, size: int) -> str:
    """A conversation of about this many bytes."""
    turns: list[str] = []
    written = 0
    while written < size:
        who = "Assistant" if len(turns) % 2 else "User"
        turn = f"## {who}\n\n" + " ".join(sentence(chance) for _ in range(5)) + "\n"
        turns.append(turn)
        written += len(turn) + 1
    return "\n".join(turns)


def make_vault(vault: Path, memories: int, seed: int = 1, size: int = 3_000) -> None:
    """`memories` of ours in nine topics, as if saved over the last months; `size` bytes each."""
    chance = random.Random(seed)
    for number in range(memories):
        folder = vault / f"Topic {number % 9}" / f"Part {number % 31}"
        folder.mkdir(parents=True, exist_ok=True)
        created = START + timedelta(minutes=31 * number)
        memory_id = f"m-{created:%Y%m%d}-{number:08x}"
        text = transcript(chance, size)
        title = " ".join(sentence(chance).split()[:5]).rstrip(".")
        recall = vault / "_recall" / memory_id
        recall.mkdir(parents=True)
        (recall / "transcript.md").write_text(text, "utf-8")
        (folder / f"{created:%Y-%m-%d} {title} {number}.md").write_text(
            f"""---
type: memory
id: {memory_id}
title: {title} {number}
created: {created:%Y-%m-%dT%H:%M:%S}
keywords:
  - {chance.choice(WORDS)}
  - {chance.choice(WORDS)}
temperature: warm
token_count: {len(text) // 4}
transcript: "[[_recall/{memory_id}/transcript|Transcript]]"
transcript_sha256: "{hashlib.sha256(text.encode()).hexdigest()}"
---
## Summary

{sentence(chance)} {sentence(chance)} {sentence(chance)}
""",
            "utf-8",
        )


def checkout_of(vault: Path, files: int) -> Callable[[str], None]:
    """Two branches of `files` notes each in a folder of the vault; answers what switches them."""
    folder = vault / "Topic 8" / "Checked out"
    folder.mkdir(parents=True)

    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    chance = random.Random(files)
    git("init", "-q", "-b", "main")
    for branch in ("main", "other"):
        if branch == "other":
            git("checkout", "-q", "-b", "other")
        for number in range(files):
            text = f"# {branch} {number}\n\n{sentence(chance)} {branch}{number}word\n"
            (folder / f"note {number}.md").write_text(text, "utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", branch)
    git("checkout", "-q", "main")
    return lambda branch: git("checkout", "-q", branch)
