"""Turns a conversation into one memory, or into linked parts, or finds that it is known already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from neurigraph.clock import to_note_date
from neurigraph.edits.artifacts import attach, renew
from neurigraph.edits.compose import is_generated, safe_text, summary_source
from neurigraph.edits.creating import Creator, Waiting
from neurigraph.edits.desk import Desk
from neurigraph.edits.prepared import (
    PART_TOKENS,
    Drafter,
    Prepared,
    Preparer,
    Ready,
    kinds_in,
    sha256,
)
from neurigraph.edits.tombstones import Tombstones
from neurigraph.edits.topics import folder_for
from neurigraph.edits.unfinished import Unfinished
from neurigraph.errors import InvalidInput, TooLarge
from neurigraph.importers.secrets import mask
from neurigraph.importers.transcript import continued
from neurigraph.index.record import Record, opening_of
from neurigraph.model import Conversation, NewArtifact
from neurigraph.vault.held import HELD, SECRETS_KEY
from neurigraph.vault.layout import recall_dir
from neurigraph.vault.note import read_note, section_text, set_keys, set_section
from neurigraph.vault.turns import estimate_tokens, split_parts

__all__ = ["Drafter", "Saved", "Saver", "Waiting", "sha256"]

MOST_BYTES = 64_000_000
"""The longest conversation that is taken in one piece."""

SAVED_BEFORE = "it was saved before"
EDITED = "its transcript was edited by hand and stays; the new text is an artifact"
DELETED_BEFORE = (
    "it was deleted before; restore it to have it back, unless it was forgotten for good"
)
HELD_NOTE = (
    "something in it looks like a password or key; it is kept as it is and out of git until you "
    "say yes: neurigraph secrets"
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a conversation. `status` is created, updated, unchanged or deleted_before.

    `ids` are its memories, parts in order; `note` says in words what a caller should know.
    """

    status: str
    ids: tuple[str, ...]
    path: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """The memory, or the first part of it."""
        return self.ids[0] if self.ids else ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a conversation, before anything is written.

    `status` is that of `Saved`. `earlier` is a stored text that another branch replaces; with
    `edited` the stored text is a person's and stays; with `beside` a memory of its own is made.
    """

    status: str
    conversation: Conversation
    texts: Sequence[str]
    known: Sequence[Record] = ()
    note: str = ""
    earlier: str | None = None
    edited: bool = False
    beside: bool = False

    def saved(self, note: str = "") -> Saved:
        """The answer where nothing new is made."""
        path = self.known[0].path if self.known else ""
        return Saved(self.status, tuple(r.id for r in self.known), path, note or self.note)


class Saver:
    """Saves conversations. The caller holds the lock on the vault's edits."""

    def __init__(
        self, desk: Desk, tombstones: Tombstones, drafter: Drafter, unfinished: Unfinished
    ) -> None:
        self._desk, self._tombstones = desk, tombstones
        self._preparer = Preparer(drafter, desk.settings.imports.secrets)
        self._creator = Creator(desk, unfinished)

    def save(
        self, conversation: Conversation, *, folder: str | None = None, keep_earlier: bool = False
    ) -> Saved:
        """Save a conversation, and answer when it is on disk.

        `folder` names the topic's folder where the caller knows it. A longer version of what is
        stored updates it. With `keep_earlier` (imports), a conversation of the same source that
        took another branch updates the memory too, and its earlier text becomes an artifact.
        """
        check(conversation)
        ready = self._preparer.screened(conversation)
        begun = self.begin(ready, folder=folder, imported=keep_earlier)
        if isinstance(begun, Saved):
            return begun
        self._desk.indexer.look(self._creator.write(begun))
        return self.finished(begun)

    def begin(
        self,
        ready: Ready,
        *,
        folder: str | None = None,
        imported: bool = True,
        place: Callable[[], Conversation] | None = None,
    ) -> Saved | Waiting:
        """The same up to the point where new memories wait for their notes.

        `place` is asked for the conversation with its topic when it is a new one. An imported
        memory starts from its own date. Hand what waits to `write`, index the notes, then call
        `finished`.
        """
        decision = self._decide(ready.conversation, imported)
        if decision.status == "created":
            if place is not None:
                decision = replace(decision, conversation=place())
            return self._store(decision, ready, folder, imported)
        return self._change(decision, ready, imported)

    def write(self, waiting: Waiting) -> list[str]:
        """Write the notes of new memories and answer their paths, still to be indexed."""
        return self._creator.write(waiting)

    def drop(self, waiting: Waiting) -> None:
        """Give up new memories whose notes are not written; the same text takes their place."""
        self._creator.drop(waiting)

    def finished(self, waiting: Waiting) -> Saved:
        """What became of new memories, once they are indexed."""
        self._creator.indexed(waiting)
        found = self._desk.library.find(waiting.ids[0])
        notes = [waiting.note, HELD_NOTE if waiting.held else ""]
        path = found.path if found else ""
        return Saved("created", waiting.ids, path, "; ".join(n for n in notes if n))

    def foresee(self, conversation: Conversation) -> Saved:
        """What an import of this conversation would do; nothing is written."""
        return self._decide(conversation, imported=True).saved()

    # -- deciding

    def _decide(self, conversation: Conversation, imported: bool) -> Decision:
        check(conversation)
        texts = split_parts(conversation.content, PART_TOKENS)
        if self._tombstones.covers(conversation.source_id, [sha256(t) for t in texts]):
            note = DELETED_BEFORE
            return Decision("deleted_before", conversation, texts, note=note)
        known = self._known(conversation, texts)
        if not known:
            return Decision("created", conversation, texts)
        return self._against(known, conversation, texts, imported)

    def _known(self, conversation: Conversation, texts: Sequence[str]) -> list[Record]:
        library = self._desk.library
        if conversation.source_id and (found := library.from_source(conversation.source_id)):
            return found
        hashes = [sha256(text) for text in texts]
        for record in library.with_transcript(hashes[0]):
            chain = self._chain(record)
            # a session that was forked begins with the same text, and is another conversation
            if not (record.source_id and conversation.source_id) or hashes == [
                r.transcript_sha256 for r in chain
            ]:
                return chain
        opening = opening_of(texts[0])
        for record in library.with_transcript(opening) if opening else ():
            if record.source_id and conversation.source_id:
                continue
            stored = self._unedited(record)
            if stored and (texts[0].startswith(stored) or stored.startswith(texts[0])):
                return self._chain(record)
        return []

    def _chain(self, first: Record) -> list[Record]:
        """The parts that follow a memory, itself first."""
        chain, record = [first], first
        while record.next_part and len(chain) < 10_000:
            following = self._desk.library.resolve(record.next_part, record.path)
            if following is None or following in chain:
                break
            chain.append(following)
            record = following
        return chain

    def _unedited(self, record: Record) -> str | None:
        """A stored transcript, unless a person has edited it or it is missing."""
        stamp = record.transcript
        if stamp is None or not stamp.digest or stamp.digest != record.transcript_sha256:
            return None
        return self._desk.recall.read(record.id)

    def _against(
        self,
        known: Sequence[Record],
        conversation: Conversation,
        texts: Sequence[str],
        imported: bool,
    ) -> Decision:
        """Compare a conversation with what is stored of it."""
        if [r.transcript_sha256 for r in known] == [sha256(t) for t in texts]:
            return Decision("unchanged", conversation, texts, known, SAVED_BEFORE)
        stored = [self._unedited(r) for r in known]
        edited = any(s is None for s in stored)
        whole = "".join(s or "" for s in stored)
        # headings hold local time: the same conversation read in another zone is no other one
        content = conversation.content if edited else continued(whole, conversation.content)
        if content != conversation.content:
            conversation = replace(conversation, content=content)
            texts = split_parts(content, PART_TOKENS)
        if not edited and self._says_already(whole, content):
            return Decision("unchanged", conversation, texts, known, "a longer version is stored")
        grown = not edited and content.startswith(whole)
        if not grown and not imported:
            note = f"stored beside {known[0].id}, which holds another text"
            own = replace(conversation, source_id="")
            return Decision("created", own, texts, known, note, beside=True)
        if edited:
            return Decision("unchanged", conversation, texts, known, EDITED, edited=True)
        note = (
            "it has grown" if grown else "it took another branch; the earlier text is an artifact"
        )
        earlier = None if grown else whole
        return Decision("updated", conversation, texts, known, note, earlier)

    def _says_already(self, stored: str, content: str) -> bool:
        if stored.startswith(content):
            return True
        # stored before secrets were masked: to mask them now is for the person to do
        return self._preparer.secrecy == "mask" and mask(stored)[0].startswith(content)

    # -- writing

    def _store(
        self, decision: Decision, ready: Ready, folder: str | None, imported: bool
    ) -> Waiting:
        conversation = decision.conversation
        if decision.beside:
            folder = decision.known[0].path.rpartition("/")[0]
        folder = folder or folder_for(
            self._desk, conversation.broad_topic, conversation.focused_topic
        )
        parts = [(text, self._preparer.part(text, ready.parts)) for text in decision.texts]
        waiting = self._creator.store(
            conversation, parts, folder, imported=imported, beside=ready.beside
        )
        return replace(waiting, note=decision.note)

    def _change(self, decision: Decision, ready: Ready, imported: bool) -> Saved:
        """Bring what is stored up to date."""
        known = list(decision.known)
        if decision.status == "deleted_before":
            return decision.saved()
        if decision.edited:
            data = decision.conversation.content.encode("utf-8", "replace")
            renew(self._desk, known[0], NewArtifact("newer version.md", data))
            return decision.saved()
        if decision.status == "unchanged":
            self._mend_links(known)
            return decision.saved()
        if decision.earlier is not None:
            day = self._desk.clock().astimezone().date().isoformat()
            data = decision.earlier.encode("utf-8", "replace")
            attach(self._desk, known[0], [NewArtifact(f"earlier version {day}.md", data)])
        return self._rewrite(decision, ready, known, imported)

    def _mend_links(self, known: Sequence[Record]) -> None:
        """Link parts that an interruption left without links."""
        for left, right in pairwise(known):
            if not left.next_part or not right.previous_part:
                self._creator.join(left.path, right.path)
                self._desk.indexer.look([left.path, right.path])

    def _rewrite(
        self, decision: Decision, ready: Ready, known: list[Record], imported: bool
    ) -> Saved:
        conversation, texts = decision.conversation, decision.texts
        held = False
        for record, text in zip(known, texts, strict=False):
            if record.transcript_sha256 != sha256(text):
                prepared = self._preparer.part(text, ready.parts)
                held |= self._rewrite_one(conversation, record, text, prepared, imported)
        paths = [r.path for r in known]
        if len(texts) > len(known):
            added = texts[len(known) :]
            waiting = self._creator.store(
                replace(conversation, artifacts=()),
                [(text, self._preparer.part(text, ready.parts)) for text in added],
                known[-1].path.rpartition("/")[0],
                before=known[-1],
                first=len(known) + 1,
                imported=imported,
            )
            paths += self._creator.write(waiting)
            self._desk.indexer.look(paths)
            self._creator.indexed(waiting)
            held |= waiting.held
        for surplus in known[len(texts) :]:
            # another branch can be shorter; its earlier text was kept as an artifact
            self._desk.files.trash(surplus.path)
            self._desk.files.trash(recall_dir(surplus.id))
            self._desk.indexer.look([surplus.path])
        known = [r for p in paths[: len(texts)] if (r := self._desk.library.at(p)) is not None]
        self._mend_links(known)
        if conversation.artifacts:
            if ready.beside and not known[0].secrets:
                self._hold(known[0])
                held = True
            attach(self._desk, known[0], conversation.artifacts)
        note = f"{decision.note}; {HELD_NOTE}" if held else decision.note
        return Saved("updated", tuple(r.id for r in known), known[0].path, note)

    def _rewrite_one(
        self,
        conversation: Conversation,
        record: Record,
        text: str,
        prepared: Prepared,
        imported: bool,
    ) -> bool:
        """Put a newer text in a memory; answers whether that is held out of git for secrets."""
        given = (conversation.summary or "").strip()
        summary = safe_text(given or prepared.draft.summary)
        by = (conversation.source_model or "ai") if given else prepared.draft.source
        before = self._desk.recall.read(record.id)
        # what a person has allowed once was what stood there then
        held = len(prepared.secrets) > len(kinds_in(before)) if prepared.secrets else False
        if held:
            # first, so that nothing carries the text away in between
            self._hold(record)
        self._desk.recall.rewrite(record.id, text, before)

        def change(raw: bytes) -> bytes:
            body = read_note(raw).body
            current = section_text(body, "Summary") or ""
            keys: dict[str, str | int | bool | list[str] | None] = {
                "token_count": estimate_tokens(text),
                "transcript_sha256": sha256(text),
            }
            if imported:
                keys["last_accessed"] = to_note_date(self._desk.clock())
            if is_generated(record.summary_source, current):
                keys["summary_source"] = summary_source(by, summary)
                raw = set_section(raw, "Summary", summary)
            for heading, more in (
                ("Decisions", conversation.decisions),
                ("Open questions", conversation.open_questions),
            ):
                if more and (lines := _new_lines(section_text(body, heading) or "", more)):
                    raw = set_section(raw, heading, lines)
            return set_keys(raw, keys)

        self._desk.files.edit(record.path, change)
        self._desk.indexer.look([record.path])
        return held

    def _hold(self, record: Record) -> None:
        self._desk.files.edit(record.path, lambda raw: set_keys(raw, {SECRETS_KEY: HELD}))


def check(conversation: Conversation) -> None:
    """Raise `InvalidInput` or `TooLarge` for what cannot be stored."""
    if not conversation.content.strip():
        raise InvalidInput("content", "the conversation is empty; hand in its whole text")
    if len(conversation.content) > MOST_BYTES:
        raise TooLarge(
            f"content: {len(conversation.content):,} characters are more than the "
            f"{MOST_BYTES:,} that fit; save it in pieces"
        )


def _new_lines(current: str, given: str) -> str:
    """What a section says, with the lines that it does not say yet; empty when there are none."""
    said = set(current.splitlines())
    new = [line for line in safe_text(given).splitlines() if line.strip() and line not in said]
    return "\n".join([*([current.rstrip()] if current.strip() else []), *new]) if new else ""
