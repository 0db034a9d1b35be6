"""Finds the files of a ChatGPT export that its messages point to.

Names as of 2026: `file-<id>-<name>`, `file_<id>-sanitized.<ending>` in a folder or not, and
`file-<id>.dat` with the real names in `conversation_asset_file_names.json`.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from neurigraph.importers.artifacts import Artifacts
from neurigraph.importers.fields import mapping, text
from neurigraph.importers.source import Bounds, Files, UnreadableExport

_ID = re.compile(r"file[-_][0-9A-Za-z]+")
_NAMES = "conversation_asset_file_names.json"


class Assets:
    """The files beside a `conversations.json`, by the id that messages use."""

    def __init__(self, files: Files | None, bounds: Bounds) -> None:
        self._files, self._bounds = files, bounds

    @cached_property
    def _by_id(self) -> dict[str, str]:
        whole: dict[str, str] = {}
        begun: dict[str, str] = {}
        for name in self._files.names() if self._files else ():
            last = name.rsplit("/", 1)[-1]
            whole.setdefault(last, name)
            whole.setdefault(last.rsplit(".", 1)[0], name)
            if match := _ID.match(last):
                begun.setdefault(match.group(), name)
        return begun | whole

    @cached_property
    def _real_names(self) -> Mapping[str, Any]:
        name = self._by_id.get(_NAMES)
        if self._files is None or name is None or self._files.size(name) > self._bounds.text_file:
            return {}
        data = self._read(name)
        try:
            return mapping(json.loads(data or b"{}"))
        except (ValueError, RecursionError):
            return {}

    def store(self, identity: str, entry: Mapping[str, Any], artifacts: Artifacts) -> str:
        """Put the file with this id among the artifacts of a conversation.

        `entry` is what the message says of it (`name`, `mime_type`). The answer is its name
        there, or nothing when it is not in the export or over the bounds.
        """
        match = _ID.match(identity)
        name = self._by_id.get(identity) or (self._by_id.get(match.group()) if match else None)
        if self._files is None or name is None or not identity:
            return ""
        last = name.rsplit("/", 1)[-1]
        wanted = text(entry.get("name")) or text(self._real_names.get(last)) or _bare(last)
        if not artifacts.room_for(self._files.size(name)):
            artifacts.left_out.append(wanted)
            return ""
        data = self._read(name)
        if data is None:
            artifacts.left_out.append(wanted)
            return ""
        return artifacts.add(wanted, data, text(entry.get("mime_type")))

    def _read(self, name: str) -> bytes | None:
        if self._files is None:
            return None
        try:
            with self._files.open(name) as stream:
                return stream.read()
        except (OSError, UnreadableExport, zipfile.BadZipFile, zlib.error, EOFError):
            return None


def _bare(last: str) -> str:
    """The name that a person gave, where it follows the id."""
    match = _ID.match(last)
    rest = last[match.end() :].lstrip("-") if match else last
    return rest if rest and not rest.startswith((".", "sanitized.")) else last
