"""Run as a program: kills a process at every step of a cycle or an opening, and starts anew.

For each step a child process works on a copy of the vault and is ended there as by kill -9. Then
the vault is opened again and everything must be as it was. Prints the names of the steps.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from memory_vault import START, SetClock, Vault, talk

WORDS = ("harbour lights", "a quiet garden")
FILES = {"plan.txt": b"the plan, in full " * 60}
KILLED = 77


def clock(days: float) -> SetClock:
    found = SetClock(START)
    found.pass_time(days=days)
    return found


def prepare(root: Path, cold: bool) -> dict[str, str]:
    """A vault with two memories; ids and their transcripts."""
    vault = Vault(root)
    ids = {vault.save(words, f"A/{words}", FILES): talk(words) for words in WORDS}
    vault.memory.connect(f"A/{WORDS[0]}", f"A/{WORDS[1]}", weight=0.9)
    if cold:
        vault.clock.pass_time(days=40)
        assert vault.memory.cool().compressed == 2
    vault.close()
    return ids


def cool(vault: Vault, _: str) -> None:
    vault.memory.cool()


def open_one(vault: Vault, memory_id: str) -> None:
    vault.open_memory(memory_id)


def work(root: Path, job: Callable[[Vault, str], None], memory_id: str, at: int) -> None:
    """In a child: do the job, and die at step number `at`."""
    vault = Vault(root, clock(41))
    lock, count = threading.Lock(), 0

    def step(name: str) -> None:
        nonlocal count
        with lock:
            count += 1
            if count == at:
                os.write(1, f"{name}\n".encode())
                os._exit(KILLED)

    files = vault.memory._store.files
    files.on_step = step
    job(vault, memory_id)
    vault.close()
    os._exit(0)


def check(root: Path, ids: dict[str, str], job: Callable[[Vault, str], None]) -> None:
    """After a restart everything is there, once, and the work can be done to its end."""
    vault = Vault(root, clock(41))
    for memory_id, text in ids.items():
        assert vault.memory.transcript(memory_id, opening=False) == text
        for name, data in FILES.items():
            assert vault.memory.artifact(memory_id, name) == data
        assert len(vault.stored(memory_id)) == 2, vault.stored(memory_id)
        assert vault.memory.search(text.split("about ")[1].split(".")[0]).hits[0].id == memory_id
    assert vault.memory.problems() == []
    assert sorted(vault.card(i).title for i in ids) == sorted(WORDS)
    job(vault, next(iter(ids)))
    vault.memory.cool()
    for memory_id, text in ids.items():
        assert vault.memory.transcript(memory_id, opening=False) == text
        note, stored = vault.note(memory_id), vault.stored(memory_id)
        packed = "transcript.md.gz" in stored
        assert note["temperature"] in (("cold", "deep-cold") if packed else ("hot", "warm"))
        assert note["transcript"].startswith("[[") is not packed
    vault.close()


def main(place: Path, which: str) -> None:
    job = {"cool": cool, "open": open_one}[which]
    ids = prepare(place / "first", cold=which == "open")
    at, ended = 0, KILLED
    while ended == KILLED:
        at += 1
        root = place / f"step {at}"
        shutil.copytree(place / "first", root)
        child = os.fork()
        if child == 0:
            work(root, job, next(iter(ids)), at)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert ended in (KILLED, 0), f"step {at} ended with {ended}"
        tester = os.fork()
        if tester == 0:
            try:
                check(root, ids, job)
            except BaseException:  # noqa: BLE001  # a forked child must end here
                os.write(2, traceback.format_exc().encode())
                os._exit(1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(tester, 0)[1]) == 0, f"after step {at}"
        shutil.rmtree(root)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
