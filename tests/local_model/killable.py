"""Holds one review with the small model; run as a script, to be killed in the middle.

`python killable.py URL STORE`
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests.local_model.debates import review


@dataclass(frozen=True)
class Address:
    """Where a relay listens that another process runs."""

    url: str
    """Its base URL."""


if __name__ == "__main__":
    url, store = sys.argv[1:]
    review(Address(url), store=store).run_sync()
