"""The AI clients that can be connected: where each keeps its configuration, and in what form.

Places and forms are those of the clients' own documentation: Claude Desktop and Claude Code
(modelcontextprotocol.io, code.claude.com), Cursor (docs.cursor.com), Codex
(developers.openai.com/codex), Gemini CLI (geminicli.com).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Literal

System = Literal["linux", "macos", "windows"]
Entry = dict[str, "str | int | list[str]"]

NAME = "neurigraph"
"""What the memory is called in every client."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where a client's files are: the system, the environment, what is installed.

    `folders_in` answers the names of the folders in a folder, none where it is missing.
    """

    system: System
    environ: Mapping[str, str]
    folders_in: Callable[[str], Sequence[str]]

    def path(self, *parts: str) -> PurePath:
        """A path of this system."""
        kind = PureWindowsPath if self.system == "windows" else PurePosixPath
        return kind(*parts)

    @property
    def home(self) -> PurePath:
        """The person's home."""
        names = ("USERPROFILE", "HOME") if self.system == "windows" else ("HOME",)
        return self.path(next((v for n in names if (v := self.environ.get(n))), "~"))

    def named(self, variable: str, default: PurePath) -> PurePath:
        """The folder that the environment names, else the usual one."""
        value = self.environ.get(variable)
        return self.path(value) if value else default


@dataclass(frozen=True, slots=True)
class Client:
    """A client: its name on the command line, what people call it, its files, its habits.

    `configs` are all files that get the entry, `key` is where in them. `rules` and `hooks` are
    the files for the rules snippet and the hooks, where the client has them; `ends_with` is the
    event of its hooks at which the conversation is kept.
    """

    name: str
    title: str
    key: str
    configs: Callable[[Machine], list[PurePath]]
    entry: Callable[[str, list[str]], Entry]
    form: Literal["json", "toml"] = "json"
    rules: Callable[[Machine], PurePath] | None = None
    hooks: Callable[[Machine], PurePath] | None = None
    ends_with: str = ""
    afterwards: str = ""


def this_system() -> System:
    """The system that this runs on."""
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")  # type: ignore[return-value]  # the values are of that type


def _claude_desktop(machine: Machine) -> list[PurePath]:
    file = "claude_desktop_config.json"
    if machine.system == "macos":
        return [machine.home / "Library" / "Application Support" / "Claude" / file]
    if machine.system == "linux":
        return [machine.named("XDG_CONFIG_HOME", machine.home / ".config") / "Claude" / file]
    roaming = machine.named("APPDATA", machine.home / "AppData" / "Roaming")
    local = machine.named("LOCALAPPDATA", machine.home / "AppData" / "Local") / "Packages"
    # installed as a package (since 2026), it sees a copy of the roaming folder of its own
    packaged = [
        local / name / "LocalCache" / "Roaming" / "Claude" / file
        for name in sorted(machine.folders_in(str(local)))
        if name.startswith("Claude_")
    ]
    return packaged or [roaming / "Claude" / file]


def _claude_folder(machine: Machine) -> PurePath:
    return machine.named("CLAUDE_CONFIG_DIR", machine.home / ".claude")


def _claude_code(machine: Machine) -> list[PurePath]:
    return [machine.named("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"]


def _codex_folder(machine: Machine) -> PurePath:
    return machine.named("CODEX_HOME", machine.home / ".codex")


def _plain(command: str, arguments: list[str]) -> Entry:
    return {"command": command, "args": arguments}


def _typed(command: str, arguments: list[str]) -> Entry:
    return {"type": "stdio", **_plain(command, arguments)}


def _patient(command: str, arguments: list[str]) -> Entry:
    # Codex gives up after 10 seconds; a first start, with a large vault, may take longer
    return {**_plain(command, arguments), "startup_timeout_sec": 60}


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            "mcpServers",
            _claude_desktop,
            _plain,
            afterwards="Quit Claude Desktop, from its menu or tray, and start it again.",
        ),
        Client(
            "claude-code",
            "Claude Code",
            "mcpServers",
            _claude_code,
            _typed,
            rules=lambda machine: _claude_folder(machine) / "CLAUDE.md",
            hooks=lambda machine: _claude_folder(machine) / "settings.json",
            ends_with="SessionEnd",
            afterwards="New sessions have it; /mcp shows it.",
        ),
        Client(
            "cursor",
            "Cursor",
            "mcpServers",
            lambda machine: [machine.home / ".cursor" / "mcp.json"],
            _plain,
            afterwards="Open Cursor's settings, Tools & MCP, and see that it is switched on.",
        ),
        Client(
            "codex",
            "Codex",
            "mcp_servers",
            lambda machine: [_codex_folder(machine) / "config.toml"],
            _patient,
            form="toml",
            rules=lambda machine: _codex_folder(machine) / "AGENTS.md",
            hooks=lambda machine: _codex_folder(machine) / "hooks.json",
            ends_with="Stop",
            afterwards="New sessions have it; /mcp shows it. Hooks must be trusted once: /hooks.",
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            "mcpServers",
            lambda machine: [machine.home / ".gemini" / "settings.json"],
            _plain,
            afterwards="New sessions have it; /mcp shows it.",
        ),
    )
}
