"""What a seat needs before its command is run: the program, consents, an account, a key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rt_notebook.domain.seat import Seat
from rt_notebook.errors import SeatError
from rt_notebook.providers.base import Message
from rt_notebook.providers.cli.provider import CliProvider, check_seat
from rt_notebook.providers.cli.readiness import readiness
from rt_notebook.providers.cli.vendor import one_text
from rt_notebook.providers.consents import Consents
from tests.providers.cli.fakes import fake, provider_of

KEY = "sk-planted-0123456789"


def test_missing_command_names_the_places() -> None:
    seat = Seat("Critic", model="cli:codex/gpt-5.5")
    with pytest.raises(
        SeatError, match="seat 'Critic': the command 'codex' isn't on PATH"
    ) as caught:
        check_seat(seat, parent={"PATH": os.pathsep.join(["/first", "/second"])})
    assert "(/first, /second); install it: npm install -g @openai/codex" in str(caught.value)


def test_command_beside_path_is_pointed_at(tmp_path: Path) -> None:
    for place in (".local/bin", ".nvm/versions/node/v20.1.0/bin"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        program = fake(folder, "", "codex")
        parent = {"PATH": "/first", "HOME": str(tmp_path)}
        with pytest.raises(SeatError, match=r"isn't on PATH \(/first\); it is in ") as caught:
            check_seat(Seat("Critic", model="cli:codex"), parent=parent)
        assert f"it is in {folder}: start Jupyter from a terminal" in str(caught.value)
        assert f"os.environ['PATH'] += ':{folder}'" in str(caught.value)
        # What is said there helps.
        check_seat(Seat("Critic", model="cli:codex"), parent={**parent, "PATH": f"/first:{folder}"})
        program.unlink()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("cli:claud", "no command is known as 'cli:claud'; did you mean 'claude'?"),
        ("cli:", "no command is known as 'cli:'"),
        ("cli:claude/--yolo", "can't be the name of a model"),
        ("cli:claude/a b", "can't be the name of a model"),
    ],
)
def test_bad_model_strings_are_told(model: str, words: str) -> None:
    with pytest.raises(SeatError, match="seat 'Critic'") as caught:
        check_seat(Seat("Critic", model=model))
    assert words in str(caught.value)


def test_antigravity_needs_both_consents(tmp_path: Path) -> None:
    seat = Seat("Critic", model="cli:antigravity")
    fake(tmp_path, "", "agy")
    parent = {"PATH": str(tmp_path)}
    with pytest.raises(SeatError, match=r"Google's terms for Antigravity warn") as caught:
        check_seat(seat, parent=parent)
    assert "acknowledge_terms=['antigravity']" in str(caught.value)
    with pytest.raises(SeatError, match="allow_limited_isolation=True"):
        check_seat(seat, parent=parent, consents=Consents(acknowledge_terms=("antigravity",)))
    both = Consents(allow_limited_isolation=True, acknowledge_terms=("antigravity",))
    provider = check_seat(seat, parent=parent, consents=both)
    assert "cli:antigravity: it was never tried with this version" in provider.warnings()


def test_paying_by_key_needs_the_key(tmp_path: Path) -> None:
    program = fake(tmp_path, "")
    with pytest.raises(SeatError, match="needs a key in GEMINI_API_KEY; there is none"):
        provider_of(program, "gemini", api_billing=True).check()
    with pytest.raises(SeatError, match="needs a key in OPENROUTER_API_KEY"):
        provider_of(program, "opencode", model="openrouter/x", api_billing=True).check()
    parent = {"MY_KEY": KEY}
    provider = provider_of(program, api_billing=True, api_key_env="MY_KEY", parent=parent)
    provider.check()
    assert (provider.auth, provider_of(program).auth) == ("key", "login")


def test_settings_that_cannot_be_told_are_named(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"temperature": 0.2, "effort": "low", "max_tokens": None}
    found = provider_of(fake(tmp_path, ""), "codex").warnings(settings)
    assert "cli:codex: temperature is ignored, the command can't be told" in found
    assert "cli:codex: AGENTS.md in its state folder reaches the model" in found
    assert not any("effort" in line or "max_tokens" in line for line in found)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("vendor", "says", "ready"),
    [
        ("claude", """'{"loggedIn": true, "authMethod": "claude.ai"}'""", True),
        ("claude", """'{"loggedIn": false, "authMethod": "none"}'""", False),
        ("codex", "'Logged in using ChatGPT'", True),
        ("opencode", r"'\x1b[0mCredentials\n2 credentials'", True),
        ("opencode", r"'\x1b[0mCredentials\n0 credentials'", False),
        ("gemini", "''", None),
    ],
)
async def test_readiness_asks_the_command_alone(
    tmp_path: Path, vendor: str, says: str, ready: bool | None
) -> None:
    body = f'say("the version is 1.22.333" if "--version" in sys.argv else {says})'
    found = await readiness(provider_of(fake(tmp_path, body), vendor))
    assert (found.ready, found.version, found.auth) == (ready, "1.22.333", "login")
    assert bool(found.next_step) == (ready is not True)


@pytest.mark.asyncio
async def test_readiness_of_a_missing_command(tmp_path: Path) -> None:
    found = await readiness(CliProvider("claude", parent={"PATH": str(tmp_path)}))
    assert (found.program, found.ready, found.detail) == (None, False, "not found")
    assert found.next_step == "npm install -g @anthropic-ai/claude-code"


def test_prompt_of_several_messages_is_one_text() -> None:
    system, prompt = one_text(
        [
            Message("system", "Be careful."),
            Message("user", "What do you say?"),
            Message("assistant", "Yes"),
            Message("user", "Write it in the form asked for."),
        ]
    )
    assert system == "Be careful."
    assert prompt == (
        "What do you say?\n\nYour answer to that was:\n\nYes\n\n(End of your answer.)\n\n"
        "Write it in the form asked for."
    )
    assert one_text([Message("user", "Just this.")]) == ("", "Just this.")
