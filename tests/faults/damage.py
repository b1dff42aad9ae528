"""Ways to damage a store, region by region, and what can be found out about it afterwards."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.store import sqlite
from tests.environment import ROOT, scrubbed_environment

PAGE = 4096
FRAME = 24 + PAGE
HEAD = 32
ENDED, LATER = 6, 4
"""Debates that are in the database, and those that are in its log alone; one more was killed."""

_WRITE = """
import os, signal, sys
import rt_notebook as rt
from rt_notebook.store import open_store
def run(n, **more):
    seats = [rt.Seat("pm", lens="cost"), rt.Seat("dev", lens="risk")]
    # Every third one's first event goes on over several pages.
    context = f"{n} pages of it. " * (n % 3 // 2 * 1000)
    rt.Review(f"Ship number {n}?", options=["Ship", "Wait"], seats=seats, rounds=2,
              context=context, unattended=True, loop_threshold=0).run_sync(**more)
ended, later = int(sys.argv[1]), int(sys.argv[2])
for n in range(ended):
    run(n)
open_store().close()
for n in range(ended, ended + later):
    run(n)
def kill(event):
    if event.kind == "round_started" and event.body["round"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
run(ended + later, on_event=kill)
"""

Bytes = dict[str, bytes]
"""Contents by the end of the name: `''`, `-wal`, `-shm`."""


@dataclass(frozen=True)
class Whole:
    """A store before it is damaged."""

    files: Bytes
    """What it consists of."""
    events: dict[str, list[Any]]
    """Its events by debate, oldest first."""

    @property
    def ended(self) -> Whole:
        """The same without its log, as after its last writer has ended well."""
        files = {"": carried_over(self.files)}
        return Whole(files, self.events)

    @property
    def pages(self) -> int:
        """Pages of the database."""
        return len(self.files[""]) // PAGE

    @property
    def frames(self) -> int:
        """Frames of the log."""
        return (len(self.files["-wal"]) - HEAD) // FRAME


def write_store(folder: Path) -> Whole:
    """Returns a store whose last writer was killed: a part of it is in its log alone."""
    path = folder / "debates.db"
    environment = scrubbed_environment(folder) | {"PYTHONPATH": str(ROOT)}
    code = subprocess.run(
        [sys.executable, "-c", _WRITE, str(ENDED), str(LATER)],
        env=environment | {"RT_NOTEBOOK_STORE": str(path)},
        timeout=60,
        check=False,
    ).returncode
    assert code == -signal.SIGKILL
    files = read_files(path)
    events = all_events(path)
    assert len(events) == ENDED + LATER + 1
    return Whole(files, events)


def carried_over(files: Bytes) -> bytes:
    """Returns the database with all of its log in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "debates.db"
        write_files(path, files)
        session.rows(None, 1, path)
        close(path)
        assert list(read_files(path)) == [""]
        return path.read_bytes()


def read_files(path: Path) -> Bytes:
    """Returns what a store consists of."""
    ends = ("", "-wal", "-shm")
    return {end: file.read_bytes() for end in ends if (file := Path(f"{path}{end}")).exists()}


def write_files(path: Path, files: Bytes) -> None:
    """Puts a store's files in place."""
    for end, content in files.items():
        Path(f"{path}{end}").write_bytes(content)


def all_events(path: Path) -> dict[str, list[Any]]:
    """Returns the events of every debate that can be read; closes the store again."""
    found = {}
    for row in reversed(session.rows(None, None, path)):
        found[row.id] = session.load(row.id, path).events
    close(path)
    return found


def close(path: Path) -> None:
    """Closes a store that this process has opened."""
    store = sqlite._OPEN.pop(path, None)
    if store is not None:
        store.close()


# ---- the damages -------------------------------------------------------------------------------


def noise(size: int, seed: int = 0) -> bytes:
    """Returns bytes that mean nothing, the same every time."""
    return random.Random(seed).randbytes(size)  # noqa: S311


def over(files: Bytes, end: str, place: int, content: bytes) -> Bytes:
    """Returns the files with some bytes of one replaced."""
    old = files[end]
    return {**files, end: old[:place] + content + old[place + len(content) :]}


def cut(files: Bytes, end: str, size: int) -> Bytes:
    """Returns the files with one cut to a size."""
    return {**files, end: files[end][:size]}


def page(files: Bytes, number: int) -> Bytes:
    """Returns the files with one page of the database turned into noise."""
    return over(files, "", (number - 1) * PAGE, noise(PAGE, number))


def frame(number: int) -> int:
    """Returns where a frame of the log begins; the first is 1."""
    return HEAD + (number - 1) * FRAME


def long_row_page(whole: Whole) -> int:
    """Returns where a page of the database begins that holds nothing but the middle of a row."""
    content = whole.files[""]
    return next(
        place
        for place in range(0, len(content), PAGE)
        if content[place + 4 : place + PAGE].count(b" pages of it. ") > (PAGE - 4) // 16
    )


Damaging = Callable[[Whole], Bytes]

DAMAGES: dict[str, Damaging] = {
    "header zeroed": lambda w: over(w.files, "", 0, bytes(100)),
    "header noise": lambda w: over(w.files, "", 0, noise(100)),
    "first page noise": lambda w: page(w.files, 1),
    "first page but its header": lambda w: over(w.files, "", 100, noise(PAGE - 100)),
    "middle page noise": lambda w: page(w.files, w.pages // 2),
    "last page noise": lambda w: page(w.files, w.pages),
    "middle page zeroed": lambda w: over(w.files, "", (w.pages // 2 - 1) * PAGE, bytes(PAGE)),
    "long row's page zeroed": lambda w: over(w.files, "", long_row_page(w), bytes(PAGE)),
    "all pages but the first": lambda w: over(w.files, "", PAGE, noise((w.pages - 1) * PAGE)),
    "cut to nothing": lambda w: cut(w.files, "", 0),
    "cut to half a header": lambda w: cut(w.files, "", 50),
    "cut to one page": lambda w: cut(w.files, "", PAGE),
    "cut in the middle of a page": lambda w: cut(w.files, "", w.pages // 2 * PAGE + 1000),
    "cut by its last page": lambda w: cut(w.files, "", (w.pages - 1) * PAGE),
    "log header zeroed": lambda w: over(w.files, "-wal", 0, bytes(HEAD)),
    "log header noise": lambda w: over(w.files, "-wal", 0, noise(HEAD)),
    "log frame's head noise": lambda w: over(w.files, "-wal", frame(w.frames // 2), noise(24)),
    "log page noise": lambda w: over(w.files, "-wal", frame(w.frames // 2) + 24, noise(PAGE)),
    "log's first page noise": lambda w: over(w.files, "-wal", frame(1) + 24, noise(PAGE)),
    "noise behind the log": lambda w: {**w.files, "-wal": w.files["-wal"] + noise(5000)},
    "log cut to nothing": lambda w: cut(w.files, "-wal", 0),
    "log cut to its header": lambda w: cut(w.files, "-wal", HEAD),
    "log cut in a header": lambda w: cut(w.files, "-wal", 10),
    "log cut in the middle": lambda w: cut(w.files, "-wal", frame(w.frames // 2)),
    "log cut in a frame": lambda w: cut(w.files, "-wal", frame(w.frames // 2) + 2000),
    "log cut by its last frame": lambda w: cut(w.files, "-wal", frame(w.frames)),
    "index noise": lambda w: over(w.files, "-shm", 0, noise(2000)),
    "index gone": lambda w: {end: text for end, text in w.files.items() if end != "-shm"},
    "index cut": lambda w: cut(w.files, "-shm", 30),
    "another log": lambda w: {**w.files, "-wal": noise(len(w.files["-wal"]))},
}
"""By name: what becomes of a whole store's files."""

HARMLESS = frozenset({"noise behind the log", "index noise", "index gone", "index cut"})
"""Nothing is missing after these: what they hit is no data."""

HEALED = frozenset(
    {"header zeroed", "header noise", "first page noise", "first page but its header"}
)
"""After these, a store with a log reads as before: the log holds the same pages, newer."""

RECOVERED = frozenset(
    {
        *("header zeroed", "header noise", "first page noise", "first page but its header"),
        *("log header zeroed", "log header noise"),
    }
)
"""After these, recovering brings every event back."""


def damages(whole: Whole, every_page: bool) -> Iterator[tuple[str, Bytes]]:
    """Yields damaged stores by name."""
    for name, damaging in DAMAGES.items():
        if "-wal" in whole.files or not name.startswith(("log", "noise", "index", "another")):
            yield name, damaging(whole)
    if every_page:
        for number in range(1, whole.pages + 1):
            yield f"page {number}", page(whole.files, number)
    if every_page and "-wal" in whole.files:
        for number in range(1, whole.frames + 1):
            spoilt = over(whole.files, "-wal", frame(number) + 24, noise(PAGE, number))
            yield f"frame {number}", spoilt
            yield f"log cut at {number}", cut(whole.files, "-wal", frame(number))


# ---- what is found out -------------------------------------------------------------------------


@dataclass
class Told:
    """What a person is told who uses a damaged store."""

    lines: list[str]
    """The errors, in order."""
    events: dict[str, list[Any]]
    """The events of the debates that could be read."""
    after: str
    """The status of a new debate, run at the end."""


def use(path: Path, ids: list[str]) -> Told:
    """Lists, loads every debate, and runs a new one, as often as it takes (at most three times)."""
    told = Told([], {}, "")
    for _ in range(3):
        names = _tried(told, lambda: [row.id for row in session.rows(None, None, path)]) or []
        for name in dict.fromkeys([*ids, *names]):  # in the same order every time
            events = _tried(told, partial(_events, name, path))
            if events is not None and len(events) > len(told.events.get(name, [])):
                told.events[name] = events
        result = _tried(told, lambda: _new_debate(path))
        if result is not None:
            told.after = result
            break
    close(path)
    return told


def _events(name: str, path: Path) -> list[Any]:
    return session.load(name, path).events


def _new_debate(path: Path) -> str:
    review = rt.Review(
        "Ship another?", options=["Ship", "Wait"], seats=["pm", "dev"], unattended=True,
        store=str(path),
    )  # fmt: skip
    result = review.run_sync()
    return session.load(result.id, path).status


def _tried(told: Told, act: Callable[[], Any]) -> Any:
    try:
        return act()
    except rt.UnknownDebateError:
        return None
    except rt.StoreError as error:
        told.lines.append(str(error))
        return None


def set_aside(path: Path) -> list[Path]:
    """Returns the databases that were set aside, oldest first."""
    ends = ("-wal", "-shm")
    found = path.parent.glob(f"{path.name}.damaged-*")
    return sorted(each for each in found if not each.name.endswith(ends))
