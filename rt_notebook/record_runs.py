"""Runs of debates that have a record: one that replays it, one that writes it.

Owns what is told, stored and written when. Whether a record fits, and what a mode allows, is
decided in `recording`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from rt_notebook.analysis.result import Result
from rt_notebook.contract.prompts import PROMPTS_VERSION
from rt_notebook.contract.record import SeatOrder, lines_of, record_line
from rt_notebook.domain.events import Event
from rt_notebook.domain.gate import Gate, question_key
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, start_state
from rt_notebook.engine import commands
from rt_notebook.engine.commands import Body
from rt_notebook.errors import StoreError, UnknownDebateError, UsageError
from rt_notebook.next_steps import snapshot_of
from rt_notebook.providers.base import Provider
from rt_notebook.providers.registry import Context, make_provider
from rt_notebook.providers.replay import Book, Replaying
from rt_notebook.running import DebateRun
from rt_notebook.store.log import DebateLog, Store
from rt_notebook.store.record import public, save_record

_ENDS: Final = frozenset(
    {"round_started", "gate_opened", "verdict_started", "concluded", "interrupted"}
)
"""The events before which a round, or the debate, has ended."""

_log = logging.getLogger(__name__)


class Recorder:
    """Keeps a debate's events and writes them to its record at each round's end.

    Args:
        path: the record's file.
        name: what it is called in messages.
        spec: the debate's definition.
    """

    def __init__(self, path: Path, name: str, spec: DebateSpec) -> None:
        self._path = path
        self._name = name
        self._order = SeatOrder(spec)
        self._events: list[Event] = []
        self._text: list[str] = []
        self._is_saved = True
        self._asked = False
        self.fault: str | None = None
        """Why the record couldn't be written the last time; None when it could."""

    def begin_with(self, events: Iterable[Event]) -> None:
        """Take events of before the run; they aren't written by themselves."""
        for event in events:
            self._take(event)

    def listen(self, event: Event, state: State) -> None:
        """Take an event that is in the log. On the debate's loop."""
        self._take(event)
        self._is_saved = False
        self._asked = self._asked or event.kind == "call_started"
        if event.kind in _ENDS and (event.kind != "round_started" or self._asked):
            self.save()

    def save(self) -> None:
        """Write what isn't written yet; a fault is kept and ends no debate that was paid for."""
        if self._is_saved:
            return
        text = "".join([*self._text, lines_of(public(self._order.rest()))])
        try:
            save_record(self._path, text)
        except OSError as exc:
            self.fault = f"the record {self._name!r} could not be written: {exc.strerror}"
            _log.warning("%s", self.fault)
        else:
            self.fault, self._is_saved, self._asked = None, True, False

    @property
    def events(self) -> list[Event]:
        """The events as the record has them."""
        return [*self._events, *public(self._order.rest())]

    def _take(self, event: Event) -> None:
        # What is settled is made ready once: a record is written again at each round's end.
        settled = public(self._order.take(event))
        self._events += settled
        self._text += map(record_line, settled)


class ReplayRun(DebateRun):
    """A debate whose record fits: nobody is called or asked, and no file is touched.

    Args:
        events: the record.
        spec: the debate's definition here.
        store: gets the debate, where it isn't there yet.
        log: the debate's log in it.
        warnings: what a person should know.
    """

    replays: ClassVar[bool] = True

    def __init__(
        self,
        events: Sequence[Event],
        spec: DebateSpec,
        store: Store,
        log: DebateLog,
        warnings: Iterable[str] = (),
    ) -> None:
        super().__init__(start_state(events[0]._replace(seq=0), spec), store, log, (), warnings)
        self._events = tuple(events)

    async def main(self) -> Result:
        """Replay the debate on the running loop."""
        self._begun.set()
        await self._keep()
        tell(self, self._state, self._events)
        return self.result()

    def result(self, variable: str | None = None) -> Result:
        """Return the result; it is the record's, whatever the store holds."""
        return Result(
            self._state,
            self._events,
            warnings=self.warnings,
            variable=variable,
            outside=snapshot_of,
        )

    async def _keep(self) -> None:
        """Put the debate into the store, once; a store that can't be written stops no replay."""
        try:
            self.store.row(self.id)
        except UnknownDebateError:
            try:
                await self._log.append(self._stored(), lambda: None)
            except StoreError as exc:
                _log.info("the replayed debate %s isn't in the store: %s", self.id, exc)
            finally:
                self._log.release()

    def _stored(self) -> list[Event]:
        # Under the definition that is here: what a foreign record says about servers stays out.
        first, *rest = self._events
        spec = self._state.spec.model_dump(mode="json")
        return [first._replace(body={**first.body, "spec": spec}), *rest]


class RecordingRun(DebateRun):
    """A debate that writes its record, and takes from an old one what fits.

    Args:
        state: where it stands before `past`.
        store: where it is kept.
        log: its event log.
        first: the events to begin with, behind `past`.
        warnings: what a person should know.
        recorder: writes the record.
        past: what is taken over from the old record or from the store.
        keep_past: whether `past` isn't in the store yet.
        book: answers of the old record to calls that come later.
        gates: gates of the old record that come later.
    """

    def __init__(
        self,
        state: State,
        store: Store,
        log: DebateLog,
        first: Sequence[Body],
        warnings: Iterable[str],
        recorder: Recorder,
        *,
        past: Sequence[Event] = (),
        keep_past: bool = True,
        book: Book | None = None,
        gates: Sequence[Gate] = (),
    ) -> None:
        super().__init__(state, store, log, first, warnings)
        self._given = state.spec
        self._recorder = recorder
        self._past = past
        self._keep_past = keep_past
        self._book = book
        self._gates = list(gates)

    async def main(self) -> Result:
        """Run the debate on the running loop; see `DebateRun.main`."""
        recorder = self._recorder
        # Who hears of the past, and asks for something, must not wait for this very thread.
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        try:
            if self._past and self._keep_past:
                await self._log.append(self._past, lambda: None)
            tell(self, self._state, self._past)
            recorder.begin_with(self._past)
            self.listeners.append(recorder.listen)
            if self._gates:
                self.listeners.append(self._answer_gate)
            await super().main()
        finally:
            self._log.release()
            recorder.save()
            if recorder.fault is not None:
                self.warnings.append(recorder.fault)
        return self.result()

    def result(self, variable: str | None = None) -> Result:
        """Return the result so far, as the record tells it: a replay's is the same."""
        events = self._recorder.events
        if not events:
            return super().result(variable)
        state = start_state(events[0], self._given)
        for event in events[1:]:
            state.apply(event)
        if state.status != self._state.status:  # the log failed: only the state knows the end
            return super().result(variable)
        return Result(state, events, warnings=self.warnings, variable=variable, outside=snapshot_of)

    def provider(self, seat: Seat, context: Context) -> Provider:
        """Return what answers a seat's calls: the old record where it can."""
        book = self._book
        if book is None:
            return super().provider(seat, context)
        return Replaying(book, context.state, lambda: make_provider(seat, context))

    def _answer_gate(self, event: Event, state: State) -> None:
        """Let a gate take its answer from the old record, where its questions are the same."""
        gate = state.gate
        if event.kind != "gate_opened" or gate is None or self._debate is None:
            return
        found = next((old for old in self._gates if _same_gate(old, gate)), None)
        if found is None:
            return
        self._gates.remove(found)
        texts = {question_key(q.text): found.answers.get(q.id) for q in found.questions}
        answers = {q.id: text for q in gate.questions if (text := texts.get(question_key(q.text)))}
        source, message, round = found.source or "person", found.message, gate.round

        def make(now: State) -> list[Body]:
            return commands.answer(now, answers, message, round, source)

        task = asyncio.get_running_loop().create_task(self._debate.command(make))
        task.add_done_callback(_answered)


def tell(run: DebateRun, state: State, events: Iterable[Event]) -> None:
    """Apply events to a run's state and tell its listeners, as if they happened now."""
    for event in events:
        state.apply(event)
        for listener in run.listeners:
            try:
                listener(event, state)
            except Exception:  # the edge to views and users' callbacks
                _log.exception("a listener failed at event %s of %s", event.seq, event.debate)


def prompts_warning(events: Iterable[Event]) -> list[str]:
    """Return a line where a record's calls were worded by another version of the prompts."""
    found: set[Any] = set()
    default: Any = None
    for event in events:
        if event.kind == "created":
            default = event.body.get("prompts_version")
        elif event.kind == "call_started":
            found.add(event.body.get("prompts_version", default))
    others = sorted(str(version) for version in found if version != PROMPTS_VERSION)
    if not others:
        return []
    return [
        f"recorded with version {', '.join(others)} of the prompts; this version words them anew "
        f"({PROMPTS_VERSION})"
    ]


def _same_gate(old: Gate, new: Gate) -> bool:
    asked = [sorted(question_key(q.text) for q in gate.questions) for gate in (old, new)]
    return old.why == "answered" and old.round == new.round and asked[0] == asked[1]


def _answered(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and isinstance(task.exception(), UsageError | StoreError):
        _log.info("a gate took no answer from the record: %s", task.exception())
