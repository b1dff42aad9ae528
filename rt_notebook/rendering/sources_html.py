"""The pages that research found, as links to the web and to nothing else."""

from __future__ import annotations

import html
from typing import Final

from rt_notebook.domain.state import State
from rt_notebook.rendering import parts
from rt_notebook.rendering.markup import escape
from rt_notebook.rendering.plain import one_line
from rt_notebook.rendering.sources import TITLE

# As long as research keeps one.
_LONGEST: Final = 2_000


def sources_html(state: State) -> str:
    """Return the pages as a folded list of links; empty where there are none."""
    if not state.sources:
        return ""
    items = [_item(source.title, source.url) for source in state.sources]
    return parts.folded(parts.muted(f"{TITLE} ({len(items)})"), parts.bullets(items))


def _item(title: str, url: str) -> str:
    shown = escape(one_line(title, 200))
    address = parts.muted(escape(one_line(url, 200)))
    # An address comes from the log, which anybody may have written. What would have to be changed
    # or cut to be harmless leads nowhere that somebody meant.
    if one_line(url, _LONGEST) != url or not url.lower().startswith(("http://", "https://")):
        return f"{shown} {address}"
    rel = 'rel="noopener nofollow noreferrer" target="_blank"'
    return f'<a href="{html.escape(url)}" {rel}>{shown}</a> {address}'
