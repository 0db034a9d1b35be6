"""One daemon a vault: the lock that it holds, and the card that says where it listens."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from neurigraph.errors import VaultInUse


@dataclass(frozen=True, slots=True)
class DaemonCard:
    """Where the daemon of a vault listens, as written into the state directory."""

    pid: int
    host: str
    port: int
    token: str
    version: str

    @property
    def address(self) -> str:
        """Its base address, for a client on this machine."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def card_path(state: Path) -> Path:
    """The file with the card."""
    return state / "daemon.json"


def read_card(state: Path) -> DaemonCard | None:
    """The card, if there is one; the daemon that wrote it may be gone."""
    try:
        return DaemonCard(**json.loads(card_path(state).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_card(state: Path, card: DaemonCard) -> None:
    """Say where the daemon listens; readable by its owner alone."""
    _write_private(card_path(state), json.dumps(asdict(card)))


def remove_card(state: Path) -> None:
    """The daemon is gone."""
    with suppress(FileNotFoundError):
        card_path(state).unlink()


def token_of(state: Path) -> str:
    """This machine's secret for the vault, made at first use."""
    path = state / "token"
    try:
        token = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        token = ""
    if len(token) < 32:
        token = secrets.token_urlsafe(32)
        _write_private(path, token)
    return token


def keep_token(state: Path, token: str) -> None:
    """Write a secret that is in use already, where its file was deleted."""
    _write_private(state / "token", token)


def _write_private(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


def is_locked(state: Path) -> bool:
    """Whether some process serves this vault just now, or is about to."""
    lock = FileLock(state / "lock")
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True


class VaultLock:
    """The lock on a vault, freed by the system when its holder dies."""

    def __init__(self, state: Path, vault: Path) -> None:
        self._lock = FileLock(state / "lock")
        self._state, self._vault = state, vault

    def take(self) -> None:
        """Take the lock. Raises `VaultInUse` when another process holds it."""
        try:
            # others may be trying the lock for a moment, to see whether a daemon runs
            self._lock.acquire(timeout=0.3, poll_interval=0.02)
        except Timeout as error:
            card = read_card(self._state)
            address = card.address if card else "an address that it has not told yet"
            raise VaultInUse(str(self._vault), address) from error

    def free(self) -> None:
        """Let go of it."""
        self._lock.release()
