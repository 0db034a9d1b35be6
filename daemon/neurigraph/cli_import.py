"""Commands for what comes in and goes out: import, export, forget, secrets."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from neurigraph.client import Client, DaemonRefused
from neurigraph.resources import state_dir
from neurigraph.terminal import (
    Failure,
    chosen,
    client_of,
    console,
    json_option,
    print_json,
    say,
    vault_option,
)

SHOWN = 50
"""Rows of a kind that a table shows."""

TITLE = 100
"""Characters of a title that a table shows."""


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--topic", default="", help="Where all of it goes, such as Work/Chats.")
@click.option("--dry-run", is_flag=True, help="Only say what would go where.")
@click.option("--watch", is_flag=True, help="Follow a folder of session logs from now on.")
@click.option("--unwatch", is_flag=True, help="Follow it no longer.")
@vault_option
@json_option
def import_(
    path: Path,
    topic: str,
    dry_run: bool,
    watch: bool,
    unwatch: bool,
    vault: Path | None,
    as_json: bool,
) -> None:
    """Bring in an export of ChatGPT or Claude, session logs, notes, or a folder of any of them.

    Importing again is safe: what is known stays as it is, what has grown is brought up to date,
    and what you have edited or moved is left alone.
    """
    place = Path.cwd() / path.expanduser()
    if watch or unwatch:
        _watch(place, topic or None, vault, follow=watch)
        return
    if not place.exists():
        raise Failure(f"there is no {path}; name a file, a zip or a folder")
    client = client_of(vault)
    body = {"path": str(place), "topic": topic, "dry_run": dry_run}
    client.ask("POST", "/api/import", body=body)
    result = _follow(client)
    if dry_run or as_json:
        result["rows"] = _pages(client, "/api/import")
    if as_json:
        print_json(result)
    else:
        _print(result, place.name)
    if result["error"] or result["counts"]["failed"]:
        sys.exit(1)


def _watch(folder: Path, topic: str | None, vault: Path | None, *, follow: bool) -> None:
    """Write the setting of this machine, and tell the daemon."""
    from neurigraph.capture.watch_setting import set_followed
    from neurigraph.settings import load_settings

    if follow and not folder.is_dir():
        raise Failure(f"{folder} is no folder; name the one that the session logs are in")
    path, state = chosen(vault), state_dir(chosen(vault))
    place, home = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
    if follow and (place == home or place in home.parents or home in place.parents):
        raise Failure(f"{folder} and the vault lie in one another; name a folder of logs alone")
    client = client_of(vault)
    known = load_settings(path, state)[0].imports.watch
    folders = [name for name in known if Path(name).expanduser() != folder]
    if follow:
        folders.append(str(folder))
    elif len(folders) == len(known):
        raise Failure(f"{folder} is not followed; {', '.join(known) or 'no folder'} is")
    set_followed(state / "local.toml", folders, topic)
    settings = load_settings(path, state)[0].imports
    body = {"folders": [str(Path(f).expanduser()) for f in settings.watch]}
    client.ask("PUT", "/api/import/watched", body={**body, "topic": settings.watch_topic})
    words = "Session logs are followed in" if settings.watch else "No folder is followed"
    say(f"{words} {', '.join(settings.watch)}".rstrip())


def _follow(client: Client) -> dict[str, Any]:
    """Show how far the import is until it is done; Ctrl-C stops it."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    err = Console(stderr=True)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("reading", total=None)

        def show(done: int, total: int, text: str) -> None:
            progress.update(task, description=text or "reading", total=total or None)
            progress.update(task, completed=done)

        try:
            found: dict[str, Any] = client.job("import", show)
        except KeyboardInterrupt:
            client.ask("DELETE", "/api/import")
            found = client.job("import", show)
    return found


def _pages(client: Client, path: str) -> list[dict[str, Any]]:
    """All items of a list."""
    items: list[dict[str, Any]] = []
    page = 0
    while True:
        page += 1
        answer = client.ask("GET", path, query={"page": page, "per_page": 500})
        items += answer["items"]
        if len(items) >= answer["total"] or not answer["items"]:
            return items


def _print(result: dict[str, Any], name: str) -> None:
    out = console()
    counts: dict[str, int] = result["counts"]
    if result["error"] and not any(counts.values()):
        raise Failure(result["error"])
    if result["dry_run"]:
        _print_plan(result["rows"], out)
    else:
        _print_rows(result["rows"], out)
    said = ", ".join(f"{count:,} {_words(what)}" for what, count in counts.items() if count)
    would = "would be: " if result["dry_run"] else ""
    out.print(Text(f"{name}: {would}{said or 'nothing in it to import'}"))
    for what, count in sorted(result["skipped"].items()):
        out.print(Text(f"  left out on purpose: {count:,} × {what}", "dim"))
    held: int = result["held"]
    if held:
        out.print(
            f"{held:,} of them hold what looks like a password or key. They are kept as "
            "they are, and out of git until you say yes: neurigraph secrets"
        )
    if result["dry_run"] and counts["imported"]:
        out.print("Import it without --dry-run, or name a place for all of it with --topic.")
    if result["stopped"]:
        out.print("Stopped. Import it again to go on from here.")
    if result["error"]:
        raise Failure(result["error"])


def _words(what: str) -> str:
    return what.replace("_", " ")


def _short(title: str) -> str:
    return title if len(title) <= TITLE else f"{title[: TITLE - 1]}…"


def _print_plan(rows: list[dict[str, str]], out: Console) -> None:
    """What would go where, by topic."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("Goes to", "Date", "Title", ""):
        table.add_column(heading, overflow="fold")
    for row in sorted(rows, key=lambda r: (r["what"] != "imported", r["path"], r["created"])):
        note = (
            row["reason"] if row["what"] == "imported" else f"{_words(row['what'])} {row['reason']}"
        )
        words = (row["path"], row["created"], _short(row["title"]), note)
        table.add_row(*[Text(word) for word in words])
    if rows:
        out.print(table)


def _print_rows(rows: list[dict[str, str]], out: Console) -> None:
    """What a person should know of single conversations: failures first."""
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("", "Title", "Why"):
        table.add_column(heading, overflow="fold")
    shown: Counter[str] = Counter()
    for row in rows:
        shown[row["what"]] += 1
        if shown[row["what"]] <= SHOWN:
            style = "red" if row["what"] == "failed" else ""
            title = Text(_short(row["title"]))
            words = (Text(_words(row["what"]), style), title, Text(row["reason"]))
            table.add_row(*words)
    out.print(table)
    for what, count in shown.items():
        if count > SHOWN:
            out.print(Text(f"and more that are {_words(what)}; all of them with --json", "dim"))


@click.command("export")
@click.argument("target", required=False, type=click.Path(path_type=Path))
@vault_option
def export_(target: Path | None, vault: Path | None) -> None:
    """Write everything to one JSON Lines file, or to a folder of plain markdown.

    TARGET is a file that ends in .jsonl, or a new folder; - is standard output. Cold memories
    come unpacked. `neurigraph import` reads both.
    """
    client = client_of(vault)
    if target == Path("-"):
        client.download("/api/export", sys.stdout.buffer)
        return
    place = Path.cwd() / (target or Path("neurigraph-export.jsonl")).expanduser()
    as_file = place.suffix.lower() in (".jsonl", ".ndjson")
    if place.exists() and (as_file or not place.is_dir() or any(place.iterdir())):
        raise Failure(f"{place} is there already; name a new file or folder")
    if not place.parent.is_dir():
        raise Failure(f"there is no folder {place.parent}; make it first")
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".neurigraph-") as folder:
        draft = Path(folder) / "export.jsonl"
        with draft.open("xb") as file:
            client.download("/api/export", file)
        problems = _check(draft)
        count = _unpack(draft, place) if not as_file else _count(draft)
        if as_file:
            draft.rename(place)
    say(f"{count:,} notes are in {place}")
    for problem in problems:
        say(f"neurigraph: {problem}", err=True)
    if problems:
        sys.exit(1)


def _check(draft: Path) -> list[str]:
    """What the daemon could not hand out. Raises `Failure` when the export is not whole."""
    import json

    problems: list[str] = []
    if _count(draft) is None:
        raise Failure("the daemon stopped in the middle of the export; try again")
    with draft.open("rb") as file:
        for line in file:
            if line.startswith(b'{"neurigraph":"problem"'):
                said = json.loads(line)
                problems.append(f"{said['path']}: {said['reason']}")
    return problems


def _count(draft: Path) -> int | None:
    from neurigraph.importers.export import count_items

    with draft.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 4096))
        return count_items(file.read())


def _unpack(draft: Path, folder: Path) -> int:
    """Turn the lines into a folder of notes."""
    from neurigraph.importers.export import ExportItem, read_jsonl, write_folder
    from neurigraph.importers.source import Reading

    with draft.open("rb") as file:
        items = read_jsonl(file, Reading(draft.name))
        return write_folder((item for item in items if isinstance(item, ExportItem)), folder)


def _address(memory_id: str) -> str:
    """Where a memory is asked for. Raises `Failure` for what cannot be an id."""
    if not memory_id or "/" in memory_id:
        raise Failure(
            f"no memory '{memory_id}'; its id, such as m-20261130-7f3a2c1b, is in its note"
        )
    return f"/api/memory/chunk/{quote(memory_id, safe='')}"


@click.command()
@click.argument("memory_id")
@click.option("--yes", is_flag=True, help="Do not ask again.")
@vault_option
@json_option
def forget(memory_id: str, yes: bool, vault: Path | None, as_json: bool) -> None:
    """Remove a memory for good: its note, transcript, files, what lies in the trash, indexes, log.

    This cannot be undone. What git's history still holds is said, with how to remove that.
    """
    client, address, title = client_of(vault), _address(memory_id), memory_id
    with suppress(DaemonRefused):  # it may lie in the trash alone
        title = client.ask("GET", address)["title"]
    if not yes:
        click.confirm(f"Remove '{title}' for good?", abort=True)
    done = client.ask("POST", f"{address}/forget", version="*")
    if as_json:
        print_json(done)
        return
    say(f"Forgotten: {done['title'] or memory_id}")
    for path in done["removed"]:
        say(f"  removed {path}")
    for line in done["remains"]:
        say(f"What remains: {line}")


@click.command()
@click.argument("memory_ids", nargs=-1)
@click.option("--allow", is_flag=True, help="Say yes: git may carry these memories.")
@click.option("--all", "every", is_flag=True, help="All that are held.")
@vault_option
@json_option
def secrets(
    memory_ids: tuple[str, ...], allow: bool, every: bool, vault: Path | None, as_json: bool
) -> None:
    """List memories in which something looks like a password or key, and let git have them.

    They are kept as they are, but out of git until you say yes with --allow.
    """
    client = client_of(vault)
    held = _pages(client, "/api/secrets")
    if allow:
        wanted = [item["id"] for item in held] if every else list(memory_ids)
        if not wanted:
            raise Failure("say which memories, by their ids, or --all of them")
        for memory_id in wanted:
            client.ask("PATCH", _address(memory_id), body={"secrets_ok": True}, version="*")
        say(f"{len(wanted)} allowed; git carries them from now on.")
    elif as_json:
        print_json(held)
    elif not held:
        say("Nothing is held out of git.")
    else:
        for item in held:
            say(f"{item['id']}  {item['path']}")
            for found in item["found"]:
                say(f"    {found['kind']}, line {found['line']} of the {found['where']}")
        say("Let git have them with: neurigraph secrets --allow ID… (or --all)")


COMMANDS = (import_, export_, forget, secrets)
