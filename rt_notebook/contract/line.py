"""Reads the line of `%%roundtable`: words by shell quoting rules, then options from the one table.

Pure: nothing is expanded, evaluated, looked up or printed; every mistake is one OptionError.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any, Final
from unicodedata import normalize

from rt_notebook.contract.options import (
    LIMIT_KEYS,
    LINE_OPTIONS,
    Form,
    Option,
    nearest_name,
)
from rt_notebook.errors import OptionError, one_line

_SHOWN: Final = 60
# A bare word shorter than this says too little about a forgotten `--`.
_HINT: Final = 3
_SHORT: Final = re.compile(r"-[A-Za-z]")
# Word processors and chats turn two dashes into one of these.
_TYPOGRAPHIC: Final = ("–", "—", "−")
# A space pasted from a web page ends a word too.
_SPACES: Final = " \t\r\n\u00a0\u3000"
_SETTINGS: Final = (
    *("rounds", "memory", "gates", "unattended", "anonymous", "question_wait_s"),
    *("checkpoint_wait_s", "loop_threshold", "language", "title", "tool_preview"),
    *("observer_prompt", "research", "api_billing", "allow_limited_isolation"),
    "acknowledge_terms",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOptions:
    """What one line says; None (or empty) means not given."""

    variable: str | None = None
    """The variable that gets the result."""
    seats: tuple[str, ...] | None = None
    """Names of seats and `name=model` pairs."""
    rounds: int | None = None
    """Critique rounds."""
    chairman: str | None = None
    """A seat's name, a variable or a model."""
    observer: str | None = None
    """The same, for a discussion."""
    observer_prompt: str | None = None
    """What the observer is asked to write."""
    memory: str | None = None
    """`stateless` or `full`; in a discussion `full`, `turn` or `window:N`."""
    tool_preview: int | None = None
    """Characters of a tool's output that the others see."""
    gates: str | None = None
    """`timed`, `blocking` or `off`."""
    unattended: bool | None = None
    """Whether nobody is asked."""
    anonymous: bool | None = None
    """Whether the seats see letters in place of names."""
    question_wait_s: float | None = None
    """Seconds a gate with questions stays open."""
    checkpoint_wait_s: float | None = None
    """Seconds a gate without questions stays open."""
    loop_threshold: float | None = None
    """Similarity that counts as going in circles."""
    language: str | None = None
    """Language of the replies."""
    title: str | None = None
    """The debate's title."""
    research: str | None = None
    """What to look up on the web first."""
    api_billing: bool | None = None
    """Whether commands are paid for by a key in place of their login."""
    allow_limited_isolation: bool | None = None
    """Consent to commands that can't be isolated."""
    acknowledge_terms: tuple[str, ...] | None = None
    """Vendors whose notice about their terms was read."""
    kind: str | None = None
    """`review` or `discussion`; None: a review where there are options."""
    store: str | None = None
    """Path of the store."""
    durability: str | None = None
    """`process` or `power`."""
    record: str | None = None
    """Path of the record."""
    record_mode: str | None = None
    """`once`, `new`, `none` or `all`."""
    with_names: tuple[str, ...] = ()
    """Variables whose `{name}` is filled in the body."""
    context: tuple[str, ...] = ()
    """Variables attached as evidence."""
    check: bool = False
    """Show the estimate only."""
    confirm_above: float | None = None
    """US dollars above which the person is asked first."""
    background: bool = False
    """Return at once with a handle."""
    display: bool | None = None
    """Whether the live view is shown."""
    help: bool = False
    """Show the help; nothing else on the line was read."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """The budgets given, by their names in `Limits`."""

    def only_of_a_kind(self) -> tuple[str, ...]:
        """Return the names of the given options that one kind of debate has."""
        return tuple(
            option.key
            for option in LINE_OPTIONS.values()
            if option.kind and getattr(self, option.key) is not None
        )

    def settings(self) -> dict[str, Any]:
        """Return the given fields that `DebateSpec` has under the same names."""
        found = {name: getattr(self, name) for name in _SETTINGS}
        return {name: value for name, value in found.items() if value is not None}


def parse_line(line: str) -> LineOptions:
    """Read what stands behind `%%roundtable`.

    Args:
        line: the line without the magic's name.

    Raises:
        OptionError: an unclosed quote, an unknown or repeated option, a missing or bad value, or a
            second word without dashes; the message quotes the word and offers the nearest option.
    """
    words = _split(line)
    if "--help" in words:
        return LineOptions(help=True)
    given: dict[str, Any] = {}
    unknown: list[str] = []
    queue = deque(words)
    while queue:
        word = queue.popleft()
        if not word.startswith("--"):
            _take_variable(word, given)
        elif (found := _find(word)) is None:
            unknown.append(word.partition("=")[0])
            _skip_value(word, queue)
        else:
            _take_option(*found, word, queue, given)
    if unknown:
        raise _unknown(unknown)
    limits = {key: given.pop(key) for key in sorted(LIMIT_KEYS & given.keys())}
    return LineOptions(**given, limits=limits)


def _split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = _SPACES, True, ""
    try:
        return list(lexer)
    except ValueError:
        raise _unreadable(line) from None


def _unreadable(line: str) -> OptionError:
    opened, escaped, quote = 0, False, ""
    for place, char in enumerate(line):
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote, opened = char, place
    if not quote:
        return OptionError("the line ends with a lone backslash; remove it or double it")
    token = one_line(line[opened:], _SHOWN)
    return OptionError(
        f"unclosed quote {quote} before {token[1:]!r}; close it, or escape it as \\{quote}"
    )


def _find(word: str) -> tuple[Option, bool] | None:
    name = word.partition("=")[0].removeprefix("--")
    if name in LINE_OPTIONS:
        return LINE_OPTIONS[name], True
    positive = LINE_OPTIONS.get(name.removeprefix("no-"))
    return (positive, False) if positive is not None and positive.negatable else None


def _is_value(word: str) -> bool:
    return not word.startswith(("--", *_TYPOGRAPHIC)) and not _SHORT.fullmatch(word)


def _skip_value(word: str, queue: deque[str]) -> None:
    # An unknown option's own value shall not be reported as a second variable name.
    if "=" not in word and queue and _is_value(queue[0]):
        queue.popleft()


def _take_option(
    option: Option, positive: bool, word: str, queue: deque[str], given: dict[str, Any]
) -> None:
    name, equals, text = word.partition("=")
    if option.key in given:
        raise OptionError(f"{name!r} is given twice; keep one", option=option.name)
    if option.form is Form.FLAG:
        if equals:
            off = f", and '--no-{option.name}' turns it off" if option.negatable else ""
            raise OptionError(
                f"{name!r} takes no value, got {one_line(text, _SHOWN)!r}{off}", option=option.name
            )
        given[option.key] = positive
        return
    if not equals:
        if not queue or not _is_value(queue[0]):
            got = f", got {one_line(queue[0], _SHOWN)!r}" if queue else ""
            raise OptionError(
                f"{name!r} needs a value ({option.takes}){got}; "
                f"a value that starts with dashes is written {name}=VALUE",
                option=option.name,
            )
        text = queue.popleft()
    given[option.key] = option.read(text)


def _take_variable(word: str, given: dict[str, Any]) -> None:
    shown = repr(one_line(word, _SHOWN))
    if word.startswith(_TYPOGRAPHIC):
        stem = word.lstrip("".join(_TYPOGRAPHIC))
        raise OptionError(f"{shown} starts with a typographic dash; write '--'{nearest_name(stem)}")
    if word.startswith("-"):
        raise OptionError(f"{shown}: there are no short options{nearest_name(word)}")
    if "variable" in given:
        hint = nearest_name(word) if len(word) >= _HINT else ""
        raise OptionError(
            f"{shown} is a second word without dashes; {given['variable']!r} already names the "
            f"variable for the result{hint}"
        )
    name = normalize("NFKC", word)
    if not name.isidentifier() or iskeyword(name):
        raise OptionError(
            f"{shown} can't name the variable for the result; use letters, digits and '_'"
        )
    if not name.strip("_"):
        raise OptionError(f"{shown} is left to IPython; choose another name for the result")
    given["variable"] = name


def _unknown(names: list[str]) -> OptionError:
    shown = []
    for name in names:
        hint = nearest_name(name).removeprefix("; ")
        shown.append(repr(one_line(name, _SHOWN)) + (f" ({hint})" if hint else ""))
    noun = "option" if len(names) == 1 else "options"
    return OptionError(
        f"unknown {noun} {', '.join(shown)}; `%%roundtable --help` lists them all", option=names[0]
    )
