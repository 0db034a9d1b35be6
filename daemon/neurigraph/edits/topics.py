"""Finds the folder that a topic's name means, and makes it when there is none."""

from __future__ import annotations

from neurigraph.edits.compose import node_note
from neurigraph.edits.desk import Desk
from neurigraph.errors import InvalidInput
from neurigraph.index.library import BROAD_COLOR, FOCUSED_COLOR, Place
from neurigraph.model import Kind
from neurigraph.vault.layout import new_node_id, safe_name, same_name

INBOX, GENERAL = "Inbox", "General"


def folder_for(desk: Desk, broad: str | None, focused: str | None) -> str:
    """The path of the folder of this topic, made (with its node notes) where it is missing.

    `broad` may be a path (`Medical/Medications`) or an id. A focused name alone is looked for
    among those that exist. Nothing at all means `Inbox/General`. Names compare without case.
    """
    broad, focused = (broad or "").strip().strip("/"), (focused or "").strip().strip("/")
    places = desk.library.places()
    if (found := places.get(focused)) or (not focused and (found := places.get(broad))):
        return _of_place(desk, found)
    if broad in places:
        broad = places[broad].path
    if "/" in broad and not focused:
        broad, _, focused = broad.partition("/")
    if focused and not broad:
        named = [p for p in places.values() if p.kind == "focused" and same_name(p.name, focused)]
        if named:
            return _of_place(desk, named[0])
    top = _make(desk, "", broad or INBOX, "broad")
    return _make(desk, top, focused or GENERAL, "focused")


def _of_place(desk: Desk, place: Place) -> str:
    if place.kind == "focused":
        top = _make(desk, "", place.path.partition("/")[0], "broad")
        return _make(desk, top, place.name, "focused")
    return _make(desk, _make(desk, "", place.name, "broad"), GENERAL, "focused")


def _make(desk: Desk, parent: str, name: str, kind: Kind) -> str:
    wanted = f"{parent}/{name}" if parent else name
    known = desk.library.place_at(wanted)
    if known is not None and known.exists:
        return known.path
    safe = known.name if known is not None else safe_name(name)
    path = f"{parent}/{safe}" if parent else safe
    known = desk.library.place_at(path)
    if known is not None and known.exists:
        return known.path
    make_node(desk, parent, safe, kind, "", "")
    return path


def make_node(desk: Desk, parent: str, name: str, kind: Kind, description: str, color: str) -> str:
    """Make a topic's folder and node note, and answer the note's path."""
    safe = safe_name(name)
    if not safe:
        raise InvalidInput("name", "give the topic a name")
    folder = f"{parent}/{safe}" if parent else safe
    desk.files.make_folder(folder)
    path = write_node_note(desk, folder, kind, name, description, color)
    desk.indexer.look([folder])
    return path


def write_node_note(
    desk: Desk, folder: str, kind: Kind, name: str, description: str, color: str
) -> str:
    """Give a folder its node note. A folder that was a node already keeps its id."""
    known = desk.library.place_at(folder)
    taken = desk.library.ids()
    node_id = known.id if known is not None else new_node_id(taken)
    if not color:
        color = BROAD_COLOR if kind == "broad" else FOCUSED_COLOR
    note = node_note(kind, node_id, name, description, color, desk.clock())
    leaf = folder.rpartition("/")[2]
    return desk.files.create(f"{folder}/{leaf}.md", note)
