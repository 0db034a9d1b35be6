"""Reads what a person types into the search box; every text means something.

lisinopril dose            words; the more of them a memory has, the better
"blood pressure"           a phrase that must be there
-diet  -"low salt"         must not be there
topic:Medical/Medications  model:claude  tag:health  keyword:"blood pressure"   filters,
                           which a leading minus turns around
after:2026-03  before:2026-04-15  on:yesterday           bounds on the date
what did we say in March?  raises memories of that time
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from neurigraph.search.dates import Time, is_time_alone, span_of, times_in

MAX_CHARS = 2_000
"""Characters of a query that are read; whatever follows is ignored."""

MAX_WORDS = 48
"""Different words that are looked for."""

MAX_CLAUSES = 16
"""Phrases, exclusions and filters that are heeded."""

FilterField = Literal["topic", "model", "tag", "keyword"]

_FIELDS: dict[str, FilterField] = {
    "topic": "topic",
    "model": "model",
    "tag": "tag",
    "keyword": "keyword",
    "keywords": "keyword",
}
_BOUNDS = ("after", "before", "on")


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one property of a memory, as typed."""

    field: FilterField
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for. `text` is the free text that remains, phrases included, without quotes;
    `words` are its different words. `first` and `last` bound the date, both included; `times`
    only raise, unless there is nothing else (`only_times`): then those memories are asked for."""

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    first: date | None = None
    last: date | None = None
    times: tuple[Time, ...] = ()
    only_times: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at all to look for."""
        return not (
            self.words or self.phrases or self.without or self.filters or self.first or self.last
        )


_CLAUSE = re.compile(
    r"""
    (?P<minus>(?<!\S)-)?
    (?:
        (?:(?<!\S)|(?<=-)) (?P<field>[A-Za-z]+) : (?: "(?P<quoted>[^"]*)" | (?P<bare>[^\s"]+) )
      | "(?P<phrase>[^"]*)"
      | (?P<word>[^\s"]+)
      | (?P<stray>")
    )
    """,
    re.VERBOSE,
)
_WORDLIKE = re.compile(r"\w")
_TYPOGRAPHIC = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "\0": " "})


def read_query(text: str, now: datetime) -> Query:
    """What a text asks for. Never raises; of a very long text the beginning counts."""
    today = now.astimezone().date()
    free: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    filters: list[Filter] = []
    first: date | None = None
    last: date | None = None
    for clause in _CLAUSE.finditer(text[:MAX_CHARS].translate(_TYPOGRAPHIC)):
        minus, field = bool(clause["minus"]), (clause["field"] or "").lower()
        value = clause["quoted"] if clause["quoted"] is not None else clause["bare"] or ""
        value = value.strip()
        clauses = len(phrases) + len(without) + len(filters)
        if field in _FIELDS and value and clauses < MAX_CLAUSES:
            filters.append(Filter(_FIELDS[field], value, minus))
        elif field in _BOUNDS and not minus and (span := span_of(value, today)):
            if field != "before":
                first = span.first
            if field != "after":
                last = span.last if field == "on" else _day_before(span.first)
        elif clause["phrase"] is not None:
            phrase = " ".join(clause["phrase"].split())
            if not _WORDLIKE.search(phrase) or clauses >= MAX_CLAUSES:
                free.append(phrase)
            elif minus:
                without.append(phrase)
            else:
                phrases.append(phrase)
                free.append(phrase)
        elif minus and clause["word"] and clause["word"][0].isalpha() and clauses < MAX_CLAUSES:
            without.append(clause["word"])
        elif clause["stray"] is None:
            free.append(clause.group().lstrip("-"))
    plain = " ".join(part for part in free if part)
    words = dict.fromkeys(w for w in plain.split() if _WORDLIKE.search(w))
    times = times_in(plain, today)
    return Query(
        plain,
        tuple(words)[:MAX_WORDS],
        tuple(dict.fromkeys(phrases)),
        tuple(dict.fromkeys(without)),
        tuple(dict.fromkeys(filters)),
        first,
        last,
        times,
        bool(times) and not phrases and is_time_alone(plain),
    )


def _day_before(day: date) -> date:
    return day - timedelta(days=1) if day > date.min else day
