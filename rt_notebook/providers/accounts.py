"""Who shares a limit: the seats of one vendor and account, over all debates of an event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from rt_notebook.providers.base import Call, Completion, Progress, Provider
from rt_notebook.providers.policies import Limited, Limiter

API_CONCURRENCY: Final = 16
"""Calls at a time at one account of a model API."""

CLI_CONCURRENCY: Final = 4
"""Calls at a time at one account of an agent's command."""


@dataclass(frozen=True)
class Account:
    """A vendor and one of a person's accounts there, with what it allows."""

    vendor: str
    """The model string's prefix, for a command with its name: `cli:claude`."""
    name: str | None = None
    """The account; None: the default one."""
    max_concurrency: int | None = API_CONCURRENCY
    """Calls at a time; None: no bound."""
    per_minute: int | None = None
    """Calls a minute; None: no bound."""


_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str | None], Limiter]] = (
    WeakKeyDictionary()
)


def limiter_of(account: Account) -> Limiter:
    """Return the limiter of an account on the running loop; its first user sets the bounds."""
    known = _limiters.setdefault(asyncio.get_running_loop(), {})
    key = account.vendor, account.name
    if key not in known:
        known[key] = Limiter(account.max_concurrency, account.per_minute)
    return known[key]


class OnAccount:
    """A provider whose calls go through the limiter of its account.

    Args:
        provider: who answers.
        account: whose limits hold.
    """

    queues = True
    """A call may wait before it begins."""

    def __init__(self, provider: Provider, account: Account) -> None:
        self._provider = provider
        self._account = account

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call once it is its turn.

        Raises:
            CallError: with its kind, when there is no answer.
        """
        # Made late: a limiter belongs to a loop, and a provider may be made before there is one.
        return await Limited(self._provider, limiter_of(self._account)).complete(call, progress)

    async def aclose(self) -> None:
        """Let the provider give its connections back."""
        provider: Any = self._provider
        if hasattr(provider, "aclose"):
            await provider.aclose()
