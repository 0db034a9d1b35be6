"""All records in memory, and what follows from them: topics, nodes, edges, who is called what.

The library reads no file. The indexer alone changes it, under one lock; readers take the
immutable records that it hands out.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from neurigraph.errors import NotFound
from neurigraph.index.record import Record
from neurigraph.model import Edge, Kind
from neurigraph.vault.layout import (
    NODE_ID,
    Topic,
    folder_node_id,
    nfc,
    same_name,
    topic_of,
)

DERIVED_RELATIONSHIP = "links_to"
DERIVED_WEIGHT, DERIVED_MOST = 0.1, 0.5
BROAD_COLOR, FOCUSED_COLOR = "#6366f1", "#8b5cf6"


@dataclass(frozen=True, slots=True)
class Place:
    """A topic as it stands in the vault. `note` is its node note; `exists` whether its folder
    does (the topics for loose notes, Inbox and General, may have none)."""

    id: str
    kind: Kind
    name: str
    path: str
    parent: str | None
    note: Record | None
    exists: bool


class Library:
    """The vault as it is known at this moment."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._by_path: dict[str, Record] = {}
        self._by_id: dict[str, Record] = {}
        self._folders: set[str] = set()
        self._redirects: dict[str, str] = {}
        self._by_source: defaultdict[str, set[str]] = defaultdict(set)
        self._by_transcript: defaultdict[str, set[str]] = defaultdict(set)
        self._places: dict[str, Place] | None = None
        self._place_by_key: dict[str, Place] = {}
        self._members: dict[str, list[str]] | None = None
        self._edges: list[Edge] | None = None
        self._names: dict[str, list[str]] | None = None
        self.generation = 0
        self._any_private, self._private_of = False, -1

    # -- changes, by the indexer alone

    def put(self, records: Iterable[Record]) -> None:
        """Add or replace records by path."""
        with self.lock:
            for record in records:
                old = self._by_path.get(record.path)
                if old is not None:
                    self._note_origin(old, gone=True)
                self._note_origin(record)
                if old is not None and old.id != record.id and self._by_id.get(old.id) is old:
                    del self._by_id[old.id]
                if old is None or old.id != record.id or old.kind != record.kind:
                    self._names = None
                    if old is not None or not self._joined(record):
                        self._members = None
                if record.kind == "node" or (old is not None and old.kind == "node"):
                    self._places = None
                if old is None or old.links != record.links or old.kind != record.kind:
                    self._edges = None
                self._by_path[record.path] = record
                self._by_id[record.id] = record
            self.generation += 1
            if self._members is None:
                self._places = None

    def _joined(self, record: Record) -> bool:
        """Whether a new memory just joins a node that is known: the usual case, and a cheap one."""
        if record.kind == "node" or self._places is None or self._members is None:
            return False
        place = self.place_of(record)
        if place is None:
            return False
        self._members.setdefault(place.id, []).append(record.path)
        if place.parent:
            self._members.setdefault(place.parent, []).append(record.path)
        return True

    def remove(self, paths: Iterable[str]) -> None:
        """Forget records by path."""
        with self.lock:
            for path in paths:
                record = self._by_path.pop(path, None)
                if record is None:
                    continue
                self._note_origin(record, gone=True)
                if self._by_id.get(record.id) is record:
                    del self._by_id[record.id]
            self._forget_derived()

    def set_folders(self, folders: Iterable[str]) -> None:
        """Say which folders exist, so that empty topics are known."""
        with self.lock:
            new = set(folders)
            if new != self._folders:
                self._folders = new
                self._forget_derived()

    def add_folders(self, folders: Iterable[str]) -> None:
        """Say that these folders exist too."""
        with self.lock:
            new = set(folders) - self._folders
            if new:
                self._folders |= new
                self._forget_derived()

    def drop_folder(self, folder: str) -> None:
        """Say that a folder and all within it are gone."""
        with self.lock:
            self._folders = {
                f for f in self._folders if f != folder and not f.startswith(folder + "/")
            }
            self._forget_derived()

    def set_redirects(self, redirects: dict[str, str]) -> None:
        """Ids that moved, old to new."""
        with self.lock:
            self._redirects = dict(redirects)

    def _note_origin(self, record: Record, *, gone: bool = False) -> None:
        """Keep the look-ups by source id, and by transcript (whole, and its opening)."""
        if record.kind != "memory":
            return
        stamp = record.transcript
        origins = [(self._by_source, record.source_id)]
        origins += [
            (self._by_transcript, key)
            for key in (record.transcript_sha256, stamp.opening if stamp else "")
        ]
        for table, key in origins:
            if key and gone:
                table[key].discard(record.id)
            elif key:
                table[key].add(record.id)

    def _forget_derived(self) -> None:
        self._places = self._members = self._edges = self._names = None
        self.generation += 1

    # -- records

    def __len__(self) -> int:
        return len(self._by_path)

    def records(self) -> list[Record]:
        """All records, node notes included."""
        with self.lock:
            return list(self._by_path.values())

    def memories(self) -> list[Record]:
        """All memories: ours and the person's own notes, without node notes."""
        with self.lock:
            return [r for r in self._by_path.values() if r.kind != "node"]

    def folders(self) -> set[str]:
        """All folders that are known."""
        with self.lock:
            return set(self._folders)

    def at(self, path: str) -> Record | None:
        """The record of the note at this path."""
        return self._by_path.get(path)

    def find(self, memory_id: str) -> Record | None:
        """The note with this id, also under an id that it had before it moved."""
        record = self._by_id.get(memory_id)
        if record is None and memory_id in self._redirects:
            record = self._by_id.get(self._redirects[memory_id])
        return record

    def memory(self, memory_id: str) -> Record:
        """The memory with this id. Raises `NotFound`."""
        record = self.find(memory_id)
        if record is None or record.kind == "node":
            raise NotFound("memory", memory_id)
        return record

    def from_source(self, source_id: str) -> list[Record]:
        """The memories that came from this source, parts in their order."""
        found = [r for i in self._by_source.get(source_id, ()) if (r := self._by_id.get(i))]
        return sorted(found, key=lambda r: (r.part, r.path))

    def with_transcript(self, key: str) -> list[Record]:
        """The memories whose transcript has this SHA-256, or this opening (`opening_of`)."""
        found = [r for i in self._by_transcript.get(key, ()) if (r := self._by_id.get(i))]
        return sorted(found, key=lambda r: r.path)

    def ids(self) -> set[str]:
        """All ids that are taken, of nodes without a note too."""
        with self.lock:
            return set(self._by_id) | set(self.places())

    # -- topics

    def topic(self, record: Record) -> Topic:
        """Where a note belongs; a focused name is always given for memories."""
        return topic_of(record.path)

    def places(self) -> dict[str, Place]:
        """All nodes by id, broad ones before their focused ones, sorted by path."""
        with self.lock:
            if self._places is None:
                self._places = self._build_places()
            return self._places

    def _build_places(self) -> dict[str, Place]:
        wanted: dict[str, bool] = {}
        for folder in self._folders:
            parts = folder.split("/")
            wanted["/".join(parts[:2])] = True
            wanted[parts[0]] = True
        notes: dict[str, Record] = {}
        for record in self._by_path.values():
            folder = record.path.rpartition("/")[0]
            if record.kind == "node":
                if folder and folder.count("/") < 2:
                    notes.setdefault(folder, record)
                continue
            topic = topic_of(record.path)
            wanted.setdefault(topic.broad, topic.broad in self._folders)
            if topic.focused:
                wanted.setdefault(f"{topic.broad}/{topic.focused}", False)
        places: dict[str, Place] = {}
        self._place_by_key = {}
        ids: dict[str, str] = {}
        for path in sorted(wanted, key=lambda p: [part.casefold() for part in p.split("/")]):
            broad, _, focused = path.partition("/")
            note = notes.get(path)
            node_id = note.id if note and NODE_ID.fullmatch(note.id) else folder_node_id(path)
            if node_id in places:
                node_id = folder_node_id(path)
            ids[path] = node_id
            place = Place(
                id=node_id,
                kind="focused" if focused else "broad",
                name=focused or broad,
                path=path,
                parent=ids.get(broad) if focused else None,
                note=note,
                exists=wanted[path],
            )
            places[node_id] = place
            self._place_by_key[nfc(path).casefold()] = place
        return places

    def place_at(self, path: str) -> Place | None:
        """The node of this folder, whatever its case."""
        self.places()
        return self._place_by_key.get(nfc(path).casefold())

    def names_of(self, record: Record) -> tuple[str, str]:
        """The names of the broad and the focused topic of a memory."""
        place = self.place_of(record)
        if place is None:
            topic = topic_of(record.path)
            return topic.broad, topic.focused or ""
        parent = self.places().get(place.parent) if place.parent else None
        return (parent.name, place.name) if parent else (place.name, "")

    def place_of(self, record: Record) -> Place | None:
        """The focused node that a memory belongs to, or the node that a node note is of."""
        if record.kind == "node":
            return self.place_at("/".join(record.path.split("/")[:-1]))
        topic = topic_of(record.path)
        return self.place_at(f"{topic.broad}/{topic.focused}" if topic.focused else topic.broad)

    def node(
        self, wanted: str, kind: Kind | None = None, seen: Callable[[Place], bool] | None = None
    ) -> Place:
        """A node by id, path or name. Raises `NotFound` with the nearest names.

        With `seen`, nodes for which it is false count as if they were not there.
        """
        with self.lock:
            places = self.places()
            wanted = self._redirects.get(wanted, wanted)
            found = places.get(wanted) or self.place_at(wanted.strip().strip("/"))
            if found is None or (seen and not seen(found)):
                named = [p for p in places.values() if same_name(p.name, wanted.strip())]
                named.sort(key=lambda p: p.kind != (kind or "broad"))
                fits = (p for p in named if kind in (None, p.kind) and (not seen or seen(p)))
                found = next(fits, None)
            if found is None or (kind is not None and found.kind != kind):
                raise NotFound("topic", wanted, self.nearest(wanted, kind, seen))
            return found

    def nearest(
        self, wanted: str, kind: Kind | None = None, seen: Callable[[Place], bool] | None = None
    ) -> list[str]:
        """Up to three topic paths or names that come close to what was asked for."""
        names: dict[str, str] = {}
        for place in self.places().values():
            if kind in (None, place.kind) and (not seen or seen(place)):
                names.setdefault(place.path.casefold(), place.path)
                names.setdefault(place.name.casefold(), place.path)
        close = get_close_matches(wanted.casefold(), names, n=6, cutoff=0.6)
        return list(dict.fromkeys(names[c] for c in close))[:3]

    def members(self, node_id: str) -> list[Record]:
        """The memories of a node; a broad node has those of all its focused nodes."""
        with self.lock:
            places = self.places()
            if self._members is None:
                grouped: defaultdict[str, list[str]] = defaultdict(list)
                for record in self._by_path.values():
                    if record.kind != "node" and (place := self.place_of(record)):
                        grouped[place.id].append(record.path)
                        if place.parent:
                            grouped[place.parent].append(record.path)
                self._members = dict(grouped)
            if node_id not in places:
                raise NotFound("topic", node_id)
            return [
                r for p in self._members.get(node_id, ()) if (r := self._by_path.get(p)) is not None
            ]

    def is_private(self, record: Record) -> bool:
        """Whether a note, or a node above it, is private."""
        if record.private:
            return True
        place = self.place_of(record)
        return place is not None and self.place_is_private(place)

    def place_is_private(self, place: Place) -> bool:
        """Whether a node, or the broad node above it, is private."""
        parent = self.places().get(place.parent) if place.parent else None
        return any(p is not None and p.note is not None and p.note.private for p in (place, parent))

    # -- links and edges

    def resolve(self, target: str, source: str) -> Record | None:
        """The note that a link leads to, resolved as Obsidian does.

        A path from the vault's root or relative to the note, else by name: in the note's own
        folder first, then the shortest path.
        """
        with self.lock:
            target = target.strip().lstrip("/")
            if not target or target.startswith("_recall/"):
                return None
            folder = source.rpartition("/")[0]
            if target.startswith(("./", "../")):
                target = _join(folder, target)
            bare = target[:-3] if target.lower().endswith(".md") else target
            for path in (f"{bare}.md", f"{folder}/{bare}.md" if folder else ""):
                if path in self._by_path:
                    return self._by_path[path]
            if self._names is None:
                self._names = self._build_names()
            key = nfc(bare).casefold()
            found = self._names.get(key.rpartition("/")[2], ())
            fits = [p for p in found if ("/" + nfc(p[:-3]).casefold()).endswith("/" + key)]
            if not fits:
                return None
            best = min(
                fits, key=lambda p: (p.rpartition("/")[0] != folder, p.count("/"), len(p), p)
            )
            return self._by_path[best]

    def _build_names(self) -> dict[str, list[str]]:
        names: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._by_path:
            names[nfc(path.rpartition("/")[2][:-3]).casefold()].append(path)
        return dict(names)

    def edges(self) -> list[Edge]:
        """All edges between nodes: those that notes declare, and those that links imply."""
        with self.lock:
            if self._edges is None:
                self._edges = list(self._build_edges())
            return self._edges

    def any_private(self) -> bool:
        """Whether there is anything private at all."""
        with self.lock:
            if self._private_of != self.generation:
                self._any_private = any(r.private for r in self._by_path.values())
                self._private_of = self.generation
            return self._any_private

    def edges_without_private(self) -> list[Edge]:
        """The edges that are left without what private notes say."""
        with self.lock:
            if not self.any_private():
                return self.edges()
            return list(self._build_edges(private=False))

    def _build_edges(self, *, private: bool = True) -> Iterator[Edge]:
        declared: dict[tuple[str, str, str], float] = {}
        implied: defaultdict[tuple[str, str], float] = defaultdict(float)
        resolved: dict[tuple[str, str], str | None] = {}
        for record in self._by_path.values():
            source = self.place_of(record) if record.links else None
            if source is None or (not private and self.is_private(record)):
                continue
            folder = record.path.rpartition("/")[0]
            for link in record.links:
                key = (link.target, folder)
                if key not in resolved:
                    note = self.resolve(link.target, record.path)
                    place = self.place_of(note) if note else None
                    resolved[key] = place.id if place else None
                target = resolved[key]
                if target is None or target == source.id:
                    continue
                if not link.relationship:
                    implied[source.id, target] += DERIVED_WEIGHT
                    continue
                weight = link.weight
                if weight is None:
                    weight = 1.0 if record.owned else 0.5
                place_key = (source.id, target, link.relationship)
                declared[place_key] = max(weight, declared.get(place_key, 0.0))
        for (source_id, target, relationship), weight in declared.items():
            yield Edge(source_id, target, relationship, weight)
        for (source_id, target), weight in implied.items():
            most = round(min(weight, DERIVED_MOST), 3)
            yield Edge(source_id, target, DERIVED_RELATIONSHIP, most, derived=True)

    def neighbours(self, node_id: str) -> dict[str, float]:
        """The nodes joined to this one in either direction, each with its strongest weight."""
        found: dict[str, float] = {}
        for edge in self.edges():
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if here == node_id:
                    found[there] = max(edge.weight, found.get(there, 0.0))
        return found


def _join(folder: str, relative: str) -> str:
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)
