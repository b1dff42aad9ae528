"""Reads the line of `%roundtable VERB ...`: one table of verbs. Knows no IPython."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.contract.options import LIMIT_OPTIONS
from rt_notebook.errors import OptionError, nearest

_ANSWER: Final = re.compile(r"q\d+")


@dataclass(frozen=True)
class Verb:
    """One verb of the line magic."""

    name: str
    """What is typed."""
    usage: str
    """The line's form behind the name."""
    help: str
    """What it does."""
    options: tuple[str, ...] = ()
    """Its options, without dashes; each takes a value unless it ends in `!`."""
    needs_id: bool = False
    """True when it has no meaning without a debate."""
    answers: bool = False
    """True when `q1='…'` may follow."""
    folder: bool = False
    """True when a folder has to follow the id."""
    prompt: bool = False
    """True when words may follow the id."""
    stored: bool = True
    """True when it looks into a store, which `--store PATH` names."""

    @property
    def takes(self) -> tuple[str, ...]:
        """All its options, as in `options`."""
        return (*self.options, "store") if self.stored else self.options


VERBS: Final = {
    verb.name: verb
    for verb in (
        Verb("status", "[ID]", "the state of a debate"),
        Verb("show", "[ID]", "the result of a debate; `r = %roundtable show ID` keeps it"),
        Verb(
            "list",
            "[--status S] [--limit N]",
            "the newest debates, a data frame",
            ("status", "limit"),
        ),
        Verb("wait", "[ID] [--seconds N]", "block until there is something to do", ("seconds",)),
        Verb(
            "answer",
            "ID [--round N] q1='…' [--message '…'] [--seat NAME --text '…']",
            "answer an open gate, say a word in a discussion (--message alone), or give a human "
            "seat's reply",
            ("round", "message", "seat", "text"),
            needs_id=True,
            answers=True,
        ),
        Verb(
            "hold",
            "ID [--round N]",
            "extend an open gate by its own window",
            ("round",),
            needs_id=True,
        ),
        Verb("finish", "ID", "go to the verdict with the complete replies", needs_id=True),
        Verb("stop", "ID", "end now; completed replies are kept", needs_id=True),
        Verb(
            "resume",
            "[ID] [--max-calls N] [--max-calls-per-vendor a=5,b=3] [--max-tokens N] "
            "[--max-cost USD] [--max-minutes N] [--on-limit verdict|pause]",
            "go on with an interrupted, failed or paused debate",
            tuple(LIMIT_OPTIONS),
        ),
        Verb("verdict", "[ID]", "ask the chairman or observer again from the saved replies"),
        Verb(
            "extend",
            "ID [--rounds N] [--mode continue|new] [--observer-prompt '…'] ['PROMPT']",
            "add rounds to a debate that is done, then a new verdict or summary",
            ("rounds", "mode", "observer-prompt", "seats"),
            needs_id=True,
            prompt=True,
        ),
        Verb(
            "export",
            "ID DIR",
            "write decision record, transcript, log, report and tables into a folder",
            needs_id=True,
            folder=True,
        ),
        Verb("form", "[ID]", "show a background debate's form here", stored=False),
        Verb("delete", "ID", "delete a debate for good", needs_id=True),
        Verb("seats", "", "the seats that can be named here, a data frame", stored=False),
        Verb(
            "doctor",
            "[--live]",
            "what can be used here, why not, what to do",
            ("live!",),
            stored=False,
        ),
        Verb("config", "", "the files that are read, and what they say", stored=False),
        Verb("help", "", "this list", stored=False),
    )
}
"""The verbs of this version by name."""


@dataclass
class Command:
    """A line that was read."""

    verb: Verb
    """The verb."""
    id: str
    """The debate; `last` where none was given."""
    options: dict[str, str] = field(default_factory=dict)
    """Values by option name."""
    answers: dict[str, str] = field(default_factory=dict)
    """Answers by question id."""
    folder: str = ""
    """The folder behind the id; empty unless the verb takes one."""
    prompt: str = ""
    """The words behind the id; empty unless the verb takes some."""

    @property
    def store(self) -> str | None:
        """The store that was named; None: the one of the settings."""
        return self.options.get("store")


def read_verb(line: str) -> Command | None:
    """Return what a line asks for; None for an empty one.

    Raises:
        OptionError: one line that quotes what doesn't fit and offers the nearest.
    """
    words = _words(line)
    if not words:
        return None
    name = "help" if words[0] == "--help" else words[0]
    if name not in VERBS:
        raise OptionError(
            f"%roundtable has no verb {name!r}{nearest(name, VERBS)} (%roundtable help lists them)",
            option=name,
        )
    verb = VERBS[name]
    command = Command(verb, "last")
    ids = _take_words(command, words[1:])
    if verb.folder:
        command.folder = _take_folder(verb, ids)
    if verb.prompt:
        command.prompt = " ".join(ids[1:])
        del ids[1:]
    if len(ids) > 1:
        raise OptionError(
            f"%roundtable {name}: {ids[1]!r} is one word too many; form: {name} {verb.usage}"
        )
    if ids:
        command.id = ids[0]
    elif verb.needs_id:
        raise OptionError(
            f"%roundtable {name} needs the debate's id (or last); form: {name} {verb.usage}"
        )
    return command


def verbs_help() -> str:
    """Return the list of verbs as text."""
    lines = [
        f"  {verb.name} {verb.usage}".rstrip() + f"\n      {verb.help}" for verb in VERBS.values()
    ]
    head = "%roundtable VERB, for a debate's ID (or last); --store PATH looks into another store:\n"
    return head + "\n".join(lines)


def number(
    command: Command, name: str, kind: Callable[[str], Any] = int, default: float | None = None
) -> Any:
    """Return an option as a number; `default` where it isn't given.

    Raises:
        OptionError: it isn't one.
    """
    text = command.options.get(name)
    if text is None:
        return default
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise OptionError(f"--{name} {text!r} is not {what}", option=name) from None


def new_limits(command: Command) -> dict[str, Any] | None:
    """Return the limits that a resume changes; None when it changes none.

    Raises:
        OptionError: a value doesn't fit.
    """
    given = ((option, command.options.get(name)) for name, option in LIMIT_OPTIONS.items())
    return {option.key: option.read(text) for option, text in given if text is not None} or None


def _take_folder(verb: Verb, ids: list[str]) -> str:
    if len(ids) < 2:
        raise OptionError(
            f"%roundtable {verb.name} needs a debate's id (or last) and a folder; form: "
            f"{verb.name} {verb.usage}"
        )
    return ids.pop(1)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=False)
    except ValueError as exc:
        raise OptionError(
            f"%roundtable: {exc!s} in {line.strip()[:80]!r}: a quote isn't closed"
        ) from None


def _take_words(command: Command, words: list[str]) -> list[str]:
    ids: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word.startswith("--"):
            _take_option(command, word, queue)
        elif command.verb.answers and _ANSWER.fullmatch(word.partition("=")[0]) and "=" in word:
            key, _, text = word.partition("=")
            command.answers[key] = text
        elif command.verb.answers and ids:
            raise OptionError(
                f"%roundtable answer: {word[:60]!r} has no label; write q1='…' for a "
                "question, --message '…' for the rest"
            )
        else:
            ids.append(word)
    return ids


def _take_option(command: Command, word: str, queue: list[str]) -> None:
    name, given, value = word[2:].partition("=")
    if f"{name}!" in command.verb.options:
        if given:
            raise OptionError(f"--{name} takes no value, got {value[:60]!r}", option=name)
        command.options[name] = ""
        return
    if name not in command.verb.takes or name.endswith("!"):
        known = [f"--{option.removesuffix('!')}" for option in command.verb.takes]
        raise OptionError(
            f"%roundtable {command.verb.name} has no option --{name}{nearest('--' + name, known)}",
            option=name,
        )
    if not given:
        if not queue:
            raise OptionError(f"--{name} needs a value", option=name)
        value = queue.pop(0)
    if name in command.options:
        raise OptionError(f"--{name} is given twice", option=name)
    command.options[name] = value
