"""The ports that kernels of the tests listen on.

jupyter_client looks for free ones among those that the system gives to outgoing connections, and
the kernel takes them up to a second later: with a browser, servers and other kernels beside it, now
and then one is gone by then, and the kernel ends with "Address already in use".
"""

from __future__ import annotations

from jupyter_client.connect import LocalPortCache

from tests.environment import ROOT, free_port

SERVER_CONFIG = f"""
import sys
sys.path.append({str(ROOT)!r})
from tests.kernel_ports import keep_apart
keep_apart()
"""
"""What a Jupyter server's configuration file has to hold for the same."""


def keep_apart() -> None:
    """Lets this process give kernels ports that no outgoing connection takes."""
    LocalPortCache.find_available_port = _free_port  # type: ignore[method-assign, assignment]


def _free_port(cache: LocalPortCache, ip: str) -> int:
    return free_port()
