"""A picture of each view, from the vault that a newcomer starts with.

They go to the test's own folder; with `NEURIGRAPH_PICTURES=1` into `docs/pictures`, for the README.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from viewer_pages import NewPage

from daemon_process import Daemon, daemon

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    vault = tmp_path_factory.mktemp("newcomer") / "Neurigraph"
    shutil.copytree(ROOT / "vault_template", vault)
    with daemon(vault, tmp_path_factory.mktemp("state")) as started:
        started.ready(vectors=False)
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if os.environ.get("NEURIGRAPH_PICTURES"):
        pictures = ROOT / "docs" / "pictures"
        pictures.mkdir(exist_ok=True)
        return pictures
    return tmp_path


def at_rest(page: Page) -> None:
    """Wait until the picture of the graph stays the same."""
    before = b""
    for _ in range(20):
        page.wait_for_timeout(400)
        now = page.screenshot()
        if now == before:
            return
        before = now


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_on_a_desk(
    newcomer: Daemon, new_page: NewPage, folder: Path, scheme: str
) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": 1280, "height": 800})

    def take(name: str) -> None:
        page.screenshot(path=folder / f"{name}-{scheme}.png")

    page.goto(newcomer.address)
    expect(page.get_by_role("button", name="Fit everything in")).to_be_visible()
    at_rest(page)
    take("graph")
    page.get_by_role("navigation", name="Topics").get_by_role("link", name="Medical").press("Enter")
    expect(page.get_by_role("complementary", name="Details")).to_be_visible()
    expect(page.get_by_role("navigation", name="Within Medical")).to_be_attached()
    at_rest(page)
    take("topic")
    page.goto(f"{newcomer.address}/?view=feed")
    expect(page.get_by_role("article").first).to_be_visible()
    take("feed")
    page.get_by_role("button", name="Read the conversation").first.click()
    expect(page.locator(".prose").first).to_be_visible()
    take("conversation")
    page.goto(f"{newcomer.address}/?view=table")
    expect(page.locator("tbody tr[aria-rowindex]").first).to_be_visible()
    take("table")
    page.goto(f"{newcomer.address}/?view=tree")
    page.get_by_role("treeitem", name=re.compile("Medical")).click()
    page.get_by_role("treeitem", name=re.compile("Medications")).click()
    expect(page.get_by_role("treeitem", name=re.compile("Lisinopril"))).to_be_visible()
    take("tree")
    page.keyboard.press("/")
    page.keyboard.type("blood pressure")
    expect(page.get_by_role("option").first).to_be_visible()
    page.wait_for_timeout(300)
    take("search")
    page.keyboard.press("Enter")
    expect(page.locator(".prose").first).to_be_visible()
    page.wait_for_timeout(500)
    take("memory")
    page.goto(f"{newcomer.address}/status")
    expect(page.get_by_role("heading", name="Temperature")).to_be_visible()
    # where a test's vault lies is of no use to a reader
    place = page.get_by_text(str(newcomer.vault))
    place.evaluate("element => { element.textContent = '/home/ada/Neurigraph' }")
    take("status")
    taken = sorted(folder.glob(f"*-{scheme}.png"))
    assert len(taken) == 9
    assert len({picture.read_bytes() for picture in taken}) == 9


def test_the_first_views_on_a_phone(newcomer: Daemon, new_page: NewPage, folder: Path) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(newcomer.address)
    expect(page.get_by_role("article").first).to_be_visible()
    page.screenshot(path=folder / "phone-feed.png")
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.get_by_role("button", name="Fit everything in")).to_be_visible()
    at_rest(page)
    page.screenshot(path=folder / "phone-graph.png")
    assert (folder / "phone-feed.png").read_bytes() != (folder / "phone-graph.png").read_bytes()
