r"""Turns a `%%roundtable` cell into an `await`, so that the kernel's loop turns while it runs.

    # a comment            need not be in the way: the magic may stand below comments
    %%time                 stacked `%%time` and `%%capture` are done here, around the await;
    %%capture out          any other magic above is left alone, and calls the magic synchronously
    %%roundtable pay --rounds 2
    body

becomes `await ….run_cell_async('pay --rounds 2', 'body\n', (('time', ''), ('capture', 'out')))`.

Owns the reading of a cell's first lines and what the stacked magics do. Must not know what the
line's options or the body mean.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from asyncio import get_running_loop
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from IPython.core.magic_arguments import parse_argstring
from IPython.core.magics.execution import ExecutionMagics
from IPython.utils.capture import capture_output

NAME: Final = "roundtable"
"""The magic's name."""

_RUNNER: Final = "rt_notebook.frontends.cell_runner"
# As in IPython: a name, then a blank or nothing. `%%roundtable?` asks for help and isn't ours.
_MAGIC: Final = re.compile(r"%%(\w+)(?:[ \t]+(.*))?$", re.ASCII)


class SplitCell(NamedTuple):
    """A cell of ours, taken apart."""

    outer: tuple[tuple[str, str], ...]
    """The magics stacked above ours with their lines, outermost first."""

    line: str
    """What stands behind `%%roundtable`, trimmed."""

    body: str
    """Everything below, byte for byte."""


def split_cell(lines: list[str]) -> SplitCell | None:
    """Return the parts of a `%%roundtable` cell, or None for any other cell."""
    outer: list[tuple[str, str]] = []
    for number, text in enumerate(lines):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        found = _MAGIC.match(text.rstrip())
        if found is None:
            return None
        name, line = found[1], (found[2] or "").strip()
        if name == NAME:
            return SplitCell(tuple(outer), line, "".join(lines[number + 1 :]))
        if not _stacks(name, line):
            return None
        outer.append((name, line))
    return None


def _stacks(name: str, line: str) -> bool:
    # `%%time` with a line has options, or code that is to be timed as well: IPython's own.
    return name == "capture" or (name == "time" and not line)


def is_nested() -> bool:
    """Return whether a cell is running right now on this thread, so that `await` can't work.

    That is so when the user calls `run_cell`, and while another magic transforms its body.
    """
    try:
        get_running_loop()
    except RuntimeError:
        return False
    frame = sys._getframe(1)
    while frame.f_back is not None:
        code = frame.f_code
        if code.co_name == "run_code" and code.co_filename.endswith("interactiveshell.py"):
            return True
        frame = frame.f_back
    return False


class CellTransformer:
    """IPython calls it with each cell's lines.

    Args:
        ip: the shell it is installed in.
    """

    # The terminal asks whether the input is complete by running the transformers without side
    # effects. It must go on seeing `%%roundtable`, or a body could never be typed.
    has_side_effects = True

    def __init__(self, ip: Any) -> None:
        self._ip = ip

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the Python for a cell of ours, and any other cell as it was."""
        cell = split_cell(lines)
        if cell is None:
            return lines
        if not is_nested() and _awaits(self._ip):
            call = f"run_cell_async({cell.line!r}, {cell.body!r}, {cell.outer!r})"
            return [f"await __import__({_RUNNER!r}, fromlist=['*']).{call}\n"]
        if cell.outer:
            return lines  # IPython runs the outer magic, which brings the rest here again
        call = f"run_cell_sync({cell.line!r}, {cell.body!r})"
        return [f"__import__({_RUNNER!r}, fromlist=['*']).{call}\n"]


def _awaits(ip: Any) -> bool:
    """Return whether the shell awaits on asyncio: not after `%autoawait off` or `trio`."""
    return bool(ip.autoawait) and str(ip.loop_runner) == "asyncio"


def install(ip: Any) -> None:
    """Add the transformer to a shell; again is harmless."""
    remove(ip)
    transformer = CellTransformer(ip)
    transformers = ip.input_transformers_cleanup
    # First, because IPython's own steps strip what looks like a prompt from the body; and last,
    # for a cell that is indented or has prompts itself and shows as ours only after those steps.
    transformers.insert(0, transformer)
    transformers.append(transformer)


def remove(ip: Any) -> None:
    """Take the transformer out, that of an earlier load of this module too."""
    kept = [step for step in ip.input_transformers_cleanup if type(step).__module__ != __name__]
    ip.input_transformers_cleanup[:] = kept


@contextlib.contextmanager
def outer_magics(ip: Any, outer: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Do what the stacked `%%time` and `%%capture` do, around an await.

    After an error too, the time is printed and the captured output is there.
    """
    with contextlib.ExitStack() as stack:
        for name, line in outer:
            stack.enter_context(_timed() if name == "time" else _captured(ip, line))
        yield


@contextlib.contextmanager
def _timed() -> Iterator[None]:
    wall, processor = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        print(f"CPU times: {time.process_time() - processor:.2f} s")
        print(f"Wall time: {time.perf_counter() - wall:.2f} s")


@contextlib.contextmanager
def _captured(ip: Any, line: str) -> Iterator[None]:
    parse: Any = parse_argstring  # untyped in IPython
    arguments = parse(ExecutionMagics.capture, line)
    streams = (not arguments.no_stdout, not arguments.no_stderr, not arguments.no_display)
    with capture_output(*streams) as output:
        try:
            yield
        finally:
            if arguments.output:
                ip.user_ns[arguments.output] = output
