"""Disks that are full, or can't be written: real ones where this system lets a test mount them.

A mount is made in a mount namespace of the child that uses it, so that it is gone with the child.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.environment import ROOT, scrubbed_environment

_TMPFS = 'mount -t tmpfs -o size=8m,mode=700 tmpfs "$1"'
_READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
# The file can be written, its folder can't: another way to the file lies on top of it.
_READ_ONLY_FOLDER = (
    'mkdir "$1.way" && mount --bind "$1" "$1.way" && mount --bind "$1" "$1" && '
    'mount -o remount,ro,bind "$1" && mount --bind "$1.way/debates.db" "$1/debates.db"'
)
MOUNTS = {"tmpfs": _TMPFS, "read-only": _READ_ONLY, "read-only folder": _READ_ONLY_FOLDER}
"""What is done to a folder before a child begins."""


@functools.cache
def can_mount() -> bool:
    """Returns whether children can have mounts of their own."""
    try:
        done = subprocess.run(
            [*_unshared(), "mount -t tmpfs tmpfs /mnt"],
            capture_output=True,
            timeout=20,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def full_disks() -> list[str]:
    """Returns the kinds of full disks that there are here: `limit` works everywhere."""
    return ["limit", *(["tmpfs"] if can_mount() else [])]


def read_only_disks() -> list[str]:
    """Returns the kinds of disks that can't be written: `flag` is SQLite's own, without a disk."""
    return ["flag", *(["read-only", "read-only folder"] if can_mount() else [])]


def run_on(disk: str, folder: Path, home: Path, *words: str) -> list[dict[str, Any]]:
    """Runs a module on a disk and returns the JSON lines that it says.

    Args:
        disk: a name out of `MOUNTS`, or another one: then nothing is mounted.
        folder: where the disk is.
        home: the child's home, elsewhere.
        *words: the module and its arguments.
    """
    command = [sys.executable, "-m", *words]
    if disk in MOUNTS:
        script = f'{MOUNTS[disk]} && shift && exec "$@"'
        command = [*_unshared(), script, "sh", str(folder), *command]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=scrubbed_environment(home) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _unshared() -> list[str]:
    return ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c"]
