"""Which topic each conversation of an import belongs to, quickly enough for thousands of them.

Words alone decide, against the vault as it was when the import began: what comes in with it has no
say, so that a dry run tells the same as the import, and one wrong guess does not draw others.
"""

from __future__ import annotations

from neurigraph.edits.prepared import Ready
from neurigraph.filing import QUERY_WORDS, unsorted
from neurigraph.index.keyword import KeywordIndex, Query, query_terms
from neurigraph.index.library import Library
from neurigraph.suggest import VOTERS, Similar, suggest


class ImportFiling:
    """The suggestions for one import."""

    def __init__(self, library: Library, keyword: KeywordIndex) -> None:
        self._keyword = keyword
        self._topics: dict[str, str] = {}
        self._voters: dict[str, tuple[str, str, str]] = {}
        for place in library.places().values():
            if place.kind == "focused" and not unsorted(f"{place.path}/"):
                note = place.note.description if place.note else ""
                self._topics[place.path] = f"{place.name} {note}"
        for record in library.memories():
            where = library.place_of(record)
            if record.kind == "memory" and where is not None and where.path in self._topics:
                words = f"{record.title} {' '.join(record.keywords)}"
                self._voters[record.id] = (where.path, record.title, words)

    def __call__(self, ready: Ready) -> str:
        """The path of the topic that a conversation fits, or nothing when it fits none."""
        if not self._topics:
            return ""
        conversation = ready.conversation
        draft = next((part.draft for part in ready.parts.values()), None)
        title = conversation.title or (draft.title if draft else "")
        keywords = [title, *(conversation.keywords or (draft.keywords if draft else ()))]
        terms = query_terms(" ".join(keywords))[:QUERY_WORDS]
        found = self._keyword.search(Query(tuple(terms)), VOTERS, self._voters.keys()).best
        similar = [
            Similar(topic, name, None, words)
            for match in found
            for topic, name, words in (self._voters[match.id],)
        ]
        suggested = suggest(keywords, similar, self._topics)
        return suggested.topic if suggested is not None else ""
