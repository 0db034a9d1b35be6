"""Commands about temperature: run a cooling cycle, warm a topic."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from neurigraph.cli_care import wait_for
from neurigraph.terminal import (
    client_of,
    json_option,
    print_json,
    say,
    vault_argument,
    vault_option,
)

SHOWN = 20


@click.command()
@vault_argument
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--yes",
    is_flag=True,
    help="Agree that memories cool in this vault, and that the date is right.",
)
@json_option
def cool(vault: Path | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Compress what was not opened for long; nothing is lost, and all of it is still found.

    A vault is not compressed before you have said yes once, with --yes.
    """
    client = client_of(vault)
    if dry_run:
        answer = client.ask("POST", "/api/temperature/maintenance", query={"dry_run": "true"})
        print_json(answer) if as_json else _print_plan(answer)
        return
    client.ask("POST", "/api/temperature/maintenance", query={"agree": "true"} if yes else {})
    answer = wait_for(client, "cool")
    print_json(answer) if as_json else _print_result(answer)
    if answer["problem"]:
        sys.exit(1)


def _print_plan(answer: dict[str, Any]) -> None:
    compress, deepen = answer["compress"], answer["deepen"]
    if compress or deepen:
        say(
            f"Would compress {_many(compress, 'transcript')} and the files of "
            f"{_many(deepen, 'memory', 'memories')}, saving about {size(answer['bytes'])}."
        )
    else:
        say("Nothing is to be compressed.")
    if answer["restore"]:
        say(f"Would unpack {_many(answer['restore'], 'memory', 'memories')}.")
    if answer["notes"]:
        say(f"Would write the temperature into {_many(answer['notes'], 'note')}.")
    for item in answer["memories"][:SHOWN]:
        say(f"  {', '.join(item['what']):32}  {item['path']}")
    more = len(answer["memories"]) - SHOWN
    if more > 0:
        say(f"  and others; the first {len(answer['memories'])} with --json")
    if answer["problem"]:
        say(f"But {answer['problem']}")


def _print_result(answer: dict[str, Any]) -> None:
    compressed, deepened = answer["compressed"], answer["deepened"]
    if compressed or deepened:
        say(
            f"Compressed {_many(compressed, 'transcript')} and the files of "
            f"{_many(deepened, 'memory', 'memories')}: {size(max(0, answer['saved_bytes']))} saved."
        )
    elif not answer["problem"]:
        say("Nothing was to be compressed.")
    if answer["restored"]:
        say(f"Unpacked {_many(answer['restored'], 'memory', 'memories')}.")
    for reason, number in sorted(answer["skipped"].items()):
        say(f"Left for later: {_many(number, 'memory', 'memories')} ({reason}).")
    if answer["problem"]:
        say(f"neurigraph: {answer['problem']}", err=True)


@click.command()
@click.argument("topic")
@vault_option
@json_option
def warm(topic: str, vault: Path | None, as_json: bool) -> None:
    """Unpack the cold memories of a topic, such as Medical/Medications."""
    client = client_of(vault)
    address = f"/api/temperature/warm/{quote(topic, safe='')}"
    total = 0
    while True:
        answer = client.ask("POST", address)
        total += answer["warmed"]
        if not answer["left"] or not answer["warmed"]:
            break
    answer["warmed"] = total
    if as_json:
        print_json(answer)
        return
    say(f"Unpacked {_many(total, 'memory', 'memories')} of {answer['path']}.")
    if answer["left"]:
        say(f"{answer['left']} could not be unpacked; see: neurigraph doctor")


def size(number: float) -> str:
    """Bytes as people read them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if abs(number) < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "bytes" or number >= 10 else f"{number:.1f} {unit}"


def _many(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


COMMANDS = (cool, warm)
