"""What a form needs from the kernel besides the pump: a way past `%%capture`, and free replies.

Owns how something is shown under a display id, wherever the shell's publisher is at the moment.
Must not know what is shown.
"""

from __future__ import annotations

import weakref
from typing import Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.getipython import get_ipython

_real: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def remember_publisher(ip: Any) -> None:
    """Keep the publisher that reaches the page, whatever `%%capture` puts in its place later.

    Call it when the extension loads. Under a `%%capture` it does nothing; the next call can.
    """
    if not isinstance(ip.display_pub, CapturingDisplayPublisher):
        _real[ip] = ip.display_pub


def captured(ip: Any) -> bool:
    """Return whether what is displayed now goes into a `%%capture` instead of the page."""
    return isinstance(ip.display_pub, CapturingDisplayPublisher)


def publish_outside(obj: Any, display_id: str, update: bool = False, *, ip: Any = None) -> None:
    """Show `obj` under `display_id` on the page, past any `%%capture`.

    The first display must be made on the main thread, in the cell that owns it: made later, or on
    another thread, it lands in whatever cell ran last. Updates are fine from any thread.

    Args:
        obj: anything IPython can format.
        display_id: the name for later updates; unique in the kernel.
        update: replace what stands there under that name.
        ip: the shell; default: the running one.
    """
    shell: Any = ip if ip is not None else get_ipython()
    data, metadata = shell.display_formatter.format(obj)
    publisher = _real.get(shell, shell.display_pub)
    publisher.publish(
        data=data, metadata=metadata, transient={"display_id": display_id}, update=update
    )


def publish(obj: Any, *, ip: Any = None) -> None:
    """Show `obj` in the running cell, as `display` does; a `%%capture` gets it."""
    shell: Any = ip if ip is not None else get_ipython()
    data, metadata = shell.display_formatter.format(obj)
    shell.display_pub.publish(data=data, metadata=metadata)


def guard_capture(ip: Any) -> None:
    """Keep clicks alive under `%%capture`.

    ipykernel 7.1-7.3 calls `set_parent` of the shell's publisher for every comm message. IPython's
    capturing publisher has no such method, so the message would die with an AttributeError.
    """
    if not hasattr(ip.display_pub, "set_parent"):
        ip.display_pub.set_parent = lambda parent: None


def free_replies(*widgets: Any) -> None:
    """Let the front end choose the thread that handles these widgets' messages.

    ipykernel 7.4 routes them to the shell that last sent on the comm, which is the main one: busy
    while another cell runs. It has no effect on other releases.
    """
    for widget in widgets:
        comm: Any = getattr(widget, "comm", None)
        if hasattr(comm, "_reply_subshell_for"):
            comm._reply_subshell_for = lambda data, default: default
