"""Processes that draft titles and summaries side by side, for an import of many conversations.

Each is `python -m neurigraph.capture.drafters`, and ends when its input ends. It is handed one
conversation at a time, so neither side ever waits for the other to read.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from neurigraph.capture.parcel import Order, Piece
from neurigraph.edits.prepared import PART_TOKENS, Preparer, Ready, Secrecy, sha256
from neurigraph.importers.opened import Item
from neurigraph.importers.source import Failed
from neurigraph.index.vector_pipe import receive, send
from neurigraph.model import Conversation
from neurigraph.summarize.draft import Draft
from neurigraph.summarize.extractive import extractive
from neurigraph.vault.turns import split_parts

log = logging.getLogger(__name__)

_ALONE = 8
"""So many new conversations are drafted without help; processes cost a quarter second each."""

_AHEAD = 64
"""What is read but not yet handed on, at most."""

Work = Callable[[Conversation], "Ready | Failed"]


def quick_draft(text: str) -> Draft:
    """A draft that costs little, which better ones may replace later."""
    return extractive(text, keywords_quick=True)


def work_out(preparer: Preparer, conversation: Conversation) -> Ready | Failed:
    """A conversation with its drafts; one that cannot be drafted is `Failed`."""
    try:
        return preparer.worked_out(conversation)
    except Exception as error:  # noqa: BLE001 - foreign text; the other conversations must be read
        log.warning("a conversation could not be prepared: %s", type(error).__name__)
        return _failed(conversation, type(error).__name__)


class Drafter:
    """One such process."""

    def __init__(self, secrecy: Secrecy) -> None:
        self._secrecy = secrecy
        self._process: subprocess.Popen[bytes] | None = None
        self._busy_with: Conversation | None = None

    @property
    def busy(self) -> bool:
        """Whether it still has a conversation in hand."""
        return self._busy_with is not None

    def give(self, conversation: Conversation) -> None:
        """Hand it a conversation; it must not be busy."""
        self._busy_with = conversation
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "neurigraph.capture.drafters"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdin is not None
        # one that has died is noticed when its answer is asked for
        with suppress(OSError):
            send(self._process.stdin, (self._secrecy, conversation))

    def take(self) -> Ready | Failed:
        """Wait for its answer."""
        conversation, self._busy_with = self._busy_with, None
        assert conversation is not None
        assert self._process is not None
        assert self._process.stdout is not None
        answer = receive(self._process.stdout)
        if answer is None:
            return _failed(conversation, f"status {self._process.wait()}")
        found: Ready | Failed = answer[0]
        return found

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError):  # what it was being told no longer goes anywhere
                self._process.communicate()
            self._process = None


def prepared(items: Iterable[tuple[Item, int]], order: Order, helpers: int) -> Iterator[Piece]:
    """The items in their order, conversations that are new with their drafts.

    Up to `helpers` processes are started when there are many of them.
    """
    preparer = Preparer(quick_draft, order.secrecy)
    pool = [Drafter(order.secrecy) for _ in range(helpers)]
    waiting: deque[tuple[Drafter, int] | Piece] = deque()
    new = 0

    def first() -> Piece:
        found = waiting.popleft()
        return found if isinstance(found, Piece) else Piece(found[0].take(), found[1])

    try:
        for item, done in items:
            if not isinstance(item, Conversation):
                waiting.append(Piece(item, done))
            elif not order.drafts or _is_known(item, order, preparer):
                waiting.append(Piece(preparer.screened(item), done))
            elif not pool or new < _ALONE:
                new += 1
                waiting.append(Piece(work_out(preparer, item), done))
            else:
                drafter = pool[new % len(pool)]
                new += 1
                while drafter.busy:
                    yield first()
                drafter.give(item)
                waiting.append((drafter, done))
            while waiting and (isinstance(waiting[0], Piece) or len(waiting) > _AHEAD):
                yield first()
        while waiting:
            yield first()
    finally:
        for drafter in pool:
            drafter.close()


def _is_known(conversation: Conversation, order: Order, preparer: Preparer) -> bool:
    """Whether every part of it is stored already, so that no draft is needed."""
    if not order.known:
        return False
    content = preparer.screened(conversation).conversation.content
    return all(sha256(text) in order.known for text in split_parts(content, PART_TOKENS))


def _failed(conversation: Conversation, why: str) -> Failed:
    title = conversation.title or conversation.source_id or "a conversation"
    return Failed(title, f"it could not be prepared ({why})", conversation.source_id)


def main() -> None:
    """Answer what comes through standard input until it ends."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # nothing that a library prints may get between the answers
    with suppress(BrokenPipeError):
        while (message := receive(sys.stdin.buffer)) is not None:
            secrecy, conversation = message
            send(out, (work_out(Preparer(quick_draft, secrecy), conversation),))


if __name__ == "__main__":
    main()
