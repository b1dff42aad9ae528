"""A seat that runs a command: from the call to the completion, or to an error to act on."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from pathlib import Path

import pytest

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError, SeatError
from rt_notebook.providers.base import Call, Completion, Message, Provider
from rt_notebook.providers.cli.environment import account_home
from rt_notebook.providers.cli.provider import CliProvider
from rt_notebook.providers.policies import complete_bounded
from tests.providers.cli.fakes import alive, call_of, eventually, fake, provider_of
from tests.providers.cli.test_environment import CANARY, KEYS, ROUTES, SESSION, loaded_parent

REPLY = (
    "Hello from the mock, a longer reply of several pieces, so that a cut falls in the middle of "
    "the text."
)
KEY = "sk-planted-0123456789"
PRINTS = """
import json
seen = {"environment": dict(os.environ), "argv": sys.argv[1:], "stdin": sys.stdin.read()}
answer = json.dumps(seen)
say(json.dumps({"type": "result", "is_error": False, "result": answer}) + "\\n")
"""


def _ignore(chars: int) -> None:
    return None


async def _asked(provider: CliProvider, call: Call | None = None) -> Completion:
    return await provider.complete(call or call_of(), _ignore)


async def _failed(provider: CliProvider, call: Call | None = None) -> CallError:
    with pytest.raises(CallError, match=r"^cli:") as caught:
        await _asked(provider, call)
    return caught.value


@pytest.mark.asyncio
@pytest.mark.parametrize("vendor", ["claude", "codex", "gemini", "opencode"])
async def test_every_vendors_answer_comes_back(tmp_path: Path, vendor: str) -> None:
    provider = provider_of(fake(tmp_path, f'replay("{vendor}/ok", 0.02)'), vendor)
    assert isinstance(provider, Provider)
    told: list[int] = []
    completion = await provider.complete(call_of(), told.append)
    assert completion.text == REPLY
    assert completion.usage is not None
    assert completion.usage.prompt_tokens in (1234, 1468)
    assert told
    assert max(told) == len(REPLY)
    assert completion.timings["first_output"] <= completion.timings["total"]


@pytest.mark.asyncio
async def test_nothing_of_the_parent_reaches_the_child(tmp_path: Path) -> None:
    parent = loaded_parent(tmp_path)
    provider = provider_of(fake(tmp_path, PRINTS), parent=parent)
    seen = json.loads((await _asked(provider)).text)["environment"]
    assert not {*SESSION, *KEYS, *ROUTES} & set(seen)
    assert CANARY not in json.dumps(seen)
    assert seen["HOME"] == str(tmp_path)
    assert seen["TMPDIR"].startswith(str(Path(seen["TMPDIR"]).parent))


@pytest.mark.asyncio
async def test_key_reaches_only_a_seat_that_pays_by_it(tmp_path: Path) -> None:
    parent = loaded_parent(tmp_path) | {"ANTHROPIC_API_KEY": KEY}
    provider = provider_of(
        fake(tmp_path, PRINTS), parent=parent, api_billing=True, base_url="http://127.0.0.1:9/v1"
    )
    seen = json.loads((await _asked(provider)).text)["environment"]
    assert [name for name, value in seen.items() if value == KEY] == ["ANTHROPIC_API_KEY"]
    assert CANARY not in json.dumps(seen)
    assert seen["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    # The user's own state has no part in it.
    assert str(tmp_path) not in (seen["HOME"], seen["CLAUDE_CONFIG_DIR"])
    assert KEY not in repr(provider)


@pytest.mark.asyncio
async def test_login_never_goes_to_a_foreign_endpoint(tmp_path: Path) -> None:
    parent = loaded_parent(tmp_path) | {"CLAUDE_CONFIG_DIR": str(tmp_path / "state")}
    program = fake(tmp_path, PRINTS)
    own = provider_of(program, parent=parent, base_url="http://127.0.0.1:9")
    seen = json.loads((await _asked(own)).text)["environment"]
    assert str(tmp_path) not in (seen["HOME"], seen["CLAUDE_CONFIG_DIR"])
    assert seen["ANTHROPIC_API_KEY"] == "no-key"
    usual = provider_of(program, parent=parent)
    seen = json.loads((await _asked(usual)).text)["environment"]
    assert seen["CLAUDE_CONFIG_DIR"] == str(tmp_path / "state")


@pytest.mark.asyncio
async def test_no_text_becomes_an_argument(tmp_path: Path) -> None:
    hostile = "--model evil\n$(touch x) `y` @/etc/passwd"
    call = Call(
        [Message("system", f"--append {hostile}"), Message("user", f"/{hostile}")],
        seat="Critic",
        round=0,
        purpose="opening",
        settings={"effort": "high", "temperature": 1.0, "max_tokens": 99},
    )
    seen = json.loads((await _asked(provider_of(fake(tmp_path, PRINTS)), call)).text)
    assert seen["stdin"] == f"\n/{hostile}"
    assert not any("evil" in word for word in seen["argv"])
    assert seen["argv"][seen["argv"].index("--effort") + 1] == "high"
    assert seen["environment"]["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
    assert seen["environment"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "99"


@pytest.mark.asyncio
async def test_secret_stays_out_of_errors(tmp_path: Path) -> None:
    body = 'say("bad key " + os.environ["ANTHROPIC_API_KEY"], sys.stderr)\nsys.exit(3)'
    parent = {"ANTHROPIC_API_KEY": KEY, "HTTPS_PROXY": "http://me:hunter22@proxy:1"}
    provider = provider_of(
        fake(tmp_path, body + "\n"), parent=parent, api_billing=True, model="opus"
    )
    error = await _failed(provider)
    assert error.kind == "protocol"
    assert "exited with code 3 without a final answer; it said: bad key [hidden]" in str(error)
    assert KEY not in repr(error) + str(error.facts)
    assert error.facts["seat"] == "Critic"
    assert error.facts["provider"] == "cli:claude"
    assert error.facts["model"] == "cli:claude/opus"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ('replay("gemini/hang_stream")\nforever()', "timeout", "no answer within"),
        ('say("x" * 9_000_000)', "output_limit", "longer than 8 MiB"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "protocol", "was ended by SIGSEGV"),
        ('say("boom " * 1000, sys.stderr)\nsys.exit(1)', "protocol", "boom boom"),
        ('replay("gemini/no_key")\nsay("no GEMINI_API_KEY", sys.stderr)\nsys.exit(41)', "auth",
         "log in with: gemini"),
    ],
)  # fmt: skip
async def test_bad_ends_are_told(tmp_path: Path, body: str, kind: str, words: str) -> None:
    provider = provider_of(fake(tmp_path, body), "gemini")
    error = await _failed(provider, call_of(deadline_s=3.0))
    assert error.kind == kind
    assert words in str(error)
    assert len(str(error)) < 3_100
    assert not alive(tmp_path)


@pytest.mark.asyncio
async def test_partial_text_survives_timeout_and_stall(tmp_path: Path) -> None:
    program = fake(tmp_path, 'replay("gemini/hang_stream")\nforever()')
    error = await _failed(provider_of(program, "gemini"), call_of(deadline_s=1.5))
    assert (error.kind, error.partial[:16]) == ("timeout", "Hello from the m")
    error = await _failed(provider_of(program, "gemini", stall_s=0.6))
    assert (error.kind, error.partial[:16]) == ("stall", "Hello from the m")


@pytest.mark.asyncio
async def test_reconnect_notices_are_no_progress(tmp_path: Path) -> None:
    body = (
        'replay("codex/hang")\n'
        "while True:\n"
        """    say('{"type":"error","message":"Reconnecting... 1/5 (x)"}\\n'); time.sleep(0.05)"""
    )
    error = await _failed(provider_of(fake(tmp_path, body), "codex", stall_s=0.7))
    assert error.kind == "stall"


@pytest.mark.asyncio
async def test_answer_of_a_child_that_stays_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignores = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    program = fake(tmp_path, ignores + 'replay("claude/ok")\nforever()')
    started = time.monotonic()
    assert (await _asked(provider_of(program))).text == REPLY
    assert 5 <= time.monotonic() - started < 5 + 2
    assert not alive(tmp_path)


@pytest.mark.asyncio
async def test_forbidden_tool_ends_the_call_at_once(tmp_path: Path) -> None:
    error = await _failed(provider_of(fake(tmp_path, 'replay("claude/tool_call")\nforever()')))
    assert error.kind == "tool_policy"
    assert "used the tool 'Bash'" in str(error)
    assert not alive(tmp_path)


@pytest.mark.asyncio
async def test_line_of_five_megabytes_and_split_characters(tmp_path: Path) -> None:
    body = """
import json
text = "é🐎" * 800_000
line = json.dumps({"type": "result", "is_error": False, "result": text}, ensure_ascii=False)
data = line.encode() + b"\\r\\n"
for place in range(0, len(data), 4093):
    say(data[place:place + 4093])
"""
    started = time.monotonic()
    assert (await _asked(provider_of(fake(tmp_path, body)))).text == "é🐎" * 800_000
    assert time.monotonic() - started < 10


@pytest.mark.asyncio
async def test_cancelled_seat_leaves_nothing(tmp_path: Path) -> None:
    there = tmp_path / "there"
    body = f"grandchild(True)\nopen({str(there)!r}, 'w').close()\nforever()"
    task = asyncio.create_task(_asked(provider_of(fake(tmp_path, body))))
    await eventually(there)
    task.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await task
    assert not alive(tmp_path)


@pytest.mark.asyncio
async def test_policies_bound_a_command_like_any_provider(tmp_path: Path) -> None:
    provider = provider_of(fake(tmp_path, "forever()"))
    with pytest.raises(CallError, match=r"no progress for 0\.5 s"):
        await complete_bounded(provider, call_of(), _ignore, stall_s=0.5)
    assert not alive(tmp_path)


@pytest.mark.asyncio
async def test_whoever_gives_a_call_up_keeps_what_had_come(tmp_path: Path) -> None:
    program = fake(tmp_path, 'replay("gemini/hang_stream")\nforever()')
    # Stopped from outside, before the command's own bounds do.
    with pytest.raises(CallError, match=r"no progress for 0\.6 s") as caught:
        await complete_bounded(provider_of(program, "gemini"), call_of(), _ignore, stall_s=0.6)
    assert (caught.value.kind, caught.value.partial[:16]) == ("stall", "Hello from the m")


@pytest.mark.asyncio
async def test_prompt_beyond_the_commands_limit_is_refused(tmp_path: Path) -> None:
    error = await _failed(provider_of(fake(tmp_path, ""), "codex"), call_of("x" * 1_100_000))
    assert error.kind == "context_length"
    assert "1,100,000 bytes" in str(error)


@pytest.mark.asyncio
@pytest.mark.parametrize(("case", "cost"), [("empty", 0.003153), ("length", 0.006306)])
async def test_failed_call_tells_what_it_cost(tmp_path: Path, case: str, cost: float) -> None:
    error = await _failed(provider_of(fake(tmp_path, f'replay("claude/{case}")')))
    assert error.usage.cost == pytest.approx(cost)


@pytest.mark.asyncio
async def test_functions_as_tools_are_refused(tmp_path: Path) -> None:
    error = await _failed(provider_of(fake(tmp_path, "")), call_of(tools=[len]))
    assert error.kind == "tool_policy"


@pytest.mark.asyncio
async def test_missing_command_fails_the_call_for_good(tmp_path: Path) -> None:
    error = await _failed(provider_of(tmp_path / "gone"))
    assert error.kind == "not_found"
    assert f"there is no program {tmp_path / 'gone'}" in str(error)


@pytest.mark.asyncio
async def test_antigravity_without_consent_runs_nothing(tmp_path: Path) -> None:
    program = fake(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    error = await _failed(provider_of(program, "antigravity", allow_limited_isolation=True))
    assert "acknowledge_terms" in str(error)
    assert not await asyncio.to_thread((tmp_path / "ran").exists)


@pytest.mark.asyncio
async def test_antigravity_speaks_as_documented(tmp_path: Path) -> None:
    body = """
import json
turn = json.loads(sys.stdin.readline())
say(json.dumps({"event": "init", "init": {"conversation_id": "c-1", "model": "gemini-x"}}) + "\\n")
say(json.dumps({"event": "step_update", "step_update": {"step_type": "thinking"}}) + "\\n")
usage = {"input_tokens": 21, "output_tokens": 8, "thinking_tokens": 3, "cache_read_tokens": 5,
         "total_tokens": 37}
result = {"status": "SUCCESS", "response": turn["message"]["content"], "usage": usage}
say(json.dumps({"event": "result", "result": result}) + "\\n")
"""
    provider = provider_of(
        fake(tmp_path, body),
        "antigravity",
        allow_limited_isolation=True,
        acknowledge_terms=["antigravity"],
    )
    completion = await _asked(provider)
    assert completion.text == "You are a careful reviewer.\n\nSay hello."
    assert completion.usage == Usage(26, 11, 5, 3)
    assert (completion.model, completion.request_id) == ("gemini-x", "c-1")


@pytest.mark.asyncio
async def test_named_account_has_a_state_folder_of_its_own(tmp_path: Path) -> None:
    home = account_home("work", "claude")
    program = fake(tmp_path, PRINTS)
    provider = provider_of(program, account="work", parent={"HOME": str(tmp_path)})
    with pytest.raises(SeatError, match="account 'work' of cli:claude has no login yet") as caught:
        provider.check()
    assert f"mkdir -p {home} && CLAUDE_CONFIG_DIR={home}/.claude claude auth login" in str(
        caught.value
    )
    home.mkdir(parents=True)
    try:
        provider.check()
        seen = json.loads((await _asked(provider)).text)["environment"]
        assert seen["CLAUDE_CONFIG_DIR"] == str(home / ".claude")
    finally:
        home.rmdir()


@pytest.mark.asyncio
async def test_gemini_says_when_it_cannot_be_isolated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    monkeypatch.setattr(
        "rt_notebook.providers.cli.provider.data_folder", lambda: open_folder / "data"
    )
    with caplog.at_level(logging.WARNING):
        await _asked(provider_of(fake(tmp_path, 'replay("gemini/ok")'), "gemini"))
    assert "cli:gemini: its own settings, hooks and extensions stay on" in caplog.text
