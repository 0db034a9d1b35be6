"""The loop that every reader of many conversations shares: a bad one never stops the rest."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from neurigraph.importers.fields import first_text, mapping
from neurigraph.importers.source import Failed, Reading
from neurigraph.importers.stream import Broken
from neurigraph.model import Conversation

_log = logging.getLogger(__name__)


def each(
    values: Iterable[Any | Broken],
    reading: Reading,
    convert: Callable[[dict[str, Any]], Conversation | Failed | None],
) -> Iterator[Conversation | Failed]:
    """Convert one value after another; what cannot be converted becomes `Failed`."""
    for number, value in enumerate(values, 1):
        if isinstance(value, Broken):
            where = reading.name if value.ended else f"{reading.name}, conversation {number}"
            yield Failed(where, value.reason)
            continue
        if not isinstance(value, dict):
            yield Failed(f"{reading.name}, conversation {number}", "it is not an object")
            continue
        item = guarded(value, f"{reading.name}, conversation {number}", convert)
        if item is not None:
            yield item


def guarded(
    value: dict[str, Any],
    name: str,
    convert: Callable[[dict[str, Any]], Conversation | Failed | None],
) -> Conversation | Failed | None:
    """Convert one value; any error in it becomes `Failed`."""
    try:
        return convert(value)
    except Exception as error:  # noqa: BLE001 - foreign data; the loop must survive each of them
        # neither message nor traceback: both may hold text of the conversation
        _log.warning("%s could not be read: %s", name, type(error).__name__)
        known = first_text(mapping(value), "title", "name", "id", "uuid")
        return Failed(
            " ".join(known.split())[:300] or name,
            f"it is laid out in an unknown way ({type(error).__name__})",
        )
