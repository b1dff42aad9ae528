"""`list`, `show`, `export`, `delete` and `lab`: looking at what is kept, and the quick start."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import sys
import time
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

from rt_notebook import session
from rt_notebook.arguments import STATUSES
from rt_notebook.domain.state import LIVE
from rt_notebook.errors import MissingExtraError, RunError, StoreError
from rt_notebook.frontends.agent import json_line
from rt_notebook.frontends.agent_arguments import IdArguments, ListArguments
from rt_notebook.frontends.agent_next import CommandLines, typed_line
from rt_notebook.frontends.agent_verbs import Caller, call
from rt_notebook.frontends.cli_words import CommandLineError, Words
from rt_notebook.frontends.detach import log_of
from rt_notebook.rendering.plain import cells, one_line, pad

QUICK_START: Final = "01-quickstart.ipynb"
"""The notebook that `lab` opens."""
COPY_NAME: Final = "roundtable-quickstart.ipynb"
"""What its copy is called."""

_TITLE: Final = 60
_AGE: Final = re.compile(r"([0-9]{1,5})d", re.ASCII)


def list_debates(words: Words) -> int:
    """Print the newest debates and return the exit status."""
    limit = words.flags.get("limit", 50)
    if not 1 <= limit <= 1000:
        raise CommandLineError(f"--limit takes a whole number from 1 to 1,000, got {limit}")
    status = words.flags.get("status")
    if status is not None and status not in STATUSES:
        shown = one_line(status, 40)
        raise CommandLineError(f"--status takes one of {', '.join(STATUSES)}, got {shown!r}")
    if words.flags.get("json"):
        return _print_json("list", ListArguments(status=status, limit=limit), words)
    rows = session.rows(status, limit, words.flags.get("store"))
    if not rows:
        print("No debate yet; `rt-notebook run FILE` runs one.", file=sys.stderr)
        return 0
    table = [("ID", "STATUS", "STARTED", "SEATS", "TITLE")]
    for row in rows:
        started = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created_at / 1000))
        seats = one_line(", ".join(row.seats), 40)
        table.append((row.id, row.status, started, seats, one_line(row.title, _TITLE)))
    widths = [max(cells(line[column]) for line in table) for column in range(5)]
    for line in table:
        print("  ".join(pad(text, wide) for text, wide in zip(line, widths, strict=True)).rstrip())
    return 0


def show(words: Words) -> int:
    """Print a debate's report and return the exit status."""
    if words.flags.get("json"):
        return _print_json("show", IdArguments(id=words.given[0]), words)
    store = words.flags.get("store")
    result = session.load(words.given[0], store)
    result.typed = typed_line(store)
    print(result)
    return 0


def export(words: Words) -> int:
    """Export a debate, print the paths and return the exit status."""
    from rt_notebook.frontends.export import export as write

    result = session.load(words.given[0], words.flags.get("store"))
    for path in write(result, words.given[1]):
        print(path)
    return 0


def delete(words: Words) -> int:
    """Delete one debate, or those that ended long ago, and return the exit status."""
    store, age = words.flags.get("store"), words.flags.get("older-than")
    if bool(words.given) == (age is not None):
        raise CommandLineError("delete takes a debate's id or --older-than, such as 90d")
    dry = bool(words.flags.get("dry-run"))
    names = words.given if age is None else _older_than(age, store)
    for name in names:
        found = session.state(name, store).id
        if not dry:
            session.delete(found, store)
            log_of(found, store).unlink(missing_ok=True)
        print(found)
    what = "would be deleted" if dry else "deleted"
    print(f"{len(names)} {what}", file=sys.stderr)
    return 0


def _older_than(age: str, store: str | None) -> list[str]:
    found = _AGE.fullmatch(age)
    if found is None:
        raise CommandLineError(f"--older-than takes days such as 90d, got {one_line(age, 40)!r}")
    oldest = time.time_ns() // 1_000_000 - int(found[1]) * 86_400_000
    rows = session.rows(None, None, store)
    return [row.id for row in rows if row.updated_at < oldest and row.status not in LIVE]


def lab(words: Words) -> int:
    """Copy the quick start to a folder and let JupyterLab take this process's place.

    Raises:
        MissingExtraError: JupyterLab isn't installed.
        RunError: the notebook isn't there.
        StoreError: the folder can't be written.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise MissingExtraError('JupyterLab is needed: pip install "rt-notebook[demo]"')
    source = quick_start()
    if source is None:
        raise RunError(
            f"the quick start notebook ({QUICK_START}) isn't in this installation; get it from the "
            "project's notebooks folder"
        )
    target = Path(words.given[0] if words.given else os.curdir) / COPY_NAME
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(source, target)
    except OSError as exc:
        raise StoreError(f"{target} can't be written: {exc.strerror}") from None
    print(f"Opening {target} in JupyterLab; Ctrl-C here ends it.", flush=True)
    command = [sys.executable, "-m", "jupyterlab", str(target.resolve())]
    os.execv(command[0], command)  # noqa: S606 - no shell: this process becomes JupyterLab


def quick_start() -> Path | None:
    """Return where the quick start notebook is: in a checkout, or among the installed files."""
    checkout = Path(__file__).resolve().parents[2] / "notebooks" / QUICK_START
    if checkout.is_file():
        return checkout
    with contextlib.suppress(PackageNotFoundError):
        for file in files("rt-notebook") or ():
            path = Path(str(file.locate()))
            if file.name == QUICK_START and path.is_file():
                return path
    return None


def _print_json(verb: str, given: IdArguments | ListArguments, words: Words) -> int:
    store = words.flags.get("store")
    answer = call(verb, given, Caller(CommandLines(store), store))
    print(json_line(answer))
    return 0 if answer["ok"] else 1
