"""One sentence in a long conversation is found by a question that says it differently.

Each question shares a word or two with its sentence; where none is shared, the small model that
needs no download finds about half among the first ten.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from neurigraph.clock import system_clock
from neurigraph.memory import Memory
from neurigraph.model import Conversation
from neurigraph.settings import Settings

FACTS = """
My sister's wedding was moved to the second Saturday of June.
    When does my sister marry?
The landlord agreed to replace the boiler before winter.
    What did the owner of the flat promise about the boiler?
I decided to write the parser by hand instead of using a generator.
    Why is there no parser generator in the project?
The vet said that the cat has a kidney disease and needs a special diet.
    What illness does our pet have?
We lost the deposit because the car had a scratch on the left door.
    Why was the money for the rental car not given back?
Grandfather worked as a watchmaker in Geneva until 1961.
    What was my grandfather's job?
The oven runs twenty degrees too hot, so I lower every recipe.
    Why do I bake at a lower temperature than recipes say?
Our database is backed up to the office server at three every night.
    At what time does the backup of the database run?
I am allergic to penicillin, as the hospital found out in Lisbon.
    Which antibiotic am I allergic to?
The violin teacher recommends thicker strings for the cold room.
    What advice did I get about strings for my instrument?
The insurance pays for physiotherapy, but only for ten sessions.
    How many physiotherapy appointments are covered?
Marta prefers to be called by her second name, Ines.
    By which name does Marta want to be addressed?
The train to Bergen was the most beautiful part of the trip.
    What did I like best about travelling in Norway by rail to Bergen?
We chose oak for the shelves since pine bends under the books.
    Which wood are the bookshelves made of?
The contract can be cancelled until the end of October without a fee.
    By which date can I get out of the contract for free?
The tomatoes died of blight after the wet July.
    What killed the plants in the vegetable bed, the tomatoes?
My blood test showed too little iron, so I take tablets in the morning.
    Which supplement do I need because of the blood values?
The new manager wants a report every Friday instead of meetings.
    What did my boss change about our weekly meetings?
The password manager was moved to a machine in the basement.
    Where does the password manager run now?
I promised Jonas to return his tent before the festival in August.
    Whose tent do I have to give back this summer?
""".strip().splitlines()
"""Each fact with its question on the line below."""

TALK = """
We compared several options and wrote down what each of them costs
In the end it is a question of how much time there is
The first idea looks simple, yet it needs more care later
I would begin with a small step and see how far it leads
Please explain that again with an example
Of course: think of a shelf with many boxes, each with a label
That helps, thank you
What should I read next about this? There is a chapter that goes deeper, and a talk that is shorter
Let us make a list of open points for the next time
The weather was fine and we walked along the river
A friend asked the same thing last year and was content with the answer
It depends on the number of people and on how often they come
Perhaps we should measure it first and decide afterwards
I am not sure whether this is the right order
Both ways are possible, and neither is wrong.
""".strip().splitlines()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "vault").mkdir()
    (tmp_path / "state").mkdir()
    found = Memory(tmp_path / "vault", tmp_path / "state", Settings(), system_clock)
    found.open()
    found.catch_up()
    yield found
    found.close()


def conversation(chance: random.Random, fact: str) -> str:
    """A few thousand words of talk with one sentence that matters somewhere in it."""
    turns = [". ".join(chance.choices(TALK, k=9)) + "." for _ in range(40)]
    turns[chance.randrange(40)] += f" {fact} " + ". ".join(chance.choices(TALK, k=2)) + "."
    speakers = ("User", "Assistant")
    return "\n\n".join(f"## {speakers[i % 2]}\n\n{turn}" for i, turn in enumerate(turns)) + "\n"


def test_twenty_facts_come_among_the_first_three_by_questions_in_other_words(
    memory: Memory,
) -> None:
    chance = random.Random(11)
    ids = {
        fact: memory.save(Conversation(content=conversation(chance, fact), title=f"Talk {n}")).id
        for n, fact in enumerate(FACTS[::2])
    }
    for n in range(60):
        plain = conversation(chance, "Nothing else happened that day.")
        memory.save(Conversation(content=plain, title=f"Small talk {n}"))
    memory.wait_warm(120)
    missed = {
        question: [hit.title for hit in memory.search(question.strip()).hits[:3]]
        for fact, question in zip(FACTS[::2], FACTS[1::2], strict=True)
        if ids[fact] not in [hit.id for hit in memory.search(question).hits[:3]]
    }
    assert not missed
