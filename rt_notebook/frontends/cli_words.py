"""Reads the words of a command line by a small table a command; the texts of its help.

Owns the commands' names, flags and help. Loads almost nothing: help must cost no time, and a
mistake must start nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.contract.options import LIMIT_OPTIONS
from rt_notebook.errors import OptionError, nearest, one_line

# A number beyond this is none that anybody means, and float can't hold all of them.
_MOST: Final = 1e15


class CommandLineError(OptionError):
    """The command line is wrong: exit status 2."""


@dataclass(frozen=True)
class Command:
    """One command of `rt-notebook`."""

    name: str
    """What is typed."""
    usage: str
    """What follows it."""
    help: str
    """What it does."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """`flag`, `text`, `count`, `number` or `limit` by the flag's name without dashes."""
    least: int = 0
    """How many words without dashes it needs."""
    most: int = 0
    """How many it takes."""


_LIMITS: Final = dict.fromkeys(LIMIT_OPTIONS, "limit")
_STORE: Final = {"store": "text"}

COMMANDS: Final = {
    command.name: command
    for command in (
        Command(
            "run",
            "FILE|- [OPTIONS] [--unattended] [--json] [--fake]",
            "Run a debate here, with a live view and prompts in a terminal.",
        ),
        Command(
            "watch",
            "ID",
            "Show a debate that runs anywhere live, and answer its gates.",
            _STORE,
            1,
            1,
        ),
        Command(
            "resume",
            "ID [--max-calls N] [--max-calls-per-vendor a=5,b=3] [--max-tokens N] [--max-cost USD] "
            "[--max-minutes N] [--on-limit verdict|pause] [--json]",
            "Go on with an interrupted, failed or paused debate.",
            {**_STORE, **_LIMITS, "json": "flag"},
            1,
            1,
        ),
        Command(
            "extend",
            "ID [PROMPT] [--rounds N] [--mode continue|new] [--observer-prompt TEXT] [--json]",
            "Go on with a debate that is done: more rounds, then a new ending.",
            {
                **_STORE,
                "rounds": "count",
                "mode": "text",
                "observer-prompt": "text",
                "json": "flag",
            },
            1,
            2,
        ),
        Command(
            "verdict",
            "ID [--json]",
            "Ask the chairman (or the observer) again, from the saved replies.",
            {**_STORE, "json": "flag"},
            1,
            1,
        ),
        Command(
            "list",
            "[--status STATUS] [--limit N] [--json]",
            "The newest debates.",
            {**_STORE, "status": "text", "limit": "count", "json": "flag"},
        ),
        Command("show", "ID [--json]", "A debate's report.", {**_STORE, "json": "flag"}, 1, 1),
        Command(
            "export",
            "ID DIR",
            "Write decision record, transcript, log, report and tables into a folder.",
            _STORE,
            2,
            2,
        ),
        Command(
            "doctor",
            "[--live | --recover FILE]",
            "What is ready here, and what to do next; or recover a store that was set aside.",
            {"live": "flag", "recover": "text"},
        ),
        Command(
            "delete",
            "ID | --older-than DAYSd [--dry-run]",
            "Delete a debate, or those that ended so long ago, for good.",
            {**_STORE, "older-than": "text", "dry-run": "flag"},
            0,
            1,
        ),
        Command(
            "lab", "[DIR]", "Copy the quick start to DIR (here) and open JupyterLab.", {}, 0, 1
        ),
        Command("agent", "VERB ...", "JSON in, JSON out, for programs and coding agents."),
        Command("mcp", "", "The agent's verbs as MCP tools over standard input and output."),
        Command(
            "setup",
            "--client NAME|all [--remove] [--dry-run] | --status",
            "Add the MCP connection to claude, codex, gemini, opencode or antigravity.",
            {"client": "text", "remove": "flag", "dry-run": "flag", "status": "flag"},
        ),
    )
}
"""The commands in the order in which help shows them."""

_EXITS: Final = (
    "Exit status: 0 verdict or summary ready, 1 error, 2 wrong command line, 3 ended without one,\n"
    "130 interrupted. SIGTERM and SIGHUP act like Ctrl-C: what is finished is kept."
)


@dataclass
class Words:
    """A command line that was read."""

    given: list[str] = field(default_factory=list)
    """The words without dashes."""
    flags: dict[str, Any] = field(default_factory=dict)
    """Values by flag; those not given aren't there."""


def read_words(command: Command, words: Sequence[str]) -> Words:
    """Return what stands behind a command.

    Raises:
        CommandLineError: a flag is unknown or has a bad value, or there are too many words or few.
    """
    found, queue = Words(), list(words)
    while queue:
        word = queue.pop(0)
        if word.startswith("--"):
            _take_flag(command, word, queue, found)
        elif len(found.given) == command.most:
            raise CommandLineError(f"{command.name}: {one_line(word, 60)!r} is one word too many"
                                   f"; form: {form(command)}")  # fmt: skip
        else:
            found.given.append(word)
    if len(found.given) < command.least:
        raise CommandLineError(f"{command.name} needs more; form: {form(command)}")
    return found


def _take_flag(command: Command, word: str, queue: list[str], found: Words) -> None:
    name, equals, value = word[2:].partition("=")
    if name not in command.flags:
        hint = nearest(f"--{name}", [f"--{flag}" for flag in command.flags])
        raise CommandLineError(
            f"{command.name} has no option {one_line(word, 60)!r}{hint}; form: {form(command)}"
        )
    kind = command.flags[name]
    if name in found.flags:
        raise CommandLineError(f"--{name} is given twice")
    if kind == "flag":
        if equals:
            raise CommandLineError(f"--{name} takes no value")
        found.flags[name] = True
        return
    if not equals:
        if not queue:
            raise CommandLineError(f"--{name} needs a value")
        value = queue.pop(0)
    found.flags[name] = _value(name, kind, value)


def _value(name: str, kind: str, text: str) -> Any:
    if kind == "text":
        return text
    if kind == "limit":
        try:
            return LIMIT_OPTIONS[name].read(text)
        except OptionError as exc:
            raise CommandLineError(str(exc)) from exc
    try:
        value = int(text) if kind == "count" else float(text)
    except ValueError:
        value = math.nan
    if not -_MOST <= value <= _MOST:
        what = "a whole number" if kind == "count" else "a number"
        raise CommandLineError(f"--{name} takes {what}, got {one_line(text, 60)!r}")
    return value


def form(command: Command) -> str:
    """Return how a command is typed."""
    return f"rt-notebook {command.name} {command.usage}".rstrip()


def find_command(name: str) -> Command:
    """Return a command by its name.

    Raises:
        CommandLineError: there is none.
    """
    if name not in COMMANDS:
        raise CommandLineError(
            f"there is no command {one_line(name, 60)!r}{nearest(name[:60], COMMANDS)}; "
            "`rt-notebook --help` lists them"
        )
    return COMMANDS[name]


def main_help() -> str:
    """Return the help of `rt-notebook`."""
    lines = [
        f"  {command.name} {command.usage}".rstrip() + f"\n      {command.help}"
        for command in COMMANDS.values()
    ]
    return "\n".join(
        [
            "rt-notebook COMMAND: structured debates between models, here without a notebook.",
            "`rt-notebook COMMAND --help` says more; --help anywhere starts nothing.",
            "",
            *lines,
            "",
            "Commands on a debate take `last` for the newest, and --store PATH for another store.",
            _EXITS,
        ]
    )


def command_help(command: Command) -> str:
    """Return the help of one command."""
    return f"{form(command)}\n\n{command.help}"


def exits_help() -> str:
    """Return what the exit statuses mean."""
    return _EXITS
