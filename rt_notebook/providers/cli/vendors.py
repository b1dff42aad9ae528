"""The vendors whose commands can sit in a seat, by name."""

from __future__ import annotations

from typing import Final

from rt_notebook.errors import SeatError, nearest
from rt_notebook.providers.cli.antigravity import Antigravity
from rt_notebook.providers.cli.claude import Claude
from rt_notebook.providers.cli.codex import Codex
from rt_notebook.providers.cli.gemini import Gemini
from rt_notebook.providers.cli.opencode import OpenCode
from rt_notebook.providers.cli.vendor import Vendor

VENDORS: Final[dict[str, Vendor]] = {
    vendor.name: vendor for vendor in (Claude(), Codex(), Gemini(), OpenCode(), Antigravity())
}
"""Every vendor by its name."""


def vendor_of(name: str) -> Vendor:
    """Return a vendor by its name.

    Raises:
        SeatError: there is none of that name.
    """
    if name not in VENDORS:
        known = ", ".join(f"cli:{vendor}" for vendor in VENDORS)
        raise SeatError(
            f"no command is known as 'cli:{name}'{nearest(name, VENDORS)}; known: {known}"
        )
    return VENDORS[name]
