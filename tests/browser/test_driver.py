"""The driver itself, on plain ipywidgets: what it says it did has happened in the kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.labdriver import NARROW, NotebookPage
from tests.browser.reviews import run_cell
from tests.browser.servers import Server
from tests.browser.traffic import Frame, is_settled, requests, told

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
_PORTS = """
import json, ipykernel
found = json.loads(ipykernel.get_connection_info())
print("ports", [port for name, port in found.items() if name.endswith("_port")])
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


def test_kernel_listens_where_no_outgoing_connection_leaves_from(
    tab: NotebookPage, server: Server
) -> None:
    tab.show(_NAME, [_PORTS])
    tab.run_all()
    tab.wait_finished()
    ports = json.loads(tab.printed("ports "))
    assert len(set(ports)) == 5
    assert min(ports) >= 20_000
    assert max(ports) < 32_000


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


def _frame(sent: bool, kind: str, parent: str = "", **content: str) -> Frame:
    message = {
        "header": {"msg_id": kind, "msg_type": kind}, "parent_header": {"msg_id": parent},
        "content": content,
    }  # fmt: skip
    return Frame(0, "sent" if sent else "received", json.dumps(message))


def test_page_is_settled_once_all_it_asked_is_answered() -> None:
    asked = "comm_info_request"
    frames = [
        _frame(True, "comm_msg"),
        _frame(False, "status", "comm_msg", execution_state="idle"),
        _frame(True, asked),
        _frame(False, "status", asked, execution_state="busy"),
        _frame(False, "comm_info_reply", asked),
        _frame(False, "status", asked, execution_state="idle"),
    ]
    settled = [is_settled(frames[:count]) for count in range(len(frames) + 1)]
    assert settled == [False] * 6 + [True]
    assert "NOTHING CAME BACK" in told(frames[:3])
    assert "busy@0.00 comm_info_reply@0.00 idle@0.00" in told(frames)


_STRAND = """
import zmq
kernel = get_ipython().kernel
manager, socket = kernel.shell_channel_thread.manager, kernel.shell_stream.socket
class Sender:
    def send_multipart(self, message):
        manager._shell_socket = socket
        socket.send_multipart(message)
        socket.poll(10_000, zmq.POLLIN)  # what a raw send of ipykernel 7.0-7.3 does at a bad moment
manager._shell_socket = Sender()
"""


def answered(tab: NotebookPage) -> list[bool]:
    """Returns whether the kernel has answered each request to run a cell."""
    asked = [request for request in requests(tab.frames) if request.kind == "execute_request"]
    return [request.answered for request in asked]


@pytest.mark.parametrize("kernel", ["ipykernel-7.1"])
@pytest.mark.parametrize("app", ["lab"])
def test_request_that_kernel_left_unread_is_read_after_reconnect(
    tab: NotebookPage, kernel: str
) -> None:
    tab.show(_NAME, [_STRAND, "6 * 7"], kernel)
    run_cell(tab, 0)
    tab.wait_finished()
    run_cell(tab, 1)
    before = tab.reconnects
    tab.until(lambda: tab.outputs()[1] == "42", patience_s=3)
    assert tab.reconnects == before + 1
    tab.until(lambda: answered(tab) == [True, True])
    assert tab.reconnects == before + 1
    tab.reconnects = before  # this one was asked for
