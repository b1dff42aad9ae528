from __future__ import annotations

from itertools import pairwise

from rt_notebook.domain.seat import Seat
from rt_notebook.rendering.palette import (
    PALETTE,
    WHITE,
    contrast,
    seat_colors,
    stance_color,
    text_on,
    tint,
)
from tests.rendering.events import spec_of

DARK_PAGE = "#212121"


def test_every_seat_has_its_own_colour() -> None:
    assert len(set(PALETTE)) == 26
    spec = spec_of(tuple(Seat(chr(97 + place)) for place in range(26)))
    assert list(seat_colors(spec).values()) == list(PALETTE)


def test_own_colour_of_a_seat_wins() -> None:
    spec = spec_of((Seat("pm", color="#123456"), Seat("dev")))
    assert seat_colors(spec) == {"pm": "#123456", "dev": PALETTE[1]}


def test_colours_show_on_light_and_dark() -> None:
    for color in PALETTE:
        assert contrast(color, WHITE) >= 3
        assert contrast(color, DARK_PAGE) >= 3


def test_text_on_any_fill_is_legible() -> None:
    for grey in range(256):
        color = f"#{grey:02X}{grey:02X}{grey:02X}"
        assert contrast(color, text_on(color)) >= 4.5


def test_contrast_agrees_with_known_values() -> None:
    assert contrast("#000000", "#FFFFFF") == 21
    assert round(contrast("#777777", "#FFFFFF"), 2) == 4.48


def test_options_differ_and_others_are_grey() -> None:
    colors = [stance_color(f"opt-{number}") for number in range(1, 13)]
    assert len(set(colors)) == 12
    assert not set(colors[:4]) & set(PALETTE[:4])
    assert stance_color("other:x") == stance_color(None) == stance_color("PASS")
    assert all(one != other for one, other in pairwise(colors))


def test_tint_is_see_through() -> None:
    assert tint("#0072B2", 0.15) == "rgba(0,114,178,0.15)"
