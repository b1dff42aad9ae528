"""What nobody meant: generators as lists, callbacks of the wrong kind, waits for oneself."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import rt_notebook as rt

OPTIONS = ["Ship", "Wait"]


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
