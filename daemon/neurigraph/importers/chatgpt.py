"""Reads conversations of a ChatGPT export: the visible branch of each tree of messages.

Fields as of 2026: a conversation has `mapping`, nodes by id with `parent`, `children` and
`message`, and `current_node`, the end of what the person sees.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from neurigraph.importers.artifacts import Artifacts
from neurigraph.importers.chatgpt_assets import Assets
from neurigraph.importers.fields import (
    first_text,
    items,
    line,
    mapping,
    moment,
    objects,
    text,
    title,
)
from neurigraph.importers.reading import each
from neurigraph.importers.source import Failed, Reading
from neurigraph.importers.stream import elements
from neurigraph.importers.transcript import ASSISTANT, USER, Transcript, tool_answer
from neurigraph.model import Conversation

_PROFILE = {"user_editable_context", "model_editable_context"}
_MARKUP = re.compile("\ue200[^\ue200\ue201]*\ue201")
_ASSET_ID = re.compile(r"file[-_]\w+")


def read(stream: BinaryIO, reading: Reading) -> Iterator[Conversation | Failed]:
    """All conversations of one `conversations.json`, or part of one, in its order."""
    assets = Assets(reading.files, reading.bounds)
    found = elements(stream, reading.bounds.conversation)
    return each(found, reading, lambda value: conversation(value, reading, assets))


def conversation(
    value: Mapping[str, Any], reading: Reading, assets: Assets
) -> Conversation | Failed | None:
    """One conversation; None when nothing in it is visible."""
    nodes = _nodes(value)
    messages = [mapping(node.get("message")) for node in branch(nodes, value.get("current_node"))]
    writer = _Writer(reading, assets)
    for message in messages:
        writer.add(message)
    content = writer.transcript.text()
    if not content:
        reading.skipped["empty conversation"] += 1
        return None
    times = [when for message in messages if (when := moment(message.get("create_time")))]
    model = writer.model or line(value.get("default_model_slug")) or "chatgpt"
    return Conversation(
        content=content,
        title=title(value.get("title")),
        created=moment(value.get("create_time")) or (min(times) if times else None),
        source_model=model,
        source_id=f"chatgpt:{_identity(value)}",
        artifacts=writer.artifacts.all(),
    )


def _identity(value: Mapping[str, Any]) -> str:
    known = line(first_text(value, "conversation_id", "id"))
    if known:
        return known
    seed = f"{value.get('title')}\0{value.get('create_time')}\0{next(iter(_nodes(value)), '')}"
    return hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:32]


def _nodes(value: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    tree = value.get("mapping")
    if isinstance(tree, dict):
        return {key: node for key, node in tree.items() if isinstance(node, dict)}
    listed = objects(tree) or objects(value.get("nodes"))
    return {text(node.get("id")): node for node in listed if node.get("id")}


def branch(nodes: Mapping[str, Mapping[str, Any]], current: object) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one, or to the newest leaf where none is named."""
    parents: dict[str, str] = {}
    for key, node in nodes.items():
        for child in items(node.get("children")):
            if isinstance(child, str):
                parents.setdefault(child, key)
    for key, node in nodes.items():
        if isinstance(node.get("parent"), str):
            parents[key] = node["parent"]
    at = current if isinstance(current, str) and current in nodes else _newest(nodes, parents)
    path: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while at in nodes and at not in seen:
        seen.add(at)
        path.append(nodes[at])
        at = parents.get(at, "")
    return path[::-1]


def _newest(nodes: Mapping[str, Mapping[str, Any]], parents: Mapping[str, str]) -> str:
    inner = set(parents.values())
    best, newest = "", (-1.0, -1)
    for number, (key, node) in enumerate(nodes.items()):
        message = mapping(node.get("message"))
        if key in inner or not message:
            continue
        when = moment(message.get("create_time"))
        rank = (when.timestamp() if when else 0.0, number)
        if rank > newest:
            best, newest = key, rank
    return best


class _Writer:
    """Turns the messages of one branch into a transcript."""

    def __init__(self, reading: Reading, assets: Assets) -> None:
        self._reading, self._assets = reading, assets
        self.transcript = Transcript(reading.bounds.tool_text)
        self.artifacts = Artifacts(reading.bounds)
        self.model = ""

    def add(self, message: Mapping[str, Any]) -> None:
        """Write one message, if it is one that the person sees."""
        content, metadata = mapping(message.get("content")), mapping(message.get("metadata"))
        role = text(mapping(message.get("author")).get("role"))
        kind = text(content.get("content_type")) or "text"
        if metadata.get("is_visually_hidden_from_conversation") or role == "system":
            return
        if not content or kind in _PROFILE:
            return
        when = moment(message.get("create_time"))
        if role == "user":
            self.transcript.turn(USER, when)
            self._say(content, metadata)
        else:
            self._answer(message, content, metadata, role, kind, when)

    def _answer(
        self,
        message: Mapping[str, Any],
        content: Mapping[str, Any],
        metadata: Mapping[str, Any],
        role: str,
        kind: str,
        when: datetime | None,
    ) -> None:
        model = line(metadata.get("model_slug"))
        self.model = model or self.model
        self.transcript.turn(ASSISTANT, when, model)
        recipient = text(message.get("recipient")) or "all"
        if kind == "thoughts":
            self.transcript.thinking(_thoughts(content))
        elif kind == "reasoning_recap":
            return
        elif kind == "code" and (recipient != "all" or role != "assistant"):
            self.transcript.call(recipient, text(content.get("text")))
        elif kind == "code":
            self.transcript.code(text(content.get("text")), _language(content))
        elif kind == "execution_output":
            self.transcript.result(text(content.get("text")))
        elif kind == "tether_quote":
            source = first_text(content, "title", "domain", "url")
            quoted = [text(content.get("url")), text(content.get("text"))]
            self.transcript.result("\n".join(part for part in quoted if part), f"Quote: {source}")
        elif kind in ("tether_browsing_display", "sonic_webpage", "system_error"):
            self.transcript.result(_page(content), text(content.get("title")) or "Result")
        elif kind in ("text", "multimodal_text") and role == "assistant" and recipient == "all":
            self._say(content, metadata)
        elif kind in ("text", "multimodal_text") and role == "assistant":
            self.transcript.call(recipient, _parts_text(content))
        elif kind in ("text", "multimodal_text"):
            name = text(mapping(message.get("author")).get("name"))
            self.transcript.result(_parts_text(content), f"Result: {name}" if name else "Result")
            self._pictures(content)
        else:
            self._unknown(content, kind)

    def _say(self, content: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        """Write what was said, with the names of pictures, recordings and attached files."""
        written: set[str] = set()
        attachments = objects(metadata.get("attachments"))
        named = {text(entry.get("id")): entry for entry in attachments}
        parts = content.get("parts")
        if not isinstance(parts, list):
            parts = [content.get("text")]
        for part in parts:
            if isinstance(part, str):
                self.transcript.say(_cited(text(part), metadata))
            elif isinstance(part, dict):
                self._part(part, named, written)
        for identity, entry in named.items():
            if identity not in written:
                self._attach(identity, entry, "Attachment")

    def _part(
        self, part: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]], written: set[str]
    ) -> None:
        kind = text(part.get("content_type"))
        if kind == "audio_transcription" or (not kind and isinstance(part.get("text"), str)):
            self.transcript.say(text(part.get("text")))
        elif kind == "image_asset_pointer":
            identity = _asset_id(part)
            if identity not in written:
                written.add(identity)
                self._attach(identity, named.get(identity, {}), "Image")
        elif kind == "audio_asset_pointer":
            self._attach(_asset_id(part), {}, "Recording")
        elif kind == "real_time_user_audio_video_asset_pointer":
            self._attach(_asset_id(mapping(part.get("audio_asset_pointer"))), {}, "Recording")
        elif kind.endswith("asset_pointer"):
            self._attach(_asset_id(part), {}, "File")
        else:
            self._unknown(part, kind or "part")

    def _pictures(self, content: Mapping[str, Any]) -> None:
        for part in objects(content.get("parts")):
            if text(part.get("content_type")) == "image_asset_pointer":
                self._attach(_asset_id(part), {}, "Image")

    def _attach(self, identity: str, entry: Mapping[str, Any], kind: str) -> None:
        name = self._assets.store(identity, entry, self.artifacts)
        self.transcript.attached(name or text(entry.get("name")) or identity or "unnamed", kind)

    def _unknown(self, content: Mapping[str, Any], kind: str) -> None:
        found = first_text(content, "text", "result", "content", "summary") or _parts_text(content)
        if found:
            self.transcript.result(found, kind)
        else:
            self._reading.skipped[kind] += 1


def _asset_id(part: Mapping[str, Any]) -> str:
    pointer = text(part.get("asset_pointer")).rsplit("/", 1)[-1]
    match = _ASSET_ID.match(pointer)
    return match.group() if match else pointer


def _language(content: Mapping[str, Any]) -> str:
    language = text(content.get("language"))
    return "" if language == "unknown" else language


def _thoughts(content: Mapping[str, Any]) -> str:
    pieces = []
    for thought in objects(content.get("thoughts")):
        heading, body = text(thought.get("summary")).strip(), text(thought.get("content")).strip()
        pieces.append("\n\n".join(([f"**{heading}**"] if heading else []) + [body]).strip())
    return "\n\n".join(piece for piece in pieces if piece) or first_text(content, "content", "text")


def _page(content: Mapping[str, Any]) -> str:
    keys = ("name", "url", "summary", "result", "snippet", "text")
    return "\n".join(found for key in keys if (found := text(content.get(key)).strip()))


def _parts_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    if not isinstance(parts, list):
        return text(content.get("text"))
    found = [text(part) if isinstance(part, str) else _part_text(part) for part in parts]
    return "\n\n".join(piece for piece in found if piece.strip())


def _part_text(part: object) -> str:
    fields = mapping(part)
    if text(fields.get("content_type")).endswith("asset_pointer"):
        return ""
    return text(fields.get("text")) or (tool_answer(part) if fields else "")


def _cited(said: str, metadata: Mapping[str, Any]) -> str:
    """Replace the marks that stand for citations by the links that the person sees."""
    if "\ue200" not in said:
        return said
    for reference in objects(metadata.get("content_references")):
        mark = text(reference.get("matched_text"))
        if "\ue200" in mark:
            said = said.replace(mark, text(reference.get("alt")))
    return _MARKUP.sub("", said)
