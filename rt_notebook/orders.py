"""Verbs on a running debate as rows of the store: written by one process, carried out by another.

Owns their form on the way, both ends of it, and how an error gets back. What a verb does stands in
`engine.commands`; which process runs what is not known here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

from rt_notebook.domain.state import State
from rt_notebook.engine import commands
from rt_notebook.engine.commands import Body
from rt_notebook.errors import (
    NotResumableError,
    OptionError,
    RoundtableError,
    RunError,
    SeatError,
    StoreError,
    UsageError,
    nearest,
    one_line,
    told_facts,
)
from rt_notebook.store.log import Answer

Make = Callable[[State], list[Body]]
"""Makes a command's events from the state as it is when its turn comes.

Raises UsageError where it doesn't fit.
"""

TURN: Final = "turn"
"""The verb of a human seat's reply, which is no event of its own but the end of a call."""

SOURCES: Final = ("person", "agent", "process")
"""Who may ask."""

# What a refusal can be on its way back; whatever else arrives is a UsageError.
_KINDS: Final[Mapping[str, type[RoundtableError]]] = {
    kind.__name__: kind
    for kind in (UsageError, OptionError, SeatError, NotResumableError, RunError, StoreError)
}


def answer_body(
    answers: Mapping[str, object] | None, message: object, round: int | None
) -> dict[str, Any]:
    """Return what an answer says on its way.

    Raises:
        UsageError: the answers are no dict of texts; `kept` holds the texts.
    """
    commands.check_answers(answers, message)
    given = {str(key): "" if text is None else str(text) for key, text in (answers or {}).items()}
    return {"answers": given, "message": None if message is None else str(message), "round": round}


def make_of(verb: str, body: Mapping[str, Any], source: str) -> Make:
    """Return what a verb does to a debate; both ends check with it.

    Args:
        verb: answer, hold, finish or stop.
        body: what it says, perhaps written by another version of this package.
        source: who asks.

    Raises:
        UsageError: the verb or the source is unknown, or the body isn't of its form.
    """
    checked_source(source)
    makers: dict[str, Callable[[], Make]] = {
        "answer": lambda: _answer(body, source),
        "hold": lambda: _hold(body, source),
        "finish": lambda: lambda state: commands.finish(state, source),
        "stop": lambda: lambda state: commands.stop(state, source),
    }
    if verb not in makers:
        known = ", ".join([*makers, TURN])
        raise UsageError(
            f"{one_line(verb, 40)!r} is nothing that a running debate can be asked (known: {known})"
            f"{nearest(verb, makers)}"
        )
    return makers[verb]()


def turn_of(body: Mapping[str, Any]) -> tuple[int, str, str]:
    """Return round, seat and text of a human seat's reply.

    Raises:
        UsageError: the body isn't of its form.
    """
    round, seat, text = body.get("round"), body.get("seat"), body.get("text")
    if not _is_round(round) or not isinstance(seat, str) or not isinstance(text, str):
        raise UsageError("turn: a round, a seat and a text are needed")
    return round, seat, text


def checked_source(source: str) -> str:
    """Return `source`.

    Raises:
        OptionError: it is none of `SOURCES`.
    """
    if source not in SOURCES:
        raise OptionError(
            f"source={source!r}: one of {', '.join(SOURCES)} is expected{nearest(source, SOURCES)}"
        )
    return source


def refusal(error: RoundtableError) -> Answer:
    """Return an error as the answer that carries it to who asked."""
    body = {"kind": type(error).__name__, "message": str(error), "facts": error.facts}
    return Answer(error=body)


def error_of(answer: Mapping[str, Any], kept: Mapping[str, Any]) -> RoundtableError:
    """Return the error of a refusal, with the texts that weren't sent.

    Args:
        answer: its `error`.
        kept: the texts, where the refusal names none.
    """
    kind = _KINDS.get(str(answer.get("kind")), UsageError)
    given = {"kept": dict(kept)} if kept else {}
    message = one_line(str(answer.get("message") or "")) or "it was refused, without a word why"
    return kind(message, **{**given, **told_facts(answer.get("facts"))})


def _answer(body: Mapping[str, Any], source: str) -> Make:
    answers, message = body.get("answers") or {}, body.get("message")
    texts = isinstance(answers, Mapping) and all(isinstance(t, str) for t in answers.values())
    if not texts or not isinstance(message, str | None):
        raise UsageError("answer: answers are texts by question id, the message is a text")
    round = _round(body)
    return lambda state: commands.answer(state, answers, message, round, source)


def _hold(body: Mapping[str, Any], source: str) -> Make:
    round = _round(body)
    return lambda state: commands.hold(state, round, source, time.time_ns() // 1_000_000)


def _round(body: Mapping[str, Any]) -> int | None:
    round = body.get("round")
    if round is not None and not _is_round(round):
        raise UsageError("the round is a whole number")
    return round


def _is_round(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
