"""The power fails at every single step of compressing and unpacking: nothing is ever lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("which", ["cool", "open"])
def test_every_transcript_is_byte_identical_after_a_kill_at_any_step(
    which: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "killed_while_cooling.py"), str(tmp_path), which],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    steps = done.stdout.split("\n")
    assert len(steps) > 30
    assert {"start", "written", "checked", "in place", "compared for removal", "removed"} <= set(
        steps
    )
