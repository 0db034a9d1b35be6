"""Turns a conversation into one memory, or into linked parts, or finds that it is known already."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from neurigraph.edits.artifacts import attach
from neurigraph.edits.compose import (
    MemoryDraft,
    is_generated,
    memory_note,
    safe_text,
    summary_source,
)
from neurigraph.edits.desk import Desk
from neurigraph.edits.tombstones import Tombstones
from neurigraph.edits.topics import folder_for
from neurigraph.errors import InvalidInput, TooLarge
from neurigraph.importers.transcript import continued
from neurigraph.index.record import Record, opening_of
from neurigraph.model import Artifact, Conversation, NewArtifact
from neurigraph.summarize.draft import Draft
from neurigraph.vault.layout import memory_file_name, new_memory_id, recall_dir
from neurigraph.vault.note import read_note, section_text, set_keys, set_section
from neurigraph.vault.turns import estimate_tokens, split_parts

PART_TOKENS = 50_000
MOST_BYTES = 64_000_000
"""The longest conversation that is taken in one piece."""

Drafter = Callable[[str], Draft]
"""Writes a title, summary and keywords from a transcript, quickly and without fail."""


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


def sha256(transcript: str) -> str:
    """The SHA-256 of a transcript's bytes as handed in, in hex."""
    return hashlib.sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()


class Saver:
    """Saves conversations. The caller holds the lock on the vault's edits."""

    def __init__(self, desk: Desk, tombstones: Tombstones, drafter: Drafter) -> None:
        self._desk, self._tombstones, self._drafter = desk, tombstones, drafter

    def save(
        self, conversation: Conversation, *, folder: str | None = None, keep_earlier: bool = False
    ) -> Saved:
        """Save a conversation, and answer when it is on disk.

        `folder` names the topic's folder where the caller knows it. A longer version of what is
        stored updates it. With `keep_earlier` (imports), a conversation of the same source that
        took another branch updates the memory too, and its earlier text becomes an artifact.
        """
        content = conversation.content
        if not content.strip():
            raise InvalidInput("content", "the conversation is empty; hand in its whole text")
        if len(content) > MOST_BYTES:
            raise TooLarge(
                f"content: {len(content):,} characters are more than the {MOST_BYTES:,} that fit; "
                "save it in pieces"
            )
        texts = split_parts(content, PART_TOKENS)
        if self._tombstones.covers(conversation.source_id, [sha256(t) for t in texts]):
            return Saved(
                "deleted_before", (), note="it was deleted before; restore it to have it back"
            )
        known = self._known(conversation, texts)
        if known:
            return self._update(conversation, texts, known, keep_earlier)
        place = folder or folder_for(
            self._desk, conversation.broad_topic, conversation.focused_topic
        )
        created = self._create(conversation, texts, place, first=1, before=None)
        return Saved("created", tuple(r.id for r in created), created[0].path)

    # -- what is known already

    def _known(self, conversation: Conversation, texts: Sequence[str]) -> list[Record]:
        library = self._desk.library
        if conversation.source_id and (found := library.from_source(conversation.source_id)):
            return found
        same = library.with_transcript(sha256(texts[0]))
        if same:
            return self._chain(same[0])
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

    def _update(
        self,
        conversation: Conversation,
        texts: Sequence[str],
        known: Sequence[Record],
        keep_earlier: bool,
    ) -> Saved:
        ids = [r.id for r in known]
        if [r.transcript_sha256 for r in known] == [sha256(t) for t in texts]:
            return Saved("unchanged", tuple(ids), known[0].path, "it was saved before")
        stored = [self._unedited(r) for r in known]
        edited = any(s is None for s in stored)
        whole = "".join(s or "" for s in stored)
        # headings hold local time: the same conversation read in another zone is no other one
        content = conversation.content if edited else continued(whole, conversation.content)
        if content != conversation.content:
            conversation = replace(conversation, content=content)
            texts = split_parts(content, PART_TOKENS)
        grown = not edited and content.startswith(whole)
        if not edited and whole.startswith(content):
            return Saved("unchanged", tuple(ids), known[0].path, "a longer version is stored")
        if not grown and not keep_earlier:
            place = known[0].path.rpartition("/")[0]
            created = self._create(
                replace(conversation, source_id=""), texts, place, first=1, before=None
            )
            return Saved(
                "created",
                tuple(r.id for r in created),
                created[0].path,
                f"stored beside {ids[0]}, which holds another text",
            )
        if edited:
            new = NewArtifact("newer version.md", conversation.content.encode("utf-8", "replace"))
            self._attach(known[0], [new])
            return Saved(
                "unchanged",
                tuple(ids),
                known[0].path,
                "its transcript was edited by hand and stays; the new text is an artifact",
            )
        if not grown:
            earlier = whole.encode("utf-8", "replace")
            day = self._desk.clock().astimezone().date().isoformat()
            self._attach(known[0], [NewArtifact(f"earlier version {day}.md", earlier)])
        return self._rewrite(conversation, texts, list(known))

    def _rewrite(
        self, conversation: Conversation, texts: Sequence[str], known: list[Record]
    ) -> Saved:
        for record, text in zip(known, texts, strict=False):
            if record.transcript_sha256 != sha256(text):
                self._rewrite_one(conversation, record, text)
        if len(texts) > len(known):
            place = known[-1].path.rpartition("/")[0]
            added = self._create(
                conversation, texts[len(known) :], place, first=len(known) + 1, before=known[-1]
            )
            known += added
        for surplus in known[len(texts) :]:
            # another branch can be shorter; its earlier text was kept as an artifact
            self._desk.files.trash(surplus.path)
            self._desk.files.trash(recall_dir(surplus.id))
            self._desk.indexer.look([surplus.path])
        known = known[: max(len(texts), 1)]
        if conversation.artifacts:
            self._attach(known[0], conversation.artifacts)
        return Saved("updated", tuple(r.id for r in known), known[0].path, "it has grown")

    def _rewrite_one(self, conversation: Conversation, record: Record, text: str) -> None:
        draft = self._drafter(text)
        given = (conversation.summary or "").strip()
        summary = safe_text(given or draft.summary)
        by = (conversation.source_model or "ai") if given else draft.source
        self._desk.recall.rewrite(record.id, text, self._desk.recall.read(record.id))

        def change(raw: bytes) -> bytes:
            body = read_note(raw).body
            current = section_text(body, "Summary") or ""
            keys: dict[str, str | int | bool | list[str] | None] = {
                "token_count": estimate_tokens(text),
                "transcript_sha256": sha256(text),
            }
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

    # -- new memories

    def _create(
        self,
        conversation: Conversation,
        texts: Sequence[str],
        folder: str,
        *,
        first: int,
        before: Record | None,
    ) -> list[Record]:
        """Write one memory a text. Transcript and artifacts first, so that a note on disk is
        always whole."""
        desk = self._desk
        now = desk.clock()
        total = first - 1 + len(texts)
        paths: list[str] = []
        taken = desk.library.ids()
        for number, text in enumerate(texts, first):
            memory_id = new_memory_id(now, taken)
            taken.add(memory_id)
            desk.recall.store(memory_id, text)
            names = [
                desk.recall.add_artifact(memory_id, a.name, a.data)
                for a in (conversation.artifacts if number == 1 else ())
            ]
            draft = self._draft(conversation, text, memory_id, names, now)
            if total > 1:
                draft = replace(
                    draft, part=number, title=f"{draft.title} (part {number} of {total})"
                )
            name = memory_file_name(
                draft.created, draft.title, lambda n: desk.files.exists(f"{folder}/{n}")
            )
            paths.append(desk.files.create(f"{folder}/{name}", memory_note(draft)))
        chain = ([before.path] if before else []) + paths
        for left, right in pairwise(chain):
            _join_parts(desk, left, right)
        desk.indexer.look(chain)
        found = [desk.library.at(p) for p in paths]
        return [r for r in found if r is not None]

    def _draft(
        self,
        conversation: Conversation,
        text: str,
        memory_id: str,
        artifacts: Sequence[Artifact],
        now: datetime,
    ) -> MemoryDraft:
        draft = self._drafter(text)
        given = (conversation.summary or "").strip()
        return MemoryDraft(
            id=memory_id,
            title=(conversation.title or "").strip() or draft.title or "Conversation",
            created=conversation.created or now,
            source_model=conversation.source_model,
            source_id=conversation.source_id,
            keywords=conversation.keywords or draft.keywords,
            token_count=estimate_tokens(text),
            transcript_sha256=sha256(text),
            summary=given or draft.summary,
            summary_by=(conversation.source_model or "ai") if given else draft.source,
            decisions=conversation.decisions
            if conversation.decisions is not None
            else draft.decisions,
            open_questions=conversation.open_questions
            if conversation.open_questions is not None
            else draft.open_questions,
            artifacts=artifacts,
            now=now,
        )

    def _attach(self, record: Record, artifacts: Sequence[NewArtifact]) -> None:
        attach(self._desk, record, artifacts)


def _new_lines(current: str, given: str) -> str:
    """What a section says, with the lines that it does not say yet; empty when there are none."""
    said = set(current.splitlines())
    new = [line for line in safe_text(given).splitlines() if line.strip() and line not in said]
    return "\n".join([*([current.rstrip()] if current.strip() else []), *new]) if new else ""


def _join_parts(desk: Desk, left: str, right: str) -> None:
    """Link two parts of one conversation, each to the other."""
    for path, key, other in ((left, "next_part", right), (right, "previous_part", left)):
        value = f"[[{other[:-3]}|{'Next' if key == 'next_part' else 'Previous'} part]]"
        desk.files.edit(path, lambda raw, k=key, v=value: set_keys(raw, {k: v}))  # type: ignore[misc]  # the defaults bind the loop's values
