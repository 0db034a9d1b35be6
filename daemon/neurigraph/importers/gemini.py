"""Reads what Gemini CLI keeps: session documents, session logs, prompt logs and checkpoints.

A session log (since 0.39) is replayed: a message comes again under its id whenever it changes,
`$set` changes what is known of the session, and `$rewindTo` takes back a message and all after it.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

from neurigraph.importers.artifacts import Artifacts
from neurigraph.importers.fields import (
    first_line,
    first_text,
    line,
    mapping,
    moment,
    objects,
    text,
    title,
)
from neurigraph.importers.log import records
from neurigraph.importers.source import Failed, Reading
from neurigraph.importers.transcript import ASSISTANT, USER, Transcript, tool_answer
from neurigraph.model import Conversation

_CONTEXT = re.compile(r"\s*<session_context>.*?</session_context>\s*", re.DOTALL)
_SETUP = "This is the Gemini CLI. We are setting up the context"
_PERSON, _MODEL = {"user"}, {"gemini", "model", "assistant"}


def read(stream: BinaryIO, reading: Reading) -> Iterator[Conversation | Failed]:
    """The session of a log of JSON Lines."""
    known: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    for record in records(stream, reading):
        if isinstance(record, Failed):
            yield record
            return
        _replay(record, known, messages)
    yield from _session(known, list(messages.values()), reading)


def _replay(
    record: dict[str, Any], known: dict[str, Any], messages: dict[str, dict[str, Any]]
) -> None:
    if isinstance(target := record.get("$rewindTo"), str):
        ids = list(messages)
        for key in ids[ids.index(target) :] if target in messages else ids:
            del messages[key]
    elif isinstance(record.get("id"), str) and "type" in record:
        messages[record["id"]] = record
    else:
        known.update(mapping(record.get("$set")) or record)
        # a list of messages in it is the model's context, which forgets when it is compressed:
        # what was said stays
        for number, message in enumerate(objects(known.pop("messages", None))):
            messages[text(message.get("id")) or f"#{number}"] = message


def read_document(value: object, reading: Reading) -> Iterator[Conversation | Failed]:
    """What one JSON document holds: a session, a checkpoint, or the prompts of many sessions."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        yield from _session(value, objects(value.get("messages")), reading)
        return
    history = objects(mapping(value).get("history") or value)
    if any("messageId" in entry for entry in history):
        by_session: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for entry in history:
            by_session[text(entry.get("sessionId"))].append(entry)
        for session, entries in by_session.items():
            yield from _session({"sessionId": session}, entries, reading, "gemini-prompts")
        return
    seed = str(history[0]) if history else reading.name
    identity = hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:32]
    yield from _session({"sessionId": f"checkpoint-{identity}"}, history, reading)


def _session(
    known: Mapping[str, Any],
    messages: list[dict[str, Any]],
    reading: Reading,
    origin: str = "gemini",
) -> Iterator[Conversation | Failed]:
    transcript, artifacts = Transcript(reading.bounds.tool_text), Artifacts(reading.bounds)
    first = model = ""
    for message in messages:
        said = _message(message, transcript, artifacts, reading)
        first = first or said
        model = line(message.get("model")) or model
    content = transcript.text()
    if not content or not first:
        reading.skipped["empty session"] += 1
        return
    times = [when for message in messages if (when := moment(message.get("timestamp")))]
    yield Conversation(
        content=content,
        title=title(known.get("summary")) or first_line(first),
        created=moment(known.get("startTime")) or (min(times) if times else None),
        source_model=model or "gemini",
        source_id=f"{origin}:{line(known.get('sessionId')) or PurePath(reading.name).stem}",
        artifacts=artifacts.all(),
    )


def _message(
    message: Mapping[str, Any], transcript: Transcript, artifacts: Artifacts, reading: Reading
) -> str:
    """Write one message; the answer is what a person said in it, if anything."""
    kind = text(message.get("type")) or text(message.get("role"))
    when = moment(message.get("timestamp"))
    content = message.get("content", message.get("parts", message.get("message")))
    parts = [{"text": content}] if isinstance(content, str) else _parts(content)
    if kind in _MODEL:
        transcript.turn(ASSISTANT, when, line(message.get("model")))
        for thought in objects(message.get("thoughts")):
            heading = text(thought.get("subject"))
            body = text(thought.get("description"))
            transcript.thinking(f"**{heading}**\n\n{body}" if heading else body)
    elif kind not in _PERSON:
        reading.skipped[f"{kind or 'untyped'} message"] += 1
        return ""
    said = []
    for part in parts:
        plain = text(part.get("text"))
        if kind in _PERSON:
            plain = _CONTEXT.sub("", plain)
            if plain.strip() and not plain.startswith(_SETUP):
                transcript.turn(USER, when)
                transcript.say(plain)
                said.append(plain)
        elif part.get("thought"):
            transcript.thinking(plain)
        else:
            transcript.say(plain)
        _other(part, transcript, artifacts, kind in _PERSON)
    for call in objects(message.get("toolCalls")):
        transcript.call(first_text(call, "displayName", "name"), call.get("args"))
        shown = call.get("resultDisplay")
        answer = _answers(call.get("result"))
        transcript.result(answer or (text(shown) if isinstance(shown, str) else ""))
    return "\n".join(said)


def _other(
    part: Mapping[str, Any], transcript: Transcript, artifacts: Artifacts, person: bool
) -> None:
    if call := mapping(part.get("functionCall")):
        transcript.call(text(call.get("name")), call.get("args"))
    elif "functionResponse" in part:
        transcript.turn(ASSISTANT)
        transcript.result(_answers([part]))
    elif data := mapping(part.get("inlineData")):
        if person:
            transcript.turn(USER)
        name = artifacts.add_base64("file", text(data.get("data")), text(data.get("mimeType")))
        transcript.attached(name or "file")


def _parts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, dict):
        return [content]
    if not isinstance(content, list):
        return []
    return [{"text": part} if isinstance(part, str) else dict(mapping(part)) for part in content]


def _answers(result: object) -> str:
    found = []
    for part in objects(result if isinstance(result, list) else [result]):
        response = mapping(part.get("functionResponse")).get("response")
        found.append(tool_answer(response if response is not None else part))
    return "\n".join(piece for piece in found if piece.strip())
