"""What nobody meant: generators as lists, callbacks of the wrong kind, waits for oneself."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

import rt_notebook as rt

OPTIONS = ["Ship", "Wait"]
# As a person without a type checker calls it.
loose: Any = rt


def review(**settings: Any) -> rt.Review:
    return rt.Review("Ship now?", options=OPTIONS, **settings)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"options": "Ship"}, rt.BriefError, "options: a list is expected"),
        ({"options": None}, rt.BriefError, "options: a list is expected"),
        ({"seats": 5}, rt.SeatError, "seats: a list is expected"),
        ({"seats": []}, rt.SeatError, "seats: the list is empty"),
        ({"durability": "powr"}, rt.OptionError, "durability='powr': one of 'process', 'power'"),
        ({"display": "no"}, rt.OptionError, "display='no': one of True, False, None"),
    ],
)
def test_value_of_the_wrong_kind_is_named(
    given: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        rt.Review("Ship now?", **{"options": OPTIONS, **given})


@pytest.fixture
def done() -> str:
    """The id of a debate that has ended."""
    return review(rounds=0, unattended=True).run_sync().id


WRONG: dict[str, tuple[Callable[[str], object], type[Exception], str]] = {
    "status": (
        lambda id: loose.debates(status="donne"),
        rt.OptionError,
        "^status='donne': one of researching, running, waiting, verdict, done, stopped, paused, "
        "interrupted, error is expected; did you mean 'done'[?]$",
    ),
    "status of another type": (lambda id: loose.debates(5), rt.OptionError, "^status=5: one of"),
    "limit": (lambda id: loose.debates(limit="x"), rt.OptionError, "^limit='x': a whole number"),
    "limit below 1": (
        lambda id: loose.debates(limit=-3),
        rt.OptionError,
        "^limit=-3: a whole number",
    ),
    "store": (lambda id: loose.debates(store=5), rt.OptionError, "^store=5: a path is expected$"),
    "store in bytes": (
        lambda id: loose.load(id, store=b"x"),
        rt.OptionError,
        "^store=b'x': a path",
    ),
    "record": (lambda id: review(record=5).check(), rt.OptionError, "^record=5: a path"),
    "folder": (lambda id: loose.export(id, 5), rt.OptionError, "^path=5: a path is expected$"),
    "id": (lambda id: loose.state(5), rt.UnknownDebateError, "^5 is no debate's id"),
    "id of a stop": (lambda id: loose.stop(None), rt.UnknownDebateError, "^None is no debate's id"),
    "seconds": (
        lambda id: loose.wait(id, "x"),
        rt.OptionError,
        "^seconds='x': a number of seconds",
    ),
    "no seconds": (lambda id: loose.wait(id, None), rt.OptionError, "^seconds=None: a number"),
    "not a number": (lambda id: loose.wait(id, math.nan), rt.OptionError, "^seconds=nan: a number"),
    "no script": (
        lambda id: loose.scripted(None),
        rt.SeatError,
        r"scripted\(\) takes .* got None$",
    ),
    "no bullets": (
        lambda id: loose.say(stance="Ship", disagree=5),
        rt.SeatError,
        "disagree is a list of texts",
    ),
    "no failure": (lambda id: loose.fail(None), rt.SeatError, "a script's step says nothing"),
    "answers": (
        lambda id: loose.answer(id, round=0, answers="yes"),
        rt.UsageError,
        "answers is a dict of texts .*not sent: message: yes$",
    ),
    "extension's text": (lambda id: loose.extend(id, 5), rt.OptionError, "prompt=5: a text"),
    "extension's rounds": (
        lambda id: loose.extend(id, rounds="x"),
        rt.OptionError,
        "rounds='x': a whole",
    ),
    "extension's mode": (
        lambda id: loose.extend(id, mode=5),
        rt.OptionError,
        "mode=5: continue or",
    ),
    "extension's seats": (lambda id: loose.extend(id, seats=5), rt.SeatError, "keeps the seats"),
    "results": (lambda id: loose.frames(5), rt.OptionError, "^frames: 5 is no result"),
    "briefs": (lambda id: loose.sweep(5), rt.OptionError, "^sweep: 5 is no brief"),
    "repeats": (
        lambda id: loose.sweep(["q"], repeats="x"),
        rt.OptionError,
        "^repeats='x': a whole",
    ),
    "table": (lambda id: loose.load(id).to_pandas(5), rt.OptionError, "^there is no table 5"),
}
"""Calls that nobody meant, on a debate that has ended."""


@pytest.mark.parametrize("name", WRONG)
def test_argument_of_the_wrong_kind_is_one_line(name: str, done: str) -> None:
    call, error, match = WRONG[name]
    with pytest.raises(error, match=match) as raised:
        call(done)
    assert "\n" not in str(raised.value)
    assert len(raised.value._render_traceback_()) == 1  # type: ignore[attr-defined]  # ours have it


def test_seats_of_a_generator_are_all_seated() -> None:
    seats: Any = (rt.Seat(name) for name in "ab")
    assert [seat.name for seat in review(seats=seats).spec.seats] == ["a", "b"]


async def _hears(event: Any) -> None:
    raise AssertionError(event)


@pytest.mark.parametrize("callback", [_hears, 5])
def test_callback_that_nobody_could_call_is_refused(callback: Any) -> None:
    with pytest.raises(rt.OptionError, match=r"on_event=.*a plain function"):
        review().run_sync(on_event=callback)
    assert rt.debates().empty


def test_result_asked_for_on_the_debates_thread_is_refused() -> None:
    told: list[str] = []
    handles: list[rt.Handle] = []
    begun = threading.Event()

    def asks(event: Any) -> None:
        if event.kind == "gate_opened":
            begun.wait(10)
            try:
                handles[0].result()
            except RuntimeError as error:
                told.append(str(error))
            rt.stop(event.debate)

    handles.append(review(unattended=False).start(on_event=asks))
    begun.set()
    assert handles[0].result(20).status == "stopped"
    assert told == ["a debate can't be waited for on the thread that runs it; await it instead"]


@pytest.mark.parametrize("seconds", [math.inf, 1e300, pytest.param(10**400, id="no float")])
def test_wait_longer_than_any_ends_with_the_debate(seconds: float) -> None:
    handle = review(rounds=0, unattended=True).start()
    assert handle.result(seconds).status == "done"
    assert rt.wait(handle.id, seconds).status == "done"


@pytest.mark.parametrize("seconds", [-1, -math.inf, pytest.param(-(10**400), id="no float")])
def test_wait_shorter_than_none_looks_once(seconds: float) -> None:
    handle = review(seats=[rt.Seat("a", model=rt.scripted([rt.hang()])), "dev"]).start()
    assert rt.wait(handle.id, seconds).status == "running"
    with pytest.raises(TimeoutError, match=r"^$"):
        handle.result(seconds)
    handle.stop()
