"""Following the disk: what changed is taken up, what was lost is built again."""

from __future__ import annotations

import logging
import threading

from neurigraph.door.finding import Finding
from neurigraph.errors import (
    NeurigraphError,
)
from neurigraph.index.indexer import Change, Outcome
from neurigraph.vault.layout import MEMORY_ID

log = logging.getLogger(__name__)


class Following(Finding):
    """Keeps what is known in step with the vault."""

    def _damaged(self) -> None:
        """Full text was begun anew: fill it again, in the background."""
        self._said.append("the full-text index was damaged and has been built again")
        threading.Thread(target=self._fill_again, name="filling", daemon=True).start()

    def _fill_again(self) -> None:
        try:
            self.reconcile()
        except NeurigraphError as error:
            log.warning("the next comparison will fill full text: %s", error)

    def reconcile(self) -> Outcome:
        """Compare the whole disk with what is known."""
        outcome = self._store.indexer.reconcile(self._say_progress)
        self._follow(outcome, opened=False)
        return outcome

    def refresh(self, paths: set[str]) -> None:
        """Take up what changed on disk; an empty set means: look at everything."""
        if not paths:
            self.reconcile()
            return
        with self._arriving:  # what a sync checks out is taken up by it, as nobody's edit
            self._follow(self._store.indexer.look(sorted(paths)), opened=True)
        self._climate.noticed(paths)

    def _follow(self, outcome: Outcome, *, opened: bool) -> None:
        for old, new in outcome.moved.items():
            self._note_moves(old, new)
        came = [c.after.id for c in outcome.changes if c.after is not None]
        went = [c.before.id for c in outcome.changes if c.before is not None and c.after is None]
        self._climate.came_and_went(came, (i for i in went if MEMORY_ID.fullmatch(i)))
        if opened:
            for change in outcome.changes:
                before, after = change.before, change.after
                if before is None or after is None:
                    continue
                if _is_edit_of_text(change) or self._climate.is_unpacked_by_hand(before, after):
                    self._touch(after)
                elif after.pinned and not before.pinned:
                    self._climate.pinned(after)

    def _say_progress(self, done: int, total: int) -> None:
        self._progress = (done, total)
        self.events.publish("progress", job="index", done=done, total=total, text="reading notes")

    def _vectors_said(self, kind: str, text: str) -> None:
        log.warning("vectors: %s %s", kind, text)
        if "damaged" in text and text not in self._said:
            self._said.append(f"{text}; the vectors are being made again")
        if kind == "vector_store_replaced" and self._store_or_none is not None:
            self._store_or_none.feeder.lost(self._store_or_none.library.memories())
        self.events.publish("status")

    def reindex(self) -> None:
        """Throw the indexes away and build them from the vault."""
        self._state = "indexing"
        self._store.indexer.forget_everything()
        self.reconcile()
        self._store.feeder.want(self._store.library.memories(), ())
        self._state = "ready"
        self.events.publish("status")


def _is_edit_of_text(change: Change) -> bool:
    before, after = change.before, change.after
    if before is None or after is None or before.path != after.path or before.id != after.id:
        return False
    if before.body_version == after.body_version or not before.body_version:
        return False
    was, now = (r.transcript.digest if r.transcript else "" for r in (before, after))
    if was != now:
        # one that is gone, or back from a backup, was not edited
        return bool(was and now)
    return not change.own
