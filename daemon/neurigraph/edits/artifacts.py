"""Files that belong to a memory: which may come in, and how a note lists them."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from neurigraph.edits.compose import artifact_link
from neurigraph.edits.desk import Desk
from neurigraph.errors import Forbidden, InvalidInput, TooLarge
from neurigraph.index.record import Record
from neurigraph.model import NewArtifact
from neurigraph.settings import ArtifactSettings
from neurigraph.vault.layout import same_name
from neurigraph.vault.note import read_note, set_keys, texts

Handed = Mapping[str, str]
"""An artifact as an AI hands it in: {name, path} or {name, base64}."""


def take_in(handed: Sequence[Handed], settings: ArtifactSettings) -> tuple[NewArtifact, ...]:
    """Read artifacts that a caller handed in.

    A path must lie, links resolved, in a folder that `artifacts.allowed_folders` names: a misled
    model must not pull a private key into the vault. Raises `Forbidden`, `TooLarge` or
    `InvalidInput`.
    """
    return tuple(_take_one(item, number, settings) for number, item in enumerate(handed))


def _take_one(item: Handed, number: int, settings: ArtifactSettings) -> NewArtifact:
    field = f"artifacts[{number}]"
    unknown = set(item) - {"name", "path", "base64"}
    if unknown or ("path" in item) == ("base64" in item):
        raise InvalidInput(field, "give a name, and either path or base64")
    if "base64" in item:
        if len(item["base64"]) > settings.max_bytes * 4 // 3 + 4:
            raise TooLarge(f"{field}: is larger than artifacts.max_bytes ({settings.max_bytes:,})")
        try:
            data = base64.b64decode(item["base64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInput(f"{field}.base64", f"is not base64 ({error})") from error
        return NewArtifact(item.get("name") or "artifact", data)
    return _read_file(item, field, settings)


def _read_file(item: Handed, field: str, settings: ArtifactSettings) -> NewArtifact:
    given = item["path"]
    path = _allowed(given, field, settings)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise InvalidInput(f"{field}.path", f"cannot be read ({error.strerror})") from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise InvalidInput(f"{field}.path", f"{given} is no ordinary file")
    with os.fdopen(handle, "rb") as file:
        if status.st_size > settings.max_bytes:
            raise TooLarge(f"{field}: is larger than artifacts.max_bytes ({settings.max_bytes:,})")
        if status.st_nlink > 1:
            raise Forbidden(f"{field}.path: {given} is a hard link, which is never followed")
        # a folder on the way could have been swapped for a link between check and opening
        if os.path.realpath(path) != str(path) or not os.path.samestat(status, path.stat()):
            raise Forbidden(f"{field}.path: {given} changed just now; try again")
        data = file.read(settings.max_bytes + 1)
    return NewArtifact(item.get("name") or path.name, data)


def _allowed(given: str, field: str, settings: ArtifactSettings) -> Path:
    """The real path of a file in an allowed folder, to which no link leads within that folder.

    Raises `Forbidden`.
    """
    try:
        wanted = Path(given).expanduser() if "\0" not in given else Path()
    except RuntimeError:  # ~ of somebody who is not on this machine
        wanted = Path()
    for folder in settings.allowed_folders:
        named = Path(folder).expanduser()
        real = Path(os.path.realpath(named))
        for root in (named, real):
            if not wanted.is_absolute() or ".." in wanted.parts or root not in wanted.parents:
                continue
            path = real / wanted.relative_to(root)
            if os.path.realpath(path) != str(path):
                raise Forbidden(f"{field}.path: {given} leads through a link, never followed")
            return path
    raise Forbidden(
        f"{field}.path: {given} is not in a folder that artifacts.allowed_folders names; "
        "hand the content in as base64, or ask the person to allow the folder in local.toml"
    )


def attach(desk: Desk, record: Record, artifacts: Sequence[NewArtifact]) -> None:
    """Store files with a memory and list them in its note; what it has already is not doubled."""
    known = record.transcript.artifacts if record.transcript else ()
    held = {desk.recall.read_artifact(record.id, name) for name, _, _ in known}
    links = [
        artifact_link(desk.recall.add_artifact(record.id, a.name, a.data))
        for a in artifacts
        if a.data not in held
    ]
    if not links:
        return

    def change(raw: bytes) -> bytes:
        listed = texts(read_note(raw).data.get("artifacts"))
        return set_keys(raw, {"artifacts": [*listed, *(x for x in links if x not in listed)]})

    desk.files.edit(record.path, change)
    desk.indexer.look([record.path])


def renew(desk: Desk, record: Record, artifact: NewArtifact) -> None:
    """Store a newer version of a file that grows, in the place of the one that it begins with."""
    for known, _, _ in record.transcript.artifacts if record.transcript else ():
        if same_name(known, artifact.name):
            data = desk.recall.read_artifact(record.id, known)
            if data and artifact.data.startswith(data):
                desk.recall.rewrite_artifact(record.id, known, artifact.data, data)
                desk.indexer.look([record.path])
                return
    attach(desk, record, [artifact])
