"""Functions in seats: threads, awaitables, and what is found under a name."""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.errors import SeatError
from rt_notebook.providers.base import Call, Completion, Message
from rt_notebook.providers.function import FunctionProvider, import_function
from tests.engine.clocks import play, play_live, until

CALL = Call((Message("system", "You are a."), Message("user", "Ship?")), "a", 0, "opening")


def ask(function: Callable[..., Any]) -> Any:
    return play_live(FunctionProvider(function).complete(CALL, lambda chars: None))


def test_sync_function_runs_in_thread_of_its_own() -> None:
    def speak(call: Call) -> str:
        return f"{threading.current_thread().name} {call.prompt}"

    assert ask(speak).text == "roundtable-a You are a.\n\nShip?"


def test_async_function_runs_on_loop() -> None:
    async def speak(call: Call) -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert ask(speak).text == threading.current_thread().name


class Speaker:
    async def __call__(self, call: Call) -> str:
        return "from an object"

    async def named(self, call: Call) -> str:
        return "from a method"


def _with_prefix(prefix: str, call: Call) -> str:
    return f"{prefix} {call.seat}"


async def _late(call: Call) -> str:
    return "awaited"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (Speaker(), "from an object"),
        (Speaker().named, "from a method"),
        (functools.partial(_with_prefix, "hello"), "hello a"),
        (lambda call: _late(call), "awaited"),
        (lambda call: Completion("whole"), "whole"),
    ],
)
def test_every_callable_is_called(function: Callable[..., Any], text: str) -> None:
    assert ask(function).text == text


@pytest.mark.parametrize(
    ("error", "raised", "text"),
    [
        (ValueError("bad"), ValueError, "bad"),
        (StopIteration("end"), RuntimeError, "end"),
        (SystemExit(2), RuntimeError, "SystemExit: 2"),
        (KeyboardInterrupt(), RuntimeError, "KeyboardInterrupt"),
    ],
)
def test_what_a_thread_raises_comes_over(
    error: BaseException, raised: type[Exception], text: str
) -> None:
    def fails(call: Call) -> str:
        raise error

    with pytest.raises(raised, match=text):
        ask(fails)


class _Own(BaseException):
    pass


@pytest.mark.parametrize("error", [SystemExit(2), _Own("2"), ValueError("2")])
def test_what_a_coroutine_raises_stays_in_its_call(error: BaseException) -> None:
    async def fails(call: Call) -> str:
        raise error

    with pytest.raises(ValueError if isinstance(error, ValueError) else RuntimeError, match="2"):
        ask(fails)


def test_interrupt_of_a_coroutine_spares_the_loop() -> None:
    async def fails(call: Call) -> str:
        raise KeyboardInterrupt

    def elsewhere() -> None:
        with pytest.raises(RuntimeError, match="KeyboardInterrupt"):
            ask(fails)
        seen.append(True)

    seen: list[bool] = []
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(10)
    assert seen == [True]


def test_coroutine_deaf_to_cancellation_is_abandoned() -> None:
    async def main() -> list[str]:
        release, heard = asyncio.Event(), []

        async def deaf(call: Call) -> str:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    heard.append("cancelled")
            heard.append("ended")
            return "late"

        asked = FunctionProvider(deaf).complete(CALL, lambda chars: None)
        task = asyncio.create_task(asked)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        release.set()
        await until(lambda: "ended" in heard)
        return heard

    assert play(main()) == ["cancelled", "cancelled", "ended"]


def test_cancelled_coroutine_has_time_to_clean_up() -> None:
    async def main() -> tuple[list[str], float]:
        said: list[str] = []

        async def tidy(call: Call) -> str:
            try:
                await asyncio.Event().wait()
            finally:
                async with asyncio.timeout(5):
                    await asyncio.sleep(0.9)
                said.append("tidied")
            raise AssertionError

        task = asyncio.create_task(FunctionProvider(tidy).complete(CALL, lambda chars: None))
        await asyncio.sleep(0)
        began = asyncio.get_running_loop().time()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        return said, asyncio.get_running_loop().time() - began

    said, took = play(main())
    assert said == ["tidied"]
    assert took == pytest.approx(0.9, abs=0.01)


def test_timeout_inside_a_coroutine_is_its_own() -> None:
    async def patient(call: Call) -> str:
        try:
            async with asyncio.timeout(2):
                await asyncio.Event().wait()
        except TimeoutError:
            return "too late"
        raise AssertionError

    assert play(FunctionProvider(patient).complete(CALL, lambda chars: None)).text == "too late"


def test_late_answer_of_closed_loop_is_dropped() -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(call: Call) -> str:
        begun.set()
        release.wait(10)
        return "x"

    async def main() -> threading.Thread:
        task = asyncio.create_task(FunctionProvider(slow).complete(CALL, lambda chars: None))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        await asyncio.wait([task])
        return next(t for t in threading.enumerate() if t.name == "roundtable-a")

    thread = play_live(main())
    release.set()
    thread.join(10)
    assert not thread.is_alive()


def test_only_threads_are_abandoned() -> None:
    assert FunctionProvider(lambda call: "x").abandons
    assert not FunctionProvider(_late).abandons


def test_function_is_imported_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_seats.py").write_text("def pm(call):\n    return 'PASS'\nnumber = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert import_function("my_seats:pm")(CALL) == "PASS"
    for path, text in (
        ("my_seats", "not of the form 'python:module:function'"),
        (":pm", "not of the form"),
        ("my_seats:nobody", "can't be loaded: module 'my_seats' has no attribute 'nobody'"),
        ("no_such_module:pm", "can't be loaded: No module named 'no_such_module'"),
        ("my_seats:number", "names int, not a function"),
    ):
        with pytest.raises(SeatError, match=text):
            import_function(path)
    sys.modules.pop("my_seats")
