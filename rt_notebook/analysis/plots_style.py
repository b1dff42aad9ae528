"""The look that all pictures share: colours, text, sizes, short labels; knows no single picture.

Text and lines are grey enough to read on white and on a dark page alike, for the background is
see-through. Labels are cut before they reach a picture, and are data in it, never expressions.
Only greys are translucent: vl-convert 1.9 writes translucent colours into a PNG with every channel
capped at the pixel's opacity, which turns orange into olive.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import altair as alt

from rt_notebook.domain.state import State
from rt_notebook.rendering.palette import NEUTRAL, seat_colors, tint
from rt_notebook.rendering.plain import cells, cut_cells, one_line

INK: Final = "#7A7A7A"
"""Text: 4.3:1 on white as on JupyterLab's darkest grey, the best that one grey can do."""
LINE: Final = tint(NEUTRAL, 0.35)
"""Grid and frames."""
FONT: Final = "system-ui, 'Noto Sans', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
SIZE: Final = 12
"""Text size in pixels."""
SEAT_CELLS: Final = 20
"""Columns of a seat's name; a wide character takes two."""
LABEL_CELLS: Final = 26
"""Columns of an option's label."""


def shorten(text: str, limit: int) -> str:
    """Return one harmless line of at most `limit` columns, cut with an ellipsis."""
    line = one_line(text) or "–"
    return line if cells(line) <= limit else cut_cells(line, limit - 1).rstrip() + "…"


def short_names(names: Iterable[str], limit: int) -> dict[str, str]:
    """Return a short label for each name; those cut to the same get a number, so none is lost."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        label, number = shorten(name, limit), 2
        while label in taken:
            mark = f" {number}"
            label = shorten(name, limit - len(mark)) + mark
            number += 1
        taken.add(label)
        found[name] = label
    return found


def colors_of(state: State) -> dict[str, str]:
    """Return everybody's colour by name: the seats' own, the chairman's neutral."""
    return {state.chairman_name: NEUTRAL, **seat_colors(state.spec)}


def chart_of(rows: list[dict[str, Any]]) -> alt.Chart:
    """Return a chart of these rows, which it holds itself; pandas isn't needed for it."""
    return alt.Chart(alt.InlineData(values=rows))


def title_of(state: State, text: str, explained: str) -> dict[str, Any]:
    """Return a chart's title, with what it shows and whose debate it is below."""
    return {
        "text": text,
        "subtitle": [explained, shorten(state.spec.title or state.spec.brief.question, 90)],
        "anchor": "start",
        "offset": 14,
    }


def config() -> dict[str, Any]:
    """Return the configuration of every chart."""
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": SIZE, "titleFontSize": SIZE}
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None},
        "axis": {
            **text, "labelLimit": 400, "titleFontWeight": "normal", "gridColor": LINE,
            "domainColor": LINE, "tickColor": LINE, "titlePadding": 8,
        },
        "legend": {**text, "labelLimit": 240, "titleFontWeight": "normal", "symbolStrokeWidth": 0},
        "title": {
            "color": INK, "subtitleColor": INK, "fontSize": 16, "subtitleFontSize": SIZE,
            "subtitlePadding": 5, "fontWeight": "bold",
        },
        "text": {"color": INK, "fontSize": SIZE},
        "header": text,
    }  # fmt: skip
