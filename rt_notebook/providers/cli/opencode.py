"""opencode (`opencode run`): how it's told to only answer, and what its stream means.

Seen with 1.18.33. It retries for ever by itself, without a word after a drop and at full speed
after an unreadable answer: both are recognised by steps that lead nowhere.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.cli.environment import absolute_places
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import StreamParser, count_in, number_in, text_in, within
from rt_notebook.providers.cli.vendor import NO_KEY, Ask, Plan, Status, Vendor
from rt_notebook.providers.cli.workspace import Workspace

_FLAGS: Final = ("run", "--format", "json", "--pure", "--title", "seat")
_QUIET: Final = {
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_FFF": "1",
    "OPENCODE_PURE": "1",
    "npm_config_offline": "true",
}
_PLACES: Final = {
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
}
_USUAL: Final = {
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}
_SEAT_PROVIDER: Final = "seat"
_CONTEXT: Final = 200_000
_OUTPUT: Final = 32_000
_CUT: Final = {
    "length": ("output_limit", "the answer was cut off at the model's output limit"),
    "content-filter": ("refused", "the answer was withheld by a content filter"),
}
_STEPS_TO_NOWHERE: Final = 3


class OpenCode(Vendor):
    """The opencode command, which speaks to many services."""

    name: ClassVar[str] = "opencode"
    command: ClassVar[str] = "opencode"
    package: ClassVar[str] = "npm install -g opencode-ai"
    state_variables: ClassVar[Sequence[str]] = tuple(_USUAL)
    leaks: ClassVar[Sequence[str]] = (
        "the name of its folder and the date reach the model",
        "on a login the conversation stays in its own history",
    )
    status_arguments: ClassVar[Sequence[str] | None] = ("auth", "list")

    def plan(self, ask: Ask, place: Workspace) -> Plan:
        """Return what to run for one call, having written the files it needs."""
        arguments = list(_FLAGS)
        if ask.effort:
            arguments += ["--variant", ask.effort]
        home = place.folder("home")
        environment = {**_QUIET, **self.place_of(home), "HOME": str(home)}
        if ask.home:
            environment |= self.place_of(ask.home)
        elif not ask.keyed:
            environment |= _users_places(ask.parent)
        # Its configuration is made for the call, so the user's plug-ins and servers stay out.
        environment["XDG_CONFIG_HOME"] = str(place.folder("home/config"))
        environment["OPENCODE_CONFIG_CONTENT"] = json.dumps(_configuration(ask))
        environment |= _with_search(ask.parent, place)
        return Plan(arguments, environment, ask.prompt)

    def parser(self) -> StreamParser:
        """Return a parser for one call."""
        return OpenCodeParser()

    def login(self, home: Path | None) -> str:
        """Return the line a person types to log in, on the default or a named account."""
        return "opencode auth login"

    def place_of(self, home: Path) -> Mapping[str, str]:
        """Return the variables that move the command's state below `home`."""
        return {name: str(home / folder) for name, folder in _PLACES.items()}

    def status(self, ended: Ended, output: str) -> Status:
        """Read the answer of `opencode auth list`, which counts the logins."""
        words = output.split()
        where = words.index("credentials") if "credentials" in words else 0
        if ended.returncode != 0 or where == 0 or not words[where - 1].isdigit():
            return Status(None, "opencode auth list answers in a way this version can't read")
        count = int(words[where - 1])
        return Status(count > 0, f"{count} logins" if count else "no login")


def key_variable_of(model: str | None) -> str:
    """Return where the key for a model's service stands: `anthropic/...` in `ANTHROPIC_API_KEY`."""
    service = (model or "opencode").partition("/")[0]
    known = {"google": "GEMINI_API_KEY"}
    return known.get(service, f"{service.upper().replace('-', '_')}_API_KEY")


def _configuration(ask: Ask) -> dict[str, Any]:
    seat: dict[str, Any] = {
        "mode": "primary",
        "tools": {"*": False},
        "permission": {"*": "deny"},
    }
    if ask.system:
        seat["prompt"] = ask.system
    if ask.temperature is not None:
        seat["temperature"] = ask.temperature
    model, services = _model_of(ask)
    named = {"model": model, "small_model": model} if model else {}
    return {
        **named,
        **services,
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": "deny"},
        "tools": {"*": False},
        "mcp": {},
        "plugin": [],
        "instructions": [],
        "lsp": False,
        "formatter": False,
        "snapshot": False,
        "default_agent": "seat",
        "agent": {"seat": seat, "title": {"disable": True}},
    }


def _model_of(ask: Ask) -> tuple[str | None, dict[str, Any]]:
    """Return the model by its full name, and the services that this call may speak to."""
    timeout = {"timeout": int(ask.deadline_s * 1000)}
    if ask.base_url:
        model = ask.model or "default"
        limit = {"context": _CONTEXT, "output": ask.max_tokens or _OUTPUT}
        service = {
            "npm": "@ai-sdk/openai-compatible",
            "name": _SEAT_PROVIDER,
            "options": {"baseURL": ask.base_url, "apiKey": ask.key or NO_KEY, **timeout},
            "models": {model: {"name": model, "temperature": True, "limit": limit}},
        }
        services = {"provider": {_SEAT_PROVIDER: service}, "enabled_providers": [_SEAT_PROVIDER]}
        return f"{_SEAT_PROVIDER}/{model}", services
    if not ask.model or "/" not in ask.model:
        return ask.model, {}
    name = ask.model.partition("/")[0]
    options = {**timeout, "apiKey": ask.key} if ask.key else dict(timeout)
    return ask.model, {"provider": {name: {"options": options}}, "enabled_providers": [name]}


def _users_places(parent: Mapping[str, str]) -> dict[str, str]:
    home = parent.get("HOME") or parent.get("USERPROFILE") or ""
    return {
        name: parent.get(name) or os.path.join(home, *folder.split("/"))
        for name, folder in _USUAL.items()
    }


def _with_search(parent: Mapping[str, str], place: Workspace) -> dict[str, str]:
    """Return a PATH with an `rg` on it, or the command would fetch one from the network."""
    path = os.pathsep.join(absolute_places(parent))
    if os.name == "nt" or shutil.which("rg", path=path):
        return {}
    stub = place.write("bin/rg", "#!/bin/sh\nexit 1\n")
    stub.chmod(0o700)
    return {"PATH": os.pathsep.join(filter(None, [path, str(stub.parent)]))}


class OpenCodeParser(StreamParser):
    """Reads `opencode run --format json`."""

    def __init__(self, tools: Sequence[str] = ()) -> None:
        super().__init__(tools)
        self._error: CallError | None = None
        self._reason = ""
        self._nowhere = self._broken = 0
        self._cost = 0.0

    def on_event(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one event."""
        if kind == "step_start":
            self._on_start()
        elif kind == "text":
            self._broken = 0
            self.moved(text_in(event, "part", "text"))
        elif kind == "tool_use":
            self._broken = 0
            self._on_tool(within(event, "part"))
        elif kind == "step_finish":
            self._on_finish(within(event, "part"))
        elif kind == "error":
            self._error = self._as_error(within(event, "error"))

    def failure(self, ended: Ended) -> CallError | None:
        """Return the error the stream told, or the one that its last step is."""
        if self._error is not None:
            return self._error
        if self._reason in _CUT:
            kind, message = _CUT[self._reason]
            return CallError(message, kind=kind, partial=self.text)
        if self._broken > 1:
            return self._lost()
        return None

    def _on_start(self) -> None:
        self._broken += 1
        if self._broken == 1:
            self.moved()
        if self._broken >= _STEPS_TO_NOWHERE:
            self._fatal = self._fatal or self._lost()
        self.complete = False
        self.restart()

    def _lost(self) -> CallError:
        message = f"the stream from the model broke off {self._broken - 1} times"
        return CallError(message, kind="connection", partial=self.text)

    def _on_finish(self, part: Any) -> None:
        self._broken = 0
        self._reason = text_in(part, "reason")
        self._count(part)
        if self._reason == "unknown":
            self._on_step_to_nowhere()
            return
        self._nowhere = 0
        self.moved()
        self.complete = self._reason == "stop"

    def _on_step_to_nowhere(self) -> None:
        self._nowhere += 1
        if self._nowhere < _STEPS_TO_NOWHERE:
            return
        if self.text:
            self.fail("connection", "the model's answers break off; it asks again and again")
        else:
            self.fail("protocol", "the model's answers can't be read; it asks again and again")

    def _on_tool(self, part: Any) -> None:
        call_id, state = text_in(part, "callID"), within(part, "state")
        self.used(text_in(part, "tool"), call_id, within(state, "input"))
        status = text_in(state, "status")
        if status in ("completed", "error"):
            result = within(state, "output") if status == "completed" else within(state, "error")
            self.returned(call_id, result, status == "completed")

    def _as_error(self, error: Any) -> CallError:
        data = within(error, "data")
        text = text_in(data, "message") or text_in(error, "name")
        wait = text_in(data, "responseHeaders", "retry-after")
        seconds = float(wait) if wait.isdigit() and len(wait) < 6 else None
        return self.said(text, count_in(data, "statusCode") or None, seconds)

    def _count(self, part: Any) -> None:
        tokens = within(part, "tokens")
        cached, reasoning = count_in(tokens, "cache", "read"), count_in(tokens, "reasoning")
        prompt = count_in(tokens, "input") + cached + count_in(tokens, "cache", "write")
        completion = count_in(tokens, "output") + reasoning
        if not prompt and not completion:
            return
        self._cost += number_in(part, "cost") or 0.0
        before = self.usage or Usage(0, 0, 0, 0)
        self.usage = Usage(
            prompt_tokens=(before.prompt_tokens or 0) + prompt,
            completion_tokens=(before.completion_tokens or 0) + completion,
            cached_tokens=(before.cached_tokens or 0) + cached,
            reasoning_tokens=(before.reasoning_tokens or 0) + reasoning,
            # It reports 0 where it knows no price.
            cost=self._cost or None,
        )
