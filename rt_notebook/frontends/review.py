"""`Review`, the Python front end of a review: the same engine and views as a cell's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Unpack

from rt_notebook.domain.kinds import CHAIRMAN_NAME, REVIEW, Kind
from rt_notebook.domain.seat import Seat
from rt_notebook.frontends.debates import Closer, CommonSettings, PythonDebate


class ReviewSettings(CommonSettings, total=False):
    """What `Review` takes beside question, options and seats.

    What is left out comes from the configuration files, then from the defaults.
    """

    rounds: int
    """Critique rounds, 0-50 (1)."""
    chairman: Closer
    """Who writes the verdict: a seat's name, a model, a `Seat`, a callable or a script."""
    memory: Literal["stateless", "full"]
    """What a seat sees: `stateless` (the latest replies) or `full` (the transcript)."""
    gates: Literal["timed", "blocking", "off"]
    """`timed`, `blocking` or `off`."""
    question_wait_s: float
    """Seconds a gate with questions stays open (120)."""
    checkpoint_wait_s: float
    """Seconds a gate without questions stays open (15)."""


class Review(PythonDebate):
    """A debate over options: seats take stances, a person answers at gates, a chairman decides.

    Args:
        question: what is to be decided, Markdown.
        options: 2-12 labels.
        seats: who debates: `Seat`s, or names and `name=model` as `--seats` takes them; None: the
            files' default seats, else three scripted ones.
        **settings: `ReviewSettings`; what is left out comes from `roundtable.toml`, the user's
            file, the defaults.

    Raises:
        BriefError: question, options or field notes break a limit.
        SeatError: the seats don't fit.
        OptionError: an unknown argument or a bad value.
    """

    kind: ClassVar[Kind] = REVIEW
    closing_name: ClassVar[str] = CHAIRMAN_NAME

    def __init__(
        self,
        question: str,
        *,
        options: Sequence[str] = (),
        seats: Sequence[Seat | str] | None = None,
        **settings: Unpack[ReviewSettings],
    ) -> None:
        names = [*ReviewSettings.__annotations__, "options"]
        super().__init__(question, options, seats, settings, names)
