"""Steers a debate that another process runs, through the store that both have open.

The other half of `DebateRun`'s verbs: checked here against what the log says, left in the store,
carried out over there, and only then done here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.domain.state import LIVE, State
from rt_notebook.engine.commands import not_sent
from rt_notebook.errors import StoreError, UsageError
from rt_notebook.following import CHECK_S, Following
from rt_notebook.open_turns import open_turns
from rt_notebook.orders import TURN, answer_body, checked_source, error_of, make_of
from rt_notebook.store.log import Answer, Store

TIMEOUT_S: Final = 15.0
"""Seconds that a command waits for its acknowledgement."""

GRACE_S: Final = 2.0
"""Seconds more for one that was taken before its debate ended or the time was up."""

Kept = dict[str, Any]
"""The texts of a command, to be shown again where it fails."""


class RemoteControl:
    """The verbs on one debate that another process runs; any thread, each call blocks.

    Args:
        store: where it is kept.
        debate: its id.
        timeout_s: seconds that a command waits for its acknowledgement.
    """

    def __init__(self, store: Store, debate: str, timeout_s: float = TIMEOUT_S) -> None:
        self.id = debate
        """The debate's id."""
        self._store = store
        self._timeout_s = timeout_s

    def state(self) -> Snapshot:
        """Return the debate's state.

        Raises:
            UnknownDebateError: it was deleted.
        """
        return Following(self._store, self.id).snapshot()

    def answer(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        round: int | None = None,
        source: str = "person",
    ) -> Snapshot:
        """Answer the open gate and close it.

        Args:
            answers: texts by question id; those left out stay unanswered.
            message: a free message for all later prompts.
            round: the gate's round; None: the open one.
            source: person or agent.

        Raises:
            UsageError: no such gate is open, a text doesn't fit, or the other process doesn't
                react; its `kept` attribute has the texts.
        """
        body = answer_body(answers, message, round)
        kept = {"answers": body["answers"], "message": body["message"]}
        return self._send("answer", body, source, kept)

    def take_turn(self, *, round: int, seat: str, text: str, source: str = "person") -> Snapshot:
        """Give a human seat's reply.

        Args:
            round: the turn's round.
            seat: the seat's name.
            text: the reply in the contract's form.
            source: person or agent.

        Raises:
            UsageError: no such turn is open, or the text breaks the contract: the errors are
                listed; its `kept` attribute has the text.
        """
        body = {"round": round, "seat": seat, "text": text}
        return self._send(TURN, body, source, {"text": text})

    def hold(self, *, round: int | None = None, source: str = "person") -> Snapshot:
        """Extend the open gate by its own window, at most three times.

        Raises:
            UsageError: no such gate is open, or it can't be extended.
        """
        return self._send("hold", {"round": round}, source, {})

    def finish(self, *, source: str = "person") -> Snapshot:
        """Go to the verdict with the complete replies.

        Raises:
            UsageError: there is nothing to judge yet, or the debate isn't running.
        """
        return self._send("finish", {}, source, {})

    def stop(self, *, source: str = "person") -> Snapshot:
        """End the debate now; completed replies are kept.

        Raises:
            UsageError: it has ended.
        """
        return self._send("stop", {}, source, {})

    def _send(self, verb: str, body: Mapping[str, Any], source: str, kept: Kept) -> Snapshot:
        checked_source(source)
        following = Following(self._store, self.id)
        # What can be refused from what the log says is refused without asking anybody.
        _check(verb, body, source, following.seen(), kept)
        try:
            number = self._store.ask(self.id, verb, body, source)
        except UsageError as error:
            raise UsageError(str(error), **{**error.facts, "kept": kept}) from None
        answer = self._answer_to(number, verb, kept, following)
        if answer.error is not None:
            raise error_of(answer.error, kept)
        following.catch_up()
        return following.snapshot()

    def _answer_to(self, number: int, verb: str, kept: Kept, following: Following) -> Answer:
        """Wait for an answer, and take the command back where none can be expected."""
        ends = time.monotonic() + self._timeout_s
        taken = False
        while True:
            answer = self._collect(number, verb, kept)
            if answer is not None:
                return answer
            why = self._given_up(ends) if not taken else None
            if why is not None:
                if self._store.withdraw(number):
                    raise UsageError(f"{verb}: {why}{not_sent(kept)}", kept=kept)
                taken, ends = True, time.monotonic() + GRACE_S
            elif time.monotonic() >= ends:
                raise self._unknown(verb, kept)
            following.wait(min(CHECK_S, max(0.0, ends - time.monotonic())))

    def _collect(self, number: int, verb: str, kept: Kept) -> Answer | None:
        try:
            return self._store.collect(number)
        except StoreError as error:
            if error.facts.get("fault") != "lost":
                raise
            raise UsageError(
                f"{verb}: debate {self.id!r} was deleted or taken over by another process before "
                f"it answered; look at its state before you send this again{not_sent(kept)}",
                kept=kept,
            ) from None

    def _given_up(self, ends: float) -> str | None:
        """Return why no answer can be expected, or None."""
        status = self._store.row(self.id).status
        if status not in LIVE:
            return f"debate {self.id!r} ended meanwhile (status {status})"
        if time.monotonic() < ends:
            return None
        lease = self._store.lease(self.id)
        who = lease.holder if lease is not None else "nobody"
        return (
            f"debate {self.id!r} took no notice within {self._timeout_s:g} s; {who} runs it and "
            "seems to be blocked"
        )

    def _unknown(self, verb: str, kept: Kept) -> UsageError:
        return UsageError(
            f"{verb}: the process that runs debate {self.id!r} took this, but never said what "
            "became of it; look at the debate's state before you send it again",
            kept=kept,
        )


def _check(verb: str, body: Mapping[str, Any], source: str, state: State, kept: Kept) -> None:
    """Refuse what doesn't fit the debate as the log tells it."""
    if verb != TURN:
        make_of(verb, body, source)(state)
        return
    turns = open_turns(state)
    if not any(turn.round == body["round"] and turn.seat == body["seat"] for turn in turns):
        opened = ", ".join(f"{turn.seat} (round {turn.round})" for turn in turns) or "none"
        raise UsageError(
            f"no turn of {body['seat']!r} is open in round {body['round']}; open turns: {opened} "
            f"(status {state.status}){not_sent(kept)}",
            kept=kept,
            status=state.status,
        )
