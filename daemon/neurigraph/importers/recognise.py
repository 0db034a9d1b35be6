"""Finds out what a file, folder or zip is, and opens it for reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from neurigraph.importers import export
from neurigraph.importers.kinds import ACCOUNT, DOCUMENTS, READABLE, Kind, sniff, zips_named
from neurigraph.importers.opened import TORN, Export, Part, why
from neurigraph.importers.source import (
    CHUNK,
    Bounds,
    Failed,
    FolderFiles,
    UnreadableExport,
    ZipFiles,
    shown,
)
from neurigraph.importers.stream import count_elements

WHAT_CAN_BE = (
    "what can be imported: exports of ChatGPT and Claude (zip or JSON), logs of Claude Code, "
    "Codex and Gemini CLI, markdown and text, and Neurigraph's own exports"
)
_LOOKED_AT = {".json", ".jsonl", ".ndjson", ".zip", ".md", ".markdown", ".txt", ".text", ".log", ""}
# what ChatGPT's export holds beside a conversations.json
_UNPACKED = {"chat.html", "export_manifest.json", "user.json", "conversation_asset_file_names.json"}


def recognise(path: Path, bounds: Bounds | None = None) -> Export:
    """What lies at this path, ready to be read.

    Raises `UnreadableExport`, with one line for people, where nothing can be imported: a file
    of another kind, one that is cut off or still being written, a zip that is a bomb.
    """
    found = Export(path.name or str(path), bounds=bounds or Bounds())
    try:
        if path.is_dir():
            _folder(path, found)
        elif path.is_file() or not path.exists():
            _file(path, found)
        else:
            # whoever opens a pipe waits until somebody writes into it
            raise UnreadableExport(path.name, "it is a pipe or a device; save it as a file first")
    except OSError as error:
        found.close()
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such file" if missing else f"it cannot be read ({why(error)})"
        raise UnreadableExport(str(path), reason) from error
    except UnreadableExport:
        found.close()
        raise
    return found


def _file(path: Path, found: Export) -> None:
    files = FolderFiles(path.parent)
    kind = sniff(lambda: files.open(path.name))
    if kind is Kind.ZIP:
        _zip(path, found)
    elif kind is Kind.CLAUDE_MANIFEST:
        _manifest(path, found)
    elif kind in READABLE:
        count = _counted(kind, lambda: files.open(path.name), found.bounds)
        if count is None:
            raise UnreadableExport(path.name, TORN)
        beside = kind is Kind.CHATGPT and any((path.parent / name).exists() for name in _UNPACKED)
        part = _part(files, path.name, kind, path, beside=beside)
        found.parts.append(replace(part, count=count))
    else:
        raise UnreadableExport(path.name, _refusal(kind))


def _refusal(kind: Kind) -> str:
    if kind is Kind.EMPTY:
        return "it holds no conversations"
    if kind is Kind.WEB_PAGE:
        return "it is a web page; import the zip or the JSON of the export instead"
    if kind is Kind.WIDE_JSON:
        return "it is JSON in UTF-16, as no export is; save it as UTF-8 and import that"
    return f"it is no export that is known ({kind}); {WHAT_CAN_BE}"


def _folder(path: Path, found: Export) -> None:
    if (path / export.MARKER).is_file():
        if not export.is_complete(path):
            raise UnreadableExport(found.name, "this export was not written to its end")
        found.folder = path
        return
    files = FolderFiles(path)
    parts: list[Part] = []
    for name in files.names():
        if PurePosixPath(name).suffix.lower() not in _LOOKED_AT:
            found.skipped["other file"] += 1
            continue
        try:
            _among_many(path, files, name, parts, found)
        except UnreadableExport as error:
            found.problems.append(Failed(name, error.reason))
        except OSError as error:
            found.problems.append(Failed(name, f"it cannot be read ({why(error)})"))
    found.problems += [Failed(path.name, problem) for problem in files.unreadable]
    found.parts += _without_attachments(parts, found.skipped)
    if not found.parts and not found.problems:
        raise UnreadableExport(found.name, f"nothing in this folder is known; {WHAT_CAN_BE}")


def _among_many(
    root: Path, files: FolderFiles, name: str, parts: list[Part], found: Export
) -> None:
    kind = sniff(lambda: files.open(name))
    if kind is Kind.ZIP:
        inner = Export(name, bounds=found.bounds)
        try:
            _zip(files.path(name), inner)
        except UnreadableExport as error:
            inner.close()
            if "no conversations" not in error.reason:
                raise
            found.skipped["zip without conversations"] += 1
            return
        found.parts += inner.parts
        found.skipped += inner.skipped
        found.zips += inner.zips
    elif kind not in READABLE:
        found.skipped["other file"] += 1
    else:
        count = _counted(kind, lambda: files.open(name), found.bounds)
        if count is None:
            found.problems.append(Failed(name, TORN))
            return
        identity, beside = f"{root.name}/{name}", kind is Kind.CHATGPT
        part = _part(files, name, kind, files.path(name), identity, beside)
        parts.append(replace(part, count=count))


def _part(
    files: FolderFiles,
    name: str,
    kind: Kind,
    path: Path,
    identity: str = "",
    beside: bool = False,
) -> Part:
    known = path.stat()
    return Part(
        kind=kind,
        name=name,
        size=known.st_size,
        open=lambda: files.open(name),
        files=FolderFiles(path.parent) if beside else None,
        modified=datetime.fromtimestamp(known.st_mtime, UTC),
        identity=identity,
    )


def _without_attachments(parts: list[Part], skipped: Counter[str]) -> list[Part]:
    """Leave out text that lies with an account's export, and prompts that sessions repeat."""
    homes = {PurePosixPath(part.name).parent for part in parts if part.kind in ACCOUNT}
    sessions = any(part.kind in (Kind.GEMINI, Kind.GEMINI_DOCUMENT) for part in parts)
    kept = []
    for part in parts:
        around = PurePosixPath(part.name).parents
        if part.kind is Kind.TEXT and any(home in around for home in homes):
            skipped["attachment of an export"] += 1
        elif part.kind is Kind.GEMINI_PROMPTS and sessions:
            skipped["prompts that sessions repeat"] += 1
        else:
            kept.append(part)
    return kept


def _zip(path: Path, found: Export) -> None:
    zipped = ZipFiles(path, found.bounds)
    found.zips.append(zipped)
    if export.MARKER in zipped.names():
        raise UnreadableExport(path.name, "unpack this export first, and import the folder")
    parts: list[Part] = []
    nested = False
    for name in zipped.names():
        last = PurePosixPath(name).name
        attachment = last.startswith(("file-", "file_", "._")) or name.startswith("__MACOSX/")
        if attachment or PurePosixPath(last).suffix.lower() not in _LOOKED_AT:
            continue
        opened = partial(zipped.open, name)
        with zipped.sound(name):
            kind = sniff(opened)
            nested = nested or kind is Kind.ZIP
            if kind not in READABLE:
                found.skipped["other file"] += 1
                continue
            count = _counted(kind, opened, found.bounds)
        if count is None:
            raise UnreadableExport(path.name, f"{shown(name)} in it is cut off in the middle")
        parts.append(
            Part(
                kind=kind,
                name=shown(name),
                size=zipped.size(name),
                open=opened,
                count=count,
                files=zipped if kind is Kind.CHATGPT else None,
                identity=f"{path.name}/{name}",
            )
        )
    found.parts += _without_attachments(parts, found.skipped)
    if not found.parts:
        what = "other zips; unpack it first" if nested else "no conversations that are known"
        raise UnreadableExport(path.name, f"the zip holds {what}")


def _manifest(path: Path, found: Export) -> None:
    wanted = zips_named(path.read_text("utf-8-sig", "replace"))
    missing = [name for name in wanted if not (path.parent / name).is_file()]
    for name in wanted:
        if name in missing:
            continue
        try:
            _zip(path.parent / name, found)
        except UnreadableExport as error:
            if "no conversations" not in error.reason:
                raise
            found.skipped["zip without conversations"] += 1
    if not found.parts:
        reason = f"it names {', '.join(wanted[:4])}; download them into the same folder first"
        raise UnreadableExport(path.name, reason)
    for name in missing:
        reason = "the manifest names it, and it is not beside it; download it and import again"
        found.problems.append(Failed(name, reason))


def _counted(kind: Kind, opened: Callable[[], BinaryIO], bounds: Bounds) -> int | None:
    """Read a file through once: how many conversations it holds, None when it is cut off.

    Reading ahead costs a hundredth of a second a megabyte, and means that a torn file is known
    before anything of it is imported. Logs and text have no end that could be missing.
    """
    if kind not in DOCUMENTS and kind is not Kind.OWN:
        return 1
    with opened() as stream:
        if kind is not Kind.OWN:
            return count_elements(stream, bounds.conversation)
        end = b""
        while data := stream.read(CHUNK):
            end = (end + data)[-4096:]
        return export.count_items(end)
