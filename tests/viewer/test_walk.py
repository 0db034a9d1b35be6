"""A person walks through the viewer: from the graph to a conversation, and back again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect
from viewer_pages import NEEDLE, NewPage

from daemon_process import Daemon


def at_rest(shown: Locator) -> FloatRect:
    """Where something stands once it has stopped moving for half a second."""
    last = None
    for _ in range(40):
        box = shown.bounding_box()
        if box is not None and box == last:
            return box
        last = box
        shown.page.wait_for_timeout(500)
    raise AssertionError("it never came to rest")


def test_from_the_graph_to_a_conversation(running: Daemon, page: Page) -> None:
    page.goto(running.address)
    topics = page.get_by_role("navigation", name="Topics")
    expect(topics.get_by_role("link")).to_have_count(5)
    topics.get_by_role("link", name="Medical").press("Enter")
    expect(page.get_by_role("heading", name="Medical", level=1)).to_be_visible()
    page.get_by_role("navigation", name="Within Medical").get_by_role(
        "link", name="Medications"
    ).press("Enter")
    expect(page.get_by_role("heading", name="Medications", level=1)).to_be_visible()
    first = page.get_by_role("article").filter(has=page.get_by_role("link", name="Memory 00001"))
    first.get_by_role("button", name="Read the conversation").click()
    expect(first.get_by_text("400 turns")).to_be_visible()
    expect(first.get_by_text("User").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Medical", level=1)).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", name="Medications", level=1)).to_be_visible()
    expect(page.get_by_text("400 turns")).to_be_visible()


def test_clicking_a_topic_in_the_picture_enters_it(running: Daemon, page: Page) -> None:
    page.goto(running.address)
    topics = page.get_by_role("navigation", name="Topics")
    topics.get_by_role("link", name="Travel").focus()
    expect(page.get_by_text("All about travel")).to_be_visible()
    # The card stands beside the node that it is about, 14 pixels from its rim.
    card = page.get_by_text("All about travel").locator("..")
    box = at_rest(card)
    topics.get_by_role("link", name="Travel").blur()
    expect(card).to_have_count(0)
    page.mouse.move(box["x"] - 20, box["y"] + 24)
    expect(card).to_be_visible()
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_role("heading", name="Travel", level=1)).to_be_visible()


def test_a_node_stays_where_it_was_dragged(running: Daemon, page: Page) -> None:
    page.goto(running.address)
    link = page.get_by_role("navigation", name="Topics").get_by_role("link", name="Travel")
    link.focus()
    box = at_rest(page.get_by_text("All about travel").locator(".."))
    page.mouse.move(box["x"] - 20, box["y"] + 24)
    page.wait_for_timeout(200)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] - 60, steps=8)
    page.mouse.up()
    stood = "localStorage.getItem('neurigraph.pins.all')"
    page.wait_for_function(f"{stood} !== null")
    pins = page.evaluate(stood)
    assert "/topic/" not in page.url, "dragging is not entering"
    page.reload()
    expect(link).to_be_attached()
    at_rest(page.locator(".graph canvas"))
    assert page.evaluate(stood) == pins


def test_search_answers_as_one_types_and_leads_to_the_passage(running: Daemon, page: Page) -> None:
    page.goto(running.address)
    expect(page.get_by_label("Search your memory")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("zebra noon", delay=20)
    option = page.get_by_role("option", name=re.compile("Memory 00001"))
    expect(option).to_be_visible()
    expect(option.locator("mark").first).to_be_visible()
    expect(option).to_contain_text("Medical › Medications")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/memory/m-.*q=zebra"))
    found = page.locator("mark", has_text="zebra")
    expect(found).to_be_in_viewport()
    expect(page.locator(".turn", has_text=NEEDLE)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Topics")).to_be_attached()


def test_all_results_have_a_page_of_their_own(running: Daemon, page: Page) -> None:
    page.goto(f"{running.address}/search?q=ledger")
    results = page.get_by_role("main").get_by_role("listitem")
    expect(results.first).to_contain_text("score")
    page.goto(f"{running.address}/search?q=qwertzuiop")
    expect(page.get_by_text("Nothing about “qwertzuiop”")).to_be_visible()


def test_hostile_memories_are_text(running: Daemon, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{running.address}/?view=feed")
    page.get_by_label("Search your memory").fill("never closed")
    page.get_by_role("option", name=re.compile("Memory 00002")).click()
    expect(page.get_by_text("<script>window.pwned = 1</script>")).to_be_visible()
    expect(page.get_by_text("<script>window.pwned = 5</script>")).to_be_visible()
    assert page.locator(".prose script, .prose img, .prose svg, .prose iframe").count() == 0
    assert page.locator(".prose a[href^='javascript']").count() == 0
    assert page.evaluate("window.pwned") is None
    assert not [url for url in asked if not url.startswith(running.address)]


def test_table_sorts_by_its_headings_and_rows_open(running: Daemon, page: Page) -> None:
    page.goto(f"{running.address}/?view=table")
    rows = page.locator("tbody tr[aria-rowindex]")
    expect(rows.first).to_be_visible()
    page.get_by_role("button", name="Topic").click()
    expect(page.get_by_role("columnheader", name="Topic")).to_have_attribute(
        "aria-sort", "ascending"
    )
    expect(rows.first).to_contain_text("Home › Garden")
    page.get_by_role("button", name="Topic").click()
    expect(rows.first).to_contain_text("Work › Roadmap")
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/memory/m-"))


def test_tree_is_walked_with_the_arrow_keys(running: Daemon, page: Page) -> None:
    page.goto(f"{running.address}/?view=tree")
    items = page.get_by_role("treeitem")
    expect(items).to_have_count(5)
    items.first.focus()
    page.keyboard.press("ArrowRight")
    expect(items.nth(1)).to_have_attribute("aria-level", "2")
    expect(items.nth(1)).to_contain_text("Garden")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(items.nth(2)).to_be_focused()
    expect(items.nth(2)).to_contain_text("Memory")
    page.keyboard.press("ArrowLeft")
    expect(items.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/memory/m-"))


def test_everything_is_reached_by_keys_alone(running: Daemon, page: Page) -> None:
    page.goto(running.address)
    expect(page.get_by_role("navigation", name="Topics").get_by_role("link")).to_have_count(5)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("f")
    expect(page.get_by_role("article").first).to_be_visible()
    page.get_by_role("article").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("article").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Conversation").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="Conversation")).to_have_count(0)
    page.keyboard.press("t")
    expect(page.get_by_role("table")).to_be_visible()
    page.keyboard.press("r")
    expect(page.get_by_role("tree")).to_be_visible()
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Status")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tree")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Search your memory")).to_be_focused()


def test_the_switch_remembers(running: Daemon, page: Page) -> None:
    page.goto(running.address)
    nodes = running.get("/api/graph/broad")["items"]
    inner = running.get(f"/api/graph/broad/{nodes[0]['id']}/focused")["items"]
    page.get_by_role("link", name="Table").click()
    page.goto(f"{running.address}/topic/{nodes[0]['id']}/{inner[0]['id']}")
    expect(page.get_by_role("table")).to_be_visible()


def test_on_a_phone_feed_and_search_come_first(running: Daemon, new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(running.address)
    expect(page.get_by_role("article").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.locator(".graph canvas")).to_be_visible()
    page.get_by_role("navigation", name="Topics").get_by_role("link", name="Work").press("Enter")
    page.get_by_role("button", name="Show details").click()
    expect(page.get_by_role("dialog", name="Details")).to_be_visible()


def test_dark_follows_the_system(running: Daemon, new_page: NewPage) -> None:
    page = new_page(color_scheme="dark")
    page.goto(running.address)
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in re.findall(r"\d+", color)[:3]) < 150
    page.emulate_media(color_scheme="light")
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in re.findall(r"\d+", color)[:3]) > 600


def test_an_unknown_address_and_a_lost_daemon_are_told_in_words(
    vault: Path, tmp_path: Path, running: Daemon, page: Page
) -> None:
    page.goto(f"{running.address}/memory/m-20200101-00000000")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.goto(f"{running.address}/nowhere")
    expect(page.get_by_text("There is nothing at this address")).to_be_visible()
    page.route("**/api/memory?*", lambda route: route.abort())
    page.goto(f"{running.address}/?view=feed")
    expect(page.get_by_text("The daemon does not answer")).to_be_visible()
    page.unroute("**/api/memory?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("article").first).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/?view=feed", "/status", "/search?q=ledger"])
def test_no_inline_script_and_no_foreign_source(running: Daemon, page: Page, path: str) -> None:
    answer = page.goto(running.address + path)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    script = next(part for part in policy.split(";") if part.strip().startswith("script-src"))
    assert script.split() == ["script-src", "'self'"]
