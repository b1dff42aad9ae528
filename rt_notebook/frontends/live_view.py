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
from rt_notebook.frontends.gate_form import ConfirmForm, GateForm
from rt_notebook.frontends.gate_form_base import Form
from rt_notebook.frontends.gate_form_talk import SpeechForm, TalkForm
from rt_notebook.frontends.gate_form_turn import TurnForm
from rt_notebook.frontends.gate_words import plain_gate
from rt_notebook.frontends.live_model import message_for, messages_so_far
from rt_notebook.frontends.live_notes import LiveDisplay, Note, what_to_do
from rt_notebook.frontends.live_parts import Message
from rt_notebook.frontends.publisher import captured, publish_outside
from rt_notebook.frontends.widgets import (
    Transcript,
    close_tree,
    empty_slot,
    live_box,
)

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
        self.form: GateForm | None = None
        """The open gate's form."""
        self.talk: TalkForm | None = None
        """The form for a word to the seats of a discussion, while it can be said."""
        self.confirmation: ConfirmForm | None = None
        """The form that asks whether to start, while it is open."""
        self.turn_forms: dict[tuple[int, str, int | None], TurnForm] = {}
        """The open turns' forms by round, seat and end."""
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
        self._serial = 0
        self._introduced = False
        self._finished = False
        self._talks = False
        self._options: list[str] = []
        self._seats: list[str] = []
        self._accepted = ""
        self._transcript = Transcript(self.uid, self._hear)
        self._slot = empty_slot()
        self._box = live_box(self._transcript, self._slot, self._saw)

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
            self._drop_forms()
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
            self._talks = state.discusses
            self._options = list(state.spec.brief.options)
            self._seats = [seat.name for seat in state.spec.seats]
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
            form = self._form_of(message.get("serial"))
            values = message.get("values")
            if form is None:
                self._tell({"type": "form", "serial": message.get("serial"), "ok": False})
            else:
                form.submit(
                    str(message.get("action")), values if isinstance(values, dict) else None
                )

    def _form_of(self, serial: object) -> Form | None:
        return next(
            (form for form in self._forms() if form is not None and form.serial == serial), None
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
                if message["type"] == "gate":
                    self._follow_gate(message)
                elif message["type"] == "talk":
                    self._follow_talk(message["state"] == "open")
                elif message["type"] == "concluded":
                    self._drop_forms()

    def _follow_gate(self, gate: Message) -> None:
        form = self.form
        if gate["state"] == "open":
            self._drop_gate_form()
            self.form = GateForm(
                gate, self._control, uid=self.uid, serial=self._number(), tell=self._tell
            )
            self._fill_slot()
            if not self._seen:
                self._publish_note(plain_gate(gate, self._control.id))
        elif form is None or form.round != gate["round"]:
            return
        elif gate["state"] == "held":
            form.held(gate)
        elif gate["state"] == "answered":
            texts = [answer["text"] for answer in gate["answers"]]
            self._accepted = "\n".join([*texts, gate["message"] or ""])
        elif gate["state"] == "closed":
            self._give_back(form.drafts())
            self._drop_gate_form()

    def _follow_talk(self, opened: bool) -> None:
        form, self.talk = self.talk, None
        if opened:
            self.talk = form or TalkForm(
                self._control, uid=self.uid, serial=self._number(), tell=self._tell
            )
            self._fill_slot()
        elif form is not None:
            self._give_back(form.drafts())
            self._fill_slot()
            form.close()

    def _give_back(self, drafts: Iterable[str]) -> None:
        """Show what a person typed and nobody got, so that it isn't lost."""
        unsent = [text for text in drafts if text not in self._accepted]
        self._accepted = ""
        if unsent:
            self._transcript.append([{"type": "unsent", "text": "\n\n".join(unsent)}])

    def _show_turns(self, turns: Iterable[TurnPart]) -> None:
        with self._touching:
            self._flush()  # what happened before it is told before it
            if self._finished:
                return
            now = {(turn.round, turn.seat, turn.closes_at): turn for turn in turns}
            over = [self.turn_forms.pop(key) for key in list(self.turn_forms) if key not in now]
            for key, turn in now.items():
                if key not in self.turn_forms:
                    self.turn_forms[key] = self._turn_form(turn)
                    self._tell_turn("open", turn)
            self._fill_slot()
            for form in over:
                self._tell_turn("closed", form.turn)
                form.close()

    def _turn_form(self, turn: TurnPart) -> TurnForm:
        others = [name for name in self._seats if name != turn.seat]
        make = SpeechForm if self._talks else TurnForm
        return make(
            turn, self._options, others, self._control,
            uid=self.uid, serial=self._number(), tell=self._tell,
        )  # fmt: skip

    def _tell_turn(self, change: str, turn: TurnPart) -> None:
        message = {"type": "turn", "state": change, "round": turn.round, "seat": turn.seat}
        self._transcript.append([message])

    def _number(self) -> int:
        self._serial += 1
        return self._serial

    def _tell(self, message: Message) -> None:
        self._transcript.tell(message)

    def _fill_slot(self) -> None:
        self._slot.children = [form.box for form in self._forms() if form is not None]

    def _forms(self) -> list[Form | None]:
        return [self.confirmation, self.form, *self.turn_forms.values(), self.talk]

    def _show_confirmation(self, text: str, decide: Callable[[bool], None]) -> None:
        with self._touching:
            self.confirmation = ConfirmForm(
                text, decide, uid=self.uid, serial=self._number(), tell=self._tell
            )
            self._transcript.append([{"type": "confirm", "state": "open"}])
            self._fill_slot()

    def _hide_confirmation(self) -> None:
        with self._touching:
            if self.confirmation is not None:
                form, self.confirmation = self.confirmation, None
                self._transcript.append([{"type": "confirm", "state": "closed"}])
                self._fill_slot()
                form.close()

    def _drop_gate_form(self) -> None:
        if self.form is not None:
            form, self.form = self.form, None
            self._fill_slot()
            form.close()

    def _drop_forms(self) -> None:
        self._hide_confirmation()
        self._drop_gate_form()
        self._follow_talk(False)
        forms, self.turn_forms = self.turn_forms, {}
        self._fill_slot()
        for form in forms.values():
            form.close()

    def _ping(self) -> None:
        self._transcript.tell({"type": "ping", "n": 1})

    def _say_what_to_do(self) -> None:
        self._publish_note(what_to_do(self._control.id, background=self._background))

    def _publish_note(self, text: str) -> None:
        publish_outside(Note(text), f"rt-{self.uid}-note-{self._number()}", ip=self._shell)

    def _let_go(self) -> None:
        """Close the widgets, unless a page that was loaded later has nothing else."""
        if len(self._pages) > 1:
            self._transcript.append([{"type": "over"}])
            # The widgets stay, but not this view and the debate behind it.
            self._transcript.retire()
            self._box.unobserve_all("_view_count")
            close_tree(self._slot)
            _kept.append(self._box)
        else:
            close_tree(self._box)
        while len(_kept) > _KEPT_VIEWS:
            close_tree(_kept.popleft())
