"""Finds the Chromium that the browser tests drive, or installs the system's own package of it."""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_PACKAGES = ("chromium", "fonts-liberation")


class ChromiumError(OSError):
    """No browser and no way to get one; the message says what to do."""


def find_chromium() -> str | None:
    """Returns the browser's path: $CHROMIUM, or the first known name on PATH."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    return next((path for path in map(shutil.which, NAMES) if path), None)


def _apt_prefix() -> list[str] | None:
    """Returns what must stand before `apt-get` to install, or None where that can't be."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    # -n: fail rather than wait for a password that nobody may be there to type.
    if shutil.which("sudo") and not subprocess.run(["sudo", "-n", "true"], check=False).returncode:
        return ["sudo", "-n"]
    return None


def ensure_chromium() -> str:
    """Returns Chromium's path, installed by apt-get first where it is missing.

    Raises:
        ChromiumError: It is missing and can't be installed from here.
    """
    found = find_chromium()
    if found:
        return found
    prefix = _apt_prefix()
    if prefix is None or os.environ.get("CHROMIUM"):
        raise ChromiumError(
            "the browser tests need Chromium: run `apt-get install chromium` as root, or set "
            "CHROMIUM to the path of a Chromium or Chrome."
        )
    print("Installing Chromium from the system's packages …", flush=True)
    for step in (["update"], ["install", "-y", "--no-install-recommends", *_PACKAGES]):
        command = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *step]
        if subprocess.run(command, check=False).returncode:
            raise ChromiumError(f"`{' '.join(command)}` failed; see above.")
    found = find_chromium()
    if not found:
        raise ChromiumError("apt-get installed Chromium, but it is not on PATH.")
    return found
