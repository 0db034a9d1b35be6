"""Plans what connecting or disconnecting a client changes, and writes it with a backup."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path

from neurigraph.connect.clients import NAME, Client, Machine, System
from neurigraph.connect.hooks import with_hooks, without_hooks
from neurigraph.connect.json_text import remove_value, set_members
from neurigraph.connect.json_tree import NotJson
from neurigraph.connect.rules import with_rules, without_rules
from neurigraph.connect.toml_text import NotToml, remove_table, set_table
from neurigraph.errors import NeurigraphError


class ConfigUnreadable(NeurigraphError):
    """A client's configuration that cannot be read, and so was left alone."""

    code = "config_unreadable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} was left as it is: {reason}; mend it, or add the entry by hand")


@dataclass(frozen=True, slots=True)
class Aim:
    """Which memory a client shall have: a vault, and a topic that limits it, if any."""

    vault: str
    scope: str = ""

    def arguments(self) -> list[str]:
        """How the entry starts the proxy."""
        return ["mcp", self.vault, *(["--scope", self.scope] if self.scope else [])]

    def options(self) -> list[str]:
        """The same for hooks."""
        return ["--vault", self.vault, *(["--scope", self.scope] if self.scope else [])]


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is (None when there is none) and as it shall be."""

    path: Path
    before: str | None
    after: str

    @property
    def needed(self) -> bool:
        """Whether anything changes."""
        return (self.before or "") != self.after


def connecting(
    client: Client, machine: Machine, program: Sequence[str], aim: Aim, *, hooks: bool
) -> list[Change]:
    """What to write so that a client has the memory. `program` runs us. Raises
    `ConfigUnreadable`."""
    entry = client.entry(program[0], [*program[1:], *aim.arguments()])
    changes = [_changed(p, _entering(client, entry)) for p in client.configs(machine)]
    if hooks and client.rules and client.hooks:
        changes.append(_changed(client.rules(machine), with_rules))
        words = " ".join(quoted(part, machine.system) for part in program)
        options = " ".join(quoted(part, machine.system) for part in aim.options())
        changes.append(
            _changed(
                client.hooks(machine),
                lambda text: with_hooks(text, words, options, client.ends_with),
            )
        )
    return changes


def disconnecting(client: Client, machine: Machine) -> list[Change]:
    """What to write so that a client no longer has it: entry, rules and hooks."""
    changes = [_changed(p, _leaving(client)) for p in client.configs(machine)]
    if client.rules and client.hooks:
        changes.append(_changed(client.rules(machine), without_rules))
        changes.append(
            _changed(client.hooks(machine), lambda t: without_hooks(t, client.ends_with))
        )
    return [c for c in changes if c.before is not None]


def _entering(client: Client, entry: dict[str, str | int | list[str]]) -> Callable[[str], str]:
    if client.form == "toml":
        return lambda text: set_table(text, [client.key, NAME], entry)
    return lambda text: set_members(text, [client.key, NAME], entry, "command")


def _leaving(client: Client) -> Callable[[str], str]:
    if client.form == "toml":
        return lambda text: remove_table(text, [client.key, NAME])
    return lambda text: remove_value(text, [client.key, NAME], empty_too=1)


def _changed(place: object, edit: Callable[[str], str]) -> Change:
    path = Path(str(place))
    try:
        # newlines as they are: nothing but our lines may change
        before: str | None = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        before = None
    except UnicodeDecodeError as error:
        raise ConfigUnreadable(path, "it is not written in UTF-8") from error
    except OSError as error:
        raise ConfigUnreadable(path, error.strerror or str(error)) from error
    try:
        return Change(path, before, edit(before or ""))
    except (NotJson, NotToml) as error:
        raise ConfigUnreadable(path, str(error)) from error


def quoted(part: str, system: System) -> str:
    """A word of a hook's command. Hooks run in a POSIX shell, in Git Bash on Windows too."""
    return shlex.quote(part.replace("\\", "/") if system == "windows" else part)


def _free(path: Path, stamp: str) -> Path:
    """A name for a backup that no other has, even of the same second."""
    ends = chain([""], (f"-{number}" for number in count(2)))
    names = (path.with_name(f"{path.name}.{stamp}{end}.backup") for end in ends)
    return next(name for name in names if not name.exists())


def write(change: Change, now: datetime) -> Path | None:
    """Write a change, and answer the backup that was made of what was there.

    Atomic, with the file's own permissions; a link to a file elsewhere stays a link. Raises
    `ConfigUnreadable`.
    """
    path = Path(os.path.realpath(change.path))
    try:
        return _write(path, change, now)
    except OSError as error:
        raise ConfigUnreadable(path, error.strerror or str(error)) from error


def _write(path: Path, change: Change, now: datetime) -> Path | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if change.before is not None:
        if path.read_bytes() != change.before.encode():
            raise ConfigUnreadable(path, "it changed just now")
        backup = _free(path, now.astimezone().strftime("%Y%m%d-%H%M%S"))
        backup.write_bytes(change.before.encode())
        backup.chmod(path.stat().st_mode & 0o777)
    new = path.with_name(f"{path.name}.neurigraph.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(change.after.encode())
        file.flush()
        os.fsync(file.fileno())
    if change.before is not None:
        new.chmod(path.stat().st_mode & 0o777)
    new.replace(path)
    return backup
