"""Follows the tool calls by which Claude makes files, to the last state of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from neurigraph.importers.fields import first_text, text

_ENDINGS = {
    "text/markdown": ".md",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/plain": ".txt",
    "image/svg+xml": ".svg",
    "application/json": ".json",
    "application/vnd.ant.mermaid": ".mermaid",
    "application/vnd.ant.react": ".jsx",
}
_LANGUAGES = {
    "python": ".py",
    "javascript": ".js",
    "typescript": ".ts",
    "bash": ".sh",
    "shell": ".sh",
    "rust": ".rs",
    "ruby": ".rb",
    "csharp": ".cs",
    "c++": ".cpp",
    "kotlin": ".kt",
    "markdown": ".md",
    "yaml": ".yaml",
    "html": ".html",
    "css": ".css",
    "sql": ".sql",
    "json": ".json",
    "java": ".java",
    "go": ".go",
    "c": ".c",
    "cpp": ".cpp",
    "swift": ".swift",
    "php": ".php",
    "r": ".r",
    "toml": ".toml",
    "xml": ".xml",
    "latex": ".tex",
}


@dataclass(slots=True)
class _Work:
    name: str
    content: str


class Workshop:
    """The files of one conversation, by artifact id or by path."""

    def __init__(self) -> None:
        self._works: dict[str, _Work] = {}

    def use(self, tool: str, given: Mapping[str, Any]) -> None:
        """Follow one tool call; calls of other tools, and changes to what was never made, are
        passed over."""
        if tool == "artifacts":
            self._artifact(given)
        elif tool == "create_file" and text(given.get("path")):
            path = text(given.get("path"))
            content = first_text(given, "file_text", "content")
            self._works[path] = _Work(PurePosixPath(path).name, content)
        elif tool == "str_replace":
            self._replace(text(given.get("path")), given)

    def _artifact(self, given: Mapping[str, Any]) -> None:
        key, command = text(given.get("id")), text(given.get("command"))
        if command == "update":
            self._replace(key, given)
        elif isinstance(given.get("content"), str):
            known = self._works.get(key)
            name = _name(given) if known is None or "title" in given else known.name
            self._works[key] = _Work(name, text(given.get("content")))

    def _replace(self, key: str, given: Mapping[str, Any]) -> None:
        work, old = self._works.get(key), text(given.get("old_str"))
        if work is not None and old and old in work.content:
            work.content = work.content.replace(old, text(given.get("new_str")), 1)

    def files(self) -> list[tuple[str, bytes]]:
        """Name and content of each file that is not empty, in the order they were made."""
        return [(work.name, work.content.encode()) for work in self._works.values() if work.content]


def _name(given: Mapping[str, Any]) -> str:
    title = first_text(given, "title", "id") or "artifact"
    title = title.replace("/", "-").replace("\\", "-")
    kind, language = text(given.get("type")), text(given.get("language")).lower()
    ending = _ENDINGS.get(kind) or _LANGUAGES.get(language) or ".txt"
    suffix = PurePosixPath(title).suffix
    has_ending = 1 < len(suffix) <= 6 and suffix[1:].isalnum() and not suffix[1:].isdigit()
    return title if has_ending else title + ending
