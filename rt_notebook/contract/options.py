"""The one table of all a person can set; the line parser, help, completion and flags read it.

Owns each option's name, form, bounds and help, and how a value is read from text or from a file.
Knows nothing of lines (contract/line.py), cells, debates or front ends, and imports no value
classes, so that loading the extension stays light; a test compares bounds and defaults with theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from keyword import iskeyword
from typing import Any, Final
from unicodedata import normalize

from rt_notebook.errors import OptionError, nearest, one_line

_SHOWN: Final = 60
_MOST: Final = 1e15
_COUNT: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.I | re.ASCII)


class Form(Enum):
    """What a value looks like; the enum's value is what an error and the help call it."""

    FLAG = "nothing"
    COUNT = "a whole number"
    NUMBER = "a number"
    CHOICE = "one of"
    TEXT = "text"
    LIST = "a list by comma"
    NAMES = "names of variables by comma"
    COUNTS = "pairs by comma, such as a=5,b=3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that can be set."""

    name: str
    """As typed on the line (with `--` in front) or as a section, words joined by dashes."""
    form: Form
    """What its value looks like."""
    help: str
    """One sentence without a full stop."""
    group: str
    """The heading it stands under in the help."""
    where: frozenset[str]
    """Where it can be given: any of `line`, `section`, `python`, `file`."""
    python: str = ""
    """The Python argument's name; empty: the name with underscores."""
    default: str = ""
    """The default as the help shows it; empty: none."""
    metavar: str = ""
    """What stands for the value in the help."""
    choices: tuple[str, ...] = ()
    """The allowed words of a `Form.CHOICE`."""
    least: float = 0
    """The smallest allowed number."""
    most: float = math.inf
    """The largest allowed number."""
    positive: bool = False
    """True where `least` itself isn't allowed."""
    negatable: bool = False
    """True for a flag that `--no-NAME` turns off."""
    also: str = ""
    """A pattern of further words that a `Form.CHOICE` allows."""
    kind: str = ""
    """The one kind of debate that has it, `review` or `discussion`; empty: both."""
    offers: str = ""
    """What completion offers as values beside the choices: `seats`, `variables`, or nothing."""

    @property
    def key(self) -> str:
        """The name in Python, in files and in a parsed line."""
        return self.python or self.name.replace("-", "_")

    @property
    def typed(self) -> str:
        """The name as a person types it on the line."""
        return f"--{self.name}"

    def read(self, text: str) -> Any:
        """Return the value that `text` from the line stands for.

        Raises:
            OptionError: it has another form or breaks the bounds.
        """
        if not text.strip():
            raise OptionError(f"{self.typed} has an empty value", option=self.name)
        match self.form:
            case Form.COUNT | Form.NUMBER:
                return self._number(text)
            case Form.LIST | Form.NAMES:
                return self._list(text)
            case Form.COUNTS:
                return self._counts(text)
            case Form.CHOICE:
                return self._choice(text)
            case _:
                return text

    def check(self, value: object) -> Any:
        """Return `value`, as a configuration file gave it, checked like one from the line.

        Raises:
            OptionError: it has another form or breaks the bounds.
        """
        match self.form:
            case Form.FLAG if isinstance(value, bool):
                return value
            case Form.COUNT if isinstance(value, int) and not isinstance(value, bool):
                return self._bounded(value, repr(value))
            case Form.NUMBER if isinstance(value, int | float) and not isinstance(value, bool):
                return float(self._bounded(value, repr(value)))  # no float holds every int
            case Form.TEXT | Form.CHOICE | Form.LIST if isinstance(value, str):
                return self.read(value)
            case Form.LIST if isinstance(value, list) and all(isinstance(v, str) for v in value):
                return self._entries(value, repr(value))
            case Form.COUNTS if isinstance(value, dict):
                return {name: self._vendor_bound(name, count) for name, count in value.items()}
            case _:
                raise self._wrong(repr(value), self.takes)

    @property
    def takes(self) -> str:
        """What a value of this option looks like, as words."""
        match self.form:
            case Form.FLAG:
                return "true or false"
            case Form.CHOICE:
                more = [self.metavar] if self.also else []
                return f"one of {', '.join([*self.choices, *more])}"
            case Form.COUNT | Form.NUMBER if math.isfinite(self.most):
                return f"{self.form.value} from {self.least:,g} to {self.most:,g}"
            case Form.COUNT | Form.NUMBER:
                words = "above" if self.positive else "of at least"
                return f"{self.form.value} {words} {self.least:,g}"
            case _:
                return str(self.form.value)

    def _wrong(self, shown: str, reason: str, hint: str = "") -> OptionError:
        found = one_line(shown, _SHOWN)
        return OptionError(f"{self.typed} takes {reason}; got {found}{hint}", option=self.name)

    def _number(self, text: str) -> float:
        pattern = _COUNT if self.form is Form.COUNT else _NUMBER
        if not pattern.fullmatch(text):
            raise self._wrong(repr(text), self.takes)
        return self._bounded(int(text) if self.form is Form.COUNT else float(text), repr(text))

    def _bounded(self, value: float, shown: str) -> float:
        low = value <= self.least if self.positive else value < self.least
        if value != value or low or value > min(self.most, _MOST):  # the first: no number (NaN)
            raise self._wrong(shown, self.takes)
        return value

    def _choice(self, text: str) -> str:
        if text in self.choices or (self.also and re.fullmatch(self.also, text, re.ASCII)):
            return text
        raise self._wrong(repr(text), self.takes, nearest(text[:_SHOWN].casefold(), self.choices))

    def _list(self, text: str) -> tuple[str, ...]:
        return self._entries(text.split(","), repr(text))

    def _entries(self, parts: Iterable[str], shown: str) -> tuple[str, ...]:
        entries = tuple(part.strip() for part in parts)
        if "" in entries:
            way_out = "; write the list without spaces or in quotes"
            raise self._wrong(shown, f"{self.form.value} without empty entries", way_out)
        if self.form is not Form.NAMES:
            return entries
        names = tuple(normalize("NFKC", entry) for entry in entries)
        for number, name in enumerate(names):
            if not name.isidentifier() or iskeyword(name):
                raise self._wrong(repr(name), "plain names of variables")
            if name in names[:number]:
                raise self._wrong(shown, f"each name once, {name!r} is there twice")
        return names

    def _counts(self, text: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for part in text.split(","):
            name, equals, count = (piece.strip() for piece in part.partition("="))
            if not name or not equals or not _COUNT.fullmatch(count):
                raise self._wrong(repr(part), self.form.value)
            if name in counts:
                raise self._wrong(repr(text), f"each name once, {name!r} is there twice")
            counts[name] = self._vendor_bound(name, int(count))
        return counts

    def _vendor_bound(self, name: str, count: object) -> int:
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST:
            bounds = "of at least 0" if not isinstance(count, int) or count < 0 else "up to 1e15"
            raise self._wrong(f"{name}={count!r}", f"whole numbers {bounds}")
        return count


_PYTHON: Final = frozenset({"line", "python"})
_FILE: Final = frozenset({"line", "python", "file"})
_SECTION: Final = frozenset({"section", "python"})
_LINE: Final = frozenset({"line"})


def _section(name: str, text: str, form: Form = Form.TEXT) -> Option:
    return Option(name=name, form=form, help=text, group="sections", where=_SECTION)


def _limit(name: str, form: Form, text: str, **more: Any) -> Option:
    fields: dict[str, Any] = {"metavar": "N", "positive": form is not Form.COUNTS, **more}
    return Option(name=name, form=form, help=text, group="limits", where=_FILE, **fields)


# The order is the help's order.
OPTIONS: Final[tuple[Option, ...]] = (
    _section("options", "what can be chosen, a bullet each, 2 to 12", Form.LIST),
    _section("known", "facts", Form.LIST),
    _section("assumed", "guesses", Form.LIST),
    _section("constraints", "limits that any decision must keep", Form.LIST),
    _section("reversibility", "how easily the decision can be taken back, one line"),
    _section("deadline", "by when it is needed, one line"),
    Option(name="context", form=Form.NAMES, metavar="NAMES", offers="variables",
           help="attach variables as evidence under their names; as a section: further material",
           group="the cell", where=frozenset({"line", "section", "python"})),
    Option(name="with", python="with_names", form=Form.NAMES, metavar="NAMES", offers="variables",
           help="fill {NAME} and {NAME:format} in the body from these variables, and only these",
           group="the cell", where=_LINE),
    Option(name="title", form=Form.TEXT, metavar="TEXT", default="from the question",
           help="the debate's title", group="the cell", where=_PYTHON),
    Option(name="kind", form=Form.CHOICE, choices=("review", "discussion"),
           default="a review with options, a discussion without",
           help="the kind of debate", group="the cell", where=_LINE),
    Option(name="seats", form=Form.LIST, metavar="NAMES", offers="seats",
           default="three scripted seats, pm,dev,rv",
           help="who debates: names of seats, or NAME=MODEL; as a section, a bullet each: "
                "NAME=MODEL; lens=...; mood=...",
           group="the debate", where=frozenset({"line", "section", "python", "file"})),
    Option(name="rounds", form=Form.COUNT, metavar="N", default="1", most=50,
           help="a review's critique rounds after the opening, or a discussion's rounds",
           group="the debate", where=_FILE),
    Option(name="chairman", form=Form.TEXT, metavar="SEAT", offers="seats",
           help="who writes a review's verdict: a seat's name, a variable or a model",
           group="the debate", where=_FILE, kind="review"),
    Option(name="observer", form=Form.TEXT, metavar="SEAT", offers="seats",
           help="who sums a discussion up: a seat's name, a variable or a model",
           group="the debate", where=_FILE, kind="discussion"),
    Option(name="observer-prompt", form=Form.TEXT, metavar="TEXT", default="a neutral summary",
           help="what the observer is asked to write",
           group="the debate", where=_FILE, kind="discussion"),
    Option(name="memory", form=Form.CHOICE, choices=("stateless", "full", "turn"),
           also=r"window:[1-9]\d{0,3}", metavar="window:N",
           default="stateless in a review, full in a discussion",
           help="what a seat sees: every seat's latest reply (stateless, reviews), all so far, "
                "and in a discussion nothing (turn) or the last N turns",
           group="the debate", where=_FILE),
    Option(name="tool-preview", form=Form.COUNT, metavar="N", default="500", most=500,
           help="characters of a tool's output that the others see",
           group="the debate", where=_FILE),
    Option(name="anonymous", form=Form.FLAG, negatable=True, default="off",
           help="the seats see Seat A, B, C in place of names", group="the debate", where=_FILE),
    Option(name="loop-threshold", form=Form.NUMBER, metavar="X", default="0.85", most=1,
           help="similarity above which a round without movement ends the debate; 0: never",
           group="the debate", where=_FILE),
    Option(name="language", form=Form.TEXT, metavar="TEXT", default="the question's",
           help="language of the replies", group="the debate", where=_FILE),
    Option(name="research", form=Form.TEXT, metavar="QUERY",
           help="look this up on the web first, for every seat; as a section, with lines such as "
                "model: and max_searches:",
           group="the debate", where=frozenset({"line", "section", "python"})),
    Option(name="gates", form=Form.CHOICE, choices=("timed", "blocking", "off"), default="timed",
           help="whether a person is asked between rounds, and for how long",
           group="people", where=_FILE, kind="review"),
    Option(name="unattended", form=Form.FLAG, negatable=True, default="found out",
           help="nobody is asked and nothing waits", group="people", where=_FILE),
    Option(name="question-wait-s", form=Form.NUMBER, metavar="SECONDS", default="120", most=86_400,
           help="how long a gate with questions stays open", group="people", where=_FILE,
           kind="review"),
    Option(name="checkpoint-wait-s", form=Form.NUMBER, metavar="SECONDS", default="15",
           most=86_400, help="how long a gate without questions stays open",
           group="people", where=_FILE, kind="review"),
    _limit("max-calls", Form.COUNT, "calls in all"),
    _limit("max-calls-per-vendor", Form.COUNTS, "calls by vendor", metavar="a=5,b=3"),
    _limit("max-tokens", Form.COUNT, "tokens in and out"),
    _limit("max-cost", Form.NUMBER, "US dollars, where prices are known", metavar="USD"),
    _limit("max-minutes", Form.NUMBER, "minutes from start to verdict", default="30"),
    _limit("on-limit", Form.CHOICE, "what follows when the next round would break a limit",
           choices=("verdict", "pause"), default="verdict", metavar=""),
    Option(name="check", form=Form.FLAG, help="show the estimate only; nothing is called",
           group="the run", where=_LINE),
    Option(name="confirm-above", form=Form.NUMBER, metavar="USD", group="the run", where=_LINE,
           help="ask first where the estimate is above this or the price isn't known"),
    Option(name="background", form=Form.FLAG, group="the run", where=_LINE,
           help="return at once with a handle in the variable"),
    Option(name="display", form=Form.FLAG, negatable=True, default="found out",
           help="show the live view", group="the run", where=_FILE),
    Option(name="store", form=Form.TEXT, metavar="PATH", default="in your data folder",
           help="the file that keeps the debates", group="the run", where=_FILE),
    Option(name="durability", form=Form.CHOICE, choices=("process", "power"), default="process",
           help="what a debate outlives: the kernel's death, or the machine's",
           group="the run", where=_FILE),
    Option(name="api-billing", form=Form.FLAG, negatable=True, default="off", group="consents",
           where=_FILE,
           help="commands are paid for by a key of the environment, not by their login; in a file: "
                "your own one only"),
    Option(name="allow-limited-isolation", form=Form.FLAG, default="off", group="consents",
           where=_PYTHON,
           help="seat commands that can't be told to leave their tools and your settings alone"),
    Option(name="acknowledge-terms", form=Form.LIST, metavar="VENDORS", group="consents",
           where=_PYTHON, help="vendors whose notice about their terms you have read"),
    Option(name="record", form=Form.TEXT, metavar="PATH", group="the run", where=_PYTHON,
           help="the file that keeps the debate, so that the cell can be run again without a call"),
    Option(name="record-mode", form=Form.CHOICE, choices=("once", "new", "none", "all"),
           default="once", group="the run", where=_FILE,
           help="once: replay a record that fits, record where there is none; new: make only the "
                "calls that are missing; none: call nobody; all: record anew"),
    Option(name="help", form=Form.FLAG, help="show this; nothing is started",
           group="the run", where=_LINE),
)  # fmt: skip
"""Every option, section and setting of this version."""

LINE_OPTIONS: Final = {option.name: option for option in OPTIONS if "line" in option.where}
"""What can stand on the line of `%%roundtable`, by name without `--`."""
FILE_OPTIONS: Final = {option.key: option for option in OPTIONS if "file" in option.where}
"""What a configuration file can set, by name with underscores."""
LIMIT_OPTIONS: Final = {option.name: option for option in OPTIONS if option.group == "limits"}
"""The budgets by the name that is typed."""
LIMIT_KEYS: Final = frozenset(option.key for option in LIMIT_OPTIONS.values())
"""The Python names of the budgets, which are fields of `Limits`."""
SECTIONS: Final = (
    *("options", "known", "assumed", "constraints", "reversibility", "deadline", "context"),
    *("research", "seats"),
)
"""The fixed names that start a section of a cell."""
SEAT_FIELDS: Final[dict[str, type]] = {
    **dict.fromkeys(("persona", "lens", "mood", "effort", "color", "account"), str),
    **dict.fromkeys(("base_url", "api_key_env"), str),
    **dict.fromkeys(("temperature", "timeout_s", "stall_s"), float),
    **dict.fromkeys(("max_tokens", "retries"), int),
}
"""A seat's fields that text can give, beside name and model, with their types."""


def check_kind(kind: str, given: Iterable[str]) -> None:
    """Check that what was given belongs to this kind of debate.

    Args:
        kind: review or discussion.
        given: options' names in Python.

    Raises:
        OptionError: an option belongs to the other kind.
    """
    for key in given:
        option = next((found for found in OPTIONS if found.key == key), None)
        if option is not None and option.kind not in ("", kind):
            raise OptionError(
                f"{option.typed} belongs to a {option.kind}; this is a {kind}", option=option.name
            )


def keys_of(kind: str) -> frozenset[str]:
    """Return the Python names of the options that this kind of debate has."""
    return frozenset(option.key for option in OPTIONS if option.kind in ("", kind))


def line_names() -> tuple[str, ...]:
    """Return every word with dashes that the line knows, `--no-` forms included."""
    names = []
    for option in LINE_OPTIONS.values():
        names.append(option.typed)
        if option.negatable:
            names.append(f"--no-{option.name}")
    return tuple(names)


def nearest_name(word: str) -> str:
    """Return `; did you mean '--x'?` for the line option nearest to `word`, or an empty string."""
    names = line_names()
    stem = f"--{word.lstrip('-')[:_SHOWN]}"
    longer = [name for name in names if len(stem) > len("--") and name.startswith(stem)]
    return f"; did you mean {longer[0]!r}?" if longer else nearest(stem.casefold(), names)
