"""`doctor --recover`: puts what is readable of a damaged store into the one that is used here."""

from __future__ import annotations

import os
from pathlib import Path

from rt_notebook.config import load_config
from rt_notebook.engine.runner import runner
from rt_notebook.errors import OptionError, one_line
from rt_notebook.store import open_store, store_path
from rt_notebook.store.sqlite_recover import recover


def main(given: str) -> int:
    """Recover a damaged store, say what became of its debates, and return the exit status.

    Args:
        given: the damaged file, as it was set aside.

    Raises:
        OptionError: it is the store that is used here.
        StoreError: it isn't there, or the store that is used here can't be written.
    """
    source = Path(os.path.abspath(os.path.expanduser(given)))
    place = store_path(load_config().review_defaults().get("store"))
    if source == place:
        raise OptionError(
            f"--recover {one_line(given, 200)}: this is the store itself; name the file that was "
            "set aside",
            option="recover",
        )
    target = open_store(place)
    found = runner().run_blocking(lambda job: recover(source, target))
    print(f"Recovered from {one_line(str(source), 400)} into {target.place}: {found}.")
    return 0
