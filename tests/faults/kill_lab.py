"""Kills a debate by SIGKILL at every kind of event, in one of the places where debates run.

    python -m tests.faults.kill_lab PLACE FOLDER [KIND ...]

PLACE is `driver` (Python), `command line` (`rt-notebook run`, `resume`, `extend`), `runner` (the
detached process behind `rt-notebook agent`), `parent` (a driver of which a seat is a command) or
`no log` (a driver on a file system that refuses a write-ahead log). For every kind: one process is
killed right after it has shown the first such event, a second one resumes, and what the log then
says is printed as one JSON line. All processes are forks of this one, so that they share one import
and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rt_notebook import session
from rt_notebook.analysis import frames as frames  # loaded here, so that the children need not
from rt_notebook.domain.events import Event
from rt_notebook.domain.research import Source
from rt_notebook.domain.state import RESUMABLE
from rt_notebook.engine import debate as engine
from rt_notebook.engine.runner import runner
from rt_notebook.errors import CallError, UsageError
from rt_notebook.frontends import cli, detach
from rt_notebook.frontends import cli_run as cli_run
from rt_notebook.providers.research import Found
from rt_notebook.providers.searching import WebSearcher
from rt_notebook.store import open_store, sqlite_database
from tests.engine.debates import reply
from tests.faults.scenes import ANSWERS, HANGS, PLACES, SCENES, Scene, with_command, write_files
from tests.faults.voices import CALLS, WAITS
from tests.providers.cli.fakes import GONE_S, alive
from tests.seats.table import claude_folder

Order = dict[str, Any]


@dataclass
class Director:
    """Sits in a process that runs a debate: does what a person does, then kills it.

    Args:
        scene: the debate.
        kill: the kind of event at whose first showing the process is killed; None: never.
        folder: where the numbers of the events are written down that were shown.
        begun: what is there once the command hangs, which the kill waits for.
    """

    scene: Scene
    kill: str | None
    folder: Path
    begun: Path | None = None

    def sit(self) -> None:
        """Hear every event once it is stored and everybody else was told."""
        committed = engine.Debate._committed

        def told(debate: engine.Debate, events: list[Event]) -> None:
            committed(debate, events)
            for event in events:
                self._hear(event)

        engine.Debate._committed = told  # type: ignore[method-assign, assignment]
        WebSearcher.search = _search  # type: ignore[method-assign, assignment]
        WebSearcher.check = _check  # type: ignore[method-assign, assignment]

    def _hear(self, event: Event) -> None:
        with (self.folder / "shown.txt").open("a", encoding="utf-8") as file:
            file.write(f"{event.seq}\n")
        if event.kind == self.kill:
            self._die()
        if event.kind == self.scene.interrupted_at and self.kill is not None:
            self.scene = replace(self.scene, interrupted_at=None)  # once
            os.kill(os.getpid(), signal.SIGINT)
        for name in (event.kind, f"{event.kind}@{event.body.get('round')}",
                     f"{event.kind}:{event.body.get('seat')}"):  # fmt: skip
            if name in self.scene.deeds:
                self._do(event.debate, *self.scene.deeds[name])

    def _die(self) -> None:
        if self.begun is None or self.begun.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        asyncio.get_running_loop().call_later(0.005, self._die)

    def _do(self, debate: str, verb: str, words: Mapping[str, Any]) -> None:
        control = session.control_of(debate)
        gate = control.state().gate
        if "answers" in words and not (gate is not None and gate.questions):
            words = {}
        with contextlib.suppress(UsageError):  # a deed that was done already
            getattr(control, verb)(**words)


async def _search(searcher: WebSearcher, progress: Callable[[int], None]) -> Found:
    if "research fails" in searcher._spec.brief.question:
        raise CallError("the web is down", kind="connection")
    return Found("It cost two weeks.", (Source("Costs", "https://a.example/c", "two weeks"),), 1)


def _check(searcher: WebSearcher) -> None:
    """Loads no vendor's library: nobody is asked."""


# ---- places --------------------------------------------------------------------------------------


def _driver(order: Order) -> None:
    run = detach._run_of(order)
    runner().run_blocking(lambda job: run.main())


def _command_line(order: Order) -> None:
    words = {
        "start": ["run", "debate.json", "--json"],
        "resume": ["resume", "last", "--json"],
        "extend": ["extend", "last", "And then?", "--json"],
    }
    Path("debate.json").write_text(json.dumps(order.get("input")), encoding="utf-8")
    cli.main(words[order["do"]])


def _runner(order: Order) -> None:
    Path("order.json").write_text(json.dumps(order), encoding="utf-8")
    with Path("order.json").open(encoding="utf-8") as sys.stdin:
        detach.main([str(Path("runner.log").absolute())])


def _without_log(order: Order) -> None:
    """A driver on a file system where a write-ahead log is refused, see `_fork`."""
    assert "a rollback journal is used" in open_store().notes[0]
    _driver(order)


NO_LOG = "no log"
"""The place of a driver without a write-ahead log."""
PARENT = "parent"
"""The place of a driver whose seats include a command: the parent of a command's process."""

LAB: dict[str, Callable[[Order], None]] = {
    "driver": _driver,
    "command line": _command_line,
    "runner": _runner,
    PARENT: _driver,
    NO_LOG: _without_log,
}
"""What carries an order out, by place."""


def _order(do: str, scene: Scene, store: Path) -> Order:
    if do == "start":
        return {"do": do, "input": dict(scene.input), "source": "agent"}
    debate = open_store(store).last_id()
    extension = {"prompt": "And then?"}
    return {"do": do, "id": debate, "store": str(store), "source": "agent", "extension": extension}


# ---- processes -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Act:
    """One process to be."""

    name: str
    """What its files are called."""
    do: str
    """start, resume or extend."""
    kill: str | None
    """Where it is killed."""


def acts_of(kind: str | None, scene: Scene) -> Iterator[Act]:
    """Yields the processes that a kill at this kind of event takes, in order."""
    if kind is None:
        yield Act("whole", "start", None)
    elif scene.extended:
        yield Act("whole", "start", None)
        yield Act("killed", "extend", kind)
    elif scene.resumed:
        yield Act("first", "start", "reply_read")
        yield Act("killed", "resume", kind)
    else:
        yield Act("killed", "start", kind)
    if kind is not None:
        yield Act("resumed", "resume", None)


def perform(place: str, folders: dict[Path, str | None], scenes: dict[Path, Scene]) -> None:
    """Does the acts of all kinds at once, one after the other within each."""
    plans = {folder: list(acts_of(kind, scenes[folder])) for folder, kind in folders.items()}
    for number in range(max(map(len, plans.values()))):
        children = {
            folder: _fork(place, folder, scenes[folder], acts[number])
            for folder, acts in plans.items()
            if number < len(acts)
        }
        for folder, child in children.items():
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if plans[folder][number].name == "killed" and place == PARENT:
                (folder / "left.txt").write_text(_left(folder), encoding="utf-8")
            (folder / f"{plans[folder][number].name}.code").write_text(str(code), encoding="utf-8")


def _left(folder: Path) -> str:
    """Returns what is left of the commands that a dead process ran, once its time is up."""
    ends = time.monotonic() + GONE_S
    while True:
        left = [*map(str, alive(folder / "command")), *os.listdir(folder / "temporary")]
        if not left or time.monotonic() > ends:
            return ", ".join(left)
        time.sleep(0.02)


def _fork(place: str, folder: Path, scene: Scene, act: Act) -> int:
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child:
        return child
    try:
        os.chdir(folder)
        _redirect(folder / f"{act.name}.out")
        store = folder / "debates.db"
        os.environ["RT_NOTEBOOK_STORE"] = str(store)
        os.environ[CALLS] = str(folder / f"{act.name}.calls")
        if place == NO_LOG:
            setattr(sqlite_database, "network_file_system", lambda path: "nfs4")  # noqa: B010
        begun = _seat_command(folder, act, scene) if place == PARENT else None
        if act.do == "resume" and session.rows()[0].status not in RESUMABLE:
            os._exit(0)  # it was over before it was killed
        Director(scene, act.kill, folder, begun).sit()
        LAB[place](_order(act.do, scene, store))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


# It hangs with a child that has left its group, and says so.
_HANGS = """
import glob
calls = len(glob.glob({folder!r} + "/call-*"))
open({folder!r} + "/call-%d" % calls, "w").close()
grandchild(True)
if open({folder!r} + "/hangs.txt").read() == str(calls):
    open({folder!r} + "/begun", "w").close()
    forever()
"""


def _seat_command(folder: Path, act: Act, scene: Scene) -> Path | None:
    """Puts a command `claude` on PATH, which hangs in the process that is to be killed.

    Returns:
        What is there once it hangs; None where the kill doesn't wait for that.
    """
    place, begun = folder / "command", folder / "command" / "begun"
    hangs = HANGS.get(act.kill or "", -1)
    if not place.exists():
        place.mkdir()
        said = next((ANSWERS[kind] for kind in scene.kinds.split() if kind in ANSWERS), "opt-2")
        text = said if said == "PASS" else reply(said, "The command says so.")
        claude_folder(place, text, before=_HANGS.format(folder=str(place)))
    (place / "hangs.txt").write_text(str(hangs), encoding="utf-8")
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    os.environ["PATH"] = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    if hangs < 0:
        return None
    if "options" in scene.input:  # in a discussion it speaks last
        os.environ[WAITS] = f"{hangs} {begun}"
    # These come while it is being started.
    return None if act.kill in ("call_started", "call_failed") else begun


def _redirect(path: Path) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(handle, 1)
    os.dup2(handle, 2)


# ---- what is told --------------------------------------------------------------------------------


def tell(kind: str | None, folder: Path) -> dict[str, Any]:
    """Returns what became of a debate."""
    store = open_store(folder / "debates.db")
    (row,) = store.debates()
    events = store.events(row.id)
    place = 1 + max((n for n, e in enumerate(events) if e.kind == "resumed"), default=len(events))
    result = session.load(row.id, folder / "debates.db")
    codes = {path.stem: int(path.read_text("utf-8")) for path in folder.glob("*.code")}
    store.close()
    return {
        "kind": kind,
        "left": _text(folder / "left.txt"),
        "hung": (folder / "command" / "begun").exists(),
        "codes": codes,
        "said": _text(folder / "resumed.out")[-2000:],
        "shown": max(map(int, _text(folder / "shown.txt").split()), default=0),
        "seqs": [event.seq for event in events],
        "kinds": [event.kind for event in events],
        "finished": _finished(events[:place]),
        "asked_again": _started(events[place:]),
        "called_again": _text(folder / "resumed.calls").split(),
        "outcome": _outcome(result),
    }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _finished(events: Iterable[Event]) -> list[str]:
    return [_asked(event) for event in events if event.kind == "call_finished"]


def _started(events: Iterable[Event]) -> list[str]:
    return [_asked(event) for event in events if event.kind == "call_started"]


def _asked(event: Event) -> str:
    # Without the number of the try.
    return str(event.body["call"]).rpartition("/")[0]


def _outcome(result: Any) -> dict[str, Any]:
    state = result.state
    turns = result.replies
    return {
        "status": state.status,
        "stop_reason": state.stop_reason,
        "ending": state.ending.get("status"),
        "pick": state.ending.get("pick"),
        "tally": state.tally,
        "turns": [[int(turn.round), turn.seat, str(turn.stance)] for turn in turns.itertuples()],
    }


def main(place: str, base: Path, *kinds: str) -> None:
    """Runs everything and prints it: whole debates first, then a line for every kind."""
    os.environ["RT_NOTEBOOK_CONFIG"] = str(write_files(base))
    chosen = list(kinds or PLACES)
    names = sorted({PLACES[kind] for kind in chosen})
    whole = {base / f"whole {name}": name for name in names}
    killed = {base / kind: kind for kind in chosen}
    folders: dict[Path, str | None] = {**dict.fromkeys(whole), **killed}
    scenes = {folder: SCENES[name] for folder, name in whole.items()}
    scenes |= {folder: SCENES[PLACES[kind]] for folder, kind in killed.items()}
    if place == PARENT:
        scenes = {folder: with_command(scene) for folder, scene in scenes.items()}
    perform(place, folders, scenes)
    for folder, name in whole.items():
        print(json.dumps({"scene": name, **tell(None, folder)}))
    for folder, kind in killed.items():
        print(json.dumps({"scene": PLACES[kind], **tell(kind, folder)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
