"""What the viewer's tests share: how pages are opened, and the words that are hidden in a vault."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

NewPage = Callable[..., Page]
NEEDLE = "The zebra crossed the ledger at noon."
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
