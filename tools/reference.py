"""Writes the tables of the documentation from the code: `python -m tools.reference`.

A page says where a table goes by a pair of comments, `<!-- table: NAME -->` and `<!-- end -->`;
what stands between them is replaced. All words come from the code's own tables and docstrings; a
test compares the pages with them.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from rt_notebook import errors
from rt_notebook.analysis.catalogue import TABLES
from rt_notebook.analysis.diff import Diff
from rt_notebook.analysis.many import Frames
from rt_notebook.analysis.result import Result
from rt_notebook.analysis.sweep import Sweep
from rt_notebook.analysis.verdict import Verdict
from rt_notebook.contract.options import OPTIONS, Form, Option
from rt_notebook.domain import snapshot
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import Limits
from rt_notebook.frontends import agent_table, cli_words
from rt_notebook.frontends.verbs import VERBS
from rt_notebook.providers.api_doors import KEY_VARIABLES

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
"""Where the pages lie."""

_REGION: Final = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_KINDS: Final = {
    "text": "text",
    "int": "whole number",
    "float": "number",
    "flag": "flag",
    "list": "list",
    "time": "time",
}


def filled(page: str) -> str:
    """Returns a page with every table as the code has it now."""
    return _REGION.sub(lambda found: f"{found[1]}\n{MAKERS[found[2]]()}\n\n{found[3]}", page)


def pages() -> list[Path]:
    """Returns the pages that hold tables."""
    return [path for path in sorted(DOCS.glob("*.md")) if _REGION.search(_text(path))]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def field_docs(cls: type) -> dict[str, str]:
    """Returns the sentence below each field of a class, by the field's name."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for field, words in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            value = words.value if isinstance(words, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found[field.target.id] = " ".join(value.value.split())
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _cell(text: str) -> str:
    return text.replace("\\|", "|").replace("|", "\\|") or " "


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").split("\n")[0]


# ---- options ------------------------------------------------------------------------------------


def _options() -> str:
    parts = []
    for group in dict.fromkeys(option.group for option in OPTIONS):
        heads = ("Name", "Takes", "Default", "In a file", "What it does")
        rows = [_option_row(option) for option in OPTIONS if option.group == group]
        parts.append(f"## {group.capitalize()}\n\n{table(heads, rows)}")
    return "\n\n".join(parts)


def _option_row(option: Option) -> tuple[str, ...]:
    typed = f"--[no-]{option.name}" if option.negatable else option.typed
    spots = [_code(typed)] if "line" in option.where else []
    spots += [_code(f"{option.name}:")] if "section" in option.where else []
    bullets = "line" not in option.where and option.form is Form.LIST
    notes = [f"{option.kind}s only"] if option.kind else []
    notes += ["not in Python"] if "python" not in option.where else []
    return (
        " or ".join(spots),
        "bullets" if bullets else option.takes,
        option.default or "–",
        "yes" if "file" in option.where else "–",
        f"{option.help} ({'; '.join(notes)})" if notes else option.help,
    )


def _verbs() -> str:
    rows = [(_code(f"{v.name} {v.usage}".strip()), v.help) for v in VERBS.values()]
    return table(("`%roundtable` …", "What it does"), rows)


def _commands() -> str:
    found = cli_words.COMMANDS.values()
    rows = [(_code(f"{c.name} {c.usage}".strip()), c.help) for c in found]
    return table(("`rt-notebook` …", "What it does"), rows)


def _agent_verbs() -> str:
    found = agent_table.VERBS.values()
    rows = [(_code(f"{v.name} {v.usage}".strip()), v.help) for v in found]
    return table(("`rt-notebook agent` …", "What it does"), rows)


# ---- values -------------------------------------------------------------------------------------


def _fields(cls: Any, heads: Sequence[str] = ("Field", "Default", "What it is")) -> str:
    docs = field_docs(cls)
    fields = cls.model_fields
    rows = [(_code(name), _default(fields[name]), docs[name]) for name in fields if name in docs]
    return table(heads, rows)


def _default(field: Any) -> str:
    if field.is_required():
        return "–"
    value = field.get_default(call_default_factory=True)
    return _code(repr(value))


def _parts() -> str:
    names = ("Snapshot", "GatePart", "QuestionPart", "TurnPart", "PositionPart", "NextAction")
    parts = []
    for name in names:
        cls = getattr(snapshot, name)
        rows = [(_code(field), words) for field, words in field_docs(cls).items()]
        parts.append(
            f"## {_first_line(cls).rstrip(chr(46))}\n\n{table(('Field', 'What it is'), rows)}"
        )
    return "\n\n".join(parts)


def _verdict() -> str:
    rows = [(_code(f"verdict.{name}"), words) for name, words in field_docs(Verdict).items()]
    return table(("Attribute", "What it is"), rows)


def _keys() -> str:
    rows = [
        (_code(f"{prefix}:MODEL"), " or ".join(map(_code, names)))
        for prefix, names in KEY_VARIABLES.items()
    ]
    return table(("Model", "Key in the environment"), rows)


# ---- results ------------------------------------------------------------------------------------


def _attributes(cls: type) -> str:
    rows = [
        (_code(name), _first_line(value.fget))
        for name, value in vars(cls).items()
        if isinstance(value, property) and not name.startswith("_")
    ]
    return table(("Attribute", "What it is"), rows)


def _columns() -> str:
    parts = []
    for name, made in TABLES.items():
        about = _first_line(getattr(Frames, name).fget)
        columns = [f"`{column}` {_KINDS[kind]}" for column, kind in made.columns.items()]
        parts.append(f"### {name}\n\n{about}\n\n{' · '.join(columns)}")
    return "\n\n".join(parts)


def _errors() -> str:
    rows = []
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.RoundtableError):
            parent = value.__mro__[1].__name__
            rows.append((_code(name), _code(parent), _first_line(value)))
    return table(("Error", "Is a", "Means"), rows)


def _error_kinds() -> str:
    kinds = sorted(errors.CALL_ERROR_KINDS)

    def after(kind: str) -> str:
        if kind in errors.RETRYABLE_KINDS:
            return "tried again, within the seat's own time"
        return "not asked again until resumed" if kind in errors.SEAT_DOWN_KINDS else "next round"

    rows = [(_code(kind), after(kind)) for kind in kinds]
    return table(("Kind", "What happens to the seat"), rows)


MAKERS: Final[dict[str, Callable[[], str]]] = {
    "options": _options,
    "verbs": _verbs,
    "commands": _commands,
    "agent-verbs": _agent_verbs,
    "seat": lambda: _fields(Seat),
    "brief": lambda: _fields(Brief),
    "limits": lambda: _fields(Limits),
    "state": _parts,
    "verdict": _verdict,
    "keys": _keys,
    "result": lambda: _attributes(Result),
    "sweep": lambda: _attributes(Sweep),
    "diff": lambda: _attributes(Diff),
    "columns": _columns,
    "errors": _errors,
    "error-kinds": _error_kinds,
}
"""What makes each table, by its name in a page."""


def main() -> int:
    """Writes every page whose tables have changed."""
    for path in pages():
        text = _text(path)
        if (new := filled(text)) != text:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"{path.name}: tables written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
