"""What programs may say to the verbs: one Pydantic schema for command line, Python and MCP.

Owns the fields, their words and how a mistake is told. What a field's value may be is the domain's
business: the debate itself is built by `Review`. Starts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rt_notebook.contract.options import OPTIONS
from rt_notebook.errors import OptionError, nearest, one_line

MAX_INPUT: Final = 4 * 1024 * 1024
"""UTF-8 bytes of one input; a brief at all its limits fits."""

T = TypeVar("T", bound="Input")

_HELP: Final = {option.key: option.help for option in OPTIONS}


def _help(key: str, **more: Any) -> Any:
    """Return a field that may be left out, described as everywhere else."""
    return Field(default=None, description=_HELP.get(key), **more)


class Input(BaseModel):
    """What all inputs share: strict types, and no key that isn't known."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def given(self) -> dict[str, Any]:
        """Return the fields that were given a value."""
        return {
            name: value
            for name in type(self).model_fields
            if name in self.model_fields_set and (value := getattr(self, name)) is not None
        }


class SeatInput(Input):
    """A seat."""

    name: str = Field(description="1-40 characters, unique in the debate")
    """The seat's name."""
    model: str = Field(
        default="scripted",
        description="provider and model; `agent status` lists what can sit",
    )
    """Provider and model."""
    persona: str | None = Field(default=None, description="its own system prompt")
    """Its own system prompt."""
    lens: str | None = Field(
        default=None,
        description="what it looks at: risk, cost, evidence, reversibility, long-term effects, "
        "user impact, or own words",
    )
    """What it looks at."""
    mood: Literal["grill", "builder", "steelman", "contrarian", "rant"] | None = Field(
        default=None, description="how it argues; rant is hidden and not counted"
    )
    """How it argues."""
    effort: Literal["low", "medium", "high"] | None = Field(
        default=None, description="reasoning effort"
    )
    """Reasoning effort."""
    temperature: float | None = Field(default=None, description="handed to the provider")
    """Handed to the provider."""
    max_tokens: int | None = Field(default=None, description="completion tokens at most")
    """Completion tokens at most."""
    color: str | None = Field(default=None, description="#rrggbb, for the live view")
    """A colour for the live view."""
    account: str | None = Field(default=None, description="a named account of the vendor's command")
    """A named account."""
    timeout_s: float | None = Field(default=None, description="seconds for a turn (300)")
    """Seconds for a turn."""
    stall_s: float | None = Field(
        default=None, description="seconds without progress that stop a call; 0: none"
    )
    """Seconds without progress."""
    retries: int | None = Field(default=None, description="further tries after a passing fault (2)")
    """Further tries."""


class LimitsInput(Input):
    """Budgets; each is optional."""

    max_calls: int | None = _help("max_calls")
    """Calls in all."""
    max_calls_per_vendor: dict[str, int] | None = _help("max_calls_per_vendor")
    """Calls by vendor."""
    max_tokens: int | None = _help("max_tokens")
    """Tokens in and out."""
    max_cost: float | None = _help("max_cost")
    """USD."""
    max_minutes: float | None = _help("max_minutes")
    """Minutes of one process."""
    on_limit: Literal["verdict", "pause"] | None = _help("on_limit")
    """What follows at a limit."""


class ResearchInput(Input):
    """What is to be looked up on the web before the debate; only the query goes out."""

    query: str = Field(description="what to look up")
    """What to look up."""
    max_searches: int | None = Field(default=None, description="searches at most, 1-10 (4)")
    """Searches at most."""
    timeout_s: float | None = Field(default=None, description="seconds it may take (120)")
    """Seconds it may take."""
    model: str | None = Field(default=None, description="who searches")
    """Who searches."""
    effort: Literal["low", "medium", "high"] | None = Field(
        default=None, description="reasoning effort"
    )
    """Reasoning effort."""
    account: str | None = Field(default=None, description="a named account of the vendor's command")
    """A named account."""


class DebateInput(Input):
    """A debate: what `check` and `start` take, and `run` reads from a JSON file."""

    question: str = Field(description="what is to be decided, Markdown, 1-20,000 characters")
    """What is to be decided."""
    options: list[str] = Field(
        default_factory=list,
        description="2-12 labels of at most 200 characters; without any it is a discussion",
    )
    """What can be chosen."""
    kind: Literal["review", "discussion"] | None = _help("kind")
    """The kind of debate; None: by the options."""
    known: list[str] | None = _help("known")
    """Facts that the person stated."""
    assumed: list[str] | None = _help("assumed")
    """The person's guesses."""
    constraints: list[str] | None = _help("constraints")
    """Limits of any decision."""
    reversibility: str | None = _help("reversibility")
    """How easily it can be taken back."""
    deadline: str | None = _help("deadline")
    """By when."""
    context: str | None = Field(
        default=None, description="further material, Markdown, 200,000 characters in all"
    )
    """Further material."""
    seats: list[str | SeatInput] | None = Field(
        default=None,
        description="who debates: names of known seats, `name=model`, or objects; left out: the "
        "configured seats, else three scripted ones",
    )
    """Who debates."""
    chairman: str | SeatInput | None = _help("chairman")
    """Who writes the verdict."""
    observer: str | SeatInput | None = _help("observer")
    """Who sums a discussion up."""
    observer_prompt: str | None = _help("observer_prompt")
    """What the observer is asked to write."""
    rounds: int | None = _help("rounds")
    """Critique rounds."""
    memory: str | None = _help("memory")
    """What a seat sees."""
    gates: Literal["timed", "blocking", "off"] | None = _help("gates")
    """Whether a person is asked."""
    unattended: bool | None = _help("unattended")
    """Whether nobody is asked."""
    anonymous: bool | None = _help("anonymous")
    """Letters in place of names."""
    limits: LimitsInput | None = Field(default=None, description="budgets")
    """Budgets."""
    title: str | None = _help("title")
    """The title."""
    question_wait_s: float | None = _help("question_wait_s")
    """How long a gate with questions stays open."""
    checkpoint_wait_s: float | None = _help("checkpoint_wait_s")
    """How long another gate stays open."""
    loop_threshold: float | None = _help("loop_threshold")
    """Similarity that counts as a loop."""
    tool_preview: int | None = _help("tool_preview")
    """Characters of a tool's output that the others see."""
    research: str | ResearchInput | None = _help("research")
    """What to look up first."""
    allow_limited_isolation: bool | None = _help("allow_limited_isolation")
    """The person's consent to commands that can't be isolated."""
    acknowledge_terms: list[str] | None = _help("acknowledge_terms")
    """Vendors whose notice the person has read."""
    language: str | None = _help("language")
    """Language of the replies."""
    store: str | None = _help("store")
    """The store's path."""
    record: str | None = _help("record")
    """The file that keeps the debate to be run again."""
    record_mode: Literal["once", "new", "none", "all"] | None = _help("record_mode")
    """How the record is used."""
    durability: Literal["process", "power"] | None = _help("durability")
    """What an event survives."""


class GivenAnswer(Input):
    """The answer to one question of a gate."""

    id: str = Field(description="the question's id: q1, q2, ...")
    """The question's id."""
    text: str = Field(description="what the person said; at most 8,000 characters")
    """What the person said."""


class AnswerInput(Input):
    """What `answer` takes: for a gate answers and a message, for a human seat's turn its text."""

    round: int | None = Field(
        default=None, ge=0, description="the round of the open gate or turn, as the state says"
    )
    """The round it is for."""
    answers: list[GivenAnswer] = Field(
        default_factory=list, description="some or all questions; none and no message: continue"
    )
    """Answers to the gate's questions."""
    message: str | None = Field(
        default=None, description="a free message for all seats; at most 8,000 characters"
    )
    """A free message."""
    seat: str | None = Field(default=None, description="the human seat whose open turn this is")
    """A human seat."""
    text: str | None = Field(default=None, description="the human seat's reply")
    """Its reply."""


class ResumeInput(Input):
    """What `resume` takes beside the id."""

    limits: LimitsInput | None = Field(
        default=None, description="limits to change; the others stay as they were"
    )
    """Limits to change."""


class ExtendInput(Input):
    """What `extend` takes beside the id."""

    prompt: str = Field(default="", description="the person's words: what to go on with")
    """What to go on with."""
    rounds: int | None = Field(default=None, description="further rounds (1)")
    """Further rounds."""
    mode: Literal["continue", "new"] | None = Field(
        default=None, description="continue the topic, or a new challenge; left out: by the prompt"
    )
    """How the prompt is meant."""
    observer_prompt: str | None = Field(
        default=None, description="replaces the observer's instruction from now on"
    )
    """Replaces the observer's instruction."""


def read_input(kind: type[T], data: object) -> T:
    """Return an input of this kind.

    Args:
        kind: which input.
        data: as read from JSON, or a mapping from Python.

    Raises:
        OptionError: a key is unknown (the nearest is named), missing or of a wrong type.
    """
    if not isinstance(data, Mapping):
        raise OptionError(
            f"the input is an object such as {{{_first_field(kind)}}}; got {_shown(data)}",
            field="input",
        )
    try:
        return kind.model_validate(dict(data))
    except ValidationError as exc:
        raise _explained(kind, exc) from None


def parse_json(text: str | bytes) -> object:
    """Return what JSON text says.

    Raises:
        OptionError: it is too long, no JSON, says a key twice, or holds half a character.
    """
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if size > MAX_INPUT:
        raise OptionError(f"the input has {size:,} bytes; {MAX_INPUT:,} are allowed", field="input")
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as exc:
        raise OptionError(
            f"the input is no JSON: {exc.msg} in line {exc.lineno}, column {exc.colno}",
            field="input",
        ) from None
    except UnicodeError:
        raise OptionError(
            "the input isn't UTF-8 text; no half character (surrogate) may stand in it",
            field="input",
        ) from None
    except (RecursionError, ValueError) as exc:
        reason = "it is nested too deeply" if isinstance(exc, RecursionError) else str(exc)
        raise OptionError(
            f"the input can't be read: {one_line(reason, 200)}", field="input"
        ) from None
    return data


def debate_schema() -> dict[str, Any]:
    """Return the JSON Schema of a debate's input."""
    return DebateInput.model_json_schema()


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {one_line(key, 60)!r} is there twice")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _first_field(kind: type[Input]) -> str:
    return "".join(f'"{name}": ...' for name in list(kind.model_fields)[:1])


def _explained(kind: type[Input], exc: ValidationError) -> OptionError:
    # An unknown key says more than what is missing because of it.
    errors = sorted(exc.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if not _is_branch(part)) or "input"
    key = str(first["loc"][-1]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        known = _fields_at(kind, first["loc"][:-1])
        return OptionError(
            f"unknown key {one_line(where, 80)!r}{nearest(key[:60], known)}", field=where
        )
    if first["type"] == "missing":
        return OptionError(f"the input has no {where!r}, which is needed", field=where)
    if first["type"] == "model_type":
        return OptionError(f"{where} is an object; got {_shown(first['input'])}", field=where)
    message = first["msg"][:1].lower() + first["msg"][1:]
    return OptionError(
        f"{one_line(where, 80)}: {message}; got {_shown(first['input'])}", field=where
    )


def _is_branch(part: object) -> bool:
    # Pydantic names the tried branch of a union in the path.
    return isinstance(part, str) and (part == "str" or part in _MODELS)


def _fields_at(kind: type[Input], path: Sequence[object]) -> list[str]:
    """Return the known keys of the object that `path` leads to."""
    for part in path:
        if isinstance(part, str) and part in _MODELS:
            kind = _MODELS[part]
        elif part in kind.model_fields:
            kind = _model_in(kind.model_fields[str(part)].annotation) or kind
    return list(kind.model_fields)


def _model_in(annotation: object) -> type[Input] | None:
    """Return the model of ours that an annotation names, if any."""
    if isinstance(annotation, type) and issubclass(annotation, Input):
        return annotation
    found = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in found if model is not None), None)


def _shown(value: object) -> str:
    return one_line(repr(value)[:200], 80)


_MODELS: Final[dict[str, type[Input]]] = {
    model.__name__: model for model in (SeatInput, LimitsInput, GivenAnswer, ResearchInput)
}
