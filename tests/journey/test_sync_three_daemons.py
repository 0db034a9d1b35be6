"""Three clones with their daemons and a remote: a scripted week, and days at random.

`NEURIGRAPH_SYNC_DAYS=20` runs more of those.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from sync_daemons import DaemonMachine, SyncFailed
from sync_machines import Words, check, git, settle, shared

NAMES = ("laptop", "desktop", "plain")


@contextmanager
def network(folder: Path, **settings: str) -> Iterator[tuple[list[DaemonMachine], Words]]:
    """Three machines with daemons."""
    folder.mkdir(parents=True, exist_ok=True)
    remote, words = shared(folder), Words()
    with ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        starting = [
            pool.submit(DaemonMachine, name, folder, remote, words, **settings) for name in NAMES
        ]
        machines = [one.result() for one in starting]
        for machine in machines:
            stack.callback(machine.close)
        yield machines, words


def at_once(*machines: DaemonMachine) -> None:
    """Sync these at the same moment."""
    with ThreadPoolExecutor(len(machines)) as pool:
        for done in [pool.submit(m.sync) for m in machines]:
            done.result()


def test_a_week_on_three_machines(tmp_path: Path) -> None:
    with network(tmp_path / "net") as (machines, words):
        laptop, desktop, plain = machines
        for number in range(4):
            laptop.save(f"Work/Project {number}")
        desktop.write("Home/Garden/plan.md")
        at_once(laptop, desktop)
        plain.pull_plainly()
        settle(machines)
        about = [p for p in laptop.notes() if "About" in p]
        assert len(about) == 4

        # edits of one note on two machines, pushed at the same moment
        laptop.append(about[0])
        desktop.change_line(about[0], 1)
        laptop.change_line("Home/Garden/plan.md", 2)
        desktop.change_line("Home/Garden/plan.md", 2)
        at_once(laptop, desktop)

        # a folder is renamed here, saved into there, cooled and edited elsewhere
        laptop.rename_folder("Work", "Jobs")
        desktop.save("Work/Project 1")
        desktop.write("Work/Project 2/loose.md")
        desktop.cool()
        plain.edit_transcript(about[3])
        plain.pull_plainly()
        at_once(laptop, desktop)
        settle(machines)
        check(machines, words)
        assert not any(p.startswith("Work/") for p in laptop.notes())

        # a plane journey
        away = laptop.remote.with_name("away")
        laptop.remote.rename(away)
        laptop.save("Travel/Lisbon")
        with pytest.raises(SyncFailed):
            laptop.sync()
        assert laptop.is_offline()
        desktop.save("travel/lisbon")
        away.rename(laptop.remote)

        # deleted on one machine, edited or opened on another
        deleted = [p for p in laptop.notes() if "About" in p and p.startswith("Jobs")]
        laptop.forget_about(deleted[0])
        laptop.forget_about(deleted[1])
        desktop.append(deleted[0])
        desktop.open(deleted[1])
        at_once(laptop, desktop)
        settle(machines)
        check(machines, words)
        assert deleted[0] in laptop.notes()
        assert deleted[1] not in laptop.notes()
        assert len({p.split("/")[0].lower() for p in laptop.folders()}) == len(
            {p.split("/")[0] for p in laptop.folders()}
        )


def test_daemons_sync_by_themselves(tmp_path: Path) -> None:
    settings = {
        "NEURIGRAPH_SYNC_ENABLED": "true",
        "NEURIGRAPH_SYNC_QUIET_SECONDS": "1",
        "NEURIGRAPH_SYNC_INTERVAL_MINUTES": "1",
    }
    with network(tmp_path / "net", **settings) as (machines, words):
        laptop = machines[0]
        begun = git(laptop.remote, "rev-parse", "main")
        laptop.save("Work/Alpha")
        laptop.daemon.until(
            lambda: git(laptop.remote, "rev-parse", "main") != begun, "a push by itself"
        )
        laptop.daemon.until(lambda: laptop.condition()["state"] == "idle", "the end of it")
        settle(machines)
        check(machines, words)


@pytest.mark.parametrize("seed", range(int(os.environ.get("NEURIGRAPH_SYNC_DAYS", "1"))))
def test_any_order_of_things_with_daemons(tmp_path: Path, seed: int) -> None:
    with network(tmp_path / "net") as (machines, words):
        machines[0].save("Work/Alpha")
        settle(machines)
        dice = random.Random(seed)
        for _ in range(40):
            _do_something(dice, machines)
        settle(machines)
        check(machines, words)


def _do_something(dice: random.Random, machines: list[DaemonMachine]) -> None:
    machine = dice.choice(machines)
    topic = dice.choice(["Work/Alpha", "Work/Beta", "Home/Garden", "Home"])
    path = dice.choice(machine.notes() or [""])
    deeds = ["save", "write", "append", "change", "transcript", "move", "rename", "delete"]
    deed = dice.choice([*deeds, "forget", "cool", "open", "sync", "sync", "both"])
    if deed == "save":
        machine.save(topic)
    elif deed == "write":
        machine.write(f"{topic}/{dice.choice(['plan', 'today'])}.md")
    elif deed == "rename":
        machine.rename_folder(dice.choice(machine.folders()), dice.choice(["Jobs", "Home/Deep"]))
    elif deed == "cool":
        machine.cool()
    elif deed == "sync" and machine.name == "plain":
        machine.pull_plainly()
    elif deed == "sync":
        machine.sync()
    elif deed == "both":
        at_once(machines[0], machines[1])
    elif path:
        with suppress(FileNotFoundError):
            _do_something_with(dice, machine, path, deed, topic)


def _do_something_with(
    dice: random.Random, machine: DaemonMachine, path: str, deed: str, topic: str
) -> None:
    if deed == "append":
        machine.append(path)
    elif deed == "change":
        machine.change_line(path, dice.randrange(20))
    elif deed == "transcript":
        machine.edit_transcript(path)
    elif deed == "move":
        machine.move(path, topic)
    elif deed == "delete":
        machine.delete(path)
    elif deed == "forget":
        machine.forget_about(path)
    elif deed == "open":
        machine.open(path)
