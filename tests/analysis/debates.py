"""Hand-made event logs, for exact expectations on frames."""

from __future__ import annotations

from typing import Any

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat, wire_ids
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold

START = 1_767_225_600_000  # 2026-01-01 UTC
NASTY = 'a "quoted", line\nnext\tline; ünï 日本 🚀 =1+1 \u202e</td><script>alert(1)</script> NA'
NO_BUDGET = "What is the budget?"
AFRAID = "Who is afraid?"


class Log:
    """Writes a debate's events, one after the other, on a clock that the caller turns."""

    def __init__(self, spec: DebateSpec, name: str = "ship-abc123") -> None:
        self.events: list[Event] = []
        self.name = name
        self.now = START
        self.ids = {**wire_ids(spec.seats), "chairman": "chairman"}
        self.models = {seat.name: seat.model for seat in spec.seats} | {"chairman": "scripted"}
        self.round = -1
        self.add("created", spec=spec.model_dump(mode="json"), source="person", unattended=False)

    def add(self, kind: str, **body: Any) -> None:
        number = len(self.events) + 1
        self.events.append(Event(EVENT_VERSION, self.name, number, self.now, kind, body))

    def start_round(self, number: int) -> None:
        self.round = number
        self.add("round_started", round=number)

    def start(self, seat: str, purpose: str, attempt: int = 1) -> str:
        call = f"{self.round}/{self.ids[seat]}/{purpose}/{attempt}"
        self.add(
            "call_started", call=call, round=self.round, seat=seat, purpose=purpose,
            attempt=attempt, model=self.models[seat], messages_hash="0", chars=400,
        )  # fmt: skip
        return call

    def finish(self, call: str, text: str = "…", **body: Any) -> None:
        self.now += 1_500
        self.add("call_finished", call=call, text=text, **body)

    def fail(self, call: str, error: str, retry_in_s: float | None = None) -> None:
        self.now += 250
        self.add("call_failed", call=call, error=error, message=error, retry_in_s=retry_in_s)

    def read(self, call: str, kind: str = "reply_read", repair: bool = False, **reply: Any) -> None:
        ids = {wire: name for name, wire in self.ids.items()}
        number, wire = call.split("/")[:2]
        data = Reply(**reply).to_json()
        if "raw" not in reply:
            del data["raw"]  # the text is the call's
        self.add(kind, call=call, round=int(number), seat=ids[wire], reply=data, repair=repair)

    def say(self, seat: str, key: str, **reply: Any) -> None:
        """Writes a turn of one good call whose reply takes a stance."""
        call = self.start(seat, "critique" if self.round else "opening")
        self.finish(call, reply.pop("raw", f"STANCE: {key}"))
        good = {"valid": True, "stance": key, "stance_key": key}
        self.read(call, **{**good, **reply})

    @property
    def state(self) -> State:
        return fold(self.events)


def spec_of(*seats: Seat, **settings: Any) -> DebateSpec:
    brief = Brief(question="Ship now?", options=("Ship", "Wait"))
    chosen = seats or (Seat("rv"), Seat("dev", mood="grill"), Seat("pm", mood="builder"))
    return DebateSpec(**{"brief": brief, "seats": chosen, "title": "Ship", **settings})


def full() -> Log:
    """Four counted seats and a hidden one over two rounds, anonymous to each other.

    rv needs a retry, then moves to a stance of its own; dev passes; pm is repaired, then fails;
    law stays unreadable, then takes its first stance; ghost (hidden) moves too. dev is first.
    """
    log = Log(
        spec_of(
            Seat("rv", lens="risk"),
            Seat("dev", model="function:from_data"),
            Seat("pm", mood="grill"),
            Seat("law"),
            Seat("ghost", mood="rant"),
            anonymous=True,
        )
    )
    _opening(log)
    _gate(log)
    _critique(log)
    _verdict(log)
    return log


def _opening(log: Log) -> None:
    log.start_round(0)
    log.say(
        "dev", "opt-1", question=NO_BUDGET, disagree=["too slow"], new=["none"],
        assumptions=["six people", "n/a"],
    )  # fmt: skip
    log.fail(log.start("rv", "opening"), "rate_limit", retry_in_s=0.5)
    retry = log.start("rv", "opening", 2)
    log.finish(
        retry,
        usage={"prompt_tokens": 100, "completion_tokens": 40, "cached_tokens": 64},
        cost=0.25,
        model="scripted-2",
        timings={"first_output": 0.5, "total": 1.25},
    )
    log.read(
        retry, valid=True, stance="*opt-2*", stance_key="opt-2", question="what is the  BUDGET?",
        raw=NASTY,
    )  # fmt: skip
    first = log.start("pm", "opening")
    log.finish(first, usage={"prompt_tokens": 10, "completion_tokens": 5}, cost=0.5)
    log.read(first, repair=True, errors=["no STANCE"], raw="Ship it")
    repair = log.start("pm", "repair")
    log.finish(repair, usage={"prompt_tokens": 20, "completion_tokens": 7}, cost=0.25)
    log.read(repair, "repaired", valid=True, stance="Ship", stance_key="opt-1", raw="STANCE: Ship")
    first = log.start("law", "opening")
    log.finish(first)
    log.read(
        first, repair=True, errors=["opt-9 names nothing"], stance="opt-9", raw="STANCE: opt-9"
    )
    repair = log.start("law", "repair")
    log.finish(repair)
    log.read(
        repair, "repaired", errors=["opt-9 names nothing"], stance="opt-9", raw="STANCE: opt-9!"
    )
    log.say("ghost", "opt-2", question=AFRAID)


def _gate(log: Log) -> None:
    questions = [
        {"id": "q1", "text": NO_BUDGET, "askers": ["rv", "dev"]},
        {"id": "q2", "text": AFRAID, "askers": ["an unnamed voice"]},
    ]
    log.add(
        "gate_opened", round=0, mode="questions", questions=questions, closes_at=log.now + 120_000
    )
    log.add("gate_answered", round=0, answers={"q1": NASTY}, message=None, source="agent")
    log.add("gate_closed", round=0, why="answered")


def _critique(log: Log) -> None:
    log.start_round(1)
    log.say("ghost", "opt-1")
    log.say("law", "opt-2", agree_with=["rv"])
    log.say(
        "rv", "other: Sell it", stance="other: Sell it", agree_with=["dev", "law"], question=AFRAID
    )
    call = log.start("dev", "critique")
    log.finish(call, "PASS")
    log.read(call, valid=True, passed=True, stance_key="PASS", raw="PASS")
    log.fail(log.start("pm", "critique"), "timeout")


def _verdict(log: Log) -> None:
    log.add("verdict_started")
    log.fail(log.start("chairman", "verdict"), "overloaded", retry_in_s=1.0)
    log.finish(log.start("chairman", "verdict", 2), cost=0.125)
    verdict = VerdictText(
        valid=True,
        pick="opt-1",
        recommendation="opt-1\n\nThe risk is small.\nAnd it can be taken back.",
        dissent="rv would sell.",
        kill_criteria=["churn above 3 %"],
        open_questions=["none"],
    )
    log.add("verdict_written", verdict=verdict.to_json())
    log.add("concluded", status="done", stop_reason="rounds")


def empty() -> Log:
    """A debate that was created, no more."""
    return Log(spec_of())


def interrupted() -> Log:
    """Interrupted in the critique: rv has moved, dev is being repaired, pm's call is in flight."""
    log = Log(spec_of())
    log.start_round(0)
    for name, key in (("rv", "opt-1"), ("dev", "opt-1"), ("pm", "opt-2")):
        log.say(name, key)
    log.start_round(1)
    log.say("rv", "opt-2")
    call = log.start("dev", "critique")
    log.finish(call, "STANCE: both")
    log.read(call, repair=True, errors=["both names nothing"], stance="both", raw="STANCE: both")
    log.start("dev", "repair")
    log.start("pm", "critique")
    log.now += 3_600_000
    log.add("interrupted", why="the process died")
    return log
