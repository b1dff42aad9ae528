"""A form reaches the page past `%%capture`, whenever the extension was loaded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.formatters import DisplayFormatter

from rt_notebook.frontends.publisher import (
    captured,
    free_replies,
    guard_capture,
    publish_outside,
    remember_publisher,
)


class Page:
    """A publisher that reaches the page."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []

    def publish(self, **what: Any) -> None:
        self.shown.append(what)

    def set_parent(self, parent: object) -> None: ...


class Shell:
    """The part of a shell that publishing touches."""

    def __init__(self) -> None:
        self.page = Page()
        self.display_pub: Any = self.page
        self.display_formatter = _formatter()


def _formatter() -> Any:
    make: Any = DisplayFormatter  # untyped traits
    return make()


def _capturing() -> Any:
    make: Any = CapturingDisplayPublisher
    return make()


def test_capture_is_passed_by() -> None:
    shell = Shell()
    remember_publisher(shell)
    assert not captured(shell)
    shell.display_pub = _capturing()
    assert captured(shell)
    publish_outside(3, "debate-1", ip=shell)
    publish_outside(4, "debate-1", True, ip=shell)
    assert shell.display_pub.outputs == []
    assert [(one["data"], one["update"]) for one in shell.page.shown] == [
        ({"text/plain": "3"}, False),
        ({"text/plain": "4"}, True),
    ]
    assert {one["transient"]["display_id"] for one in shell.page.shown} == {"debate-1"}


def test_load_under_capture_is_made_good_later() -> None:
    shell = Shell()
    shell.display_pub = capturing = _capturing()
    remember_publisher(shell)
    publish_outside(1, "debate-1", ip=shell)
    assert len(capturing.outputs) == 1  # nothing else is known yet
    shell.display_pub = shell.page
    remember_publisher(shell)
    shell.display_pub = _capturing()
    publish_outside(2, "debate-2", ip=shell)
    assert len(shell.page.shown) == 1


def test_guard_gives_capturing_publisher_a_parent() -> None:
    shell = Shell()
    guard_capture(shell)
    assert shell.display_pub.set_parent.__func__ is Page.set_parent
    shell.display_pub = _capturing()
    guard_capture(shell)
    shell.display_pub.set_parent({"header": {}})


def test_replies_go_where_front_end_says() -> None:
    comm = SimpleNamespace(_reply_subshell_for=lambda data, default: "main")
    free_replies(SimpleNamespace(comm=comm), SimpleNamespace(comm=None), SimpleNamespace())
    assert comm._reply_subshell_for({}, "theirs") == "theirs"
