"""Changes topics and the edges between them, as edits of folders and node notes."""

from __future__ import annotations

import re
from collections.abc import Callable

from neurigraph.edits.compose import safe_line
from neurigraph.edits.desk import Desk, check_writable
from neurigraph.edits.memories import delete as delete_memory
from neurigraph.edits.relink import links_to, relink
from neurigraph.edits.tombstones import Tombstones
from neurigraph.edits.topics import make_node, write_node_note
from neurigraph.errors import Conflict, Duplicate, InvalidInput, NotFound
from neurigraph.index.library import DERIVED_RELATIONSHIP, Place
from neurigraph.index.record import Record
from neurigraph.model import Kind
from neurigraph.vault.layout import safe_name, same_name
from neurigraph.vault.note import NOT_EDGES, edge_value, set_edge, set_keys

RELATED = "related_to"
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_RELATIONSHIP = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


def create(desk: Desk, parent: Place | None, name: str, description: str, color: str) -> Place:
    """Make a broad topic, or a focused one in `parent`."""
    safe = safe_name(name)
    if not name.strip() or not safe:
        raise InvalidInput("name", "give the topic a name")
    _check_color(color)
    path = f"{parent.path}/{safe}" if parent else safe
    known = desk.library.place_at(path)
    if known is not None and (known.exists or known.note):
        raise Duplicate(f"there is a topic '{known.path}' already; use it, or choose another name")
    kind: Kind = "focused" if parent else "broad"
    if parent is not None and not parent.exists:
        desk.files.make_folder(parent.path)
    make_node(desk, parent.path if parent else "", safe, kind, description, color)
    found = desk.library.place_at(path)
    if found is None:
        raise NotFound("topic", path)
    return found


def update(
    desk: Desk,
    place: Place,
    *,
    name: str | None,
    description: str | None,
    color: str | None,
    private: bool | None,
) -> Place:
    """Change what is said of a topic, or its name; a rename moves its folder and every link."""
    _check_color(color)
    keys: dict[str, str | int | bool | list[str] | None] = {}
    if description is not None:
        keys["description"] = safe_line(description, 2000)
    if color is not None:
        keys["color"] = color
    if private is not None:
        keys["private"] = private
    if keys:
        note = note_of(desk, place)
        desk.files.edit(note.path, lambda raw: set_keys(raw, keys))
        desk.indexer.look([note.path])
    if name is not None and safe_name(name) != place.name:
        return rename(desk, place, name)
    return desk.library.place_at(place.path) or place


def rename(desk: Desk, place: Place, name: str) -> Place:
    """Give a topic's folder another name; its node note and every link to its notes follow."""
    safe = safe_name(name)
    if not name.strip() or not safe:
        raise InvalidInput("name", "give the topic a name")
    parent, _, leaf = place.path.rpartition("/")
    target = f"{parent}/{safe}" if parent else safe
    other = desk.library.place_at(target)
    if other is not None and other.id != place.id:
        raise Duplicate(f"there is a topic '{other.path}' already; choose another name")
    if not place.exists:
        raise Conflict(f"'{place.path}' stands for loose notes and has no folder to rename")
    note_of(desk, place)  # the id must outlive the path that it may have been made from
    under = place.path + "/"
    moving = {r.path for r in desk.library.records() if r.path.startswith(under)}
    links = links_to(desk, moving)
    desk.files.move_folder(place.path, target)
    moved = {p: f"{target}/{p.removeprefix(under)}" for p in moving}
    old_note = f"{target}/{leaf}.md"
    if old_note in moved.values() and not same_name(leaf, safe):
        new_note = desk.files.move(old_note, f"{target}/{safe}.md")
        moved = {k: new_note if v == old_note else v for k, v in moved.items()}
    desk.indexer.look([place.path, target])
    relink(desk, links, moved)
    found = desk.library.place_at(target)
    if found is None:
        raise NotFound("topic", target)
    return found


def delete(desk: Desk, place: Place, *, recursive: bool, tombstones: Tombstones) -> None:
    """Move a topic to the trash. With memories in it, only when `recursive` is asked for."""
    members = desk.library.members(place.id)
    if members and not recursive:
        raise Conflict(
            f"'{place.path}' holds {len(members)} memories; delete with recursive=true to move "
            "them to the trash too"
        )
    for record in members:
        delete_memory(desk, record, tombstones)
    if place.exists:
        desk.files.trash(place.path)
    desk.indexer.look([place.path])


def note_of(desk: Desk, place: Place) -> Record:
    """A topic's node note, made where there is none."""
    if place.note is not None:
        check_writable(place.note)
        return place.note
    if not place.exists:
        desk.files.make_folder(place.path)
    path = write_node_note(desk, place.path, place.kind, place.name, "", "")
    desk.indexer.look([place.path, path])
    found = desk.library.at(path)
    if found is None:
        raise NotFound("topic", place.path)
    return found


# -- edges


def connect(desk: Desk, source: Place, target: Place, relationship: str, weight: float) -> None:
    """Join two topics, or change the weight of what joins them."""
    _check_edge(relationship, weight)
    if source.id == target.id:
        raise InvalidInput("target", "a topic cannot be joined to itself")
    goal = note_of(desk, target)
    value = edge_value(goal.path[:-3], target.name, weight)
    holders = _declaring(desk, source, target, relationship) or [note_of(desk, source)]
    for record in holders:
        _write_edge(desk, record, target, relationship, value)


def disconnect(desk: Desk, source: Place, target: Place, relationship: str) -> None:
    """Remove an edge from every note that declares it. Raises `NotFound`."""
    if relationship == DERIVED_RELATIONSHIP:
        raise InvalidInput("relationship", "comes from links in the text; remove the links there")
    holders = _declaring(desk, source, target, relationship)
    if not holders:
        raise NotFound("edge", f"{source.path} {relationship} {target.path}")
    for record in holders:
        _write_edge(desk, record, target, relationship, None)


def change_edge(
    desk: Desk,
    source: Place,
    target: Place,
    relationship: str,
    *,
    weight: float | None,
    renamed: str | None,
) -> None:
    """Change an edge's weight or what it is called. Raises `NotFound`."""
    known = [
        e
        for e in desk.library.edges()
        if (e.source, e.target, e.relationship) == (source.id, target.id, relationship)
    ]
    if not known or known[0].derived:
        raise NotFound("edge", f"{source.path} {relationship} {target.path}")
    new_weight = known[0].weight if weight is None else weight
    _check_edge(renamed or relationship, new_weight)
    if renamed and renamed != relationship:
        disconnect(desk, source, target, relationship)
    connect(desk, source, target, renamed or relationship, new_weight)


def _declaring(desk: Desk, source: Place, target: Place, relationship: str) -> list[Record]:
    library = desk.library
    notes = [source.note] if source.note else []
    if source.kind == "focused":
        notes += library.members(source.id)
    leads = _leads_to(desk, target)
    return [
        r
        for r in notes
        if any(k.relationship == relationship and leads(k.target, r.path) for k in r.links)
    ]


def _leads_to(desk: Desk, target: Place) -> Callable[[str, str], bool]:
    def leads(link: str, source: str) -> bool:
        note = desk.library.resolve(link, source)
        place = desk.library.place_of(note) if note else None
        return place is not None and place.id == target.id

    return leads


def _write_edge(
    desk: Desk, record: Record, target: Place, relationship: str, value: str | None
) -> None:
    check_writable(record)
    leads = _leads_to(desk, target)
    desk.files.edit(
        record.path,
        lambda raw: set_edge(raw, relationship, lambda link: leads(link, record.path), value),
    )
    desk.indexer.look([record.path])


def _check_edge(relationship: str, weight: float) -> None:
    if relationship in NOT_EDGES or relationship == DERIVED_RELATIONSHIP:
        raise InvalidInput("relationship", f"'{relationship}' has another meaning in notes")
    if not _RELATIONSHIP.fullmatch(relationship):
        raise InvalidInput(
            "relationship", "use letters, digits, _ and -, at most 40, such as related_to"
        )
    if not 0 <= weight <= 1:
        raise InvalidInput("weight", "must be between 0 and 1")


def _check_color(color: str | None) -> None:
    if color and not _COLOR.fullmatch(color):
        raise InvalidInput("color", "write it as #rrggbb")
