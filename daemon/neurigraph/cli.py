"""The command line: the only place that loads settings and prints."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from neurigraph import __version__, cli_care, cli_connect, cli_import, cli_sync, cli_temperature
from neurigraph.client import Client, running, start
from neurigraph.errors import InvalidInput
from neurigraph.lock import DaemonCard, read_card
from neurigraph.resources import make_state_dir, state_dir
from neurigraph.terminal import (
    Commands,
    Failure,
    chosen,
    client_of,
    console,
    ensure_vault,
    json_option,
    must_be_somewhere,
    print_json,
    say,
    vault_argument,
    vault_option,
)

MARKS = {"hot": "🔥", "warm": "☀", "cold": "❄", "deep-cold": "🧊"}
STOP_SECONDS = 20.0


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="neurigraph")
@click.pass_context
def commands(context: click.Context) -> None:
    """A memory for your conversations with AIs, kept as notes that you own.

    The vault is a folder of markdown notes: the argument, else NEURIGRAPH_VAULT, else
    ~/Neurigraph. Begin with `neurigraph up`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@commands.command()
@vault_argument
@click.option("--empty", is_flag=True, help="Without the example memories.")
def init(vault: Path | None, empty: bool) -> None:
    """Make a new vault, or take up a folder of notes that you have.

    In a folder that holds notes already no file is touched.
    """
    from neurigraph.template import make_vault

    path = chosen(vault)
    if path.exists() and not path.is_dir():
        raise Failure(f"{path} is not a folder; name another place", 2)
    if path.is_dir() and any(path.iterdir()):
        if not os.access(path, os.W_OK):
            raise Failure(f"{path} is not writable; mend its permissions", 2)
        make_state_dir(path)
        click.echo(
            f"{path} holds files already; none was touched. Start with: neurigraph up {path}"
        )
        return
    try:
        make_vault(path, empty=empty)
    except OSError as error:
        raise Failure(
            f"{path} cannot be made ({error.strerror}); choose another place", 2
        ) from error
    click.echo(f"Your vault is in {path}. Start with: neurigraph up {path}")


@commands.command()
@vault_argument
@click.option("--host", help="Address to listen on (default 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (default 7878).")
@click.option("--detach", is_flag=True, help="Go on in the background.")
@click.option("--no-browser", is_flag=True, help="Do not open the viewer.")
@click.option("--any-port", is_flag=True, hidden=True)
def up(
    vault: Path | None,
    host: str | None,
    port: int | None,
    detach: bool,
    no_browser: bool,
    any_port: bool,
) -> None:
    """Start the daemon: indexes, MCP, REST and the viewer."""
    path = chosen(vault)
    made = ensure_vault(path)
    if not os.access(path, os.W_OK | os.X_OK):
        raise Failure(f"{path} is not writable; mend its permissions", 2)
    if made:
        click.echo(f"Made a vault with a few example memories in {path}")
    known = running(path)
    if known is not None:
        raise Failure(
            f"a daemon already serves {path} at {known.address}; "
            f"use it, or stop it with: neurigraph down {path}",
            2,
        )
    if detach:
        arguments = [
            a for k, v in (("--host", host), ("--port", port)) if v is not None for a in (k, str(v))
        ]
        _announce(path, start(path, arguments), no_browser)
        return
    from neurigraph.serving import serve
    from neurigraph.settings import load_settings

    settings, ignored = load_settings(path, state_dir(path))
    for line in ignored:
        say(f"neurigraph: {line}", err=True)
    given = {k: v for k, v in (("host", host), ("port", port)) if v is not None}
    server = settings.server.model_copy(update=given)
    serve(
        path,
        settings.model_copy(update={"server": server}),
        ignored=ignored,
        any_port=any_port,
        on_listening=lambda card: _announce(path, card, no_browser),
    )


def _announce(vault: Path, card: DaemonCard, no_browser: bool) -> None:
    from neurigraph.guard import is_loopback

    click.echo(f"Neurigraph serves {vault}")
    click.echo(f"  viewer  {card.address}/")
    click.echo(f"  MCP     {card.address}/mcp")
    if not is_loopback(card.host):
        click.echo(f"  token   {card.token}   (needed from other machines)")
    click.echo("Stop it with Ctrl-C here, or with: neurigraph down")
    if not no_browser and sys.stdout.isatty() and not os.environ.get("SSH_CONNECTION"):
        import webbrowser

        webbrowser.open(f"{card.address}/")


@commands.command()
@vault_argument
def down(vault: Path | None) -> None:
    """Stop the daemon."""
    path = chosen(vault)
    card = running(path)
    if card is None:
        must_be_somewhere(path)
        click.echo(f"No daemon serves {path}.")
        return
    os.kill(card.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline:
        if read_card(state_dir(path)) is None:
            click.echo("Stopped.")
            return
        time.sleep(0.05)
    raise Failure(f"the daemon (process {card.pid}) did not stop; see {state_dir(path)}/daemon.log")


@commands.command()
@vault_argument
@json_option
def status(vault: Path | None, as_json: bool) -> None:
    """Say whether all is well."""
    path = chosen(vault)
    card = running(path)
    if card is None:
        must_be_somewhere(path)
        if as_json:
            print_json({"state": "stopped", "vault": str(path)})
        else:
            click.echo(f"Not running. Start it with: neurigraph up {path}")
        return
    answer = Client(card).ask("GET", "/api/status")
    if as_json:
        print_json(answer | {"address": card.address})
        return
    _print_status(answer, card)


def _print_status(answer: dict[str, Any], card: DaemonCard) -> None:
    from neurigraph.guard import is_loopback

    counts, index = answer["counts"], answer["index"]
    behind = index["keyword_behind"], index["vector_behind"]
    problems = answer["problems"]
    if answer["state"] == "failed":
        say(f"Not well: {answer['failure']}")
        return
    if answer["state"] != "ready" or any(behind):
        words = f"still indexing: {behind[0]} notes for keywords, {behind[1]} for meaning"
    elif problems:
        words = f"all indexed; {some(len(problems), 'thing needs', 'things need')} a look"
    else:
        words = "all is well"
    out = console()
    held = some(counts["memories"], "memory", "memories")
    out.print(f"{held} in {some(counts['focused'], 'topic', 'topics')}; {words}.")
    out.print(
        f"  {MARKS['hot']} {counts['hot']} hot   {MARKS['warm']} {counts['warm']} warm   "
        f"{MARKS['cold']} {counts['cold']} cold   "
        f"{MARKS['deep-cold']} {counts['deep_cold']} deep-cold"
    )
    out.print(f"  vault   {answer['vault']}")
    out.print(f"  viewer  {card.address}/")
    out.print(f"  MCP     {card.address}/mcp")
    if not is_loopback(card.host):
        out.print(f"  token   {card.token}")
    for line in answer["notices"]:
        out.print(f"  note    {line}")
    for item in problems[:10]:
        out.print(Text(f"  {item['path']}: {item['problem']}"))
    if len(problems) > 10:
        out.print(f"  and {len(problems) - 10} more: neurigraph doctor")


def some(count: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many}"


@commands.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--scope", default="", help="Only in this topic, such as Medical/Medications.")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True)
@vault_option
@json_option
def search(
    query: tuple[str, ...], scope: str, limit: int, vault: Path | None, as_json: bool
) -> None:
    """Find memories."""
    client = client_of(vault)
    asked: dict[str, str | int | float | bool | None] = {
        "q": " ".join(query),
        "scope": scope,
        "limit": limit,
    }
    answer = client.ask("GET", "/api/search", query=asked)
    if as_json:
        print_json(answer)
        return
    out = console()
    if not answer["results"]:
        out.print("Nothing was found. Try fewer or other words.")
        return
    for hit in answer["results"]:
        day = (hit["created"] or "")[:10]
        out.print(
            Text.assemble(
                (hit["title"], "bold"),
                f"  {MARKS[hit['temperature']]} ",
                (f"{day}  {hit['broad']}/{hit['focused']}", "dim"),
            )
        )
        out.print(Text("  ").append_text(_marked(hit["snippet"])))
        out.print(Text(f"  {hit['id']}  {hit['path']}", style="dim"))
    more = answer["total"] - len(answer["results"])
    tail = f"; {more} more with --limit" if more > 0 else ""
    out.print(Text(f"{answer['total']} found in {answer['took_ms']:.0f} ms{tail}", style="dim"))


def _marked(snippet: str) -> Text:
    text = Text()
    for piece in " ".join(snippet.split()).split("\ue000"):
        hit, _, rest = piece.partition("\ue001") if "\ue001" in piece else ("", "", piece)
        text.append(hit, "bold yellow").append(rest)
    return text


@commands.command()
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--topic", default="", help="Where it belongs, such as Medical/Medications.")
@click.option("--title", help="Its title; else made from the text.")
@click.option("--model", default="", help="The AI that it was with, such as claude.")
@click.option("--keyword", "keywords", multiple=True, help="A keyword; may be given many times.")
@vault_option
@json_option
def save(
    file: Any,
    topic: str,
    title: str | None,
    model: str,
    keywords: tuple[str, ...],
    vault: Path | None,
    as_json: bool,
) -> None:
    """Save a conversation from a file or from standard input."""
    text = file.read().decode("utf-8", "replace")
    if not text.strip():
        raise Failure("there is nothing to save; hand in the conversation's text")
    body = {
        "transcript": text,
        "title": title,
        "broad_topic": topic or None,
        "source_model": model,
        "keywords": list(keywords) or None,
    }
    answer = client_of(vault).ask("POST", "/api/memory", body=body)
    if as_json:
        print_json(answer)
        return
    words = {"created": "Saved", "updated": "Updated", "unchanged": "Known already"}
    say(f"{words.get(answer['status'], 'Not saved')}: {answer['path'] or answer['note']}")
    if answer["id"]:
        click.echo(f"  {answer['id']}")
    if answer["note"] and answer["status"] in ("created", "updated"):
        click.echo(f"  {answer['note']}")


@commands.command()
@vault_argument
def reindex(vault: Path | None) -> None:
    """Build the indexes again from the vault."""
    client = client_of(vault)
    client.ask("POST", "/api/reindex")
    follow_indexing(client)
    click.echo("The indexes were built again.")


def follow_indexing(client: Client) -> None:
    """Show how far the indexes are until everything is searchable."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    time.sleep(0.2)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        keyword = progress.add_task("keywords", total=None)
        meaning = progress.add_task("meaning", total=None)
        while True:
            answer = client.ask("GET", "/api/status")
            total = max(answer["counts"]["memories"], 1)
            behind = answer["index"]
            for task, left in (
                (keyword, behind["keyword_behind"]),
                (meaning, behind["vector_behind"]),
            ):
                progress.update(task, total=max(total, left), completed=max(total - left, 0))
            if answer["state"] == "failed":
                raise Failure(answer["failure"], 2)
            if answer["state"] == "ready" and not any(behind.values()):
                return
            time.sleep(0.2)


@commands.command()
@click.argument("memory_id")
@vault_option
@json_option
def restore(memory_id: str, vault: Path | None, as_json: bool) -> None:
    """Bring a memory back from the trash."""
    answer = client_of(vault).ask("POST", f"/api/memory/chunk/{memory_id}/restore")
    if as_json:
        print_json(answer)
    else:
        say(f"Restored: {answer['path']}")


for command in (
    *cli_import.COMMANDS,
    *cli_connect.COMMANDS,
    *cli_temperature.COMMANDS,
    *cli_sync.COMMANDS,
    *cli_care.COMMANDS,
):
    commands.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with 0, 1 (it failed) or 2 (the set-up or the words are wrong)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that knows no emoji shows a question mark in their place
            stream.reconfigure(errors="replace")
    run: Callable[..., Any] = commands
    try:
        run(arguments, prog_name="neurigraph", standalone_mode=True)
    except InvalidInput as error:
        click.echo(f"neurigraph: {error}", err=True)
        sys.exit(2)
