"""What the agent's verbs do: arguments in, JSON-able data out.

Owns the answers' form, the same for the command line and MCP. Knows neither of them: how a verb is
written for whoever asks is handed in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from rt_notebook import session
from rt_notebook.analysis.result import Result
from rt_notebook.config_files import store_of
from rt_notebook.contract.options import OPTIONS
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.errors import OptionError, RoundtableError
from rt_notebook.frontends import agent_arguments as arguments
from rt_notebook.frontends.agent_debate import estimate_json, opening_of, spec_of
from rt_notebook.frontends.agent_errors import error_json
from rt_notebook.frontends.agent_guide import guide
from rt_notebook.frontends.agent_next import Speech, described, follow_up
from rt_notebook.frontends.agent_providers import providers_json, seats_json, terms_json
from rt_notebook.frontends.agent_schema import Input, debate_schema
from rt_notebook.frontends.detach import log_of, start_detached
from rt_notebook.store.log import DebateRow
from rt_notebook.store.record import is_record

AGENT: Final = "agent"
"""The source that the log names for what comes through these verbs."""

A = TypeVar("A", bound=Input)


@dataclass(frozen=True)
class Caller:
    """Who asks."""

    speech: Speech
    """How verbs are written for them."""
    store: str | None = None
    """The store that was named; None: the files' or the default one."""

    @property
    def place(self) -> str | None:
        """The store to look into."""
        found = store_of(self.store)
        return None if found is None else os.fspath(found)


def call(verb: str, given: Input, caller: Caller) -> dict[str, Any]:
    """Carry a verb out and return its answer, `ok` included; errors are answers too."""
    try:
        return {"ok": True, **_DO[verb](given, caller)}
    except RoundtableError as exc:
        return refused(exc, getattr(given, "id", None), caller)


def refused(error: RoundtableError, debate: str | None, caller: Caller) -> dict[str, Any]:
    """Return the answer that says what went wrong, with the state where a debate was named."""
    found: dict[str, Any] = {"ok": False, "error": error_json(error)}
    if debate is None:
        return found
    try:
        state = described(session.state(debate, caller.place), caller.speech, caller.store)
    except RoundtableError:
        return found
    return {**found, "id": state["id"], "state": state, **_links(state)}


def _links(state: Mapping[str, Any]) -> dict[str, Any]:
    return {"watch": state["watch"], "next": state["next"]}


def _told(found: Snapshot, caller: Caller) -> dict[str, Any]:
    return described(found, caller.speech, caller.store)


def _guide(given: Input, caller: Caller) -> dict[str, Any]:
    return {"guide": guide(caller.speech)}


def _schema(given: Input, caller: Caller) -> dict[str, Any]:
    verbs = {verb: model.model_json_schema() for verb, model in arguments.ARGUMENTS.items()}
    return {"schema": debate_schema(), "verbs": verbs}


def _status(given: arguments.StatusArguments, caller: Caller) -> dict[str, Any]:
    if given.id is not None:
        return _told(session.state(given.id, caller.place), caller)
    defaults = {
        option.key: option.default for option in OPTIONS if option.default and option.group != "run"
    }
    return {
        "providers": providers_json(given.refresh),
        "seats": seats_json(),
        "terms": terms_json(),
        "defaults": defaults,
        "running": [_row(row) for row in session.running_rows(caller.place)],
    }


def _check(given: arguments.DebateArguments, caller: Caller) -> dict[str, Any]:
    spec = spec_of(given.input)
    opening = opening_of(given.input, attended=True, source=AGENT)
    found = session.check_opening(spec, opening)
    return {
        "kind": spec.kind,
        "title": spec.shown_title,
        "seats": [{"name": seat.name, "model": seat.model} for seat in spec.seats],
        "estimate": estimate_json(found),
        "text": str(found),
    }


def _start(given: arguments.DebateArguments, caller: Caller) -> dict[str, Any]:
    debate = given.input
    if debate.store and caller.store and debate.store != caller.store:
        raise OptionError("store: the input and --store name two; keep one", field="store")
    if caller.store:
        debate = debate.model_copy(update={"store": caller.store})
    opening = opening_of(debate, attended=True, source=AGENT)
    # Checked here, so that a mistake costs no process.
    session.check_opening(spec_of(debate), opening)
    place = None if opening.store is None else str(opening.store)
    order = {"do": "start", "input": debate.model_dump(exclude_unset=True), "source": AGENT}
    found = session.state(start_detached(order, place), place)
    return described(found, caller.speech.at(debate.store), debate.store)


def _again(do: str, debate: str, caller: Caller, **more: Any) -> dict[str, Any]:
    place = caller.place
    order = {"do": do, "id": session.state(debate, place).id, "store": place, "source": AGENT}
    return _told(session.state(start_detached({**order, **more}, place), place), caller)


def _resume(given: arguments.ResumeArguments, caller: Caller) -> dict[str, Any]:
    limits = given.input.limits
    return _again("resume", given.id, caller, limits=limits and limits.given())


def _verdict(given: arguments.IdArguments, caller: Caller) -> dict[str, Any]:
    return _again("verdict", given.id, caller)


def _extend(given: arguments.ExtendArguments, caller: Caller) -> dict[str, Any]:
    return _again("extend", given.id, caller, extension=given.input.given())


def _wait(given: arguments.WaitArguments, caller: Caller) -> dict[str, Any]:
    found = session.wait(given.id, given.seconds, caller.place, after_round=given.after_round)
    return _told(found, caller)


def _answer(given: arguments.AnswerArguments, caller: Caller) -> dict[str, Any]:
    said = given.input
    control = session.control_of(given.id, caller.place)
    if (said.seat is None) != (said.text is None):
        raise OptionError("seat and text belong together: a human seat's reply", field="seat")
    if said.seat is not None and said.text is not None:
        if said.round is None or said.answers or said.message:
            raise OptionError("a human seat's reply is {round, seat, text}", field="seat")
        return _told(
            control.take_turn(round=said.round, seat=said.seat, text=said.text, source=AGENT),
            caller,
        )
    texts: dict[str, str] = {}
    for answer in said.answers:
        if answer.id in texts:
            raise OptionError(f"the question {answer.id!r} is answered twice", field="answers")
        texts[answer.id] = answer.text
    if said.round is None and not _speaks_freely(control.state()):
        raise OptionError(
            "the round is missing: the round of the gate that was shown to the person",
            field="round",
        )
    return _told(
        control.answer(texts, message=said.message, round=said.round, source=AGENT), caller
    )


def _speaks_freely(found: Snapshot) -> bool:
    """Return whether an answer needs no round: a discussion has no gates."""
    return found.kind == "discussion"


def _hold(given: arguments.HoldArguments, caller: Caller) -> dict[str, Any]:
    control = session.control_of(given.id, caller.place)
    return _told(control.hold(round=given.round, source=AGENT), caller)


def _finish(given: arguments.IdArguments, caller: Caller) -> dict[str, Any]:
    return _told(session.control_of(given.id, caller.place).finish(source=AGENT), caller)


def _stop(given: arguments.IdArguments, caller: Caller) -> dict[str, Any]:
    return _told(session.control_of(given.id, caller.place).stop(source=AGENT), caller)


def _list(given: arguments.ListArguments, caller: Caller) -> dict[str, Any]:
    rows = session.rows(given.status, given.limit, caller.place)
    return {"debates": [_row(row) for row in rows]}


def _show(given: arguments.IdArguments, caller: Caller) -> dict[str, Any]:
    result = session.load(given.id, caller.place)
    seen = result.state if is_record(given.id) else session.state(result.id, caller.place)
    found = _told(seen, caller)
    return {**found, **shown(result)}


def _export(given: arguments.ExportArguments, caller: Caller) -> dict[str, Any]:
    from rt_notebook.frontends.export import export

    result = session.load(given.id, caller.place)
    paths = [str(path) for path in export(result, given.dir)]
    return {"id": result.id, "paths": paths, **_after(result.id, caller)}


def _delete(given: arguments.IdArguments, caller: Caller) -> dict[str, Any]:
    debate = session.state(given.id, caller.place).id
    session.delete(debate, caller.place)
    log_of(debate, caller.place).unlink(missing_ok=True)
    return {"deleted": debate}


def _after(debate: str, caller: Caller) -> dict[str, str]:
    return follow_up(debate, caller.speech, caller.store, "show")


def shown(result: Result) -> dict[str, Any]:
    """Return what `show` says beside the state: the brief, every reply, and all of it as text."""
    spec = result.spec
    brief = spec.brief.model_dump(mode="json")
    return {
        "brief": {name: value for name, value in brief.items() if value not in (None, [], "")},
        "replies": [
            {"round": turn.round, "seat": turn.seat, "text": turn.reply.raw}
            for turns in result.fold.turns
            for turn in turns.values()
            if turn.reply is not None
        ],
        "warnings": result.warnings,
        "text": str(result),
    }


def _row(row: DebateRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "status": row.status,
        "stop_reason": row.stop_reason,
        "pick": row.pick,
        "seats": list(row.seats),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


# Each takes the arguments of its own verb, see `agent_arguments.ARGUMENTS`.
_DO: Final[Mapping[str, Callable[[Any, Caller], dict[str, Any]]]] = {
    "guide": _guide,
    "schema": _schema,
    "status": _status,
    "check": _check,
    "start": _start,
    "wait": _wait,
    "answer": _answer,
    "hold": _hold,
    "finish": _finish,
    "stop": _stop,
    "resume": _resume,
    "verdict": _verdict,
    "extend": _extend,
    "list": _list,
    "show": _show,
    "export": _export,
    "delete": _delete,
}
