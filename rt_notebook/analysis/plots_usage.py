"""Tokens and latency by seat, the chairman below: two panels that share their rows."""

from __future__ import annotations

from statistics import median
from typing import Any, Final

import altair as alt

from rt_notebook.analysis.plots_style import (
    INK,
    SEAT_CELLS,
    SIZE,
    chart_of,
    colors_of,
    config,
    short_names,
    title_of,
)
from rt_notebook.analysis.tables import latency_s
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import Call
from rt_notebook.rendering.wording import plural, round_name

_ROW: Final = 38
_WIDTH: Final = 300
_IN, _OUT = "in", "out"
_FROM_0: Final = alt.Scale(domainMin=0, nice=True)


def usage_bars(state: State) -> tuple[alt.HConcatChart, str]:
    """Return the panels and a sentence on them."""
    calls: dict[str, list[Call]] = {seat.name: [] for seat in state.spec.seats}
    for call in state.calls.values():
        calls.setdefault(call.seat, []).append(call)
    labels = short_names(calls, SEAT_CELLS)
    order = [labels[name] for name in calls]
    y = alt.Y(
        "seat:N", sort=order, scale=alt.Scale(domain=order), title=None,
        axis=alt.Axis(domain=False, ticks=False, labelPadding=8),
    )  # fmt: skip
    height = _ROW * len(order)
    tokens = _tokens(state, calls, labels, y).properties(width=_WIDTH, height=height)
    bare = alt.Y(
        "seat:N", sort=order, scale=alt.Scale(domain=order), title=None,
        axis=alt.Axis(domain=False, ticks=False, labels=False),
    )  # fmt: skip
    latency = _latency(state, calls, labels, bare).properties(width=_WIDTH, height=height)
    explained = "Left: tokens in (hollow) and out (solid). Right: latency by call, with the median"
    chart = (
        alt.hconcat(tokens, latency, spacing=36)
        .properties(title=title_of(state, "Usage by seat", explained))
        .configure(**config())
    )
    total = state.usage
    return chart, (
        f"Usage of {plural(len(order), 'seat')}: {plural(total.calls, 'call')}, "
        f"{total.prompt_tokens:,} tokens in, {total.completion_tokens:,} out."
    )


def _tokens(state: State, calls: dict[str, list[Call]], labels: dict[str, str], y: Any) -> Any:
    """Return bars of tokens in and out."""
    colors = colors_of(state)
    rows: list[dict[str, Any]] = []
    for name, tries in calls.items():
        for kind, field in ((_IN, "prompt_tokens"), (_OUT, "completion_tokens")):
            known = [n for call in tries if (n := getattr(call.usage, field)) is not None]
            text = f"{sum(known):,} {kind}" if known else "not reported" if kind == _IN else ""
            rows.append(
                {
                    "seat": labels[name], "kind": kind, "tokens": sum(known), "text": text,
                    "color": colors[name], "solid": int(kind == _OUT),
                }
            )  # fmt: skip
    offset = alt.YOffset("kind:N", sort=[_IN, _OUT], scale=alt.Scale(paddingInner=0.1))
    base = chart_of(rows).encode(
        x=alt.X(
            "tokens:Q", axis=_axis("Tokens", grid=False), scale=alt.Scale(domainMin=0, nice=True)
        ),
        y=y,
        yOffset=offset,
    )
    bars = base.mark_bar(cornerRadiusEnd=3, strokeWidth=2).encode(
        fill=alt.Fill("color:N", scale=None),
        stroke=alt.Stroke("color:N", scale=None),
        fillOpacity=alt.FillOpacity("solid:Q", scale=None),
        tooltip=[
            alt.Tooltip("seat:N", title="Seat"),
            alt.Tooltip("kind:N", title="Direction"),
            alt.Tooltip("tokens:Q", title="Tokens", format=","),
        ],
    )
    numbers = base.mark_text(
        align="left", baseline="middle", dx=5, fontSize=SIZE - 1, color=INK
    ).encode(text="text:N")
    return alt.layer(bars, numbers)


def _latency(state: State, calls: dict[str, list[Call]], labels: dict[str, str], y: Any) -> Any:
    """Return a dot for each call's seconds and a tick at their median."""
    colors = colors_of(state)
    dots, ticks = [], []
    for name, tries in calls.items():
        took = [(call, s) for call in tries if (s := latency_s(call)) is not None]
        dots += [
            {
                "seat": labels[name], "s": round(s, 3), "color": colors[name],
                "when": round_name(call.round), "what": call.purpose, "end": call.error or "ok",
            }
            for call, s in took
        ]  # fmt: skip
        if took:
            middle = median(s for _, s in took)
            ticks.append({"seat": labels[name], "s": round(middle, 3), "text": f"{middle:.3g} s"})
    x = alt.X("s:Q", axis=_axis("Seconds", grid=True), scale=_FROM_0)
    points = (
        chart_of(dots)
        .mark_point(size=80, opacity=1, strokeWidth=2)
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke("color:N", scale=None),
            tooltip=[
                alt.Tooltip("seat:N", title="Seat"),
                alt.Tooltip("when:N", title="Round"),
                alt.Tooltip("what:N", title="Call"),
                alt.Tooltip("s:Q", title="Seconds"),
                alt.Tooltip("end:N", title="Outcome"),
            ],
        )
    )
    base = chart_of(ticks).encode(x=x, y=y)
    marks = base.mark_tick(thickness=2, size=26, color=INK)
    numbers = base.mark_text(dy=-18, fontSize=SIZE - 1, color=INK).encode(text="text:N")
    return alt.layer(points, marks, numbers)


def _axis(title: str, *, grid: bool) -> alt.Axis:
    return alt.Axis(title=title, tickCount=5, domain=not grid, labelFlush=False, grid=grid)
