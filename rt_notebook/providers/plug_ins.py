"""Providers that other packages bring along, by the entry-point group `rt_notebook.providers`.

An entry point's name is the model string's prefix; what it names is a factory `(model, seat)`, told
what stands behind the prefix and the `Seat`, that returns a `Provider`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final

from rt_notebook.domain.seat import Seat
from rt_notebook.errors import RoundtableError, SeatError, one_line
from rt_notebook.providers.base import Provider

GROUP: Final = "rt_notebook.providers"
"""The entry points' group."""

Factory = Callable[[str, Seat], Provider]
"""Makes a seat's provider."""


def plug_in_names() -> list[str]:
    """Return the prefixes that installed packages bring along; nothing of theirs is loaded."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def has_plug_in(prefix: str) -> bool:
    """Return whether an installed package brings this prefix along."""
    return bool(entry_points(group=GROUP, name=prefix))


def plug_in_provider(seat: Seat) -> Provider:
    """Return what a package's factory makes of a seat.

    Raises:
        SeatError: the package can't be loaded, or its factory makes no provider.
    """
    prefix, _, rest = seat.model.partition(":")
    try:
        made: Provider = _factory(prefix)(rest, seat)
    except RoundtableError:
        raise
    except Exception as exc:  # the edge to foreign code: whatever it raises is one line here
        raise _broken(seat, f"{type(exc).__name__}: {exc}") from exc
    if not callable(getattr(made, "complete", None)):
        raise _broken(seat, f"its factory returned {type(made).__name__}, which has no complete()")
    return made


def _factory(prefix: str) -> Any:
    (point, *_) = entry_points(group=GROUP, name=prefix)
    return point.load()


def _broken(seat: Seat, why: str) -> SeatError:
    prefix = seat.model.partition(":")[0]
    return SeatError(
        f"seat {seat.name!r}: the plug-in {prefix!r} can't seat {seat.model!r}: "
        f"{one_line(why, 300)}",
        seat=seat.name,
        model=seat.model,
    )
