"""`make bench`: runs one bench or all of them and prints what each measured, as tables."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

BENCHES = {
    "mcp": "MCP: saving, recalling, starting the proxy",
    "vault": "a real vault: to searchable, restart, edit to answer, memory, bytes unchanged",
    "keyword": "full text beside Whoosh as it comes",
    "import": "an export of 2,000 conversations: time, memory, answers meanwhile",
    "vector": "passage vectors",
    "temperature": "cooling beside a bare loop, opening cold, searching an all-cold vault",
    "search": "10,000 memories and 200 long transcripts over REST",
    "sync": "two machines: a thousand notes changed on one, three hundred on both",
}
ALONE = {"growth": "1,000, 10,000 and 50,000 memories: time, memory, disk, a cycle"}
"""Too long to be run with the others."""


def main() -> None:
    """Parse the words and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["all", *BENCHES, *ALONE], nargs="?", default="all")
    parser.add_argument("--data", type=Path, help="folder with obsidian-hub.tar.gz and the like")
    chosen = parser.parse_args()
    for name in BENCHES if chosen.name == "all" else [chosen.name]:
        print(f"\n== {name}: {(BENCHES | ALONE)[name]}", flush=True)
        importlib.import_module(f"bench_{name}").run(chosen.data)


if __name__ == "__main__":
    main()
