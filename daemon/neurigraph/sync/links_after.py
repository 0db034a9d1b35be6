"""Links after a merge: what one machine wrote leads to where another has moved the note."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from neurigraph.errors import NotWritable
from neurigraph.sync.contents import Contents
from neurigraph.sync.git import Entry
from neurigraph.sync.pairing import is_note
from neurigraph.sync.placing import Outcome, Sides
from neurigraph.vault.layout import nfc
from neurigraph.vault.note import replace_links


def same_targets(sides: Sides) -> Callable[[str], str]:
    """What a link's target is compared by: the note that it leads to, wherever it moved."""
    paths = {*sides.base.path.values(), *sides.ours.path.values(), *sides.theirs.path.values()}
    names = _Names({*sides.notes, *(p for p in paths if p.lower().endswith(".md"))})
    first: dict[str, str] = {}
    for side in (sides.ours, sides.theirs):
        for key, path in side.path.items():
            old = sides.base.path.get(key)
            if old is not None and old != path:
                first[path] = old

    def key_of(target: str) -> str:
        found = names.resolve(target)
        return f"note {first.get(found, found)}" if found else f"text {_bare(target)}"

    return key_of


def follow_links(
    placed: list[Outcome], sides: Sides, fixed: Mapping[str, Entry], contents: Contents
) -> None:
    """Rewrite the links of notes that one side changed to notes that the other has moved.

    Only the target's text changes; what leads somewhere still stays as it is.
    """
    after = _Names(_notes({one.path for one in placed} | set(fixed)))
    final = {one.key: one.path for one in placed}
    views = {
        name: (_Names(_notes({*side.files, *fixed})), _moved(side.path, final))
        for name, side in (("theirs", sides.theirs), ("ours", sides.ours))
    }
    for one in placed:
        seen = [view for name, view in views.items() if name in one.by and view[1]]
        if not seen or not is_note(one.path, one.entry):
            continue
        raw = contents[one.entry.oid]
        try:
            new = replace_links(raw, lambda target, s=seen: _new(target, s, after))  # type: ignore[misc]  # the default binds the loop's value
        except NotWritable:
            continue
        if new != raw:
            one.entry = contents.add(new, one.entry.mode)


def _notes(paths: Iterable[str]) -> Iterable[str]:
    return (path for path in paths if path.lower().endswith(".md"))


def _moved(side: Mapping[str, str], final: Mapping[str, str]) -> dict[str, str]:
    """Where the notes of a side are now that are not where that side had them."""
    return {
        path: new
        for key, path in side.items()
        if (new := final.get(key)) is not None and new != path and path.lower().endswith(".md")
    }


def _new(target: str, views: list[tuple[_Names, dict[str, str]]], after: _Names) -> str | None:
    """What a link becomes, that was written by somebody who saw the vault in one of these ways."""
    for names, moves in views:
        old = names.resolve(target)
        new = moves.get(old) if old else None
        if new is None or after.resolve(target) == new:
            continue
        ending = ".md" if target.lower().endswith(".md") else ""
        bare = new[: -len(".md")]
        leaf = bare.rpartition("/")[2]
        if "/" not in target and after.resolve(leaf) == new:
            return leaf + ending
        return bare + ending
    return None


class _Names:
    """Finds notes as links name them: by path, or by the end of it when only one has it."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: dict[str, str] = {}
        self._leaves: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            bare = _bare(path)
            self._paths[bare] = path
            self._leaves[bare.rpartition("/")[2]].append(path)

    def resolve(self, target: str) -> str:
        """The path of the note that a target names, or an empty text."""
        bare = _bare(target)
        if bare in self._paths:
            return self._paths[bare]
        found = [
            path
            for path in self._leaves.get(bare.rpartition("/")[2], ())
            if f"/{_bare(path)}".endswith(f"/{bare}")
        ]
        return found[0] if len(found) == 1 else ""


def _bare(path: str) -> str:
    bare = path[: -len(".md")] if path.lower().endswith(".md") else path
    return nfc(bare.strip().lstrip("/")).casefold()
