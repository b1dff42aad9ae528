"""What a debate comes to: the result, its tables, measures and pictures; two or many of them.

Reads the fold; runs nothing and stores nothing, but for `sweep`, which has the session do both.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    # `rt.measures` is this package's submodule, loaded when it is first used.
    if name == "measures":
        return importlib.import_module("rt_notebook.analysis.measures")
    raise AttributeError(f"module 'rt_notebook.analysis' has no attribute {name!r}")
