"""The merge driver that plain `git merge` runs: `driver note|gzip BASE OURS THEIRS PATH`.

As gitattributes(5) asks for, the result goes into OURS, and the exit code says whether something
is left for a person to decide. A true conflict in a note's text gets git's own markers, since here
a person sees to it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from neurigraph.errors import NeurigraphError
from neurigraph.sync.git_process import merge_text
from neurigraph.sync.merge_files import merge_gzip
from neurigraph.sync.merge_note import merge_note
from neurigraph.vault.note import body_bytes, read_note

CONFLICT = 1


def main(arguments: Sequence[str]) -> int:
    """Merge; answers 0 when nothing is left to decide, else 1."""
    kind, base, ours, theirs, *_ = arguments
    sides = [Path(place).read_bytes() for place in (base, ours, theirs)]
    try:
        if kind == "gzip":
            merged = merge_gzip(sides[0], sides[1], sides[2], merge_text)
            if merged.conflict:
                return CONFLICT  # ours stays; a person chooses
        else:
            merged = merge_note(sides[0], sides[1], sides[2], merge_text)
    except NeurigraphError as error:
        print(f"neurigraph: {error}", file=sys.stderr)
        return CONFLICT
    data = merged.data
    if merged.conflict:
        data = _marked(sides, merged.data)
    Path(ours).write_bytes(data)
    return CONFLICT if merged.conflict else 0


def _marked(sides: list[bytes], merged: bytes) -> bytes:
    """The merged properties above the text with git's conflict markers."""
    notes = [read_note(side) for side in (*sides, merged)]
    if not all(note.writable for note in notes):
        return merge_text(sides[0], sides[1], sides[2], "")[0]
    bodies = [body_bytes(note) if note.body_start else note.raw for note in notes]
    text, clean = merge_text(bodies[0], bodies[1], bodies[2], "")
    if clean or notes[3].body_start == 0:
        return merge_text(sides[0], sides[1], sides[2], "")[0]
    return merged[: len(merged) - len(bodies[3])] + text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
