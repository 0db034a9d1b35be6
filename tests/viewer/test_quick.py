"""With 10,000 memories the first paint, long lists and a dense graph stay quick.

Frames are measured by the main thread's CPU time in Chromium's own trace, so that whatever else
the machine does counts for nothing.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_vault import MadeVault
from playwright.sync_api import Page, expect
from viewer_pages import NewPage

from daemon_process import Daemon, daemon

MEMORIES = 10_000
CORNERS = 500
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
LONGEST_INDEXING_SECONDS = 150


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    root = tmp_path_factory.mktemp("large") / "Notes"
    made = MadeVault(root)
    made.topics()
    made.topics({"Atlas": [f"Corner {number}" for number in range(CORNERS)]}, edges=4)
    made.memory(0, transcript=made.conversation(3000))
    for number in range(1, MEMORIES):
        made.memory(number, transcript="## User\n\nHi.\n")
    with daemon(root, tmp_path_factory.mktemp("state")) as started:
        for _ in range(LONGEST_INDEXING_SECONDS):
            status = started.get("/api/status")
            behind = status["index"]["keyword_behind"] + status["index"]["vector_behind"]
            if status["state"] == "ready" and behind == 0:
                break
            time.sleep(1)
        yield started


def tasks(page: Page, work: Callable[[], None]) -> list[float]:
    """CPU milliseconds of each task of the page's main thread while `work` runs, longest first."""
    session = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    ended: list[bool] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    session.send("Tracing.start", {"categories": "devtools.timeline,toplevel"})
    work()
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    mains = {
        (e["pid"], e["tid"])
        for e in events
        if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"
    }
    found = [
        e.get("tdur", 0) / 1000
        for e in events
        if e["name"].endswith("RunTask") and e["ph"] == "X" and (e["pid"], e["tid"]) in mains
    ]
    assert found, "the trace holds no task"
    return sorted(found, reverse=True)


def test_the_first_paint_takes_less_than_a_second(large: Daemon, new_page: NewPage) -> None:
    for path, sign in (("/", "link"), ("/?view=feed", "article"), ("/?view=table", "row")):
        paints = []
        for _ in range(3):  # a fresh, cold page each; the best is the least disturbed
            page = new_page()
            page.goto(large.address + path)
            expect(page.get_by_role("main").get_by_role(sign).first).to_be_attached()
            paints.append(page.evaluate(FIRST_PAINT))
        assert min(paints) < 1000, (path, paints)


@pytest.mark.parametrize("view", ["feed", "table"])
def test_scrolling_thousands_leaves_no_frame_over_50_ms(
    large: Daemon, page: Page, view: str
) -> None:
    page.goto(f"{large.address}/?view={view}")
    expect(page.get_by_text("10,000 memories")).to_be_visible()
    page.mouse.move(640, 500)
    page.wait_for_timeout(300)

    def scroll() -> None:
        for step in range(120):
            page.mouse.wheel(0, -400 if step > 100 else 150 if step < 60 else 600)
            page.wait_for_timeout(16)

    longest = tasks(page, scroll)
    assert longest[0] < 50, longest[:5]


def test_a_conversation_of_3000_turns_is_read_without_a_stutter(large: Daemon, page: Page) -> None:
    memory = large.get("/api/memory", per_page=1)["items"][0]
    page.goto(f"{large.address}/memory/{memory['id']}")
    expect(page.get_by_text("3,000 turns")).to_be_visible()
    page.mouse.move(640, 500)

    def scroll() -> None:
        for step in range(100):
            page.mouse.wheel(0, -300 if step > 85 else 150 if step < 50 else 900)
            page.wait_for_timeout(16)

    longest = tasks(page, scroll)
    assert longest[0] < 50, longest[:5]
    assert page.locator(".turn").count() < 60


def test_a_dense_graph_is_drawn_30_times_a_second(large: Daemon, page: Page) -> None:
    atlas = next(n for n in large.get("/api/graph/broad")["items"] if n["name"] == "Atlas")
    assert large.get(f"/api/graph/edges/{atlas['id']}")["total"] >= 4 * CORNERS
    page.goto(f"{large.address}/topic/{atlas['id']}?view=graph")
    links = page.get_by_role("navigation", name="Within Atlas").get_by_role("link")
    expect(links.first).to_be_attached()
    page.wait_for_timeout(3500)

    def pan() -> None:
        page.mouse.move(500, 450)
        page.mouse.down()
        for step in range(60):
            page.mouse.move(500 + step * 3, 450 + step * 2)
            page.wait_for_timeout(16)
        page.mouse.up()

    drawn = [task for task in tasks(page, pan) if task > 4]
    assert drawn
    assert sorted(drawn)[len(drawn) // 2] < 33, drawn[:5]


def test_the_script_is_small() -> None:
    from neurigraph.resources import viewer_dir

    scripts = list((viewer_dir() / "assets").glob("*.js"))
    assert scripts
    assert sum(len(gzip.compress(Path(s).read_bytes())) for s in scripts) < 300_000
