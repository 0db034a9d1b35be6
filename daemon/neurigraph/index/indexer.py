"""Keeps catalog, library and indexes in step with the disk: find the difference, then apply it.

One path serves all: the first look at a vault, a start after a year, one saved file. A look
never takes a file for deleted because a folder could not be read.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from neurigraph.clock import Clock
from neurigraph.errors import TooLarge, TranscriptMissing, VaultUnavailable
from neurigraph.events import EventBus
from neurigraph.index.catalog import Catalog, CatalogDamaged
from neurigraph.index.keyword import Document, IndexDamaged, KeywordIndex
from neurigraph.index.library import Library
from neurigraph.index.reading import Read, claimed_id, document, read_record, retold
from neurigraph.index.record import Record, Stamp, Told, TranscriptStamp, opening_of
from neurigraph.index.vector_feeder import VectorFeeder
from neurigraph.model import Problem
from neurigraph.vault.files import VaultFiles
from neurigraph.vault.layout import (
    Exclusions,
    Folder,
    Seen,
    Unreadable,
    is_scratch,
    scan,
    stranger_id,
)
from neurigraph.vault.note import read_note
from neurigraph.vault.recall import Recall, RecallStat

log = logging.getLogger(__name__)

CHUNK = 256
"""Notes that are read and committed together: small enough to answer others in between."""

RACY_NS = 2_000_000_000
"""A file written this shortly before it was looked at may change again within its mtime's grain."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Change:
    """One note that a look found changed. `before` is None for a new note, `after` for a gone one.

    `own` is true when the bytes are those that we wrote ourselves.
    """

    before: Record | None
    after: Record | None
    own: bool


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What we did to a memory's files: how it is stored now, and, when its note was written, the
    bytes that it holds and what it was told."""

    id: str
    stored: RecallStat
    note: bytes | None = None
    told: Told | None = None


@dataclass(slots=True)
class Outcome:
    """What a look found."""

    changes: list[Change] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        """Take in what another look found."""
        self.changes += other.changes
        self.moved |= other.moved


class Indexer:
    """Compares and applies. All looks are serial; searching needs no lock of the indexer's."""

    def __init__(
        self,
        files: VaultFiles,
        recall: Recall,
        catalog: Catalog,
        library: Library,
        keyword: KeywordIndex,
        feeder: VectorFeeder,
        exclusions: Exclusions,
        max_note_bytes: int,
        clock: Clock,
        events: EventBus,
    ) -> None:
        self._files, self._recall, self._catalog = files, recall, catalog
        self._library, self._keyword, self._feeder = library, keyword, feeder
        self._exclusions, self._max_note_bytes = exclusions, max_note_bytes
        self._clock, self._events = clock, events
        self._lock = threading.RLock()
        self._problems: dict[str, str] = {}
        self._unreadable: set[str] = set()
        self._keyword_behind = 0
        self._held: dict[str, str] = {}
        self._dirty: set[str] = set()
        self.on_damage: Callable[[], None] = lambda: None
        self.on_loss: Callable[[], None] = lambda: None

    # -- what others ask

    def problems(self) -> list[Problem]:
        """All that is wrong with files, by path."""
        with self._lock:
            return [Problem(p, text) for p, text in sorted(self._problems.items())]

    def note_problem(self, path: str, text: str) -> None:
        """List a problem that another part noticed; an empty text takes it off the list."""
        with self._lock:
            if text:
                self._problems[path] = text
            else:
                self._problems.pop(path, None)
        self._events.publish("problem")

    @property
    def keyword_behind(self) -> int:
        """How many notes full text does not hold yet."""
        return self._keyword_behind

    def is_stale(self, record: Record) -> bool:
        """Whether full text holds an older version of this note than the vault."""
        return self._held.get(record.id) != record.version or record.path in self._dirty

    def expect(self, paths: Iterable[str]) -> None:
        """Say that these files have changed and will be looked at soon."""
        self._dirty.update(paths)

    # -- start

    def load(self) -> None:
        """Take up what the catalog knows, and find out what the indexes really hold."""
        with self._lock:
            records = self._catalog.load()
            self._library.set_folders(self._catalog.folders())
            self._library.put(r.light() for r in records)
            self._library.set_redirects(self._catalog.redirects())
            self._held = self._keyword.contents()
            for record in records:
                self._list_problems(record)

    def rebuild_keyword(self, error: IndexDamaged) -> None:
        """Full text was damaged: begin it anew, so that the next comparison fills it."""
        log.warning("full text is built again: %s", error)
        with self._lock:
            self._keyword.begin_anew()
            self._held.clear()
        self.on_damage()

    def _apply_keyword(self, documents: list[Document], vanished: list[str]) -> bool:
        """Whether full text holds it now; where it cannot, the next comparison tries again."""
        try:
            try:
                self._keyword.apply(documents, vanished)
            except IndexDamaged as error:
                # what is saved is in the vault: it must be acknowledged all the same
                self.rebuild_keyword(error)
                self._keyword.apply(documents, [])
        except OSError as error:
            log.warning("full text cannot be written: %s", error)
            self.on_loss()
            return False
        return True

    def take_stock(self) -> None:
        """Find out again what full text really holds, when it may not be what was put there."""
        with self._lock:
            self._held = self._keyword.contents()

    # -- looking

    def reconcile(self, progress: Progress | None = None) -> Outcome:
        """Compare the whole disk with what is known, and bring everything up to date.

        Raises `VaultUnavailable` when the vault cannot be read or is suddenly empty.
        """
        with self._lock:
            seen, folders, unreadable = self._scan("")
            self._guard_root(bool(seen))
            known = {r.path: r for r in self._library.records()}
            on_disk = {s.path for s in seen}
            unknown = [u.path for u in unreadable if u.unknown]
            hidden = tuple(f"{path}/" for path in unknown)
            on_disk.update(unknown)
            gone = [p for p in known if p not in on_disk and not p.startswith(hidden)]
            kept = {f for f in self._library.folders() if f"{f}/".startswith(hidden)}
            self._library.set_folders(folders | kept)
            self._catalog.set_folders(folders | kept)
            self._list_unreadable(unreadable, "")
            recent = int(self._clock().timestamp() * 1e9) - RACY_NS
            wanted = [
                s for s in seen if not self._unchanged(known.get(s.path), s, recent_ns=recent)
            ]
            wanted.sort(key=lambda s: (len(s.path), s.path))
        outcome = self._apply(wanted, gone, progress)
        if not unknown:
            self._drop_unaccounted()
        return outcome

    def _drop_unaccounted(self) -> None:
        """Take out of full text what is of no note: one that died had not told the catalog yet."""
        with self._lock:
            known = {r.id for r in self._library.records()}
            surplus = [i for i in self._held if i not in known]
            if surplus:
                self._apply_keyword([], surplus)
                for memory_id in surplus:
                    self._held.pop(memory_id, None)

    def look(self, paths: Iterable[str]) -> Outcome:
        """Look at these files or folders, which may be new, changed, moved or gone."""
        seen: dict[str, Seen] = {}
        gone: set[str] = set()
        with self._lock:
            for path in self._with_transcripts_as_notes(paths):
                self._look_at(path, seen, gone)
            self._dirty.difference_update(paths)
        return self._apply(list(seen.values()), sorted(gone - set(seen)), None)

    def _look_at(self, path: str, seen: dict[str, Seen], gone: set[str]) -> None:
        if path and (self._exclusions.covers(path) or is_scratch(path.rpartition("/")[2])):
            return
        full = Path(self._files.root, path)
        try:
            status = full.stat()
        except (FileNotFoundError, NotADirectoryError):
            if self._surely_gone(path):
                under = path + "/"
                gone.update(
                    r.path
                    for r in self._library.records()
                    if r.path == path or r.path.startswith(under)
                )
                self._library.drop_folder(path)
            return
        except OSError as error:
            self.note_problem(path, f"cannot be read ({error.strerror}); mend its permissions")
            return
        if full.is_dir():
            found, folders, unreadable = self._scan(path)
            self._list_unreadable(unreadable, path)
            self._library.add_folders(folders | ({path} if path else set()))
            seen.update((s.path, s) for s in found)
            return
        if path.lower().endswith(".md"):
            if full.is_symlink():
                self.note_problem(path, "is a link; only real files inside the vault are read")
                return
            self._library.add_folders(_parents(path))
            found_here = Seen(path, status.st_size, status.st_mtime_ns, status.st_ino)
            if not self._is_our_own(found_here):
                seen[path] = found_here

    def _is_our_own(self, seen: Seen) -> bool:
        """Whether this file stands as we wrote it, and what we wrote is taken up already.

        A cooling cycle makes many events, and none of its notes is to be read again for them.
        """
        record = self._library.at(seen.path)
        return (
            record is not None
            and seen.path not in self._dirty
            and self._unchanged(record, seen, recent_ns=sys.maxsize)
            and self._files.is_own_write(record.path, record.digest)
        )

    def _with_transcripts_as_notes(self, paths: Iterable[str]) -> list[str]:
        """A change in `_recall/<id>` is a change of the note with that id."""
        result = []
        for path in dict.fromkeys(paths):
            if not path.startswith("_recall/"):
                result.append(path)
                continue
            record = self._library.find(path.split("/")[1])
            if record is not None:
                result.append(record.path)
        return list(dict.fromkeys(result))

    def _surely_gone(self, path: str) -> bool:
        """Whether the folder that held a file can be read and does not hold it."""
        parent = Path(self._files.root, path).parent
        root = Path(self._files.root)
        if not root.is_dir():
            return False
        while parent != root and not parent.exists():
            parent = parent.parent
        try:
            names = [entry.name for entry in parent.iterdir()]
        except OSError:
            return False
        name = path.rpartition("/")[2]
        if f".{name}.icloud" in names:
            return False
        return bool(names) or parent != root

    def _scan(self, under: str) -> tuple[list[Seen], set[str], list[Unreadable]]:
        seen, folders, unreadable = [], set(), []
        for found in scan(Path(self._files.root), self._exclusions, under):
            if isinstance(found, Seen):
                seen.append(found)
            elif isinstance(found, Folder):
                folders.add(found.path)
            else:
                unreadable.append(found)
        return seen, folders, unreadable

    def _guard_root(self, has_notes: bool) -> None:
        """An unmounted disk shows an empty folder: that is no reason to forget everything."""
        status = Path(self._files.root).stat()
        identity = f"{status.st_dev}:{status.st_ino}"
        known = self._catalog.fact("root")
        if known and known != identity and not has_notes and len(self._library):
            raise VaultUnavailable(
                str(self._files.root), "it is empty and not the folder it was; mount it again"
            )
        self._catalog.set_fact("root", identity)

    def _unchanged(self, record: Record | None, seen: Seen, recent_ns: int) -> bool:
        if record is None or record.twin_of:
            return False
        if record.stamp != Stamp(seen.size, seen.mtime_ns, seen.inode):
            return False
        if self._held.get(record.id) != record.version and record.kind != "node":
            return False
        if seen.mtime_ns > recent_ns:
            return False
        if record.kind != "memory":
            return True
        known = record.transcript
        try:
            now = self._recall.stat(record.id)
        except OSError:
            return False
        return known is not None and _restored(known, now) == known

    # -- applying

    def _apply(
        self, seen: Sequence[Seen], gone: Sequence[str], progress: Progress | None
    ) -> Outcome:
        outcome = Outcome()
        total = len(seen)
        leaving = {p: r for p in gone if (r := self._library.at(p)) is not None}
        self._keyword_behind = total
        for start in range(0, total, CHUNK):
            with self._lock:
                outcome.add(self._apply_chunk(seen[start : start + CHUNK], leaving))
            self._keyword_behind = total - min(start + CHUNK, total)
            if progress:
                progress(min(start + CHUNK, total), total)
        self._keyword_behind = 0
        if leaving:
            with self._lock:
                outcome.add(self._drop(leaving))
        if outcome.changes:
            self._publish(outcome)
        return outcome

    def _apply_chunk(self, seen: Sequence[Seen], leaving: dict[str, Record]) -> Outcome:
        outcome = Outcome()
        reads: list[tuple[Read, str]] = []
        documents: list[Document] = []
        vanished: list[str] = []
        fresh: dict[str, Record] = {}
        for item in seen:
            before = self._library.at(item.path)
            found = self._read(item, leaving, fresh)
            if found is None:
                continue
            read, transcript = found
            record = read.record
            fresh[record.id] = record
            reads.append(found)
            self._list_problems(record)
            if before is not None and before.id != record.id:
                vanished.append(before.id)
            source = before or self._moved_from(record, leaving)
            if source is not None and source.path != record.path:
                leaving.pop(source.path, None)
                self._forget_path(source, record, outcome, vanished)
            if record.kind != "node" and self._held.get(record.id) != record.version:
                documents.append(document(read, transcript))
            own = self._files.is_own_write(record.path, record.digest)
            if (
                source is None
                or source.digest != record.digest
                or source.path != record.path
                or source.transcript != record.transcript
            ):
                outcome.changes.append(Change(source, record, own))
        looked_at = {item.path for item in seen}
        vanished = [i for i in vanished if i not in fresh and not self._is_elsewhere(i, looked_at)]
        self._write(reads, documents, vanished)
        return outcome

    def _is_elsewhere(self, memory_id: str, looked_at: set[str]) -> bool:
        """Whether a note at another place has taken this id over in an earlier look."""
        holder = self._library.find(memory_id)
        if holder is None or holder.id != memory_id:
            return False
        return holder.path not in looked_at

    def _read(
        self,
        item: Seen,
        leaving: dict[str, Record],
        fresh: dict[str, Record],
    ) -> tuple[Read, str] | None:
        try:
            if item.size > self._max_note_bytes:
                return Read(_too_large(item, self._max_note_bytes), ""), ""
            raw = self._files.read(item.path)
        except OSError as error:
            self._problems[item.path] = f"cannot be read ({error.strerror}); mend its permissions"
            return None
        stamp = Stamp(item.size, item.mtime_ns, item.inode)
        claimed = claimed_id(read_note(raw).data) if b"\nid:" in raw or b"\rid:" in raw else ""
        twin_of = ""
        if claimed:
            holder = fresh.get(claimed) or self._library.find(claimed)
            if holder is not None and holder.path != item.path and holder.path not in leaving:
                if not Path(self._files.root, holder.path).exists():
                    leaving[holder.path] = holder
                elif self._still_claims(holder):
                    twin_of = claimed
        transcript: TranscriptStamp | None = None
        text = ""
        if claimed.startswith("m-") and not twin_of:
            try:
                transcript, text = self._read_transcript(claimed)
            except OSError as error:
                # a folder that cannot be looked into is no missing transcript: what is known stays
                place = f"_recall/{claimed}"
                self._problems[place] = f"cannot be read ({error.strerror}); mend its permissions"
                if self._library.find(claimed) is not None:
                    return None
                transcript = TranscriptStamp("missing")
        return read_record(item.path, raw, stamp, transcript, twin_of=twin_of), text

    def _still_claims(self, holder: Record) -> bool:
        """Whether a note's file holds its id yet: two that were swapped have each other's."""
        try:
            raw = self._files.read(holder.path)
        except OSError:
            return True
        return claimed_id(read_note(raw).data) == holder.id

    def _read_transcript(self, memory_id: str) -> tuple[TranscriptStamp, str]:
        status = self._recall.stat(memory_id)
        artifacts = tuple((a.name, a.size, a.compressed) for a in status.artifacts)
        if status.form == "missing":
            return TranscriptStamp("missing", artifacts=artifacts), ""
        try:
            text = self._recall.read(memory_id)
        except (TranscriptMissing, TooLarge) as error:
            self._problems[f"_recall/{memory_id}"] = str(error)
            return TranscriptStamp(
                status.form, status.size, status.mtime_ns, artifacts=artifacts
            ), ""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return (
            TranscriptStamp(
                form=status.form,
                size=status.size,
                mtime_ns=status.mtime_ns,
                digest=digest,
                opening=opening_of(text),
                artifacts=artifacts,
            ),
            text,
        )

    def _moved_from(self, record: Record, leaving: dict[str, Record]) -> Record | None:
        """The record of the same note at the place that it left, if it did."""
        if record.owned:
            holder = self._library.find(record.id)
            return holder if holder is not None and holder.path in leaving else None
        return next(
            (
                r
                for r in leaving.values()
                if not r.owned and r.digest == record.digest and record.stamp.size > 0
            ),
            None,
        )

    def _forget_path(self, old: Record, new: Record, outcome: Outcome, vanished: list[str]) -> None:
        self._library.remove([old.path])
        self._catalog.remove([old.path])
        self._problems.pop(old.path, None)
        if old.id != new.id:
            vanished.append(old.id)
            outcome.moved[old.id] = new.id
            self._catalog.redirect(old.id, new.id)
            self._library.set_redirects(self._catalog.redirects())

    def _write(
        self, reads: list[tuple[Read, str]], documents: list[Document], vanished: list[str]
    ) -> None:
        records = [read.record for read, _ in reads]
        if (documents or vanished) and self._apply_keyword(documents, vanished):
            for document_ in documents:
                self._held[document_.id] = document_.version
            for memory_id in vanished:
                self._held.pop(memory_id, None)
        try:
            with self._catalog.transaction():
                self._catalog.put(records)
                self._catalog.set_held("keyword", {d.id: d.version for d in documents})
        except CatalogDamaged as error:
            log.warning("the catalog cannot be written: %s", error)
            self.on_loss()
        self._library.put(r.light() for r in records)
        self._feeder.want([r for r in records if r.kind != "node"], vanished)

    def _drop(self, leaving: dict[str, Record]) -> Outcome:
        outcome = Outcome()
        ids = [
            r.id
            for r in leaving.values()
            if (now := self._library.find(r.id)) is None or now.path == r.path
        ]
        held = [i for i in ids if i in self._held]
        if held:
            self._apply_keyword([], held)
        for memory_id in held:
            del self._held[memory_id]
        self._catalog.remove(leaving)
        self._library.remove(leaving)
        self._feeder.want([], ids)
        twins = []
        for path, record in leaving.items():
            self._problems.pop(path, None)
            outcome.changes.append(Change(record, None, False))
            twins += [r.path for r in self._library.records() if r.twin_of == record.id]
        if twins:
            outcome.add(self.look(twins))
        return outcome

    # -- problems and news

    def _list_problems(self, record: Record) -> None:
        text = record.flagged or record.problem
        if record.twin_of:
            holder = self._library.find(record.twin_of)
            other = holder.path if holder else "another note"
            text = f"has the same id as {other}; delete one, or remove the id line from the copy"
        if text:
            self._problems[record.path] = text
        else:
            self._problems.pop(record.path, None)
        if record.kind == "memory":
            place = f"_recall/{record.id}"
            if record.transcript is None or record.transcript.form == "missing":
                self._problems[place] = (
                    f"the transcript of '{record.title}' is missing; restore it from a backup or "
                    "git, or delete the memory"
                )
            elif record.transcript.digest:
                self._problems.pop(place, None)

    def _list_unreadable(self, unreadable: list[Unreadable], under: str) -> None:
        """List what a look at this folder could not read, and no longer what it could again."""
        now = {item.path: item.reason for item in unreadable}
        within = f"{under}/" if under else ""
        for path in [p for p in self._unreadable if p not in now]:
            if path == under or path.startswith(within):
                self._unreadable.discard(path)
                self._problems.pop(path, None)
                record = self._library.at(path)
                if record is not None:
                    self._list_problems(record)
        self._unreadable.update(now)
        self._problems.update(now)

    def _publish(self, outcome: Outcome) -> None:
        changed = [c.after.id for c in outcome.changes if c.after and c.after.kind != "node"]
        nodes = [
            (c.after or c.before).id  # type: ignore[union-attr]  # one of them is always given
            for c in outcome.changes
            if (c.after or c.before).kind == "node"  # type: ignore[union-attr]
        ]
        removed = [c.before.id for c in outcome.changes if c.before and not c.after]
        if changed:
            self._events.publish("memory", ids=changed[:500], action="changed")
        if removed:
            self._events.publish("memory", ids=removed[:500], action="removed")
        if nodes:
            self._events.publish("node", ids=nodes[:500])

    # -- when we cool and warm

    def restamp(self, written: Iterable[Rewritten]) -> None:
        """Take up that we stored memories in another form, or told their notes of it.

        Texts are the same, so nothing is indexed again; where anything else has changed, the note
        is read anew.
        """
        fresh: list[Record] = []
        others: list[str] = []
        with self._lock:
            for item in written:
                record = self._library.find(item.id)
                if record is None or record.kind != "memory":
                    continue
                new = self._rewritten(record, item)
                if new is None:
                    others.append(record.path)
                else:
                    fresh.append(new)
            self._catalog.restamp(fresh)
            self._library.put(fresh)
            self._dirty.update(others)
        if others:
            self.look(others)

    def _rewritten(self, record: Record, item: Rewritten) -> Record | None:
        known, stored = record.transcript, item.stored
        if known is None or "missing" in (stored.form, known.form) or stored.form == "both":
            return None
        new = replace(record, transcript=_restored(known, stored))
        if item.note is None or item.told is None:
            return new
        try:
            status = Path(self._files.root, record.path).stat()
        except OSError:
            return None
        # somebody may have written after us
        if status.st_size != len(item.note):
            return None
        stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ino)
        return retold(new, item.note, stamp, item.told)

    # -- starting over

    def forget_everything(self) -> None:
        """Empty catalog and indexes, so that the next reconcile builds them from the vault."""
        with self._lock:
            paths = [r.path for r in self._library.records()]
            self._catalog.remove(paths)
            self._library.remove(paths)
            self._keyword.apply([], list(self._held))
            self._held.clear()
            self._problems.clear()
            self._feeder.forget_everything()


def _restored(known: TranscriptStamp, stored: RecallStat) -> TranscriptStamp:
    """The stamp of the same text in the form in which it is stored now."""
    return replace(
        known,
        form=stored.form,
        size=stored.size,
        mtime_ns=stored.mtime_ns,
        artifacts=tuple((a.name, a.size, a.compressed) for a in stored.artifacts),
    )


def _parents(path: str) -> set[str]:
    parts = path.split("/")[:-1]
    return {"/".join(parts[: i + 1]) for i in range(len(parts))}


def _too_large(item: Seen, most: int) -> Record:
    name = item.path.rpartition("/")[2]
    return replace(
        Record(
            path=item.path,
            kind="note",
            id=stranger_id(item.path),
            stamp=Stamp(item.size, item.mtime_ns, item.inode),
            digest=f"size:{item.size}:{item.mtime_ns}",
            title=name[:-3],
            version=f"large:{item.size}:{item.mtime_ns}",
            text_version="",
        ),
        problem=(
            f"is {item.size / 1e6:.0f} MB, more than the {most / 1e6:.0f} MB that are indexed; "
            "split it, or raise index.max_note_bytes"
        ),
        writable=False,
    )
