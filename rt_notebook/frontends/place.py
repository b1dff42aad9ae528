"""Where this code runs, and whether anybody can answer there: a kernel, a terminal, or neither."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Final

RESULT_VARIABLE: Final = "roundtable_result"
"""The notebook's variable that always holds the last result."""


@dataclass(frozen=True)
class Place:
    """What was found out about the running process."""

    shell: Any = None
    """The IPython shell, or None."""
    kernel: Any = None
    """The kernel behind it, or None."""
    stdin: bool = False
    """True where the kernel's front end lets a cell ask for input: somebody sits there."""
    terminal: bool = False
    """True where stdin and stdout are a terminal."""

    @property
    def attended(self) -> bool:
        """True where a person can be asked: a kernel with stdin, or a terminal."""
        return self.stdin if self.kernel is not None else self.terminal

    @property
    def headless_kernel(self) -> bool:
        """True under nbclient, papermill, nbconvert and their kind."""
        return self.kernel is not None and not self.stdin

    @property
    def variables(self) -> dict[str, Any]:
        """The notebook's variables; empty outside IPython."""
        return self.shell.user_ns if self.shell is not None else {}


def find_place() -> Place:
    """Return where this code runs; loads nothing."""
    shell = _shell()
    kernel = getattr(shell, "kernel", None)
    stdin = bool(kernel is not None and getattr(kernel, "_allow_stdin", False))
    return Place(shell, kernel, stdin, terminal=kernel is None and _is_terminal())


def _shell() -> Any:
    # Where IPython was never imported, nothing can run in it.
    module = sys.modules.get("IPython.core.getipython")
    shell = module.get_ipython() if module is not None else None
    return None if _is_inherited(getattr(shell, "kernel", None)) else shell


def _is_inherited(kernel: Any) -> bool:
    # A forked child (a pool of multiprocessing) has its parent's kernel: it can talk to no front
    # end, and reading the sockets would take the parent's messages.
    pid = getattr(getattr(kernel, "session", None), "pid", None)
    return isinstance(pid, int) and pid != os.getpid()


def _is_terminal() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):  # no stdin at all, or a closed one
        return False
