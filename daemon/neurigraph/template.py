"""Makes a new vault from the template that travels with the package."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from neurigraph.resources import template_dir

_ALWAYS = (".gitignore", ".gitattributes", "neurigraph.toml", ".obsidian", "_inbox", "Dashboards")


def make_vault(path: Path, *, empty: bool = False) -> None:
    """Make a vault in a folder that is absent or empty. Raises OSError.

    It is filled beside its place and then renamed, so that no half-made vault is left behind.
    """
    source = template_dir()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")

    def leave_out(folder: str, names: list[str]) -> set[str]:
        if not empty or Path(folder) != source:
            return set()
        return {n for n in names if n not in _ALWAYS}

    try:
        shutil.copytree(source, beside, ignore=leave_out)
        if path.is_dir():
            path.rmdir()
        beside.rename(path)
    finally:
        if beside.exists():
            shutil.rmtree(beside)
