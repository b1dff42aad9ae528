"""Lets widget messages through while one of our cells runs; every other message keeps its order.

Owns all knowledge of kernel internals. Must not know widgets, forms or debates. All of it runs on
the kernel's main thread:

    async with CommPump.of(kernel): ...        a cell that is awaited: the kernel's loop turns
    CommPump.of(kernel).wait_sync(job)         a blocked cell: no loop turns, none is nested
    pump.acquire() ... pump.release()          a background job: stays on after its cell

ipykernel 6 keeps shell messages in `kernel.msg_queue` behind the running cell: comm messages are
picked out of it. ipykernel 7 has the main shell's messages wait for a lock (up to 7.3), or runs
comm messages without the busy/idle pair that widget front ends wait for (7.4): the callback of
the main shell's socket pair is wrapped. Which one it is, is told by features, never by version.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeVar

from rt_notebook.engine.job import Job
from rt_notebook.frontends.pump_nested import serve_loop

logger = logging.getLogger(__name__)

T = TypeVar("T")
Mode = Literal["ipykernel6", "ipykernel7", "none"]

INTERVAL_S: Final = 0.05
"""How often waiting messages and an interrupt are looked for."""

NOTE: Final = (
    "This kernel is not one rt_notebook knows: buttons may not react while a cell runs. "
    "Answer with `%roundtable answer` or from a shell; a gate's countdown goes on by itself."
)
"""What to tell a person whose kernel has no pump."""

_COMM: Final = frozenset({"comm_open", "comm_msg", "comm_close"})
# zmq.POLLIN. By value, so that a terminal needs no pyzmq.
_POLLIN: Final = 1
_pumps: weakref.WeakKeyDictionary[Any, CommPump] = weakref.WeakKeyDictionary()


def unstrand(kernel: Any) -> bool:
    """Send replies through the stream where a raw send can strand a message; True if it was needed.

    ipykernel 7.0-7.3 sends raw on the socket its stream reads, which eats the socket's
    edge-triggered wake-up: a request that arrived meanwhile stays unread until the next client
    connects, and so does all that comes after it (ipykernel #1529, #1554). What is stranded already
    is read now. Both objects belong to the shell channel thread.
    """
    thread = getattr(kernel, "shell_channel_thread", None)
    manager = getattr(thread, "manager", None)
    stream = getattr(kernel, "shell_stream", None)
    socket = getattr(manager, "_shell_socket", None)
    if socket is None or socket is stream or not _has(stream, "send_multipart", "flush"):
        return False
    manager._shell_socket = stream  # type: ignore[union-attr]  # it has a socket, so it is there
    if hasattr(thread, "io_loop"):
        thread.io_loop.add_callback(stream.flush, _POLLIN)  # type: ignore[union-attr]
    return True


@contextlib.contextmanager
def on_interrupt(react: Callable[[], object]) -> Iterator[None]:
    """Call `react` on SIGINT instead of raising; changes nothing off the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: react())
    try:
        yield
    finally:
        # None: it was set by C code and can't be put back.
        signal.signal(signal.SIGINT, before or signal.default_int_handler)


class CommPump:
    """Hands comm messages to their handlers while a cell runs; use `CommPump.of`.

    Args:
        kernel: the IPython kernel, or None in a terminal.
    """

    def __init__(self, kernel: Any) -> None:
        self.handled = 0
        """How many comm messages went through the pump."""
        # Weak: the table of pumps must not keep a kernel alive.
        self._kernel_ref = weakref.ref(kernel) if kernel is not None else lambda: None
        self._users = 0
        self._beat: asyncio.Task[None] | None = None
        self._context = contextvars.copy_context()
        self._callback = self._receive  # one object, so that it is known again at the end
        self._stream: Any = None
        self._original: Any = None
        self.mode: Mode = _mode(kernel)
        """Which internals the pump works with; "none" hands nothing over."""

    @classmethod
    def of(cls, kernel: Any) -> CommPump:
        """Return the kernel's one pump: debates that run at the same time share it."""
        if kernel is None:
            return cls(None)
        if kernel not in _pumps:
            _pumps[kernel] = cls(kernel)
        return _pumps[kernel]

    @property
    def note(self) -> str | None:
        """What a person should know about this kernel, or None."""
        return NOTE if self.mode == "none" and self._kernel is not None else None

    @property
    def active(self) -> bool:
        """Whether somebody holds the pump."""
        return self._users > 0

    @property
    def _kernel(self) -> Any:
        return self._kernel_ref()

    # ---- holding it ----------------------------------------------------------------------------

    def acquire(self, *, beat: bool = True) -> None:
        """Switch the pump on, or count one more user; `beat`: on the running loop, by itself.

        On another thread than the kernel's (a cell run in a subshell) nothing is needed: the main
        shell is free. `release` on that thread does nothing either.
        """
        if not self._at_home():
            return
        self._users += 1
        if self._users == 1:
            # What a handler prints lands in the cell that took the pump first.
            self._context = contextvars.copy_context()
            self._guarded(self._attach)
        if beat and self._beat is None:
            self._beat = asyncio.ensure_future(self._keep_beating())

    def release(self) -> None:
        """Count one user less; the last one leaves the kernel as it was. Kernel's thread only."""
        if not self._at_home():
            return
        self._users -= 1
        if self._users > 0:
            return
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None
        self._guarded(self._detach)

    async def __aenter__(self) -> CommPump:
        self.acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()

    def _at_home(self) -> bool:
        thread = getattr(getattr(self._kernel, "shell_channel_thread", None), "parent_thread", None)
        return threading.current_thread() is (thread or threading.main_thread())

    def _attach(self) -> None:
        if self.mode == "ipykernel7" and self._stream is None:
            self._stream = _main_stream(self._kernel)
            # Put back as it was later: it carries ipykernel's one shared context.
            self._original = self._stream._recv_callback
            self._stream.on_recv(self._callback, copy=False)

    def _detach(self) -> None:
        # Wrapped again by somebody else: ours stays below theirs, and lets everything through.
        if self._stream is not None and self._stream._recv_callback is self._callback:
            self._stream.on_recv(self._original, copy=False)
            self._stream = None

    def _guarded(self, touch: Callable[[], None]) -> None:
        """Touch kernel internals; if they are not what they seemed, go on without a pump."""
        try:
            touch()
        except Exception:  # an edge: the debate must survive whatever a kernel has become
            logger.debug("the pump can't work with this kernel", exc_info=True)
            self.mode = "none"

    # ---- the work ------------------------------------------------------------------------------

    async def _keep_beating(self) -> None:
        """Step, and wake the loop: ipykernel's SIGINT handler queues a callback without waking."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            self.step(loop_turns=True)

    def step(self, *, loop_turns: bool = False) -> None:
        """Hand over the comm messages that wait now, and nothing else; never blocks."""
        if self.mode == "ipykernel6":
            self._guarded(self._take_from_queue)
        elif self.mode == "ipykernel7" and not loop_turns and self._stream is not None:
            # Nobody else reads the socket pair while the loop stands still.
            self._guarded(lambda: self._stream.flush(_POLLIN))

    def _take_from_queue(self) -> None:
        kernel = self._kernel
        kernel.shell_stream.flush(_POLLIN)
        queue = kernel.msg_queue
        comms = []
        for _ in range(queue.qsize()):
            item = queue.get_nowait()
            if self._is_comm(_frames(item)):
                comms.append(_frames(item))
            else:  # once round the queue: the order is kept, nothing else runs in between
                queue.put_nowait(item)
        for frames in comms:
            self._handle(frames)

    def _receive(self, frames: list[Any]) -> Any:
        if self._users > 0 and self._is_comm(frames):
            self._handle(frames)
            return None
        # A coroutine: the stream makes a task of it, which queues at the kernel's lock, in order.
        return self._original(frames)

    def _is_comm(self, frames: Any) -> bool:
        if not isinstance(frames, list):
            return False
        session = self._kernel.session
        try:
            _, parts = session.feed_identities(frames, copy=False)
            header = session.unpack(getattr(parts[1], "bytes", parts[1]))
            return header["msg_type"] in _COMM
        except Exception:  # an edge: what can't be read is not ours, the kernel deals with it
            return False

    def _handle(self, frames: list[Any]) -> None:
        kernel = self._kernel
        identities, parts = kernel.session.feed_identities(frames, copy=False)
        try:
            message = kernel.session.deserialize(parts, content=True, copy=False)
        except Exception:  # an edge: a bad signature, say; ipykernel logs and drops it as well
            logger.warning("a comm message can't be read", exc_info=True)
            return
        self.handled += 1
        handler = getattr(kernel.comm_manager, message["header"]["msg_type"])
        stream = getattr(kernel, "shell_stream", None)
        # The front end sends a model's next change only after this pair.
        kernel._publish_status("busy", "shell", parent=message)
        try:
            self._context.copy().run(handler, stream, identities, message)
        except Exception:  # an edge: the handler is the user's
            logger.exception("a comm handler failed")
        finally:
            kernel._publish_status("idle", "shell", parent=message)

    # ---- waiting in a blocked cell -------------------------------------------------------------

    def wait_sync(
        self,
        job: Job[T],
        *,
        until: Callable[[], bool] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Block this thread until the job is finished, or `until()`, or for `timeout` seconds.

        Comm messages are handed over and posted functions run meanwhile. An error of the job is
        not raised here.

        Raises:
            KeyboardInterrupt: SIGINT, at a point where no message can be lost.
        """
        deadline = time.monotonic() + timeout if timeout is not None else None
        hits: list[bool] = []

        def is_over() -> bool:
            # In a receive, a KeyboardInterrupt would lose a message, hence the flag.
            self.step()
            job.drain()
            return bool(
                hits
                or job.finished.is_set()
                or (until is not None and until())
                or (deadline is not None and time.monotonic() > deadline)
            )

        def interrupt() -> None:
            hits.append(True)
            job.wake.set()

        self.acquire(beat=False)
        try:
            with on_interrupt(interrupt):
                if not self._serve_unknown(is_over):
                    while not is_over():
                        job.wake.wait(INTERVAL_S)
                        job.wake.clear()
                job.drain()
        finally:
            self.release()
        if hits:
            raise KeyboardInterrupt

    def _serve_unknown(self, is_over: Callable[[], bool]) -> bool:
        """Where no pump works but a loop runs, turning that loop is all that may help."""
        if self.mode != "none" or self._kernel is None:
            return False
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        return serve_loop(loop, is_over, INTERVAL_S)


def _frames(item: Any) -> Any:
    """Return the message of a queue entry (count, dispatch function, arguments)."""
    return item[2][0] if item[2] else None


def _main_stream(kernel: Any) -> Any:
    """Return the stream the main shell's messages come from in ipykernel 7."""
    manager = kernel.shell_channel_thread.manager
    return manager.get_shell_channel_to_subshell_pair(None).to_stream


def _has(thing: Any, *names: str) -> bool:
    return all(hasattr(thing, name) for name in names)


def _mode(kernel: Any) -> Mode:
    """Tell by its features which kernel this is."""
    if not _has(kernel, "comm_manager", "session", "_publish_status"):
        return "none"
    if not _has(kernel.session, "feed_identities", "deserialize", "unpack"):
        return "none"
    if getattr(kernel, "shell_channel_thread", None) is not None:
        try:
            stream = _main_stream(kernel)
        except Exception:  # an edge: another ipykernel than any that was tried
            return "none"
        return "ipykernel7" if _has(stream, "_recv_callback", "on_recv", "flush") else "none"
    queue, stream = getattr(kernel, "msg_queue", None), getattr(kernel, "shell_stream", None)
    if _has(queue, "qsize", "get_nowait", "put_nowait") and _has(stream, "flush"):
        return "ipykernel6"
    return "none"
