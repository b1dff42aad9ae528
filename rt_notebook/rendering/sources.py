"""What research found, or why it found nothing, as plain lines; loads no markup."""

from __future__ import annotations

from rt_notebook.domain.state import State
from rt_notebook.rendering.plain import one_line

TITLE: str = "Sources found on the web"
"""The heading above the list."""


def source_lines(state: State) -> list[str]:
    """Return a line for each page that research found: title and address, raw."""
    return [f"{one_line(source.title, 200)}: {one_line(source.url)}" for source in state.sources]
