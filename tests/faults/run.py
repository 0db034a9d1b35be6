"""`make faults`: kills the daemon at random moments of its work, round after round.

python tests/faults/run.py [--rounds 200] [--seed 1] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults.rounds import ACTIVITIES, Trial, killed


def main() -> int:
    """Run the rounds and print what was lost; 1 when anything was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it there")
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as place:
        root = chosen.keep or Path(place)
        vault = root / "vault"
        vault.mkdir(parents=True, exist_ok=True)
        trial = Trial(vault, root / "state", chosen.seed)
        done: Counter[str] = Counter()
        faults: list[str] = []
        began = time.monotonic()
        for number in range(chosen.rounds):
            activity = list(ACTIVITIES)[number % len(ACTIVITIES)]
            found = killed(trial, activity, chance)
            done[activity] += 1
            faults += found
            for fault in found:
                print(f"round {number}, {activity}: {fault}", flush=True)
            if number % 20 == 19:
                print(
                    f"{number + 1} rounds, {len(trial.ledger.acknowledged)} saves acknowledged, "
                    f"{len(trial.edited)} notes edited, {len(faults)} faults, "
                    f"{time.monotonic() - began:.0f} s",
                    flush=True,
                )
    rounds = ", ".join(f"{n} while {a}" for a, n in done.items())
    print(
        f"killed {sum(done.values())} times ({rounds}): {len(trial.ledger.acknowledged)} "
        f"acknowledged saves and {len(trial.edited)} edited notes; "
        f"{len(faults)} lost, doubled or unserved"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
