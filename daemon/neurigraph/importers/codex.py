"""Reads session logs of Codex: typed events, one a line, in any of the layouts seen so far.

Since 2025 a line is `{timestamp, type, payload}`; before, the payload stood alone. What people
and models said is often there twice, as `response_item` and as `event_msg`, in either order.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Any, BinaryIO

from neurigraph.importers.artifacts import Artifacts
from neurigraph.importers.fields import (
    first_line,
    first_text,
    items,
    line,
    mapping,
    moment,
    objects,
    text,
)
from neurigraph.importers.log import records
from neurigraph.importers.source import Failed, Reading
from neurigraph.importers.transcript import ASSISTANT, USER, Transcript, tool_answer
from neurigraph.model import Conversation

_INJECTED = re.compile(
    r"\s*(<(environment_context|user_instructions|INSTRUCTIONS|permissions instructions|"
    r"turn_aborted|skill|collaboration_mode|personality_spec|app-context|subagent_notification|"
    r"user_shell_command)>|# AGENTS\.md instructions)"
)
_REQUEST = "## My request for Codex:"
_SILENT = {
    "token_count",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "state",
    "ghost_snapshot",
    "world_state",
    "thread_settings_applied",
}
_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_call"}
_DATA_URL = re.compile(r"data:([\w/+.-]+);base64,")


def read(stream: BinaryIO, reading: Reading) -> Iterator[Conversation | Failed]:
    """The one session of a log; nothing when nothing was said in it yet."""
    return _session(records(stream, reading), reading)


def read_document(value: Mapping[str, Any], reading: Reading) -> Iterator[Conversation | Failed]:
    """The session of the oldest layout: one document with `session` and `items`."""
    head = {"type": "session_meta", "payload": mapping(value.get("session"))}
    return _session([head, *objects(value.get("items"))], reading)


def _session(
    found: Iterable[dict[str, Any] | Failed], reading: Reading
) -> Iterator[Conversation | Failed]:
    session = _Session(reading)
    for record in found:
        if isinstance(record, Failed):
            yield record
            return
        session.add(record)
    conversation = session.conversation()
    if conversation is not None:
        yield conversation


class _Session:
    """A session as far as it was read."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._transcript = Transcript(reading.bounds.tool_text)
        self._artifacts = Artifacts(reading.bounds)
        self._told: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._identity = self._folder = self._model = self._first = ""
        self._created: datetime | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        """Take one line."""
        kind = text(record.get("type"))
        payload = mapping(record.get("payload")) or record
        when = moment(record.get("timestamp"))
        self._created = self._created or when
        if kind == "session_meta" or (not kind and "instructions" in record):
            self._identity = self._identity or line(first_text(payload, "id", "session_id"))
            self._folder = self._folder or text(payload.get("cwd"))
            self._created = moment(payload.get("timestamp")) or self._created
        elif kind == "turn_context":
            self._model = line(payload.get("model")) or self._model
        elif kind == "event_msg":
            self._event(payload, when)
        elif kind == "compacted":
            self._reading.skipped["summary of the context"] += 1
        else:
            self._item(payload, when)

    def _event(self, payload: Mapping[str, Any], when: datetime | None) -> None:
        kind = text(payload.get("type"))
        if kind == "user_message":
            self._user(text(payload.get("message")), when, "event")
        elif kind == "agent_message":
            self._assistant(text(payload.get("message")), when, "event")
        elif kind == "agent_reasoning":
            self._thought(text(payload.get("text")), when, "event")
        elif kind not in _SILENT:
            self._reading.skipped[kind or "event"] += 1

    def _item(self, payload: Mapping[str, Any], when: datetime | None) -> None:
        kind = text(payload.get("type"))
        if kind == "message":
            self._message(payload, when)
        elif kind == "reasoning":
            for piece in [*items(payload.get("summary")), *items(payload.get("content"))]:
                self._thought(text(mapping(piece).get("text")), when, "item")
        elif kind in _CALLS:
            self._transcript.turn(ASSISTANT, when, self._model)
            self._transcript.call(*_call(payload, kind))
        elif kind.endswith("_output"):
            self._transcript.turn(ASSISTANT, when, self._model)
            self._transcript.result(_output(payload.get("output")))
        elif kind not in _SILENT and record_kind(payload) not in _SILENT:
            self._reading.skipped[kind or "line"] += 1

    def _message(self, payload: Mapping[str, Any], when: datetime | None) -> None:
        role, content = text(payload.get("role")), payload.get("content")
        blocks = [{"text": content}] if isinstance(content, str) else objects(content)
        said = "\n\n".join(found for block in blocks if (found := text(block.get("text"))).strip())
        if role == "assistant":
            self._assistant(said, when, "item")
        elif role == "user":
            self._user(said, when, "item")
            for block in blocks:
                self._picture(text(block.get("image_url")), when)

    def _user(self, said: str, when: datetime | None, source: str) -> None:
        if _INJECTED.match(said):
            return
        if _REQUEST in said:
            said = said.split(_REQUEST, 1)[1].strip()
        if said.strip() and self._news(USER, said, source):
            self._first = self._first or said
            self._transcript.turn(USER, when)
            self._transcript.say(said)

    def _assistant(self, said: str, when: datetime | None, source: str) -> None:
        if said.strip() and self._news(ASSISTANT, said, source):
            self._transcript.turn(ASSISTANT, when, self._model)
            self._transcript.say(said)

    def _thought(self, thought: str, when: datetime | None, source: str) -> None:
        if thought.strip() and self._news("thought", thought, source):
            self._transcript.turn(ASSISTANT, when, self._model)
            self._transcript.thinking(thought)

    def _news(self, role: str, said: str, source: str) -> bool:
        """Whether this is not just the other record of something already written."""
        told = self._told[role, said.strip()]
        told[source] += 1
        if told[source] <= told["written"]:
            return False
        told["written"] = told[source]
        return True

    def _picture(self, url: str, when: datetime | None) -> None:
        match = _DATA_URL.match(url)
        if match:
            self._transcript.turn(USER, when)
            name = self._artifacts.add_base64("image", url[match.end() :], match.group(1))
            self._transcript.attached(name or "image", "Image")

    def conversation(self) -> Conversation | None:
        """What was read; None when nobody said anything."""
        content = self._transcript.text()
        if not content or not self._first:
            self._reading.skipped["empty session"] += 1
            return None
        return Conversation(
            content=content,
            title=first_line(self._first, self._folder),
            created=self._created,
            source_model=self._model or "codex",
            source_id=f"codex:{self._identity or PurePath(self._reading.name).stem}",
            artifacts=self._artifacts.all(),
        )


def record_kind(payload: Mapping[str, Any]) -> str:
    """The kind of a line of the older layout that is no item of the conversation."""
    return text(payload.get("record_type"))


def _call(payload: Mapping[str, Any], kind: str) -> tuple[str, object]:
    name = text(payload.get("name")) or kind.removesuffix("_call")
    for key in ("arguments", "input", "action"):
        value = payload.get(key)
        if isinstance(value, str):
            try:
                parsed = json.loads(value)
            except (ValueError, RecursionError):
                return name, value
            return name, parsed if isinstance(parsed, dict) else value
        if value is not None:
            return name, value
    return name, {}


def _output(value: object) -> str:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return value
        if isinstance(parsed, dict) and isinstance(parsed.get("output"), str):
            return text(parsed["output"])
    return tool_answer(value)
