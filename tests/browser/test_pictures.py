"""The pictures, a comparison and a sweep in real front ends: drawn, with nothing from outside."""

from __future__ import annotations

from pathlib import Path

from tests.browser.labdriver import NotebookPage
from tests.browser.servers import Server

_SWEEP = """
import rt_notebook as rt
from rt_notebook.analysis.diff import diff
from rt_notebook.analysis.sweep import sweep

s = sweep(
    ["Ship now?", "Hire two?"], options=["Ship", "Wait"], store="./debates.db",
    seats=[rt.Seat("pm"), rt.Seat("dev"), rt.Seat("審査")],
)
s
"""
# In one cell: a front end draws only the cells that are near.
_PICTURES = """
display(diff(s[0], s[1]))
plot = s[0].plot
display(plot.stances(), plot.agreement(), plot.tally(), plot.usage(), plot.timeline())
"""
_VEGA = "application/vnd.vegalite.v5+json"
_DRAWN = "() => document.querySelectorAll('.vega-embed canvas, .vega-embed svg.marks').length === 5"


def test_pictures_are_drawn_by_front_end(tab: NotebookPage, server: Server, tmp_path: Path) -> None:
    tab.open(server.write("pictures.ipynb", [_SWEEP, _PICTURES]))
    tab.run_all()
    tab.wait_finished()
    assert "<Sweep of 2 debates: 2 done>" in tab.outputs()[0]
    tab.page.wait_for_function(_DRAWN)
    tab.screenshot(tmp_path / "light.png")
    tab.screenshot(tmp_path / "dark.png", theme="dark")
    tab.save()
    shown = [output.data for output in server.read("pictures.ipynb").cells[1].outputs]
    assert [set(data) for data in shown[1:]] == [{_VEGA, "image/png", "text/plain"}] * 5
    assert set(shown[0]) == {"text/html", "text/plain"}
    assert tab.foreign_requests == []
    assert tab.console_errors == []
