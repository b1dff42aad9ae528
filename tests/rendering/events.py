"""Debates for rendering, told event by event, as the engine would have written them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.events import Event
from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat, wire_ids
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, fold

STARTED_AT = 1_750_000_000_000


class Story:
    """A debate that a test tells; `state()` is the fold of what was told so far."""

    def __init__(self, spec: DebateSpec, debate: str = "payments-a1b2c3") -> None:
        self.spec = spec
        self.debate = debate
        self.events: list[Event] = []
        self.now = STARTED_AT
        self.round = -1
        self._ids = wire_ids(spec.seats)
        self._tries: dict[str, int] = {}
        self.add("created", spec=spec.model_dump(mode="json"), unattended=False, prompts_version=1)

    def add(self, kind: str, **body: Any) -> Story:
        self.now += 400
        number = len(self.events) + 1
        self.events.append(Event(1, self.debate, number, self.now, kind, body))
        return self

    def state(self) -> State:
        return fold(self.events)

    def start_round(self) -> Story:
        self.round += 1
        return self.add("round_started", round=self.round)

    def _call(self, seat: str, purpose: str, model: str) -> str:
        wire = self._ids.get(seat, "chairman")
        key = f"{self.round}/{wire}/{purpose}"
        self._tries[key] = self._tries.get(key, 0) + 1
        call = f"{key}/{self._tries[key]}"
        self.add(
            "call_started", call=call, round=self.round, seat=seat, purpose=purpose,
            attempt=self._tries[key], model=model, messages_hash="0" * 64, chars=1_200,
        )  # fmt: skip
        return call

    def _asked(self, seat: str) -> str:
        purpose = "opening" if self.round == 0 else "critique"
        return self._call(seat, purpose, self.spec.seat(seat).model)

    def ask(self, seat: str) -> Story:
        self._asked(seat)
        return self

    def reply(self, seat: str, reply: Reply, usage: Mapping[str, int] | None = None) -> Story:
        call = self._asked(seat)
        self.add("call_finished", call=call, text=reply.raw, usage=dict(usage or {}), cost=None)
        body = {"call": call, "round": self.round, "seat": seat, "reply": reply.to_json()}
        return self.add("reply_read", **body, repair=False)

    def passes(self, seat: str) -> Story:
        return self.reply(seat, Reply(valid=True, passed=True, stance_key="PASS", raw="PASS"))

    def fails(
        self, seat: str, error: str = "timeout", message: str = "no answer in 300 s"
    ) -> Story:
        call = self._asked(seat)
        return self.add("call_failed", call=call, error=error, message=message)

    def gate(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        mode: str = "questions",
        why: str = "answered",
    ) -> Story:
        questions = [question.to_json() for question in self.state().questions_of(self.round)]
        self.add(
            "gate_opened", round=self.round, mode=mode, questions=questions,
            closes_at=self.now + 120_000, reopen_calls=None,
        )  # fmt: skip
        if why == "answered":
            self.add(
                "gate_answered", round=self.round, answers=dict(answers or {}), message=message,
                source="person",
            )  # fmt: skip
        return self.add("gate_closed", round=self.round, why=why)

    def verdict(self, verdict: VerdictText, model: str = "scripted") -> Story:
        self.add("verdict_started")
        name = self.spec.chairman.name if self.spec.chairman else "chairman"
        call = self._call(name, "verdict", model)
        self.add("call_finished", call=call, text=verdict.raw, usage=None, cost=None)
        return self.add("verdict_written", verdict=verdict.to_json())

    def verdict_fails(self, message: str = "no answer in 300 s") -> Story:
        self.add("verdict_started")
        call = self._call("chairman", "verdict", "scripted")
        self.add("call_failed", call=call, error="timeout", message=message)
        return self.add("verdict_failed", error="timeout", message=message)

    def conclude(self, status: str = "done", stop_reason: str = "rounds") -> Story:
        return self.add("concluded", status=status, stop_reason=stop_reason)

    def interrupt(self) -> Story:
        return self.add("interrupted", why="Ctrl-C")


def stance(key: str, text: str = "", **fields: Any) -> Reply:
    """A valid reply on `key`."""
    raw = text or f"STANCE: {key}\nAGREE_WITH: []\nDISAGREE:\nNEW:\nASSUMPTIONS:\n"
    return Reply(valid=True, stance=key, stance_key=key, raw=raw, **fields)


def spec_of(
    seats: Sequence[Seat] | None = None, question: str = "Ship now?", **fields: Any
) -> DebateSpec:
    """A small spec; options and the rest by name."""
    options = fields.pop("options", ("Ship", "Wait"))
    chosen = tuple(seats or (Seat("pm"), Seat("dev")))
    return DebateSpec(brief=Brief(question=question, options=options), seats=chosen, **fields)


def finished(spec: DebateSpec | None = None) -> Story:
    """Two seats, one critique round, a gate with an answer, a flip, a verdict."""
    story = Story(spec or spec_of())
    first, second = (seat.name for seat in story.spec.seats[:2])
    story.start_round()
    story.reply(first, stance("opt-1", new=["Users wait for it"], question="What is the budget?"))
    story.reply(second, stance("opt-2", disagree=["Tests are red"]))
    story.gate({"q1": "From $20 to $35"})
    story.start_round()
    story.reply(first, stance("opt-2", agree_with=[second]))
    story.passes(second)
    verdict = VerdictText(
        valid=True,
        pick="opt-2",
        recommendation="Wait\nThe tests are red, and nobody waits.",
        dissent="pm fears the delay.",
        kill_criteria=["Green tests by Friday"],
        open_questions=["Who fixes them?"],
    )
    return story.verdict(verdict).conclude()
