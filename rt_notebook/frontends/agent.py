"""`rt-notebook agent VERB`: JSON in, one JSON line out, for programs and coding agents.

Owns the line on stdout and the exit status. What the verbs do stands in `agent_verbs`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from rt_notebook.characters import escaped_json
from rt_notebook.errors import RoundtableError, one_line
from rt_notebook.frontends.agent_arguments import read_line
from rt_notebook.frontends.agent_errors import error_json
from rt_notebook.frontends.agent_next import CommandLines
from rt_notebook.frontends.agent_verbs import Caller, call
from rt_notebook.frontends.cli_words import CommandLineError

OK: Final = 0
FAILED: Final = 1
WRONG_LINE: Final = 2

logger = logging.getLogger(__name__)


def main(words: Sequence[str], write: Callable[[str], object] | None = None) -> int:
    """Carry out one command line and return its exit status.

    Args:
        words: the line behind `rt-notebook agent`.
        write: takes the one line; None: standard output.
    """
    if write is None:
        write = _write
    # Whatever else prints meanwhile is no part of the answer.
    with contextlib.redirect_stdout(sys.stderr):
        answer, status = _answer(words)
    write(json_line(answer))
    return status


def json_line(data: object) -> str:
    """Return data as one line of JSON, without characters that act on readers or terminals."""
    return escaped_json(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def _answer(words: Sequence[str]) -> tuple[dict[str, Any], int]:
    try:
        line = read_line(words)
        answer = call(line.verb.name, line.arguments, Caller(CommandLines(line.store), line.store))
    except CommandLineError as exc:
        return {"ok": False, "error": error_json(exc)}, WRONG_LINE
    except RoundtableError as exc:
        return {"ok": False, "error": error_json(exc)}, FAILED
    except Exception as exc:  # an edge: whoever reads this waits for one line of JSON
        logger.exception("an agent verb failed")
        message = one_line(f"{type(exc).__name__}: {exc}", 400)
        return {"ok": False, "error": {"kind": "internal", "message": message}}, FAILED
    return answer, OK if answer["ok"] else FAILED


def _write(line: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
