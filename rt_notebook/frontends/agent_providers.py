"""What can sit in a seat here, as `agent status` tells it; asks no model.

Owns the cache of what the vendors' free checks said: they take seconds, a status mustn't.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any, Final

from rt_notebook.domain.seat import Seat
from rt_notebook.engine.runner import runner
from rt_notebook.providers.api_doors import KEY_VARIABLES, is_api
from rt_notebook.providers.cli.provider import CliProvider
from rt_notebook.providers.cli.readiness import readiness
from rt_notebook.providers.cli.vendors import VENDORS
from rt_notebook.providers.registry import DOORS
from rt_notebook.store import store_path

EFFORTS: Final = ("low", "medium", "high")
"""A seat's efforts; each provider maps them to what it has."""

_CACHE: Final = "readiness.json"
# How the built-in providers are named in a seat; `function` is only how a callable is stored.
_BUILT_IN: Final = {
    "scripted": (["scripted", "scripted:FILE.toml"], "offline, free, no model is asked"),
    "human": (["human"], "a person answers the seat's turns with answer {round, seat, text}"),
    "python": (
        ["python:module:function"],
        "a function; only from Python or your own config.toml, never from an input",
    ),
}


def providers_json(refresh: bool) -> list[dict[str, Any]]:
    """Return a dict per provider: name, models, efforts, ready, detail.

    Args:
        refresh: run the vendors' free checks now; else what they said last is told.
    """
    found = [_built_in(name) for name in _BUILT_IN if name in DOORS]
    if any(is_api(prefix) for prefix in DOORS):
        found += [_api(vendor, keys) for vendor, keys in KEY_VARIABLES.items() if _has(keys)]
    if "cli" in DOORS:
        said = _checked() if refresh else _cached()
        found += [_command(name, said.get(name)) for name in VENDORS]
    return found


def terms_json() -> list[dict[str, Any]]:
    """Return the vendors' notices that a person has to acknowledge before they are seated."""
    return [
        {"provider": f"cli:{vendor.name}", "notice": vendor.terms, "url": _url(vendor)}
        for vendor in VENDORS.values()
        if vendor.terms
    ]


def _built_in(name: str) -> dict[str, Any]:
    models, detail = _BUILT_IN[name]
    return {"name": name, "models": models, "efforts": [], "ready": True, "detail": detail}


def _api(vendor: str, keys: tuple[str, ...]) -> dict[str, Any]:
    detail = f"a key is in {next(key for key in keys if os.environ.get(key))}; the brief goes there"
    models = [f"{vendor}:MODEL"]
    return {
        "name": vendor, "models": models, "efforts": list(EFFORTS), "ready": True, "detail": detail
    }  # fmt: skip


def _command(name: str, said: dict[str, Any] | None) -> dict[str, Any]:
    known = {"ready": None, "detail": "not checked yet; status --refresh does, without a call"}
    return {
        "name": f"cli:{name}",
        "models": [f"cli:{name}", f"cli:{name}/MODEL"],
        "efforts": list(EFFORTS),
        **(said or known),
    }


def _has(keys: tuple[str, ...]) -> bool:
    return any(os.environ.get(key) for key in keys)


def _url(vendor: object) -> str | None:
    url = getattr(vendor, "terms_url", None)
    return str(url) if url else None


def _checked() -> dict[str, Any]:
    found = {}
    for name in VENDORS:
        provider = CliProvider.of_seat(Seat("check", model=f"cli:{name}"))
        said = runner().run_blocking(lambda job, provider=provider: readiness(provider))
        found[name] = {
            "ready": said.ready,
            "version": said.version,
            "detail": said.detail,
            "next_step": said.next_step,
            "checked_at": time.time_ns() // 1_000_000,
        }
    with contextlib.suppress(OSError):  # a cache only
        _cache().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _cache().write_text(json.dumps(found), encoding="utf-8")
    return found


def _cached() -> dict[str, Any]:
    try:
        found = json.loads(_cache().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _cache() -> Path:
    return store_path(None).parent / _CACHE
