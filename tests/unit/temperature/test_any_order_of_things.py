"""Whatever is done to a vault in whatever order: every word stays, and all of it is found."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)
from memory_vault import Vault, talk

from neurigraph.edits.memories import MemoryEdit

HOUR, WEEK, MONTH = timedelta(hours=1), timedelta(days=7), timedelta(days=30)
ROOM = 4


@dataclass
class Known:
    """What the model knows of a memory."""

    text: str
    word: str
    used: datetime
    files: dict[str, bytes]
    cold: bool = False
    deep: bool = False
    pinned: bool = False


class AnyOrder(RuleBasedStateMachine):
    memories = Bundle("memories")

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.vault = Vault(self.root)
        self.known: dict[str, Known] = {}
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "vault"):
            self.vault.close()
            shutil.rmtree(self.root)

    @rule(target=memories, file=st.binary(max_size=200), old=st.booleans())
    def save(self, file: bytes, old: bool) -> str:
        self.number += 1
        word = f"zebra{self.number}"
        files = {"data.bin": file} if old else {}
        memory = self.vault.save(word, f"T{self.number % 2}/Part", files)
        self.known[memory] = Known(talk(word), word, self.vault.clock.now, files)
        return memory

    @rule(hours=st.sampled_from([1, 25, 24 * 6, 24 * 8, 24 * 31]))
    def pass_time(self, hours: int) -> None:
        self.vault.clock.pass_time(hours=hours)

    @rule()
    def cool(self) -> None:
        now = self.vault.clock.now
        result = self.vault.memory.cool(agree=True)
        due = [k for k in self.known.values() if not k.pinned and now - k.used >= WEEK]
        deep = [k for k in due if k.files and now - k.used >= MONTH]
        assert result.problem is None
        assert result.compressed == sum(not k.cold for k in due)
        assert result.deepened == sum(not k.deep for k in deep)
        for known in due:
            known.cold = True
        for known in deep:
            known.deep = True

    @rule(memory=memories)
    def open(self, memory: str) -> None:
        known = self.known.get(memory)
        if known is not None:
            assert self.vault.open_memory(memory) == known.text
            known.used, known.cold, known.deep = self.vault.clock.now, False, False

    @rule(memory=memories, line=st.text(st.characters(codec="utf-8"), max_size=20))
    def edit_transcript_by_hand(self, memory: str, line: str) -> None:
        known = self.known.get(memory)
        if known is None or known.cold:
            return
        place = self.vault.recall(memory) / "transcript.md"
        with place.open("ab") as file:
            file.write(f"\nby hand: {known.word} {line}".encode())
        known.text = place.read_bytes().decode()
        self.vault.memory.refresh({f"_recall/{memory}/transcript.md"})
        assert self.vault.memory.wait_warm()
        known.used, known.deep = self.vault.clock.now, False

    @rule(memory=memories)
    def edit_note_by_hand(self, memory: str) -> None:
        known = self.known.get(memory)
        if known is None:
            return
        path = self.vault.card(memory).path
        with (self.vault.path / path).open("ab") as file:
            file.write(b"\n## Mine\nA line of my own.\n")
        self.vault.memory.refresh({path})
        assert self.vault.memory.wait_warm()
        known.used, known.cold, known.deep = self.vault.clock.now, False, False

    @rule(memory=memories, wanted=st.booleans())
    def pin(self, memory: str, wanted: bool) -> None:
        known = self.known.get(memory)
        if known is None:
            return
        self.vault.memory.update_memory(memory, MemoryEdit(pinned=wanted), "*")
        assert self.vault.memory.wait_warm()
        known.pinned = wanted
        if wanted:
            known.cold = known.deep = False

    @rule(memory=consumes(memories))
    def delete(self, memory: str) -> None:
        if self.known.pop(memory, None) is not None:
            self.vault.memory.delete_memory(memory, "*")

    @rule()
    def reindex(self) -> None:
        self.vault.memory.reindex()

    @rule(lose_state=st.booleans())
    def restart(self, lose_state: bool) -> None:
        self.vault.close()
        if lose_state:
            for place in self.vault.state.iterdir():
                if place.name.startswith("access"):
                    continue
                shutil.rmtree(place) if place.is_dir() else place.unlink()
        self.vault.open()

    @invariant()
    def every_word_is_there_and_found(self) -> None:
        if not hasattr(self, "vault"):
            return
        memory = self.vault.memory
        assert {c.id for c in self.vault.all()} == set(self.known)
        for memory_id, known in self.known.items():
            assert memory.transcript(memory_id, opening=False) == known.text
            for name, data in known.files.items():
                assert memory.artifact(memory_id, name) == data
            assert [h.id for h in memory.search(known.word).hits][:1] == [memory_id]
            stored = self.vault.stored(memory_id)
            assert ("transcript.md.gz" in stored) is known.cold
            assert ("transcript.md" in stored) is not known.cold
            assert ("artifacts/data.bin.gz" in stored) is known.deep
            temperature = self.vault.card(memory_id).temperature
            assert (temperature.value in ("cold", "deep-cold")) is known.cold
            if known.files and temperature.value == "deep-cold":
                assert known.deep
            if not known.cold and not known.pinned:
                hot = self.vault.clock.now - known.used < HOUR
                assert temperature.value == ("hot" if hot else "warm")
        assert memory.problems() == []


AnyOrder.TestCase.settings = settings(deadline=None, max_examples=12, stateful_step_count=14)
TestAnyOrder = AnyOrder.TestCase
