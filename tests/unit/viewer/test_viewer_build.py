"""The build hook: it builds once for the same sources, and says in one line what is wrong."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def viewer(hook: ModuleType, tmp_path: Path) -> Path:
    folder = tmp_path / "viewer"
    for name in hook.SOURCES:
        path = folder / name
        if "." in name:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name, "utf-8")
        else:
            path.mkdir(parents=True)
            (path / "one.ts").write_text("1", "utf-8")
    return folder


def test_any_change_of_the_sources_asks_for_a_new_build(hook: ModuleType, viewer: Path) -> None:
    before = hook.sources_hash(viewer)
    assert hook.sources_hash(viewer) == before
    (viewer / "src" / "one.ts").rename(viewer / "src" / "two.ts")
    renamed = hook.sources_hash(viewer)
    (viewer / "src" / "two.ts").write_text("2", "utf-8")
    assert len({before, renamed, hook.sources_hash(viewer)}) == 3


def test_what_is_not_in_the_bundle_asks_for_none(hook: ModuleType, viewer: Path) -> None:
    before = hook.sources_hash(viewer)
    (viewer / "tests").mkdir()
    (viewer / "tests" / "x.test.ts").write_text("x", "utf-8")
    assert hook.sources_hash(viewer) == before


def test_a_bundle_made_from_the_same_sources_is_not_built_again(
    hook: ModuleType, viewer: Path, tmp_path: Path
) -> None:
    target = tmp_path / "built"
    target.mkdir()
    (target / "index.html").write_text("", "utf-8")
    (target / hook.STAMP).write_text(hook.sources_hash(viewer) + "\n", "utf-8")
    assert hook.build_viewer(viewer, target) is False


def test_missing_sources_are_named(hook: ModuleType, viewer: Path) -> None:
    (viewer / "index.html").unlink()
    with pytest.raises(hook.ViewerBuildFailed, match=r"there is no .*index\.html"):
        hook.sources_hash(viewer)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("npm error code ENOTFOUND", "registry cannot be reached"),
        ("npm error code EUSAGE", r"npm ci failed \(exit code 3\)"),
    ],
)
def test_a_failing_step_says_in_one_line_what_to_do(
    hook: ModuleType,
    tmp_path: Path,
    said: str,
    told: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    script = f"import sys; print({said!r}, file=sys.stderr); sys.exit(3)"
    with pytest.raises(hook.ViewerBuildFailed, match=told) as failed:
        hook.run([sys.executable, "-c", script], tmp_path, {}, "npm ci")
    assert "\n" not in str(failed.value)
