"""Runs a module as a program that ends with the process that started it, however that one ends.

    python watched.py PARENT MODULE [ARGUMENT ...]

Runs in the model's own environment, by its path: knows the standard library alone.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
import time

LOOK_S = 0.5
"""Seconds between two looks at the parent."""


def end_with(parent: int) -> None:
    """Ends this process once its parent is another one: the first one is gone."""
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(1)


def main() -> None:
    """Takes itself out of the arguments and runs the module."""
    parent, module = int(sys.argv[1]), sys.argv[2]
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    del sys.argv[:2]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
