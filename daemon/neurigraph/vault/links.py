"""Links as Obsidian writes them: `[[Note#Heading|alias]]`, embeds, and markdown links to notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from neurigraph.errors import InvalidInput
from neurigraph.vault.markdown import Hidden

# A link begins with a literal bracket, so that the search for one is quick; whether it is an
# embed shows in the character before.
_WIKI = (
    r"\[(?P<target>[^\[\]|#\n\r]*)(?P<heading>#[^\[\]|\n\r]*)?"
    r"(?P<alias>\|(?:[^\[\]\n\r]|\](?!\])|\[(?!\[))*)?\]\]"
)
_MARKDOWN = (
    r"(?P<words>[^\[\]\n\r]*)\]\((?P<open><?)(?P<url>[^()<>\n\r#]*?\.[mM][dD])"
    r"(?P<part>#[^()<>\n\r]*?)?(?P<close>>?)(?P<title>[ \t]+(?:\"[^\"\n\r]*\"|'[^'\n\r]*'))?\)"
)
_WIKILINK = re.compile(rf"\[{_WIKI}")
_ANY_LINK = re.compile(rf"\[(?:{_WIKI}|{_MARKDOWN})")
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:|//", re.IGNORECASE)
_WEIGHT = re.compile(r"\(([0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)\)\Z")
_UNSAFE_TARGET = re.compile(r"[\[\]|#^\n\r]")
_URL_UNSAFE = re.compile(r"[\s()<>%#?\[\]\"\\]")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: `target` without `#heading` and `|alias`, which are empty when absent.
    The target of a markdown link is decoded and keeps its `.md`."""

    target: str
    heading: str = ""
    alias: str = ""
    embed: bool = False


def wikilinks(body: str) -> list[Link]:
    """Every link to another note in a text, embeds and markdown links to `.md` included, in order.

    Links in code and in `%%` comments are none; neither are links to a heading of the same note.
    """
    return [link for _, link in _links(body) if link.target]


def parse_link(value: str) -> Link | None:
    """The link that a property's value is, when it is wholly one wikilink, else None."""
    value = value.strip()
    embed = value.startswith("!")
    match = _WIKILINK.fullmatch(value, 1 if embed else 0)
    return _wiki(match, embed) if match else None


def edge_alias(alias: str) -> tuple[str, float | None]:
    """The name and the weight of an edge: `Diet (0.8)` is Diet at 0.8.

    A number above 1 is part of the name, as in `Report (2024)`: it says no weight.
    """
    alias = alias.strip()
    match = _WEIGHT.search(alias)
    weight = float(match[1].replace(",", ".")) if match else None
    if match is None or weight is None or weight > 1:
        return alias, None
    return alias[: match.start()].rstrip(), weight


def edge_value(target: str, name: str, weight: float | None) -> str:
    """An edge as a property holds it: `[[target|Name (0.8)]]`, without brackets for None.

    A name that itself ends like a weight gets ` (1)` behind it, so that it is read back right.
    Raises InvalidInput for a target that no wikilink can hold.
    """
    if not target.strip() or _UNSAFE_TARGET.search(target):
        raise InvalidInput("target", f"a link cannot point to '{target}'; rename it without []|#^")
    name = re.sub(r"[\[\]|\s]+", " ", name).strip()
    if weight is None and edge_alias(name)[1] is not None:
        weight = 1.0
    if weight is not None:
        name = f"{name or target.rpartition('/')[2]} ({round(weight, 4):g})"
    return f"[[{target}|{name}]]" if name else f"[[{target}]]"


def with_targets(text: str, new_target: Callable[[str], str | None]) -> str:
    """The text with the targets of its links replaced where `new_target` answers one.

    It is asked with the target of a `Link` and answers in the same form. Heading, alias, weight
    and embed mark stay. A target that a wikilink cannot hold (`[ ] | # ^`) leaves the link as
    it is.
    """
    if "[[" not in text and "](" not in text:
        return text
    parts, at = [], 0
    for match, link in _links(text):
        target = new_target(link.target) if link.target else None
        if target is None or target == link.target:
            continue
        if match["target"] is None:
            start, end = match.span("url")
            target = target if target.lower().endswith(".md") else f"{target}.md"
            new = target if match["open"] else _URL_UNSAFE.sub(_percent, target)
        elif _UNSAFE_TARGET.search(target):
            continue
        else:
            start, end = match.span("target")
            written = match["target"]
            start += len(written) - len(written.lstrip())
            end -= len(written) - len(_bare(written).rstrip())
            new = target
        parts += [text[at:start], new]
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _links(text: str) -> Iterator[tuple[re.Match[str], Link]]:
    if "[[" not in text and "](" not in text:
        return
    hidden = Hidden(text)
    for match in _ANY_LINK.finditer(text):
        start = match.start()
        if start in hidden:
            continue
        embed = text[start - 1 : start] == "!"
        if match["target"] is not None:
            yield match, _wiki(match, embed)
        elif not _SCHEME.match(match["url"]):
            heading = unquote((match["part"] or "")[1:])
            yield match, Link(unquote(match["url"]), heading, match["words"], embed)


def _wiki(match: re.Match[str], embed: bool) -> Link:
    target, heading, alias = match["target"], match["heading"] or "#", match["alias"]
    if alias is not None:
        target, heading = _bare(target), _bare(heading)
    return Link(target.strip(), heading[1:].strip(), (alias or "|")[1:].strip(), embed)


def _bare(text: str) -> str:
    r"""The text without the backslash that hides a pipe from a table: `[[A\|B]]`."""
    return text[:-1] if text.endswith("\\") else text


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8"))
