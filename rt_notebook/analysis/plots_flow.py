"""The flow of stances: a band per counted seat, in lanes by stance, from round to round."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

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
    title_of,
)
from rt_notebook.analysis.relations import keys_by_round
from rt_notebook.domain.positions import canonical_key
from rt_notebook.domain.reply import OTHER
from rt_notebook.domain.state import State
from rt_notebook.rendering.palette import stance_color
from rt_notebook.rendering.wording import plural

NO_STANCE: Final = ""
"""The lane of seats without a position yet."""
_HALF: Final = 0.11  # half a stance's width, in rounds
_BAND: Final = 0.8  # a band's height, in seats
_GAP: Final = 0.7  # between lanes, in seats
_STEPS: Final = 18


class _Lane(NamedTuple):
    """Where a stance is drawn."""

    key: str
    label: str
    top: float
    seats: int


def stance_flow(state: State) -> tuple[alt.LayerChart, str]:
    """Return the chart and a sentence on it."""
    seats = [seat.name for seat in state.spec.counted]
    rounds = keys_by_round(state)
    held = [[found.get(name, NO_STANCE) for name in seats] for found in rounds]
    held = held or [[NO_STANCE] * len(seats)]
    lanes = _lanes(state, held)
    places = _places(held, lanes)
    height = lanes[-1].top + lanes[-1].seats
    unit = min(34.0, max(12.0, 400 / height))
    width = max(300, min(900, 170 * max(1, len(held) - 1)))
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-_HALF, len(held) - 1 + _HALF], nice=False),
        axis=alt.Axis(
            title=None, orient="top", grid=False, ticks=False, domain=False, labelPadding=6,
            values=list(range(len(held))), labelExpr=_round_label(len(held)),
        ),
    )  # fmt: skip
    y_scale = alt.Scale(domain=[height, 0], nice=False)
    layers = [
        _bands(state, seats, held, places, x, y_scale),
        _boxes(held, lanes, x, y_scale),
        _lane_names(held, lanes, y_scale),
        _seat_names(seats, places, len(held), y_scale),
    ]
    moved = sum(a != b for old, new in pairwise(held) for a, b in zip(old, new, strict=True))
    chart = (
        alt.layer(*layers)
        .properties(
            width=width,
            height=round(unit * height),
            title=title_of(state, "Stances by round", "One band per seat; height: number of seats"),
        )
        .configure(**config())
    )
    return chart, (
        f"Stances by round: {plural(len(seats), 'seat')}, {plural(len(held), 'round')}, "
        f"{plural(moved, 'change')}."
    )


def _lanes(state: State, held: list[list[str]]) -> list[_Lane]:
    """Return the stances that are held at some time: options in order, others, none at the end."""
    brief = state.spec.brief
    taken = list(dict.fromkeys(key for column in held for key in column))
    order = [key for key in brief.option_ids if key in taken]
    order += [key for key in taken if key not in order and key != NO_STANCE]
    names = {key: brief.label_of(key) or key for key in order}
    # As written by the first seat that took it: the keys here hold the normal form.
    for position in chain.from_iterable(state.history.values()):
        key = canonical_key(position.key)
        if key in names and key.startswith(OTHER) and names[key] == brief.label_of(key):
            names[key] = f"{OTHER} {brief.label_of(position.key)}"
    if NO_STANCE in taken:
        order.append(NO_STANCE)
        names[NO_STANCE] = "no position"
    labels = short_names([names[key] for key in order], LABEL_CELLS)
    lanes: list[_Lane] = []
    top = 0.0
    for key in order:
        most = max(column.count(key) for column in held)
        lanes.append(_Lane(key, labels[names[key]], top, most))
        top += most + _GAP
    return lanes


def _places(held: list[list[str]], lanes: list[_Lane]) -> list[list[float]]:
    """Return the top of every seat's band by round: within a lane as they stood before."""
    tops = {lane.key: lane.top for lane in lanes}
    before: list[float] = [float(number) for number in range(len(held[0]))]
    found: list[list[float]] = []
    for column in held:
        now = [0.0] * len(column)
        used: dict[str, int] = {}
        for seat in sorted(range(len(column)), key=lambda seat: (before[seat], seat)):
            key = column[seat]
            now[seat] = tops[key] + used.get(key, 0) + (1 - _BAND) / 2
            used[key] = used.get(key, 0) + 1
        found.append(now)
        before = now
    return found


def _boxes(held: list[list[str]], lanes: list[_Lane], x: Any, y: Any) -> Any:
    """Return the frames around the bands: a stance after a round."""
    rows = [
        {
            "x": number - _HALF,
            "x2": number + _HALF,
            "y": lane.top,
            "y2": lane.top + column.count(lane.key),
            "color": stance_color(lane.key),
            "Stance": lane.label,
            "Round": number,
            "Seats": column.count(lane.key),
        }
        for number, column in enumerate(held)
        for lane in lanes
        if lane.key in column
    ]
    return (
        chart_of(rows)
        .mark_rect(cornerRadius=4, fillOpacity=0, strokeWidth=2)
        .encode(
            x=x,
            x2="x2:Q",
            y=alt.Y("y:Q", scale=y, axis=None),
            y2="y2:Q",
            stroke=alt.Stroke("color:N", scale=None),
            tooltip=["Stance:N", "Round:Q", "Seats:Q"],
        )
    )


def _bands(
    state: State, seats: list[str], held: list[list[str]], places: list[list[float]], x: Any, y: Any
) -> Any:
    """Return the seats' bands, as areas between two smooth lines."""
    colors, labels = colors_of(state), short_names(seats, SEAT_CELLS)
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(seats):
        way = " → ".join(_named(state, column[place]) for column in held)
        for at, top in _path([column[place] for column in places]):
            rows.append(
                {
                    "x": at, "y": top, "y2": top + _BAND, "id": place, "color": colors[name],
                    "Seat": labels[name], "Stances": way,
                }
            )  # fmt: skip
    return (
        chart_of(rows)
        .mark_area(fillOpacity=1, strokeWidth=0)
        .encode(
            x=x,
            y=alt.Y("y:Q", scale=y, axis=None),
            y2="y2:Q",
            detail="id:N",
            fill=alt.Fill("color:N", scale=None),
            tooltip=["Seat:N", "Stances:N"],
        )
    )


def _path(tops: list[float]) -> list[tuple[float, float]]:
    """Return the points of a band's upper edge: level in the boxes, an S between them."""
    points = [(-_HALF, tops[0]), (_HALF, tops[0])]
    for number in range(1, len(tops)):
        start, end = number - 1 + _HALF, number - _HALF
        low, high = tops[number - 1], tops[number]
        for step in range(1, _STEPS + 1):
            share = step / _STEPS
            smooth = share * share * (3 - 2 * share)
            points.append((start + (end - start) * share, low + (high - low) * smooth))
        points.append((number + _HALF, high))
    return [(round(at, 4), round(top, 4)) for at, top in points]


def _lane_names(held: list[list[str]], lanes: list[_Lane], y: Any) -> Any:
    """Return the stances' names left of their lanes, with their first and last number of seats."""
    rows = []
    for lane in lanes:
        first, last = held[0].count(lane.key), held[-1].count(lane.key)
        text = [lane.label, f"{first} → {last}" if len(held) > 1 else str(first)]
        rows.append({"y": lane.top + lane.seats / 2, "text": text})
    return (
        chart_of(rows)
        .mark_text(align="right", baseline="middle", color=INK, fontSize=SIZE, lineHeight=15, dy=-7)
        .encode(x=alt.value(-10), y=alt.Y("y:Q", scale=y, axis=None), text="text:N")
    )


def _seat_names(seats: list[str], places: list[list[float]], rounds: int, y: Any) -> Any:
    """Return the seats' names right of their bands' ends."""
    labels = short_names(seats, SEAT_CELLS)
    rows = [
        {"y": top + _BAND / 2, "text": labels[name]}
        for name, top in zip(seats, places[-1], strict=True)
    ]
    return (
        chart_of(rows)
        .mark_text(align="left", baseline="middle", color=INK, fontSize=SIZE)
        .encode(
            x=alt.value(alt.expr("width + 8")), y=alt.Y("y:Q", scale=y, axis=None), text="text:N"
        )
    )


def _named(state: State, key: str) -> str:
    label = state.spec.brief.label_of(key) if key != NO_STANCE else "no position"
    return short_names([label or key], LABEL_CELLS)[label or key]


def _round_label(rounds: int) -> str:
    """Return the expression for a round's name; it holds nothing that comes from a debate."""
    later = "'Round ' + datum.value" if rounds <= 8 else "datum.value"
    return f"datum.value == 0 ? 'Opening' : {later}"
