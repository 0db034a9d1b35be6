"""What Obsidian itself says in its folder of settings: open files, template folders. Read only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neurigraph.vault.names import nfc

_WORKSPACES = (".obsidian/workspace.json", ".obsidian/workspace-mobile.json")


def open_files(root: Path) -> dict[str, datetime]:
    """The files that Obsidian has open, each with the moment when it last said so.

    Read from the leaves of its workspace files, which it writes when the layout changes. They
    name what was open last even after Obsidian was closed. Paths in composed form.
    """
    found: dict[str, datetime] = {}
    for place in _WORKSPACES:
        full = root / place
        try:
            written = datetime.fromtimestamp(full.stat().st_mtime, UTC)
        except OSError:
            continue
        for file in _leaves(read_json(full)):
            found[file] = max(written, found.get(file, written))
    return found


def _leaves(workspace: object) -> Iterator[str]:
    pending = [workspace]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item
        elif isinstance(item, dict):
            pending += item.values()
            outer = item.get("state")
            inner = outer.get("state") if isinstance(outer, dict) else None
            file = inner.get("file") if isinstance(inner, dict) else None
            if item.get("type") == "leaf" and isinstance(file, str) and file:
                yield nfc(file)


def template_folders(root: Path) -> tuple[str, ...]:
    """The folders with note templates, as Obsidian's own and the Templater plugin name them."""
    found = []
    for place, key in (
        (".obsidian/templates.json", "folder"),
        (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
    ):
        value = read_json(root / place)
        folder = value.get(key) if isinstance(value, dict) else None
        if isinstance(folder, str):
            clean = nfc(folder).strip().strip("/")
            # a template folder that is the whole vault excludes nothing
            if clean and clean != "." and not any(c in clean for c in "*?["):
                found.append(clean)
    return tuple(dict.fromkeys(found))


def read_json(path: Path, max_bytes: int = 5_000_000) -> Any:
    """What a JSON file of another program holds; None when it is absent, damaged or huge."""
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
        return json.loads(data) if len(data) <= max_bytes else None
    except (OSError, ValueError, RecursionError):
        return None
