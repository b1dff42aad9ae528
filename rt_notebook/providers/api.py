"""Model APIs in a seat; the client libraries are loaded by the first seat that needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rt_notebook.errors import CallError, SeatError
from rt_notebook.providers.api_doors import Door, load_heavy, open_door
from rt_notebook.providers.base import Call, Completion, Progress


class ApiProvider:
    """Answers calls over a vendor's API.

    Seats of one account share their connections, per event loop. `aclose` gives them back; the last
    seat closes them.

    Args:
        door: where the calls go, with the key.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._line: Any = None
        self._is_open = False

    def __repr__(self) -> str:
        """Show vendor and model, no key."""
        return f"ApiProvider({self._door.vendor}:{self._door.model})"

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Answer one call, streamed.

        Raises:
            CallError: with its kind, when there is no answer.
        """
        try:
            if self._line is None:
                self._line = load_heavy("rt_notebook.providers.api_models").Line(self._door)
            exchange = load_heavy("rt_notebook.providers.api_calls").Exchange(
                self._line, call, progress
            )
        except SeatError as exc:  # what `check_api` would have said before the debate
            raise CallError(str(exc), kind="provider") from exc
        if not self._is_open:
            self._is_open = True  # before the await: calls of one seat may overlap
            await self._line.open()
        answer: Completion = await exchange.run()
        return answer

    async def aclose(self) -> None:
        """Give the connections back; a later call takes them again."""
        if self._is_open:
            self._is_open = False
            await self._line.close()


def api_provider(
    model: str,
    *,
    seat: str = "",
    base_url: str | None = None,
    api_key_env: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> ApiProvider:
    """Return the provider of an API seat; nothing is called. The arguments are `open_door`'s.

    Raises:
        SeatError: the model, its server or its key is missing.
        MissingExtraError: the client libraries aren't installed.
    """
    return ApiProvider(
        open_door(model, seat=seat, base_url=base_url, api_key_env=api_key_env, environ=environ)
    )


def check_api(
    model: str,
    *,
    seat: str = "",
    base_url: str | None = None,
    api_key_env: str | None = None,
    tools: Sequence[Callable[..., Any]] = (),
    environ: Mapping[str, str] | None = None,
) -> None:
    """Check, before any call, that a seat can sit at an API: libraries, model, server, key, tools.

    It takes a second or two the first time, because it loads the client libraries.

    Args:
        model: the seat's model string.
        seat: the seat's name, for messages.
        base_url: another server than the vendor's.
        api_key_env: the variable that holds the key; None: the vendor's usual one.
        tools: functions that the model may call.
        environ: the environment; None: this process's.

    Raises:
        SeatError: something is missing or can't be used.
        MissingExtraError: the client libraries aren't installed.
    """
    door = open_door(model, seat=seat, base_url=base_url, api_key_env=api_key_env, environ=environ)
    load_heavy("rt_notebook.providers.api_models").check_model(door)
    load_heavy("rt_notebook.providers.api_tools").Toolbox(tools, seat)
