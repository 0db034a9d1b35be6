"""A web page of somebody else's, in a real browser: it neither reads nor writes a memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

from browser import installed
from daemon_process import Daemon, daemon
from faults.ledger import Ledger, conversation

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    # as a name server would that answers with the visitor's own machine
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
]

ATTEMPTS = """
async (daemon) => {
  const tried = {};
  const body = JSON.stringify({transcript: "## User\\n\\nwritten by the evil page"});
  const read = async (name, url, options) => {
    try {
      const answer = await fetch(url, options);
      tried[name] = {type: answer.type, status: answer.status, text: await answer.text()};
    } catch (error) { tried[name] = {refused: String(error)}; }
  };
  await read("get", daemon + "/api/search?q=quince");
  await read("get no-cors", daemon + "/api/search?q=quince", {mode: "no-cors"});
  await read("with cookies", daemon + "/api/status", {credentials: "include"});
  await read("post json", daemon + "/api/memory", {method: "POST", body,
    headers: {"Content-Type": "application/json"}});
  await read("post plain", daemon + "/api/memory", {method: "POST", body});
  await read("post no-cors", daemon + "/api/memory", {method: "POST", body, mode: "no-cors",
    headers: {"Content-Type": "text/plain"}});
  await read("mcp", daemon + "/mcp", {method: "POST", mode: "no-cors", body: JSON.stringify({
    jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "save_conversation",
    arguments: {content: "## User\\n\\nwritten by the evil page"}}})});
  await read("delete", daemon + "/api/memory/chunk/ID", {method: "DELETE",
    headers: {"If-Match": "*"}});
  await read("reindex", daemon + "/api/reindex", {method: "POST", mode: "no-cors"});
  const loads = (name, element, url) => new Promise((done) => {
    element.onload = () => { tried[name] = {loaded: true}; done(); };
    element.onerror = () => { tried[name] = {refused: "not loaded"}; done(); };
    element.src = url;
    document.body.append(element);
    setTimeout(done, 3000);
  });
  await loads("img", new Image(), daemon + "/favicon.svg");
  await loads("script", document.createElement("script"), daemon + "/api/search?q=quince");
  const frame = document.createElement("iframe");
  await loads("frame", frame, daemon + "/");
  try { tried["frame text"] = {text: frame.contentDocument.body.innerText}; }
  catch (error) { tried["frame text"] = {refused: String(error)}; }
  await new Promise((done) => {
    const socket = new WebSocket(daemon.replace("http", "ws") + "/api/events");
    socket.onopen = () => { tried["websocket"] = {opened: true}; done(); };
    socket.onerror = () => { tried["websocket"] = {refused: "closed"}; done(); };
  });
  await new Promise((done) => {
    const events = new EventSource(daemon + "/api/events");
    events.onopen = () => { tried["events"] = {opened: true}; events.close(); done(); };
    events.onerror = () => { tried["events"] = {refused: "error"}; events.close(); done(); };
  });
  const target = document.createElement("iframe");
  target.name = "target";
  document.body.append(target);
  const form = document.createElement("form");
  form.method = "POST"; form.target = "target"; form.enctype = "text/plain";
  form.action = daemon + "/api/memory";
  const field = document.createElement("input");
  field.name = '{"transcript": "## User\\n\\nwritten by the evil page", "title": "';
  field.value = '"}';
  form.append(field); document.body.append(form);
  form.submit();
  await new Promise((done) => setTimeout(done, 700));
  return tried;
}
"""


FOLLOW = "address => { location.href = address }"


class EvilPage(BaseHTTPRequestHandler):
    """An empty page at every address."""

    def do_GET(self) -> None:
        """Answer it."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title><body>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def evil() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(EvilPage))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    place: Path = tmp_path_factory.mktemp("pages")
    (place / "vault").mkdir()
    with daemon(place / "vault", place / "state", NEURIGRAPH_INDEX_EMBEDDER="none") as started:
        started.ready(vectors=False)
        assert Ledger().save(started.http, conversation("quince"))
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.example"])
def test_another_page_neither_reads_nor_writes(
    browser: Browser, running: Daemon, evil: int, host: str
) -> None:
    page = browser.new_page()
    page.goto(f"http://{host}:{evil}/")
    memory_id = running.search("quince")[0]["id"]
    tried = page.evaluate(ATTEMPTS.replace("chunk/ID", f"chunk/{memory_id}"), running.address)
    page.close()
    assert len(tried) == 15
    for name, result in tried.items():
        told = json.dumps(result)
        assert "quince" not in told and "vault" not in told, f"{name}: {told}"
        assert "loaded" not in result or name == "frame", f"{name}: {told}"
        assert "opened" not in result, f"{name}: {told}"
        assert "status" not in result or result["type"] == "opaque", f"{name}: {told}"
    assert not running.search('"evil page"')
    assert [hit["id"] for hit in running.search("quince")] == [memory_id]
    assert running.http.get("/api/jobs/reindex").status_code == 404


def test_a_rebound_name_gets_nothing(browser: Browser, running: Daemon) -> None:
    page = browser.new_page()
    port = running.address.rpartition(":")[2]
    answer = page.goto(f"http://evil.example:{port}/api/search?q=quince")
    assert answer is not None and answer.status == 403
    assert "quince" not in page.content()
    tried = page.evaluate(
        """async () => {
          const body = JSON.stringify({transcript: "## User\\n\\nwritten by the evil page"});
          const read = await fetch("/api/search?q=quince");
          const write = await fetch("/api/memory", {method: "POST", body});
          return [read.status, await read.text(), write.status];
        }"""
    )
    page.close()
    assert tried[0] == tried[2] == 403
    assert "patience" not in tried[1]
    assert not running.search('"evil page"')


def test_a_link_to_the_viewer_works_and_one_to_the_api_does_not(
    browser: Browser, running: Daemon, evil: int
) -> None:
    page = browser.new_page()
    page.goto(f"http://localhost:{evil}/")
    page.evaluate(
        "address => { location.href = address }", f"{running.address}/api/search?q=quince"
    )
    page.wait_for_url(f"{running.address}/**")
    assert "patience" not in page.content()
    try:
        page.goto(f"http://localhost:{evil}/")
        page.evaluate(FOLLOW, f"{running.address}/")
        page.wait_for_url(f"{running.address}/**")
    except Error as error:  # pragma: no cover
        raise AssertionError("a link to the viewer must work") from error
    finally:
        page.close()
