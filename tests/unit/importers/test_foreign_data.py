"""Whatever stands where a field is expected, reading goes on and what comes can be stored."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.importers.kinds import Kind
from neurigraph.importers.opened import READERS
from neurigraph.importers.source import Failed, Reading
from neurigraph.model import Conversation

CHATGPT = {
    "id": "c",
    "title": "T",
    "create_time": 1.7e9,
    "current_node": "b",
    "mapping": {
        "a": {
            "id": "a",
            "parent": None,
            "children": ["b"],
            "message": {
                "author": {"role": "user"},
                "create_time": 1.7e9,
                "content": {
                    "content_type": "multimodal_text",
                    "parts": ["x", {"content_type": "image_asset_pointer", "asset_pointer": "f"}],
                },
                "metadata": {"attachments": [{"id": "i", "name": "n"}]},
            },
        },
        "b": {
            "parent": "a",
            "message": {
                "author": {"role": "assistant"},
                "recipient": "all",
                "content": {"content_type": "thoughts", "thoughts": [{"summary": "s"}]},
                "metadata": {"model_slug": "m", "content_references": [{"matched_text": "t"}]},
            },
        },
    },
}
CLAUDE = {
    "uuid": "u",
    "name": "N",
    "created_at": "2026-01-01T00:00:00Z",
    "chat_messages": [
        {
            "uuid": "1",
            "sender": "human",
            "text": "t",
            "attachments": [{"file_name": "f", "extracted_content": "e"}],
            "files": [{"file_name": "f"}],
            "content": [
                {"type": "text", "text": "x"},
                {"type": "thinking", "thinking": "", "summaries": [{"summary": "s"}]},
                {
                    "type": "tool_use",
                    "name": "artifacts",
                    "input": {"id": "i", "command": "create", "content": "c", "title": "t"},
                },
                {"type": "tool_result", "content": [{"type": "text", "text": "r"}]},
            ],
        }
    ],
}
CODE = {
    "type": "user",
    "uuid": "1",
    "sessionId": "s",
    "cwd": "/a",
    "timestamp": "2026-01-01T00:00:00Z",
    "message": {
        "role": "user",
        "content": [
            {"type": "text", "text": "x"},
            {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}},
            {"type": "tool_result", "content": [{"text": "r"}]},
        ],
    },
}
CODEX = {
    "timestamp": "2026-01-01T00:00:00Z",
    "type": "response_item",
    "payload": {
        "type": "message",
        "role": "user",
        "content": [{"text": "x", "image_url": "data:image/png;base64,AAAA"}],
        "summary": [{"text": "s"}],
        "arguments": "{}",
        "output": "{}",
    },
}
GEMINI = {
    "sessionId": "g",
    "startTime": "2026-01-01T00:00:00Z",
    "messages": [
        {
            "id": "a",
            "type": "gemini",
            "content": [{"text": "x", "functionCall": {"name": "n", "args": {"a": "b"}}}],
            "thoughts": [{"subject": "s", "description": "d"}],
            "toolCalls": [{"name": "n", "args": {}, "result": [{"functionResponse": {}}]}],
        },
        {"id": "b", "type": "user", "content": "x"},
    ],
}

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["\ud800", "\0", [], {}, [[]], [{}], [None], {"a": None}, "1e400", "9" * 30]),
)
KINDS = st.sampled_from(
    ["thoughts", "code", "tether_quote", "reasoning", "function_call", "voice_note", "summary"]
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += _places(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            found += _places(item, (*path, number))
    return found


def _spoiled(whole: Any, data: st.DataObject) -> Any:
    whole = copy.deepcopy(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(whole) or [()]))
        if not path:
            return whole
        at = whole
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = copy.deepcopy(data.draw(ODD | KINDS))
    return whole


def _lines(value: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for _ in range(2))


def _document(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("kind", "whole", "written"),
    [
        (Kind.CHATGPT, [CHATGPT], _document),
        (Kind.CLAUDE, [CLAUDE], _document),
        (Kind.CLAUDE_CODE, CODE, _lines),
        (Kind.CODEX, CODEX, _lines),
        (Kind.CODEX_DOCUMENT, {"session": {"id": "x"}, "items": [CODEX["payload"]]}, _document),
        (Kind.GEMINI, GEMINI, _lines),
        (Kind.GEMINI_DOCUMENT, GEMINI, _document),
        (Kind.GEMINI_PROMPTS, [{"sessionId": "s", "messageId": 1, "message": "m"}], _document),
        (Kind.OWN, {"id": "n-12345678", "path": "a.md", "note": "n", "artifacts": [{}]}, _lines),
    ],
    ids=lambda value: value.value if isinstance(value, Kind) else "",
)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_fields_of_the_wrong_kind_harm_nothing(
    kind: Kind, whole: Any, written: Callable[[Any], bytes], data: st.DataObject
) -> None:
    raw = written(_spoiled(whole, data))
    for item in READERS[kind](io.BytesIO(raw), Reading("x")):
        if isinstance(item, Failed):
            assert "unknown way" not in item.reason, item
        elif isinstance(item, Conversation):
            assert item.content.encode()
            assert "\0" not in item.content
            assert f"{item.title}{item.source_id}{item.source_model}".encode()
            assert all(file.name.encode() for file in item.artifacts)


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=200))
def test_any_bytes_as_a_log_or_a_text_harm_nothing(raw: bytes) -> None:
    for kind in (Kind.CLAUDE_CODE, Kind.CODEX, Kind.GEMINI, Kind.TEXT, Kind.OWN, Kind.CHATGPT):
        for item in READERS[kind](io.BytesIO(raw), Reading("x")):
            assert not isinstance(item, Conversation) or item.content.encode()
