"""What all commands share: the vault that is meant, errors as one line, ways to print."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from neurigraph.client import Client
from neurigraph.errors import NeurigraphError
from neurigraph.resources import default_vault

_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal takes as orders to it (ECMA-48): all control characters but tab and line end."""


def harmless(text: str) -> str:
    """Text from a vault, in which nothing can give the terminal orders."""
    return _ORDERS.sub("\N{REPLACEMENT CHARACTER}", text)


def say(text: str, *, err: bool = False) -> None:
    """Print a line that may hold words from a vault."""
    click.echo(harmless(text), err=err)


class Failure(click.ClickException):
    """One line on standard error that says what to do."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class

    def show(self, file: Any = None) -> None:
        """Print the line."""
        say(f"neurigraph: {self.format_message()}", err=True)

    def __str__(self) -> str:
        return self.format_message()


SETUP_CODES = {"vault_unavailable", "vault_in_use", "port_taken", "daemon_unreachable"}
"""Errors about the set-up rather than about what was asked: exit code 2."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn our errors into one line and an exit code."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        said = " ".join(error.format_message().split()).rstrip(".")
        command = error.ctx.command_path if error.ctx else "neurigraph"
        raise Failure(f"{said} (see: {command} --help)", 2) from error
    except NeurigraphError as error:
        raise Failure(str(error), 2 if error.code in SETUP_CODES else 1) from error
    except UnicodeEncodeError as error:
        raise Failure("a word of the command holds bytes that are not UTF-8", 2) from error


class Commands(click.Group):
    """Commands in the order in which a newcomer meets them; our errors as one line each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were defined."""
        return list(self.commands)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the command line."""
        with plain_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with plain_errors():
            return super().invoke(ctx)


class VaultPath(click.ParamType[Path]):
    """The path of a vault. An empty one is a variable that is not set, not the current folder."""

    name = "path"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """The path, or an error in one line."""
        if not str(value):
            self.fail("the vault's path is empty; is the variable set?", param, ctx)
        return Path(str(value))


vault_argument = click.argument("vault", required=False, type=VaultPath())
vault_option = click.option("--vault", type=VaultPath(), help="The vault, if not the usual one.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def chosen(vault: Path | None) -> Path:
    """The vault that is meant, as an absolute path."""
    return Path.cwd() / (vault or default_vault()).expanduser()


class _HarmlessConsole(Console):
    """A console on which only the program itself, and no text from a vault, has colours."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As segments, those with text made harmless."""
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=harmless(part.text))


def console() -> Console:
    """Where people read; plain when it is not a terminal."""
    return _HarmlessConsole(highlight=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: object) -> None:
    """A value for programs."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text))


def client_of(vault: Path | None) -> Client:
    """A client of the vault's daemon, which is started if need be."""
    path = chosen(vault)
    ensure_vault(path)
    client = Client.of(path)
    client.ready()
    return client


def must_be_somewhere(path: Path) -> None:
    """Raise `Failure` with exit code 2 for a vault that is not there, the usual one excepted."""
    if not path.exists() and path != chosen(None):
        raise Failure(f"there is no folder {path}; make it with: neurigraph init {path}", 2)


def ensure_vault(path: Path) -> bool:
    """See to it that there is a vault; the usual one is made from the template.

    Answers whether it was made. Raises `Failure` with exit code 2 where there is none.
    """
    if path.is_dir():
        return False
    if path.exists():
        raise Failure(f"{path} is not a folder; name the folder of your vault", 2)
    must_be_somewhere(path)
    from neurigraph.template import make_vault

    make_vault(path)
    return True
