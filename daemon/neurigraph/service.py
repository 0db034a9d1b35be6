"""Starts the daemon with the machine: a systemd user unit, or instructions for other systems."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from neurigraph.errors import NeurigraphError
from neurigraph.resources import state_dir


class ServiceFailed(NeurigraphError):
    """The system's own service manager refused."""

    code = "service_failed"


def unit_name(vault: Path) -> str:
    """The name of a vault's unit; each vault has its own."""
    return f"neurigraph-{state_dir(vault).name}.service"


def unit(vault: Path) -> str:
    """The text of a systemd user unit for this vault (systemd.service(5))."""
    command = " ".join(_quoted(a) for a in _command(vault))
    return (
        "[Unit]\n"
        "Description=Neurigraph, a memory for conversations with AIs\n"
        "\n"
        "[Service]\n"
        f"ExecStart={command}\n"
        "Restart=on-failure\n"
        "RestartSec=5\n"
        # 2 is a set-up that only a person can mend: trying again is no use
        "RestartPreventExitStatus=2\n"
        "Nice=5\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def agent(vault: Path) -> str:
    """The text of a launchd agent for this vault (launchd.plist(5))."""
    words = "\n".join(f"    <string>{_xml(a)}</string>" for a in _command(vault))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" '
        '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        '<plist version="1.0">\n<dict>\n'
        f"  <key>Label</key>\n  <string>{unit_name(vault).removesuffix('.service')}</string>\n"
        f"  <key>ProgramArguments</key>\n  <array>\n{words}\n  </array>\n"
        "  <key>RunAtLoad</key>\n  <true/>\n"
        "  <key>KeepAlive</key>\n  <dict>\n"
        "    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n"
        "</dict>\n</plist>\n"
    )


def instructions(vault: Path, platform: str = sys.platform) -> str:
    """How to start the daemon with the machine by hand, on this kind of system."""
    if platform == "darwin":
        place = f"~/Library/LaunchAgents/{unit_name(vault).removesuffix('.service')}.plist"
        return f"Save this as {place} and run: launchctl load -w {place}\n\n{agent(vault)}"
    if platform == "win32":
        command = " ".join(f'"{a}"' for a in _command(vault))
        return (
            "Run this once in a terminal; the daemon then starts when you log in:\n\n"
            f"schtasks /Create /SC ONLOGON /TN Neurigraph /TR {_windows(command)}\n"
        )
    return (
        f"Save this as {unit_path(vault, os.environ)} and run:\n"
        f"systemctl --user daemon-reload && systemctl --user enable --now {unit_name(vault)}\n\n"
        f"{unit(vault)}"
    )


def unit_path(vault: Path, environ: Mapping[str, str]) -> Path:
    """Where systemd looks for a person's own units."""
    config = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "systemd" / "user" / unit_name(vault)


def install(vault: Path) -> str:
    """Install and start the unit, or say how where there is no systemd. Raises `ServiceFailed`."""
    if not sys.platform.startswith("linux") or shutil.which("systemctl") is None:
        return instructions(vault)
    path = unit_path(vault, os.environ)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(unit(vault), "utf-8")
    _systemctl("daemon-reload")
    _systemctl("enable", "--now", unit_name(vault))
    return f"The daemon starts with the machine now ({path})."


def remove(vault: Path) -> str:
    """Stop and remove the unit."""
    path = unit_path(vault, os.environ)
    if not path.exists():
        return "No service is installed for this vault."
    _systemctl("disable", "--now", unit_name(vault))
    path.unlink()
    _systemctl("daemon-reload")
    return "The service was removed."


def _command(vault: Path) -> list[str]:
    return [sys.executable, "-m", "neurigraph", "up", str(vault), "--no-browser"]


def _systemctl(*arguments: str) -> None:
    done = subprocess.run(
        ["systemctl", "--user", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise ServiceFailed(
            f"systemctl refused ({said[-1] if said else done.returncode}); the unit is written, "
            "run: neurigraph service print"
        )


def _quoted(word: str) -> str:
    safe = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{safe}"'


def _xml(word: str) -> str:
    return word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _windows(command: str) -> str:
    return '"' + command.replace('"', '\\"') + '"'
