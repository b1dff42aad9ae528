"""The timeline of calls: a bar for each, dashes where a seat waited for the one that came last."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

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
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import CANCELLED, CLOSING_PURPOSES, Call
from rt_notebook.rendering.palette import ALERT, NEUTRAL
from rt_notebook.rendering.wording import plural, round_name

_ROW: Final = 30
_WIDTH: Final = 720
_UNITS: Final = ((7_200, 3_600, "hours"), (180, 60, "minutes"), (0, 1, "seconds"))
_NAMED_ROUNDS: Final = 6
_EXPLAINED: Final = (
    "Bars: calls (hollow and red: failed); dashes: waiting for the seat that came last, whose "
    "line ends the round; grey: a gate"
)


class _Round(NamedTuple):
    """A round's calls in time, seconds since the debate began."""

    number: int
    start: float
    end: float
    last: str
    ends: dict[str, float]


def call_timeline(state: State) -> tuple[alt.LayerChart, str]:
    """Return the chart and a sentence on it."""
    names = [seat.name for seat in state.spec.seats]
    if any(call.purpose in CLOSING_PURPOSES for call in state.calls.values()):
        names.append(state.chairman_name)
    labels = short_names(names, SEAT_CELLS)
    order = [labels[name] for name in names]
    rounds = _rounds(state)
    ends = [_end(state, call) for call in state.calls.values()]
    total = max([0.001, *ends, *(gate["x2"] for gate in _gates(state, rounds))])
    unit, word = next((size, word) for least, size, word in _UNITS if total >= least)
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, total / unit], nice=False),
        axis=alt.Axis(title=f"Time since the start, {word}", tickCount=8, domain=False),
    )
    y = alt.Y(
        "seat:N", sort=order, scale=alt.Scale(domain=order), title=None,
        axis=alt.Axis(domain=False, ticks=False, labelPadding=8, grid=False),
    )  # fmt: skip
    layers = [
        _gate_boxes(_gates(state, rounds), unit, x),
        _waits(state, rounds, labels, unit, x, y),
        _bars(state, labels, unit, x, y),
        *_ends(state, rounds, labels, unit, x),
    ]
    chart = (
        alt.layer(*layers)
        .properties(
            width=_WIDTH,
            height=_ROW * len(order),
            title=title_of(state, "Who waited for whom", _EXPLAINED),
        )
        .configure(**config())
    )
    slowest = "; ".join(f"{round_name(r.number)}: {labels[r.last]}" for r in rounds)
    calls = plural(len(state.calls), "call")
    return chart, f"Timeline of {calls}" + (f"; waited for: {slowest}." if slowest else ".")


def _rounds(state: State) -> list[_Round]:
    """Return the rounds with more than one seat's calls, and whom each waited for."""
    found = []
    for number in range(len(state.turns)):
        ends: dict[str, float] = {}
        starts: list[float] = []
        for turn in state.turns_of(number):
            if turn.calls:
                starts.append(_since(state, turn.calls[0].started_at))
                ends[turn.seat] = max(_end(state, call) for call in turn.calls)
        if ends:
            last = max(ends, key=lambda name: ends[name])
            found.append(_Round(number, min(starts), ends[last], last, ends))
    return found


def _bars(state: State, labels: dict[str, str], unit: float, x: Any, y: Any) -> Any:
    colors = colors_of(state)
    rows = [
        {
            "seat": labels[call.seat], "x": _since(state, call.started_at) / unit,
            "x2": _end(state, call) / unit, "color": colors[call.seat],
            "edge": ALERT if call.error else colors[call.seat],
            "opacity": 0 if call.error else 1, "what": call.purpose,
            "when": round_name(call.round), "end": call.error or call.outcome,
            "took": f"{_end(state, call) - _since(state, call.started_at):.2f} s",
        }
        for call in state.calls.values()
        if call.seat in labels
    ]  # fmt: skip
    return (
        chart_of(rows)
        .mark_bar(cornerRadius=3, height=_ROW * 0.55, strokeWidth=1.5, minBandSize=2)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            fill=alt.Fill("color:N", scale=None),
            stroke=alt.Stroke("edge:N", scale=None),
            fillOpacity=alt.FillOpacity("opacity:Q", scale=None),
            tooltip=[
                alt.Tooltip("seat:N", title="Seat"),
                alt.Tooltip("when:N", title="Round"),
                alt.Tooltip("what:N", title="Call"),
                alt.Tooltip("took:N", title="Took"),
                alt.Tooltip("end:N", title="Outcome"),
            ],
        )
    )


def _waits(
    state: State, rounds: list[_Round], labels: dict[str, str], unit: float, x: Any, y: Any
) -> Any:
    """Return the dashes from a seat's end to its round's end."""
    colors = colors_of(state)
    rows = [
        {
            "seat": labels[name], "x": end / unit, "x2": r.end / unit, "color": colors[name],
            "text": f"{r.end - end:.2f} s for {labels[r.last]}",
        }
        for r in rounds
        for name, end in r.ends.items()
        if end < r.end
    ]  # fmt: skip
    return (
        chart_of(rows)
        .mark_rule(strokeDash=[2, 3], strokeWidth=2)
        .encode(
            x=x,
            x2="x2:Q",
            y=y,
            stroke=alt.Stroke("color:N", scale=None),
            tooltip=[
                alt.Tooltip("seat:N", title="Seat"),
                alt.Tooltip("text:N", title="Waited"),
            ],
        )
    )


def _ends(
    state: State, rounds: list[_Round], labels: dict[str, str], unit: float, x: Any
) -> list[alt.Chart]:
    """Return a line at each round's end in the colour of the seat that came last, named above."""
    colors = colors_of(state)
    rows = [
        {
            "x": r.end / unit,
            "color": colors[r.last],
            "text": [
                f"{'Opening' if r.number == 0 else f'Round {r.number}'}, last:",
                labels[r.last],
            ],
        }
        for r in rounds
        if len(r.ends) > 1
    ]
    base = chart_of(rows).encode(x=x)
    lines = base.mark_rule(strokeWidth=2).encode(stroke=alt.Stroke("color:N", scale=None))
    if len(rounds) > _NAMED_ROUNDS:
        return [lines]
    names = base.mark_text(
        align="right", baseline="bottom", lineBreak="\n", lineHeight=14, dy=-18, dx=2,
        fontSize=SIZE - 1, color=INK,
    ).encode(y=alt.value(0), text="text:N")  # fmt: skip
    return [lines, names]


def _gates(state: State, rounds: list[_Round]) -> list[dict[str, Any]]:
    """Return the spans of the gates: to the next round's beginning, or to the debate's end."""
    starts = {r.number: r.start for r in rounds}
    found = []
    for gate in state.gates:
        start = _since(state, gate.opened_at)
        end = starts.get(gate.round + 1, _since(state, state.updated_at))
        found.append({"x": start, "x2": max(start, end), "why": gate.why or "open"})
    return found


def _gate_boxes(gates: list[dict[str, Any]], unit: float, x: Any) -> Any:
    rows = [
        {**gate, "x": gate["x"] / unit, "x2": gate["x2"] / unit, "text": "gate",
         "took": f"{gate['x2'] - gate['x']:.1f} s"}
        for gate in gates
    ]  # fmt: skip
    return (
        chart_of(rows)
        .mark_rect(color=NEUTRAL, opacity=0.3)
        .encode(
            x=x,
            x2="x2:Q",
            tooltip=[
                alt.Tooltip("text:N", title="Waiting for a person"),
                alt.Tooltip("took:N", title="For"),
                alt.Tooltip("why:N", title="Closed"),
            ],
        )
    )


def _title(number: int) -> str:
    return f"Round {number}" if number else "Opening"


def _since(state: State, moment: int) -> float:
    return max(0.0, (moment - state.created_at) / 1000)


def _end(state: State, call: Call) -> float:
    """Return when a call ended; one cut off ends where it began, for nobody knows when."""
    if call.finished_at is None or call.error == CANCELLED:
        start = _since(state, call.started_at)
        return start if call.error else max(start, _since(state, state.updated_at))
    return _since(state, call.finished_at)
