"""Scripts for scripted seats: what a seat does, call by call, as plain data that the log can keep.

A step is a dict with one key that says what happens: `reply` (a text, word for word), `say` (fields
of a reply), `fail` (an error kind), `hang`, `garbage`; `wait_s` beside it delays it.
`providers/scripted.py` plays them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rt_notebook.errors import CALL_ERROR_KINDS, SeatError, nearest, one_line

Step = dict[str, Any]

_ACTIONS: Final = ("reply", "say", "fail", "hang", "garbage")
_LISTS: Final = ("agree_with", "disagree", "new", "assumptions")
_SAY_FIELDS: Final = ("stance", *_LISTS, "question")
_LONGEST_S: Final = 1e15
_SECONDS: Final = ("wait_s", "retry_after_s")
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
        return as_step({"reply": text})
    fields: dict[str, Any] = {
        "stance": stance,
        "agree_with": agree_with,
        "disagree": disagree,
        "new": new,
        "assumptions": assumptions,
        "question": question,
    }
    return as_step({"say": fields})


def fail(
    kind: str = "provider", *, message: str | None = None, retry_after_s: float | None = None
) -> Step:
    """Return a step whose call fails with this error kind (see `CALL_ERROR_KINDS`).

    Args:
        kind: the error kind.
        message: the error's text.
        retry_after_s: seconds the provider asks to wait.

    Raises:
        SeatError: `kind` isn't an error kind.
    """
    return as_step({"fail": kind, "message": message, "retry_after_s": retry_after_s})


def wait(seconds: float, then: str | Step | None = None) -> Step:
    """Return `then` (a pass by default), taken only after `seconds`.

    Raises:
        SeatError: `seconds` isn't a number of 0 or more.
    """
    step = as_step("PASS" if then is None else then)
    return as_step({**step, "wait_s": _seconds("wait_s", seconds) + float(step.get("wait_s", 0))})


def hang() -> Step:
    """Return a step that never answers: only the deadline, a stop or an interrupt ends it."""
    return {"hang": True}


def garbage(text: str = _GARBAGE) -> Step:
    """Return a step that replies with unreadable text."""
    return as_step({"garbage": text})


def scripted(steps: Iterable[str | Step]) -> Script:
    """Return a script: the seat's n-th try takes the n-th step, retries and repairs included.

    Args:
        steps: texts (replies, word for word) and the steps that `say`, `fail`, `wait`, `hang` and
            `garbage` make.

    Raises:
        SeatError: an entry is neither a text nor a step.
    """
    if isinstance(steps, (str, dict)) or not isinstance(steps, Iterable):
        raise SeatError(f"scripted() takes a list of steps: got {one_line(repr(steps), 80)}")
    return Script(as_step(step) for step in steps)


def as_step(step: object) -> Step:
    """Return `step` in its checked form.

    Raises:
        SeatError: it is neither a text nor a step, or a part of it is wrong.
    """
    if isinstance(step, str):
        return {"reply": step}
    if not isinstance(step, dict) or sum(key in step for key in _ACTIONS) != 1:
        shown = one_line(repr(step), 80)
        raise SeatError(f"a script's step is a text or one of {', '.join(_ACTIONS)}: got {shown}")
    _known(step, (*_ACTIONS, "message", *_SECONDS))
    checked = {key: value for key, value in step.items() if value is not None}
    if not any(key in checked for key in _ACTIONS) or checked.get("hang", True) is not True:
        raise SeatError(f"a script's step says nothing: got {one_line(repr(step), 80)}")
    for key in _SECONDS:
        if key in checked:
            checked[key] = _seconds(key, checked[key])
    for key in ("reply", "garbage", "message"):
        if not isinstance(checked.get(key, ""), str):
            raise SeatError(f"a script's {key} is a text: got {checked[key]!r}")
    if "fail" in checked and checked["fail"] not in tuple(CALL_ERROR_KINDS):
        kind = one_line(str(checked["fail"]), 80)
        raise SeatError(f"fail({kind!r}): no such error kind{nearest(kind, CALL_ERROR_KINDS)}")
    if "say" in checked:
        checked["say"] = _said(checked["say"])
    return checked


def _said(fields: object) -> dict[str, Any]:
    if not isinstance(fields, dict) or not isinstance(fields.get("stance"), str):
        raise SeatError(f"a script's say needs a stance: got {one_line(repr(fields), 80)}")
    _known(fields, _SAY_FIELDS)
    question = fields.get("question")
    said: dict[str, Any] = {
        "stance": fields["stance"],
        **{name: _texts(name, fields.get(name)) for name in _LISTS},
        "question": question,
    }
    if not isinstance(question, str | None):
        raise SeatError(f"a script's question is a text: got {question!r}")
    return said


def _texts(name: str, value: Any) -> list[str]:
    given = () if value is None else [value] if isinstance(value, str) else value
    texts = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(text, str) for text in texts):
        raise SeatError(f"a script's {name} is a list of texts: got {one_line(repr(value), 80)}")
    return texts


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SeatError(f"a script's {name} is a number of seconds: got {value!r}")
    if not 0 <= value <= _LONGEST_S:
        raise SeatError(f"a script's {name} is 0 or more: got {value!r}")
    return float(value)


def _known(given: dict[str, Any], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise SeatError(f"a script's step has no {name!r}{nearest(str(name), names)}")
