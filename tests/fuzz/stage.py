"""One generated debate on a real store, step by step: run, steered, killed, resumed, extended.

A killed process is a loop that is never run again while its lease counts as a dead process's. At
the end it is woken up, as a process that was only stopped, and must not write or call any more.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from rt_notebook import running as runs
from rt_notebook import session
from rt_notebook.domain.events import Event, decode_event, encode_body
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold, start_state
from rt_notebook.errors import RoundtableError, StoreError
from rt_notebook.running import DebateRun
from rt_notebook.seating import everybody
from rt_notebook.session import Opening
from rt_notebook.store import sqlite_leases as leases
from rt_notebook.store.log import Answer
from rt_notebook.store.sqlite import _OPEN, SqliteStore, open_store
from tests.engine.clocks import JumpingLoop
from tests.fuzz.actors import Actor

SLACK_S: Final = 12.0
"""Seconds that ending calls may take on top of what bounds a debate."""


class Disk(sqlite3.Connection):
    """A connection whose file can't be written while `fault` is set, at once or at the commit."""

    fault: ClassVar[int] = 0
    late: ClassVar[bool] = False

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        """Execute a statement, unless the disk is broken."""
        if Disk.fault and sql.startswith("COMMIT" if Disk.late else "BEGIN"):
            error = sqlite3.OperationalError("the disk is broken")
            error.sqlite_errorcode = Disk.fault
            raise error
        return super().execute(sql, *arguments)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path, timeout=60, isolation_level=None, check_same_thread=False, factory=Disk
    )


@dataclass
class Cast:
    """A run under way, or one whose process is dead."""

    run: DebateRun
    loop: asyncio.AbstractEventLoop
    task: asyncio.Task[Any]
    began: float
    due: int = 0


class Stage:
    """One debate and all its runs.

    Args:
        spec: its definition.
        path: the store's file.
        attended: whether somebody can be asked.
    """

    def __init__(self, spec: DebateSpec, path: Path, attended: bool) -> None:
        self.path = path
        if path not in _OPEN:
            _OPEN[path] = SqliteStore(path, _connect)
        self.spec = spec
        self.cast: Cast | None = None
        self.dead: list[Cast] = []
        self.wrong: list[BaseException] = []
        self.asked: list[int] = []
        self.happened = 0
        self.broken = False
        self.shadow: State | None = None
        self._changed: asyncio.Event | None = None
        for seat in everybody(spec):
            if isinstance(seat.function, Actor):
                seat.function.watch = self._watched(seat.name)
        self.set_going(lambda: session.new_run(spec, self.opening(attended)))
        self.id = self.last.id

    def opening(self, attended: bool) -> Opening:
        """Return how a run is opened."""
        return Opening(store=self.path, attended=attended)

    @property
    def models(self) -> dict[str, Any]:
        """The functions, as a resume has to be given them."""
        return {seat.name: f for seat in everybody(self.spec) if (f := seat.function) is not None}

    @property
    def store(self) -> SqliteStore:
        """The store, opened anew where it had to be."""
        return open_store(self.path)

    @property
    def events(self) -> list[Event]:
        """What the store holds of the debate."""
        return self.store.events(self.id)

    @property
    def stored(self) -> bool:
        """Whether anything of it is stored."""
        return self.happened > 0

    # ---- a run's life --------------------------------------------------------------------------

    def set_going(self, make: Callable[[], DebateRun]) -> None:
        """Begin a run; it does its first step when the loop is run."""
        run = make()
        run.listeners.append(self._told)
        self.last = run
        loop = JumpingLoop()
        task = loop.create_task(run.main())
        self.cast = Cast(run, loop, task, loop.time())
        self._changed = asyncio.Event()
        changed = self._changed
        task.add_done_callback(lambda _: changed.set())

    def until(self, holds: Callable[[], bool], patience_s: float = 100_000.0) -> None:
        """Let time pass until `holds()`, or the run has ended."""
        cast, changed = self.cast, self._changed
        if cast is None or changed is None:
            return

        async def wait() -> None:
            async with asyncio.timeout(patience_s):
                while not (holds() or cast.task.done()):
                    changed.clear()
                    await changed.wait()

        with suppress(TimeoutError):
            cast.loop.run_until_complete(wait())
        self._settle()

    def let_happen(self, count: int) -> None:
        """Let so many events happen."""
        goal = self.happened + count
        self.until(lambda: self.happened >= goal)

    def tick(self, count: int) -> None:
        """Let the loop turn so many times, with next to no time passing."""
        cast = self.cast
        if cast is None:
            return

        async def turn() -> None:
            for _ in range(count):
                if cast.task.done():
                    break
                await asyncio.sleep(0)

        cast.loop.run_until_complete(turn())
        self._settle()

    def pass_time(self, seconds: float) -> None:
        """Let so much time pass."""
        if self.cast is not None:
            self.until(lambda: False, seconds)

    def to_the_end(self) -> None:
        """Let the run end, which it must within the bounds of its definition."""
        cast = self.cast
        if cast is None:
            return
        self.until(lambda: False)
        assert cast.task.done(), f"it doesn't end (status {cast.run.fold.status})"

    def interrupt(self, again: bool) -> None:
        """Cancel the run, as Ctrl-C does."""
        cast = self.cast
        if cast is None:
            return
        self.tick(1)  # a run that hasn't begun has nothing to interrupt
        cast.run.interrupt()
        self.tick(1)
        if again and not cast.task.done():
            cast.task.cancel()
        self.until(lambda: False, SLACK_S)
        assert cast.task.done(), "an interrupted run doesn't end"

    def kill(self) -> bool:
        """Let the process die here and now; False where there is none, or nothing to find."""
        cast = self.cast
        if cast is None or not self.stored:
            return False
        self.cast = None
        self.dead.append(cast)
        # What the log has told of may be asked yet: those calls were in flight.
        cast.due = sum(c.outcome == "running" for c in cast.run.fold.calls.values())
        hold = cast.run._log.hold  # type: ignore[attr-defined]  # the file store's log
        if hold is not None:
            leases.drop_claim(hold.claim)
        runs._running.pop(self.id, None)
        return True

    def wake(self) -> None:
        """Wake the dead: whoever was thought dead and has been replaced finds that out."""
        if not self.dead:
            return
        # Nobody goes on with an ended debate, so one who died before setting it going again would
        # hold it still.
        log = self.store.log(self.id)
        log.take_over()
        log.release()
        before = self.events
        others = dict(runs._running)
        while self.dead:
            cast = self.dead.pop()
            calls = self._calls()
            cast.run.listeners.clear()
            with suppress(StoreError, asyncio.CancelledError):
                cast.loop.run_until_complete(cast.task)
            assert self._calls() <= calls + cast.due, "a replaced run called somebody"
            _close(cast.loop)
        runs._running.clear()
        runs._running.update(others)
        now = self.events
        assert now == before, (
            "a replaced run wrote something",
            [e.kind for e in before],
            [(e.kind, e.body) for e in now[len(before) :]],
        )

    def _calls(self) -> int:
        return sum(a.taken for s in everybody(self.spec) if isinstance(a := s.function, Actor))

    def _settle(self) -> None:
        """Look at how a run ended, if it has."""
        cast = self.cast
        if cast is None or not cast.task.done():
            return
        self.cast = None
        runs._running.pop(self.id, None) if hasattr(self, "id") else None
        lasted = cast.loop.time() - cast.began
        error = None if cast.task.cancelled() else cast.task.exception()
        _close(cast.loop)
        if error is not None and not isinstance(error, StoreError):
            raise error
        self.broken = error is not None
        most = self._most_s(cast.run.fold)
        assert lasted <= most, f"it ended after {lasted:g} s; {most:g} are allowed"

    def _most_s(self, state: State) -> float:
        minutes = state.spec.limits.max_minutes
        assert minutes is not None
        return minutes * 60 + state.closing_seat.timeout_s + SLACK_S

    # ---- what is looked at on the way ----------------------------------------------------------

    def check(self) -> None:
        """Raise what a listener or a seat found wrong."""
        if self.wrong:
            raise self.wrong[0]

    def _told(self, event: Event, state: State) -> None:
        try:
            self._follow(event, state)
        except BaseException as exc:  # the engine keeps listeners' errors away
            self.wrong.append(exc)
        if self._changed is not None:
            self._changed.set()

    def _follow(self, event: Event, state: State) -> None:
        """Fold each event, as it is stored, into a second state; it must stay like the first."""
        assert event.seq == self.happened + 1, (event, self.happened)
        self.happened = event.seq
        read = decode_event(event.v, event.debate, event.seq, event.at, event.kind,
                            encode_body(event.body))  # fmt: skip
        if self.shadow is None:
            self.shadow = start_state(read, DebateSpec.model_validate(read.body["spec"]))
        else:
            self.shadow.apply(read)
        assert_same_state(self.shadow, state)

    def _watched(self, name: str) -> Callable[[Any], None]:
        def watch(call: Any) -> None:
            try:
                self._check_call(name, call)
            except BaseException as exc:  # a seat's error would only fail its call
                self.wrong.append(exc)

        return watch

    def _check_call(self, name: str, call: Any) -> None:
        state = self.last.fold
        shown = state.chairman_name if name == "boss" else name
        under_way = [c for c in state.calls.values() if c.seat == shown and c.outcome == "running"]
        assert [c.purpose for c in under_way] == [call.purpose], (name, call.purpose, under_way)
        assert call.deadline_s > 0

    # ---- commands ------------------------------------------------------------------------------

    def ask(self, verb: str, body: Mapping[str, Any], source: str) -> None:
        """Leave a command in the store, as another process does."""
        self.asked.append(self.store.ask(self.id, verb, body, source))

    def collect(self) -> list[Answer]:
        """Return what became of the commands; those nobody has taken are taken back."""
        found = []
        for number in self.asked:
            try:
                answer = self.store.collect(number)
                if answer is None and self.cast is None:
                    taken = not self.store.withdraw(number)
                    assert not taken or self.dead, "a command was taken and never answered"
            except StoreError as error:
                if error.facts.get("fault") != "lost":
                    raise
            else:
                found += [answer] if answer is not None else []
        self.asked.clear()
        return found


def refused(work: Callable[[], Any], *kinds: type[RoundtableError]) -> RoundtableError | None:
    """Return the error of one of these kinds that `work` raises, or None where it raises none."""
    try:
        work()
    except kinds as error:
        json.dumps(error.facts, default=str)
        return error
    return None


def assert_same_state(one: State, two: State) -> None:
    """Check that two folds are the same, the functions in the seats apart."""
    assert one.spec.model_dump() == two.spec.model_dump()
    assert replace(one, spec=two.spec) == two


def folded(events: list[Event]) -> State:
    """Return the fold of events as a fresh process reads them."""
    return fold(events)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """End what a run left on its loop: coroutines that ignore their cancellation."""
    tasks = asyncio.all_tasks(loop)
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=30))
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.sleep(20))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
