"""Values written so that YAML 1.1, YAML 1.2 and Obsidian all read back the same text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from neurigraph.errors import InvalidInput

Plain: TypeAlias = "str | bool | int | float"
Settable: TypeAlias = "Plain | Sequence[str] | None"
"""What a property can be set to. None removes it."""

_SAFE_KEY = re.compile(r"[^\W\d](?:[\w .\-]{0,98}[\w.\-])?")

# Words that YAML 1.1 or 1.2 take for something else than text.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# Whatever could be a number, a time or a base-60 integer in one of the two versions.
_NUMBER_LIKE = re.compile(r"[0-9][0-9a-fA-FxXoO_.,:+\-eEtTzZ ]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2})?")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`~=<.+")
_MUST_QUOTE = re.compile(
    r": |:$| #|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
    r"\U00010000-\U0010ffff]"
)
_ESCAPED = re.compile(r"[\"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def check_key(key: str) -> str:
    """The key, when it can be written plainly; raises InvalidInput."""
    if not _SAFE_KEY.fullmatch(key) or key.lower() in _WORDS:
        raise InvalidInput(
            "property", f"{key!r} is no name for a property; use letters, digits, '_' and '-'"
        )
    return key


def as_text(value: Plain) -> str:
    """The text that a note holds for a value; raises InvalidInput when no note can hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput("value", "a number must be finite")
        return repr(value)
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidInput("value", "holds half a character (a lone surrogate)") from None
    return str(value)


def render(value: Plain) -> str:
    """The value as it stands behind `key: ` in a block; quoted only when it must be."""
    text = as_text(value)
    if not isinstance(value, str) or _is_plain(text):
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """The text in double quotes, on one line, control characters escaped."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def render_flow(value: Settable) -> str:
    """The value as it stands inside `{…}`; None as nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return quoted(as_text(value))
    if isinstance(value, bool | int | float):
        return as_text(value)
    return "[" + ", ".join(quoted(as_text(item)) for item in value) + "]"


def _is_plain(text: str) -> bool:
    if not text or text[0] in _INDICATORS or text != text.strip():
        return False
    if _MUST_QUOTE.search(text) or text.lower() in _WORDS:
        return False
    if _NUMBER_LIKE.fullmatch(text):
        return _is_date(text)
    return True


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return _SHORT_ESCAPES.get(char) or f"\\u{ord(char):04x}"
