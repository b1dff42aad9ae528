"""What `run` is to run: a cell's text or JSON, with the command line's own options before it.

Owns how a file becomes a debate's input. Starts nothing.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from rt_notebook.config import choose_research, choose_seats
from rt_notebook.contract.cell import CellBody, read_cell
from rt_notebook.contract.fill import fill_cell
from rt_notebook.contract.line import LineOptions, parse_line
from rt_notebook.contract.options import LINE_OPTIONS, Form, Option
from rt_notebook.errors import OptionError
from rt_notebook.frontends.agent_arguments import read_text
from rt_notebook.frontends.agent_schema import DebateInput, parse_json, read_input
from rt_notebook.frontends.cli_words import COMMANDS, CommandLineError, form

_OWN: Final = ("--json", "--fake")
_MAGIC: Final = re.compile(r"\s*%%roundtable(?:[ \t]+([^\r\n]*))?[ \t]*(?:\r\n|\r|\n|$)")
_JSON: Final = re.compile(r'\s*\{\s*["}]')


@dataclass(frozen=True)
class RunLine:
    """The command line of `run`."""

    file: str
    """The file, or `-`."""
    options: LineOptions
    """The options given on it."""
    json: bool
    """Print JSON only."""
    fake: bool
    """Nothing is called."""


@dataclass(frozen=True)
class Asked:
    """A debate that was read."""

    input: DebateInput
    """The debate."""
    options: LineOptions
    """The options of file and command line, the latter first."""
    notes: tuple[str, ...] = ()
    """What the person should know."""

    @property
    def api_billing(self) -> bool | None:
        """Whether commands are paid for by key: said on the command line, never by a file."""
        return self.options.api_billing


def read_run(words: Sequence[str]) -> RunLine:
    """Return what a command line of `run` says.

    Raises:
        CommandLineError: an option is unknown or has a bad value, or the file is missing.
    """
    rest = [word for word in words if word not in _OWN]
    files = _files(rest)
    if len(files) != 1:
        # A misspelt option's value looks like a second file: the option is told first.
        _parsed([word for word in rest if word.startswith("--") and _option(word) is None])
        problem = "needs a file, or - for standard input" if not files else "takes one file"
        raise CommandLineError(f"run {problem}; form: {form(COMMANDS['run'])}")
    file = rest.pop(files[0])
    options = _parsed(rest)
    if options.background:
        raise CommandLineError("run stays here; `rt-notebook agent start` starts a debate apart")
    for name in ("with_names", "context", "display"):
        if getattr(options, name):
            raise CommandLineError(f"--{name.removesuffix('_names')} belongs to a notebook's cell")
    return RunLine(file, options, "--json" in words, "--fake" in words)


def read_debate(line: RunLine) -> Asked:
    """Return the debate that a file holds.

    Raises:
        BriefError: the cell can't be read.
        SeatError: a seat's line can't.
        OptionError: the file, its line or its JSON doesn't fit.
    """
    text = read_text(line.file if line.file == "-" else _as_file(line.file))
    said = _decoded(text)
    if _JSON.match(said):
        data = read_input(DebateInput, parse_json(said)).model_dump(exclude_unset=True)
        return Asked(read_input(DebateInput, {**data, **_given(line.options, ())}), line.options)
    magic = _MAGIC.match(said)
    options = parse_line(magic[1] or "") if magic else LineOptions()
    if options.api_billing:
        raise OptionError("--api-billing can't stand in a file; say it on the command line")
    options = _merged(options, line.options)
    filled = fill_cell(
        read_cell(said[magic.end() :] if magic else said),
        with_names=options.with_names,
        context=options.context,
        values={},
    )
    data = {**_brief(filled.cell), **_given(options, filled.cell.seats)}
    research = choose_research(options.research, filled.cell.research)
    if research is not None:
        data["research"] = research if isinstance(research, str) else dict(research)
    return Asked(read_input(DebateInput, data), options, tuple(filled.warnings))


def _files(words: Sequence[str]) -> list[int]:
    """Return the places of the words that are neither options nor their values."""
    found, place = [], 0
    while place < len(words):
        word = words[place]
        option = _option(word)
        if word == "-" or not word.startswith("-"):
            found.append(place)
        elif option is not None and option.form is not Form.FLAG and "=" not in word:
            place += 1
        place += 1
    return found


def _option(word: str) -> Option | None:
    name = word.partition("=")[0].removeprefix("--")
    found = LINE_OPTIONS.get(name) or LINE_OPTIONS.get(name.removeprefix("no-"))
    return found if found is None or found.name == name or found.negatable else None


def _parsed(words: Sequence[str]) -> LineOptions:
    try:
        return parse_line(shlex.join(words))
    except OptionError as exc:
        text = str(exc).replace("%%roundtable --help", "rt-notebook run --help")
        raise CommandLineError(text, **exc.facts) from None


def _as_file(name: str) -> str:
    # A name that looks like JSON is still a name here.
    return os.path.join(os.curdir, name) if name.lstrip()[:1] in ("{", "[") else name


def _decoded(text: str | bytes) -> str:
    try:
        return text if isinstance(text, str) else text.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OptionError("the file isn't UTF-8 text", field="input") from None


def _merged(first: LineOptions, second: LineOptions) -> LineOptions:
    """Return two lines as one; the second goes before the first."""
    plain = LineOptions()
    chosen: dict[str, Any] = {}
    for entry in fields(LineOptions):
        mine, theirs = getattr(first, entry.name), getattr(second, entry.name)
        chosen[entry.name] = mine if theirs == getattr(plain, entry.name) else theirs
    chosen["limits"] = {**first.limits, **second.limits}
    return LineOptions(**chosen)


def _brief(cell: CellBody) -> dict[str, Any]:
    given = {name: value for name, value in cell.brief_fields().items() if value}
    return {n: list(v) if isinstance(v, tuple) else v for n, v in given.items()}


def _given(options: LineOptions, cell_seats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a line's options as fields of the input."""
    given: dict[str, Any] = options.settings()
    given.pop("api_billing", None)
    given = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}
    seats = choose_seats(options.seats, list(cell_seats))
    if seats is not None:
        given["seats"] = [seat if isinstance(seat, str) else _seat(seat) for seat in seats]
    for name in ("kind", "chairman", "observer", "store", "durability", "record", "record_mode"):
        if getattr(options, name) is not None:
            given[name] = getattr(options, name)
    if options.limits:
        given["limits"] = dict(options.limits)
    return given


def _seat(seat: Any) -> Any:
    # A seat that is only named is looked up, one with more is made.
    return seat["name"] if set(seat) == {"name"} else dict(seat)
