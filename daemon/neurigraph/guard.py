"""Keeps other web pages and other machines away from the daemon.

A page that a person happens to visit can send requests to loopback, and with a rebound DNS name
even read the answers. So every request must name a host that is ours, must not come from another
origin, and off loopback must carry the token.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "neurigraph_token"

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    name = host.strip("[]").lower()
    if name in ("localhost", ""):
        return name == "localhost"
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """An ASGI app that lets only our own requests through to the one that it wraps."""

    def __init__(self, app: ASGIApp, allowed_hosts: Iterable[str], token: str | None) -> None:
        """`token` is what every request must carry, or None when only loopback is served."""
        self._app, self._token = app, token
        self._allowed = {h.lower().strip("[]") for h in allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 or 401, or pass the request on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in SECURITY_HEADERS.items()
                        if name.lower().encode() not in present
                    ),
                ]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return _refuse(403, "wrong_host", f"this daemon does not answer for host '{host}'")
        origin = headers.get("origin")
        if origin is not None and not self._same_origin(origin, host):
            return _refuse(403, "wrong_origin", "requests from other web pages are refused")
        site = headers.get("sec-fetch-site", "none")
        navigates = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
        if site not in ("same-origin", "none") and not (
            navigates and not scope["path"].startswith(("/api", "/mcp"))
        ):
            return _refuse(403, "wrong_origin", "requests from other web pages are refused")
        return self._without_token(scope, headers) if self._token else None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return is_loopback(name) or name.lower() in self._allowed

    def _same_origin(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        given = headers.get("authorization", "")
        if given.lower().startswith("bearer ") and self._fits(given[7:].strip()):
            return None
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        if cookie is not None and self._fits(cookie.value):
            return None
        query = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and scope["method"] == "GET" and self._fits(query):
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(COOKIE, query, httponly=True, samesite="strict", max_age=31_536_000)
            return answer
        return _refuse(
            401,
            "token_needed",
            "this daemon is reachable from other machines and needs its token; "
            "`neurigraph status` shows it on the machine where it runs",
        )

    def _fits(self, given: str) -> bool:
        return bool(self._token) and hmac.compare_digest(
            given.encode("utf-8", "replace"), (self._token or "").encode()
        )


def _refuse(status: int, code: str, message: str) -> Response:
    return JSONResponse(
        {"error": {"code": code, "message": message}}, status, headers=SECURITY_HEADERS
    )
