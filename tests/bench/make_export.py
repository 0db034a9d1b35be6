"""Writes a made-up ChatGPT export of any size, for measuring how fast it is imported.

    python tests/bench/make_export.py export.zip --conversations 2000 --megabytes 100

The same arguments give the same file. About half of the JSON is text that people see; the rest
is the scaffolding that real exports carry. Some conversations have a second branch, tool calls
and thoughts.
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOPICS = {
    "sourdough": "flour starter hydration proof oven crust crumb salt knead banneton",
    "running": "pace marathon interval heart tempo knee shoes recovery distance hill",
    "garden": "tomato soil compost seedling frost prune mulch raised bed pollinator",
    "postgres": "index vacuum query planner lock replica partition migration schema row",
    "piano": "scale chord sight reading pedal tempo fingering sonata practice rhythm",
    "taxes": "deduction income receipt quarter filing allowance invoice threshold rate",
    "travel": "itinerary train hostel visa luggage museum ferry booking island season",
    "sleep": "melatonin routine light caffeine cycle deep nap temperature alarm habit",
}
COMMON = ("the", "a", "of", "to", "and", "in", "is", "that", "it", "for", "on", "with", "as")
COMMON += ("this", "are", "be", "at", "or", "from", "by", "have", "not", "you", "we", "can")
COMMON += ("when", "which", "then", "more", "about", "should", "would", "if", "there", "how")
COMMON += ("first", "because", "after", "before", "than", "only", "over", "each", "between")


class Writer:
    """Makes conversations from a seed, as JSON values."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def conversation(self, number: int, size: int) -> dict[str, Any]:
        """One conversation whose JSON has about `size` bytes."""
        topic = self._random.choice(list(TOPICS))
        when = 1_700_000_000.0 + number * 9_000
        nodes: dict[str, Any] = {"root": _node("root", None, None)}
        last, written, turn = "root", 400, 0
        while written < size or turn < 2:
            turn += 1
            for role in ("user", "assistant"):
                identity = self._id()
                length = self._random.randint(10, 80) if role == "user" else 250
                said = self.text(topic, min(length, max(10, (size - written) // 8)))
                if role == "assistant" and self._random.random() < 0.2:
                    said += f"\n\n```python\n{topic} = [{turn}, {number}]\nprint({topic})\n```"
                nodes[last]["children"].append(identity)
                nodes[identity] = _node(identity, last, _message(identity, role, said, when))
                if role == "assistant" and self._random.random() < 0.05:
                    other = self._id()
                    nodes[last]["children"].insert(0, other)
                    message = _message(other, role, self.text(topic, 40), when)
                    nodes[other] = _node(other, last, message)
                last = identity
                when += self._random.randint(5, 90)
                written += int(len(said) * 1.02) + 1_150
        return {
            "title": f"{topic.capitalize()}: {self.text(topic, 4)}",
            "create_time": 1_700_000_000.0 + number * 9_000,
            "update_time": when,
            "mapping": nodes,
            "current_node": last,
            "conversation_id": self._id(),
            "default_model_slug": "gpt-5",
            "is_archived": False,
        }

    def text(self, topic: str, words: int) -> str:
        """Prose of this many words, mostly common ones."""
        own = TOPICS[topic].split()
        chosen = [
            self._random.choice(own if self._random.random() < 0.3 else COMMON)
            for _ in range(words)
        ]
        for at in range(12, words, 15):
            chosen[at] += "." if at % 4 else ".\n\n"
        return " ".join(chosen)

    def _id(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))


def _node(identity: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": identity, "message": message, "parent": parent, "children": []}


def _message(identity: str, role: str, said: str, when: float) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "is_complete": True,
        "request_id": identity[::-1],
        "timestamp_": "absolute",
        "message_type": None,
        "parent_id": identity,
        "finish_details": {"type": "stop", "stop_tokens": [200002]},
        "citations": [],
        "content_references": [],
        "gizmo_id": None,
    }
    # what real exports say of every message beside its text
    metadata["serialization_metadata"] = {"custom_symbol_offsets": list(range(60))}
    if role == "assistant":
        metadata |= {"model_slug": "gpt-5", "default_model_slug": "gpt-5", "pad": "AAAA" * 30}
    return {
        "id": identity,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": when,
        "update_time": None,
        "content": {"content_type": "text", "parts": [said]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": metadata,
        "recipient": "all",
        "channel": None,
    }


def pieces(conversations: int, megabytes: float, seed: int = 7) -> Iterator[bytes]:
    """The bytes of `conversations.json`, a conversation at a time."""
    writer = Writer(seed)
    size = int(megabytes * 1_000_000 / max(conversations, 1))
    for number in range(conversations):
        spread = size * (0.4 + 1.2 * (number % 11) / 10)
        value = writer.conversation(number, int(spread))
        yield (b"[" if number == 0 else b", ") + json.dumps(value).encode()
    yield b"]" if conversations else b"[]"


def make_export(path: Path, conversations: int, megabytes: float, seed: int = 7) -> int:
    """Write the export as a zip, or as plain JSON where the name ends so; answers JSON bytes."""
    total = 0
    if path.suffix == ".json":
        with path.open("wb") as plain:
            for piece in pieces(conversations, megabytes, seed):
                total += plain.write(piece)
        return total
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("conversations.json", "w", force_zip64=True) as member,
    ):
        for piece in pieces(conversations, megabytes, seed):
            total += member.write(piece)
    return total


def main() -> None:
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--conversations", type=int, default=2000)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    total = make_export(given.path, given.conversations, given.megabytes, given.seed)
    print(f"{given.path}: {given.conversations} conversations, {total / 1e6:.1f} MB of JSON")


if __name__ == "__main__":
    main()
