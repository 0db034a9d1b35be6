"""What the command line says to words that it does not know."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from neurigraph.cli import commands


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nope"], "neurigraph: No such option '--nope' (see: neurigraph --help)"),
        (["blub"], "neurigraph: No such command 'blub' (see: neurigraph --help)"),
        (["sync", "nope"], "neurigraph: No such command 'nope' (see: neurigraph sync --help)"),
        (["import"], "neurigraph: Missing argument 'PATH' (see: neurigraph import --help)"),
        (["search", "--limit", "many", "x"], "(see: neurigraph search --help)"),
    ],
)
def test_wrong_words_get_one_line_and_exit_code_2(words: list[str], said: str) -> None:
    answer = CliRunner().invoke(commands, words, prog_name="neurigraph")
    assert answer.exit_code == 2
    assert said in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
