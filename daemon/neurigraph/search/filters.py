"""Which memories a query may answer at all: its filters, its dates and the scope it is asked in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime

from neurigraph.index.keyword import tokens
from neurigraph.search.library import Card
from neurigraph.search.query import Filter, Query


def is_filtered(query: Query) -> bool:
    """Whether the query names conditions beside its words."""
    return bool(query.filters or query.first or query.last)


def allowed(query: Query, cards: Iterable[Card], within: Collection[str] | None) -> dict[str, Card]:
    """The memories that fit all conditions and are in scope, by id."""
    scope = None if within is None else frozenset(within)
    return {
        card.id: card for card in cards if (scope is None or card.id in scope) and fits(query, card)
    }


def fits(query: Query, card: Card) -> bool:
    """Whether a memory meets the conditions of a query; its words do not matter here."""
    if query.first or query.last:
        if card.created is None:
            return False
        day = card.created.astimezone().date()
        if (query.first and day < query.first) or (query.last and day > query.last):
            return False
    return all(_fits(f, card) != f.negated for f in query.filters)


def _fits(condition: Filter, card: Card) -> bool:
    wanted = condition.value.casefold()
    if condition.field == "topic":
        topic = wanted.strip("/")
        names = (card.broad.casefold(), card.focused.casefold())
        return topic in (*names, "/".join(names)) or f"{'/'.join(names)}/".startswith(topic + "/")
    if condition.field == "model":
        return wanted in card.source_model.casefold()
    if condition.field == "tag":
        tag = wanted.lstrip("#")
        return any(t.casefold() == tag or t.casefold().startswith(tag + "/") for t in card.tags)
    same = tokens(wanted)
    return any(k.casefold() == wanted or tokens(k) == same for k in (*card.keywords, *card.tags))


def newest_first(cards: Iterable[Card]) -> list[Card]:
    """By date, the undated last, equals by id."""
    long_ago = datetime.min.replace(tzinfo=UTC)
    by_id = sorted(cards, key=lambda card: card.id)
    return sorted(by_id, key=lambda card: card.created or long_ago, reverse=True)
