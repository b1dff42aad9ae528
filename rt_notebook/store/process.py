"""Which process this is, and whether another one is certainly dead.

Owns what a lease says about its holder. Where the system doesn't tell, the answer is "may be
alive" and the lease's own time limit decides.
"""

from __future__ import annotations

import functools
import os
import socket
import sys
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")
_BOOT_ID: Final = _PROC / "sys" / "kernel" / "random" / "boot_id"
_DEAD_STATES: Final = frozenset("ZXx")
# Places in /proc/PID/stat, counted after the command's closing bracket (man 5 proc: 3 and 22).
_STATE: Final = 0
_STARTED: Final = 19


class Process(NamedTuple):
    """A process as others can tell it from every other one."""

    pid: int
    """Its id on its host."""
    host: str
    """The host's name."""
    boot: str
    """The host's boot and the namespace of its process ids; empty where unknown."""
    started: int
    """Clock ticks from the boot to its start; 0 where unknown."""


def this_process() -> Process:
    """Return the calling process, also right after a fork."""
    return _describe(os.getpid())


@functools.lru_cache(maxsize=1)
def _describe(pid: int) -> Process:
    stat = _stat(pid)
    return Process(pid, socket.gethostname(), _boot(), stat[1] if stat else 0)


def is_dead(process: Process) -> bool:
    """Return True when `process` ran on this host, this boot, and certainly isn't any more."""
    mine = this_process()
    if (process.host, process.boot) != (mine.host, mine.boot):
        return False
    if not _may_exist(process.pid):
        return True
    stat = _stat(process.pid)
    if stat is None:
        return False
    state, started = stat
    # A zombie runs nothing; another start time is another process with the same id.
    return state in _DEAD_STATES or started != process.started


def _boot() -> str:
    try:
        boot = _BOOT_ID.read_text(encoding="ascii").strip()
        # Containers on one host share its boot id, and may share its name, but not process ids.
        return f"{boot}/{os.readlink(_PROC / 'self' / 'ns' / 'pid')}"
    except OSError:
        return ""


def _stat(pid: int) -> tuple[str, int] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rpartition(")")[2].split()
        return fields[_STATE], int(fields[_STARTED])
    except (OSError, ValueError, IndexError):
        return None


def _may_exist(pid: int) -> bool:
    if sys.platform == "win32":
        # There, signal 0 isn't a question but Ctrl-C.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
