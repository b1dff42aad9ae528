"""What research found, or why it found nothing, as every rendering shows it."""

from __future__ import annotations

from rt_notebook.domain.state import State
from rt_notebook.rendering import parts
from rt_notebook.rendering.markup import attribute, escape
from rt_notebook.rendering.plain import one_line

TITLE: str = "Sources found on the web"
"""The heading above the list."""


def source_lines(state: State) -> list[str]:
    """Return a line for each page that research found: title and address, raw."""
    return [f"{one_line(source.title, 200)}: {one_line(source.url)}" for source in state.sources]


def research_failure(state: State) -> str | None:
    """Return why research found nothing, where it failed."""
    if state.research_status != "failed":
        return None
    return f"research failed, so there are no sources: {state.research_error or 'no reason'}"


def sources_html(state: State) -> str:
    """Return the pages as a folded list of links; empty where there are none."""
    if not state.sources:
        return ""
    items = [_item(source.title, source.url) for source in state.sources]
    return parts.folded(parts.muted(f"{TITLE} ({len(items)})"), parts.bullets(items))


def _item(title: str, url: str) -> str:
    shown = escape(one_line(title, 200))
    # An address comes from the log, which anybody may have written.
    if not url.lower().startswith(("http://", "https://")):
        return f"{shown} {parts.muted(escape(one_line(url, 200)))}"
    rel = 'rel="noopener nofollow noreferrer" target="_blank"'
    link = f'<a href="{attribute(url)}" {rel}>{shown}</a>'
    return f"{link} {parts.muted(escape(one_line(url, 200)))}"
