"""Which processes belong to a call, and how they are ended: the child, what it started, and so on.

Uses the standard library alone and imports nothing of this package, because the watchdog runs
this file as its program: one process that outlives its parent and then ends the parent's calls.

A process belongs to a call when it descends from the child, shares the child's group or session,
or carries the call's mark in its environment. Tool children leave the group, and lose their
parent when that dies first; the mark stays with them. Where there is no `/proc`, `ps` tells the
family and the group, and the mark can't be seen.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

MARK_VARIABLE: Final = "RT_NOTEBOOK_CALL"
"""The environment variable that marks every process of a call; its value is the call's own."""

TERM_S: Final = 0.6
"""Seconds a process has to end by itself after SIGTERM."""

LIMIT_S: Final = 1.8
"""Seconds until what still lives is given up."""

_PROC: Final = "/proc"
_PS: Final = ("ps", "-axo", "pid=,ppid=,pgid=,stat=")
_DEAD: Final = "ZX"
_FIRST_PAUSE_S: Final = 0.005
_PAUSE_S: Final = 0.05


class Process(NamedTuple):
    """One row of the process table."""

    pid: int
    """Its number."""
    parent: int
    """Its parent's number."""
    group: int
    """Its process group."""
    session: int
    """Its session; 0 where that isn't known."""
    dead: bool
    """It has ended and waits to be collected."""
    start: str
    """When it started: with the number, this names a process for ever."""


def processes() -> dict[int, Process]:
    """Return the process table by number; empty where nothing tells it."""
    if os.path.exists(f"{_PROC}/self/stat"):
        rows = (_from_proc(name) for name in os.listdir(_PROC) if name.isdigit())
    else:
        rows = (_from_ps(line) for line in _ps_lines())
    return {row.pid: row for row in rows if row is not None}


def _from_proc(pid: str) -> Process | None:
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:
            # The command's name stands in parentheses and may itself hold some.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20:
        return None
    # A first thread that has ended shows as a zombie while others of its process still run.
    dead = fields[0].decode() in _DEAD and int(fields[17]) <= 1
    return Process(
        int(pid), int(fields[1]), int(fields[2]), int(fields[3]), dead, fields[19].decode()
    )


def _ps_lines() -> list[str]:
    try:
        done = subprocess.run(  # noqa: S603  (a fixed list)
            _PS, capture_output=True, encoding="utf-8", errors="replace", timeout=1, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.split("\n")


def _from_ps(line: str) -> Process | None:
    fields = line.split()
    if len(fields) < 4 or not all(field.isdigit() for field in fields[:3]):
        return None
    pid, parent, group = map(int, fields[:3])
    return Process(pid, parent, group, 0, fields[3][0] in _DEAD, "")


class Calls:
    """The processes of some calls, looked for again and again until none is left.

    Args:
        roots: each call's mark, and its child's number or 0 where that isn't known.
    """

    def __init__(self, roots: Mapping[str, int]) -> None:
        self._roots = {pid for pid in roots.values() if pid > 0}
        self._marks = [f"{MARK_VARIABLE}={mark}".encode() for mark in roots]
        # What belongs to a call goes on belonging to it, also when its parent has gone.
        self._known: dict[tuple[int, str], bool] = {}

    def alive(self) -> list[Process]:
        """Return the processes that live and belong to one of the calls."""
        table = processes()
        table.pop(os.getpid(), None)
        family = self._family(table)
        return [row for pid, row in table.items() if pid in family and not row.dead]

    def _family(self, table: dict[int, Process]) -> set[int]:
        children: dict[int, list[int]] = {}
        for row in table.values():
            children.setdefault(row.parent, []).append(row.pid)
        family: set[int] = set()
        queue = [row.pid for row in table.values() if self._belongs(row)]
        while queue:
            pid = queue.pop()
            if pid not in family:
                family.add(pid)
                self._known[pid, table[pid].start] = True
                queue.extend(child for child in children.get(pid, ()) if child in table)
        return family

    def _belongs(self, row: Process) -> bool:
        if {row.pid, row.group, row.session} & self._roots:
            return True
        key = row.pid, row.start
        if key not in self._known:
            self._known[key] = self._marked(row.pid)
        return self._known[key]

    def _marked(self, pid: int) -> bool:
        try:
            with open(f"{_PROC}/{pid}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except OSError:
            return False
        return any(mark in variables for mark in self._marks)


def end_calls(
    roots: Mapping[str, int], *, term_s: float = TERM_S, limit_s: float = LIMIT_S
) -> bool:
    """End every process of some calls: SIGTERM, after `term_s` SIGKILL, until `limit_s`.

    The child itself must not have been collected yet, or its number may name another process.

    Args:
        roots: each call's mark, and its child's number or 0.
        term_s: seconds between the two signals.
        limit_s: seconds in all.

    Returns:
        Whether none of them lives any more.
    """
    if os.name == "nt":
        return _end_on_windows(pid for pid in roots.values() if pid > 0)
    calls, started, pause = Calls(roots), time.monotonic(), _FIRST_PAUSE_S
    told: set[tuple[int, str, int]] = set()
    while alive := calls.alive():
        elapsed = time.monotonic() - started
        if elapsed >= limit_s:
            return False
        number = signal.SIGKILL if elapsed >= term_s else signal.SIGTERM
        for row in alive:
            if (row.pid, row.start, number) not in told:
                told.add((row.pid, row.start, number))
                _signal(row.pid, number)
        time.sleep(pause)
        pause = min(pause * 2, _PAUSE_S)
    return True


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:  # gone, or not ours to end
        return


def _end_on_windows(pids: Iterable[int]) -> bool:
    """End whole trees by `taskkill`; written by its documentation, never tried."""
    codes = []
    for pid in pids:
        command = ("taskkill", "/PID", str(pid), "/T", "/F")
        try:
            codes.append(
                subprocess.run(  # noqa: S603  (a fixed list and a number)
                    command, capture_output=True, timeout=LIMIT_S, check=False
                ).returncode
            )
        except (OSError, subprocess.SubprocessError):
            codes.append(1)
    return not any(codes)


def watch(lines: Iterator[bytes]) -> None:
    """Keep the list of running calls that `lines` tells; when they end, end those calls.

    Args:
        lines: `+ MARK PID FOLDER` when a call begins, with 0 until its child's number is known and
            the folder's name in hexadecimal; `- MARK` when it's over.
    """
    roots: dict[str, int] = {}
    folders: dict[str, str] = {}
    for line in lines:
        word, mark, pid, folder = [*line.decode("ascii", "replace").split(), "", "", "", ""][:4]
        if word == "+":
            roots[mark] = int(pid) if pid.isdigit() else 0
            folders[mark] = folder
        elif word == "-":
            roots.pop(mark, None)
    if roots:
        end_calls(roots)
    for mark in roots:
        if folders[mark]:
            shutil.rmtree(os.fsdecode(bytes.fromhex(folders[mark])), ignore_errors=True)


def main() -> None:
    """Be the watchdog: deaf to what ends its parent, until the pipe from there closes."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    watch(iter(sys.stdin.buffer.readline, b""))


if __name__ == "__main__":
    main()
