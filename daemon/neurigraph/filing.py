"""Where a conversation is filed: the topic that was named, or one that is suggested, in bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

from neurigraph.edits.memories import MemoryEdit
from neurigraph.edits.prepared import PART_TOKENS
from neurigraph.edits.save import Saved
from neurigraph.errors import Forbidden, NotFound
from neurigraph.index.library import Library, Place
from neurigraph.model import Conversation
from neurigraph.search.cascade import Search
from neurigraph.suggest import VOTERS, Similar, Suggestion, suggest
from neurigraph.summarize.draft import Draft
from neurigraph.vault.turns import split_parts
from neurigraph.views import Reader, within

QUERY_WORDS = 20
"""Words of the query for what is alike: the title's and the first keywords'; more only cost."""

CANDIDATES = 40
"""Memories that are looked at for voters: some may be out of sight."""

_WORDS = re.compile(r"\w+")
MEMORY_ID_IN_TEXT = re.compile(r"\bm-\d{8}-[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True)
class Filed(Saved):
    """What became of a conversation; `chosen` says why it is where it is, when nobody named a
    topic."""

    chosen: str = ""


class Filing:
    """Chooses topics. `draft` says in short what a transcript is about."""

    def __init__(self, library: Library, search: Search, draft: Callable[[str], Draft]) -> None:
        self._library, self._search, self._draft = library, search, draft

    def filed(self, conversation: Conversation, reader: Reader) -> tuple[Conversation, str]:
        """The conversation with its topic, and why that one where nobody named it.

        Raises `Forbidden` for a topic outside the reader's scope.
        """
        if conversation.broad_topic or conversation.focused_topic:
            return self._bounded(conversation, reader), ""
        found = self.suggestion(conversation, reader)
        if found is not None:
            return replace(conversation, broad_topic=found.topic), found.why
        if reader.scope:
            return replace(conversation, broad_topic=reader.scope), ""
        return conversation, "No topic fits; it is in Inbox/General until someone moves it."

    def suggestion(self, conversation: Conversation, reader: Reader) -> Suggestion | None:
        """The topic of the memories most like it, among those that this reader may see."""
        library = self._library
        topics = {
            p.path: f"{p.name} {p.note.description if p.note else ''}"
            for p in library.places().values()
            if p.kind == "focused"
            and reader.may_see_place(library, p)
            and within(p.path, reader.scope)
            and not unsorted(f"{p.path}/")
        }
        keywords, text = self._about(conversation)
        ranking = self._search.rank(text, enough=CANDIDATES)
        similar: list[Similar] = []
        for ranked in ranking.hits[:CANDIDATES]:
            record = library.find(ranked.id)
            place = library.place_of(record) if record else None
            if record is None or place is None or place.path not in topics:
                continue
            if record.kind != "memory" or not reader.may_see(library, record):
                continue
            near = ranking.passages.get(ranked.id, ())
            words = f"{record.title} {' '.join(record.keywords)}"
            cosine = near[0].score if near else None
            similar.append(Similar(place.path, record.title, cosine, words))
            if len(similar) == VOTERS:
                break
        return suggest(keywords, similar, topics)

    def _about(self, conversation: Conversation) -> tuple[list[str], str]:
        """Keywords, and a query that says what a conversation is about."""
        draft = self._draft(next(iter(split_parts(conversation.content, PART_TOKENS)), ""))
        title = conversation.title or draft.title
        keywords = [title, *(conversation.keywords or draft.keywords)]
        # bare words: quotes and signs would be read as a search's operators
        words = dict.fromkeys(w.casefold() for w in _WORDS.findall(" ".join(keywords)))
        return keywords, " ".join(islice(words, QUERY_WORDS))

    def bounded_edit(self, edit: MemoryEdit, reader: Reader) -> MemoryEdit:
        """The same edit, its new topic checked: within the reader's scope, and seen by it."""
        if not reader.ai:
            return edit
        path = self._path(edit.broad_topic or "", edit.focused_topic or "", reader)
        place = self._library.place_at(path)
        if place is not None and not reader.may_see_place(self._library, place):
            raise NotFound("topic", path)
        return replace(edit, broad_topic=path, focused_topic=None)

    def _bounded(self, conversation: Conversation, reader: Reader) -> Conversation:
        """The same, with the topic checked against the reader's scope."""
        if not reader.scope:
            return conversation
        broad, focused = conversation.broad_topic or "", conversation.focused_topic or ""
        path = self._path(broad, focused, reader)
        return replace(conversation, broad_topic=path, focused_topic=None)

    def _path(self, broad: str, focused: str, reader: Reader) -> str:
        """The path of the topic that two names mean, each a name, a path, an id or empty."""
        broad, focused = broad.strip().strip("/"), focused.strip().strip("/")
        known = self._known(broad or focused, reader)
        path = known.path if known else broad or focused
        inner = self._known(focused, reader)
        if inner is not None and inner.id == focused:
            path = inner.path
        elif broad and focused:
            path = f"{path.partition('/')[0]}/{focused}"
        elif not broad and known is None and reader.scope and "/" not in reader.scope:
            path = f"{reader.scope}/{focused}"
        if not within(path, reader.scope):
            raise Forbidden(
                f"broad_topic: this connection is limited to {reader.scope}; "
                "choose a topic within it or leave the topics out"
            )
        return path

    def _known(self, wanted: str, reader: Reader) -> Place | None:
        """The topic of this name; of several the one within the reader's scope."""
        if not wanted:
            return None
        for seen in (lambda place: within(place.path, reader.scope), None):
            try:
                return self._library.node(wanted, None, seen)
            except NotFound:
                continue
        return None


def shown_to(reader: Reader, library: Library, saved: Saved, why: str = "") -> Filed:
    """What became of a conversation, without a word of memories that this reader may not see."""

    def seen(memory_id: str) -> bool:
        record = library.find(memory_id)
        return record is not None and reader.may_see(library, record)

    if not all(seen(i) for i in saved.ids):
        said = "Nothing new was stored." if saved.status == "unchanged" else "It is stored."
        return Filed(saved.status, (), note=said)
    mentioned = MEMORY_ID_IN_TEXT.findall(saved.note)
    note = saved.note if all(seen(i) for i in mentioned) else ""
    return Filed(
        saved.status, saved.ids, saved.path, note, why if saved.status == "created" else ""
    )


def unsorted(path: str) -> bool:
    """Whether a note only waits to be sorted, and so speaks for no topic."""
    return path.casefold().startswith("inbox/")
