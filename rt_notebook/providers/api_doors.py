"""Which vendors' APIs can be seated, where their keys come from, and whether a seat has one.

Nothing heavy is loaded here: the client libraries come with the first seat that needs them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rt_notebook.errors import MissingExtraError, SeatError

COMPATIBLE: Final = "openai-compatible"
"""Any server that speaks OpenAI's chat completions; needs a `base_url`."""

OLLAMA_URL: Final = "http://localhost:11434/v1"
"""Where Ollama listens by default."""

INSTALL: Final = 'pip install "rt-notebook[api]"'
"""The command that installs what API seats need."""

_OPENAI: Final = ("OPENAI_API_KEY",)

KEY_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "alibaba": ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "azure-responses": ("AZURE_OPENAI_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("CO_API_KEY",),
    "crusoe": ("CRUSOE_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "heroku": ("HEROKU_INFERENCE_KEY",),
    "huggingface": ("HF_TOKEN",),
    "meta": ("META_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "ovhcloud": ("OVHCLOUD_API_KEY",),
    "sambanova": ("SAMBANOVA_API_KEY",),
    "snowflake": ("SNOWFLAKE_TOKEN",),
    "together": ("TOGETHER_API_KEY",),
    "vercel": ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
}
"""The variables that hold a vendor's key, best first; the first is the one to name to people."""

OPTIONAL_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    COMPATIBLE: (),
    "ollama": ("OLLAMA_API_KEY",),
    "vllm": ("VLLM_API_KEY",),
    "litellm": (),
}
"""Servers that may ask for no key, and the variables of those that do."""

OWN_LOGINS: Final = frozenset({"bedrock", "google-cloud"})
"""Vendors whose credentials aren't one key; their client libraries find them."""

# Which extra of pydantic-ai-slim brings the library of a vendor that the extra `api` leaves out.
_OTHER_EXTRAS: Final = {
    "bedrock": "bedrock",
    "cohere": "cohere",
    "groq": "groq",
    "huggingface": "huggingface",
    "mistral": "mistral",
    "xai": "xai",
}

# Seats of these would read the login of another command; the command itself can be seated.
_BY_COMMAND: Final = {
    "openai-chatgpt": "cli:codex",
    "openai-codex": "cli:codex",
}

PREFIXES: Final = frozenset({*KEY_VARIABLES, *OPTIONAL_KEYS, *OWN_LOGINS})
"""Every prefix of a model string that means an API seat."""


@dataclass(frozen=True)
class Door:
    """Where a seat's calls go and what pays for them."""

    vendor: str
    """The model string's prefix."""
    model: str
    """The model as the vendor names it."""
    base_url: str | None = None
    """Another server than the vendor's."""
    key: str | None = field(default=None, repr=False)
    """The key, or None where the client library finds its own credentials, or needs none."""
    key_variable: str | None = None
    """The environment variable that the key came from."""

    @property
    def account(self) -> tuple[str, str | None, str | None]:
        """What seats have in common that share connections: vendor, server and key."""
        return self.vendor, self.base_url, self.key

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no text may show."""
        return (self.key,) if self.key else ()


def is_api(prefix: str) -> bool:
    """Return whether a model string's prefix means an API seat."""
    return prefix in PREFIXES or prefix in _BY_COMMAND


def has_key(vendor: str, named: str | None = None) -> bool:
    """Return whether the environment holds a key for a vendor's seat.

    Args:
        vendor: the model string's prefix.
        named: the variable that holds it; None: the vendor's usual ones.
    """
    usual = KEY_VARIABLES.get(vendor, OPTIONAL_KEYS.get(vendor, ()))
    return any(os.environ.get(name, "").strip() for name in ((named,) if named else usual))


def open_door(
    model: str,
    *,
    seat: str = "",
    base_url: str | None = None,
    api_key_env: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Door:
    """Return where a seat's calls go, with its key; nothing is called.

    Args:
        model: the seat's model string.
        seat: the seat's name, for messages.
        base_url: another server than the vendor's.
        api_key_env: the variable that holds the key; None: the vendor's usual one.
        environ: the environment; None: this process's.

    Raises:
        SeatError: the model, its server or its key is missing.
        MissingExtraError: the vendor's client library isn't installed.
    """
    vendor, _, name = model.partition(":")
    if vendor in _BY_COMMAND:
        raise SeatError(
            f"{_whose(seat)}{vendor!r} would read another command's login; "
            f"seat the command: {_BY_COMMAND[vendor]!r}"
        )
    if not name:
        raise SeatError(f"{_whose(seat)}model {model!r} names no model; write '{vendor}:MODEL'")
    if base_url is None:
        base_url = _default_url(vendor, seat, environ or os.environ)
    elif not base_url.startswith(("http://", "https://")):
        raise SeatError(f"{_whose(seat)}base_url {base_url!r} isn't of the form 'https://…'")
    require_extra(vendor, seat)
    key, variable = _key(vendor, seat, api_key_env, environ or os.environ)
    return Door(vendor, name, base_url, key, variable)


def require_extra(vendor: str = "", seat: str = "") -> None:
    """Check that API seats can be used, and load what they need.

    Raises:
        MissingExtraError: a package is missing; the message has the command that installs it.
    """
    models = load_heavy("rt_notebook.providers.api_models", seat)
    if vendor and vendor != COMPATIBLE and not models.has_vendor(vendor):
        extra = _OTHER_EXTRAS.get(vendor, vendor)
        raise MissingExtraError(
            f"{_whose(seat)}{vendor!r} needs its client library: "
            f'pip install "pydantic-ai-slim[{extra}]"'
        )


def load_heavy(module: str, seat: str = "") -> Any:
    """Return a module that imports the client libraries.

    Raises:
        MissingExtraError: the extra `api` isn't installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        if exc.name is not None and exc.name.startswith("rt_notebook"):
            raise
        raise MissingExtraError(
            f"{_whose(seat)}model APIs need an extra package ({exc.name or exc}): {INSTALL}"
        ) from exc


def _default_url(vendor: str, seat: str, environ: Mapping[str, str]) -> str | None:
    if vendor == COMPATIBLE:
        raise SeatError(
            f"{_whose(seat)}{COMPATIBLE!r} needs base_url, e.g. 'http://localhost:8000/v1'"
        )
    if vendor == "ollama" and not environ.get("OLLAMA_BASE_URL"):
        return OLLAMA_URL
    return None


def _key(
    vendor: str, seat: str, named: str | None, environ: Mapping[str, str]
) -> tuple[str | None, str | None]:
    usual = KEY_VARIABLES.get(vendor, OPTIONAL_KEYS.get(vendor, ()))
    for variable in (named,) if named else usual:
        # A line break at the end, left by a paste, would break the header that carries it.
        if value := environ.get(variable, "").strip():
            return value, variable
    if named or vendor in KEY_VARIABLES:
        variable = named or usual[0]
        raise SeatError(
            f"{_whose(seat)}no key: set the environment variable {variable}, "
            "or name another one with api_key_env",
            variable=variable,
        )
    return None, None


def _whose(seat: str) -> str:
    return f"seat {seat!r}: " if seat else ""
