"""Tells the kind of a file from its first bytes, never from its name."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from enum import StrEnum
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from neurigraph.importers.fields import mapping, text
from neurigraph.importers.stream import HEAD, lines, top_keys


class Kind(StrEnum):
    """What a file is; the value is what people call it."""

    CHATGPT = "ChatGPT export"
    CLAUDE = "Claude export"
    CLAUDE_MANIFEST = "Claude manifest"
    CLAUDE_CODE = "Claude Code log"
    CODEX = "Codex log"
    CODEX_DOCUMENT = "Codex session"
    GEMINI = "Gemini CLI log"
    GEMINI_DOCUMENT = "Gemini CLI session"
    GEMINI_PROMPTS = "Gemini CLI prompts"
    OWN = "Neurigraph export"
    TEXT = "text"
    ZIP = "zip"
    WEB_PAGE = "web page"
    EMPTY = "empty file"
    OTHER_JSON = "JSON of another kind"
    WIDE_JSON = "JSON in UTF-16"
    PAGES = "PDF or RTF"
    BINARY = "binary file"


ACCOUNT = frozenset({Kind.CHATGPT, Kind.CLAUDE})
"""Exports of a whole account: text files beside them are attachments, not notes."""
DOCUMENTS = ACCOUNT | {Kind.CODEX_DOCUMENT, Kind.GEMINI_DOCUMENT, Kind.GEMINI_PROMPTS}
"""JSON documents: one that does not end in a bracket is cut off."""
READABLE = DOCUMENTS | {Kind.CLAUDE_CODE, Kind.CODEX, Kind.GEMINI, Kind.OWN, Kind.TEXT}

_JSON = re.compile(r'\[\s*([{\["\]\d-]|null|true|false|$)|\{\s*(["}]|$)')
_TREE = {"title", "create_time", "update_time", "id", "conversation_id", "current_node"}
_CODEX_LINES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_CODEX_ITEMS = {"message", "reasoning", "function_call", "function_call_output"}
_SNIFFED_LINES, _SNIFFED_LINE = 60, 4_000_000


def sniff(opened: Callable[[], BinaryIO]) -> Kind:
    """The kind of a file, from its first quarter megabyte; of a log, from its first lines."""
    with closing(opened()) as stream:
        head = stream.read(HEAD)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return Kind.ZIP
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if (b"\0" in head and not wide) or head.startswith(codecs.BOM_UTF32_LE):
        return Kind.BINARY
    if head.startswith((b"%PDF-", b"{\\rtf")):
        return Kind.PAGES
    start = head.decode("utf-16" if wide else "utf-8-sig", "replace").lstrip("\ufeff \t\r\n")
    if not start:
        return Kind.EMPTY
    if start[:200].lower().startswith(("<!doctype html", "<html")):
        return Kind.WEB_PAGE
    if not _JSON.match(start):
        return Kind.TEXT
    if wide:
        return Kind.WIDE_JSON if _is_json(start) else Kind.TEXT
    found = _document(start)
    if found is None:
        with closing(opened()) as stream:
            found = _log(stream)
    if found is None and zips_named(start):
        return Kind.CLAUDE_MANIFEST
    return found or (Kind.OTHER_JSON if _is_json(start) else Kind.TEXT)


def _document(start: str) -> Kind | None:
    outer, inner = top_keys(start)
    listed = start.startswith("[")
    if "neurigraph" in outer:
        return Kind.OWN
    keys = inner if listed or "conversations" in outer else outer
    if "mapping" in keys and keys & _TREE:
        return Kind.CHATGPT
    if "chat_messages" in keys:
        return Kind.CLAUDE
    if listed and re.fullmatch(r"\[\s*\]\s*", start):
        return Kind.EMPTY
    if listed and {"sessionId", "messageId"} <= inner:
        return Kind.GEMINI_PROMPTS
    if {"role", "parts"} <= inner and (listed or "history" in outer):
        return Kind.GEMINI_DOCUMENT
    if {"session", "items"} <= outer:
        return Kind.CODEX_DOCUMENT
    if _gemini(outer) and "messages" in outer and not _more_follows(start):
        return Kind.GEMINI_DOCUMENT
    return None


def _gemini(keys: object) -> bool:
    known = keys if isinstance(keys, set) else set(mapping(keys))
    return (
        "sessionId" in known and "uuid" not in known and bool(known & {"projectHash", "startTime"})
    )


def _more_follows(start: str) -> bool:
    """Whether something comes after the first object, as in a log."""
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(start)
    except (ValueError, RecursionError):
        return False
    return bool(start[end:].strip())


def _is_json(start: str) -> bool:
    """Whether this is JSON, whole or cut off, and not prose that begins with a bracket."""
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(start)
    except json.JSONDecodeError as error:
        return error.pos > 20 or error.pos >= len(start) - 1
    except (ValueError, RecursionError):
        return True
    return start[end:].lstrip()[:1] in ("", "{", "[")


def _log(stream: BinaryIO) -> Kind | None:
    for line in lines(stream, _SNIFFED_LINE):
        if line.number > _SNIFFED_LINES:
            return None
        try:
            record = mapping(json.loads(line.data or b"null", strict=False))
        except (ValueError, RecursionError):
            continue
        if record and (found := _line(record)):
            return found
    return None


def _line(record: Mapping[str, Any]) -> Kind | None:
    kind = text(record.get("type"))
    if kind in _CODEX_LINES and isinstance(record.get("payload"), dict):
        return Kind.CODEX
    if kind == "summary" and "leafUuid" in record:
        return Kind.CLAUDE_CODE
    if "sessionId" in record and kind and not _gemini(record):
        return Kind.CLAUDE_CODE
    if kind in ("user", "assistant") and "uuid" in record and "message" in record:
        return Kind.CLAUDE_CODE
    if _gemini(record):
        return Kind.GEMINI
    if {"id", "timestamp"} <= record.keys() and record.keys() & {"instructions", "git"}:
        return Kind.CODEX
    if kind in _CODEX_ITEMS and record.keys() & {"role", "call_id", "summary"}:
        return Kind.CODEX
    return None


def zips_named(document: str) -> list[str]:
    """The zip files that a small JSON document names or links to, each once, without folders."""
    try:
        value = json.loads(document)
    except (ValueError, RecursionError):
        return []
    found: dict[str, None] = {}
    _collect(value, found)
    return list(found)


def _collect(value: object, found: dict[str, None]) -> None:
    if isinstance(value, str) and ".zip" in value.lower():
        try:
            path = urlsplit(value).path
        except ValueError:
            return
        name = re.split(r"[\\/]", path)[-1]
        if name.lower().endswith(".zip"):
            found[name] = None
    elif isinstance(value, dict):
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, list):
        for item in value:
            _collect(item, found)
