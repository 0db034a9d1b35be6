"""What a daemon has acknowledged, and whether the vault and the daemon still have all of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from daemon_process import Daemon
from neurigraph.clock import system_clock
from neurigraph.errors import NeurigraphError
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.note import read_note
from neurigraph.vault.recall import Recall

TOPICS = ("Medical/Medications", "Medical/Diet", "Work/Plans", "Home/Garden")


def conversation(name: str, turns: int = 6) -> str:
    """A conversation that nothing else is like: `name` is a word of its own in it."""
    said = [f"## User\n\nWhat was the matter with {name}, again?\n"]
    for turn in range(turns):
        who = "Assistant" if turn % 2 == 0 else "User"
        said.append(
            f"## {who}\n\nThe {name} of step {turn} needs {turn + 2} grams of patience, a pot of "
            f"tea and another look at the notes of last week before anything is decided.\n"
        )
    return "\n".join(said)


@dataclass
class Ledger:
    """Saves through a daemon and remembers what it said. Used by several threads."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    """The transcript of each memory that the daemon said it has, by id."""
    unsure: list[str] = field(default_factory=list)
    """Transcripts that were handed in and never answered."""
    refusals: Counter[str] = field(default_factory=Counter)
    """What the daemon said instead of saving, and how often."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def save(self, http: httpx.Client, text: str, topic: str = TOPICS[0]) -> str:
        """Save one conversation; answers its id, or an empty text when it was not acknowledged."""
        broad, focused = topic.split("/")
        body = {"transcript": text, "broad_topic": broad, "focused_topic": focused}
        try:
            answer = http.post("/api/memory", json=body)
        except httpx.HTTPError:
            with self._lock:
                self.unsure.append(text)
            return ""
        if answer.status_code not in (200, 201):
            error = answer.json()["error"]
            with self._lock:
                self.refusals[f"{answer.status_code} {error['message']}"] += 1
                self.unsure.append(text)
            return ""
        saved = answer.json()
        memory_id = str(saved["id"])
        with self._lock:
            if memory_id:
                self.acknowledged[memory_id] = text
            else:
                self.refusals[f"{saved['status']} {saved['note']}"] += 1
        return memory_id

    def again(self, http: httpx.Client) -> None:
        """Hand in once more what was never answered, as a client does."""
        with self._lock:
            texts, self.unsure = self.unsure, []
        for text in texts:
            self.save(http, text)

    def faults_on_disk(self, vault: Path) -> list[str]:
        """Whatever of the acknowledged is lost, changed or doubled in the vault itself."""
        recall = Recall(VaultFiles(vault, system_clock))
        notes = Counter(memory_ids(vault))
        faults = [f"{i} has {n} notes" for i, n in notes.items() if n > 1]
        faults += [f"{i} has no note" for i in self.acknowledged if i not in notes]
        texts: Counter[str] = Counter()
        for memory_id in notes:
            try:
                text = recall.read(memory_id)
            except NeurigraphError as error:
                faults.append(f"{memory_id}: {error}")
                continue
            texts[text] += 1
            if text != self.acknowledged.get(memory_id, text):
                faults.append(f"{memory_id} holds another text")
        faults += [f"{n} memories hold: {t[:60]!r}" for t, n in texts.items() if n > 1]
        return faults

    def faults_in(self, running: Daemon, sample: int = 10) -> list[str]:
        """Whatever of the acknowledged a daemon does not serve; the last ones are searched for."""
        faults = []
        total = running.get("/api/memory", per_page=1)["total"]
        on_disk = len(set(memory_ids(running.vault)))
        strangers = sum(1 for _ in notes_of_people(running.vault))
        if total != on_disk + strangers:
            faults.append(f"serves {total} memories; the vault has {on_disk} and {strangers} notes")
        for memory_id, text in list(self.acknowledged.items())[-sample:]:
            answer = running.http.get(f"/api/memory/chunk/{memory_id}/transcript")
            if answer.status_code != 200 or answer.text != text:
                faults.append(f"{memory_id}: transcript answered with {answer.status_code}")
            word = text.split(",")[0].rpartition(" ")[2]
            found = [hit["id"] for hit in running.search(word, limit=5)]
            if memory_id not in found:
                faults.append(f"{memory_id} is not found by '{word}'")
        return faults


def memory_ids(vault: Path) -> Iterator[str]:
    """The ids that the vault's memory notes carry, once a note."""
    for path in _notes(vault):
        data = read_note(path.read_bytes()).data
        if data.get("type") == "memory":
            yield str(data.get("id"))


def notes_of_people(vault: Path) -> Iterator[Path]:
    """The notes that are not ours."""
    for path in _notes(vault):
        if read_note(path.read_bytes()).data.get("type") not in ("memory", "broad", "focused"):
            yield path


def leftovers(vault: Path) -> list[str]:
    """Temporary files of interrupted writes, which a start cleans up."""
    found = vault.rglob(".neurigraph-*.tmp")
    return [f"{p.relative_to(vault).as_posix()} was left behind" for p in found]


def _notes(vault: Path) -> Iterator[Path]:
    for path in sorted(vault.rglob("*.md")):
        parts = path.relative_to(vault).parts
        if not any(p.startswith((".", "_recall", "_inbox")) for p in parts):
            yield path
