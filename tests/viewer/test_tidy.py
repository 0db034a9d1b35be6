"""A person tidies the memory in the viewer, while notes change on disk."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from daemon_process import Daemon


def note_of(vault: Path, number: int) -> Path:
    """The note of a memory, wherever it is now."""
    return next(p for p in vault.rglob("*.md") if f"Memory {number:05d}" in p.name)


def shown(page: Page, running: Daemon, number: int) -> Locator:
    """The card of a memory in its topic's feed."""
    memory = next(
        m
        for m in running.get("/api/memory", per_page=100)["items"]
        if m["title"].startswith(f"Memory {number:05d}")
    )
    page.goto(f"{running.address}/topic/{memory['broad_id']}/{memory['focused_id']}?view=feed")
    card = page.get_by_role("article").filter(has_text=f"Memory {number:05d}")
    card.scroll_into_view_if_needed()
    return card


def choose(page: Page, card: Locator, entry: str) -> None:
    """Take an entry from a card's menu."""
    card.get_by_role("button", name="What to do with").click()
    page.get_by_role("menuitem", name=entry, exact=True).click()


def test_an_edit_in_place_reaches_the_note_and_nothing_else(
    running: Daemon, vault: Path, page: Page
) -> None:
    card = shown(page, running, 3)
    before = note_of(vault, 3).read_text("utf-8")
    choose(page, card, "Edit")
    page.get_by_label("Summary").fill("Rewritten in the viewer.")
    page.get_by_label("Keywords").fill("alpha, beta, alpha")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Rewritten in the viewer.")).to_be_visible()
    expect(page.get_by_role("button", name="beta")).to_be_visible()
    after = note_of(vault, 3).read_text("utf-8")
    assert "Rewritten in the viewer." in after
    assert "  - alpha\n  - beta\n" in after
    kept = [line for line in before.splitlines() if line.startswith(("type:", "id:", "created:"))]
    assert all(line in after.splitlines() for line in kept)


def test_a_change_made_elsewhere_meanwhile_is_shown_not_overwritten(
    running: Daemon, vault: Path, page: Page
) -> None:
    card = shown(page, running, 4)
    choose(page, card, "Edit")
    page.get_by_label("Summary").fill("Mine.")
    note = note_of(vault, 4)
    head, _, _ = note.read_text("utf-8").partition("## Summary")
    note.write_text(f"{head}## Summary\nTheirs, from an editor.\n", "utf-8")
    expect(page.get_by_text("Changed elsewhere meanwhile")).to_be_visible()
    expect(page.get_by_text("Theirs, from an editor.")).to_be_visible()
    assert "Theirs" in note.read_text("utf-8")
    page.get_by_role("button", name="Save mine").click()
    expect(page.get_by_label("Summary")).to_have_count(0)
    assert "Mine." in note.read_text("utf-8")


def test_their_version_can_be_taken_over(running: Daemon, vault: Path, page: Page) -> None:
    card = shown(page, running, 5)
    choose(page, card, "Edit")
    page.get_by_label("Summary").fill("Mine.")
    note = note_of(vault, 5)
    head, _, _ = note.read_text("utf-8").partition("## Summary")
    note.write_text(f"{head}## Summary\nTheirs again.\n", "utf-8")
    page.get_by_role("button", name="Take this one").click()
    expect(page.get_by_label("Summary")).to_have_value("Theirs again.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Summary")).to_have_count(0)
    assert "Theirs again." in note.read_text("utf-8")


def test_deleting_and_undoing_bring_the_note_back_as_it_was(
    running: Daemon, vault: Path, page: Page
) -> None:
    card = shown(page, running, 6)
    note = note_of(vault, 6)
    before = note.read_bytes()
    choose(page, card, "Delete")
    expect(card).to_have_count(0)
    running.until(lambda: not note.exists(), "the deletion")
    page.get_by_role("button", name="Undo").click()
    expect(card).to_have_count(1)
    assert note.read_bytes() == before


def test_a_memory_moves_to_another_topic_and_back(running: Daemon, vault: Path, page: Page) -> None:
    card = shown(page, running, 7)
    home = note_of(vault, 7).parent
    choose(page, card, "Move")
    page.get_by_role("combobox", name="New topic").fill("portugal")
    page.get_by_role("option", name="Travel › Portugal").click()
    expect(page.get_by_text("Moved to Travel › Portugal.")).to_be_visible()
    expect(card).to_have_count(0)
    assert note_of(vault, 7).parent.name == "Portugal"
    page.get_by_role("button", name="Undo").click()
    expect(card).to_have_count(1)
    assert note_of(vault, 7).parent == home


def test_pinned_and_private_stand_on_the_card_and_in_the_note(
    running: Daemon, vault: Path, page: Page
) -> None:
    card = shown(page, running, 8)
    choose(page, card, "Pin")
    expect(card.get_by_text("Pinned")).to_be_visible()
    choose(page, card, "Make private")
    expect(card.get_by_text("Private")).to_be_visible()
    text = note_of(vault, 8).read_text("utf-8")
    assert "pinned: true" in text
    assert "private: true" in text


def test_an_edit_on_disk_slips_in_without_losing_the_place(
    running: Daemon, vault: Path, page: Page
) -> None:
    page.goto(f"{running.address}/?view=feed")
    cards = page.get_by_role("article")
    expect(cards.first).to_be_visible()
    scroller = page.locator(".feed")
    scroller.evaluate("element => element.scrollTo(0, 1500)")
    expect(page.get_by_role("article").filter(has_text="Memory 00010")).to_be_visible()
    reading = page.get_by_role("article").filter(has_text="Memory 00012")
    reading.scroll_into_view_if_needed()
    reading.get_by_role("button", name="Read the conversation").click()
    expect(reading.get_by_role("region", name="Conversation")).to_be_visible()
    at = reading.bounding_box()
    note = note_of(vault, 12)
    head, _, _ = note.read_text("utf-8").partition("## Summary")
    started = time.monotonic()
    note.write_text(f"{head}## Summary\nEdited in Obsidian.\n", "utf-8")
    expect(reading.get_by_text("Edited in Obsidian.")).to_be_visible(timeout=10_000)
    took = time.monotonic() - started
    expect(reading.get_by_role("region", name="Conversation")).to_be_visible()
    now = reading.bounding_box()
    assert at is not None and now is not None
    assert abs(at["y"] - now["y"]) < 3
    assert took < 2


def test_a_new_memory_above_does_not_move_what_is_being_read(
    running: Daemon, vault: Path, page: Page
) -> None:
    page.goto(f"{running.address}/?view=feed")
    expect(page.get_by_role("article").first).to_be_visible()
    page.locator(".feed").evaluate("element => element.scrollTo(0, 2500)")
    reading = page.get_by_role("article").filter(has_text="Memory 00014")
    expect(reading).to_be_in_viewport()
    before = reading.bounding_box()
    running.cli("save", "--topic", "Work/Hiring", "--title", "Brand new", stdin="A: hi\nB: hello")
    expect(page.get_by_text("61 memories")).to_be_visible()
    page.wait_for_timeout(300)
    after = reading.bounding_box()
    assert before is not None and after is not None
    assert abs(before["y"] - after["y"]) < 3


def test_topics_are_renamed_recoloured_joined_and_warmed(
    running: Daemon, vault: Path, page: Page
) -> None:
    topic = next(n for n in running.get("/api/graph/broad")["items"] if n["name"] == "Home")
    inner = running.get(f"/api/graph/broad/{topic['id']}/focused")["items"]
    garden = next(n for n in inner if n["name"] == "Garden")
    page.goto(f"{running.address}/topic/{topic['id']}/{garden['id']}")
    panel = page.get_by_role("complementary", name="Details")
    panel.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("combobox", name="Topic to connect to").fill("japan")
    expect(page.get_by_role("option", name="Japan")).to_be_visible()
    page.keyboard.press("Enter")
    page.get_by_label("Relationship").fill("inspired_by")
    page.get_by_role("dialog").get_by_role("button", name="Connect").click()
    expect(panel.get_by_text("inspired by")).to_be_visible()
    assert "inspired_by" in (vault / "Home/Garden/Garden.md").read_text("utf-8")
    panel.get_by_role("button", name="What to do with “Garden”").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Name").fill("Balcony")
    page.get_by_role("radio", name="#30a46c").check(force=True)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Balcony", level=1)).to_be_visible()
    assert (vault / "Home/Balcony").is_dir()
    node = running.get(f"/api/graph/focused/{garden['id']}")
    assert (node["name"], node["color"]) == ("Balcony", "#30a46c")


def test_the_status_page_says_how_things_stand(running: Daemon, page: Page) -> None:
    page.goto(f"{running.address}/status")
    expect(page.get_by_role("heading", name="Temperature")).to_be_visible()
    expect(page.get_by_text("topics under 5 broad ones")).to_be_visible()


def test_what_looks_secret_is_listed_and_let_go_with_a_yes(running: Daemon, page: Page) -> None:
    said = "User: The key is sk-proj-" + "Ab3dEf6hIj9LmN2p" * 3 + "\n\nAssistant: Noted.\n"
    body = {"transcript": said, "title": "Keys of the boathouse"}
    made = running.http.post("/api/memory", json=body).json()
    memory = made["id"]
    page.goto(f"{running.address}/status")
    expect(page.get_by_role("heading", name="Held out of git")).to_be_visible()
    expect(page.get_by_role("link", name="Keys of the boathouse")).to_be_visible()
    page.get_by_role("button", name="Let git have Keys of the boathouse").click()
    expect(page.get_by_role("heading", name="Held out of git")).to_have_count(0)
    assert running.get(f"/api/memory/chunk/{memory}")["secrets"] == "allowed"
    running.http.request("DELETE", f"/api/memory/chunk/{memory}", headers={"If-Match": "*"})


@pytest.mark.parametrize("view", ["feed", "table"])
def test_filters_stand_in_the_address(running: Daemon, page: Page, view: str) -> None:
    page.goto(f"{running.address}/?view={view}&source_model=claude")
    claude = running.get("/api/memory", source_model="claude")["total"]
    expect(page.get_by_text(f"{claude} memories")).to_be_visible()
    page.get_by_role("button", name="Remove the filter").click()
    expect(page.get_by_text(f"{running.get('/api/memory')['total']} memories")).to_be_visible()
