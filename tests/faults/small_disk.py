"""A disk of a few megabytes that can be filled to the last byte."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from faults.faulty_daemon import PROGRAM

MEGABYTES = 3


@dataclass(frozen=True)
class SmallDisk:
    """`vault` lies on it. A daemon is started with `program` and `settings`."""

    vault: Path
    filler: Path
    real: bool
    program: Sequence[str] = ("-m", "neurigraph")
    settings: Mapping[str, str] = field(default_factory=dict)

    def fill(self) -> None:
        """Leave no room at all."""
        if not self.real:
            self.filler.touch()
            return
        with self.filler.open("wb", buffering=0) as file:
            for size in (65_536, 512, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue

    def free(self) -> None:
        """Leave room again."""
        self.filler.unlink()


@contextmanager
def small_disk(place: Path) -> Iterator[SmallDisk]:
    """A real one where disks can be mounted, else a daemon that is told that its disk is full."""
    root = place / "disk"
    root.mkdir()
    mounted = sys.platform == "linux" and os.geteuid() == 0 and _mount(root)
    vault = root / "vault"
    vault.mkdir()
    filler = root / "filler"
    try:
        if mounted:
            yield SmallDisk(vault, filler, real=True)
        else:
            yield SmallDisk(vault, filler, False, PROGRAM, {"FAULT_DISK_FULL": str(filler)})
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(root)], check=True)


def _mount(root: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "neurigraph-test", str(root)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
