"""What a front end may ask of a running debate, wherever that runs.

Owns the one interface that forms, the terminal and the line magic speak to. Must not know who
implements it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rt_notebook.domain.snapshot import Snapshot


class Control(Protocol):
    """The verbs on one running debate, thread-safe and synchronous; not for the engine thread."""

    @property
    def id(self) -> str:
        """The debate's id."""
        ...

    def answer(
        self,
        answers: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        round: int | None = None,
        source: str = "person",
    ) -> Snapshot:
        """Answer the open gate.

        Raises:
            UsageError: the gate has closed, or the answers don't fit it.
        """
        ...

    def take_turn(self, *, round: int, seat: str, text: str) -> Snapshot:
        """Give a human seat's reply.

        Raises:
            UsageError: the reply breaks the contract, or no such turn is open.
        """
        ...

    def hold(self, *, round: int | None = None) -> Snapshot:
        """Extend the open gate's window.

        Raises:
            UsageError: no gate is open, or it was extended often enough.
        """
        ...

    def finish(self) -> Snapshot:
        """Go to the verdict with the complete replies.

        Raises:
            UsageError: there is no complete round with a usable reply.
        """
        ...

    def stop(self) -> Snapshot:
        """End the debate, keeping the complete replies.

        Raises:
            UsageError: it isn't running.
        """
        ...
