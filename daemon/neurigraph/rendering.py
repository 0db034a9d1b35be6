"""Turns what a memory says into HTML that is safe to show: text stays text, nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

_SAFE_SCHEMES = {"http", "https", "mailto", "obsidian"}
_WORD = re.compile(r"\w+")
MOST_MARKED_WORDS = 32


def safe_link(url: str) -> bool:
    """Whether a link may be clicked: the web, mail and Obsidian, nothing that runs."""
    try:
        return urlsplit(url.strip()).scheme.lower() in _SAFE_SCHEMES
    except ValueError:
        return False


class _SafeRenderer(RendererHTML):
    """Links open apart and tell nothing; images become links, since showing one would fetch it."""

    def text(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Text, with the words that were looked for marked."""
        return marked(tokens[idx].content, env.get("words"), env)

    def code_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Code within a line."""
        return f"<code>{marked(tokens[idx].content, env.get('words'), env)}</code>"

    def fence(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """A block of code, its language as a class."""
        info = tokens[idx].info.strip().split(maxsplit=1)
        name = re.sub(r"[^\w+#.-]", "", info[0])[:40] if info else ""
        attribute = f' class="language-{escape(name, quote=True)}"' if name else ""
        code = marked(tokens[idx].content, env.get("words"), env)
        return f"<pre><code{attribute}>{code}</code></pre>\n"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """A block of indented code."""
        return f"<pre><code>{marked(tokens[idx].content, env.get('words'), env)}</code></pre>\n"

    def image(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """An image, as a link to it."""
        source = str(tokens[idx].attrs.get("src", ""))
        words = marked(tokens[idx].content or source, env.get("words"), env)
        if not safe_link(source):
            return words
        return f'<a href="{escape(source, quote=True)}" {_APART}>{words}</a>'

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """The start of a link."""
        url = str(tokens[idx].attrs.get("href", ""))
        return f'<a href="{escape(url, quote=True)}" {_APART}>'


_APART = 'target="_blank" rel="noopener noreferrer nofollow"'


def renderer() -> MarkdownIt:
    """A markdown renderer for text from anywhere: CommonMark with tables, raw HTML as text."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_SafeRenderer)
    markdown.enable(["table", "strikethrough"])
    markdown.validateLink = safe_link  # type: ignore[method-assign]  # the documented hook
    return markdown


def words_to_mark(query: str) -> re.Pattern[str] | None:
    """A pattern for the words of a query, whole words first letters on."""
    words = [w for w in _WORD.findall(query) if len(w) > 1 or not w.isascii()]
    if not words:
        return None
    longest = sorted(set(words[:MOST_MARKED_WORDS]), key=len, reverse=True)
    pattern = "|".join(
        rf"\b{re.escape(w)}\w{{0,3}}" if w.isascii() else re.escape(w) for w in longest
    )
    return re.compile(pattern, re.IGNORECASE)


def marked(
    text: str, words: re.Pattern[str] | None, env: MutableMapping[str, Any] | None = None
) -> str:
    """Text as HTML, with matches in `<mark>`; `env["matches"]` counts them."""
    if words is None:
        return escape(text, quote=False)
    parts, last = [], 0
    for match in words.finditer(text):
        parts.append(escape(text[last : match.start()], quote=False))
        parts.append(f"<mark>{escape(match.group(), quote=False)}</mark>")
        last = match.end()
        if env is not None:
            env["matches"] = int(env.get("matches", 0)) + 1
    parts.append(escape(text[last:], quote=False))
    return "".join(parts)
