"""Whatever can be used is written down: settings, REST routes, commands."""

from __future__ import annotations

import click

from make_docs import DOCS, settings_page
from neurigraph.cli import commands
from neurigraph.rest_api import routes
from neurigraph.rest_import import import_routes
from neurigraph.rest_jobs import job_routes


def test_every_setting_is_on_the_settings_page() -> None:
    written = (DOCS / "settings.md").read_text("utf-8")
    assert written == settings_page(), "run: make docs"


def test_every_rest_route_is_on_the_api_page() -> None:
    written = (DOCS / "api.md").read_text("utf-8")
    every = [*routes(), *job_routes(), *import_routes()]
    missing = {r.path for r in every if r.path not in written}
    assert not missing


def test_every_command_says_what_it_does_and_is_on_the_commands_page() -> None:
    written = (DOCS / "commands.md").read_text("utf-8")
    for name, command in commands.commands.items():
        if command.hidden:
            continue
        assert command.help, name
        assert f"neurigraph {name}" in written, name
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert any(o in written for o in option.opts), f"{name} {option.opts}"


def test_the_readme_links_to_pages_that_exist() -> None:
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    for part in readme.split("](docs/")[1:]:
        assert (DOCS / part.split(")")[0]).exists(), part.split(")")[0]
