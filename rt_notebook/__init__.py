"""Structured debates between language models in a notebook cell.

`%load_ext rt_notebook` adds `%%roundtable`; `Review` and `Discussion` are the same from Python.

The names below are loaded when they are first used, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rt_notebook.analysis.diff import diff
    from rt_notebook.analysis.many import frames
    from rt_notebook.analysis.result import Result
    from rt_notebook.analysis.sweep import sweep
    from rt_notebook.domain.script import fail, garbage, hang, say, scripted
    from rt_notebook.domain.seat import Seat
    from rt_notebook.domain.spec import Limits
    from rt_notebook.engine.estimate import Estimate
    from rt_notebook.errors import (
        BriefError,
        CallError,
        LimitError,
        MissingExtraError,
        NotResumableError,
        OptionError,
        RecordMismatchError,
        RoundtableError,
        RunError,
        SeatError,
        StoreError,
        UnknownDebateError,
        UsageError,
    )
    from rt_notebook.frontends.api import (
        answer,
        debates,
        delete,
        export,
        extend,
        finish,
        hold,
        load,
        resume,
        seats,
        state,
        stop,
        verdict,
        wait,
    )
    from rt_notebook.frontends.discussion import Discussion
    from rt_notebook.frontends.doctor import doctor
    from rt_notebook.frontends.handle import Handle
    from rt_notebook.frontends.review import Review
    from rt_notebook.providers.base import Call, Completion, Message, Provider

# A library prints nothing by itself; whoever wants its log adds a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "rt_notebook.analysis.diff": ("diff",),
    "rt_notebook.analysis.many": ("frames",),
    "rt_notebook.analysis.sweep": ("sweep",),
    "rt_notebook.analysis.result": ("Result",),
    "rt_notebook.domain.script": (
        "fail",
        "garbage",
        "hang",
        "say",
        "scripted",
    ),
    "rt_notebook.domain.seat": ("Seat",),
    "rt_notebook.domain.spec": ("Limits",),
    "rt_notebook.engine.estimate": ("Estimate",),
    "rt_notebook.errors": (
        "BriefError",
        "CallError",
        "LimitError",
        "MissingExtraError",
        "NotResumableError",
        "OptionError",
        "RecordMismatchError",
        "RoundtableError",
        "RunError",
        "SeatError",
        "StoreError",
        "UnknownDebateError",
        "UsageError",
    ),
    "rt_notebook.frontends.doctor": ("doctor",),
    "rt_notebook.frontends.handle": ("Handle",),
    "rt_notebook.frontends.discussion": ("Discussion",),
    "rt_notebook.frontends.review": ("Review",),
    "rt_notebook.frontends.api": (
        "answer",
        "debates",
        "delete",
        "export",
        "extend",
        "finish",
        "hold",
        "load",
        "resume",
        "seats",
        "state",
        "stop",
        "verdict",
        "wait",
    ),
    "rt_notebook.providers.base": (
        "Call",
        "Completion",
        "Message",
        "Provider",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "BriefError",
    "Call",
    "CallError",
    "Completion",
    "Discussion",
    "Estimate",
    "Handle",
    "LimitError",
    "Limits",
    "Message",
    "MissingExtraError",
    "NotResumableError",
    "OptionError",
    "Provider",
    "RecordMismatchError",
    "Result",
    "Review",
    "RoundtableError",
    "RunError",
    "Seat",
    "SeatError",
    "StoreError",
    "UnknownDebateError",
    "UsageError",
    "answer",
    "debates",
    "delete",
    "diff",
    "doctor",
    "export",
    "extend",
    "fail",
    "finish",
    "frames",
    "garbage",
    "hang",
    "hold",
    "load",
    "load_ipython_extension",
    "resume",
    "say",
    "scripted",
    "seats",
    "state",
    "stop",
    "sweep",
    "unload_ipython_extension",
    "verdict",
    "wait",
]


def load_ipython_extension(ipython: Any) -> None:
    """Add `%%roundtable` and `%roundtable` to a shell: `%load_ext rt_notebook`."""
    from rt_notebook.frontends.magic import load

    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Take them away again; debates that run go on."""
    from rt_notebook.frontends.magic import unload

    unload(ipython)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Loads half of the standard library, which would be most of what importing this costs.
        from importlib.metadata import version

        return version("rt-notebook")
    if name not in _HOME:
        raise AttributeError(f"module 'rt_notebook' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
