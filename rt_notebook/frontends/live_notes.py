"""What a live view shows where widgets don't reach: short texts, and the display data around it.

Owns the words a person needs to go on without a form. Must not know threads or events.
"""

from __future__ import annotations

from typing import Any

from rt_notebook.frontends.widgets import view_bundle
from rt_notebook.rendering.markup import escape
from rt_notebook.rendering.plain import plain


class Note:
    """A short text to display where no widget is.

    Args:
        text: shown as text, line breaks kept; made harmless here.
    """

    def __init__(self, text: str) -> None:
        self.text = plain(text)
        """The words."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": _as_html(self.text)}


class LiveDisplay:
    """The live view's box, with what to do for a front end that shows no widgets.

    Args:
        box: the widget.
        debate: the debate's id.
    """

    def __init__(self, box: Any, debate: str) -> None:
        self._box = box
        self._words = (
            f"The debate {debate} is running. Its live view and its forms need a front end that "
            f"shows widgets, and a trusted notebook. Without: `%roundtable status {debate}`, and "
            f"at a gate `%roundtable answer {debate} --round N q1='...' --message '...'`."
        )

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = view_bundle(self._box)
        words = {"text/plain": self._words, "text/html": _as_html(self._words)}
        return {**data, **words}, metadata


def what_to_do(debate: str, *, background: bool) -> str:
    """Return the line for a person who sees no form."""
    again = "run `%roundtable form`" if background else "reload the page"
    answer = f"%roundtable answer {debate} --round N q1='...'"
    return f"No form to be seen? Then {again}, or answer with `{answer}`."


def _as_html(text: str) -> str:
    style = "white-space:pre-wrap;border-left:3px solid #888;padding:4px 10px;margin:4px 0"
    return f'<div style="{style}">{escape(text)}</div>'
