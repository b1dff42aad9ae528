"""Two debates side by side, as HTML and as plain text; knows no debate.

It is handed finished rows: what differs, under which heading. Every text in them is hostile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rt_notebook.rendering import parts
from rt_notebook.rendering.markup import escape
from rt_notebook.rendering.palette import ALERT, NEUTRAL
from rt_notebook.rendering.plain import cells, cut_cells, one_line, wrap

_CELL: Final = 160
_BRAND: Final = "letter-spacing:0.06em;font-size:0.85em;opacity:0.75;font-weight:600"
_WIDTH: Final = 88


class Section(NamedTuple):
    """One part of a comparison."""

    title: str
    """Its heading."""
    head: Sequence[str]
    """The columns' names."""
    rows: Sequence[Sequence[str]]
    """The cells; what both have alike has no row."""
    same: str
    """What is said where there is no row."""


def diff_html(names: tuple[str, str], headline: str, changed: bool, body: Sequence[Section]) -> str:
    """Return a comparison as a static HTML fragment.

    Args:
        names: the two debates' ids.
        headline: the outcome in a sentence.
        changed: whether the verdict changed.
        body: the parts.
    """
    one, two = (f"<code>{escape(name)}</code>" for name in names)
    top = parts.tag(
        "div",
        "display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center",
        parts.tag("span", _BRAND, "ROUNDTABLE"),
        parts.badge(
            "verdict changed" if changed else "same verdict", ALERT if changed else NEUTRAL
        ),
        parts.muted(f"a = {one}, b = {two}"),
    )
    outcome = parts.tag("div", "font-size:1.1em;font-weight:600;margin:6px 0 0", escape(headline))
    style = "max-width:1040px;margin:4px 0 8px;line-height:1.45;text-align:left"
    return parts.tag("div", style, top, outcome, *map(_section_html, body))


def diff_text(names: tuple[str, str], headline: str, body: Sequence[Section]) -> str:
    """Return a comparison as plain text, safe to print."""
    lines = [f"a = {one_line(names[0])}, b = {one_line(names[1])}"]
    lines += wrap(one_line(headline, 1_000), _WIDTH)
    for section in body:
        lines += ["", section.title]
        if not section.rows:
            lines.append(f"  {section.same}")
            continue
        lines += _columns([section.head, *section.rows])
    return "\n".join(lines)


def _section_html(section: Section) -> str:
    if not section.rows:
        return parts.section(section.title, parts.muted(escape(section.same)))
    rows = [[parts.bdi(one_line(cell, _CELL)) for cell in row] for row in section.rows]
    head = [escape(name) for name in section.head]
    return parts.section(section.title, parts.table(head, rows, align="top", label=section.title))


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    flat = [[one_line(cell) for cell in row] for row in rows]
    widths = [min(_CELL, max(map(cells, column))) for column in zip(*flat, strict=True)]
    # Whatever is widest gives way, so that short columns keep all they need.
    while sum(widths) + 2 * len(widths) > _WIDTH:
        widths[widths.index(max(widths))] -= 1
    return [
        "  "
        + "  ".join(_fitted(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in flat
    ]


def _fitted(text: str, width: int) -> str:
    size = cells(text)
    return text + " " * (width - size) if size <= width else cut_cells(text, width - 1) + "…"
