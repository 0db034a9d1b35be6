"""The commands that join AIs to the memory: the stdio proxy, and the clients' configurations."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path

import click

from neurigraph.client import DaemonUnreachable, running, start
from neurigraph.clock import system_clock
from neurigraph.errors import NeurigraphError
from neurigraph.lock import DaemonCard
from neurigraph.terminal import Failure, chosen, ensure_vault, vault_argument, vault_option

scope_option = click.option("--scope", default="", help="Only this topic, such as Work.")


@click.command()
@vault_argument
@scope_option
def mcp(vault: Path | None, scope: str) -> None:
    """Serve MCP over standard input and output, for an AI's configuration.

    A thin proxy to the daemon, which it starts if need be.
    """
    from neurigraph.mcp_proxy import serve_stdio

    path = chosen(vault)
    serve_stdio(lambda: daemon_of(path), scope.strip().strip("/"))


def daemon_of(path: Path) -> DaemonCard:
    """The vault's daemon, started if need be. Raises `NeurigraphError`."""
    try:
        ensure_vault(path)
        return running(path) or start(path)
    except (Failure, OSError) as error:
        raise DaemonUnreachable(str(error)) from error


@click.command()
@click.argument("client")
@vault_argument
@scope_option
@click.option("--hooks", is_flag=True, help="Also rules and hooks (claude-code, codex).")
@click.option("--print", "only_print", is_flag=True, help="Show what would be written.")
@click.option("--remove", is_flag=True, help="Take it out again.")
def connect(
    client: str, vault: Path | None, scope: str, hooks: bool, only_print: bool, remove: bool
) -> None:
    """Give an AI client this memory, by an entry in its own configuration.

    CLIENT is claude-desktop, claude-code, cursor, codex or gemini-cli. What the configuration
    holds already stays as it is, to the byte, and a backup is made.
    """
    from neurigraph.connect.change import Aim, connecting, disconnecting, write
    from neurigraph.connect.clients import CLIENTS, Machine, this_system

    known = CLIENTS.get(client)
    if known is None:
        raise Failure(f"'{client}' is not known; choose {', '.join(CLIENTS)}", 2)
    if hooks and not known.hooks:
        raise Failure(f"{known.title} has no hooks; leave --hooks out", 2)
    machine = Machine(this_system(), {"HOME": str(Path.home()), **os.environ}, folders_in)
    path = chosen(vault)
    if remove:
        changes = disconnecting(known, machine)
    else:
        if not only_print:
            ensure_vault(path)
        changes = connecting(known, machine, program(), Aim(str(path), scope), hooks=hooks)
    needed = [c for c in changes if c.needed]
    if not needed:
        click.echo(f"{known.title}: nothing to change.")
        return
    for change in needed:
        if only_print:
            old, new = (change.before or "").splitlines(), change.after.splitlines()
            name = str(change.path)
            click.echo("\n".join(difflib.unified_diff(old, new, name, name, lineterm="")))
            continue
        backup = write(change, system_clock())
        click.echo(f"{known.title}: wrote {change.path}")
        if backup:
            click.echo(f"  backup  {backup}")
    if not only_print:
        gone = f"{known.title} forgets it when it is started again."
        click.echo(gone if remove else known.afterwards)


def folders_in(place: str) -> list[str]:
    """The names of the folders in a folder; none where it is missing."""
    try:
        return [entry.name for entry in os.scandir(place) if entry.is_dir()]
    except OSError:
        return []


def program() -> list[str]:
    """The words that run this program from anywhere: clients have a PATH of their own."""
    name = "neurigraph.exe" if os.name == "nt" else "neurigraph"
    script = Path(sys.executable).with_name(name)
    return [str(script)] if script.is_file() else [sys.executable, "-m", "neurigraph"]


@click.group(hidden=True)
def hook() -> None:
    """What runs in the hooks of a coding AI; `neurigraph connect … --hooks` writes them."""


@hook.command()
@vault_option
@scope_option
def recall(vault: Path | None, scope: str) -> None:
    """Tell a session that starts what the memory knows of its project."""
    from neurigraph.session_hooks import read_hook, recalled

    said = read_hook(_stdin())
    try:
        words = recalled(daemon_of(chosen(vault)), said, scope)
    except NeurigraphError as error:
        # a session must start whatever becomes of this
        click.echo(f"neurigraph: {error}", err=True)
        return
    if words:
        click.echo(words)


@hook.command()
@vault_option
@scope_option
def keep(vault: Path | None, scope: str) -> None:
    """Hand the log of a session to the import."""
    from neurigraph.session_hooks import keep as keep_log
    from neurigraph.session_hooks import read_hook

    options = ["--vault", str(chosen(vault)), *(["--topic", scope] if scope else [])]
    keep_log(program(), read_hook(_stdin()), options)


def _stdin() -> str:
    return "" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace")


COMMANDS = (mcp, connect, hook)
