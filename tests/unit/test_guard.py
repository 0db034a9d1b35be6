"""Who may ask the daemon: this machine's person, and nobody's web page."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from neurigraph.guard import COOKIE, Guard, is_loopback

TOKEN = "t" * 43


async def hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


def client(token: str | None = None, *hosts: str) -> TestClient:
    app = Starlette(routes=[Route("/{path:path}", hello, methods=["GET", "POST"])])
    return TestClient(Guard(app, hosts, token), base_url="http://127.0.0.1:7878")


@pytest.mark.parametrize("host", ["127.0.0.1:7878", "localhost", "[::1]:7878", "127.9.9.9"])
def test_loopback_names_are_served(host: str) -> None:
    assert client().get("/api/status", headers={"Host": host}).text == "hello"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7878",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.4",
        "",
        "0.0.0.0",
        "127.0.0.1@evil.example",
        "[::1",
        "2130706433",
    ],
)
def test_a_rebound_name_is_refused(host: str) -> None:
    answer = client().get("/api/status", headers={"Host": host})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "wrong_host"


def test_a_name_that_the_person_allowed_is_served() -> None:
    guarded = client(None, "desk.home")
    assert guarded.get("/", headers={"Host": "Desk.Home:7878"}).text == "hello"


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:9999",
        "file://",
        "http://localhost:7878",
        "https://127.0.0.1.evil.example:7878",
        "chrome-extension://abc",
    ],
)
@pytest.mark.parametrize("path", ["/api/status", "/", "/mcp", "/api/memory"])
def test_a_page_of_another_origin_can_neither_read_nor_write(origin: str, path: str) -> None:
    for method in ("GET", "POST"):
        answer = client().request(method, path, headers={"Origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


def test_a_script_or_image_of_another_page_cannot_be_pointed_at_us() -> None:
    for site in ("cross-site", "same-site"):
        answer = client().get("/api/status", headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 403


def test_a_link_from_elsewhere_may_open_the_viewer_but_no_answer() -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client().get("/memory/m-1", headers=headers).text == "hello"
    assert client().get("/api/memory", headers=headers).status_code == 403


def test_our_own_page_may_ask() -> None:
    headers = {"Origin": "http://127.0.0.1:7878", "Sec-Fetch-Site": "same-origin"}
    assert client().post("/api/memory", headers=headers).text == "hello"


def test_every_answer_forbids_scripts_and_frames() -> None:
    for answer in (client().get("/"), client().get("/", headers={"Host": "evil.example"})):
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_from_other_machines_the_token_is_needed_on_every_address() -> None:
    guarded = client(TOKEN)
    for path in ("/", "/api/status", "/mcp", "/assets/x.js"):
        assert guarded.get(path).status_code == 401
        wrong = {"Authorization": "Bearer " + "x" * 43}
        assert guarded.get(path, headers=wrong).status_code == 401
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert guarded.get(path, headers=right).text == "hello"


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address() -> None:
    guarded = client(TOKEN)
    answer = guarded.get(f"/?token={TOKEN}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    guarded.cookies.set(COOKIE, TOKEN)
    assert guarded.get("/api/status").text == "hello"
    assert client(TOKEN).get(f"/api/status?token={TOKEN}").status_code == 401


def test_which_addresses_are_this_machine() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    for other in ("0.0.0.0", "::", "192.168.0.2", "example.com", ""):
        assert not is_loopback(other)
