"""The driver itself, on plain ipywidgets: what it says it did has happened in the kernel."""

from __future__ import annotations

from pathlib import Path

from tests.browser.labdriver import NARROW, NotebookPage
from tests.browser.servers import Server

_NAME = "driven.ipynb"
_BUTTON = """
import ipywidgets
button = ipywidgets.Button(description="Press")
button.add_class("press-me")
text = ipywidgets.Text()
text.add_class("type-here")
said = ipywidgets.Label()
said.add_class("said")
button.on_click(lambda _: setattr(said, "value", f"heard {text.value}"))
display(ipywidgets.VBox([text, button, said]))
"""


def test_click_and_keys_reach_kernel(tab: NotebookPage) -> None:
    tab.show(_NAME, [_BUTTON, "6 * 7"])
    assert tab.prompts() == ["[ ]:", "[ ]:"]
    tab.run_all()
    tab.wait_finished()
    assert tab.prompts() == ["[1]:", "[2]:"]
    assert tab.outputs()[1] == "42"
    tab.type(".type-here input", "every letter")
    tab.click("button.press-me")
    assert tab.wait_text("heard every letter").is_visible()
    assert tab.console_errors == []
    assert tab.foreign_requests == []
    assert tab.dialogs == []


def test_interrupt_ends_running_cell(tab: NotebookPage) -> None:
    cells = ["import time\nprint('started')\ntime.sleep(600)", "print('never')"]
    tab.show(_NAME, cells)
    tab.run_all()
    tab.wait_text("started")
    assert tab.prompts() == ["[*]:", "[*]:"]
    tab.interrupt()
    tab.wait_finished()
    assert "KeyboardInterrupt" in tab.outputs()[0]
    assert tab.prompts() == ["[1]:", "[ ]:"]


def test_restart_forgets_and_runs_in_order(tab: NotebookPage) -> None:
    cells = ["try:\n    x += 1\nexcept NameError:\n    x = 1", "print('x is', x)"]
    tab.show(_NAME, cells)
    for _ in range(2):
        tab.restart_and_run_all()
        tab.wait_finished()
        assert tab.prompts() == ["[1]:", "[2]:"]
        assert tab.outputs()[1].strip() == "x is 1"


def test_saved_output_survives_reload(tab: NotebookPage, server: Server) -> None:
    tab.show(_NAME, ["print('kept')"])
    tab.run_all()
    tab.wait_finished()
    tab.save()
    assert server.read(_NAME).cells[0].outputs[0].text == "kept\n"
    pids = server.kernel_pids()
    tab.reload()
    assert tab.wait_text("kept").is_visible()
    assert server.kernel_pids() == pids
    assert len(pids) == 1
    assert tab.bytes_received() > 0


def test_screenshot_has_asked_width_and_theme(tab: NotebookPage, tmp_path: Path) -> None:
    tab.show(_NAME, ["1"])
    light = tab.screenshot(tmp_path / "light.png").read_bytes()
    dark = tab.screenshot(tmp_path / "dark.png", width=NARROW, theme="dark").read_bytes()
    # The width stands in bytes 16 to 20 of every PNG file.
    assert (int.from_bytes(light[16:20]), int.from_bytes(dark[16:20])) == (1300, NARROW)
    assert tab.page.evaluate("document.body.dataset.jpThemeLight") == "false"
