"""The real commands, run exactly as a seat runs them, against the loopback server.

Each is skipped where it isn't installed. Nothing is asked of a real service: the key is no key,
and a proxy that refuses everything notes what else a command would have liked to reach.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Call
from rt_notebook.providers.cli import gemini
from rt_notebook.providers.cli.process_tree import MARK_VARIABLE
from rt_notebook.providers.cli.process_watchdog import WATCHDOG
from rt_notebook.providers.cli.provider import CliProvider
from rt_notebook.providers.cli.readiness import readiness
from tests.environment import CACHE
from tests.providers.cli.fakes import call_of, children
from tests.wire.script import Fail, Hang, Say, ToolUse
from tests.wire.server import WireServer

pytestmark = [pytest.mark.real_cli, pytest.mark.asyncio, pytest.mark.timeout(180)]

KEY = "sk-test-of-no-account"
MODELS = {
    "claude": "claude-haiku-4-5",
    "codex": "gpt-5.2-codex",
    "gemini": "gemini-2.5-flash",
    "opencode": "some-model",
}
WIRES = {"claude": "anthropic", "codex": "responses", "gemini": "google", "opencode": "chat"}
VENDORS = list(MODELS)
PLACES = CACHE / "cli" / "node_modules" / ".bin"
# The wire's answer: 1,000 sent of which 200 were cached, 60 received of which 20 are reasoning.
USAGES = {
    "claude": Usage(1000, 60, 200),
    "codex": Usage(1000, 60, 200, 20),
    "gemini": Usage(1000, 60, 200, 20),
    "opencode": Usage(1000, 60, 200, 20),
}


class RefusingProxy:
    """Notes every host that is asked for, and refuses it."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                words = client.recv(4096).split()
                self.hosts.append(words[1].decode() if len(words) > 1 else "?")
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    def close(self) -> None:
        """Ends it."""
        self._socket.close()


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest.fixture
def proxy() -> Iterator[RefusingProxy]:
    made = RefusingProxy()
    yield made
    made.close()


@pytest.fixture
def parent(tmp_path: Path, proxy: RefusingProxy) -> dict[str, str]:
    """Returns the environment a seat starts from: this PATH, a home of its own, a key, a proxy."""
    path = os.pathsep.join([str(PLACES), os.environ["PATH"]])
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
    return {
        "PATH": path,
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": proxy.url,
        **dict.fromkeys(keys, KEY),
    }


def _seat(vendor: str, parent: dict[str, str], wire: WireServer, **options: Any) -> CliProvider:
    options = {"base_url": wire.base_url(WIRES[vendor]), "api_billing": True, **options}
    provider = CliProvider(vendor, model=MODELS[vendor], parent=parent, **options)
    if provider.program() is None:
        pytest.skip(f"{vendor} isn't installed: {provider.vendor.package}")
    return provider


async def _failed(provider: CliProvider, call: Call | None = None) -> CallError:
    with pytest.raises(CallError, match=r"^cli:") as caught:
        await provider.complete(call or call_of(deadline_s=90), lambda chars: None)
    return caught.value


def _of_calls() -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if MARK_VARIABLE in process.environ() and process.pid != WATCHDOG.pid:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("vendor", VENDORS)
async def test_command_answers_and_reaches_nothing_else(
    vendor: str, parent: dict[str, str], wire: WireServer, proxy: RefusingProxy, tmp_path: Path
) -> None:
    wire.script(Say("Žluťoučký kůň 🐎 \u2028 end", pieces=4, pause_s=0.05))
    provider, told = _seat(vendor, parent, wire), list[int]()
    provider.check()
    completion = await provider.complete(call_of(deadline_s=90), told.append)
    assert completion.text == "Žluťoučký kůň 🐎 \u2028 end"
    assert completion.usage is not None
    counted = {**completion.usage.to_json(), "cost": None}
    assert counted == {**USAGES[vendor].to_json(), "cost": None}
    assert (completion.usage.cost is not None) == (vendor == "claude")
    assert told
    (asked,) = wire.asked
    assert (asked.wire, asked.model, asked.key) == (WIRES[vendor], MODELS[vendor], KEY)
    body = json.dumps(asked.body)
    assert "You are a careful reviewer." in body
    assert "Say hello." in body
    assert proxy.hosts == []
    # The person's home has nothing of it.
    assert os.listdir(tmp_path) == []
    assert not children()
    assert not _of_calls()


def _tools_of(body: Any) -> list[str]:
    tools = body.get("tools") or []
    named = [
        tool.get("name") or tool.get("type") for tool in tools if "functionDeclarations" not in tool
    ]
    declared = [one["name"] for tool in tools for one in tool.get("functionDeclarations", ())]
    return named + declared


@pytest.mark.parametrize("vendor", VENDORS)
async def test_settings_arrive_and_no_tool_is_offered(
    vendor: str, parent: dict[str, str], wire: WireServer
) -> None:
    settings = {"effort": "high", "temperature": 0.25, "max_tokens": 2000}
    await _seat(vendor, parent, wire).complete(
        call_of(settings=settings, deadline_s=90), lambda chars: None
    )
    (asked,) = wire.asked
    body = asked.body
    assert _tools_of(body) == []
    if vendor == "claude":
        assert body["max_tokens"] == 2000
    elif vendor == "codex":
        assert body["reasoning"]["effort"] == "high"
    elif vendor == "gemini":
        config = body["generationConfig"]
        assert (config["temperature"], config["maxOutputTokens"]) == (0.25, 2000)
        assert config["thinkingConfig"]["thinkingBudget"] == 24_576
    else:
        assert (body["temperature"], body["max_tokens"]) == (0.25, 2000)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_prompt_is_text_and_never_a_command(
    vendor: str, parent: dict[str, str], wire: WireServer, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("planted-content-4711", encoding="utf-8")
    text = f"/help me, !ls, see @{secret} and @/etc/hostname and @secret.txt"
    completion = await _seat(vendor, parent, wire).complete(
        call_of(text, deadline_s=90), lambda chars: None
    )
    assert completion.text == "Hello from the wire."
    body = json.dumps(wire.asked[0].body)
    assert text in body
    assert "planted-content-4711" not in body


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fail(401, "this key is wrong"), "auth"),
        (Fail(429, "slow down", retry_after="1"), "rate_limit"),
        (Fail(400, "this can't be done"), "provider"),
        (Fail(404, "no such model"), "not_found"),
    ],
    ids=["401", "429", "400", "404"],
)
async def test_refusals_are_of_the_right_kind(
    vendor: str, fault: Fail, kind: str, parent: dict[str, str], wire: WireServer
) -> None:
    wire.script(fault)
    error = await _failed(_seat(vendor, parent, wire))
    assert error.kind == kind
    assert KEY not in repr(error) + str(error.facts)
    # opencode can't be told to leave the tries to the seat; claude asks once more without a stream.
    tries = 2 if (vendor, kind) == ("claude", "not_found") else 1
    assert len(wire.asked) == tries or vendor == "opencode"


@pytest.mark.parametrize("vendor", ["claude", "codex", "gemini"])
async def test_server_error_is_overloaded_at_the_first_try(
    vendor: str, parent: dict[str, str], wire: WireServer
) -> None:
    wire.script(Fail(500, "it broke"))
    error = await _failed(_seat(vendor, parent, wire))
    assert error.kind == "overloaded"
    assert len(wire.asked) == 1


@pytest.mark.parametrize("vendor", VENDORS)
async def test_dropped_stream_is_a_lost_connection(
    vendor: str, parent: dict[str, str], wire: WireServer
) -> None:
    wire.script(Say("Hello from a wire that breaks.", ends="drop", pieces=6, pause_s=0.02))
    error = await _failed(_seat(vendor, parent, wire))
    assert error.kind == "connection"
    assert len(wire.asked) == 1 or vendor == "opencode"
    if vendor in ("claude", "gemini"):  # the others show no pieces
        assert error.partial.startswith("Hello")


@pytest.mark.parametrize("vendor", VENDORS)
async def test_empty_answer_is_empty(vendor: str, parent: dict[str, str], wire: WireServer) -> None:
    wire.script(Say(""))
    assert (await _failed(_seat(vendor, parent, wire))).kind == "empty"


@pytest.mark.parametrize("vendor", ["claude", "codex", "opencode"])
async def test_answer_cut_by_length_is_told(
    vendor: str, parent: dict[str, str], wire: WireServer
) -> None:
    wire.script(Say("Hello, but no more.", stop="length"))
    error = await _failed(_seat(vendor, parent, wire))
    assert (error.kind, error.partial) == ("output_limit", "Hello, but no more.")


@pytest.mark.parametrize("vendor", ["claude", "gemini", "opencode"])
async def test_tool_that_was_never_offered_ends_the_call(
    vendor: str, parent: dict[str, str], wire: WireServer
) -> None:
    tool = ToolUse("run_shell_command", {"command": "touch /tmp/never"})
    wire.script(Say("I look.", tools=(tool,)), Say())
    error = await _failed(_seat(vendor, parent, wire))
    assert error.kind == "tool_policy"
    assert not _of_calls()


@pytest.mark.parametrize("vendor", VENDORS)
async def test_cancelled_command_is_gone_in_two_seconds(
    vendor: str, parent: dict[str, str], wire: WireServer
) -> None:
    wire.script(Hang())
    seat = _seat(vendor, parent, wire)
    task = asyncio.create_task(seat.complete(call_of(deadline_s=90), lambda chars: None))
    while not wire.asked:
        await asyncio.sleep(0.05)
        assert not task.done()
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError, match=r"^$"):
        await task
    assert time.monotonic() - started < 2
    assert not _of_calls()
    assert not children()
    assert await asyncio.to_thread(wire.left.wait, 2)


async def test_opencode_asking_for_ever_is_stopped(
    parent: dict[str, str], wire: WireServer
) -> None:
    wire.script(Say("Hello, and away.", ends="eof"))
    error = await _failed(_seat("opencode", parent, wire))
    assert (error.kind, error.partial[:5]) == ("connection", "Hello")
    assert len(wire.asked) < 40


async def test_gemini_with_a_login_is_isolated_by_settings(
    parent: dict[str, str],
    wire: WireServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its state folder stands for a person's: a login, a server and a hook that leave a trace."""
    trace = tmp_path / "trace"
    state = tmp_path / ".gemini"
    state.mkdir()
    (state / ".env").write_text(f"GEMINI_API_KEY={KEY}\n", encoding="utf-8")
    trap = {"command": "/bin/sh", "args": ["-c", f"touch {trace}-mcp"]}
    hook = {"hooks": [{"type": "command", "command": f"touch {trace}-hook"}]}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "mcpServers": {"trap": trap},
        "hooks": {"SessionStart": [hook], "BeforeModel": [hook]},
    }
    (state / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    folder = CACHE / "data"
    monkeypatch.setattr("rt_notebook.providers.cli.provider.data_folder", lambda: folder)
    parent["NO_PROXY"] = "127.0.0.1"
    seat = _seat("gemini", parent, wire, base_url=None, api_billing=False)
    # A seat on a login speaks to Google alone; for once it's led here.
    monkeypatch.setitem(gemini._QUIET, "GOOGLE_GEMINI_BASE_URL", wire.url)
    with caplog.at_level(logging.WARNING):
        completion = await seat.complete(call_of(deadline_s=90), lambda chars: None)
    if "stay on" in caplog.text:
        pytest.skip("the project lies in a folder that others may write to")
    assert completion.text == "Hello from the wire."
    assert _tools_of(wire.asked[0].body) == []
    assert [name for name in os.listdir(tmp_path) if "trace" in name] == []


@pytest.mark.parametrize("vendor", VENDORS)
async def test_readiness_is_told_without_a_call(
    vendor: str, parent: dict[str, str], wire: WireServer, proxy: RefusingProxy
) -> None:
    seat = _seat(vendor, parent, wire, base_url=None, api_billing=False)
    found = await readiness(seat)
    assert found.ready is (None if vendor == "gemini" else False)
    assert found.version is not None
    assert found.next_step == seat.login_line()
    assert wire.asked == []
    logging.getLogger(__name__).info("%s %s", vendor, found.version)
