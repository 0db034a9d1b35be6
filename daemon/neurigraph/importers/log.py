"""The records of a log of JSON Lines, as it grows: bounded lines, the half-written last one
left for later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from neurigraph.importers.source import Failed, Reading
from neurigraph.importers.stream import lines


def records(stream: BinaryIO, reading: Reading) -> Iterator[dict[str, Any] | Failed]:
    """Each object of the log, in order.

    A line over the bound is `Failed`; whether to go on is for the reader. Lines that are no JSON
    or nested too deeply are counted in `skipped`. The last line, when it lacks its line break, is
    still being written and is left out quietly.
    """
    for line in lines(stream, reading.bounds.line):
        where = f"{reading.name}, line {line.number}"
        if line.data is None:
            yield Failed(where, f"the line has {line.size // 10**6} MB and was left out")
            continue
        if not line.data.strip():
            continue
        try:
            value = json.loads(line.data.decode("utf-8-sig", "replace"), strict=False)
        except RecursionError:
            reading.skipped["line nested too deeply"] += 1
            continue
        except ValueError:
            if line.ended:
                reading.skipped["damaged line"] += 1
            continue
        if isinstance(value, dict):
            yield value
        else:
            reading.skipped["line that is no object"] += 1
