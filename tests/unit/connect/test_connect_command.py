"""`neurigraph connect` as a person runs it."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neurigraph.cli import commands
from neurigraph.session_hooks import keep, read_hook


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "Notes").mkdir(parents=True)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("NEURIGRAPH_VAULT", str(home / "Notes"))
    return home


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(commands, words)
    assert done.exit_code == code, done.output
    return done


def files(home: Path) -> dict[str, bytes]:
    return {p.relative_to(home).as_posix(): p.read_bytes() for p in home.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("client", "place"),
    [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("gemini-cli", ".gemini/settings.json"),
    ],
)
def test_connecting_adds_an_entry_and_disconnecting_takes_it_out(
    home: Path, client: str, place: str
) -> None:
    before = '{\n    "theme": "dark", // mine\n    "mcpServers": {\n        "x": {}\n    }\n}\n'
    config = home / place
    config.parent.mkdir(exist_ok=True)
    config.write_text(before, "utf-8")
    config.chmod(0o600)
    said = run("connect", client).output
    assert str(config) in said
    [backup] = config.parent.glob(f"{config.name}.*.backup")
    assert backup.read_text("utf-8") == before
    assert (backup.stat().st_mode & 0o777, config.stat().st_mode & 0o777) == (0o600, 0o600)
    text = config.read_text("utf-8")
    assert text.startswith(before[:-12])
    assert "neurigraph" in text
    assert str(home / "Notes") in text
    assert "nothing to change" in run("connect", client).output
    assert len(list(config.parent.glob("*.backup"))) == 1
    run("connect", client, "--remove")
    assert config.read_text("utf-8") == before
    assert "nothing to change" in run("connect", client, "--remove").output


def test_the_entry_starts_this_very_program_for_that_vault(home: Path) -> None:
    run("connect", "cursor", "--scope", "Work")
    entry = json.loads((home / ".cursor/mcp.json").read_text("utf-8"))["mcpServers"]["neurigraph"]
    command = [entry["command"], *entry["args"]]
    assert command[-4:] == ["mcp", str(home / "Notes"), "--scope", "Work"]
    assert Path(command[0]).is_absolute()
    assert command[0] == sys.executable or Path(command[0]).name.startswith("neurigraph")


def test_codex_gets_toml_with_patience(home: Path) -> None:
    (home / ".codex").mkdir()
    config = home / ".codex/config.toml"
    config.write_text('model = "gpt-5"  # mine\n', "utf-8")
    run("connect", "codex")
    entry = tomllib.loads(config.read_text("utf-8"))["mcp_servers"]["neurigraph"]
    assert entry["startup_timeout_sec"] == 60
    run("connect", "codex", "--remove")
    assert config.read_text("utf-8") == 'model = "gpt-5"  # mine\n'


def test_print_writes_nothing(home: Path) -> None:
    said = run("connect", "claude-code", "--hooks", "--print").output
    assert '+    "neurigraph": {' in said
    assert "hook recall" in said
    assert files(home) == {}


@pytest.mark.parametrize(("client", "event"), [("claude-code", "SessionEnd"), ("codex", "Stop")])
def test_hooks_and_rules_come_when_asked_for_and_go(home: Path, client: str, event: str) -> None:
    folder = home / (".claude" if client == "claude-code" else ".codex")
    rules = folder / ("CLAUDE.md" if client == "claude-code" else "AGENTS.md")
    hooks = folder / ("settings.json" if client == "claude-code" else "hooks.json")
    folder.mkdir()
    rules.write_text("Be kind.\n", "utf-8")
    hooks.write_text('{"permissions": {}}\n', "utf-8")
    run("connect", client)
    assert rules.read_text("utf-8") == "Be kind.\n"
    run("connect", client, "--hooks")
    assert "search_memory" in rules.read_text("utf-8")
    found = json.loads(hooks.read_text("utf-8"))["hooks"]
    assert set(found) == {"SessionStart", event}
    assert f"--vault {home / 'Notes'}" in found[event][0]["hooks"][0]["command"]
    run("connect", client, "--remove")
    assert rules.read_text("utf-8") == "Be kind.\n"
    assert hooks.read_text("utf-8") == '{"permissions": {}}\n'


def test_a_linked_configuration_stays_a_link(home: Path) -> None:
    (home / "dotfiles").mkdir()
    real = home / "dotfiles/claude.json"
    real.write_text("{}\n", "utf-8")
    (home / ".claude.json").symlink_to(real)
    run("connect", "claude-code")
    assert (home / ".claude.json").is_symlink()
    assert "neurigraph" in real.read_text("utf-8")


def test_what_cannot_be_read_is_left_alone_and_said(home: Path) -> None:
    config = home / ".claude.json"
    config.write_text('{"mcpServers": {\n  oops', "utf-8")
    said = run("connect", "claude-code", code=1).output
    assert said.count("\n") == 1
    assert "line 2" in said
    assert config.read_text("utf-8") == '{"mcpServers": {\n  oops'
    assert "choose claude-desktop, claude-code" in run("connect", "emacs", code=2).output
    assert "has no hooks" in run("connect", "cursor", "--hooks", code=2).output


def test_what_cannot_be_read_or_written_is_said_in_words(home: Path) -> None:
    place = home / ".cursor/mcp.json"
    place.parent.mkdir()
    place.write_text('{"a": 1}', "utf-16")
    assert "it is not written in UTF-8" in run("connect", "cursor", code=1).output
    place.unlink()
    place.mkdir()
    assert "left as it is: Is a directory; mend it" in run("connect", "cursor", code=1).output
    place.rmdir()
    (home / "file").write_text("x", "utf-8")
    place.symlink_to(home / "file/below/mcp.json")
    said = run("connect", "cursor", code=1).output
    assert (said.count("\n"), "Errno" in said, "Not a directory" in said) == (1, False, True)


def test_every_backup_stays_even_of_the_same_second(home: Path) -> None:
    config = home / ".claude.json"
    config.write_text('{"theme": "dark"}', "utf-8")
    for _ in range(3):
        run("connect", "claude-code")
        run("connect", "claude-code", "--remove")
    kept = [p.read_text("utf-8") for p in home.glob(".claude.json.*.backup")]
    assert len(kept) == 6
    assert '{"theme": "dark"}' in kept


def test_a_hook_that_hears_nothing_of_use_does_nothing(home: Path) -> None:
    assert read_hook("no json") == read_hook("[1]") == read_hook("") == {}
    assert not keep(["neurigraph"], {}, [])
    assert not keep(["neurigraph"], {"transcript_path": None}, [])
    assert not keep(["neurigraph"], {"transcript_path": str(home / "gone.jsonl")}, [])


def test_the_log_of_a_session_is_handed_to_the_import(home: Path) -> None:
    log = home / "session.jsonl"
    log.write_text("{}\n", "utf-8")
    heard = home / "heard"
    script = f"import sys; open({str(heard)!r}, 'w').write(repr(sys.argv[1:]))"
    program = [sys.executable, "-c", script]
    importing = keep(program, {"transcript_path": str(log)}, ["--vault", "/v"])
    assert importing is not None
    assert importing.wait(timeout=30) == 0
    assert heard.read_text() == repr(["import", str(log), "--vault", "/v"])
