"""What a caller may ask of the verbs by id, where no model of Pydantic's checks it.

Owns the bounds of a listing and of a wait; every mistake is one line that names what is allowed.
"""

from __future__ import annotations

import threading
from typing import Any, Final, get_args

from rt_notebook.domain.snapshot import Status
from rt_notebook.errors import OptionError, nearest, one_line

STATUSES: Final[tuple[str, ...]] = get_args(Status)
"""What a debate's status can be."""


def check_listing(status: object, limit: object) -> None:
    """Check which debates are to be listed.

    Raises:
        OptionError: there is no such status, or the limit is no whole number above 0 (or None).
    """
    if status is not None and status not in STATUSES:
        shown = one_line(repr(status), 80)
        hint = nearest(status, STATUSES) if isinstance(status, str) else ""
        raise OptionError(
            f"status={shown}: one of {', '.join(STATUSES)} is expected{hint}", option="status"
        )
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit < 2**63:
        shown = one_line(repr(limit), 80)
        raise OptionError(
            f"limit={shown}: a whole number of at least 1 is expected, or None for all",
            option="limit",
        )


def check_count(name: str, count: object) -> None:
    """Check how many of something are wanted.

    Raises:
        OptionError: it is no whole number above 0.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        shown = one_line(repr(count), 80)
        raise OptionError(f"{name}={shown}: a whole number of at least 1 is expected", option=name)


def checked_seconds(seconds: object) -> float:
    """Return how long a wait may take: from none to as long as any can.

    Raises:
        OptionError: it is no number.
    """
    wrong = isinstance(seconds, bool) or not isinstance(seconds, int | float)
    if wrong or seconds != seconds:  # the last: no number (NaN)
        shown = one_line(repr(seconds), 80)
        raise OptionError(f"seconds={shown}: a number of seconds is expected", option="seconds")
    told: Any = seconds
    return float(max(0, min(told, threading.TIMEOUT_MAX)))
