"""Scripts for scripted seats: what a seat does, call by call, as plain data that the log can keep.

A step is a dict with one key that says what happens: `reply` (a text, word for word), `say` (fields of a
reply), `fail` (an error kind), `hang`, `garbage`; `wait_s` beside it delays it. `providers/scripted.py` plays them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rt_notebook.errors import CALL_ERROR_KINDS, SeatError, nearest

Step = dict[str, Any]

_ACTIONS: Final = ("reply", "say", "fail", "hang", "garbage")
_SAY_FIELDS: Final = ("stance", "agree_with", "disagree", "new", "assumptions", "question")
_GARBAGE: Final = "%%% ?? STANCE maybe >>> {]"


class Script(tuple[Step, ...]):
    """The steps of one scripted seat, in the order of its calls; used up, the seat passes."""

    __slots__ = ()


def say(
    text: str | None = None,
    *,
    stance: str | None = None,
    agree_with: Sequence[str] = (),
    disagree: Sequence[str] = (),
    new: Sequence[str] = (),
    assumptions: Sequence[str] = (),
    question: str | None = None,
) -> Step:
    """Return a step that replies with these fields, or with `text` word for word.

    Args:
        text: the whole reply; the fields are then not allowed.
        stance: an option's id or label, or `other: <label>`.
        agree_with: seats' names.
        disagree: bullets.
        new: bullets.
        assumptions: bullets.
        question: one question for the person.

    Raises:
        SeatError: neither `text` nor `stance` is given, or both.
    """
    if (text is None) == (stance is None):
        raise SeatError("say() takes either a text or a stance with its fields")
    if text is not None:
        return {"reply": text}
    fields = {
        "stance": stance,
        "agree_with": list(agree_with),
        "disagree": list(disagree),
        "new": list(new),
        "assumptions": list(assumptions),
        "question": question,
    }
    return {"say": fields}


def fail(kind: str = "provider", *, message: str | None = None, retry_after_s: float | None = None) -> Step:
    """Return a step whose call fails with this error kind (see `CALL_ERROR_KINDS`).

    Args:
        kind: the error kind.
        message: the error's text.
        retry_after_s: seconds the provider asks to wait.

    Raises:
        SeatError: `kind` isn't an error kind.
    """
    if kind not in CALL_ERROR_KINDS:
        raise SeatError(f"fail({kind!r}): no such error kind{nearest(kind, CALL_ERROR_KINDS)}")
    return {"fail": kind, "message": message, "retry_after_s": retry_after_s}


def wait(seconds: float, then: str | Step | None = None) -> Step:
    """Return `then` (a pass by default), taken only after `seconds`."""
    step = as_step("PASS" if then is None else then)
    return {**step, "wait_s": float(step.get("wait_s", 0.0)) + float(seconds)}


def hang() -> Step:
    """Return a step that never answers: only the deadline, a stop or an interrupt ends it."""
    return {"hang": True}


def garbage(text: str = _GARBAGE) -> Step:
    """Return a step that replies with unreadable text."""
    return {"garbage": text}


def scripted(steps: Iterable[str | Step]) -> Script:
    """Return a script: the seat's n-th try takes the n-th step, retries and repairs included.

    Args:
        steps: texts (replies, word for word) and the steps that `say`, `fail`, `wait`, `hang` and `garbage` make.

    Raises:
        SeatError: an entry is neither a text nor a step.
    """
    if isinstance(steps, (str, dict)):
        raise SeatError("scripted() takes a list of steps")
    return Script(as_step(step) for step in steps)


def as_step(step: object) -> Step:
    """Return `step` in its checked form.

    Raises:
        SeatError: it is neither a text nor a step.
    """
    if isinstance(step, str):
        return {"reply": step}
    if not isinstance(step, dict) or sum(key in step for key in _ACTIONS) != 1:
        raise SeatError(f"a script's step is a text or one of {', '.join(_ACTIONS)}: got {step!r}")
    unknown = set(step) - {*_ACTIONS, "wait_s", "message", "retry_after_s"}
    if "say" in step:
        unknown |= set(step["say"]) - set(_SAY_FIELDS)
    if unknown:
        name = sorted(unknown)[0]
        raise SeatError(f"a script's step has no {name!r}{nearest(name, (*_ACTIONS, *_SAY_FIELDS))}")
    return step
