"""A debate's definition as a log or a record holds it; one of a newer version is refused.

Old ones stay readable: a field that they lack has its default.
"""

from __future__ import annotations

from typing import Final

from rt_notebook.domain.events import Event
from rt_notebook.domain.spec import SPEC_VERSION, DebateSpec
from rt_notebook.errors import StoreError, UsageError, one_line

NEWER: Final = "newer"
"""The fault of what a newer version wrote."""


def spec_of(created: Event) -> DebateSpec:
    """Return the definition that a debate's first event holds.

    Raises:
        StoreError: a newer version wrote it (`fault` is `newer`), or it is damaged.
    """
    data = created.body.get("spec")
    version = data.get("v") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SPEC_VERSION:
        raise _newer(created, f"its definition has version {version}, this one reads up to "
                              f"{SPEC_VERSION}")  # fmt: skip
    try:
        return DebateSpec.model_validate(data)
    except UsageError as exc:
        if exc.facts.get("unknown"):
            raise _newer(created, str(exc)) from exc
        why = str(exc)
    except (ValueError, TypeError) as exc:
        why = one_line(str(exc), 200)
    raise StoreError(
        f"debate {created.debate!r}: its definition can't be read: {why}",
        debate=created.debate,
        fault="damaged",
    )


def _newer(created: Event, why: str) -> StoreError:
    return StoreError(
        f"debate {created.debate!r} was written by a newer version of rt-notebook ({why}): upgrade "
        "rt-notebook to open it",
        debate=created.debate,
        fault=NEWER,
    )
