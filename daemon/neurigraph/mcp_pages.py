"""Cuts texts to sizes in tokens, so that no answer floods a context. Pure."""

from __future__ import annotations

from bisect import bisect_left

from neurigraph.vault.turns import estimate_tokens

SNAP = 200
"""Characters by which a page may begin earlier, so that it begins with a whole line."""


def at_token(text: str, tokens: int) -> int:
    """The character at which this many tokens are complete."""
    if text.isascii():
        return min(4 * tokens, len(text))
    return bisect_left(
        range(len(text)), tokens, key=lambda end: estimate_tokens(text[:end]) if end else 0
    )


def page_start(text: str, offset: int) -> int:
    """The character with which the page at this offset, in tokens, begins.

    A function of the offset alone, so that pages that follow one another join without gap: the
    line's start where it is near, else the very character.
    """
    here = at_token(text, offset)
    if here >= len(text):
        return len(text)
    line = text.rfind("\n", max(0, here - SNAP), here) + 1
    return line or here


def page(text: str, offset: int, limit: int) -> tuple[str, int | None]:
    """`limit` tokens from `offset`, more or less, and the offset of what follows, if any."""
    start = page_start(text, offset)
    end = page_start(text, offset + limit)
    return text[start:end], offset + limit if end < len(text) else None


def clip(text: str, tokens: int) -> str:
    """The beginning of a text, with an ellipsis where it was cut."""
    if estimate_tokens(text) <= tokens:
        return text
    cut = text[: at_token(text, max(tokens - 1, 1))]
    shorter = cut.rsplit(None, 1)[0] if " " in cut else cut
    return f"{shorter} …"
