"""A note taken apart: what its frontmatter says, its body, and whether it may be written to."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler

from neurigraph.model import Value
from neurigraph.vault.yaml_text import NotAMapping, Properties

MAX_BLOCK = 256 * 1024
"""Characters within which a frontmatter must be closed; no real one comes near."""

_BREAK = r"(?:\r\n|\n|\r)"
_OPEN = re.compile(rf"---[ \t]*{_BREAK}")
_CLOSE = re.compile(rf"(?<=[\n\r])---[ \t]*(?:{_BREAK}|\Z)")
_KEY_LINE = re.compile(r"""(?:"[^"\n\r]+"|'[^'\n\r]+'|[^\s#\-\[{"'][^:\n\r]*?)[ \t]*:(?=\s|$)""")
_PLAIN_LINE = re.compile(r"([A-Za-z_][\w\-]*):[ \t]+([^\r\n]+)")
_BLANK_LINE = re.compile(rf"{_BREAK}[ \t]*{_BREAK}")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Note:
    """One note, read.

    `data` maps keys to text, lists and maps; when the frontmatter cannot be read for certain it
    holds what could be salvaged. `body` is everything below the frontmatter, character for
    character. `problem` is one line for people. `writable` is false when the note must never be
    written to. `body_start` counts characters of the text without its BOM. `properties` are the
    parsed lines between its fences, where they are at hand.
    """

    raw: bytes
    data: Mapping[str, Value]
    body: str
    problem: str | None
    writable: bool
    body_start: int
    properties: Properties | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Head:
    """Where the frontmatter of a text lies: its lines are text[start:end], the body begins at
    `body_start`."""

    start: int
    end: int
    body_start: int


class _AsText(YAMLHandler):
    """python-frontmatter's view of a note: Obsidian's fences, and scalars that stay text."""

    properties: Properties | None = None

    def split(self, text: str) -> tuple[str, str]:
        head = find_head(text)
        if head is None:
            raise ValueError("no frontmatter")
        return text[head.start : head.end], text[head.body_start :]

    def load(self, fm: str, **kwargs: object) -> dict[str, Any]:
        self.properties = properties = Properties(fm)
        if properties.duplicates:
            raise DuplicateKeys(properties)
        return dict(properties.values)


class DuplicateKeys(ValueError):
    """A key stands twice; which of the two is meant, only a person knows."""

    def __init__(self, properties: Properties) -> None:
        self.properties = properties
        super().__init__(", ".join(properties.duplicates))


def read_note(raw: bytes) -> Note:
    """Any bytes, read as a note. Never raises: what cannot be read is named in `problem`."""
    text, problem = decode(raw)
    head = find_head(text)
    if head is None:
        if not _opens_with_key(text):
            return Note(raw, {}, text, problem, problem is None, 0)
        problem = (
            problem or "its frontmatter is never closed: add a line --- below the last property"
        )
        top = _BLANK_LINE.split(text[:MAX_BLOCK], maxsplit=1)[0]
        return Note(raw, _salvaged(top), text, problem, False, 0)
    block, handler = text[head.start : head.end], _AsText()
    try:
        parsed: Any
        parsed, _ = frontmatter.parse(text[: head.body_start], handler=handler)
    except NotAMapping:
        return Note(raw, {}, text, problem, problem is None, 0)
    except DuplicateKeys as error:
        values = _private_wins(dict(error.properties.values), block)
        problem = problem or f"its frontmatter has '{error}' more than once: keep one of them"
        return Note(raw, values, text[head.body_start :], problem, False, head.body_start)
    except yaml.YAMLError as error:
        if not _begins_with_key(block):
            return Note(raw, {}, text, problem, problem is None, 0)
        problem = problem or _advice(error)
        return Note(raw, _salvaged(block), text[head.body_start :], problem, False, head.body_start)
    body, properties = text[head.body_start :], handler.properties
    if properties is not None and properties.text != block:
        properties = None  # python-frontmatter reads every line break as \n: places are others
    return Note(raw, parsed, body, problem, problem is None, head.body_start, properties)


def find_head(text: str) -> Head | None:
    """The frontmatter as Obsidian finds it: `---` on the very first line, up to the next one."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    bound = min(len(text), opened.end() + MAX_BLOCK)
    closed = _CLOSE.search(text, opened.end(), bound)
    if closed is None or (closed.end() == bound < len(text)):
        return None
    return Head(opened.end(), closed.start(), closed.end())


def decode(raw: bytes) -> tuple[str, str | None]:
    """The text of a note without its BOM, and why it is not to be trusted, if so."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace"), "it is UTF-16, not UTF-8: save it as UTF-8"
    try:
        text, problem = raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "replace")
        line = raw.count(b"\n", 0, error.start) + 1
        problem = f"line {line} is not UTF-8 text: save it as UTF-8"
    if b"\0" in raw:
        problem = "it holds NUL bytes, so it is damaged or no text: restore or remove it"
    return text.removeprefix(_BOM), problem


def body_bytes(note: Note) -> bytes:
    """The bytes below the frontmatter: unchanged as long as only properties were edited."""
    if note.body_start == 0:
        return note.raw
    return note.body.encode("utf-8", "surrogatepass")


def dominant_break(raw: bytes) -> str:
    """The line ending that most lines of a file have; a line feed when it has none."""
    pairs = raw.count(b"\r\n")
    feeds, returns = raw.count(b"\n") - pairs, raw.count(b"\r") - pairs
    if pairs and pairs >= feeds and pairs >= returns:
        return "\r\n"
    return "\r" if returns > feeds else "\n"


def _opens_with_key(text: str) -> bool:
    opened = _OPEN.match(text)
    return opened is not None and _KEY_LINE.match(text, opened.end()) is not None


def _begins_with_key(block: str) -> bool:
    """Whether a block that does not parse was meant as properties, not as text between rules."""
    for line in block.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return _KEY_LINE.match(line.lstrip()) is not None or line.lstrip().startswith("{")
    return False


def _salvaged(block: str) -> dict[str, Value]:
    """The plain one-line properties of a block that does not parse.

    So a memory keeps its id, and a private one stays private, while somebody is half-way
    through editing it. Nothing is ever written on the strength of it.
    """
    found: dict[str, Value] = {}
    for line in block.splitlines():
        match = _PLAIN_LINE.match(line)
        if match:
            found[match[1]] = match[2].split(" #")[0].strip().strip("\"'")
    return _private_wins(found, block)


def _private_wins(values: dict[str, Value], block: str) -> dict[str, Value]:
    if re.search(
        r"^[ \t]*[\"']?private[\"']?[ \t]*:[ \t]*[\"']?(true|yes|on)\b", block, re.I | re.M
    ):
        values["private"] = "true"
    return values


def _advice(error: yaml.YAMLError) -> str:
    """What is wrong with a frontmatter and what to do about it, in one line."""
    mark = getattr(error, "problem_mark", None)
    if str(getattr(error, "context", "")).startswith(("while scanning a", "while parsing a flow")):
        mark = getattr(error, "context_mark", None) or mark  # where it began, not the last line
    reason = str(getattr(error, "problem", None) or "") or str(error).splitlines()[0]
    where = f"line {mark.line + 2}, in its frontmatter," if mark else "its frontmatter"
    for sign, advice in _ADVICE:
        if sign in reason:
            return f"{where} cannot be read: {advice}"
    return f"{where} cannot be read ({reason}): put the value in quotes"


_ADVICE = (
    ("mapping values are not allowed", "put a value that contains a colon in quotes"),
    (
        "cannot start any token",
        "put a value that begins with @, ` or % in quotes, indent with spaces",
    ),
    ("a key is not plain text", "fill in the {{…}} or put it in quotes"),
    ("control character", "remove the control characters"),
    ("special characters", "remove the control characters"),
    ("tab character", "indent with spaces, not with tabs"),
    ("'\\t'", "indent with spaces, not with tabs"),
    ("undefined alias", "put a value that begins with * in quotes"),
    ("simple key", "each line must be `key: value`; put longer text in quotes"),
    ("expected <block end>", "put the whole value in quotes; nothing may follow a closing quote"),
    ("did not find expected key", "put the whole value in quotes; nothing may follow them"),
    ("expected ',' or ']'", "close the list with ]"),
    ("expected ',' or '}'", "close it with }, or put it in quotes"),
    ("end of stream", "close the quotes"),
    ("expected ':'", "each line must be `key: value`; put longer text in quotes"),
    ("document", "remove the extra --- or ... line"),
)
