"""Pydantic AI's models and the connections behind them: one pool per account and event loop.

Loads the client libraries; only `api_doors.load_heavy` imports it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from rt_notebook.errors import SeatError, one_line
from rt_notebook.providers.api_doors import COMPATIBLE, Door
from rt_notebook.providers.base import Call
from rt_notebook.providers.prices import UNLISTED
from rt_notebook.providers.redaction import redact

SLACK_S: Final = 60.0
"""Seconds that the client library's own timeout lies behind the call's, which counts."""

# What Pydantic AI calls a vendor's chat interface, where it isn't the model string's prefix.
_KINDS: Final = {COMPATIBLE: "openai-chat"}

_KEY_ARGUMENTS: Final = ("api_key", "token")
_URL_ARGUMENTS: Final = ("base_url", "azure_endpoint", "api_base")

# Vendors that keep answers for later calls unless told not to; nothing here reads them again.
_STORING: Final = frozenset({"openai", "openai-responses", "azure-responses"})

_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Provider[Any]]] = WeakKeyDictionary()


def has_vendor(vendor: str) -> bool:
    """Return whether the client library of a vendor is installed."""
    try:
        infer_provider_class(vendor)
    except (ImportError, ValueError):
        return False
    return True


class Line:
    """A model, and a share in its account's connections.

    Args:
        door: where the calls go.

    Raises:
        SeatError: the model can't be made from what the door says.
    """

    def __init__(self, door: Door) -> None:
        pool = _pools.setdefault(asyncio.get_running_loop(), {})
        if door.account not in pool:
            pool[door.account] = _explained(lambda: _vendor(door), door)
        self._vendor = pool[door.account]
        self.door = door
        name = f"{_KINDS.get(door.vendor, door.vendor)}:{door.model}"
        self.model: Model = _explained(lambda: infer_model(name, lambda _: self._vendor), door)

    async def open(self) -> None:
        """Take a share in the connections; the first one opens them."""
        await self._vendor.__aenter__()

    async def close(self) -> None:
        """Give the share back; the last one closes the connections."""
        await self._vendor.__aexit__(None, None, None)


def check_model(door: Door) -> Model:
    """Return a model, made only to see that it can be; nothing is called.

    Raises:
        SeatError: it can't.
    """
    name = f"{_KINDS.get(door.vendor, door.vendor)}:{door.model}"
    model: Model = _explained(lambda: infer_model(name, lambda _: _vendor(door)), door)
    return model


def settings_of(call: Call, model: Model, door: Door) -> ModelSettings:
    """Return a call's settings in Pydantic AI's words.

    The client libraries' own retries are off: a call's tries are the engine's, who counts them.
    """
    settings: dict[str, Any] = {
        "max_retries": 0,
        "timeout": call.deadline_s + SLACK_S,
        # The stable part of a prompt comes first: later rounds read it from the cache.
        "cache": True,
        # The prompts have markers of their own; Pydantic AI's words about its markers stay out.
        "framing_announcement": "never",
    }
    for ours, theirs in (
        ("effort", "thinking"),
        ("temperature", "temperature"),
        ("max_tokens", "max_tokens"),
    ):
        if (value := call.settings.get(ours)) is not None:
            settings[theirs] = value
    if door.vendor in UNLISTED and "max_tokens" in settings:
        # Servers of somebody's own know OpenAI's older name for it; Ollama and llama.cpp's Python
        # server pass over the newer one without a word, and then nothing ends a babbling model.
        settings["extra_body"] = {"max_tokens": settings.pop("max_tokens")}
    if door.vendor in _STORING and not call.tools:  # a tool's round refers to what was kept
        settings["openai_store"] = False
    for name in ("max_retries", "timeout"):
        if name in model.unsupported_settings:
            del settings[name]
    return cast(ModelSettings, settings)  # a vendor's own key may be among them


def _vendor(door: Door) -> Provider[Any]:
    if door.vendor == COMPATIBLE:
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        return OpenAICompatibleProvider(COMPATIBLE, base_url=door.base_url or "", api_key=door.key)
    made = infer_provider_class(door.vendor)
    known = inspect.signature(made).parameters
    arguments: dict[str, Any] = {}
    if door.key is not None:
        arguments |= _first(_KEY_ARGUMENTS, known, door.key)
    named = _first(_URL_ARGUMENTS, known, door.base_url) if door.base_url else {}
    provider = made(**arguments, **named)
    if door.base_url and not named:
        _redirect(provider, door)
    return provider


def _first(names: tuple[str, ...], known: Any, value: object) -> dict[str, Any]:
    return next(({name: value} for name in names if name in known), {})


def _redirect(provider: Provider[Any], door: Door) -> None:
    """Point a client at another server, where its vendor's class has no argument for that."""
    if not hasattr(provider.client, "base_url"):
        raise SeatError(f"{door.vendor!r} takes no base_url; leave it out")
    provider.client.base_url = door.base_url


def _explained(make: Callable[[], Any], door: Door) -> Any:
    """Return what `make` makes; what the client libraries say against it becomes one line."""
    try:
        return make()
    except (UserError, ValueError, TypeError, ImportError) as exc:
        text = one_line(redact(str(exc), door.secrets), 500)
        raise SeatError(f"model '{door.vendor}:{door.model}' can't be used: {text}") from None
