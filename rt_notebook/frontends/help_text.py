"""The help of `%%roundtable`: `--help`, `%%roundtable?` and the documentation show this one text.

Made from the option table alone; knows no notebook.
"""

from __future__ import annotations

import textwrap
from typing import Final

from rt_notebook.contract.cell import EXAMPLE
from rt_notebook.contract.options import LINE_OPTIONS, OPTIONS, Form, Option

WIDTH: Final = 92
"""Columns of the text; it fits a notebook's output and a terminal."""
_INDENT: Final = 34
_AS_SECTION: Final = "; as a section"

_OPENING: Final = """\
A debate in a cell. With options, a review: the seats take stances on them, you answer their \
questions between rounds, and a chairman gives the verdict. Without, a discussion: the seats speak \
in turn, you may say a word at any time, and an observer sums it up.

%%roundtable [VARIABLE] [--OPTION VALUE ...]
QUESTION

options:
- FIRST
- SECOND

VARIABLE gets the result; roundtable_result holds the last one. The body is a question in \
Markdown, then sections: a name and a colon at the start of a line, then bullets or text. It \
reaches the seats as typed; only --with gives braces a meaning."""
_CLOSING: Final = """\
Lists go by comma; quote values that hold spaces. There are no short forms or abbreviations."""


def cell_help() -> str:
    """Return the whole help as plain text, without a line end behind it."""
    parts = [_wrapped(_OPENING), _sections()]
    for group in dict.fromkeys(option.group for option in LINE_OPTIONS.values()):
        options = [option for option in LINE_OPTIONS.values() if option.group == group]
        parts.append("\n".join([f"{group.capitalize()}:", *map(_option_entry, options)]))
    parts += [_wrapped(_CLOSING), f"Example:\n\n{_example()}"]
    return "\n\n".join(parts)


def _sections() -> str:
    options = [option for option in OPTIONS if "section" in option.where]
    return "\n".join(["Sections:", *(_entry(f"{o.name}:", _section_help(o)) for o in options)])


def _section_help(option: Option) -> str:
    # An option that is also a section says behind "as a section" what it is there.
    return option.help.rpartition(_AS_SECTION)[2].lstrip(":,").strip()


def _option_entry(option: Option) -> str:
    head = f"--[no-]{option.name}" if option.negatable else option.typed
    if option.form is Form.CHOICE:
        more = [option.metavar] if option.also else []
        head += f" {'|'.join([*option.choices, *more])}"
    elif option.form is not Form.FLAG:
        head += f" {option.metavar}"
    default = f" (default: {option.default})" if option.default else ""
    return _entry(head, option.help.partition(_AS_SECTION)[0] + default)


def _entry(head: str, text: str) -> str:
    head = f"  {head}"
    first = head.ljust(_INDENT) if len(head) <= _INDENT - 2 else f"{head}  "
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _wrapped(text: str) -> str:
    fill = (textwrap.fill(line, WIDTH, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join(fill)


def _example() -> str:
    return f"%%roundtable payments --seats pm,dev,rv --rounds 2\n{EXAMPLE}".rstrip()
