"""Commands that look after the vault: doctor, and the service that starts with the machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from neurigraph.client import Client
from neurigraph.service import install, instructions, remove
from neurigraph.terminal import (
    chosen,
    client_of,
    console,
    ensure_vault,
    json_option,
    print_json,
    vault_argument,
)


def wait_for(client: Client, job: str) -> Any:
    """Wait for long work with a progress bar, and answer its result."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(job, total=None)

        def show(done: int, total: int, text: str) -> None:
            progress.update(task, description=text or job, total=total or None, completed=done)

        return client.job(job, show)


@click.command()
@vault_argument
@click.option("--repair", is_flag=True, help="Mend what can be mended without a doubt.")
@click.option("--deep", is_flag=True, help="Read every transcript, compressed ones too.")
@json_option
def doctor(vault: Path | None, repair: bool, deep: bool, as_json: bool) -> None:
    """List everything that needs a look, and mend it with --repair.

    Exit code 1 when something is left that only you can decide.
    """
    client = client_of(vault)
    client.ask("POST", "/api/doctor", query={"repair": _word(repair), "deep": _word(deep)})
    found: list[dict[str, Any]] = wait_for(client, "doctor")
    if as_json:
        print_json({"findings": found})
    elif not found:
        click.echo("All is well.")
    else:
        _print_findings(found, repair)
    if any(not f["mended"] for f in found):
        sys.exit(1)


def _print_findings(found: list[dict[str, Any]], repair: bool) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("Where", overflow="fold")
    table.add_column("What to do", overflow="fold")
    for item in found:
        words = Text(item["problem"])
        if item["mended"]:
            words.append(f"\n→ {item['mended']}", "green")
        table.add_row(Text(item["path"]), words)
    console().print(table)
    mendable = sum(f["mendable"] for f in found)
    if mendable and not repair:
        click.echo(f"{mendable} of these can be mended with: neurigraph doctor --repair")


def _word(value: bool) -> str:
    return "true" if value else "false"


@click.group()
def service() -> None:
    """Start the daemon with the machine."""


@service.command("install")
@vault_argument
def service_install(vault: Path | None) -> None:
    """Install the service (systemd), or print how it is done on this system."""
    path = chosen(vault)
    ensure_vault(path)
    click.echo(install(path))


@service.command("remove")
@vault_argument
def service_remove(vault: Path | None) -> None:
    """Stop and remove the service."""
    click.echo(remove(chosen(vault)))


@service.command("print")
@vault_argument
def service_print(vault: Path | None) -> None:
    """Print the service's file and how to put it in place by hand."""
    click.echo(instructions(chosen(vault)))


COMMANDS = (doctor, service)
