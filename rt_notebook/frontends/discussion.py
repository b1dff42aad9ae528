"""`Discussion`, the Python front end of a discussion: the same engine and views as a cell's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Unpack

from rt_notebook.domain.kinds import DISCUSSION, OBSERVER_NAME, Kind
from rt_notebook.domain.seat import Seat
from rt_notebook.frontends.debates import Closer, CommonSettings, PythonDebate


class DiscussionSettings(CommonSettings, total=False):
    """What `Discussion` takes beside topic and seats.

    What is left out comes from the configuration files, then from the defaults.
    """

    rounds: int
    """Rounds, 1-50 (1): in each, every seat speaks once."""
    observer: Closer
    """Who sums up: a seat's name, a model, a `Seat`, a callable or a script."""
    observer_prompt: str | None
    """What the observer is asked to write; None: a neutral summary."""
    memory: str
    """What a seat sees: `full` (all that was said), `turn` (nothing of it) or `window:N`."""


class Discussion(PythonDebate):
    """A debate without options: seats speak in turn, a person may say a word, an observer sums up.

    Args:
        topic: what it is about, Markdown.
        seats: who speaks, in this order: `Seat`s, or names and `name=model` as `--seats` takes
            them; None: the files' default seats, else three scripted ones.
        **settings: `DiscussionSettings`; what is left out comes from `roundtable.toml`, the user's
            file, the defaults.

    Raises:
        BriefError: topic or field notes break a limit.
        SeatError: the seats don't fit.
        OptionError: an unknown argument or a bad value.
    """

    kind: ClassVar[Kind] = DISCUSSION
    closing_name: ClassVar[str] = OBSERVER_NAME

    def __init__(
        self,
        topic: str,
        *,
        seats: Sequence[Seat | str] | None = None,
        **settings: Unpack[DiscussionSettings],
    ) -> None:
        super().__init__(topic, (), seats, settings, [*DiscussionSettings.__annotations__])
