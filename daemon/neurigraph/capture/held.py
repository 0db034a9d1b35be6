"""What git sync must not carry away: memories with what looks like a secret, until a yes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from neurigraph.edits.desk import Desk
from neurigraph.errors import NeurigraphError
from neurigraph.importers.secrets import find_secrets
from neurigraph.index.library import Library
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.held import HELD, is_held
from neurigraph.vault.layout import INBOX_DROP, MEMORY_ID, RECALL


class HeldOut:
    """Tells of any path in the vault whether it is to be left out of a commit.

    What is on disk counts, not what the indexes know, so that nothing slips out in between.
    """

    def __init__(self, files: VaultFiles, library: Library) -> None:
        self._files, self._library = files, library

    def __call__(self, path: str) -> bool:
        """Whether this file stays here: a held note, what belongs to one, a dropped export.

        Files in `_recall` whose note is not known yet are held as well. A file that is gone is not:
        its deletion may travel.
        """
        top, _, rest = path.partition("/")
        if top == INBOX_DROP:
            return True
        if top == RECALL:
            memory_id = rest.partition("/")[0]
            if not MEMORY_ID.fullmatch(memory_id):
                return False
            record = self._library.find(memory_id)
            return self._files.exists(path) and (record is None or self._is_held(record.path))
        return path.lower().endswith(".md") and self._is_held(path)

    def _is_held(self, note: str) -> bool:
        try:
            return is_held(self._files.read(note))
        except FileNotFoundError:
            return False


@dataclass(frozen=True, slots=True)
class Found:
    """Something that looks like a secret: its kind, where, and the line there."""

    kind: str
    where: str
    line: int


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """A memory that is held out of git, and what was found in it; never the secret itself."""

    id: str
    title: str
    path: str
    found: tuple[Found, ...]


def held_memories(desk: Desk) -> list[HeldMemory]:
    """All memories that wait for a yes, newest first."""
    records = [r for r in desk.library.memories() if r.owned and r.secrets == HELD]
    records.sort(key=lambda r: (r.created is not None, r.created, r.path), reverse=True)
    return [HeldMemory(r.id, r.title, r.path, _found(desk, r.id, r.path)) for r in records]


def _found(desk: Desk, memory_id: str, path: str) -> tuple[Found, ...]:
    texts: list[tuple[str, str]] = []
    # what can be read is told; that something cannot is listed by the doctor
    with suppress(NeurigraphError, OSError):
        texts.append(("transcript", desk.recall.read(memory_id)))
    with suppress(NeurigraphError, OSError):
        texts.append(("note", desk.files.read(path).decode("utf-8", "replace")))
    with suppress(NeurigraphError, OSError):
        for artifact in desk.recall.stat(memory_id).artifacts:
            data = desk.recall.read_artifact(memory_id, artifact.name)
            texts.append((artifact.name, data.decode("utf-8", "replace")))
    return tuple(
        Found(secret.kind, where, secret.line)
        for where, text in texts
        for secret in find_secrets(text)
    )
