"""Two pictures of counts: who stood with whom (a heat map), and the tally, a block per seat."""

from __future__ import annotations

from typing import Any, Final

import altair as alt

from rt_notebook.analysis.plots_style import (
    INK,
    LABEL_CELLS,
    SEAT_CELLS,
    SIZE,
    chart_of,
    colors_of,
    config,
    short_names,
    shorten,
    title_of,
)
from rt_notebook.analysis.relations import agreement_rows
from rt_notebook.analysis.tables import tally_rows
from rt_notebook.domain.positions import canonical_key
from rt_notebook.domain.snapshot import final_tally, tally_at
from rt_notebook.domain.state import State
from rt_notebook.rendering.palette import NEUTRAL, stance_color, text_on, tint
from rt_notebook.rendering.plain import cells
from rt_notebook.rendering.wording import plural

# From rarely to always together: one hue, so that lightness alone tells, whatever eyes see it.
_LIGHT: Final = (228, 238, 248)
_DARK: Final = (8, 69, 135)
_ROW: Final = 26  # a tally's bar, in pixels
_CAPTION: Final = 44  # "first", "final"


def agreement_map(state: State) -> tuple[alt.LayerChart, str]:
    """Return the heat map and a sentence on it."""
    seats = [seat.name for seat in state.spec.counted]
    labels = short_names(seats, SEAT_CELLS)
    rows = [_pair(labels, row) for row in agreement_rows(state)]
    order = [labels[name] for name in seats]
    side = round(min(64, max(34, 440 / len(seats))))
    tilted = max(map(cells, order)) * 7 > side
    x = alt.X(
        "x:N",
        sort=order,
        axis=alt.Axis(
            title=None, orient="top", labelAngle=-40 if tilted else 0, domain=False, ticks=False,
            labelPadding=18, labelAlign="left" if tilted else "center",
        ),
    )  # fmt: skip
    y = alt.Y(
        "y:N",
        sort=order,
        axis=alt.Axis(title=None, domain=False, ticks=False, labelPadding=20),
    )
    base = chart_of(rows)
    boxes = base.mark_rect(stroke=tint(NEUTRAL, 0.35), cornerRadius=3).encode(
        x=x,
        y=y,
        fill=alt.Fill("color:N", scale=None),
        tooltip=["Seat:N", "With:N", "Together:N", "Rounds:Q"],
    )
    numbers = base.mark_text(fontSize=SIZE).encode(
        x=x, y=y, text="text:N", color=alt.Color("ink:N", scale=None)
    )
    size = side * len(seats)
    explained = "Share of the rounds in the same stance, in %"
    chart = (
        alt.layer(boxes, numbers, *_marks(state, labels, x, y))
        .properties(width=size, height=size, title=title_of(state, "Agreement", explained))
        .configure(**config())
    )
    return chart, f"Agreement of {plural(len(seats), 'seat')}: {explained.lower()}."


def tally_blocks(state: State) -> tuple[alt.LayerChart, str]:
    """Return the tally's picture and a sentence on it."""
    colors = colors_of(state)
    names = short_names([seat.name for seat in state.spec.counted], SEAT_CELLS)
    lines = _tally_lines(state)
    most = max([1, *(len(held) for line in lines for held in (line["first"], line["final"]))])
    block = round(min(92, max(34, 460 / most)))
    group = 2 * _ROW + 22
    blocks: list[dict[str, Any]] = []
    captions: list[dict[str, Any]] = []
    for place, line in enumerate(lines):
        top = place * group
        captions.append({"y": top + _ROW, "x": -_CAPTION - 12, "text": line["label"]})
        for row, when in enumerate(("first", "final")):
            held, y = line[when], top + row * _ROW
            captions.append({"y": y + _ROW / 2, "x": -8, "text": when})
            count = str(len(held)) + (line["change"] if when == "final" else "")
            captions.append({"y": y + _ROW / 2, "x": len(held) * block + 8, "text": count})
            blocks += [
                {
                    "x": at * block, "x2": (at + 1) * block - 2, "y": y + 2, "y2": y + _ROW - 1,
                    "color": colors[name], "ink": text_on(colors[name]),
                    "text": shorten(names[name], max(3, block // 8)), "Seat": names[name],
                    "Option": line["label"], "When": when, "mid": y + _ROW / 2 + 0.5,
                    "center": at * block + block / 2 - 1,
                }
                for at, name in enumerate(held)
            ]  # fmt: skip
    width, height = most * block, max(1, len(lines)) * group - 22
    chart = (
        alt.layer(*_tally_layers(lines, blocks, captions, width, height, group))
        .properties(
            width=width,
            height=height,
            title=title_of(state, "Tally", "Seats by option: after the opening, and at the end"),
        )
        .configure(**config())
    )
    shown = "; ".join(
        f"{line['label']} {len(line['first'])} to {len(line['final'])}" for line in lines
    )
    return chart, f"Tally, first to final: {shown}."


def _pair(labels: dict[str, str], row: tuple[Any, ...]) -> dict[str, Any]:
    one, other, share, rounds = row
    color = _shade(share) if share is not None else "transparent"
    return {
        "y": labels[one],
        "x": labels[other],
        "color": color,
        "ink": text_on(color) if share is not None else INK,
        "text": f"{share * 100:.0f}" if share is not None else "–",
        "Seat": labels[one],
        "With": labels[other],
        "Together": f"{share * 100:.0f} %" if share is not None else "never both with a position",
        "Rounds": rounds,
    }


def _shade(share: float) -> str:
    mixed = (round(a + (b - a) * share) for a, b in zip(_LIGHT, _DARK, strict=True))
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def _marks(state: State, labels: dict[str, str], x: Any, y: Any) -> list[alt.Chart]:
    """Return the seats' colours beside their names, above and left."""
    colors = colors_of(state)
    rows = [{"x": label, "y": label, "color": colors[name]} for name, label in labels.items()]
    base = chart_of(rows).mark_square(size=110, opacity=1, clip=False)
    fill = alt.Fill("color:N", scale=None)
    return [
        base.encode(x=alt.value(-11), y=y, fill=fill),
        base.encode(x=x, y=alt.value(-11), fill=fill),
    ]


def _tally_lines(state: State) -> list[dict[str, Any]]:
    """Return by option its label, colour, and the seats first and at the end."""
    rows = list(tally_rows(state))
    labels = short_names([row[0] for row in rows], LABEL_CELLS)
    keys = [*state.spec.brief.option_ids]
    others = {canonical_key(key): key for key in (*tally_at(state, 0), *final_tally(state))}
    keys += [key for key in others if key not in keys]
    return [
        {
            "label": labels[label],
            "color": stance_color(key),
            "first": before,
            "final": after,
            "change": f" ({change:+d})".replace("-", "−") if change else "",
        }
        for (label, _, _, change, before, after), key in zip(rows, keys, strict=False)
    ]


def _tally_layers(
    lines: list[dict[str, Any]],
    blocks: list[dict[str, Any]],
    captions: list[dict[str, Any]],
    width: float,
    height: float,
    group: float,
) -> list[alt.Chart]:
    """Return the layers; all places are pixels."""
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    y_scale = alt.Scale(domain=[height, 0], nice=False)
    edges = [
        {"x": -4, "x2": -1, "y": place * group + 2, "y2": place * group + 2 * _ROW - 1,
         "color": line["color"]}
        for place, line in enumerate(lines)
    ]  # fmt: skip
    y, fill = alt.Y("y:Q", scale=y_scale, axis=None), alt.Fill("color:N", scale=None)
    boxes = chart_of(blocks).mark_rect(cornerRadius=3)
    text = chart_of(captions).mark_text(baseline="middle", fontSize=SIZE)
    # A text left of the bars ends there, one right of them begins there.
    left, right = "datum.x < 0", "datum.x >= 0"
    return [
        chart_of(edges).mark_rect().encode(x=x, x2="x2:Q", y=y, y2="y2:Q", fill=fill),
        boxes.encode(
            x=x, x2="x2:Q", y=y, y2="y2:Q", fill=fill, tooltip=["Seat:N", "Option:N", "When:N"]
        ),
        chart_of(blocks)
        .mark_text(baseline="middle", fontSize=11)
        .encode(
            x=alt.X("center:Q", scale=x["scale"], axis=None),
            y=alt.Y("mid:Q", scale=y_scale, axis=None),
            text="text:N",
            color=alt.Color("ink:N", scale=None),
        ),
        text.transform_filter(left)
        .mark_text(align="right", baseline="middle", fontSize=SIZE, color=INK)
        .encode(x=x, y=y, text="text:N"),
        text.transform_filter(right)
        .mark_text(align="left", baseline="middle", fontSize=SIZE, color=INK)
        .encode(x=x, y=y, text="text:N"),
    ]
