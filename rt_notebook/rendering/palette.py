"""Colours: the one place where seats and options get theirs, for the live view, report and plots.

Built on the Okabe-Ito set and on tints of it, picked so that they stay apart under the simulated
common forms of colour blindness; each has a contrast of 3:1 or more to white and to the dark grey
of JupyterLab's dark theme. A colour never speaks alone: a name or label always stands beside it.
"""

from __future__ import annotations

from typing import Final

from rt_notebook.domain.spec import DebateSpec

PALETTE: Final = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B6B6B", "#B24D00", "#7397C2", "#D87247",
    "#AC658C", "#008D66", "#8E8E8E", "#5889BB", "#848B2E", "#905F56", "#7B812A", "#C68800",
    "#A05E82", "#746D1B", "#6D62A8", "#4380B7", "#9A726B", "#007B59", "#5897A4", "#DA7B58",
    "#B96D97", "#737373",
)  # fmt: skip
"""26 colours, the clearest first; a seat without its own colour takes the one of its place."""

NEUTRAL: Final = "#7F7F7F"
"""For what is neither a seat nor an option: a stance of its own, a pass, no pick."""
ALERT: Final = "#D03B3B"
"""For failures; the word stands beside it."""
BLACK: Final = "#000000"
WHITE: Final = "#FFFFFF"

# Options start elsewhere in the palette, so that in a small debate none has a seat's colour.
_OPTION_ORDER: Final = (18, 15, 22, 8, 12, 13, 6, 7, 9, 19, 5, 17)


def seat_colors(spec: DebateSpec) -> dict[str, str]:
    """Return each seat's colour (`#RRGGBB`) by name: its own, or the one of its place."""
    return {
        seat.name: seat.color or PALETTE[place % len(PALETTE)]
        for place, seat in enumerate(spec.seats)
    }


def stance_color(key: str | None) -> str:
    """Return the colour of a stance key: an option's by its number, else the neutral one."""
    if key is not None and key.startswith("opt-") and key[4:].isdecimal():
        return PALETTE[_OPTION_ORDER[(int(key[4:]) - 1) % len(_OPTION_ORDER)]]
    return NEUTRAL


def tint(color: str, alpha: float) -> str:
    """Return `color` as a see-through fill that suits a light and a dark page."""
    red, green, blue = _channels(color)
    return f"rgba({red},{green},{blue},{alpha:g})"


def text_on(color: str) -> str:
    """Return black or white, whichever reads better on `color`: never below 4.5:1."""
    return BLACK if contrast(color, BLACK) >= contrast(color, WHITE) else WHITE


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    # The sRGB transfer function, as in WCAG's definition of relative luminance.
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
