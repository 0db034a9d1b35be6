"""Machines that share a vault by git, for tests: what people and AIs do on each, what must hold.

Every piece of text that is written is a word of its own (`w17`), so that at the end it can be told
which are still somewhere in the vault.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from neurigraph.errors import NeurigraphError
from neurigraph.memory import Memory
from neurigraph.model import Conversation
from neurigraph.settings import IndexSettings, Settings, SyncSettings, VaultSettings
from neurigraph.sync.drivers import GZIP, NOTE
from neurigraph.vault.layout import is_conflict_copy
from neurigraph.vault.note import read_note, text
from neurigraph.vault.packing import decode, gunzip

WORD = re.compile(r"\bw\d+w\b")
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
MARKERS = re.compile(rb"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE)

SETTINGS = Settings(
    index=IndexSettings(embedder="none"),  # type: ignore[call-arg]
    vault=VaultSettings(settle_seconds=0),  # type: ignore[call-arg]
    sync=SyncSettings(enabled=True),  # type: ignore[call-arg]
)


def git(folder: Path, *words: str, ok: tuple[int, ...] = (0,)) -> str:
    """What a git command prints; it must end with one of these codes."""
    done = subprocess.run(
        ["git", *IDENTITY, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    assert done.returncode in ok, f"git {words}: {done.stdout}{done.stderr}"
    return done.stdout


class Words:
    """The words that were ever written on any machine, and those deliberately deleted."""

    def __init__(self) -> None:
        self.written: set[str] = set()
        self.deleted: set[str] = set()

    def new(self) -> str:
        """A word that nobody has written."""
        word = f"w{len(self.written)}w"
        self.written.add(word)
        return word

    def delete(self, data: bytes) -> None:
        """All words in these bytes are deleted, as their writer wants it."""
        self.deleted |= set(WORD.findall(data.decode("utf-8", "replace")))


class Clock:
    """The machine's time, which can be moved on."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def __call__(self):  # type: ignore[no-untyped-def]  # a Clock of the daemon's
        from neurigraph.clock import system_clock

        return system_clock() + self.ahead


class People:
    """A clone of the vault on one machine, and what people do there, daemon or not."""

    def __init__(self, name: str, folder: Path, remote: Path, words: Words) -> None:
        self.name, self.vault, self.words = name, folder / name, words
        self.remote = remote
        self.state = folder / f"{name} state"
        git(folder, "clone", "-q", str(remote), str(self.vault))
        for key, value in (("user.name", name), ("user.email", f"{name}@localhost")):
            git(self.vault, "config", key, value)

    # -- what a machine of one kind or another does in its own way

    def seen(self, *paths: str) -> None:
        """The watcher has noticed these."""

    def follow(self) -> None:
        """The daemon has noticed what another git did."""
        raise NotImplementedError

    def sync(self) -> None:
        """Sync at once."""
        raise NotImplementedError

    def is_offline(self) -> bool:
        """Whether the last sync found no network."""
        raise NotImplementedError

    def known(self) -> dict[str, bool]:
        """The memories that the daemon knows, by path: whether each has what belongs to it."""
        raise NotImplementedError

    # -- what there is

    def files(self) -> dict[str, bytes]:
        """Everything that git is to carry, by path."""
        return {
            path.relative_to(self.vault).as_posix(): path.read_bytes()
            for path in sorted(self.vault.rglob("*"))
            if path.is_file() and not {".git", ".trash", ".obsidian"} & set(path.parts)
        }

    def notes(self) -> list[str]:
        """The notes of people and of ours, without node notes and conflict copies."""
        return [
            path
            for path, data in self.files().items()
            if path.endswith(".md")
            and not path.startswith("_recall/")
            and not is_conflict_copy(path)
            and text(read_note(data).data.get("type")) not in ("broad", "focused")
        ]

    def folders(self) -> list[str]:
        """The folders that hold topics."""
        found = {path.rpartition("/")[0] for path in self.files() if not path.startswith("_recall")}
        return sorted(found - {""})

    # -- what people do

    def write(self, path: str) -> None:
        """Make a note by hand."""
        full = self.vault / path
        if full.exists():
            return self.append(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(f"# {path}\n\n{self.words.new()} is here\n\nthe end\n", "utf-8")
        return self.seen(path)

    def append(self, path: str) -> None:
        """Add a line at the end."""
        full = self.vault / path
        data = full.read_bytes()
        glue = b"" if data.endswith(b"\n") else b"\n"
        full.write_bytes(data + glue + f"{self.words.new()} at the end\n".encode())
        self.seen(path)

    def change_line(self, path: str, which: int) -> None:
        """Write another word into a line of the body."""
        full = self.vault / path
        note = read_note(full.read_bytes())
        lines = note.body.splitlines(keepends=True)
        lines = lines or ["\n"]
        at = which % len(lines)
        lines[at] = f"{self.words.new()} {lines[at].rstrip()}\n"
        head = note.raw[: len(note.raw) - len(note.body.encode())]
        full.write_bytes(head + "".join(lines).encode())
        self.seen(path)

    def delete_line(self, path: str, which: int) -> None:
        """Delete a line of the body."""
        full = self.vault / path
        note = read_note(full.read_bytes())
        lines = note.body.splitlines(keepends=True)
        if lines:
            self.words.delete(lines.pop(which % len(lines)).encode())
            head = note.raw[: len(note.raw) - len(note.body.encode())]
            full.write_bytes(head + "".join(lines).encode())
            self.seen(path)

    def edit_transcript(self, path: str) -> None:
        """Add to the transcript of a memory, by hand, when it lies there plain."""
        own = text(read_note((self.vault / path).read_bytes()).data.get("id"))
        place = f"_recall/{own}/transcript.md"
        if own.startswith("m-") and (self.vault / place).exists():
            self.append(place)

    def move(self, path: str, folder: str) -> None:
        """Move a note to another folder in a file manager."""
        new = f"{folder}/{path.rpartition('/')[2]}"
        if (self.vault / new).exists():
            return
        (self.vault / folder).mkdir(parents=True, exist_ok=True)
        (self.vault / path).rename(self.vault / new)
        self.seen(path, new)

    def rename_folder(self, folder: str, new: str) -> None:
        """Rename a folder with all that is in it."""
        if (self.vault / new).exists() or f"{new}/".startswith(f"{folder}/"):
            return
        (self.vault / new).parent.mkdir(parents=True, exist_ok=True)
        (self.vault / folder).rename(self.vault / new)
        self.seen(folder, new)

    def delete(self, path: str) -> None:
        """Delete a note in a file manager; its transcript stays where it is."""
        self.words.delete((self.vault / path).read_bytes())
        (self.vault / path).unlink()
        self.seen(path)

    def pull_plainly(self) -> None:
        """Commit and `git pull` by hand in a clone that does not know our merge.

        Where git cannot merge, the person keeps both versions of what was changed twice, and
        whatever is left of what was deleted on one side. Then the daemon notices.
        """
        self.follow()
        for name in (NOTE, GZIP):
            git(self.vault, "config", "--remove-section", f"merge.{name}", ok=(0, 128))
        git(self.vault, "add", "-A")
        git(self.vault, "commit", "-q", "-m", "by hand", ok=(0, 1))
        branch = git(self.vault, "branch", "--show-current").strip()
        git(self.vault, "fetch", "-q", "origin", ok=(0, 1, 128))
        if not git(self.vault, "ls-remote", "--heads", "origin", branch).strip():
            return
        git(self.vault, "merge", "-q", "--no-edit", f"origin/{branch}", ok=(0, 1))
        self._resolve()
        self.follow()

    def _resolve(self) -> None:
        listing = git(self.vault, "ls-files", "-u", "-z")
        stages: dict[str, set[str]] = {}
        for line in filter(None, listing.split("\0")):
            facts, _, path = line.partition("\t")
            stages.setdefault(path, set()).add(facts.split()[2])
        for path, found in stages.items():
            full = self.vault / path
            if found >= {"2", "3"}:
                theirs = subprocess.run(
                    ["git", "show", f":3:{path}"], cwd=self.vault, capture_output=True, check=True
                ).stdout
                git(self.vault, "checkout", "--ours", "--", path)
                beside = full.with_name(f"{full.stem} (theirs of {self.name}){full.suffix}")
                while beside.exists():
                    beside = beside.with_name(f"{beside.stem}+{beside.suffix}")
                beside.write_bytes(re.sub(rb"(?m)^id: .*\n", b"", theirs))
            elif "2" in found or "3" in found:
                git(self.vault, "checkout", "--ours" if "2" in found else "--theirs", "--", path)
            else:
                git(self.vault, "rm", "-q", "--cached", "--", path)
        git(self.vault, "add", "-A")
        if (self.vault / ".git" / "MERGE_HEAD").exists():
            git(self.vault, "commit", "-q", "--no-edit")
        self._keep_one_of_each()

    def _keep_one_of_each(self) -> None:
        """A person who finds a note in two places after a merge keeps one of them."""
        known: dict[str, str] = {}
        for path, data in self.files().items():
            own = text(read_note(data).data.get("id")) if path.endswith(".md") else ""
            if own and own in known and not path.startswith("_recall/"):
                if read_note(data).body == read_note((self.vault / known[own]).read_bytes()).body:
                    (self.vault / path).unlink()
                else:
                    (self.vault / path).write_bytes(re.sub(rb"(?m)^id: .*\n", b"", data))
            elif own:
                known[own] = path
        git(self.vault, "add", "-A")
        git(self.vault, "commit", "-q", "-m", "one of each", ok=(0, 1))


class Machine(People):
    """A machine whose Memory runs in this process, with a clock that can be moved on."""

    def __init__(self, name: str, folder: Path, remote: Path, words: Words) -> None:
        super().__init__(name, folder, remote, words)
        self.clock = Clock()
        self.state.mkdir(mode=0o700)
        self.memory = Memory(self.vault, self.state, SETTINGS, self.clock)
        self.memory.open()
        self.memory.catch_up()

    def close(self) -> None:
        """End it."""
        self.memory.close()

    def seen(self, *paths: str) -> None:
        """The watcher has noticed these."""
        self.memory.refresh(set(paths))

    def follow(self) -> None:
        """The daemon has noticed what another git did."""
        self.memory.reconcile()
        self.memory.sync.follow()

    def sync(self) -> None:
        """Sync at once."""
        self.memory.sync_now()

    def is_offline(self) -> bool:
        """Whether the last sync found no network."""
        return self.memory.sync_state()["state"] == "offline"

    def known(self) -> dict[str, bool]:
        """The notes that the Memory knows, node notes too."""
        library = self.memory._store.library
        return {
            r.path: r.kind != "memory"
            or (r.transcript is not None and r.transcript.form in ("plain", "gzip"))
            for r in library.records()
        }

    # -- what AIs and our interfaces do

    def save(self, topic: str) -> None:
        """Save a conversation."""
        word = self.words.new()
        talk = f"## User\n\nTell me of {word}.\n\n## Assistant\n\nIt is so.\n"
        self.memory.save(
            Conversation(talk, title=f"About {word}", summary=f"On {word}.", broad_topic=topic)
        )

    def forget_about(self, path: str) -> None:
        """Delete a memory through us: its note and its transcript go to the trash."""
        record = self.memory._store.library.at(path)
        if record is None or record.kind == "node":
            return self.delete(path)
        self.words.delete((self.vault / path).read_bytes())
        for stored in (self.vault / "_recall" / record.id).rglob("*"):
            if stored.is_file():
                self.words.delete(plain(stored.name, stored.read_bytes()))
        self.memory.delete_memory(record.id, "*")
        return None

    def cool(self) -> None:
        """Let a month pass and cool."""
        self.clock.ahead += timedelta(days=31)
        self.memory.cool(agree=True)

    def open(self, path: str) -> None:
        """Read a transcript."""
        record = self.memory._store.library.at(path)
        if record is not None and record.kind == "memory":
            try:
                self.memory.transcript(record.id)
            except NeurigraphError:
                return
            self.memory.wait_warm()


def plain(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gunzip(data)
    return decode(data).encode("utf-8", "replace")


def words_in(machine: People) -> set[str]:
    """Every word that is somewhere in the vault."""
    found: set[str] = set()
    for path, data in machine.files().items():
        found |= set(WORD.findall(plain(path, data).decode("utf-8", "replace")))
        found |= set(WORD.findall(path))
    return found


def check(machines: Sequence[People], words: Words) -> None:
    """What must hold once all have synced."""
    contents = [m.files() for m in machines]
    for machine, held in zip(machines, contents, strict=True):
        assert held.keys() == contents[0].keys(), (
            machine.name, sorted(held.keys() ^ contents[0].keys())
        )  # fmt: skip
        assert held == contents[0], machine.name
        assert not git(machine.vault, "status", "--porcelain").strip()
    missing = words.written - words.deleted - words_in(machines[0])
    assert not missing, f"lost: {sorted(missing)}"
    for path, data in contents[0].items():
        assert not MARKERS.search(data), f"markers in {path}"
        if path.endswith(".md"):
            note = read_note(data)
            assert note.writable, f"{path}: {note.problem}"
    ids = Counter(
        own
        for path, data in contents[0].items()
        if path.endswith(".md") and not path.startswith("_recall/") and not is_conflict_copy(path)
        if (own := text(read_note(data).data.get("id")))
    )
    assert not [own for own, number in ids.items() if number > 1], ids
    for machine in machines:
        known = machine.known()
        on_disk = {p for p in machine.files() if p.endswith(".md") and not p.startswith("_")}
        assert known.keys() == on_disk, (machine.name, known.keys() ^ on_disk)
        assert all(known.values()), (machine.name, [p for p, whole in known.items() if not whole])


def settle(machines: Sequence[People]) -> None:
    """Sync all until nobody has anything new."""
    for _ in range(4):
        for machine in machines:
            machine.sync()
        heads = {git(m.vault, "rev-parse", "HEAD") for m in machines}
        if len(heads) == 1:
            return
    raise AssertionError(f"no end: {heads}")


@contextmanager
def network(folder: Path, names: tuple[str, ...]) -> Iterator[tuple[list[Machine], Words]]:
    """Machines that share a new vault."""
    remote, words = shared(folder), Words()
    with ExitStack() as stack:
        machines = []
        for name in names:
            machine = Machine(name, folder, remote, words)
            stack.callback(machine.close)
            machines.append(machine)
        yield machines, words


def shared(folder: Path) -> Path:
    """A remote with a new vault in it."""
    folder.mkdir(parents=True, exist_ok=True)
    remote, seed = folder / "remote.git", folder / "seed"
    git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
    git(folder, "init", "-q", "-b", "main", str(seed))
    shutil.copy(Path(__file__).parent.parent / "vault_template" / ".gitattributes", seed)
    shutil.copy(Path(__file__).parent.parent / "vault_template" / ".gitignore", seed)
    (seed / "neurigraph.toml").write_text("[temperature]\nagreed = true\n", "utf-8")
    git(seed, "add", "-A")
    git(seed, "commit", "-q", "-m", "begin")
    git(seed, "push", "-q", str(remote), "main")
    return remote
