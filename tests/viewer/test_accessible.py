"""Every view, menu and dialog is free of accessibility violations, light, dark and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from viewer_pages import NewPage

from daemon_process import Daemon

SETTLED = """
Promise.allSettled(
  document.getAnimations()
    .filter((a) => a.effect?.getComputedTiming().endTime !== Infinity)
    .map((a) => a.finished)
).then(() => undefined)
"""
AXE = Path(__file__).resolve().parents[2] / "viewer" / "node_modules" / "axe-core" / "axe.min.js"


def check(page: Page, what: str) -> None:
    """Fail with what axe finds wrong, and where."""
    page.evaluate(SETTLED)  # half faded in, any text has too little contrast
    # evaluated by the debugger, since the page's policy rightly refuses a foreign script
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map("
        "v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).join(', ')))"
    )
    assert found == [], what


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_views(running: Daemon, new_page: NewPage, scheme: str, width: int) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": width, "height": 820})
    topic = running.get("/api/graph/broad")["items"][1]
    inner = running.get(f"/api/graph/broad/{topic['id']}/focused")["items"][0]
    memory = running.get(f"/api/memory/{inner['id']}")["items"][0]
    place = f"/topic/{topic['id']}"
    views = {
        "/?view=graph": page.get_by_role("button", name="Fit everything in"),
        f"{place}?view=graph": page.get_by_role("button", name="Fit everything in"),
        f"{place}/{inner['id']}?view=feed": page.get_by_role("article").first,
        "/?view=table": page.locator("tbody tr[aria-rowindex]").first,
        "/?view=tree": page.get_by_role("treeitem").first,
        f"/memory/{memory['id']}?q=ledger": page.locator(".prose").first,
        "/search?q=ledger": page.get_by_text("score").first,
        "/status": page.get_by_role("heading", name="Temperature"),
        "/nowhere": page.get_by_text("There is nothing at this address"),
    }
    for path, sign in views.items():
        page.goto(running.address + path)
        expect(sign).to_be_visible()
        check(page, path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_opens_within_a_view(running: Daemon, new_page: NewPage, scheme: str) -> None:
    page = new_page(color_scheme=scheme)
    page.goto(f"{running.address}/?view=feed")
    page.get_by_role("button", name="Read the conversation").first.click()
    expect(page.locator(".prose").first).to_be_visible()
    page.get_by_role("button", name="Filter").click()
    check(page, "an open conversation and the filters")
    page.get_by_role("button", name="What to do with").first.click()
    expect(page.get_by_role("menu")).to_be_visible()
    check(page, "a menu")
    page.get_by_role("menuitem", name="Move").click()
    expect(page.get_by_role("option").first).to_be_visible()
    check(page, "moving")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="What to do with").first.click()
    page.get_by_role("menuitem", name="Edit").click()
    expect(page.get_by_role("menu")).to_have_count(0)
    check(page, "editing")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("ledger")
    expect(page.get_by_role("option").first).to_be_visible()
    check(page, "results under the search field")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "the keys")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.get_by_role("button", name="New topic").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "a new topic")
