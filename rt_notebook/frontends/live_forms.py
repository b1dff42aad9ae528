"""The forms below a live view's transcript: which are open now, and what was typed in vain.

Owns the forms' coming and going and their numbers. Must not know threads, displays or kernels: the
view calls this under its lock, wherever widgets may be touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.domain.state import State
from rt_notebook.frontends.control import Control
from rt_notebook.frontends.gate_form import ConfirmForm, GateForm
from rt_notebook.frontends.gate_form_base import Form
from rt_notebook.frontends.gate_form_talk import SpeechForm, TalkForm
from rt_notebook.frontends.gate_form_turn import TurnForm
from rt_notebook.frontends.live_parts import Message, words_shown
from rt_notebook.frontends.widgets import Transcript, empty_slot


class LiveForms:
    """The open forms of one live view.

    Args:
        transcript: is told of each form that opens or closes; its `uid` is in the forms' classes.
        control: gets what a person answers.
    """

    def __init__(self, transcript: Transcript, control: Control) -> None:
        self.slot = empty_slot()
        """The box that holds the forms."""
        self.gate: GateForm | None = None
        """The open gate's form."""
        self.talk: TalkForm | None = None
        """The form for a word to the seats of a discussion, while it can be said."""
        self.confirmation: ConfirmForm | None = None
        """The form that asks whether to start, while it is open."""
        self.turns: dict[tuple[int, str, int | None], TurnForm] = {}
        """The open turns' forms by round, seat and end."""
        self._transcript, self._control = transcript, control
        self._serial = 0
        self._talks = False
        self._options: list[str] = []
        self._seats: list[str] = []
        self._accepted: list[str] = []

    def introduce(self, state: State) -> None:
        """Take what every form needs to know of the debate."""
        self._talks = state.discusses
        self._options = list(state.spec.brief.options)
        self._seats = [seat.name for seat in state.spec.seats]

    def open(self) -> list[Form]:
        """Return the forms as they stand below each other."""
        forms: list[Form | None] = [
            self.confirmation, self.gate, *self.turns.values(), self.talk,
        ]  # fmt: skip
        return [form for form in forms if form is not None]

    def numbered(self, serial: object) -> Form | None:
        """Return the open form with a number; None where it isn't open any more."""
        return next((form for form in self.open() if form.serial == serial), None)

    def follow(self, message: Message) -> None:
        """Open, change or close the form that a message to the page is about."""
        if message["type"] == "gate":
            self._follow_gate(message)
        elif message["type"] == "talk":
            self._follow_talk(message["state"] == "open")
        elif message["type"] == "concluded":
            self.drop()

    def show_turns(self, turns: Iterable[TurnPart]) -> None:
        """Show the forms of these turns, and no others."""
        now = {(turn.round, turn.seat, turn.closes_at): turn for turn in turns}
        over = [self.turns.pop(key) for key in list(self.turns) if key not in now]
        for key, turn in now.items():
            if key not in self.turns:
                self.turns[key] = self._turn_form(turn)
                self._tell_turn("open", turn)
        self._fill()
        for form in over:
            self._tell_turn("closed", form.turn)
            form.close()

    def ask(self, text: str, decide: Callable[[bool], None]) -> None:
        """Ask whether to start."""
        self.confirmation = ConfirmForm(
            text, decide, uid=self._uid, serial=self._number(), tell=self._transcript.tell
        )
        self._transcript.append([{"type": "confirm", "state": "open"}])
        self._fill()

    def asked(self) -> None:
        """Take away the question whether to start."""
        if self.confirmation is not None:
            form, self.confirmation = self.confirmation, None
            self._transcript.append([{"type": "confirm", "state": "closed"}])
            self._fill()
            form.close()

    def drop(self) -> None:
        """Close all forms."""
        self.asked()
        self._drop_gate()
        self._follow_talk(False)
        forms, self.turns = self.turns, {}
        self._fill()
        for form in forms.values():
            form.close()

    @property
    def _uid(self) -> str:
        return self._transcript.uid

    def _follow_gate(self, gate: Message) -> None:
        form = self.gate
        if gate["state"] == "open":
            self._drop_gate()
            self.gate = GateForm(
                gate, self._control, uid=self._uid, serial=self._number(),
                tell=self._transcript.tell,
            )  # fmt: skip
            self._fill()
        elif form is None or form.round != gate["round"]:
            return
        elif gate["state"] == "held":
            form.held(gate)
        elif gate["state"] == "answered":
            self._accepted = [*(answer["text"] for answer in gate["answers"]), gate["message"]]
        elif gate["state"] == "closed":
            self._give_back(form.drafts())
            self._drop_gate()

    def _follow_talk(self, opened: bool) -> None:
        form, self.talk = self.talk, None
        if opened:
            self.talk = form or TalkForm(
                self._control, uid=self._uid, serial=self._number(), tell=self._transcript.tell
            )
            self._fill()
        elif form is not None:
            self._give_back(form.drafts())
            self._fill()
            form.close()

    def _give_back(self, drafts: Iterable[str]) -> None:
        """Show what a person typed and nobody got, so that it isn't lost."""
        unsent = [text for text in drafts if words_shown(text) not in self._accepted]
        self._accepted = []
        if unsent:
            self._transcript.append([{"type": "unsent", "text": "\n\n".join(unsent)}])

    def _turn_form(self, turn: TurnPart) -> TurnForm:
        others = [name for name in self._seats if name != turn.seat]
        make = SpeechForm if self._talks else TurnForm
        return make(
            turn, self._options, others, self._control,
            uid=self._uid, serial=self._number(), tell=self._transcript.tell,
        )  # fmt: skip

    def _tell_turn(self, change: str, turn: TurnPart) -> None:
        message = {"type": "turn", "state": change, "round": turn.round, "seat": turn.seat}
        self._transcript.append([message])

    def _number(self) -> int:
        self._serial += 1
        return self._serial

    def _fill(self) -> None:
        self.slot.children = [form.box for form in self.open()]

    def _drop_gate(self) -> None:
        if self.gate is not None:
            form, self.gate = self.gate, None
            self._fill()
            form.close()
