"""Finds the Chromium that the viewer's tests drive, and sees to one where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def installed() -> str | None:
    """The path of a Chromium on this machine: `CHROMIUM`, the path, or Playwright's own."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    for place in (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ):
        if Path(place).exists():
            return place
    return _playwrights()


def _playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _install() -> None:
    """Debian's package where we may, else Playwright's own download."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=env, **quiet)
        done = subprocess.run(
            ["apt-get", "install", "-y", "-qq", "chromium"], check=False, env=env, **quiet
        )
        if done.returncode == 0 and installed():
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if installed() is None:
        print("Installing Chromium for the viewer's tests.")
        _install()
    if installed() is None:
        sys.exit("No Chromium was found; install it, or name it in the variable CHROMIUM.")
