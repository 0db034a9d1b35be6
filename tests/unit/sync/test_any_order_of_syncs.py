"""Three machines, and people who do anything in any order: no text is ever lost.

`NEURIGRAPH_SYNC_EXAMPLES=200` runs it for as long as one likes.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from neurigraph.errors import NeurigraphError
from sync_machines import Machine, check, network, settle

EXAMPLES = int(os.environ.get("NEURIGRAPH_SYNC_EXAMPLES", "8"))

who = st.integers(0, 2)
which = st.integers(0, 50)
topics = st.sampled_from(["Work/Alpha", "Work/Beta", "Home/Garden", "work/alpha", "Home"])
names = st.sampled_from(["plan.md", "today.md", "Ideas.md"])
deeds = st.sampled_from(
    ["append", "change", "transcript", "cool", "open", "move", "rename", "delete", "forget"]
)
renamed = st.sampled_from(["Projects", "Work", "Home", "Work/Gamma", "Home/Alpha"])


class AnyOrder(RuleBasedStateMachine):
    """What people and AIs do on three machines that share a vault."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self.machines, self.words = self._stack.enter_context(
            network(folder, ("laptop", "desktop", "plain"))
        )
        self._remote = self.machines[0].remote

    def note(self, machine: Machine, number: int) -> str | None:
        """Some note of a machine."""
        notes = machine.notes()
        return notes[number % len(notes)] if notes else None

    @initialize()
    def begin(self) -> None:
        """There is something to begin with."""
        first = self.machines[0]
        first.save("Work/Alpha")
        first.save("Home/Garden")
        first.write("Work/Beta/plan.md")
        settle(self.machines)

    @rule(who=who, topic=topics)
    def save(self, who: int, topic: str) -> None:
        """An AI saves a conversation."""
        self.machines[who].save(topic)

    @rule(who=who, topic=topics, name=names)
    def write(self, who: int, topic: str, name: str) -> None:
        """A person writes a note."""
        self.machines[who].write(f"{topic}/{name}")

    @rule(who=who, number=which, line=which, kind=st.sampled_from(["append", "change", "delete"]))
    def edit(self, who: int, number: int, line: int, kind: str) -> None:
        """A person edits a note."""
        machine = self.machines[who]
        if path := self.note(machine, number):
            if kind == "append":
                machine.append(path)
            elif kind == "change":
                machine.change_line(path, line)
            else:
                machine.delete_line(path, line)

    @rule(who=who, number=which)
    def edit_transcript(self, who: int, number: int) -> None:
        """A person edits a transcript."""
        if path := self.note(self.machines[who], number):
            self.machines[who].edit_transcript(path)

    @rule(who=who, number=which, topic=topics)
    def move(self, who: int, number: int, topic: str) -> None:
        """A person moves a note."""
        if path := self.note(self.machines[who], number):
            self.machines[who].move(path, topic)

    @rule(who=who, number=which, new=renamed)
    def rename_folder(self, who: int, number: int, new: str) -> None:
        """A person renames a folder."""
        folders = self.machines[who].folders()
        if folders:
            self.machines[who].rename_folder(folders[number % len(folders)], new)

    @rule(who=who, number=which, through_us=st.booleans())
    def delete(self, who: int, number: int, through_us: bool) -> None:
        """A person deletes a note."""
        machine = self.machines[who]
        if path := self.note(machine, number):
            machine.forget_about(path) if through_us else machine.delete(path)

    @rule(who=who)
    def cool(self, who: int) -> None:
        """A month goes by."""
        self.machines[who].cool()

    @rule(who=who, number=which)
    def open(self, who: int, number: int) -> None:
        """A memory is opened."""
        if path := self.note(self.machines[who], number):
            self.machines[who].open(path)

    @rule(who=who, other=who, number=which, first=deeds, second=deeds, topic=topics)
    def disagree(
        self, who: int, other: int, number: int, first: str, second: str, topic: str
    ) -> None:
        """Two machines do something with one note, without having heard of each other."""
        here, there = self.machines[who], self.machines[other]
        both = sorted({*here.notes()} & {*there.notes()})
        if who == other or not both:
            return
        path = both[number % len(both)]
        for machine, deed in ((here, first), (there, second)):
            if deed == "append":
                machine.append(path)
            elif deed == "change":
                machine.change_line(path, number)
            elif deed == "transcript":
                machine.edit_transcript(path)
            elif deed == "cool":
                machine.cool()
            elif deed == "open":
                machine.open(path)
            elif deed == "move":
                machine.move(path, topic)
            elif deed == "rename":
                folder = path.partition("/")[0]
                machine.rename_folder(folder, f"{folder} {machine.name}")
            elif deed == "delete":
                machine.delete(path)
            else:
                machine.forget_about(path)

    @rule(who=st.integers(0, 1))
    def sync(self, who: int) -> None:
        """One machine syncs."""
        self.machines[who].sync()

    @rule(who=st.integers(0, 1))
    def sync_offline(self, who: int) -> None:
        """One machine tries to sync without a network."""
        away = self._remote.with_name("away")
        self._remote.rename(away)
        with suppress(NeurigraphError):
            self.machines[who].sync()
        away.rename(self._remote)
        assert self.machines[who].is_offline()

    @rule()
    def pull_plainly(self) -> None:
        """The third machine merges by hand, with plain git."""
        self.machines[2].pull_plainly()

    def teardown(self) -> None:
        """Everybody syncs, and nothing is lost."""
        try:
            settle(self.machines)
            check(self.machines, self.words)
        finally:
            self._stack.close()


def test_no_text_is_lost_whatever_is_done_in_whatever_order() -> None:
    run_state_machine_as_test(
        AnyOrder,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
