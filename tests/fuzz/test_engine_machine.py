"""Generated debates, step by step: said, failed, asked, answered, killed, resumed, extended.

Whatever happens: no finished call is repeated, the log folds to the state that lived, limits hold,
the debate ends, and what is loaded is what was.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.contract.record import read_record
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import LIVE, RESUMABLE
from rt_notebook.errors import LimitError, StoreError, UsageError
from rt_notebook.extending import Extending, extend_run
from rt_notebook.next_steps import snapshot_of
from rt_notebook.session import Opening
from rt_notebook.store.record import record_text
from tests.fuzz.actors import replies
from tests.fuzz.budget import tried
from tests.fuzz.definitions import definitions, startable
from tests.fuzz.log_rules import check_log
from tests.fuzz.stage import Disk, Stage, assert_same_state, folded, refused
from tests.fuzz.texts import fragments
from tests.recording.scenes import tables

words = st.sampled_from((None, "", "Be brief.", "x" * 8_001, "STANCE: opt-1\n\ud800\x1b[2J"))
rounds = st.sampled_from((None, None, 0, 1, 2, -1, 10**30))
sources = st.sampled_from(("person", "agent", "process"))


UNBOUND: Final[dict[str, Any]] = {
    "max_calls": None, "max_calls_per_vendor": {}, "max_tokens": None, "max_cost": None,
    "max_minutes": 3.0, "on_limit": "verdict",
}  # fmt: skip


class EngineMachine(RuleBasedStateMachine):
    """One debate; every rule is something that can happen to it."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.stage: Stage | None = None
        self.deep = False

    @initialize(
        spec=definitions().filter(startable), attended=st.booleans(), deep=st.integers(0, 9)
    )
    def begin(self, spec: DebateSpec, attended: bool, deep: int) -> None:
        attended = attended or any(seat.vendor == "human" for seat in spec.seats)
        attended = attended or (spec.closer is not None and spec.closer.vendor == "human")
        self.stage = Stage(spec, self.folder / "debates.db", attended)
        self.deep = deep == 0

    # ---- time passes -----------------------------------------------------------------------------

    def running(self) -> bool:
        return self.stage is not None and self.stage.cast is not None

    def resting(self) -> bool:
        return self.stage is not None and self.stage.cast is None and self.stage.stored

    @property
    def on(self) -> Stage:
        assert self.stage is not None
        return self.stage

    @precondition(running)
    @rule(count=st.integers(1, 9))
    def let_happen(self, count: int) -> None:
        self.on.let_happen(count)

    @precondition(running)
    @rule(count=st.integers(1, 25))
    def tick(self, count: int) -> None:
        self.on.tick(count)

    @precondition(running)
    @rule(seconds=st.sampled_from((0.06, 1.0, 16.0, 130.0)))
    def pass_time(self, seconds: float) -> None:
        self.on.pass_time(seconds)

    @precondition(running)
    @rule()
    def go_to_the_gate(self) -> None:
        run = self.on.last
        self.on.until(lambda: run.fold.gate is not None or bool(run.open_turns()))

    # ---- people say something -------------------------------------------------------------------

    @precondition(running)
    @rule(
        questions=st.lists(st.sampled_from(("q1", "q2", "q9")), max_size=2, unique=True),
        text=words, message=words, number=rounds, source=sources, here=st.booleans(),
    )  # fmt: skip
    def answer(
        self, questions: list[str], text: str | None, message: str | None, number: int | None,
        source: str, here: bool,
    ) -> None:  # fmt: skip
        answers = {key: text or "" for key in questions}
        body = {"answers": answers, "message": message, "round": number}
        run = self.on.last
        self._command(
            "answer", body, source, here,
            lambda: run.answer(answers, message=message, round=number, source=source),
        )  # fmt: skip

    @precondition(running)
    @rule(verb=st.sampled_from(("hold", "hold", "finish", "stop")), source=sources,
          here=st.booleans(), number=rounds)  # fmt: skip
    def command(self, verb: str, source: str, here: bool, number: int | None) -> None:
        run = self.on.last
        do: dict[str, Callable[[], Any]] = {
            "hold": lambda: run.hold(round=number, source=source),
            "finish": lambda: run.finish(source=source),
            "stop": lambda: run.stop(source=source),
        }
        self._command(verb, {"round": number} if verb == "hold" else {}, source, here, do[verb])

    @precondition(running)
    @rule(text=st.one_of(replies, fragments), right=st.booleans(), here=st.booleans())
    def take_a_turn(self, text: str, right: bool, here: bool) -> None:
        """Say a human seat's reply, where one is asked."""
        run = self.on.last
        turns = run.open_turns()
        seat, number = (turns[0].seat, turns[0].round) if turns and right else ("a", 0)
        body = {"round": number, "seat": seat, "text": text}
        self._command("turn", body, "person", here,
                      lambda: run.take_turn(round=number, seat=seat, text=text))  # fmt: skip

    @precondition(running)
    @rule(verb=st.sampled_from(("answer", "hold", "turn", "stpo", "\x1b")),
          body=st.dictionaries(
              st.sampled_from(("round", "answers", "message", "seat", "text")),
              st.sampled_from((None, 1, True, "x", [], {}, {"q1": 3}))))  # fmt: skip
    def junk_command(self, verb: str, body: dict[str, Any]) -> None:
        """Another version of this package asks for what this one doesn't know."""
        if self.on.stored:
            self._ask(verb, body, "process")

    def _ask(self, verb: str, body: dict[str, Any], source: str) -> None:
        error = refused(lambda: self.on.ask(verb, body, source), StoreError)
        assert error is None or Disk.fault

    def _command(
        self, verb: str, body: dict[str, Any], source: str, here: bool, do: Callable[[], Any]
    ) -> None:
        stage = self.on
        stage.tick(1)  # a run that hasn't begun is waited for, which would block its own loop here
        if stage.cast is None or (not here and not stage.stored):
            return
        if not here:
            self._ask(verb, body, source)
            return
        before = stage.happened
        refused(do, UsageError)
        assert stage.happened == before, "a command had an effect before the log told of it"

    # ---- the disk --------------------------------------------------------------------------------

    @rule(
        fault=st.sampled_from((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY)),
        late=st.booleans(),
    )
    def break_the_disk(self, fault: int, late: bool) -> None:
        Disk.fault, Disk.late = fault, late

    @rule()
    def mend_the_disk(self) -> None:
        Disk.fault = 0

    # ---- ends and beginnings --------------------------------------------------------------------

    @precondition(running)
    @rule(again=st.booleans())
    def interrupt(self, again: bool) -> None:
        self.on.interrupt(again)

    @precondition(running)
    @rule()
    def kill(self) -> None:
        self.on.kill()

    @precondition(resting)
    @rule(limits=st.sampled_from((None, {"max_calls": 9}, {"max_calls": None, "max_tokens": None},
                                  {"max_minutes": 0.5, "on_limit": "verdict"})))  # fmt: skip
    def resume(self, limits: dict[str, Any] | None) -> None:
        state = self.state()
        allowed = state.status in RESUMABLE | LIVE
        self._again(allowed, lambda: session.resume_run(
            self.on.id, self._opening(), limits=limits, models=self.on.models))  # fmt: skip

    @precondition(resting)
    @rule()
    def ask_for_the_verdict(self) -> None:
        state = self.state()
        allowed = state.status == "stopped" or (
            state.status == "done" and state.verdict_status != "ready"
        )
        self._again(allowed and bool(state.latest_replies()), lambda: session.verdict_run(
            self.on.id, self._opening(), self.on.models))  # fmt: skip

    @precondition(resting)
    @rule(prompt=st.sampled_from(("", "go deeper", "What about  \ud800 costs?", "x" * 20_001)),
          number=st.sampled_from((1, 1, 2, 0, 51)), mode=st.sampled_from((None, "continue", "new")),
          observer_prompt=st.sampled_from((None, "Be kind.")))  # fmt: skip
    def extend(
        self, prompt: str, number: int, mode: str | None, observer_prompt: str | None
    ) -> None:
        state = self.state()
        more = Extending(prompt, number, mode, observer_prompt)
        fits = 1 <= number <= 2 and len(prompt) <= 20_000 and not (mode == "new" and not prompt)
        fits = fits and (observer_prompt is None or state.discusses)
        self._again(state.status == "done" and fits, lambda: extend_run(
            self.on.id, more, self._opening(), models=self.on.models))  # fmt: skip

    @precondition(lambda self: self.stage is not None and self.stage.dead and not self.running())
    @rule()
    def look_in(self) -> None:
        """Whoever looks at a debate whose process is dead sees it as interrupted."""
        state, seen = self.state(), session.state(self.on.id, self.on.path)
        assert seen.status == ("interrupted" if state.live else state.status)

    def state(self) -> Any:
        return folded(self.on.events)

    def _opening(self) -> Opening:
        return self.on.opening(attended=True)

    def _again(self, allowed: bool, make: Callable[[], Any]) -> None:
        stage = self.on
        before = stage.events
        error = refused(lambda: stage.set_going(make), UsageError, StoreError)
        if isinstance(error, StoreError):
            assert Disk.fault
        elif not isinstance(error, LimitError):  # which ones are broken is asked of limits alone
            assert (error is None) is allowed, (error, allowed)
        if error is not None:
            assert stage.events == before
            lease = stage.store.lease(stage.id)
            assert lease is None or lease.stale, "a refused run keeps the lease"

    # ---- what must hold -------------------------------------------------------------------------

    @invariant()
    def nothing_went_wrong(self) -> None:
        if self.stage is not None:
            self.stage.check()

    def teardown(self) -> None:
        stage = self.stage
        if stage is None:
            return
        try:
            if not stage.wrong:
                self._finish(stage)
        finally:
            Disk.fault = 0
            if stage.cast is not None:  # a failed example leaves it behind
                stage.dead.append(stage.cast)
            for cast in stage.dead:
                cast.task.cancel()
                cast.loop.run_until_complete(cast.loop.create_task(_ended(cast.task)))
                cast.loop.close()

    def _finish(self, stage: Stage) -> None:
        """Let the debate come to its end, whatever was done to it, and look at all of it."""
        Disk.fault = 0
        result = None
        for _ in range(6):
            stage.to_the_end()
            stage.check()
            if not stage.stored:  # the disk broke before its first event
                return
            result = stage.last.result()
            state = self.state()
            if state.status in LIVE | {"interrupted", "paused"}:
                given = UNBOUND if state.status == "paused" else None
                self._again(
                    True,
                    lambda given=given: session.resume_run(  # type: ignore[misc]
                        stage.id, self._opening(), limits=given, models=stage.models
                    ),
                )
                continue
            break
        assert result is not None
        assert self.state().status in ("done", "stopped", "error")
        stage.collect()
        self._check_log(stage)
        if not stage.broken:  # else the run knew more than it could write down
            self._check_result(stage, result)
        stage.wake()
        session.delete(stage.id, stage.path)

    def _check_log(self, stage: Stage) -> None:
        events = stage.events
        check_log(events)
        row, state = stage.store.row(stage.id), folded(events)
        assert (row.status, row.stop_reason) == (state.status, state.stop_reason)
        assert row.pick == (state.verdict.pick if state.verdict else None)
        record = read_record(record_text(events, state.spec), "r")
        assert record.state.status == state.status
        assert record.state.positions == state.positions

    def _check_result(self, stage: Stage, live: Result) -> None:
        events = stage.events
        assert_same_state(folded(events), live.fold)
        assert live.events == events
        loaded = session.load(stage.id, stage.path)
        assert loaded.state == live.state
        json.loads(json.dumps(loaded.state.to_json(), allow_nan=False))
        if self.deep:
            assert tables(loaded) == tables(live)
            # What a run warned of when it began isn't kept: those lines are its own.
            same = Result(loaded.fold, events, live._warnings, outside=snapshot_of)
            assert str(same) == str(live)
            assert same._repr_mimebundle_() == live._repr_mimebundle_()


async def _ended(task: Any) -> None:
    import asyncio

    await asyncio.wait([task], timeout=60)


def test_any_debate_keeps_its_promises() -> None:
    with tempfile.TemporaryDirectory() as folder:
        EngineMachine.folder = Path(folder)
        from hypothesis.stateful import run_state_machine_as_test

        run_state_machine_as_test(EngineMachine, settings=tried(60, stateful_step_count=30))
