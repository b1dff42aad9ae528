"""A debate as any process sees it: a fold that keeps up with the store, and waiting for more.

Knows neither who runs the debate nor who looks on.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rt_notebook.contract.discussion_prompts import prompts_for
from rt_notebook.contract.prompts import Prompts
from rt_notebook.domain.events import EVENT_VERSION, Event
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.domain.state import LIVE, State, apply_stored, fold
from rt_notebook.next_steps import snapshot_of
from rt_notebook.open_turns import open_turns
from rt_notebook.store.log import Store

CHECK_S = 0.5
"""Seconds between two looks whether the process that runs a debate still lives."""

Told = Callable[[Event, State], object]
"""Called after an event is applied, as a listener of the running process is."""


class Following:
    """Keeps up with one debate.

    Args:
        store: where it is kept.
        debate: its id.

    Raises:
        UnknownDebateError: there is no such debate.
        StoreError: the store can't be read.
    """

    def __init__(self, store: Store, debate: str) -> None:
        self.debate = debate
        """The debate's id."""
        self._store = store
        # Before the first reading: nothing written since then is missed.
        self._watch = store.watch()
        self._watch.wait(0)
        self.state = fold(store.events(debate))
        """The fold as of the last look; a dead process can't have written that it died."""
        self._prompts: Prompts | None = None

    def catch_up(self, told: Told | None = None) -> bool:
        """Apply what has been written since the last look; False where nothing was.

        Args:
            told: called after each event.

        Raises:
            UnknownDebateError: the debate was deleted meanwhile.
        """
        news = self._store.events(self.debate, self.state.revision)
        for event in news:
            apply_stored(self.state, event)
            if told is not None:
                told(event, self.state)
        return bool(news)

    def wait(self, seconds: float) -> bool:
        """Block until something may be new; False after `seconds`."""
        return self._watch.wait(seconds)

    @property
    def over(self) -> bool:
        """True when no process is at work on the debate."""
        return self._store.row(self.debate).status not in LIVE

    def seen(self) -> State:
        """Return the fold as it is to be shown: interrupted where its process is gone."""
        state = self.state
        if not state.live or not self.over:
            return state
        # A state of its own: should that process only have been asleep, its log goes on.
        state = fold(self._store.events(self.debate))
        if state.live:
            last = (EVENT_VERSION, state.id, state.revision, state.updated_at)
            state.apply(Event(*last, "interrupted", {"why": "its process is gone"}))
        return state

    def snapshot(self) -> Snapshot:
        """Return what outsiders see of the debate."""
        state = self.seen()
        return snapshot_of(state, open_turns(state, self._made_prompts(state)))

    def until(self, holds: Callable[[Snapshot], bool], seconds: float) -> Snapshot:
        """Return the first snapshot for which `holds`, else the one after `seconds`.

        It is looked at after each change, and twice a second, for a process may die in silence.
        """
        ends = time.monotonic() + seconds
        found = self.snapshot()
        while not holds(found):
            left = ends - time.monotonic()
            if left <= 0:
                return found
            changed = self.wait(min(left, CHECK_S))
            if self.catch_up() or not changed:
                found = self.snapshot()
        return found

    def follow(self, told: Told) -> Snapshot:
        """Tell every event as it comes, until nobody is at work any more; returns what is then."""
        while not self.over:
            self.wait(CHECK_S)
            self.catch_up(told)
        self.catch_up(told)
        return self.snapshot()

    def _made_prompts(self, state: State) -> Prompts | None:
        if (
            self._prompts is None
            and state.turns
            and any(seat.vendor == "human" for seat in state.spec.seats)
        ):
            self._prompts = prompts_for(state.spec, state.sources)
        return self._prompts
