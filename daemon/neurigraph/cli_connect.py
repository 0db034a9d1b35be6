"""The commands that join AIs to the memory: the stdio proxy, and the clients' configurations."""

from __future__ import annotations

from pathlib import Path

import click

from neurigraph.client import DaemonUnreachable, running, start
from neurigraph.lock import DaemonCard
from neurigraph.terminal import Failure, chosen, ensure_vault, vault_argument


@click.command()
@vault_argument
@click.option("--scope", default="", help="Show and change only this topic, such as Work.")
def mcp(vault: Path | None, scope: str) -> None:
    """Serve MCP over standard input and output, for an AI's configuration.

    A thin proxy to the daemon, which it starts if need be.
    """
    from neurigraph.mcp_proxy import serve_stdio

    path = chosen(vault)

    def find() -> DaemonCard:
        try:
            ensure_vault(path)
            return running(path) or start(path)
        except (Failure, OSError) as error:
            raise DaemonUnreachable(str(error)) from error

    serve_stdio(find, scope.strip().strip("/"))


COMMANDS = (mcp,)
