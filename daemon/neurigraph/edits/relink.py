"""Keeps links right when notes move: every link that led to a note leads to it afterwards."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.vault.note import replace_links

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LinksTo:
    """Which links, by note, lead to notes that are about to move: {note: {target text: path}}."""

    by_note: Mapping[str, Mapping[str, str]]


def links_to(desk: Desk, moving: set[str]) -> LinksTo:
    """Find all links that will have to change when these notes move."""
    found: dict[str, dict[str, str]] = {}
    for record in desk.library.records():
        targets = {link.target for link in record.links} | {record.previous_part, record.next_part}
        for target in targets - {""}:
            note = desk.library.resolve(target, record.path)
            # a relative link changes its meaning when the note that holds it moves
            relative = record.path in moving and target.startswith(("./", "../"))
            if note is not None and (note.path in moving or relative):
                found.setdefault(record.path, {})[target] = note.path
    return LinksTo(found)


def relink(desk: Desk, links: LinksTo, moved: Mapping[str, str]) -> list[str]:
    """Rewrite the links that were found before the move, and answer the notes that were edited.

    Only the target's text changes. A short link that still leads to its note stays as it is.
    """
    desk.indexer.look([*moved, *moved.values()])
    edited = []
    for note, targets in links.by_note.items():
        path = moved.get(note, note)
        changes: dict[str, str] = {}
        for target, old in targets.items():
            new = moved.get(old, old)
            now = desk.library.resolve(target, path)
            if now is None or now.path != new:
                changes[target] = _spelled(desk, target, path, new)
        if changes:
            try:
                desk.files.edit(
                    path,
                    lambda raw, c=changes: replace_links(raw, c.get),  # type: ignore[misc]  # the default binds the loop's value
                )
                edited.append(path)
            except NeurigraphError as error:
                log.warning("a link could not follow a move: %s", error)
                desk.indexer.note_problem(
                    path, "has links to a note that was moved; correct them by hand"
                )
    if edited:
        desk.indexer.look(edited)
    return edited


def _spelled(desk: Desk, target: str, source: str, path: str) -> str:
    """How a link to this path is written: short where the old one was short and it suffices."""
    suffix = ".md" if target.lower().endswith(".md") else ""
    bare = path[:-3]
    leaf = bare.rpartition("/")[2]
    if "/" not in target:
        found = desk.library.resolve(leaf, source)
        if found is not None and found.path == path:
            return leaf + suffix
    return bare + suffix
