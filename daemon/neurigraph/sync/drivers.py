"""Makes our merge known to plain `git merge` in this clone, and checks that it is.

A driver that `.gitattributes` names and the clone's config does not know silently becomes a text
merge, so it is registered at every start.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from neurigraph.sync.git import Git

NOTE, GZIP = "neurigraph-note", "neurigraph-gzip"

_SAMPLES = {NOTE: "a/b.md", GZIP: "_recall/m-20260101-00000000/transcript.md.gz"}


def command(kind: str) -> str:
    """The command that git runs for a file of this kind (`note`, `gzip`).

    Where our Python is gone, git's own text merge does it, as it would without a driver.
    """
    python = shlex.quote(Path(sys.executable).as_posix())
    return (
        f"if test -x {python}; then {python} -m neurigraph.sync.driver {kind} %O %A %B %P; "
        "else git merge-file %A %O %B; fi"
    )


def register(git: Git) -> None:
    """Tell this clone's config of both drivers, where `.gitattributes` of the vault names them."""
    for name, kind in ((NOTE, "note"), (GZIP, "gzip")):
        if git.attribute("merge", _SAMPLES[name]) != name:
            continue
        wanted = {"name": f"Neurigraph {kind}", "driver": command(kind), "recursive": "text"}
        for key, value in wanted.items():
            if git.config(f"merge.{name}.{key}") != value:
                git.set_config(f"merge.{name}.{key}", value)


def is_registered(git: Git) -> bool:
    """Whether plain `git merge` in this clone would use our merge."""
    return all(
        git.attribute("merge", path) == name and bool(git.config(f"merge.{name}.driver"))
        for name, path in _SAMPLES.items()
    )
