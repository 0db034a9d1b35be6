"""Who says it: what a person that the question is about says counts more than what others say.

"What did Caroline research?" is answered by Caroline, though Melanie may talk of it. In a
conversation with an AI, "I" in a question is the user, and "you" the assistant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neurigraph.index.keyword import Marked, tokens
from neurigraph.search.words import Wanted

Flags = NDArray[np.bool_]

OTHERS = 0.5
"""What a word counts that somebody else says."""

LEAST_TURNS = 3
LEAST_SHARE = 0.15
"""How often, and in which share of the lines, a name must stand first to be taken for a speaker."""


def _terms(words: str) -> frozenset[str]:
    return frozenset(term for word in words.split() for term in tokens(word))


FIRST_PERSON, SECOND_PERSON = _terms("i me my mine we us our"), _terms("you your yours")
USER, ASSISTANT = _terms("user human"), _terms("assistant chatgpt claude gemini")
"""How turns of a conversation with an AI are headed. ("You" opens too many other lines.)"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a query is about: terms that may name a speaker, and those that head turns anyway."""

    names: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()


def whom_asked_about(wanted: Wanted) -> Asked:
    """The terms by which a speaker is known whom a query may be about."""
    asked = {term.term for term in wanted.terms}
    names = frozenset(t.term for t in wanted.terms if t.content and t.weight == 1)
    about_user = bool(asked & FIRST_PERSON)
    if about_user == bool(asked & SECOND_PERSON):
        return Asked(names)
    return Asked(names | (USER if about_user else ASSISTANT), USER | ASSISTANT)


def shares_of_speakers(
    marked: Marked, is_name: Flags, is_role: Flags
) -> NDArray[np.float64] | None:
    """What each occurrence counts by who says it, or None where nobody asked about speaks.

    `is_name` and `is_role` say of each term whether it is one of `Asked`. A speaker is a role, or
    a name that opens many lines; a turn lasts until the next speaker.
    """
    lines = marked.lines()
    if len(lines) < LEAST_TURNS:
        return None
    first = np.zeros(marked.length, bool)
    first[lines] = True
    opening = first[marked.positions]
    at, which = marked.positions[opening], marked.terms[opening]
    named = is_name[which]
    spoken = which[named]
    if not (np.bincount(spoken) >= LEAST_TURNS).any() and not is_role[spoken].any():
        return None  # nobody asked about opens lines often enough
    _, number, counts = np.unique(marked.openers(), return_inverse=True, return_counts=True)
    often = (counts >= LEAST_TURNS) & (counts >= LEAST_SHARE * len(lines))
    speaking = often[number]
    speaking[np.searchsorted(lines, at[is_role[which]])] = True
    asked = np.zeros(len(lines), bool)
    asked[np.searchsorted(lines, at[named])] = True
    asked &= speaking
    if not asked.any() or asked[speaking].all():
        return None
    turn = np.maximum.accumulate(np.where(speaking, np.arange(len(lines)), -1))
    line = np.searchsorted(lines, marked.positions, "right") - 1
    of_line = np.where(turn >= 0, asked[np.maximum(turn, 0)], True)
    return np.where(of_line[np.maximum(line, 0)], 1.0, OTHERS)
