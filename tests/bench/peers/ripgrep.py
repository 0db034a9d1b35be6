"""ripgrep: no index at all, the floor that everything else must be worth more than."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict

from peers.peer import Peer


class Ripgrep(Peer):
    """Each search reads every note; notes with more of the words come first."""

    name = "ripgrep"
    how = "one process a search; notes by the number of different words of the query in them"

    def index(self) -> None:
        """There is nothing to do."""

    def restart(self) -> None:
        """One search, as everywhere."""
        self.search("obsidian", 5)

    def search(self, query: str, limit: int) -> list[str]:
        """Words of three letters and more, in any case."""
        words = [w for w in dict.fromkeys(re.findall(r"\w+", query.lower())) if len(w) > 2]
        if not words:
            return []
        patterns = [part for word in words for part in ("-e", word)]
        command = ["rg", "--only-matching", "--ignore-case", "--word-regexp", "--no-heading"]
        command += ["--with-filename", "--no-line-number", "--glob", "*.md", "--null"]
        done = subprocess.run(
            [*command, *patterns, "."], cwd=self.vault, capture_output=True, check=False
        )
        having: dict[str, set[str]] = defaultdict(set)
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            path, _, word = line.partition("\0")
            having[path.removeprefix("./")].add(word.lower())
        return sorted(having, key=lambda p: (-len(having[p]), p))[:limit]

    def close(self) -> None:
        """Nothing runs."""
