"""Python functions in a seat: sync ones in a thread of their own, async ones on the loop."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import logging
import threading
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, Final

from rt_notebook.errors import SeatError, one_line
from rt_notebook.providers.base import Call, Completion, Progress

CLEAN_UP_S: Final = 1.0
"""Seconds that a cancelled coroutine has to end; after that it is left to itself."""

_log = logging.getLogger(__name__)


class FunctionProvider:
    """Answers calls with a function `(Call) -> str | Completion`.

    A sync function runs in a daemon thread. When its call is cancelled it can't be stopped: it is
    abandoned, its late answer is dropped, and the failure's message says that it may still run.
    A coroutine that ignores its cancellation is abandoned after `CLEAN_UP_S`.
    """

    def __init__(self, function: Callable[[Call], Any]) -> None:
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  (an object whose __call__ is async)
        )
        self.abandons = not self._is_async

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call; what the function raises fails it."""
        answer = self._function(call) if self._is_async else await self._in_thread(call)
        if inspect.isawaitable(answer):  # a sync function may wrap an async one
            work = answer if inspect.iscoroutine(answer) else _awaited(answer)
            answer = await _bounded(work)
        return answer if isinstance(answer, Completion) else Completion(answer)

    async def _in_thread(self, call: Call) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(value)

        def work() -> None:
            value: Any = None
            error: BaseException | None = None
            try:
                value = self._function(call)
            except Exception as exc:  # carried over to the loop, where the call fails with it
                error = RuntimeError(str(exc)) if isinstance(exc, StopIteration) else exc
            except BaseException as exc:  # SystemExit in a function must not pass for silence
                error = RuntimeError(f"{type(exc).__name__}: {exc}")
            # The loop may be closed: then nobody waits for this answer.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, value, error)

        threading.Thread(target=work, name=f"roundtable-{call.seat}", daemon=True).start()
        return await future


_abandoned: set[asyncio.Task[Any]] = set()


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


@types.coroutine
def _bounded(work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Run `work` in this task; if it goes on after its cancellation, another task takes it over.

    Steps it by hand, because a task a call would cost more than the rest of the call.
    """
    error: BaseException | None = None
    patience: _Patience | None = None
    try:
        while True:
            try:
                waits_for = _step(work, error)
            except StopIteration as end:
                return end.value
            try:
                yield waits_for
                error = None
            except asyncio.CancelledError as cancelled:
                if patience is not None and patience.takes_back():
                    _abandon(work, cancelled)
                    raise
                patience = patience or _Patience()
                error = cancelled
            except BaseException as exc:  # all of it is for the work to see
                error = exc
    finally:
        error = None
        if patience is not None:
            patience.end()


class _Patience:
    """Gives the running task's cancelled work `CLEAN_UP_S` to end, then cancels the task again."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._late = False
        self._timer = asyncio.get_running_loop().call_later(CLEAN_UP_S, self._run_out)

    def takes_back(self) -> bool:
        """Take a cancellation of its own back; False: it is somebody else's."""
        if self._late and self._task is not None:
            self._task.uncancel()
        return self._late

    def end(self) -> None:
        """Let the work go."""
        self._timer.cancel()

    def _run_out(self) -> None:
        self._late = self._task is not None and self._task.cancel()


@types.coroutine
def _unbounded(
    work: Coroutine[Any, Any, Any], error: BaseException | None
) -> Generator[Any, Any, Any]:
    while True:
        try:
            waits_for = _step(work, error)
        except StopIteration as end:
            return end.value
        try:
            yield waits_for
            error = None
        except BaseException as exc:  # all of it is for the work to see
            error = exc


def _step(work: Coroutine[Any, Any, Any], error: BaseException | None) -> Any:
    try:
        return work.send(None) if error is None else work.throw(error)
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as exc:  # on the loop, SystemExit would end the thread of every debate
        if isinstance(exc, GeneratorExit) and isinstance(error, GeneratorExit):
            raise  # it is closed, and says so
        if isinstance(exc, KeyboardInterrupt) and _is_main_thread():
            raise  # a real Ctrl-C
        raise RuntimeError(f"{type(exc).__name__}: {exc}") from exc


def _abandon(work: Coroutine[Any, Any, Any], cancelled: BaseException) -> None:
    _log.warning("a seat's coroutine ignores its cancellation; it may still run")
    task = asyncio.ensure_future(_awaited(_unbounded(work, cancelled)))
    _abandoned.add(task)  # the loop itself keeps only a weak reference
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # seen: nobody waits for it


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def import_function(path: str) -> Callable[[Call], Any]:
    """Return the function that `module:name` names.

    Raises:
        SeatError: the path is malformed, or there is no such function.
    """
    module_name, _, name = path.partition(":")
    if not module_name or not name:
        raise SeatError(f"model 'python:{path}' is not of the form 'python:module:function'")
    try:
        function = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as exc:
        raise SeatError(f"model 'python:{path}' can't be loaded: {one_line(str(exc))}") from exc
    if not callable(function):
        raise SeatError(f"model 'python:{path}' names {type(function).__name__}, not a function")
    return function  # type: ignore[no-any-return]  # whatever a user's module holds
