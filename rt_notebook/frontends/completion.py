"""Tab completion in a `%%roundtable` cell: options and their values on the line, sections below it.

Owns the matcher that IPython asks; everywhere else in a notebook it stays silent. What can be
completed comes from the option table and from the caller's list of seats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from rt_notebook.contract.cell import open_fence, section_names
from rt_notebook.contract.options import LINE_OPTIONS, SECTIONS, Form, Option, line_names
from rt_notebook.errors import UsageError

IDENTIFIER: Final = "roundtable"
"""The matcher's name in IPython, by which it is found again."""

Names = Callable[[], Iterable[str]]
"""Gives names at the time of asking."""

# Above IPython's own magic and Python matchers, which know nothing of our line.
_PRIORITY: Final = 100
_MAGIC: Final = re.compile(r"%%roundtable(?:\s|$)")
_ABOVE: Final = re.compile(r"\s*(?:#|%%|$)")
_SPACE: Final = re.compile(r"\s+")


class Found(NamedTuple):
    """What fits, and the text before the cursor that it replaces."""

    fragment: str
    """The part of the word before the cursor that is replaced."""
    texts: tuple[str, ...]
    """What may stand there."""


def complete(cell: str, line: int, column: int, seats: Names, variables: Names) -> Found | None:
    """Return what fits at the cursor, or None where this package has nothing to say.

    Args:
        cell: the whole cell.
        line: the cursor's line, from 0.
        column: characters before the cursor in its line.
        seats: names of seats; asked only where a seat can stand.
        variables: names of variables; asked only where one can stand.
    """
    lines = cell.split("\n")
    magic = _magic_line(lines)
    if magic is None or not magic <= line < len(lines):
        return None
    before = lines[line][:column]
    if line > magic:
        return _section(lines[magic + 1 :], line - magic - 1, before)
    if not _MAGIC.match(before) or before == "%%roundtable":
        return None
    return _on_line(before, lines[line], seats, variables)


def install(shell: Any, seats: Names | None = None) -> None:
    """Add the matcher to a shell, in place of an earlier one.

    Args:
        shell: an `InteractiveShell`.
        seats: names of seats; None: those of the notebook's variables and the files around it.
    """
    uninstall(shell)
    names = seats or (lambda: _seats_of(shell.user_ns))
    shell.Completer.custom_matchers.append(_matcher(names, lambda: _variables_of(shell.user_ns)))


def uninstall(shell: Any) -> None:
    """Remove the matcher from a shell; nothing happens where there is none."""
    matchers = shell.Completer.custom_matchers
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", "") != IDENTIFIER]


def _matcher(seats: Names, variables: Names) -> Any:
    def roundtable_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = complete(context.full_text, context.cursor_line, _column(context), seats, variables)
        if found is None:
            return SimpleMatcherResult(completions=[])
        return SimpleMatcherResult(
            completions=[SimpleCompletion(text=text, type="param") for text in found.texts],
            matched_fragment=found.fragment,
            suppress=True,
            ordered=True,
        )

    return context_matcher(identifier=IDENTIFIER, priority=_PRIORITY)(roundtable_matcher)


def _column(context: CompletionContext) -> int:
    return len(context.text_until_cursor.rpartition("\n")[2])


def _magic_line(lines: list[str]) -> int | None:
    """Return the line of the magic: the first, or below comments and other cell magics."""
    for number, line in enumerate(lines):
        if _MAGIC.match(line):
            return number
        if not _ABOVE.match(line):
            break
    return None


def _section(body: list[str], line: int, before: str) -> Found | None:
    above = "\n".join(body[:line])
    if open_fence(above) or not before.isalpha() or not before.isascii():
        return None
    taken = section_names("\n".join(body[:line] + body[line + 1 :]))
    fits = tuple(
        f"{name}:" for name in SECTIONS if name.startswith(before.lower()) and name not in taken
    )
    return Found(before, fits) if fits else None


def _on_line(before: str, whole: str, seats: Names, variables: Names) -> Found | None:
    *words, last = _SPACE.split(before)
    if "=" in last:
        name, _, text = last.partition("=")
        option = LINE_OPTIONS.get(name.removeprefix("--"))
        return _value(option, text, seats, variables) if option else None
    option = LINE_OPTIONS.get(words[-1].removeprefix("--")) if words[-1].startswith("--") else None
    if option is not None and option.form is not Form.FLAG:
        return _value(option, last, seats, variables)
    if last and not last.startswith("-"):
        return None
    others = {word.partition("=")[0] for word in _SPACE.split(whole)} - {last}
    fits = tuple(n for n in line_names() if n.startswith(last) and n not in _spent(others))
    return Found(last, fits)


def _spent(words: set[str]) -> set[str]:
    """Return the words that may not come again, with their counterparts."""
    bare = {word.removeprefix("--").removeprefix("no-") for word in words if word.startswith("--")}
    return {form for name in bare for form in (f"--{name}", f"--no-{name}")}


def _value(option: Option, text: str, seats: Names, variables: Names) -> Found | None:
    many = option.form in (Form.LIST, Form.NAMES)
    *earlier, fragment = text.split(",") if many else [text]
    if option.choices:
        names: Iterable[str] = option.choices
    elif option.offers == "seats" and "=" not in fragment:
        names = seats()
    elif option.offers == "variables":
        names = variables()
    else:
        return None
    # A name with a space would need quotes around the whole list.
    fits = (n for n in names if n.startswith(fragment) and n not in earlier and " " not in n)
    return Found(fragment, tuple(fits))


def _seats_of(variables: Mapping[str, object]) -> list[str]:
    # Late: values and files are read only when somebody asks, so that loading stays light.
    from rt_notebook.config import load_config, seat_names

    try:
        return seat_names(variables, load_config())
    except UsageError:  # a broken file is reported when the cell runs, not at each Tab
        return []


def _variables_of(variables: Mapping[str, object]) -> list[str]:
    hidden = {"In", "Out", "exit", "quit", "get_ipython", "open"}
    return sorted(n for n in variables if not n.startswith("_") and n not in hidden)
