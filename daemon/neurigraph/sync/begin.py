"""Makes a vault ready to be carried by git: repository, remote, what git is to leave alone."""

from __future__ import annotations

import re
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from neurigraph.errors import Forbidden, InvalidInput
from neurigraph.resources import template_dir
from neurigraph.sync.git import Git
from neurigraph.sync.git_process import check_git
from neurigraph.sync.round import SyncStopped
from neurigraph.vault.files import VaultFiles

_SCHEMES = re.compile(r"(?:https?|ssh|git|file)://\S+")
_SCP = re.compile(r"(?:[\w.+-]+@)?[\w.-]+:(?!:)[^\s:].*")
_MARKS = ("neurigraph.toml", "_recall", ".neurigraph-tombstones", ".gitattributes")


def prepare(files: VaultFiles, git: Git, remote: str, url: str) -> list[str]:
    """Do what is missing and answer it in words. No note is touched.

    Raises `SyncStopped`, `InvalidInput`, `Forbidden`, `GitMissing` or `GitFailed`.
    """
    check_git()
    if url:
        _check_url(url)
    done = []
    if not git.is_repository():
        top = git.top()
        if top is not None:
            raise SyncStopped(
                f"the vault lies within another git repository, {top}; move it out of there first"
            )
        git.init()
        done.append("made a git repository in the vault")
    known = git.remote_url(remote)
    if url and not known:
        git.add_remote(remote, url)
        done.append(f"added the remote {remote}: {url}")
    elif url and known != url:
        raise InvalidInput(
            "remote", f"{remote} is {known} already; change it with: git remote set-url {remote} …"
        )
    arriving = join_remote(git, remote)
    names = [n for n in (".gitignore", ".gitattributes") if n not in arriving]
    return [*done, *(f"completed {name}" for name in names if _complete(files, name))]


def join_remote(git: Git, remote: str) -> frozenset[str]:
    """Begin on the remote's own branch, and refuse a repository that is something else.

    Raises `SyncStopped` when another branch is checked out here, `Forbidden` when the remote has
    files, none of them of a vault, and no common history. Answers the files that a vault with
    no commit of its own is about to get.
    """
    branches = git.remote_branches(remote) if git.remote_url(remote) else []
    branch, head = git.branch(), git.commit_of("HEAD")
    if not branches or not branch:
        return frozenset()
    if branch not in branches:
        if head:
            raise SyncStopped(
                f"the remote has the branch {branches[0]}, and {branch} is checked out here; "
                f"rename it with: git branch -m {branches[0]}"
            )
        git.begin_branch(branches[0])
        branch = branches[0]
    there = git.fetch(remote, branch)
    if not there or (head and git.merge_base(head, there)):
        return frozenset()
    paths = git.tree(there)
    ours = any(p.split("/")[0] in _MARKS for p in paths)
    notes = any(p.endswith(".md") and p.lower() != "readme.md" for p in paths)
    if paths and not ours and not notes:
        raise Forbidden(
            f"{remote} holds {len(paths)} files that are no vault; give the vault a repository of "
            "its own, an empty one"
        )
    return frozenset() if head else frozenset(paths)


def _check_url(url: str) -> None:
    # git runs what `ext::` and the like name, and takes what begins with a dash for an option
    local = Path(url).expanduser()
    fine = _SCHEMES.fullmatch(url) or (local.is_absolute() and local.exists())
    if url.startswith("-") or "::" in url or not (fine or _SCP.fullmatch(url)):
        raise InvalidInput(
            "remote", "must be an https or ssh address, user@host:path, or a folder that exists"
        )


def _complete(files: VaultFiles, name: str) -> bool:
    """Add the template's lines that a file lacks, at its end; what a person wrote there stays."""
    lines = (template_dir() / name).read_text("utf-8").splitlines()
    held = files.read(name).decode("utf-8", "replace") if files.exists(name) else ""
    known = {line.strip() for line in held.splitlines()}
    missing = [line for line in lines if line.strip() and line.strip() not in known]
    if not any(not line.startswith("#") for line in missing):
        return False
    text = "".join(f"{line}\n" for line in missing)
    if not files.exists(name):
        files.create(name, text.encode())
        return True
    files.edit(
        name, lambda raw: raw + (b"" if raw.endswith(b"\n") or not raw else b"\n") + text.encode()
    )
    return True


def write_enabled(local_toml: Path) -> None:
    """Set `[sync] enabled = true` in this machine's settings; all else in the file stays.

    Raises `InvalidInput` for a file that does not parse.
    """
    text = local_toml.read_text("utf-8-sig") if local_toml.exists() else ""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidInput(str(local_toml), f"{error}; mend or remove it") from error
    section = document.get("sync")
    if section is None:
        section = tomlkit.table()
        document["sync"] = section
    section["enabled"] = True
    beside = local_toml.with_name(f"{local_toml.name}.new")
    beside.write_text(tomlkit.dumps(document), "utf-8")
    beside.replace(local_toml)
