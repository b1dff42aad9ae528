"""Helpers: one seat at each vendor's API, asked over the real client libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rt_notebook.errors import CallError
from rt_notebook.providers.api import ApiProvider, api_provider
from rt_notebook.providers.api_doors import Door, open_door
from rt_notebook.providers.base import Call, Completion, Message
from tests.wire.script import Asked, Say
from tests.wire.server import WireServer

CANARY = "sk-canary-5f3a9b7c1d2e4f60"
"""The key of every seat; it may stand nowhere but in the request's header."""

MODELS = {
    "chat": "openai-chat:gpt-4o",
    "responses": "openai:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-6",
    "google": "google:gemini-2.5-pro",
}
"""A model by wire format."""

VENDORS = tuple(MODELS)


@dataclass
class Sitting:
    """Seats at the loopback server."""

    wire: WireServer
    environ: Mapping[str, str]
    progress: list[int] = field(default_factory=list)
    providers: dict[str, ApiProvider] = field(default_factory=dict)

    def door(self, vendor: str) -> Door:
        """Returns the door of a vendor's seat."""
        return open_door(
            MODELS[vendor],
            seat="Ada",
            base_url=self.wire.base_url(vendor),
            api_key_env="THE_KEY",
            environ=self.environ,
        )

    def provider(self, vendor: str) -> ApiProvider:
        """Returns the provider of a vendor's seat, made once."""
        if vendor not in self.providers:
            self.providers[vendor] = api_provider(
                MODELS[vendor],
                seat="Ada",
                base_url=self.wire.base_url(vendor),
                api_key_env="THE_KEY",
                environ=self.environ,
            )
        return self.providers[vendor]

    async def ask(
        self,
        vendor: str,
        *,
        messages: Sequence[Message] = (Message("system", "Be brief."), Message("user", "Why?")),
        tools: Sequence[Callable[..., Any]] = (),
        **settings: Any,
    ) -> Completion:
        """Asks a vendor's seat once."""
        self.progress.clear()
        call = Call(messages, "Ada", 0, "opening", settings, tools, 30.0)
        return await self.provider(vendor).complete(call, self.progress.append)

    async def ask_ready(self, vendor: str) -> None:
        """Loads a vendor's library and opens its client, which outlasts a short deadline."""
        with self.wire.saying(Say()):
            await self.ask(vendor)
        self.wire.asked.clear()
        self.progress.clear()

    async def fail(self, vendor: str, **options: Any) -> CallError:
        """Asks a vendor's seat once, and returns how it failed."""
        try:
            answer = await self.ask(vendor, **options)
        except CallError as error:
            return error
        raise AssertionError(f"{vendor} answered {answer.text!r}")

    @property
    def last(self) -> Asked:
        """The last request that the server saw."""
        return self.wire.asked[-1]

    async def close(self) -> None:
        """Gives the connections back."""
        for provider in self.providers.values():
            await provider.aclose()
