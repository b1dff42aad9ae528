"""The first event of a debate."""

from __future__ import annotations

from typing import Any

from rt_notebook.contract.prompts import PROMPTS_VERSION
from rt_notebook.engine.commands import Body
from rt_notebook.store.log import Durability


def created_body(
    spec_json: dict[str, Any], source: str, unattended: bool, durability: Durability
) -> Body:
    """Return the first event of a new debate; it says `durability` where that isn't the usual."""
    body: dict[str, Any] = {
        "spec": spec_json,
        "source": source,
        "unattended": unattended,
        "prompts_version": PROMPTS_VERSION,
    }
    if durability != "process":
        body["durability"] = durability
    return "created", body
