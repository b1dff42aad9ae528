"""An IPython shell inside the test's own process: cells are run, and what they raise is raised."""

from __future__ import annotations

import atexit
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import rt_notebook as rt


class Shell:
    """A shell without a kernel and without a terminal: nobody sits there."""

    def __init__(self) -> None:
        self.ip: Any = InteractiveShell.instance()
        """IPython's own shell."""
        self.run("%xmode Minimal")
        self.run("%load_ext rt_notebook\nimport rt_notebook as rt")

    @property
    def names(self) -> dict[str, Any]:
        """The notebook's variables."""
        return dict(self.ip.user_ns)

    def put(self, **values: Any) -> None:
        """Sets variables."""
        self.ip.user_ns.update(values)

    def run(self, code: str) -> Any:
        """Runs one cell as a person would; returns its value, raises what it raised."""
        outcome = self.ip.run_cell(code, store_history=True)
        outcome.raise_error()
        return outcome.result

    def close(self) -> None:
        """Ends the shell, so that the next test gets a new one."""
        self.run("%unload_ext rt_notebook")
        atexit.unregister(self.ip.atexit_operations)
        self.ip.atexit_operations()
        InteractiveShell.clear_instance()


QUESTION = "Ship now?\n\noptions:\n- Ship\n- Wait\n"
"""The body of the shortest review."""

SAYS = "STANCE: Wait\nAGREE_WITH: []\nDISAGREE:\n- no\nNEW:\n- {}\nASSUMPTIONS:\n- none"
"""A reply for `Wait`; the place holds a new point."""


class Counted:
    """A seat's function that counts its calls."""

    __name__ = "counted"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, call: rt.Call) -> str:
        self.prompts.append("\n".join(message.text for message in call.messages))
        return SAYS.format(f"point {len(self.prompts)}")
