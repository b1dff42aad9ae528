"""Answers from a record: as a seat of its own (`replay:path`), and before any other provider.

Owns the book of recorded answers and how they are found, by what a call is about. It never asks
anybody for what a record doesn't hold, but the provider that it was given for that.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from rt_notebook.contract.call_about import About, about_call, call_key, without_answering
from rt_notebook.contract.differences import differences
from rt_notebook.contract.record import Record, read_record
from rt_notebook.domain.events import Event
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.domain.state import State, start_state
from rt_notebook.domain.turn import Call as LoggedCall
from rt_notebook.errors import CallError, RoundtableError, SeatError, StoreError
from rt_notebook.providers.base import Call, Completion, Progress, Provider

_MOST_SHOWN: Final = 3

View = Callable[[About], About]
"""What of a call counts for finding its answer."""


class Book:
    """The answers of a record, by what was asked.

    Args:
        events: the record, from its first event.
        spec: its definition.
        view: what of a call counts; all of it by default.
        skip: how many of the first events' answers are used up.
    """

    def __init__(
        self,
        events: Iterable[Event],
        spec: DebateSpec,
        view: View = lambda about: about,
        skip: Callable[[Event], bool] = lambda event: False,
    ) -> None:
        self._view = view
        self._answers: dict[str, deque[Completion]] = {}
        self._asked: list[tuple[str, int, str, About]] = []
        self._fill(events, spec, skip)

    def take(self, about: About) -> Completion | None:
        """Return the next answer to this, or None; each is given once."""
        answers = self._answers.get(call_key(self._view(about)))
        return answers.popleft() if answers else None

    def why_not(self, name: str, round: int, purpose: str, about: About) -> str:
        """Return why there is no answer to this, in a person's words."""
        wanted = self._view(about)
        near = [found for found in self._asked if found[:3] == (name, round, purpose)]
        if not near:
            return f"it holds no {purpose} of {name!r} in round {round}"
        told = differences(near[0][3], wanted, name)
        if not told:
            return f"the {purpose} of {name!r} in round {round} was given already"
        return "; ".join(map(str, told[:_MOST_SHOWN]))

    def _fill(
        self, events: Iterable[Event], spec: DebateSpec, skip: Callable[[Event], bool]
    ) -> None:
        stream = iter(events)
        first = next(stream, None)
        if first is None:
            return
        state = start_state(first, spec)
        keys: dict[str, str] = {}
        for event in stream:
            if event.kind == "call_started":
                self._note(state, event, keys)
            state.apply(event)
            key = keys.get(event.body.get("call", ""))
            if event.kind == "call_finished" and key is not None and not skip(event):
                call = state.calls[event.body["call"]]
                self._answers.setdefault(key, deque()).append(completion_of(call))

    def _note(self, state: State, event: Event, keys: dict[str, str]) -> None:
        body = event.body
        name, round, purpose = body["seat"], body["round"], body["purpose"]
        try:
            about = self._view(about_call(state, name, purpose, round))
        except RoundtableError:  # a call of nobody that sits there
            return
        keys[body["call"]] = call_key(about)
        self._asked.append((name, round, purpose, about))


def completion_of(call: LoggedCall) -> Completion:
    """Return what a recorded call answered, with the record's usage and latencies."""
    return Completion(
        call.text or "",
        tuple(call.tool_calls),
        call.usage,
        call.model_reported,
        call.request_id,
        dict(call.timings),
        dict(call.process) or None,
    )


class Replaying:
    """Answers from a book where it can, else by another provider.

    Args:
        book: the recorded answers.
        state: the debate so far.
        provider: makes the other provider, once it is needed.
    """

    def __init__(
        self, book: Book, state: Callable[[], State], provider: Callable[[], Provider]
    ) -> None:
        self._book = book
        self._state = state
        self._make = provider
        self._provider: Provider | None = None

    queues = True
    """A call may wait before it begins: whether it does is known once it isn't in the book."""

    @property
    def abandons(self) -> bool:
        """Whether a cancelled call's thread may still run."""
        return bool(getattr(self._provider, "abandons", False))

    async def aclose(self) -> None:
        """Close the other provider, where there is one that wants it."""
        close = getattr(self._provider, "aclose", None)
        if close is not None:
            await close()

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call."""
        about = about_call(self._state(), call.seat, call.purpose, call.round)
        found = self._book.take(about)
        if found is not None:
            return found
        if self._provider is None:
            self._provider = self._make()
        if not getattr(self._provider, "queues", False):
            call.begin()
        return await self._provider.complete(call, progress)


class ReplayProvider:
    """A seat whose answers come from a record; what the record doesn't hold fails.

    Whose model answered doesn't count, only what was asked: seat, persona, brief and texts.

    Args:
        path: the record's file.
        state: the debate so far.

    Raises:
        SeatError: the file can't be read, or is no record.
    """

    def __init__(self, path: str, state: Callable[[], State]) -> None:
        self._path = path
        self._state = state
        record = open_record(path)
        self._book = Book(record.events, record.spec, without_answering)

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call.

        Raises:
            CallError: the record holds no answer to this; says what differs.
        """
        about = about_call(self._state(), call.seat, call.purpose, call.round)
        found = self._book.take(about)
        if found is not None:
            return found
        why = self._book.why_not(call.seat, call.round, call.purpose, about)
        raise CallError(
            f"the record {self._path!r} doesn't answer seat {call.seat!r} in round {call.round} "
            f"({call.purpose}): {why}; nothing was called",
            kind="not_found",
            seat=call.seat,
            provider="replay",
        )


def open_record(path: str) -> Record:
    """Return the record that a seat's model names.

    Raises:
        SeatError: the file can't be read, or is no record.
    """
    if not path.strip():
        raise SeatError("model 'replay:' names no record; write 'replay:reviews/payments.jsonl'")
    try:
        text = Path(os.path.expanduser(path)).read_bytes().decode("utf-8")
        return read_record(text, path)
    except OSError as exc:
        raise SeatError(f"model 'replay:{path}': the record can't be read: {exc.strerror}") from exc
    except (ValueError, StoreError) as exc:
        raise SeatError(f"model 'replay:{path}': {exc}") from exc
