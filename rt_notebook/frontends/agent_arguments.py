"""The arguments of every agent verb, as Pydantic models: command line and MCP tools read them.

Owns the names, bounds and forms, and how words of a command line become arguments. Runs no verb.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from rt_notebook.domain.snapshot import Status
from rt_notebook.errors import OptionError, nearest, one_line
from rt_notebook.frontends.agent_schema import (
    MAX_INPUT,
    AnswerInput,
    DebateInput,
    ExtendInput,
    Input,
    ResumeInput,
    parse_json,
    read_input,
)
from rt_notebook.frontends.agent_table import VERBS, AgentVerb
from rt_notebook.frontends.cli_words import CommandLineError

_ID: Final = "the debate's id, or `last` for the newest"


class NoArguments(Input):
    """A verb that takes nothing."""


class IdArguments(Input):
    """A verb on one debate."""

    id: str = Field(description=_ID)
    """The debate."""


class StatusArguments(Input):
    """`status`."""

    id: str | None = Field(default=None, description=f"{_ID}; left out: the whole installation")
    """The debate; None: the installation."""
    refresh: bool = Field(default=False, description="run the providers' free checks again")
    """Whether the providers are asked again."""


class DebateArguments(Input):
    """`check` and `start`."""

    input: DebateInput = Field(description="the debate")
    """The debate."""


class WaitArguments(IdArguments):
    """`wait`."""

    seconds: float = Field(default=25, ge=1, le=30, description="how long to block at most")
    """How long to block at most."""
    after_round: int | None = Field(
        default=None, ge=0, le=50, description="the gate of this round was shown already"
    )
    """The round whose gate was shown."""


class AnswerArguments(IdArguments):
    """`answer`."""

    input: AnswerInput = Field(description="the round, and what the person said")
    """What the person said."""


class HoldArguments(IdArguments):
    """`hold`."""

    round: int | None = Field(default=None, ge=0, description="the open gate's round")
    """The gate's round."""


class ResumeArguments(IdArguments):
    """`resume`."""

    input: ResumeInput = Field(default=ResumeInput(), description="limits to change")
    """Limits to change."""


class ExtendArguments(IdArguments):
    """`extend`."""

    input: ExtendInput = Field(default=ExtendInput(), description="what to go on with")
    """What to go on with."""


class ListArguments(Input):
    """`list`."""

    status: Status | None = Field(default=None, description="only debates with this status")
    """Only those with this status."""
    limit: int = Field(default=50, ge=1, le=1000, description="at most so many")
    """At most so many."""


class ExportArguments(IdArguments):
    """`export`."""

    dir: str = Field(description="the folder; made when it isn't there")
    """The folder."""


ARGUMENTS: Final[Mapping[str, type[Input]]] = {
    **dict.fromkeys(("guide", "schema"), NoArguments),
    **dict.fromkeys(("finish", "stop", "verdict", "show", "delete"), IdArguments),
    **dict.fromkeys(("check", "start"), DebateArguments),
    "status": StatusArguments,
    "wait": WaitArguments,
    "answer": AnswerArguments,
    "hold": HoldArguments,
    "resume": ResumeArguments,
    "extend": ExtendArguments,
    "list": ListArguments,
    "export": ExportArguments,
}
"""The arguments' model by verb."""


@dataclass(frozen=True)
class Line:
    """A command line of `rt-notebook agent` that was read."""

    verb: AgentVerb
    """The verb."""
    arguments: Input
    """Its arguments, of the verb's model."""
    store: str | None
    """The store that was named."""


def read_line(words: Sequence[str]) -> Line:
    """Return what a command line asks for.

    Raises:
        CommandLineError: the verb, a flag or a flag's value is wrong.
        OptionError: the input can't be read or doesn't fit.
    """
    if not words:
        raise CommandLineError(
            f"a verb is missing, one of {', '.join(VERBS)}; `rt-notebook agent guide` explains them"
        )
    name = words[0]
    if name not in VERBS:
        raise CommandLineError(
            f"there is no verb {one_line(name, 60)!r}{nearest(name[:60], VERBS)}; "
            "`rt-notebook agent --help` lists them"
        )
    verb, model = VERBS[name], ARGUMENTS[name]
    given = _flags(verb, model, list(words[1:]))
    store = given.pop("store", None)
    if "input" in given:
        given["input"] = parse_json(read_text(given["input"]))
    for field in model.model_fields:
        if field not in given and model.model_fields[field].is_required():
            raise CommandLineError(
                f"{name} needs --{field.replace('_', '-')}; form: {name} {verb.usage}", field=field
            )
    return Line(verb, _arguments(model, given), store)


def read_arguments(verb: str, given: object) -> Input:
    """Return a verb's arguments from a JSON object.

    Raises:
        OptionError: they don't fit.
    """
    return read_input(ARGUMENTS[verb], given)


def read_text(said: str) -> str | bytes:
    """Return an input's text: from standard input (`-`), from a file, or what was said itself.

    Raises:
        OptionError: the file can't be read, or it is too long.
    """
    if said.lstrip()[:1] in ("{", "["):
        return said
    try:
        if said == "-":
            return _bounded(sys.stdin.buffer.read(MAX_INPUT + 1))
        with Path(os.path.expanduser(said)).open("rb") as file:
            return _bounded(file.read(MAX_INPUT + 1))
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise OptionError(
            f"the input {one_line(said, 80)!r} can't be read: {reason}; give a JSON file, `-` for "
            "standard input, or the JSON object itself",
            field="input",
        ) from None


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_INPUT:
        raise OptionError(f"the input has more than {MAX_INPUT:,} bytes", field="input")
    return data


def _arguments(model: type[Input], given: Mapping[str, Any]) -> Input:
    try:
        return read_input(model, given)
    except OptionError as exc:
        field = str(exc.facts.get("field", ""))
        if field.partition(".")[0] == "input":
            inner = field.partition(".")[2] or "input"
            raise OptionError(str(exc).replace(field, inner, 1), field=inner) from None
        raise CommandLineError(f"--{str(exc).replace('_', '-', 1)}", **exc.facts) from None


def _flags(verb: AgentVerb, model: type[Input], words: list[str]) -> dict[str, Any]:
    fields = {name.replace("_", "-"): name for name in model.model_fields} | {"store": "store"}
    given: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in fields:
            hint = nearest(f"--{name}", [f"--{field}" for field in fields])
            raise CommandLineError(
                f"{verb.name}: {one_line(word, 60)!r} is no flag of it{hint}; "
                f"form: {verb.name} {verb.usage}"
            )
        field = fields[name]
        if field in given:
            raise CommandLineError(f"{verb.name}: --{name} is given twice", field=field)
        if _kind(model, field) is bool:
            given[field] = True
            continue
        if not equals:
            if not words:
                raise CommandLineError(f"{verb.name}: --{name} needs a value", field=field)
            value = words.pop(0)
        given[field] = _value(model, field, name, value)
    return given


def _kind(model: type[Input], field: str) -> object:
    info = model.model_fields.get(field)
    return str if info is None else info.annotation


def _value(model: type[Input], field: str, name: str, text: str) -> Any:
    kind = _kind(model, field)
    if kind in (int, int | None):
        convert: Any = int
    elif kind is float:
        convert = float
    else:
        return text
    try:
        return convert(text)
    except ValueError:
        what = "a whole number" if convert is int else "a number"
        raise CommandLineError(
            f"--{name} {one_line(text, 60)!r} is not {what}", field=field
        ) from None
