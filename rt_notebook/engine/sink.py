"""What the driver asks of an event log. Must not know where or how events are kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from rt_notebook.domain.events import Event


class EventSink(Protocol):
    """Where events become durable."""

    def append(self, events: Sequence[Event], committed: Callable[[], None]) -> Awaitable[None]:
        """Store events in the order of the calls.

        They are on their way when this returns, whether or not anybody awaits the result.
        `committed` is called once they are durable, before the awaitable resolves. After a failure
        every later append fails too, so that the log never has a gap.
        """
        ...
