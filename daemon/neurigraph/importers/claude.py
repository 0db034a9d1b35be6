"""Reads conversations of a Claude export.

Fields as of 2026: a conversation has `chat_messages`, each with `sender`, `text`, `content`
blocks, `attachments` and `files`; `content` wins over `text` and may be JSON in a string.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from neurigraph.importers.artifacts import Artifacts
from neurigraph.importers.claude_artifacts import Workshop
from neurigraph.importers.fields import first_text, line, mapping, moment, objects, text, title
from neurigraph.importers.reading import each
from neurigraph.importers.source import Failed, Reading
from neurigraph.importers.stream import elements
from neurigraph.importers.transcript import ASSISTANT, USER, Transcript, fenced, tool_answer
from neurigraph.model import Conversation

_SILENT = {"token_budget", "injected_prompt_block", "flag"}


def read(stream: BinaryIO, reading: Reading) -> Iterator[Conversation | Failed]:
    """All conversations of one `conversations.json`, in its order."""
    found = elements(stream, reading.bounds.conversation)
    return each(found, reading, lambda value: conversation(value, reading))


def conversation(value: Mapping[str, Any], reading: Reading) -> Conversation | None:
    """One conversation; None when nothing was said in it."""
    messages = visible(objects(value.get("chat_messages")))
    writer = _Writer(reading)
    for message in messages:
        writer.add(message)
    content = writer.transcript.text()
    if not content:
        reading.skipped["empty conversation"] += 1
        return None
    for name, data in writer.workshop.files():
        writer.artifacts.add(name, data)
    times = [when for message in messages if (when := moment(message.get("created_at")))]
    return Conversation(
        content=content,
        title=title(value.get("name")),
        created=moment(value.get("created_at")) or (min(times) if times else None),
        source_model=line(value.get("model")) or "claude",
        source_id=f"claude:{_identity(value)}",
        artifacts=writer.artifacts.all(),
    )


def _identity(value: Mapping[str, Any]) -> str:
    known = line(first_text(value, "uuid", "id"))
    if known:
        return known
    seed = f"{value.get('name')}\0{value.get('created_at')}"
    return hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:32]


def visible(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages in order; where they name their parents, the branch of the newest leaf."""
    by_id = {found: message for message in messages if (found := text(message.get("uuid")))}
    parents = {
        key: parent
        for key, message in by_id.items()
        if (parent := first_text(message, "parent_message_uuid", "parent_uuid", "parent"))
    }
    if not any(parent in by_id for parent in parents.values()):
        return messages
    inner = set(parents.values())
    best, newest = "", (-1.0, -1)
    for number, (key, message) in enumerate(by_id.items()):
        when = moment(message.get("created_at"))
        rank = (when.timestamp() if when else 0.0, number)
        if key not in inner and rank > newest:
            best, newest = key, rank
    path: list[dict[str, Any]] = []
    seen: set[str] = set()
    while best in by_id and best not in seen:
        seen.add(best)
        path.append(by_id[best])
        best = parents.get(best, "")
    return path[::-1]


class _Writer:
    """Turns messages into a transcript and keeps the artifacts that they make."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.transcript = Transcript(reading.bounds.tool_text)
        self.artifacts = Artifacts(reading.bounds)
        self.workshop = Workshop()

    def add(self, message: Mapping[str, Any]) -> None:
        """Write one message: its blocks, else its text, then what was attached to it."""
        sender = text(message.get("sender")) or text(message.get("role"))
        speaker = USER if sender in ("human", "user") else ASSISTANT
        self.transcript.turn(speaker, moment(message.get("created_at")), line(message.get("model")))
        blocks = _blocks(message.get("content"))
        said = [block for block in blocks if self._block(block)]
        if not said and (plain := text(message.get("text"))).strip():
            self.transcript.say(plain)
            said = [{}]
        for attachment in objects(message.get("attachments")):
            self._attachment(attachment, alone=not said)
        for file in objects(message.get("files")):
            if name := first_text(file, "file_name", "name"):
                self.transcript.attached(name)

    def _block(self, block: Mapping[str, Any]) -> bool:
        """Write one block; whether it was anything that is seen."""
        kind = text(block.get("type"))
        if kind == "text" or (not kind and "text" in block):
            self.transcript.say(text(block.get("text")))
            return bool(text(block.get("text")).strip())
        if kind == "thinking":
            self.transcript.thinking(text(block.get("thinking")) or _summaries(block))
        elif kind == "tool_use":
            self._tool(block)
        elif kind == "tool_result":
            self.transcript.result(tool_answer(block.get("content")))
        elif kind == "voice_note":
            self.transcript.say(first_text(block, "text", "transcript", "title"))
            return True
        elif kind in ("document", "image", "file"):
            name = first_text(block, "title", "file_name", "name", "filename")
            self.transcript.attached(name or kind, "Image" if kind == "image" else "Attachment")
        elif kind not in _SILENT:
            found = first_text(block, "text", "content")
            if found:
                self.transcript.result(found, kind)
            else:
                self._reading.skipped[kind or "block"] += 1
        return False

    def _tool(self, block: Mapping[str, Any]) -> None:
        name, arguments = text(block.get("name")), block.get("input")
        self.transcript.call(name, arguments)
        self.workshop.use(name, mapping(arguments))

    def _attachment(self, attachment: Mapping[str, Any], alone: bool) -> None:
        name, content = text(attachment.get("file_name")), text(attachment.get("extracted_content"))
        if alone and content.strip() and (not name or name.lower().startswith("paste")):
            # a long message that the person pasted, which the site turned into a file
            self.transcript.say(content)
        elif content.strip():
            self.transcript.fold("quote", f"Attachment: {name or 'text'}", fenced(content))
        elif name:
            self.transcript.attached(name)


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except (ValueError, RecursionError):
            return [{"type": "text", "text": content}]
        if isinstance(content, str | int | float | bool):
            return [{"type": "text", "text": str(content)}]
    if isinstance(content, dict):
        return [content]
    return objects(content)


def _summaries(block: Mapping[str, Any]) -> str:
    return "\n\n".join(text(entry.get("summary")) for entry in objects(block.get("summaries")))
