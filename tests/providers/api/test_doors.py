"""Which model strings mean an API seat, and what is said to those that can't be one."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest
from pydantic_ai.providers import infer_provider_class

from rt_notebook.errors import MissingExtraError, SeatError
from rt_notebook.providers.api import check_api
from rt_notebook.providers.api_doors import (
    COMPATIBLE,
    OLLAMA_URL,
    OWN_LOGINS,
    PREFIXES,
    is_api,
    open_door,
)
from tests.environment import ROOT

# Known to Pydantic AI, but no seat: these make vectors or verdicts, need another command's login or
# a service's own sign-in, or are retired.
NO_SEATS = {
    "elevenlabs",
    "github",
    "github-copilot",
    "google-decisions",
    "openai-chatgpt",
    "openai-codex",
    "openai-decisions",
    "sentence-transformers",
    "system-one",
    "typesafe",
    "voyageai",
    "bedrock-mantle",
}
KEYED = {"K": "sk-canary-0123456789"}


def _known_to_pydantic_ai() -> set[str]:
    tree = ast.parse(inspect.getsource(infer_provider_class))
    return {
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.MatchValue)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def test_prefixes_are_those_of_pydantic_ai() -> None:
    assert _known_to_pydantic_ai() - NO_SEATS == PREFIXES - {COMPATIBLE}


@pytest.mark.parametrize("prefix", ["openai", "anthropic", "google", "ollama", COMPATIBLE])
def test_vendors_are_api_prefixes(prefix: str) -> None:
    assert is_api(prefix)


@pytest.mark.parametrize("prefix", ["scripted", "python", "human", "cli", "replay", "function"])
def test_own_prefixes_are_no_apis(prefix: str) -> None:
    assert not is_api(prefix)


def test_model_name_is_needed() -> None:
    with pytest.raises(
        SeatError, match=r"seat 'Ada': model 'openai' names no model; write 'openai:"
    ):
        open_door("openai", seat="Ada", environ={})


def test_compatible_server_needs_its_address() -> None:
    with pytest.raises(SeatError, match="'openai-compatible' needs base_url, e"):
        open_door(f"{COMPATIBLE}:x", environ={})


def test_address_must_be_one() -> None:
    with pytest.raises(SeatError, match="base_url 'localhost:80' isn't of the form"):
        open_door(f"{COMPATIBLE}:x", base_url="localhost:80", environ={})


def test_ollama_is_sought_at_its_port() -> None:
    assert open_door("ollama:qwen3", environ={}).base_url == OLLAMA_URL


def test_ollamas_own_variable_comes_first() -> None:
    found = open_door("ollama:qwen3", environ={"OLLAMA_BASE_URL": "http://elsewhere:1"})
    assert found.base_url is None, "Pydantic AI reads the variable"


@pytest.mark.parametrize("prefix", ["openai-codex", "openai-chatgpt"])
def test_other_commands_login_is_not_read(prefix: str) -> None:
    with pytest.raises(SeatError, match="seat the command: 'cli:codex'"):
        open_door(f"{prefix}:gpt-5", environ={})


@pytest.mark.parametrize("prefix", ["groq", "mistral", "cohere", "huggingface", "bedrock"])
def test_vendor_without_library_names_command(prefix: str) -> None:
    try:
        infer_provider_class(prefix)
    except ImportError:
        with pytest.raises(MissingExtraError) as caught:  # noqa: PT011  (compared below)
            check_api(f"{prefix}:m", seat="Ada", api_key_env="K", environ=KEYED)
        assert str(caught.value) == (
            f"seat 'Ada': '{prefix}' needs its client library: "
            f'pip install "pydantic-ai-slim[{prefix}]"'
        )
    else:
        pytest.skip(f"the library of {prefix} is installed here")


@pytest.mark.parametrize(
    "prefix",
    sorted(
        PREFIXES
        - {COMPATIBLE, *OWN_LOGINS}
        - {"groq", "mistral", "cohere", "huggingface", "xai", "azure", "azure-responses"}
        - {"snowflake"}  # needs an account's name too
    ),
)
def test_every_vendor_takes_key_and_address(prefix: str) -> None:
    model = f"{prefix}:openai/gpt-4o"  # routers want the maker before the name
    check_api(model, base_url="http://127.0.0.1:9/v1", api_key_env="K", environ=KEYED)


def test_what_is_missing_is_one_line() -> None:
    with pytest.raises(SeatError, match="model 'azure:m' can't be used: ") as caught:
        check_api("azure:m", seat="Ada", api_key_env="K", environ=KEYED)
    assert "\n" not in str(caught.value)


BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pydantic_ai", "genai_prices", "openai", "anthropic", "google"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
import rt_notebook
from rt_notebook.errors import MissingExtraError
from rt_notebook.providers.api import check_api, api_provider
from rt_notebook.providers.prices import price_of
for make in (check_api, api_provider):
    try:
        make("anthropic:claude-sonnet-4-6", seat="Ada", environ={"ANTHROPIC_API_KEY": "sk-x"})
    except MissingExtraError as error:
        print(error)
print(price_of("anthropic:claude-sonnet-4-6"), price_of("scripted"))
"""

LIGHT = """
import sys
import rt_notebook.providers.api, rt_notebook.providers.prices, rt_notebook.providers.research
from rt_notebook.providers.api_doors import is_api
assert is_api("openai")
print([name for name in sys.modules if name.split(".")[0] in
       {"pydantic_ai", "genai_prices", "openai", "anthropic", "google", "httpx", "httpx2"}])
"""


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_missing_extra_names_pip_command() -> None:
    line = (
        "seat 'Ada': model APIs need an extra package (pydantic_ai): "
        'pip install "rt-notebook[api]"\n'
    )
    assert _run(BLOCKED) == line + line + "None Price(input=0.0, output=0.0)\n"


def test_nothing_heavy_loads_before_first_use() -> None:
    assert _run(LIGHT) == "[]\n"
