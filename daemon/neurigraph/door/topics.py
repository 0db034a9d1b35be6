"""Topics and the edges between them."""

from __future__ import annotations

from neurigraph.door.opened import Opened
from neurigraph.edits import nodes
from neurigraph.edits.desk import Stale
from neurigraph.errors import (
    NotFound,
    VersionRequired,
)
from neurigraph.index.library import Place
from neurigraph.model import (
    Edge,
    Kind,
    Node,
)
from neurigraph.views import PERSON, Reader


class Topics(Opened):
    """What is asked and changed about topics."""

    def topics(self, kind: Kind, parent: str = "", reader: Reader = PERSON) -> list[Node]:
        """All broad topics, or the focused ones of a broad one."""
        library = self._store.library
        wanted = library.node(parent, "broad").id if parent else None
        return [
            self._node(place, reader)
            for place in library.places().values()
            if place.kind == kind
            and (kind == "broad" or wanted in (None, place.parent))
            and reader.may_see_place(library, place)
        ]

    def topic(self, wanted: str, kind: Kind | None = None, reader: Reader = PERSON) -> Node:
        """A topic by id, path or name. Raises `NotFound` with the nearest names."""
        return self._node(self._place(wanted, kind, reader), reader)

    def _place(self, wanted: str, kind: Kind | None = None, reader: Reader = PERSON) -> Place:
        library = self._store.library
        if reader == PERSON:
            return library.node(wanted, kind)
        return library.node(wanted, kind, lambda place: reader.may_see_place(library, place))

    def _node(self, place: Place, reader: Reader = PERSON) -> Node:
        library = self._store.library
        members = [r for r in library.members(place.id) if reader.may_see(library, r)]
        return self._views.node(place, members)

    def create_topic(
        self, name: str, parent: str = "", description: str = "", color: str = ""
    ) -> Node:
        """Make a broad topic, or a focused one within `parent`."""
        with self._edits:
            above = self._place(parent, "broad") if parent else None
            return self._node(nodes.create(self._desk, above, name, description, color))

    def update_topic(
        self,
        wanted: str,
        version: str | None,
        *,
        name: str | None = None,
        description: str | None = None,
        color: str | None = None,
        private: bool | None = None,
    ) -> Node:
        """Change a topic; a new name moves its folder and every link along."""
        with self._edits:
            place = self._checked_place(wanted, version)
            new = nodes.update(
                self._desk,
                place,
                name=name,
                description=description,
                color=color,
                private=private,
            )
            return self._node(new)

    def delete_topic(self, wanted: str, version: str | None, *, recursive: bool = False) -> None:
        """Move a topic to the trash; one that is not empty only with `recursive`."""
        with self._edits:
            place = self._checked_place(wanted, version)
            nodes.delete(self._desk, place, recursive=recursive, tombstones=self._tombstones)

    def _checked_place(self, wanted: str, version: str | None) -> Place:
        place = self._place(wanted)
        if not version:
            raise VersionRequired("topic")
        current = self._node(place).version
        if version not in ("*", current):
            raise Stale(place.id, current)
        return place

    def edges(self, wanted: str = "", reader: Reader = PERSON) -> list[Edge]:
        """All edges, or those that touch a topic; a broad one has those of its focused ones."""
        library = self._store.library
        places = library.places()
        seen = {i for i, p in places.items() if reader.may_see_place(library, p)}
        edges = library.edges_without_private() if reader.ai else library.edges()
        found = [e for e in edges if e.source in seen and e.target in seen]
        if not wanted:
            return found
        place = self._place(wanted, None, reader)
        family = {place.id} | {p.id for p in places.values() if p.parent == place.id}
        return [e for e in found if e.source in family or e.target in family]

    def connect(
        self,
        source: str,
        target: str,
        relationship: str = "related_to",
        weight: float = 1.0,
        reader: Reader = PERSON,
    ) -> Edge:
        """Join two topics; joining them again changes the weight."""
        with self._edits:
            left, right = (self._place(end, None, reader) for end in (source, target))
            nodes.connect(self._desk, left, right, relationship, weight)
            return self._edge(left.path, right.path, relationship)

    def change_edge(
        self,
        source: str,
        target: str,
        relationship: str,
        *,
        weight: float | None = None,
        renamed: str | None = None,
    ) -> Edge:
        """Change an edge's weight or its relationship."""
        with self._edits:
            left, right = self._place(source), self._place(target)
            nodes.change_edge(self._desk, left, right, relationship, weight=weight, renamed=renamed)
            return self._edge(left.path, right.path, renamed or relationship)

    def disconnect(self, source: str, target: str, relationship: str) -> None:
        """Remove an edge."""
        with self._edits:
            nodes.disconnect(self._desk, self._place(source), self._place(target), relationship)

    def _edge(self, source: str, target: str, relationship: str) -> Edge:
        left, right = self._place(source).id, self._place(target).id
        for edge in self._store.library.edges():
            if (edge.source, edge.target, edge.relationship) == (left, right, relationship):
                return edge
        raise NotFound("edge", f"{source} {relationship} {target}")

    def open_topic(self, wanted: str) -> Node:
        """A topic, entered: its neighbours warm."""
        place = self._place(wanted)
        self._climate.entered(place)
        return self._node(place)

    def topic_counts(self) -> tuple[int, int]:
        """How many broad and focused topics there are."""
        kinds = [p.kind for p in self._store.library.places().values()]
        return kinds.count("broad"), kinds.count("focused")

    def places(self) -> list[Place]:
        """All topics as they stand in the vault."""
        return list(self._store.library.places().values())
