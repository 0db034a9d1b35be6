"""Transcripts and artifacts of memories, plain or gzipped, in `_recall`.

What is handed in comes back to the byte. Compressing and back keeps both files until the new one
has been read back from disk and compared, so an interruption leaves at worst two good copies,
which `resolve_pair` makes one again. Nothing that could be the only good copy is ever deleted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeVar

from neurigraph.errors import (
    ChangedElsewhere,
    Duplicate,
    NotFound,
    TooLarge,
    TranscriptDamaged,
    TranscriptMissing,
)
from neurigraph.model import Artifact
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.layout import (
    MEMORY_ID,
    RECALL,
    TRASH,
    numbered,
    recall_dir,
    safe_file_name,
    same_name,
    transcript_path,
)
from neurigraph.vault.packing import (
    MOST_BYTES,
    Damaged,
    decode,
    encode,
    gunzip,
    gzip_bytes,
    is_edit,
    quieten,
    unquieten,
)
from neurigraph.vault.steps import Steps, alone

Form = Literal["plain", "gzip", "missing", "both"]

AS_IS = "as-is"
"""Artifacts that are named `*.gz` when handed in are kept in this folder beside the others, never
compressed, so that in `artifacts/` itself a `.gz` is always one of ours."""


_SET_ASIDE = "transcript (set aside)"


@dataclass(frozen=True, slots=True)
class RecallStat:
    """What is stored of a memory. `size` (bytes) and `mtime_ns` are those of the transcript as it
    stands on disk, of the plain one when there are both; 0 when it is missing. `set_aside` are
    paths of other texts that were found in the transcript's place."""

    form: Form
    size: int
    mtime_ns: int
    artifacts: tuple[Artifact, ...] = ()
    set_aside: tuple[str, ...] = ()


class Resolution(StrEnum):
    """What was done about a plain file beside its `.gz`, in words for people."""

    NOTHING = "there was nothing to do"
    SAME = "the same text was stored twice; the plain one was kept"
    EDITED = "the plain transcript is an edit; it was kept, the older .gz moved to the trash"
    EMPTY = "an empty transcript stood beside the compressed one; it was moved to the trash"
    SET_ASIDE = "another text stood in the transcript's place; it was renamed, look at it"
    UNCLEAR = "the .gz beside the transcript is damaged; both were kept, look at them"


class Recall:
    """The transcripts and artifacts of one vault, by the id of the memory."""

    def __init__(self, files: VaultFiles, most_bytes: int = MOST_BYTES) -> None:
        self._files = files
        self._most = most_bytes

    # -- transcripts

    def store(self, memory_id: str, transcript: str) -> None:
        """Keep a new transcript. Raises `Duplicate` when another one is there already."""
        plain, packed = _places(memory_id)
        data = encode(transcript)
        if self._files.exists(packed):
            if self.read(memory_id) != transcript:
                raise Duplicate(f"{memory_id} has a transcript already")
            return
        try:
            self._files.create(plain, data, numbered_if_taken=False)
        except Duplicate:
            if self._files.read(plain) != data:
                raise Duplicate(f"{memory_id} has a transcript already") from None

    def rewrite(self, memory_id: str, transcript: str, known: str) -> None:
        """Put a newer transcript in the place of the one that was read as `known`.

        It is stored plain. Raises `ChangedElsewhere` when another one is there meanwhile.
        """
        plain, _ = _places(memory_id)
        self.decompress(memory_id)
        expected = self._files.read(plain)
        if decode(expected) != known:
            raise ChangedElsewhere(plain)
        self._files.replace(plain, encode(transcript), expected)

    def read(self, memory_id: str) -> str:
        """The transcript as it was handed in, or as a person has edited it since.

        Raises `TranscriptMissing`, `TranscriptDamaged`, or `TooLarge` past the bound.
        """
        plain, packed = _places(memory_id)
        for _ in range(3):
            raw, compressed = self._read_if_there(plain), None
            if raw is None or self._files.exists(packed):
                compressed = self._read_if_there(packed)
            if raw is not None and compressed is not None:
                return decode(self._better(raw, compressed))
            if raw is not None:
                return decode(raw)
            if compressed is not None:
                return decode(self._unpack(memory_id, packed, compressed))
            # between the two looks another thread may have put one in the other's place
        raise TranscriptMissing(memory_id)

    def form(self, memory_id: str) -> Form:
        """How the transcript is stored."""
        plain, packed = _places(memory_id)
        return _form(self._files.exists(plain), self._files.exists(packed))

    def stat(self, memory_id: str) -> RecallStat:
        """What is stored of a memory, without reading it.

        A folder that cannot be looked into raises `OSError`: that is not `missing`.
        """
        return _despite_changes(lambda: self._look(memory_id))

    def pairs(self) -> Iterator[str]:
        """The ids of the memories of which something is stored both ways: work to finish."""
        for memory_id in self.ids():
            names = {entry.name for entry in self._list(recall_dir(memory_id))}
            if {"transcript.md", "transcript.md.gz"} <= names or (
                "artifacts" in names and self._artifact_pairs(memory_id)
            ):
                yield memory_id

    def ids(self) -> Iterator[str]:
        """The ids of all memories that have a folder here, in order."""
        try:
            with os.scandir(self._files.path(RECALL)) as listing:
                names = sorted(e.name for e in listing if e.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return
        yield from (name for name in names if MEMORY_ID.fullmatch(name))

    def compress(self, memory_id: str) -> int:
        """Gzip the transcript and answer the bytes saved; 0 when it is gzipped already.

        Raises `ChangedElsewhere` when it was edited meanwhile; then it stays plain.
        """
        return alone(self.compressing(memory_id))

    def compressing(self, memory_id: str) -> Steps[int]:
        """`compress`, in steps."""
        plain, packed = _places(memory_id)
        if self._one_form(memory_id) != "plain":
            return 0
        return (yield from self._packing(plain, packed))

    def decompress(self, memory_id: str) -> int:
        """Make the transcript plain again and answer the bytes it grew by; 0 when it was."""
        plain, packed = _places(memory_id)
        if self._one_form(memory_id) != "gzip":
            return 0
        return self._unpack_file(memory_id, packed, plain)

    def resolve_pair(self, memory_id: str) -> Resolution:
        """Make one transcript of a plain one beside a `.gz`: see `Resolution`.

        Finishes what an interruption left; a plain file wins only as an edit of the same text.
        """
        plain, packed = _places(memory_id)
        raw, compressed = self._read_if_there(plain), self._read_if_there(packed)
        if raw is None or compressed is None:
            return Resolution.NOTHING
        try:
            stored = gunzip(compressed, self._most)
        except (Damaged, TooLarge):
            return Resolution.UNCLEAR
        if raw == stored:
            self._files.remove_verified(packed, compressed)
            return Resolution.SAME
        if is_edit(decode(raw), decode(stored)):
            self._put_away(packed, memory_id, "earlier transcript.md.gz")
            return Resolution.EDITED
        if not raw.strip():
            self._put_away(plain, memory_id, "empty transcript.md")
            return Resolution.EMPTY
        self._files.move(plain, f"{recall_dir(memory_id)}/{_SET_ASIDE}.md")
        return Resolution.SET_ASIDE

    # -- artifacts

    def add_artifact(self, memory_id: str, name: str, data: bytes) -> Artifact:
        """Keep a file with a memory, under a safe and free name like the one given."""
        safe = safe_file_name(name)
        if same_name(safe, AS_IS):
            safe = f"_{safe}"
        folder = f"{_folder(memory_id)}/artifacts"
        taken = [a.name for a in self._artifacts(memory_id)]
        number, free = 1, safe
        while True:
            if not any(same_name(free, other) for other in taken):
                inner = f"{folder}/{AS_IS}" if _is_gz(free) else folder
                stored = quieten(free, data)
                try:
                    path = self._files.create(f"{inner}/{free}", stored, numbered_if_taken=False)
                    return Artifact(free, path, len(stored))
                except Duplicate:
                    taken.append(free)
            number += 1
            free = numbered(safe, number)

    def rewrite_artifact(self, memory_id: str, name: str, data: bytes, known: bytes) -> None:
        """Give an artifact that was read as `known` new bytes; it is stored plain.

        Raises `ChangedElsewhere` when another one is there meanwhile.
        """
        self.decompress_artifacts(memory_id)
        artifact = next((a for a in self._artifacts(memory_id) if same_name(a.name, name)), None)
        if artifact is None:
            raise NotFound("artifact", name)
        expected = self._files.read(artifact.path)
        if unquieten(artifact.name, expected) != known:
            raise ChangedElsewhere(artifact.path)
        self._files.replace(artifact.path, quieten(artifact.name, data), expected)

    def read_artifact(self, memory_id: str, name: str) -> bytes:
        """The bytes of an artifact as they were handed in, however it is stored."""
        return _despite_changes(lambda: self._read_artifact(memory_id, name))

    def compress_artifacts(self, memory_id: str) -> int:
        """Gzip all artifacts and answer the bytes saved."""
        return alone(self.compressing_artifacts(memory_id))

    def compressing_artifacts(self, memory_id: str) -> Steps[int]:
        """`compress_artifacts`, in steps."""
        self.resolve_artifacts(memory_id)
        saved = 0
        for artifact in self._artifacts(memory_id):
            if artifact.compressed or _is_gz(artifact.name) or artifact.size > self._most:
                continue
            saved += yield from self._packing(artifact.path, f"{artifact.path}.gz")
        return saved

    def decompress_artifacts(self, memory_id: str) -> int:
        """Make all artifacts plain again and answer the bytes they grew by."""
        self.resolve_artifacts(memory_id)
        return sum(
            self._unpack_file(memory_id, artifact.path, artifact.path[: -len(".gz")])
            for artifact in self._artifacts(memory_id)
            if artifact.compressed
        )

    def resolve_artifacts(self, memory_id: str) -> int:
        """Make one of each artifact that is there both ways, and answer how many there were.

        Of the same bytes the plain file is kept. A `.gz` of something else is an artifact of its
        own that a person put there, and is kept as it is.
        """
        pairs = self._artifact_pairs(memory_id)
        for plain in pairs:
            packed = f"{plain}.gz"
            compressed = self._files.read(packed)
            try:
                same = gunzip(compressed, self._most) == self._files.read(plain)
            except (Damaged, TooLarge):
                same = False
            if same:
                self._files.remove_verified(packed, compressed)
            else:
                folder, _, name = packed.rpartition("/")
                self._files.move(packed, f"{folder}/{AS_IS}/{name}")
        return len(pairs)

    # -- how it is done

    def _one_form(self, memory_id: str) -> Form:
        """How the transcript is stored, once a pair is made one where that is possible."""
        form = self.form(memory_id)
        if form == "both":
            self.resolve_pair(memory_id)
            form = self.form(memory_id)
        if form == "missing":
            raise TranscriptMissing(memory_id)
        return form

    def _packing(self, plain: str, packed: str) -> Steps[int]:
        data = self._files.read(plain)
        if len(data) > self._most:
            raise TooLarge(f"{plain} has {len(data)} bytes; more than {self._most} stay plain")
        compressed = gzip_bytes(data)
        yield from self._making(
            packed, compressed, plain, lambda back: gunzip(back, self._most) == data
        )
        try:
            self._files.remove_verified(plain, data)
        except ChangedElsewhere:
            # somebody edited it meanwhile: the edit is the truth, our copy of the old text goes
            self._files.remove_verified(packed, compressed)
            raise
        return len(data) - len(compressed)

    def _unpack_file(self, memory_id: str, packed: str, plain: str) -> int:
        compressed = self._files.read(packed)
        data = self._unpack(memory_id, packed, compressed)
        alone(self._making(plain, data, packed, lambda back: back == data))
        self._files.remove_verified(packed, compressed)
        return len(data) - len(compressed)

    def _making(
        self, path: str, data: bytes, like: str, check: Callable[[bytes], bool]
    ) -> Steps[str]:
        return self._files.creating(path, data, numbered_if_taken=False, check=check, like=like)

    def _unpack(self, memory_id: str, path: str, compressed: bytes) -> bytes:
        try:
            return gunzip(compressed, self._most)
        except Damaged as error:
            raise TranscriptDamaged(memory_id, path) from error

    def _put_away(self, path: str, memory_id: str, name: str) -> None:
        # beside the place of the memory's own folder, which it may need in the trash some day
        self._files.move(path, f"{TRASH}/{recall_dir(memory_id)} {name}")

    def _read_if_there(self, path: str) -> bytes | None:
        try:
            return self._files.read(path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _better(self, plain: bytes, compressed: bytes) -> bytes:
        """Which of the two is the transcript, by the rule that `resolve_pair` follows."""
        try:
            stored = gunzip(compressed, self._most)
        except (Damaged, TooLarge):
            return plain
        if plain == stored or is_edit(decode(plain), decode(stored)):
            return plain
        return stored

    def _look(self, memory_id: str) -> RecallStat:
        plain: os.stat_result | None = None
        packed: os.stat_result | None = None
        aside: list[str] = []
        artifacts: tuple[Artifact, ...] = ()
        for entry in self._list(_folder(memory_id)):
            if entry.name == "artifacts":
                artifacts = self._artifacts(memory_id)
            elif not entry.is_file(follow_symlinks=False):
                continue
            elif entry.name == "transcript.md":
                plain = entry.stat(follow_symlinks=False)
            elif entry.name == "transcript.md.gz":
                packed = entry.stat(follow_symlinks=False)
            elif entry.name.startswith(_SET_ASIDE):
                aside.append(f"{recall_dir(memory_id)}/{entry.name}")
        shown = plain or packed
        return RecallStat(
            _form(plain is not None, packed is not None),
            shown.st_size if shown else 0,
            shown.st_mtime_ns if shown else 0,
            artifacts,
            tuple(aside),
        )

    def _read_artifact(self, memory_id: str, name: str) -> bytes:
        known = self._artifacts(memory_id)
        for artifact in known:
            if same_name(artifact.name, name):
                data = self._files.read(artifact.path)
                if artifact.compressed:
                    data = self._unpack(memory_id, artifact.path, data)
                return unquieten(artifact.name, data)
        raise NotFound("artifact", name, [a.name for a in known][:5])

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        """What is in a folder, by name; nothing when it is not there."""
        try:
            with os.scandir(self._files.path(folder)) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _artifacts(self, memory_id: str) -> tuple[Artifact, ...]:
        folder = f"{_folder(memory_id)}/artifacts"
        entries = [e for e in self._list(folder) if not e.name.startswith(".")]
        names = {entry.name for entry in entries}
        found = []
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                continue
            compressed = _is_gz(entry.name)
            name = entry.name[:-3] if compressed else entry.name
            if not compressed or name not in names:
                size = entry.stat(follow_symlinks=False).st_size
                found.append(Artifact(name, f"{folder}/{entry.name}", size, compressed))
        if AS_IS in names:
            for entry in self._list(f"{folder}/{AS_IS}"):
                if entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    found.append(Artifact(entry.name, f"{folder}/{AS_IS}/{entry.name}", size))
        return tuple(found)

    def _artifact_pairs(self, memory_id: str) -> list[str]:
        folder = f"{_folder(memory_id)}/artifacts"
        entries = self._list(folder)
        names = {e.name for e in entries if e.is_file(follow_symlinks=False)}
        return [f"{folder}/{name}" for name in sorted(names) if f"{name}.gz" in names]


_Found = TypeVar("_Found")


def _despite_changes(look: Callable[[], _Found]) -> _Found:
    """Look again when a file is compressed or decompressed between listing and reading it."""
    for _ in range(9):
        with suppress(FileNotFoundError):
            return look()
    return look()


def _folder(memory_id: str) -> str:
    if not MEMORY_ID.fullmatch(memory_id):
        raise NotFound("memory", memory_id)
    return recall_dir(memory_id)


def _places(memory_id: str) -> tuple[str, str]:
    _folder(memory_id)
    plain = transcript_path(memory_id)
    return plain, f"{plain}.gz"


def _form(plain: bool, packed: bool) -> Form:
    if plain:
        return "both" if packed else "plain"
    return "gzip" if packed else "missing"


def _is_gz(name: str) -> bool:
    return name.lower().endswith(".gz")
