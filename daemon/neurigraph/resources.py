"""Where this machine keeps what is not the vault's, and where the package keeps its own files."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent
_SOURCE = _PACKAGE.parent.parent


def default_vault() -> Path:
    """The vault when none is named: `NEURIGRAPH_VAULT`, else `~/Neurigraph`."""
    named = os.environ.get("NEURIGRAPH_VAULT")
    return Path(named).expanduser() if named else Path.home() / "Neurigraph"


def state_dir(vault: Path) -> Path:
    """This machine's folder for a vault (indexes, access log, lock, token, log), not yet made.

    Keyed by the vault's real path, so that two ways to one folder share one daemon.
    `NEURIGRAPH_STATE` names another parent folder.
    """
    real = os.path.realpath(vault)
    key = hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = re.sub(r"[^A-Za-z0-9]+", "-", Path(real).name).strip("-")[:40] or "vault"
    parent = os.environ.get("NEURIGRAPH_STATE") or platformdirs.user_state_dir("neurigraph", False)
    return Path(parent) / f"{name}-{key}"


def make_state_dir(vault: Path) -> Path:
    """Make the state directory of a vault, readable by its owner alone, and answer it."""
    path = state_dir(vault)
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name == "posix":
        path.chmod(0o700)
    return path


def viewer_dir() -> Path:
    """The built viewer: inside an installed package, or beside the source."""
    packed = _PACKAGE / "_viewer"
    return packed if packed.is_dir() else _SOURCE / "viewer" / "dist"


def template_dir() -> Path:
    """The vault that a newcomer starts with."""
    packed = _PACKAGE / "_vault_template"
    return packed if packed.is_dir() else _SOURCE / "vault_template"
