"""Each client's configuration is looked for where that client keeps it, on every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from neurigraph.connect.change import Aim, quoted
from neurigraph.connect.clients import CLIENTS, Machine, System

HOMES: Mapping[System, Mapping[str, str]] = {
    "linux": {"HOME": "/home/ada"},
    "macos": {"HOME": "/Users/ada"},
    "windows": {
        "USERPROFILE": r"C:\Users\ada",
        "APPDATA": r"C:\Users\ada\AppData\Roaming",
        "LOCALAPPDATA": r"C:\Users\ada\AppData\Local",
    },
}


def machine(system: System, folders: Sequence[str] = (), **more: str) -> Machine:
    return Machine(system, {**HOMES[system], **more}, lambda place: folders)


@pytest.mark.parametrize(
    ("client", "system", "path"),
    [
        ("claude-desktop", "linux", "/home/ada/.config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "macos",
            "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            "claude-desktop",
            "windows",
            r"C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json",
        ),
        ("claude-code", "linux", "/home/ada/.claude.json"),
        ("claude-code", "macos", "/Users/ada/.claude.json"),
        ("claude-code", "windows", r"C:\Users\ada\.claude.json"),
        ("cursor", "linux", "/home/ada/.cursor/mcp.json"),
        ("cursor", "macos", "/Users/ada/.cursor/mcp.json"),
        ("cursor", "windows", r"C:\Users\ada\.cursor\mcp.json"),
        ("codex", "linux", "/home/ada/.codex/config.toml"),
        ("codex", "macos", "/Users/ada/.codex/config.toml"),
        ("codex", "windows", r"C:\Users\ada\.codex\config.toml"),
        ("gemini-cli", "linux", "/home/ada/.gemini/settings.json"),
        ("gemini-cli", "macos", "/Users/ada/.gemini/settings.json"),
        ("gemini-cli", "windows", r"C:\Users\ada\.gemini\settings.json"),
    ],
)
def test_where_a_client_keeps_its_configuration(client: str, system: System, path: str) -> None:
    assert [str(p) for p in CLIENTS[client].configs(machine(system))] == [path]


def test_claude_desktop_installed_as_a_windows_package_has_a_folder_of_its_own() -> None:
    found = CLIENTS["claude-desktop"].configs(
        machine("windows", ["Microsoft.Paint_1", "Claude_pzs8sxrjxfjjc"])
    )
    assert [str(p) for p in found] == [
        r"C:\Users\ada\AppData\Local\Packages\Claude_pzs8sxrjxfjjc"
        r"\LocalCache\Roaming\Claude\claude_desktop_config.json"
    ]


def test_folders_that_the_environment_names_are_honoured() -> None:
    codex = machine("linux", CODEX_HOME="/opt/codex")
    assert str(CLIENTS["codex"].configs(codex)[0]) == "/opt/codex/config.toml"
    claude = machine("macos", CLAUDE_CONFIG_DIR="/opt/claude")
    assert str(CLIENTS["claude-code"].configs(claude)[0]) == "/opt/claude/.claude.json"
    rules, hooks = CLIENTS["claude-code"].rules, CLIENTS["claude-code"].hooks
    assert rules is not None
    assert hooks is not None
    assert str(rules(claude)) == "/opt/claude/CLAUDE.md"
    assert str(hooks(machine("windows"))) == r"C:\Users\ada\.claude\settings.json"
    desktop = machine("linux", XDG_CONFIG_HOME="/cfg")
    assert str(CLIENTS["claude-desktop"].configs(desktop)[0]).startswith("/cfg/Claude/")


def test_only_clients_with_hooks_have_them() -> None:
    assert [c.name for c in CLIENTS.values() if c.hooks] == ["claude-code", "codex"]
    assert [c.name for c in CLIENTS.values() if c.rules] == ["claude-code", "codex"]


def test_words_of_a_hook_survive_the_shell() -> None:
    assert quoted("/home/ada/My Notes", "linux") == "'/home/ada/My Notes'"
    assert quoted(r"C:\Users\ada\Notes", "windows") == "C:/Users/ada/Notes"
    assert quoted("it's", "macos") == "'it'\"'\"'s'"
    assert Aim("/v", "My Work").arguments() == ["mcp", "/v", "--scope", "My Work"]
