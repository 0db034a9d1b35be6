"""Makes new memories in two steps: what belongs to them in `_recall`, then their notes.

A note is written when its transcript is safely on disk, so that a note is always whole. Many
conversations can be between the two steps, and then wait for the disk together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from neurigraph.edits.compose import MemoryDraft, memory_note
from neurigraph.edits.desk import Desk
from neurigraph.edits.prepared import Prepared, sha256
from neurigraph.edits.unfinished import Unfinished
from neurigraph.errors import NeurigraphError
from neurigraph.index.record import Record
from neurigraph.model import Artifact, Conversation, NewArtifact, Temperature
from neurigraph.vault.layout import MEMORY_ID, memory_file_name, new_memory_id, recall_dir
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

    def __init__(self, desk: Desk, unfinished: Unfinished) -> None:
        self._desk, self._unfinished = desk, unfinished
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
        drafts: list[MemoryDraft] = []
        begun: list[str] = []
        try:
            for number, (text, prepared) in enumerate(parts, first):
                files = conversation.artifacts if number == 1 else ()
                memory_id = self._left_behind(text, files, taken)
                memory_id = memory_id or new_memory_id(desk.clock(), taken)
                taken.add(memory_id)
                begun.append(memory_id)
                self._reserved.add(memory_id)
                self._unfinished.begin(memory_id, sha256(text))
                desk.recall.store(memory_id, text)
                artifacts = [desk.recall.add_artifact(memory_id, a.name, a.data) for a in files]
                draft = self._draft(conversation, text, prepared, memory_id, artifacts, imported)
                if beside and number == 1:
                    draft = replace(draft, secrets=True)
                if total > 1:
                    title = f"{draft.title} (part {number} of {total})"
                    draft = replace(draft, part=number, title=title)
                drafts.append(draft)
        except BaseException:
            self._leave(begun)
            raise
        return Waiting(folder, tuple(drafts), before)

    def write(self, waiting: Waiting) -> list[str]:
        """Write the notes and answer their paths. They are still to be indexed."""
        files, folder = self._desk.files, waiting.folder
        paths: list[str] = []
        try:
            for draft in waiting.drafts:
                name = memory_file_name(
                    draft.created, draft.title, lambda n: files.exists(f"{folder}/{n}")
                )
                paths.append(files.create(f"{folder}/{name}", memory_note(draft)))
        except BaseException:
            self._unfinished.end(waiting.ids[: len(paths)])
            self.drop(waiting)
            raise
        self._unfinished.end(waiting.ids)
        chain = ([waiting.before.path] if waiting.before else []) + paths
        for left, right in pairwise(chain):
            self.join(left, right)
        return paths

    def indexed(self, waiting: Waiting) -> None:
        """Say that the library now knows these ids."""
        self._reserved.difference_update(waiting.ids)

    def drop(self, waiting: Waiting) -> None:
        """Give up the notes of what waits, but for those that are written.

        Its transcripts stay, and the same text takes their place when it comes again.
        """
        self._leave(waiting.ids)

    def join(self, left: str, right: str) -> None:
        """Link the notes of two parts of one conversation, each to the other."""
        for path, key, other in ((left, "next_part", right), (right, "previous_part", left)):
            value = f"[[{other[:-3]}|{'Next' if key == 'next_part' else 'Previous'} part]]"
            keys: Mapping[str, str] = {key: value}
            self._desk.files.edit(path, lambda raw, keys=keys: set_keys(raw, keys))  # type: ignore[misc]  # the default binds the loop's value

    def _leave(self, memory_ids: Sequence[str]) -> None:
        left = self._unfinished.leave(memory_ids)
        self._reserved.difference_update(left)
        for memory_id in left:
            # a full disk takes a folder and then no file in it
            with suppress(NeurigraphError, OSError):
                known = self._desk.recall.stat(memory_id)
                if known.form == "missing" and not (known.artifacts or known.set_aside):
                    self._desk.files.remove_for_good(recall_dir(memory_id))

    def _left_behind(self, text: str, files: Sequence[NewArtifact], taken: Set[str]) -> str:
        """The id under which an interrupted save stored this very text, to be used again.

        What lies there is removed, as it is about to be stored once more: whether it ever reached
        the disk is not known. Anything else beside it is kept, and then nothing is used again.
        """
        memory_id, recall = self._unfinished.take(sha256(text)), self._desk.recall
        if not MEMORY_ID.fullmatch(memory_id) or memory_id in taken:
            return ""
        try:
            if recall.read(memory_id) != text:
                return ""
            known, coming = recall.stat(memory_id), [file.data for file in files]
            kept = (recall.read_artifact(memory_id, a.name) for a in known.artifacts)
            if known.set_aside or not all(data in coming for data in kept):
                return ""
        except (NeurigraphError, OSError):
            return ""
        self._desk.files.remove_for_good(recall_dir(memory_id))
        return memory_id

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
