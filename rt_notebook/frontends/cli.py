"""`rt-notebook`: which command is meant, its help, and the exit status.

Light to start: each command loads what it needs. What the commands do stands in the `cli_`
modules, `agent`, `mcp` and `setup`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from rt_notebook.errors import RoundtableError, one_line
from rt_notebook.frontends.cli_words import (
    CommandLineError,
    command_help,
    find_command,
    main_help,
    read_words,
)

OK: Final = 0
ERROR: Final = 1
WRONG_LINE: Final = 2
INTERRUPTED: Final = 130


def main(words: Sequence[str] | None = None) -> int:
    """Carry out a command line and return its exit status.

    Args:
        words: the words behind the program's name; None: this process's.
    """
    words = list(sys.argv[1:] if words is None else words)
    try:
        status = _help(words) if _asks_help(words) else _run(words)
        sys.stdout.flush()
        return status
    except CommandLineError as exc:
        _complain(exc)
        return WRONG_LINE
    except RoundtableError as exc:
        _complain(exc)
        return ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as exc:
        # An edge: who read our output has gone (a closed pipe, a closed terminal).
        _let_go_of_output()
        return INTERRUPTED if exc.errno == errno.EIO else ERROR


def _asks_help(words: Sequence[str]) -> bool:
    return not words or words[0] == "help" or "--help" in words or "-h" in words


def _help(words: Sequence[str]) -> int:
    names = [word for word in words if not word.startswith("-") and word != "help"]
    if not names:
        print(main_help())
        return OK if words else WRONG_LINE
    command = find_command(names[0])
    print(_HELP.get(command.name, lambda: command_help(command))())
    return OK


def _run(words: Sequence[str]) -> int:
    if words[0] == "--version":
        from importlib.metadata import version

        print(version("rt-notebook"))
        return OK
    command = find_command(words[0])
    return _DO[command.name](list(words[1:]))


def _agent(words: list[str]) -> int:
    from rt_notebook.frontends.agent import main as agent

    return agent(words)


def _run_debate(words: list[str]) -> int:
    from rt_notebook.frontends.cli_run import run

    return run(words)


def _by_id(name: str) -> Callable[[list[str]], int]:
    def do(words: list[str]) -> int:
        found = read_words(find_command(name), words)
        from rt_notebook.frontends import cli_run

        runs: dict[str, Callable[..., int]] = {
            "watch": cli_run.watch,
            "resume": cli_run.resume,
            "extend": cli_run.extend,
            "verdict": cli_run.verdict,
        }
        return runs[name](found)

    return do


def _looking(name: str) -> Callable[[list[str]], int]:
    def do(words: list[str]) -> int:
        found = read_words(find_command(name), words)
        from rt_notebook.frontends import cli_look

        looks: dict[str, Callable[..., int]] = {
            "list": cli_look.list_debates,
            "show": cli_look.show,
            "export": cli_look.export,
            "delete": cli_look.delete,
            "lab": cli_look.lab,
        }
        return looks[name](found)

    return do


def _doctor(words: list[str]) -> int:
    found = read_words(find_command("doctor"), words)
    if (damaged := found.flags.get("recover")) is not None:
        from rt_notebook.frontends.doctor_recover import main as recover

        return recover(damaged)
    from rt_notebook.frontends.doctor import main as doctor

    return doctor(words)


def _mcp(words: list[str]) -> int:
    read_words(find_command("mcp"), words)
    from rt_notebook.frontends.mcp import main as serve

    return serve()


def _setup(words: list[str]) -> int:
    found = read_words(find_command("setup"), words)
    from rt_notebook.frontends.setup import setup

    return setup(found)


def _run_help() -> str:
    from rt_notebook.frontends.cli_help import run_help

    return run_help()


def _agent_help() -> str:
    from rt_notebook.frontends.agent_table import agent_help

    return agent_help()


def _mcp_help() -> str:
    from rt_notebook.frontends.cli_help import mcp_help

    return mcp_help()


def _complain(error: RoundtableError) -> None:
    # What names a verb to go on with names it as a notebook's cell takes it.
    verb = error.facts.get("verb", "")
    text = str(error).replace(f"%roundtable {verb}", f"rt-notebook {verb}") if verb else str(error)
    print(f"rt-notebook: {one_line(text)}", file=sys.stderr)


def _let_go_of_output() -> None:
    """Keep Python from complaining about what it can't flush at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nothing, stream.fileno())


_DO: Final[dict[str, Callable[[list[str]], int]]] = {
    "run": _run_debate,
    **{name: _by_id(name) for name in ("watch", "resume", "extend", "verdict")},
    **{name: _looking(name) for name in ("list", "show", "export", "delete", "lab")},
    "doctor": _doctor,
    "agent": _agent,
    "mcp": _mcp,
    "setup": _setup,
}
_HELP: Final[dict[str, Callable[[], str]]] = {
    "run": _run_help,
    "agent": _agent_help,
    "mcp": _mcp_help,
}
