"""What is asked of every program that is measured, and what they have in common."""

from __future__ import annotations

import hashlib
import socket
from abc import ABC, abstractmethod
from pathlib import Path

import psutil


class Peer(ABC):
    """A program that finds notes in a folder of markdown files."""

    name: str
    how: str
    """How it is driven and in which mode, in a few words."""

    def __init__(self, vault: Path, place: Path) -> None:
        self.vault, self.place = vault, place

    @abstractmethod
    def index(self) -> None:
        """From nothing until everything that it will ever find is found."""

    @abstractmethod
    def restart(self) -> None:
        """End, start again, and return when a search has been answered."""

    @abstractmethod
    def search(self, query: str, limit: int) -> list[str]:
        """The paths of the notes that it finds, best first."""

    @abstractmethod
    def close(self) -> None:
        """End."""

    def processes(self) -> list[psutil.Process]:
        """What runs between two searches; nothing where each search is a process of its own."""
        return []

    def folders(self) -> list[Path]:
        """Where it keeps what it derives."""
        return []

    def memory_mb(self) -> float:
        """PSS of all that runs, in MB."""
        total = 0.0
        for process in self.processes():
            try:
                family = [process, *process.children(recursive=True)]
                total += sum(p.memory_full_info().pss for p in family) / 1e6
            except psutil.Error:
                continue
        return total

    def disk_mb(self) -> float:
        """What it keeps beside the notes, in MB."""
        files = (p for folder in self.folders() for p in folder.rglob("*") if p.is_file())
        return sum(p.stat().st_size for p in files) / 1e6


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def picture(vault: Path) -> dict[str, str]:
    """The hash of every note."""
    return {
        str(p.relative_to(vault)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in vault.rglob("*.md")
        if p.is_file()
    }
