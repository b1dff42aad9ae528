"""The HTML pieces that a report is put together from; owns its look.

Everything is inline style, in forms that JupyterLab's sanitiser of untrusted notebooks keeps (it
drops `<style>`, ids, roles, `var()`, `currentColor` and every property it can't parse). No text
colour is set outside filled chips, and fills are see-through, so a light and a dark page both fit.
Arguments named `content` are finished HTML; arguments named `text` are escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rt_notebook.rendering.facts import Cell
from rt_notebook.rendering.markup import attribute, escape
from rt_notebook.rendering.palette import ALERT, NEUTRAL, stance_color, text_on, tint
from rt_notebook.rendering.plain import one_line

LINE: Final = f"1px solid {tint(NEUTRAL, 0.35)}"
MUTED: Final = "opacity:0.75;font-size:0.92em"
# JupyterLab's own cell style is right-aligned and striped, so each cell says what it wants.
_CELL: Final = (
    "text-align:left;padding:4px 10px 4px 0;border:0;background:transparent;"
    f"font-weight:normal;white-space:normal;overflow-wrap:break-word;border-bottom:{LINE}"
)
_HEAD: Final = _CELL + ";opacity:0.75;font-size:0.92em"
_TABLE: Final = (
    "border-collapse:collapse;border:0;margin:0;font-size:1em;table-layout:auto;width:100%"
)


def tag(name: str, style: str, *content: str, extra: str = "") -> str:
    """Return an element with inline style; `extra` holds further attributes, already escaped."""
    attributes = f' style="{style}"' if style else ""
    attributes += f" {extra}" if extra else ""
    return f"<{name}{attributes}>{''.join(content)}</{name}>"


def section(title: str, *content: str) -> str:
    """Return content under a heading; by role, as an `h4` would enter the notebook's contents."""
    head = tag(
        "div",
        "font-weight:600;margin:0 0 4px",
        escape(title),
        extra='role="heading" aria-level="4"',
    )
    return tag("section", "margin:14px 0 0", head, *content)


def folded(summary: str, *content: str, style: str = "margin:6px 0 0", opened: bool = False) -> str:
    """Return content that opens at a click; `summary` is finished HTML."""
    head = tag("summary", "cursor:pointer", summary)
    return tag("details", style, head, *content, extra="open" if opened else "")


def muted(*content: str) -> str:
    """Return content in the background's voice."""
    return tag("span", MUTED, *content)


def dot(color: str) -> str:
    """Return a seat's mark."""
    style = (
        "display:inline-block;width:0.7em;height:0.7em;border-radius:999px;margin-right:6px;"
        f"background:{color}"
    )
    return tag("span", style)


def name(text: str, color: str) -> str:
    """Return a seat's name with its mark; never broken over two lines from its mark."""
    return tag("span", "white-space:nowrap", dot(color), tag("b", "font-weight:600", bdi(text)))


def bdi(text: str) -> str:
    """Return one line of text in a direction of its own, so that it can't reorder what follows."""
    return f"<bdi>{escape(one_line(text))}</bdi>"


def chip(key: str | None, label: str, *, size: str = "1em") -> str:
    """Return a stance as a chip: tinted in its option's colour, text in the page's own."""
    color = stance_color(key)
    line = "dashed" if key is None or not key.startswith("opt-") else "solid"
    style = (
        f"display:inline-block;padding:1px 8px;border-radius:6px;background:{tint(color, 0.16)};"
        f"border:1px {line} {color};font-size:{size};max-width:100%;overflow-wrap:break-word"
    )
    return tag("span", style, bdi(label))


def filled_chip(key: str | None, label: str) -> str:
    """Return a stance as a filled chip: the one thing on the page to be seen first."""
    color = stance_color(key)
    style = (
        "display:inline-block;padding:4px 14px;border-radius:8px;font-weight:600;font-size:1.15em;"
        "max-width:100%;overflow-wrap:break-word;box-sizing:border-box;"
        f"background:{color};color:{text_on(color)}"
    )
    return tag("span", style, bdi(label))


def badge(text: str, color: str = NEUTRAL) -> str:
    """Return a short word in a small frame: a status, a mark."""
    style = (
        f"display:inline-block;padding:0 7px;border-radius:999px;border:1px solid {color};"
        f"background:{tint(color, 0.14)};font-size:0.85em"
    )
    return tag("span", style, escape(text))


def cell_mark(cell: Cell) -> str:
    """Return what a seat did in a round, as a table cell shows it."""
    if cell.kind == "stance":
        change = f" {muted('changed')}" if cell.changed else ""
        return (
            chip(cell.key, ("→ " if cell.changed else "") + (cell.label or ""), size="0.92em")
            + change
        )
    if cell.kind == "pass":
        kept = f" (keeps {escape(one_line(cell.label, 60))})" if cell.label else ""
        return muted("pass" + kept)
    if cell.kind == "failed":
        return badge(f"failed: {one_line(cell.error or 'provider', 40)}", ALERT)
    if cell.kind == "invalid":
        return badge("not readable", ALERT)
    return muted("no answer yet" if cell.kind == "asked" else "–")


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, align: str = "middle", label: str = ""
) -> str:
    """Return a table with scoped headers; all arguments but `label` are finished HTML.

    Args:
        head: the column headers.
        rows: the cells; each row's first one is its header.
        align: how cells of different height stand beside each other, `middle` or `top`.
        label: the table's name for screen readers.
    """
    top = "".join(tag("th", _HEAD, cell, extra='scope="col"') for cell in head)
    body = "".join(_row(row, f"{_CELL};vertical-align:{align}") for row in rows)
    content = f"<thead>{_tr(top)}</thead><tbody>{body}</tbody>"
    inner = tag("table", _TABLE, content, extra=f'aria-label="{attribute(label)}"' if label else "")
    return tag("div", "overflow-x:auto;max-width:100%", inner)


def _row(cells: Sequence[str], style: str) -> str:
    first, *rest = cells
    head = tag("th", style, first, extra='scope="row"')
    return _tr(head + "".join(tag("td", style, cell) for cell in rest))


def _tr(content: str) -> str:
    return tag("tr", "background:transparent;text-align:left", content)


def bullets(items: Iterable[str]) -> str:
    """Return finished HTML items as a list."""
    body = "".join(tag("li", "margin:1px 0", item, extra='dir="auto"') for item in items)
    return tag("ul", "margin:2px 0 4px;padding-left:20px", body)


def bars(first: float, final: float, color: str) -> str:
    """Return two bars for shares of 0 to 1, the first one thin; the numbers stand beside them."""
    thin = _bar(first, 3, tint(color, 0.65)) + tag("div", "height:2px")
    return tag("div", "min-width:90px", thin, _bar(final, 8, color), extra='aria-hidden="true"')


def _bar(share: float, height: int, color: str) -> str:
    shape = f"height:{height}px;border-radius:4px"
    fill = tag("div", f"{shape};width:{max(0.0, min(1.0, share)) * 100:.1f}%;background:{color}")
    return tag("div", f"{shape};width:100%;overflow:hidden;background:{tint(NEUTRAL, 0.18)}", fill)


def callout(color: str, *content: str) -> str:
    """Return a framed box with a coloured edge."""
    style = (
        f"border:{LINE};border-left:4px solid {color};border-radius:6px;padding:10px 14px;"
        f"margin:10px 0 0;background:{tint(color, 0.07)}"
    )
    return tag("div", style, *content)


def command(text: str) -> str:
    """Return something to type."""
    return f"<code>{escape(text)}</code>"
