"""Makes text from others inert for Obsidian and its plugins, and gives it back to the character.

A word joiner (U+2060: invisible, no space) is put into what a plugin would run or Obsidian would
fetch: `<%` of Templater, fences and inline code of Dataview and its kin, remote images, HTML that
loads or runs something, and a `---` that would open a frontmatter block. Word joiners that were
there before are doubled, so that `restore_text(neutralize(x)) == x` for every `x`; ordinary text
is not changed at all. All of it takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

JOINER = "\u2060"

_JOINERS = re.compile(f"{JOINER}+")
_FRONTMATTER = re.compile(r"\ufeff*---")
_TEMPLATER = re.compile(r"<%")

# Patterns begin with a literal, which the regex engine finds fast, and look back from there.
# Those for which case does not matter are tried on the text in lower case.

_FENCES = (re.compile(r"```[`~]*+[^\S\n]*+"), re.compile(r"~~~[`~]*+[^\S\n]*+"))
# Info strings for which a plugin of Obsidian's runs or fetches something, by how they begin.
_INFO = re.compile(
    r"""dataview | datacore | js-engine | meta-bind | run- | templater | customjs | buttons?\b
      | req\b | https?\b | rest\b | requests?\b | rss | plantuml | puml | kroki | embed | cardlink
      | iframe | custom-frames | leaflet | jsx: | react\b | emera | sqlseal | modal-?form
      | shell-?commands? | quickadd | js[^\S\n]+quickadd | chartsview""",
    re.VERBOSE,
)
# Info strings in braces, or with an entity or an escape in them, which could spell any of these.
_MASKED_INFO = re.compile(rf"\{{|[^\s`~{JOINER}]*?[&\\]")

# Inline code: `$= …` (Dataview and Datacore in JavaScript), `= …` (Dataview), `INPUT[…]` and its
# kin (Meta Bind). The script may have spaces before it; the query with a space is told from what
# follows another inline code by what stands before its backticks.
_INLINE_SCRIPT = re.compile(r"`[\s\ufeff]*+(?P<at>\$=)")
_INLINE_QUERY = re.compile(r"`[^\S\n]*+(?P<at>=)")
_INLINE_BIND = re.compile(r"`[\s\ufeff]*+(?P<at>(?:INPUT|VIEW|BUTTON|EMBED|MB-|JS-)[\w-]{0,40}\[)")

# HTML that loads or runs something by its name alone, or with any attribute.
_TAG = re.compile(
    r"""<(?: (?:script|style)(?![a-z0-9])
           | (?: img | image | picture | source | iframe | frame | frameset | fencedframe | portal
               | webview | audio | video | track | bgsound | link | object | embed | applet | base
               | meta | input | feimage | use | body )(?=[\s/\0]) )""",
    re.VERBOSE,
)
# Attributes of any HTML element: a style that could fetch (or hides what it does behind escapes),
# a remote background, an event handler.
_STYLE = re.compile(
    rf"""style(?<=[\s"'/]style)(?=\s*=\s*(?:
            "[^"]*?(?:url|image|src|import|[&\\])
          | '[^']*?(?:url|image|src|import|[&\\])
          | [^\s>"']{{0,200}}?(?:url|image|src|import|[&\\])
          | (?:[^\s>"'{JOINER}]{JOINER}*+){{200}} ))""",
    re.VERBOSE,
)
_BACKGROUND = re.compile(
    r"""background(?<=[\s"'/]background)
        (?=\s*=\s*["']?\s*(?:[a-z]{1,10}:|[/\\]\s*[/\\]|[^\s"'>]{0,60}?&))""",
    re.VERBOSE,
)
_HANDLER = re.compile(
    r"""on(?<=[\s"'/]on)(?:(?:error|load)(?=\s*=)|[a-z]{2,20}(?=\s*=\s*["']))""", re.VERBOSE
)

# Images: the target decides, and it may come long after the opening bracket or be defined
# elsewhere. A target is local when it has no scheme, no host and nothing that could spell one.
_IMAGE = re.compile(r"!\[(?!\[)")
_REMOTE = r"\s*(?:<[^<>\n]*?|[^\s()<>]*?)(?:[:&\\]|/[\t ]*/)"
_REMOTE_TARGET = re.compile(r"\]\(" + _REMOTE)
_REMOTE_DEFINITION = re.compile(r"\]:" + _REMOTE)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def neutralize(text: str) -> str:
    """The text with everything that would run or fetch made inert; see the module."""
    points = sorted(set(_points(text)))
    if not points:
        return _doubled(text)
    pieces, last = [], 0
    for point in points:
        pieces.append(_doubled(text[last:point]))
        last = point
    pieces.append(_doubled(text[last:]))
    return JOINER.join(pieces)


def restore_text(text: str) -> str:
    """The text as it was before `neutralize`. Any text is accepted, also one edited by hand."""
    if JOINER not in text:
        return text
    return _JOINERS.sub(lambda run: JOINER * (len(run.group()) // 2), text)


def is_inert(text: str) -> bool:
    """Whether nothing in this text, as it stands on disk, would run or fetch."""
    return next(_points(text), None) is None


def _doubled(text: str) -> str:
    return text.replace(JOINER, JOINER * 2)


def _points(text: str) -> Iterator[int]:
    """Where joiners go: between two characters of one construct, neither of them a joiner."""
    if start := _FRONTMATTER.match(text):
        yield start.end() - 2
    low = _lower(text)
    if "`" in text:
        for pattern in (_INLINE_SCRIPT, _INLINE_BIND):
            for match in pattern.finditer(text):
                yield match.start("at") + 1
        for match in _INLINE_QUERY.finditer(text):
            if match.start("at") == match.start() + 1 or _opens_code(text, match.start()):
                yield match.start("at")
    for pattern in _FENCES:
        for match in pattern.finditer(low):
            if _INFO.match(low, match.end()):
                yield match.end() + 1
            elif _MASKED_INFO.match(low, match.end()):
                yield match.end()
    if "<" in text:
        for pattern in (_TEMPLATER, _TAG, _STYLE, _BACKGROUND, _HANDLER):
            for match in pattern.finditer(low):
                yield match.start() + 1
    if "![" in text:
        yield from _images(text)


def _lower(text: str) -> str:
    """The text in lower case, character for character; some letters grow when lowered."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if c.isascii() else c for c in text)


def _opens_code(text: str, tick: int) -> bool:
    """Whether the run of backticks that ends here rather begins inline code than ends it."""
    while tick and text[tick - 1] == "`":
        tick -= 1
    return not tick or text[tick - 1].isspace() or text[tick - 1] in "([*_>"


def _images(text: str) -> Iterator[int]:
    opens = [match.start() for match in _IMAGE.finditer(text)]
    if _REMOTE_DEFINITION.search(text):
        yield from (start + 1 for start in opens)
        return
    targets = [match.start() for match in _REMOTE_TARGET.finditer(text)]
    if not targets:
        return
    # an image ends with its paragraph at the latest
    ends = [match.start() for match in _BLANK_LINE.finditer(text)]
    ends.append(len(text))
    for start in opens:
        target = bisect_left(targets, start)
        if target < len(targets) and targets[target] < ends[bisect_left(ends, start)]:
            yield start + 1
