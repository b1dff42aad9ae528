"""One debate's live view in a notebook: transcript, forms, and whether anybody sees them.

Owns which thread does what to the widgets, and the view's life: shown in its cell, found or not
found by a page, updated by events, replaced by the static result. Must not know how a debate runs;
it hears events and speaks to a `Control`.

    engine thread: listener, turns_changed, ready      main thread: show, show_again, finish
    any thread: what a page sends                      posted (main, or engine in the background):
                                                       everything that touches a widget
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.state import State
from rt_notebook.frontends.control import Control
from rt_notebook.frontends.gate_words import plain_gate
from rt_notebook.frontends.live_forms import LiveForms
from rt_notebook.frontends.live_model import message_for, messages_so_far
from rt_notebook.frontends.live_notes import LiveDisplay, Note, what_to_do
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.publisher import captured, publish_outside
from rt_notebook.frontends.widgets import Transcript, close_tree, live_box

logger = logging.getLogger(__name__)

REARM_S: Final = (3.0, 3.0, 3.0)
"""Seconds to wait for a page: before the ping, before the fresh display, before the line."""

_GATHER_S: Final = 0.02  # in which events gather for one message to the page

# Views that a reloaded page still shows; the oldest is closed when there are more.
_KEPT_VIEWS: Final = 4
_kept: collections.deque[Any] = collections.deque()


class LiveView:
    """The live view of one debate.

    Args:
        shell: the IPython shell.
        post: runs a function on the thread that may touch widgets (`Job.post`).
        control: gets what a person answers; its `id` names the debate.
        background: the cell returns while the debate runs.
        rearm_s: see `REARM_S`.
    """

    def __init__(
        self,
        shell: Any,
        post: Callable[..., object],
        control: Control,
        *,
        background: bool = False,
        rearm_s: Sequence[float] = REARM_S,
    ) -> None:
        self.uid = secrets.token_hex(4)
        """Names the view in the page."""
        self.settled = False
        """True once a page has shown the view, or waiting for one has ended."""
        self._shell, self._post, self._control = shell, post, control
        self._background, self._rearm_s = background, rearm_s
        self._display_ids: list[str] = []
        self._pages: set[str] = set()
        self._seen = False
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._outbox: collections.deque[Message] = collections.deque()
        self._flush_due = False
        self._touching = threading.RLock()
        self._notes = 0
        self._introduced = False
        self._finished = False
        self._transcript = Transcript(self.uid, self._hear)
        self.forms = LiveForms(self._transcript, control)
        """The forms that are open."""
        self._box = live_box(self._transcript, self.forms.slot, self._saw)

    @property
    def seen(self) -> bool:
        """True once a page has shown the view."""
        return self._seen

    # ---- main thread, in a cell ----------------------------------------------------------------

    def show(self, fresh: bool = False) -> None:
        """Display the view in the running cell, past any `%%capture`.

        Args:
            fresh: under a new name, as when the first display got lost.
        """
        if fresh or not self._display_ids:
            self._display_ids.append(f"rt-{self.uid}-{len(self._display_ids)}")
        publish_outside(
            LiveDisplay(self._box, self._control.id), self._display_ids[-1], ip=self._shell
        )

    def show_again(self) -> None:
        """Display the view in the running cell too; the result will replace it everywhere."""
        self.show(fresh=True)

    def finish(self, result: object) -> None:
        """Put the static result in the view's place and let go of every widget.

        A page that was loaded in mid-run can't be reached by an update of the display: it keeps the
        transcript, which shows the verdict as well.

        Args:
            result: what IPython can format; it is displayed by the cell itself under `%%capture`.
        """
        with self._touching:
            if self._finished:
                return
            self._flush()
            self._finished = True
            self.forms.drop()
            shown = (
                Note("The result is in the captured output.") if captured(self._shell) else result
            )
            update = bool(self._display_ids)
            for name in self._display_ids or [f"rt-{self.uid}-0"]:
                publish_outside(shown, name, update=update, ip=self._shell)
            self._let_go()

    # ---- engine thread -------------------------------------------------------------------------

    def listener(self, event: Event, state: State) -> None:
        """Show an event; `state` is read during the call only."""
        messages: list[Message] = []
        if not self._introduced:
            self._introduced = True
            self.forms.introduce(state)
            if event.kind != "created":
                messages = messages_so_far(state)
        self._outbox.extend(messages + message_for(event, state))
        self._schedule()

    def turns_changed(self, turns: Iterable[TurnPart]) -> None:
        """Show the forms of the human seats' turns that are open now, and no others."""
        self._post(self._show_turns, list(turns))

    async def ready(self) -> bool:
        """Wait until a page shows the view, trying again twice; return whether one does.

        A page that comes later gets the forms all the same.
        """
        event = asyncio.Event()
        self._waiter = asyncio.get_running_loop(), event
        if self._seen:
            event.set()
        retries = (self._ping, lambda: self.show(fresh=True), self._say_what_to_do)
        for seconds, again in zip(self._rearm_s, retries, strict=True):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
                    break
            self._post(again)
        self.settled = True
        return self._seen

    async def confirm(self, text: str) -> bool:
        """Ask whether to start, and wait for the answer; there is no other way than the form."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bool] = loop.create_future()

        def decide(start: bool) -> None:
            loop.call_soon_threadsafe(settle, start)

        def settle(start: bool) -> None:
            if not answer.done():
                answer.set_result(start)

        self._post(self._show_confirmation, text, decide)
        try:
            return await answer
        finally:
            self._post(self._hide_confirmation)

    # ---- from a page, any thread ---------------------------------------------------------------

    def _hear(self, message: Message) -> None:
        kind = message.get("type")
        if kind == "ready":
            self._pages.add(str(message.get("page"))[:64])
            self._saw()
        elif kind == "submit":
            form = self.forms.numbered(message.get("serial"))
            values = message.get("values")
            if form is None:
                gone = {"type": "form", "serial": message.get("serial"), "ok": False}
                self._transcript.tell(gone)
            else:
                form.submit(
                    str(message.get("action")), values if isinstance(values, dict) else None
                )

    def _saw(self) -> None:
        self._seen = self.settled = True
        waiter = self._waiter
        if waiter is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits any more
                waiter[0].call_soon_threadsafe(waiter[1].set)

    # ---- posted --------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if not self._flush_due:
            self._flush_due = True
            # A reply, the next round and who is asked then come together, as one message.
            try:
                asyncio.get_running_loop().call_later(_GATHER_S, self._post, self._flush)
            except RuntimeError:  # not called on a loop
                self._post(self._flush)

    def _flush(self) -> None:
        """Show what has gathered, as one message to the page."""
        self._flush_due = False  # before looking: what comes from now on schedules a new one
        batch: list[Message] = []
        with self._touching:
            while self._outbox:
                batch.append(self._outbox.popleft())
            if not batch or self._finished:
                return
            self._transcript.append(batch)
            for message in batch:
                self.forms.follow(message)
                if not self._seen and message["type"] == "gate" and message["state"] == "open":
                    self._publish_note(plain_gate(message, self._control.id))

    def _show_turns(self, turns: Iterable[TurnPart]) -> None:
        with self._touching:
            self._flush()  # what happened before it is told before it
            if not self._finished:
                self.forms.show_turns(turns)

    def _show_confirmation(self, text: str, decide: Callable[[bool], None]) -> None:
        with self._touching:
            self.forms.ask(text, decide)

    def _hide_confirmation(self) -> None:
        with self._touching:
            self.forms.asked()

    def _ping(self) -> None:
        self._transcript.tell({"type": "ping", "n": 1})

    def _say_what_to_do(self) -> None:
        self._publish_note(what_to_do(self._control.id, background=self._background))

    def _publish_note(self, text: str) -> None:
        self._notes += 1
        publish_outside(Note(text), f"rt-{self.uid}-note-{self._notes}", ip=self._shell)

    def _let_go(self) -> None:
        """Close the widgets, unless a page that was loaded later has nothing else."""
        if len(self._pages) > 1:
            self._transcript.append([{"type": "over"}])
            # The widgets stay, but not this view and the debate behind it.
            self._transcript.retire()
            self._box.unobserve_all("_view_count")
            close_tree(self.forms.slot)
            _kept.append(self._box)
        else:
            close_tree(self._box)
        while len(_kept) > _KEPT_VIEWS:
            close_tree(_kept.popleft())
