"""Makes new memories in two steps: what belongs to them in `_recall`, then their notes.

A note is written when its transcript is safely on disk, so that a note is always whole. Many
conversations can be between the two steps, and then wait for the disk together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from neurigraph.edits.compose import MemoryDraft, memory_note
from neurigraph.edits.desk import Desk
from neurigraph.edits.prepared import Prepared, sha256
from neurigraph.index.record import Record
from neurigraph.model import Artifact, Conversation, Temperature
from neurigraph.vault.layout import memory_file_name, new_memory_id
from neurigraph.vault.note import set_keys
from neurigraph.vault.turns import estimate_tokens


@dataclass(frozen=True, slots=True)
class Waiting:
    """New memories of one conversation, parts in order, whose notes are not written yet.

    `before` is the part that they follow, of a conversation that has grown.
    """

    folder: str
    drafts: tuple[MemoryDraft, ...]
    before: Record | None = None
    note: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories to be."""
        return tuple(draft.id for draft in self.drafts)

    @property
    def held(self) -> bool:
        """Whether something in it looks like a secret."""
        return any(draft.secrets for draft in self.drafts)


class Creator:
    """Makes new memories. The caller holds the lock on the vault's edits."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._reserved: set[str] = set()

    def store(
        self,
        conversation: Conversation,
        parts: Sequence[tuple[str, Prepared]],
        folder: str,
        *,
        before: Record | None = None,
        first: int = 1,
        imported: bool = False,
        beside: Sequence[str] = (),
    ) -> Waiting:
        """Store transcripts and artifacts. `first` is the number of the first of these parts."""
        desk = self._desk
        taken = desk.library.ids() | self._reserved
        total = first - 1 + len(parts)
        drafts = []
        for number, (text, prepared) in enumerate(parts, first):
            memory_id = new_memory_id(desk.clock(), taken)
            taken.add(memory_id)
            self._reserved.add(memory_id)
            desk.recall.store(memory_id, text)
            artifacts = [
                desk.recall.add_artifact(memory_id, a.name, a.data)
                for a in (conversation.artifacts if number == 1 else ())
            ]
            draft = self._draft(conversation, text, prepared, memory_id, artifacts, imported)
            if beside and number == 1:
                draft = replace(draft, secrets=True)
            if total > 1:
                title = f"{draft.title} (part {number} of {total})"
                draft = replace(draft, part=number, title=title)
            drafts.append(draft)
        return Waiting(folder, tuple(drafts), before)

    def write(self, waiting: Waiting) -> list[str]:
        """Write the notes and answer their paths. They are still to be indexed."""
        files, folder = self._desk.files, waiting.folder
        paths: list[str] = []
        for draft in waiting.drafts:
            name = memory_file_name(
                draft.created, draft.title, lambda n: files.exists(f"{folder}/{n}")
            )
            paths.append(files.create(f"{folder}/{name}", memory_note(draft)))
        chain = ([waiting.before.path] if waiting.before else []) + paths
        for left, right in pairwise(chain):
            self.join(left, right)
        return paths

    def indexed(self, waiting: Waiting) -> None:
        """Say that the library now knows these ids."""
        self._reserved.difference_update(waiting.ids)

    def join(self, left: str, right: str) -> None:
        """Link the notes of two parts of one conversation, each to the other."""
        for path, key, other in ((left, "next_part", right), (right, "previous_part", left)):
            value = f"[[{other[:-3]}|{'Next' if key == 'next_part' else 'Previous'} part]]"
            keys: Mapping[str, str] = {key: value}
            self._desk.files.edit(path, lambda raw, keys=keys: set_keys(raw, keys))  # type: ignore[misc]  # the default binds the loop's value

    def _draft(
        self,
        conversation: Conversation,
        text: str,
        prepared: Prepared,
        memory_id: str,
        artifacts: Sequence[Artifact],
        imported: bool,
    ) -> MemoryDraft:
        draft, now = prepared.draft, self._desk.clock()
        given = (conversation.summary or "").strip()
        created = conversation.created or now
        decisions, questions = conversation.decisions, conversation.open_questions
        return MemoryDraft(
            id=memory_id,
            title=(conversation.title or "").strip() or draft.title or "Conversation",
            created=created,
            source_model=conversation.source_model,
            source_id=conversation.source_id,
            keywords=conversation.keywords or draft.keywords,
            token_count=estimate_tokens(text),
            transcript_sha256=sha256(text),
            summary=given or draft.summary,
            summary_by=(conversation.source_model or "ai") if given else draft.source,
            decisions=draft.decisions if decisions is None else decisions,
            open_questions=draft.open_questions if questions is None else questions,
            artifacts=artifacts,
            # years of old conversations are not hot because they come in today
            accessed=created if imported else now,
            temperature=Temperature.WARM if imported else Temperature.HOT,
            secrets=bool(prepared.secrets),
        )
