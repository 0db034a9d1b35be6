"""The daemon with faults that are switched on from outside, where the machine cannot have them.

`FAULT_CLOCK` names a file: the seconds in it are added to the daemon's clock.
`FAULT_DISK_FULL` names a file: while it is there, no new file gets its bytes onto the disk.
"""

from __future__ import annotations

import errno
import os
from datetime import datetime, timedelta
from pathlib import Path

from neurigraph import serving
from neurigraph.clock import system_clock
from neurigraph.temperature import climate
from neurigraph.vault import disk

PROGRAM = (__file__,)
"""What Python runs instead of `-m neurigraph`."""


def jumping_clock(place: Path) -> None:
    """Let the daemon's clock be ahead by as many seconds as the file says."""

    def clock() -> datetime:
        try:
            return system_clock() + timedelta(seconds=float(place.read_text("ascii")))
        except (FileNotFoundError, ValueError):
            return system_clock()

    serving.system_clock = clock
    # this room asks whether it is the machine's own clock that it is given
    climate.system_clock = clock


def full_disk(place: Path) -> None:
    """While the file is there the disk takes half of each new file and no more."""
    usual = disk.write_new

    def write_new(full: Path, data: bytes, mode: int | None) -> None:
        if not place.exists():
            usual(full, data, mode)
            return
        usual(full, data[: len(data) // 2], mode)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(full))

    disk.write_new = write_new


def main() -> None:
    """Take the faults from the environment, then be the command line."""
    from neurigraph.cli import main as command_line

    if clock := os.environ.get("FAULT_CLOCK"):
        jumping_clock(Path(clock))
    if full := os.environ.get("FAULT_DISK_FULL"):
        full_disk(Path(full))
    command_line()


if __name__ == "__main__":
    main()
