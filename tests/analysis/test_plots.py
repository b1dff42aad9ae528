"""The pictures: that they hold what the fold holds, under every label, and how they are shown."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.analysis.plots import MIME, Picture, Plots
from rt_notebook.analysis.plots_style import INK, short_names
from rt_notebook.analysis.result import Result
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.errors import MissingExtraError, OptionError
from rt_notebook.rendering.palette import contrast, seat_colors
from rt_notebook.rendering.plain import cells
from tests.analysis.debates import Log, empty, full, interrupted, spec_of

KINDS = ["stances", "agreement", "tally", "usage", "timeline"]
LONG = "Head of customer support in Europe 1"
WIDE = ("セキュリティ担当者", "产品经理", "검토자", "法務")


def voted(names: tuple[str, ...], rounds: int = 3) -> Log:
    brief = Brief(question="Q?", options=("Ship", "Wait " * 30 + "a while"))
    log = Log(spec_of(*(Seat(name) for name in names), brief=brief))
    for number in range(rounds):
        log.start_round(number)
        for place, name in enumerate(names):
            log.say(name, f"opt-{1 + (place * (number + 1)) % 2}")
    return log


def twelve() -> Log:
    return voted(tuple(f"Head of customer support in Europe {n}" for n in range(12)))


DEBATES = [
    lambda: voted(("pm", "dev")), twelve, lambda: voted(WIDE), full, empty, interrupted,
]  # fmt: skip


def picture(log: Log, kind: str) -> Picture:
    made = getattr(Plots(log.state), kind)()
    assert isinstance(made, Picture)
    return made


def values(spec: Any) -> Iterator[dict[str, Any]]:
    """Yields every row of data in a chart."""
    if isinstance(spec, dict):
        for rows in spec.get("datasets", {}).values():
            yield from rows
        yield from spec.get("data", {}).get("values", [])
        for name in ("layer", "hconcat"):
            for part in spec.get(name, []):
                yield from values(part)


@pytest.mark.parametrize("make", DEBATES, ids=["two", "twelve", "wide", "full", "empty", "cut"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_debate_has_every_picture(kind: str, make: Callable[[], Log]) -> None:
    made = picture(make(), kind)
    png = made.to_png(scale=1)
    assert png.startswith(b"\x89PNG")
    assert len(png) > 2_000
    title = made.spec["title"]
    assert title["text"]
    assert title["subtitle"][0]
    assert made.description.endswith(".")


def test_bundle_has_both_forms() -> None:
    """Vega-Lite for those that draw it, at the version that JupyterLab 4 knows; a PNG beside."""
    data, metadata = picture(full(), "stances")._repr_mimebundle_()
    assert list(data) == [MIME, "image/png", "text/plain"]
    assert MIME == "application/vnd.vegalite.v5+json"
    assert data[MIME]["$schema"].endswith("/vega-lite/v5.20.1.json")
    png = base64.b64decode(data["image/png"])
    assert png.startswith(b"\x89PNG")
    # The PNG has two pixels for each of the page's, so it must say how large it is there.
    size = metadata["image/png"]
    assert size["width"] == int.from_bytes(png[16:20]) // 2
    assert size["alt"].startswith("Stances by round: 4 seats")
    assert data["text/plain"].startswith("<Picture: Stances by round: 4 seats")


def test_only_what_is_asked_is_made() -> None:
    made = picture(full(), "tally")
    assert list(made._repr_mimebundle_(include={"text/plain"})[0]) == ["text/plain"]
    assert list(made._repr_mimebundle_(exclude={"image/png"})[0]) == [MIME, "text/plain"]


@pytest.mark.parametrize("kind", KINDS)
def test_same_picture_is_same_bytes(kind: str) -> None:
    one, two = (picture(full(), kind) for _ in range(2))
    assert json.dumps(one.spec) == json.dumps(two.spec)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_loaded_from_outside(kind: str) -> None:
    text = json.dumps(picture(full(), kind).spec)
    assert '"url"' not in text
    assert '"background": "transparent"' in text


@pytest.mark.parametrize("kind", KINDS)
def test_seats_keep_their_colours(kind: str) -> None:
    log = voted(("pm", "dev"))
    spec = picture(log, kind).spec
    used = {row["color"] for row in values(spec) if "color" in row}
    assert set(seat_colors(log.state.spec).values()) <= used


def test_own_colour_of_seat_is_used() -> None:
    log = Log(spec_of(Seat("a", color="#123456"), Seat("b")))
    log.start_round(0)
    log.say("a", "opt-1")
    assert "#123456" in json.dumps(picture(log, "stances").spec)


def test_text_reads_on_light_and_dark() -> None:
    assert contrast(INK, "#FFFFFF") > 4
    assert contrast(INK, "#111111") > 4


def test_flow_holds_every_stance_and_change() -> None:
    rows = list(values(picture(full(), "stances").spec))
    boxes = [(r["Stance"], r["Round"], r["Seats"]) for r in rows if "Stance" in r]
    assert boxes == [
        ("Ship", 0, 2), ("Wait", 0, 1), ("no position", 0, 1),
        ("Ship", 1, 2), ("Wait", 1, 1), ("other: Sell it", 1, 1),
    ]  # fmt: skip
    ways = {r["Seat"]: r["Stances"] for r in rows if "Stances" in r}
    assert ways["law"] == "no position → Wait"
    assert "ghost" not in ways


def test_bands_never_overlap_in_a_box() -> None:
    rows = [r for r in values(picture(twelve(), "stances").spec) if "Stances" in r]
    for number in range(3):
        tops = sorted({r["y"] for r in rows if r["x"] == pytest.approx(number - 0.11)})
        assert len(tops) == 12
        assert all(b - a >= 0.8 for a, b in pairwise(tops))


def test_bands_keep_their_order_in_a_lane() -> None:
    """Those who were above stay above, so that no more bands cross than must."""
    log = Log(spec_of(Seat("a"), Seat("b"), Seat("c")))
    for number, votes in enumerate(("121", "111")):
        log.start_round(number)
        for name, vote in zip("abc", votes, strict=True):
            log.say(name, f"opt-{vote}")
    rows = [r for r in values(picture(log, "stances").spec) if "Stances" in r and r["x"] == 1.11]
    assert [r["Seat"] for r in sorted(rows, key=lambda r: float(r["y"]))] == ["a", "c", "b"]


def test_heat_map_shows_shares_and_gaps() -> None:
    rows = [r for r in values(picture(full(), "agreement").spec) if "Together" in r]
    found = {(r["Seat"], r["With"]): r["text"] for r in rows}
    assert found["dev", "pm"] == "100"
    assert found["rv", "dev"] == "0"
    rows = [r for r in values(picture(empty(), "agreement").spec) if "Together" in r]
    assert {r["text"] for r in rows} == {"–"}


def test_tally_has_a_block_for_each_seat() -> None:
    rows = [r for r in values(picture(full(), "tally").spec) if "When" in r]
    held = {(r["Option"], r["When"], r["Seat"]) for r in rows}
    assert held == {
        ("Ship", "first", "dev"), ("Ship", "first", "pm"), ("Wait", "first", "rv"),
        ("Ship", "final", "dev"), ("Ship", "final", "pm"), ("Wait", "final", "law"),
        ("Sell it", "final", "rv"),
    }  # fmt: skip


def test_usage_tells_unknown_from_nothing() -> None:
    rows = [r for r in values(picture(full(), "usage").spec) if "kind" in r]
    said = {(r["seat"], r["kind"]): r["text"] for r in rows}
    assert said["rv", "in"] == "100 in"
    assert (said["dev", "in"], said["dev", "out"]) == ("not reported", "")


def test_timeline_says_who_waited_for_whom() -> None:
    log = Log(spec_of(Seat("quick"), Seat("slow")))
    log.start_round(0)
    calls = [log.start(name, "opening") for name in ("quick", "slow")]
    for call in calls:
        log.finish(call, "STANCE: opt-1")
    made = picture(log, "timeline")
    waits = [r["text"] for r in values(made.spec) if r.get("seat") == "quick" and "text" in r]
    assert waits == ["1.50 s for slow"]
    assert made.description == "Timeline of 2 calls; waited for: the opening: slow."


def test_lost_call_takes_no_time() -> None:
    """Nobody knows when it ended: a crash is written down only at the resume."""
    rows = [r for r in values(picture(interrupted(), "timeline").spec) if "took" in r]
    assert max(r["x2"] for r in rows) < 10


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_cut_and_stay_apart(kind: str) -> None:
    text = json.dumps(picture(twelve(), kind).spec, ensure_ascii=False)
    assert "Head of customer support in Europe" not in text
    assert "Wait " * 10 not in text


def test_short_names_are_unique_and_narrow() -> None:
    names = [f"{LONG}{n}" for n in range(12)] + list(WIDE) + ["", "pm"]
    short = short_names(names, 16)
    assert len(set(short.values())) == len(set(names))
    assert all(cells(label) <= 16 for label in short.values())
    assert short["pm"] == "pm"
    assert short[f"{LONG}0"] == "Head of custome…"


def test_hostile_names_stay_data() -> None:
    """A name is never part of an expression, and obeys no terminal."""
    brief = Brief(question="Q?", options=("'+alert(1)+'", "</script><b>\x1b[2J"))
    log = Log(spec_of(Seat("'+x+'"), Seat('a"b\\'), brief=brief, title='"+t+"'))
    log.start_round(0)
    log.say("'+x+'", "opt-1")
    log.say('a"b\\', "other: \x1b[31m\u202ered")
    for kind in KINDS:
        made = picture(log, kind)
        made.to_png(scale=1)
        for name, expression in expressions(made.spec):
            assert "alert" not in expression, name
            assert "+x+" not in expression, name
        assert "\\u001b" not in json.dumps(made.spec)
        assert repr(made).isprintable()


def expressions(spec: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields every Vega expression of a chart."""
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key in ("expr", "labelExpr", "calculate", "filter", "test") and isinstance(
                value, str
            ):
                yield key, value
            yield from expressions(value, key)
    elif isinstance(spec, list):
        for part in spec:
            yield from expressions(part, name)


@pytest.mark.parametrize("ending", [".png", ".svg", ".html", ".json"])
def test_picture_is_saved(ending: str, tmp_path: Path) -> None:
    path = picture(full(), "tally").save(tmp_path / f"tally{ending}")
    data = path.read_bytes()
    begin = {".png": b"\x89PNG", ".svg": b"<svg", ".html": b"<!DOCTYPE", ".json": b"{"}[ending]
    assert data.startswith(begin)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"'tally.bmp' must end in .png"):
        picture(full(), "tally").save(tmp_path / "tally.bmp")


@pytest.mark.parametrize(
    ("package", "name"), [("altair", "altair"), ("vl_convert", "vl-convert-python")]
)
@pytest.mark.parametrize("kind", KINDS)
def test_missing_extra_says_how_to_get_it(
    kind: str, package: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{name}.*pip install 'rt-notebook\[plots\]'"):
        getattr(Plots(full().state), kind)()


def test_result_offers_the_pictures() -> None:
    log = full()
    plot = Result(log.state, log.events).plot
    assert repr(plot) == "<Plots: stances(), agreement(), tally(), usage(), timeline()>"
    assert (
        repr(plot.tally())
        == "<Picture: Tally, first to final: Ship 2 to 2; Wait 1 to 1; Sell it 0 to 1.>"
    )
