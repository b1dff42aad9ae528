"""The pump hands over comm messages and nothing else; an unknown kernel costs only the pump.

The kernels here have ipykernel's real message format and queue, and no more of a kernel than the
pump touches; tests/notebook runs it in real ones.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import pytest
from jupyter_client.session import Session
from tornado.queues import Queue

from rt_notebook.engine.runner import Job, runner
from rt_notebook.frontends.pump import NOTE, CommPump, unstrand
from rt_notebook.frontends.pump_nested import serve_loop

Handler = Callable[[Any, Any, dict[str, Any]], None]


class Kernel:
    """What every kernel has: a session, comms, and a status that is published."""

    def __init__(self) -> None:
        self.session = Session(key=b"secret")
        self.log: list[str] = []
        self.comm_manager = SimpleNamespace(comm_msg=self._comm, comm_open=self._comm)
        self.on_comm: Callable[[str], object] = lambda name: None

    def _comm(self, stream: Any, identities: Any, message: dict[str, Any]) -> None:
        name = message["content"]["name"]
        self.log.append(name)
        self.on_comm(name)

    def _publish_status(self, status: str, channel: str, parent: dict[str, Any]) -> None:
        self.log.append(f"{status} {parent['content']['name']}")

    def frames(self, kind: str, name: str) -> list[Any]:
        """Returns a message as a ZMQ stream delivers it."""
        import zmq

        message = self.session.msg(kind, {"name": name})
        return [zmq.Frame(part) for part in self.session.serialize(message, b"client")]


class QueueKernel(Kernel):
    """Like ipykernel 6: messages wait in a queue behind the running cell."""

    def __init__(self) -> None:
        super().__init__()
        self.msg_queue: Queue[tuple[int, Any, tuple[Any, ...]]] = Queue()
        self.shell_stream = SimpleNamespace(flush=lambda flag: 0)

    def receive(self, kind: str, name: str) -> None:
        self.msg_queue.put_nowait((self.msg_queue.qsize(), None, (self.frames(kind, name),)))

    def waiting(self) -> list[str]:
        items = [self.msg_queue.get_nowait() for _ in range(self.msg_queue.qsize())]
        found = []
        for _, _, (frames,) in items:
            _, parts = self.session.feed_identities(frames, copy=False)
            found.append(self.session.deserialize(parts, copy=False)["content"]["name"])
        return found


class SocketKernel(Kernel):
    """Like ipykernel 7: messages come to a callback on the main shell's stream."""

    def __init__(self) -> None:
        super().__init__()
        self.others: list[list[Any]] = []
        self.pending: list[list[Any]] = []
        self.stream = SimpleNamespace(
            _recv_callback=self.others.append, on_recv=self._on_recv, flush=self._flush
        )
        manager = SimpleNamespace(
            get_shell_channel_to_subshell_pair=lambda _: SimpleNamespace(to_stream=self.stream)
        )
        self.shell_channel_thread = SimpleNamespace(
            manager=manager, parent_thread=threading.main_thread()
        )

    def _on_recv(self, callback: Any, copy: bool) -> None:
        self.stream._recv_callback = callback

    def _flush(self, flag: int) -> None:
        while self.pending:
            self.stream._recv_callback(self.pending.pop(0))


async def _idle(job: Job[None]) -> None:
    await asyncio.Event().wait()


def _after(seconds: float) -> Callable[[Job[None]], Any]:
    async def main(job: Job[None]) -> None:
        await asyncio.sleep(seconds)

    return main


# ---- which kernel ------------------------------------------------------------------------------


def test_mode_is_told_by_features() -> None:
    assert CommPump.of(QueueKernel()).mode == "ipykernel6"
    assert CommPump.of(SocketKernel()).mode == "ipykernel7"
    assert CommPump.of(Kernel()).mode == "none"
    assert CommPump.of(None).mode == "none"


def test_only_unknown_kernel_has_note() -> None:
    assert CommPump.of(Kernel()).note == NOTE
    assert CommPump.of(None).note is None
    assert CommPump.of(QueueKernel()).note is None


@pytest.mark.parametrize("missing", ["msg_queue", "shell_stream", "session", "comm_manager"])
def test_missing_feature_means_unknown(missing: str) -> None:
    kernel = QueueKernel()
    delattr(kernel, missing)
    assert CommPump.of(kernel).mode == "none"


def test_failing_features_mean_unknown() -> None:
    kernel = SocketKernel()
    del kernel.shell_channel_thread.manager.get_shell_channel_to_subshell_pair
    assert CommPump.of(kernel).mode == "none"


def test_kernel_has_one_pump() -> None:
    kernel = QueueKernel()
    assert CommPump.of(kernel) is CommPump.of(kernel)


# ---- a queue of messages -----------------------------------------------------------------------


def test_only_comms_leave_queue_in_order() -> None:
    kernel = QueueKernel()
    for kind, name in [
        ("execute_request", "a"),
        ("comm_msg", "click"),
        ("complete_request", "b"),
        ("comm_open", "view"),
        ("execute_request", "c"),
    ]:
        kernel.receive(kind, name)
    pump = CommPump.of(kernel)
    pump.acquire(beat=False)
    pump.step()
    pump.release()
    assert kernel.log == ["busy click", "click", "idle click", "busy view", "view", "idle view"]
    assert kernel.waiting() == ["a", "b", "c"]
    assert pump.handled == 2


def test_internal_queue_entries_are_kept() -> None:
    kernel = QueueKernel()
    kernel.msg_queue.put_nowait((0, print, ()))
    kernel.msg_queue.put_nowait((1, print, ("not frames",)))
    CommPump.of(kernel).step()
    assert kernel.msg_queue.qsize() == 2


def test_forged_message_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    kernel = QueueKernel()
    kernel.receive("comm_msg", "forged")
    kernel.session = Session(key=b"another")
    with caplog.at_level(logging.WARNING, logger="rt_notebook"):
        CommPump.of(kernel).step()
    assert kernel.log == []
    assert "can't be read" in caplog.text


def test_failing_handler_is_logged_and_idle_sent(caplog: pytest.LogCaptureFixture) -> None:
    kernel = QueueKernel()
    kernel.on_comm = lambda name: int(name)
    kernel.receive("comm_msg", "x")
    with caplog.at_level(logging.ERROR, logger="rt_notebook"):
        CommPump.of(kernel).step()
    assert kernel.log == ["busy x", "x", "idle x"]
    assert "ValueError" in caplog.text


def test_handler_runs_in_context_of_cell() -> None:
    cell: ContextVar[str] = ContextVar("cell", default="another")
    kernel, seen = QueueKernel(), list[str]()
    kernel.on_comm = lambda name: seen.append(cell.get())
    kernel.receive("comm_msg", "x")
    token = cell.set("ours")
    pump = CommPump.of(kernel)
    pump.acquire(beat=False)
    cell.reset(token)
    pump.step()
    pump.release()
    assert seen == ["ours"]


def test_broken_internals_switch_pump_off() -> None:
    kernel = QueueKernel()
    pump = CommPump.of(kernel)
    kernel.msg_queue.qsize = None  # type: ignore[method-assign,assignment]
    pump.step()
    assert pump.mode == "none"
    assert pump.note == NOTE


# ---- a stream of messages ----------------------------------------------------------------------


def test_stream_callback_is_put_back() -> None:
    kernel = SocketKernel()
    before = kernel.stream._recv_callback
    pump = CommPump.of(kernel)
    pump.acquire(beat=False)
    pump.acquire(beat=False)
    pump.release()
    assert kernel.stream._recv_callback != before
    pump.release()
    assert not pump.active
    assert kernel.stream._recv_callback is before


def test_other_messages_go_to_kernel() -> None:
    kernel = SocketKernel()
    pump = CommPump.of(kernel)
    pump.acquire(beat=False)
    kernel.pending = [kernel.frames("execute_request", "a"), kernel.frames("comm_msg", "click")]
    pump.step()
    pump.release()
    assert kernel.log == ["busy click", "click", "idle click"]
    assert len(kernel.others) == 1


def test_stream_is_left_alone_while_loop_turns() -> None:
    kernel = SocketKernel()
    pump = CommPump.of(kernel)
    pump.acquire(beat=False)
    kernel.pending = [kernel.frames("comm_msg", "click")]
    pump.step(loop_turns=True)
    pump.release()
    assert len(kernel.pending) == 1


def test_wrapper_of_another_library_survives() -> None:
    kernel = SocketKernel()
    pump = CommPump.of(kernel)
    pump.acquire(beat=False)
    ours = kernel.stream._recv_callback
    theirs: Any = lambda frames: ours(frames)  # noqa: E731
    kernel.stream._recv_callback = theirs
    pump.release()
    assert kernel.stream._recv_callback is theirs
    theirs(kernel.frames("comm_msg", "a"))
    assert (kernel.log, len(kernel.others)) == ([], 1)
    pump.acquire(beat=False)
    theirs(kernel.frames("comm_msg", "b"))
    pump.release()
    assert kernel.log == ["busy b", "b", "idle b"]


def test_pump_off_kernels_thread_does_nothing() -> None:
    kernel = SocketKernel()
    before = kernel.stream._recv_callback
    seen: list[bool] = []

    def in_subshell() -> None:
        pump = CommPump.of(kernel)
        pump.acquire()
        seen.append(pump.active)
        pump.release()

    thread = threading.Thread(target=in_subshell)
    thread.start()
    thread.join(5)
    assert seen == [False]
    assert kernel.stream._recv_callback is before


def test_unstrand_swaps_socket_once() -> None:
    kernel = SocketKernel()
    assert not unstrand(kernel)  # 7.4: no raw socket
    stream = SimpleNamespace(send_multipart=print, flush=print)
    kernel.shell_stream = stream  # type: ignore[attr-defined]
    kernel.shell_channel_thread.manager._shell_socket = object()
    assert unstrand(kernel)
    assert kernel.shell_channel_thread.manager._shell_socket is stream
    assert not unstrand(kernel)
    assert not unstrand(QueueKernel())
    assert not unstrand(None)


# ---- waiting -----------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_awaited_cell_gets_comms_by_itself() -> None:
    kernel, clicked = QueueKernel(), asyncio.Event()
    kernel.on_comm = lambda name: clicked.set()
    async with CommPump.of(kernel) as pump:
        kernel.receive("execute_request", "next")
        kernel.receive("comm_msg", "click")
        await asyncio.wait_for(clicked.wait(), 5)
    assert not pump.active
    assert kernel.waiting() == ["next"]


def test_blocked_cell_gets_comms_and_posts() -> None:
    kernel, seen = QueueKernel(), list[str]()
    answered = threading.Event()
    kernel.on_comm = lambda name: answered.set()

    async def main(job: Job[str]) -> str:
        job.post(seen.append, "form")
        await asyncio.to_thread(kernel.receive, "comm_msg", "click")
        await asyncio.to_thread(answered.wait, 5)
        return "answered"

    job = runner().submit(main)
    CommPump.of(kernel).wait_sync(job)
    assert job.result(0) == "answered"
    assert seen == ["form"]


def test_blocked_cell_stops_early_when_told() -> None:
    job = runner().submit(_idle)
    CommPump.of(QueueKernel()).wait_sync(job, until=lambda: True)
    CommPump.of(QueueKernel()).wait_sync(job, timeout=0.01)
    assert not job.done()
    job.cancel()
    assert job.finished.wait(5)


def test_interrupt_waits_for_safe_point() -> None:
    kernel = QueueKernel()
    before = signal.getsignal(signal.SIGINT)

    def interrupted_handler(name: str) -> None:
        signal.raise_signal(signal.SIGINT)
        kernel.log.append("handler ends")

    kernel.on_comm = interrupted_handler
    kernel.receive("comm_msg", "click")
    job = runner().submit(_idle)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        CommPump.of(kernel).wait_sync(job)
    assert kernel.log == ["busy click", "click", "handler ends", "idle click"]
    assert signal.getsignal(signal.SIGINT) == before
    assert not job.done()  # what becomes of the job is for the caller to say
    job.cancel()
    assert job.finished.wait(5)


def test_blocked_subshell_waits_without_signals() -> None:
    job = runner().submit(_after(0.05))
    thread = threading.Thread(target=CommPump.of(QueueKernel()).wait_sync, args=(job,))
    thread.start()
    thread.join(5)
    assert job.finished.is_set()


# ---- the nested loop: in processes of their own, tests/notebook --------------------------------


@pytest.mark.asyncio
async def test_foreign_loop_is_not_nested() -> None:
    class Foreign:
        """Like uvloop's: no BaseEventLoop."""

    since = time.monotonic()
    assert not serve_loop(Foreign(), lambda: False, 0.01)  # type: ignore[arg-type]
    assert time.monotonic() - since < 1


def test_loop_of_another_thread_is_not_nested() -> None:
    assert not serve_loop(runner().loop, lambda: False, 0.01)
