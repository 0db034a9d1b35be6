"""basic-memory, installed into an environment of its own and driven by its public commands.

Its embedder loads a model from the network at first use, and nothing here may: it runs in its
full-text mode, which it falls back to by itself on a machine where the model cannot be had.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
from peers.mcp_http import McpHttp
from peers.peer import Peer, free_port

PACKAGE = "basic-memory"
PROJECT = "bench"
NEEDS = (3, 12)


def install(folder: Path) -> Path:
    """Its command, installed from the package index into `folder` unless it is there."""
    command = folder / "bin" / PACKAGE
    if not command.exists():
        subprocess.run([_python(), "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", PACKAGE]
        subprocess.run(pip, check=True)
    return command


def _python() -> str:
    """A Python that is new enough for it."""
    if sys.version_info >= NEEDS:
        return sys.executable
    for candidate in _candidates():
        asked = [candidate, "-c", f"import sys; sys.exit(sys.version_info < {NEEDS})"]
        if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            return candidate
    raise SystemExit(f"{PACKAGE} needs Python {NEEDS[0]}.{NEEDS[1]} or newer; none was found")


def _candidates() -> Iterator[str]:
    for minor in (14, 13, 12):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    yield from (str(p) for p in sorted(versions.glob("3.1[2-9]*/bin/python")))


class BasicMemory(Peer):
    """`project add`, then its MCP server over streamable HTTP."""

    name = "basic-memory"
    how = "`project add`, MCP `search_notes`; full text only (its model would be downloaded)"

    def __init__(self, vault: Path, place: Path, command: Path) -> None:
        super().__init__(vault, place)
        self._command = command
        home = place / "home"
        home.mkdir(parents=True, exist_ok=True)
        self._env = {
            **os.environ,
            "HOME": str(home),
            "BASIC_MEMORY_CONFIG_DIR": str(home / ".basic-memory"),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
            "BASIC_MEMORY_AUTO_UPDATE": "false",
            "BASIC_MEMORY_NO_PROMOS": "1",
            "HF_HUB_OFFLINE": "1",
        }

    def index(self) -> None:
        """Adding a project indexes it before it returns; the server is started beside."""
        words = ["project", "add", PROJECT, str(self.vault), "--default", "--local"]
        subprocess.run([str(self._command), *words], env=self._env, check=True, capture_output=True)
        self._start()
        self.search("obsidian", 5)

    def _start(self) -> None:
        port = free_port()
        words = ["mcp", "--transport", "streamable-http", "--port", str(port)]
        with (self.place / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(self._command), *words, "--project", PROJECT],
                env=self._env,
                stdout=log,
                stderr=log,
            )
        self._mcp = McpHttp(f"http://127.0.0.1:{port}")

    def restart(self) -> None:
        """End the server and start it again."""
        self.close()
        self._start()
        self.search("obsidian", 5)

    def search(self, query: str, limit: int) -> list[str]:
        """One call of the tool."""
        asked = {"query": query, "page_size": limit, "output_format": "json"}
        answer = self._mcp.call("search_notes", project=PROJECT, **asked)
        found = answer.get("result", answer)
        return [hit["file_path"] for hit in found["results"]] if isinstance(found, dict) else []

    def close(self) -> None:
        """Stop the server."""
        self._mcp.close()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def processes(self) -> list[psutil.Process]:
        """The server."""
        return [psutil.Process(self._process.pid)]

    def folders(self) -> list[Path]:
        """Its home."""
        return [self.place / "home"]
