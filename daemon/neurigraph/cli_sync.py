"""Commands for several machines: make a vault ready for git sync, sync now, say how it stands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from neurigraph.cli_care import wait_for
from neurigraph.client import Client
from neurigraph.terminal import client_of, json_option, print_json, say, vault_option

WORDS = {
    "off": "Sync is off on this machine; switch it on with: neurigraph sync init [REMOTE]",
    "idle": "In step",
    "syncing": "Syncing",
    "offline": "Offline; what changes here is kept and sent later",
    "stopped": "Stopped",
}


@click.group()
def sync() -> None:
    """Keep several machines in step with git."""


@sync.command()
@click.argument("remote", required=False, default="")
@vault_option
@json_option
def init(remote: str, vault: Path | None, as_json: bool) -> None:
    """Make the vault ready and switch sync on, on this machine.

    REMOTE is the address of an empty git repository, or of one that holds this vault already.
    Without one the history is kept on this machine alone.
    """
    client = client_of(vault)
    _sync(client, {"init": True, "remote": remote}, as_json)


@sync.command()
@click.option(
    "--anyway", is_flag=True, help="Go on although the remote lost or rewrote its history."
)
@vault_option
@json_option
def now(anyway: bool, vault: Path | None, as_json: bool) -> None:
    """Commit, fetch, merge and push at once."""
    _sync(client_of(vault), {"anyway": anyway}, as_json)


@sync.command()
@vault_option
@json_option
def status(vault: Path | None, as_json: bool) -> None:
    """Say how sync stands."""
    answer: dict[str, Any] = client_of(vault).ask("GET", "/api/status")["sync"]
    if as_json:
        print_json(answer)
    else:
        _print_condition(answer)
    if answer["problem"]:
        sys.exit(1)


def _sync(client: Client, order: dict[str, object], as_json: bool) -> None:
    client.ask("POST", "/api/sync", body=order)
    answer: dict[str, Any] = wait_for(client, "sync")
    if as_json:
        print_json(answer)
        return
    for line in answer["done"]:
        say(f"{line[0].upper()}{line[1:]}.")
    parts = [
        f"{number} {words}"
        for number, words in (
            (answer["committed"], "files of this machine saved"),
            (answer["arrived"], "files arrived"),
            (answer["merged"], "merged"),
        )
        if number
    ]
    say(f"In step{': ' + ', '.join(parts) if parts else ''}.")
    for path in answer["kept_twice"]:
        say(f"  both versions kept, look at: {path}")
    for path, reason in sorted(answer["left_out"].items()):
        say(f"  left out: {path} {reason}")


def _print_condition(answer: dict[str, Any]) -> None:
    words = WORDS.get(answer["state"], answer["state"])
    if answer["state"] == "idle" and answer["problem"]:
        words = "Waiting for the next look, and there is something to see to"
    say(words + ".")
    if answer["last"]:
        say(f"  last    {answer['last']}")
    if answer["ahead"] or answer["behind"]:
        say(f"  ahead   {answer['ahead']} commits, behind {answer['behind']}")
    if answer["problem"]:
        say(f"  {answer['problem']}")


@click.command("merge-driver", hidden=True)
@click.argument("words", nargs=-1, required=True)
def merge_driver(words: tuple[str, ...]) -> None:
    """What plain git merge runs for notes and compressed transcripts."""
    from neurigraph.sync.driver import main

    sys.exit(main(words))


COMMANDS = (sync, merge_driver)
