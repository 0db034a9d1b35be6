"""A real Chromium on a real daemon; whatever the browser complains about fails the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_vault import HOSTILE, MadeVault
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect, sync_playwright
from viewer_pages import FLAGS, NEEDLE, NewPage

from browser import installed
from daemon_process import Daemon, daemon

expect.set_options(timeout=10_000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[NewPage]:
    """Open pages with `color_scheme`, `viewport` and so on, and listen for complaints."""
    complaints: list[str] = []
    contexts = []

    def heard(message: ConsoleMessage) -> None:
        # that a request was refused is told to the person by the page itself
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def failed(error: Error) -> None:
        complaints.append(str(error))

    def make(**options: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", heard)
        page.on("pageerror", failed)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five topics, 60 memories: one with 400 turns and a needle in the 301st, one hostile."""
    root = tmp_path_factory.mktemp("vault") / "Notes"
    made = MadeVault(root)
    made.topics()
    for number in range(3, 61):
        made.memory(number)
    turns = made.conversation(400).split("## ")
    turns[301] = turns[301].rstrip() + f" {NEEDLE}\n\n"
    made.memory(1, "Medical/Medications", "## ".join(turns))
    made.memory(2, "Medical/Conditions", HOSTILE, summary="<script>window.pwned = 5</script> Hm.")
    return root


@pytest.fixture(scope="module")
def running(vault: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with daemon(vault, tmp_path_factory.mktemp("state")) as started:
        started.ready(vectors=False)
        yield started
