"""The longer help texts of the command line. Loads the option table and nothing else."""

from __future__ import annotations

import textwrap
from typing import Final

from rt_notebook.contract.options import LINE_OPTIONS, Form, Option
from rt_notebook.frontends.cli_words import COMMANDS, exits_help, form

CELL_ONLY: Final = frozenset({"with", "context", "background", "display", "help"})
"""Options of a cell's line that mean nothing on a command line."""

_INDENT: Final = 34
_WIDTH: Final = 92

_RUN: Final = """\
FILE is a cell (question, then sections; its first line may be %%roundtable with options) or a
JSON object as `rt-notebook agent schema` describes it; - reads standard input. Options given here
go before those in the file. Without a terminal nobody is asked (--unattended); gates can still be
opened with --no-unattended and answered by `rt-notebook agent answer` or from a notebook.

  --json                          print the result as one line of JSON, no live view
  --fake                          every seat and the chairman scripted; nothing is called or spent
"""

_MCP: Final = """\
rt-notebook mcp

The agent's verbs as MCP tools over standard input and output; needs pip install
"rt-notebook[mcp]". A client starts it; add it by

  rt-notebook setup --client claude      (or codex, gemini, opencode, antigravity, all)

which shows the change, keeps a backup and touches nothing else (--dry-run only shows it), or by
hand:

  Claude Code    claude mcp add --scope user rt-notebook -- rt-notebook mcp
  Codex          codex mcp add rt-notebook -- rt-notebook mcp
  Gemini CLI     gemini mcp add --scope user rt-notebook rt-notebook mcp
  others         "mcpServers": {"rt-notebook": {"command": "rt-notebook", "args": ["mcp"]}}

`rt-notebook setup --status` says where it is set up."""


def run_help() -> str:
    """Return the help of `rt-notebook run`: its options come from the one table."""
    lines = [form(COMMANDS["run"]), "", _RUN]
    options = [option for name, option in LINE_OPTIONS.items() if name not in CELL_ONLY]
    for group in dict.fromkeys(option.group for option in options):
        lines.append(f"{group.capitalize()}:")
        lines += [_entry(option) for option in options if option.group == group]
    return "\n".join([*lines, "", exits_help()])


def mcp_help() -> str:
    """Return the help of `rt-notebook mcp`."""
    return _MCP


def _entry(option: Option) -> str:
    head = f"  --[no-]{option.name}" if option.negatable else f"  {option.typed}"
    if option.form is Form.CHOICE:
        head += f" {'|'.join(option.choices)}"
    elif option.form is not Form.FLAG:
        head += f" {option.metavar}"
    text = option.help.partition("; as a section")[0]
    if option.default:
        text += f" (default: {option.default})"
    first = head.ljust(_INDENT) if len(head) <= _INDENT - 2 else f"{head}  "
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
