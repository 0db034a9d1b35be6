"""However the daemon is asked to end, it ends as one that did its work."""

import signal
from pathlib import Path

import pytest

from daemon_process import PATIENCE, daemon


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_closed_terminal_ctrl_c_and_a_stop_all_end_it_cleanly(
    tmp_path: Path, number: signal.Signals
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("walrus\n", "utf-8")
    with daemon(vault, tmp_path / "state", NEURIGRAPH_INDEX_EMBEDDER="none") as running:
        running.ready(vectors=False)
        running.http.close()
        running.process.send_signal(number)
        assert running.process.wait(timeout=PATIENCE) == 0
    assert not list((tmp_path / "state").glob("*/daemon.json"))
