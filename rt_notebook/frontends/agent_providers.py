"""What can sit in a seat here, as `agent status` tells it; asks no model.

Owns the cache of what the vendors' free checks said: they take seconds, a status mustn't.
"""

from __future__ import annotations

import contextlib
import json
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rt_notebook.config import load_config, seat_table
from rt_notebook.domain.seat import Seat
from rt_notebook.engine.job import Job
from rt_notebook.engine.runner import runner
from rt_notebook.providers.api_doors import INSTALL, KEY_VARIABLES, has_key
from rt_notebook.providers.cli.provider import CliProvider
from rt_notebook.providers.cli.readiness import Readiness, readiness
from rt_notebook.providers.cli.vendors import VENDORS
from rt_notebook.providers.prices import listed_models
from rt_notebook.providers.registry import DOORS
from rt_notebook.store import store_path

EFFORTS: Final = ("low", "medium", "high")
"""A seat's efforts; each provider maps them to what it has."""

USUAL: Final = ("openai", "anthropic", "google", "openrouter")
"""The model APIs that are told even where there is no key."""

_SHOWN_MODELS: Final = 8
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
    found += [_api(vendor) for vendor in KEY_VARIABLES if has_key(vendor) or vendor in USUAL]
    if "cli" in DOORS:
        said = _checked() if refresh else _cached()
        found += [_command(name, said.get(name)) for name in VENDORS]
    return found


def seats_json() -> list[dict[str, Any]]:
    """Return the seats that can be named here: name, model, lens, mood, effort, source, problem."""
    names = ("name", "model", "lens", "mood", "effort", "source", "problem")
    return [{name: row.get(name) for name in names} for row in seat_table(load_config(), {})]


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


def _api(vendor: str) -> dict[str, Any]:
    variables = " or ".join(KEY_VARIABLES[vendor])
    ready = has_key(vendor) and find_spec("pydantic_ai") is not None
    detail = f"pays by the key in {variables}" if ready else f"set {variables}; {INSTALL}"
    models = [f"{vendor}:{model}" for model in listed_models(vendor)[:_SHOWN_MODELS]]
    return {
        "name": vendor,
        "models": [f"{vendor}:MODEL", *models],
        "efforts": list(EFFORTS),
        "ready": ready,
        "detail": detail,
    }


def _command(name: str, said: dict[str, Any] | None) -> dict[str, Any]:
    known = {"ready": None, "detail": "not checked yet; status --refresh does, without a call"}
    return {
        "name": f"cli:{name}",
        "models": [f"cli:{name}", f"cli:{name}/MODEL"],
        "efforts": list(EFFORTS),
        **(said or known),
    }


def _url(vendor: object) -> str | None:
    url = getattr(vendor, "terms_url", None)
    return str(url) if url else None


def _checked() -> dict[str, Any]:
    found = {}
    for name in VENDORS:
        provider = CliProvider.of_seat(Seat("check", model=f"cli:{name}"))
        said = runner().run_blocking(partial(_readiness, provider))
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


async def _readiness(provider: CliProvider, job: Job[Readiness]) -> Readiness:
    return await readiness(provider)


def _cached() -> dict[str, Any]:
    try:
        found = json.loads(_cache().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _cache() -> Path:
    return store_path(None).parent / _CACHE
