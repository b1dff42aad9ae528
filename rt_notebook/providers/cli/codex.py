"""Codex (`codex exec`): how it's told to only answer, and what its stream means.

Seen with 0.171.0. The answer is the last message of a turn that was completed; there are no
pieces of it on the way. A tool it doesn't have shows only in its error output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import StreamParser, count_in, text_in, within
from rt_notebook.providers.cli.vendor import NO_KEY, Ask, Plan, Status, Vendor
from rt_notebook.providers.cli.workspace import Workspace

_KEY_VARIABLE: Final = "RT_NOTEBOOK_SEAT_KEY"
_DEFAULT_URL: Final = "https://api.openai.com/v1"
_SETTINGS: Final = (
    "project_doc_max_bytes=0",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "skills.bundled.enabled=false",
    "skills.include_instructions=false",
    "include_apps_instructions=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    'history.persistence="none"',
    "mcp_servers={}",
    "notify=[]",
    "tools.experimental_request_user_input.enabled=false",
    "tools.update_plan.enabled=false",
)
_DISABLED: Final = (
    "shell_tool",
    "unified_exec",
    "view_image",
    "multi_agent",
    "goals",
    "plugins",
    "remote_plugin",
    "apps",
    "hooks",
    "image_generation",
    "memories",
    "skill_search",
    "tool_suggest",
    "browser_use",
    "computer_use",
    "in_app_browser",
    "unbounded_connection_retries",
    "shell_snapshot",
    "workspace_dependencies",
    "sleep_tool",
    "code_mode_host",
    "mentions_v2",
)
# Items that are no tool's use.
_HARMLESS: Final = frozenset({"reasoning", "error", "todo_list", "plan", "user_message"})
_TOOLS: Final = frozenset({"command_execution", "file_change", "web_search", "patch_apply"})
_RETRYING: Final = "Reconnecting..."


class Codex(Vendor):
    """OpenAI's command."""

    name: ClassVar[str] = "codex"
    command: ClassVar[str] = "codex"
    package: ClassVar[str] = "npm install -g @openai/codex"
    key_variables: ClassVar[Sequence[str]] = ("CODEX_API_KEY", "OPENAI_API_KEY")
    state_variables: ClassVar[Sequence[str]] = ("CODEX_HOME",)
    prompt_limit: ClassVar[int | None] = 1_048_576
    search_tools: ClassVar[Sequence[str]] = ("web_search",)
    ignored: ClassVar[Sequence[str]] = ("temperature", "max_tokens")
    leaks: ClassVar[Sequence[str]] = (
        "AGENTS.md in its state folder reaches the model",
        "on a login it retries by itself, unseen and uncounted",
    )
    status_arguments: ClassVar[Sequence[str] | None] = ("login", "status")

    def plan(self, ask: Ask, place: Workspace) -> Plan:
        """Return what to run for one call, having written the files it needs."""
        arguments = ["exec", "--json", "--ignore-user-config", "--ignore-rules"]
        arguments += ["--skip-git-repo-check", "-s", "read-only", "--ephemeral"]
        environment: dict[str, str] = {}
        if ask.keyed:
            home = place.folder("home")
            environment |= {**self.place_of(home), "HOME": str(home)}
            environment[_KEY_VARIABLE] = ask.key or NO_KEY
            arguments += ["-c", "model_provider=seat", "-c", _provider(ask)]
        elif ask.home:
            environment |= self.place_of(ask.home)
        if ask.model:
            arguments += ["-m", ask.model]
        web = 'web_search="live"' if ask.searches else 'web_search="disabled"'
        for setting in (*_SETTINGS, web, *_chosen(ask, place)):
            arguments += ["-c", setting]
        for feature in _DISABLED:
            arguments += ["--disable", feature]
        return Plan([*arguments, "-"], environment, ask.prompt)

    def parser(self) -> StreamParser:
        """Return a parser for one call."""
        return CodexParser()

    def login(self, home: Path | None) -> str:
        """Return the line a person types to log in, on the default or a named account."""
        return "codex login"

    def place_of(self, home: Path) -> Mapping[str, str]:
        """Return the variables that move the command's state below `home`."""
        return {"CODEX_HOME": str(home)}

    def status(self, ended: Ended, output: str) -> Status:
        """Read the answer of `codex login status`."""
        said = (output or ended.stderr).strip().splitlines()
        ready = ended.returncode == 0
        return Status(ready, (said[-1][:200] if said else "logged in") if ready else "no login")


def _chosen(ask: Ask, place: Workspace) -> list[str]:
    chosen = []
    if ask.system:
        chosen.append(f"model_instructions_file={_toml(place.write('system.md', ask.system))}")
    if ask.effort:
        chosen.append(f"model_reasoning_effort={_toml(ask.effort)}")
    return chosen


def _provider(ask: Ask) -> str:
    """Return a provider of our own: the built-in one can't be told how often to retry."""
    url = ask.base_url or _DEFAULT_URL
    idle = int(ask.deadline_s * 1000)
    return (
        f'model_providers.seat={{name="seat",base_url={_toml(url)},env_key="{_KEY_VARIABLE}",'
        'wire_api="responses",request_max_retries=0,stream_max_retries=0,'
        f"stream_idle_timeout_ms={idle}}}"
    )


def _toml(value: object) -> str:
    """Return a basic TOML string; JSON's are the same for what can stand in a path or URL."""
    return json.dumps(str(value), ensure_ascii=False)


class CodexParser(StreamParser):
    """Reads `codex exec --json`."""

    def __init__(self, tools: Sequence[str] = ()) -> None:
        super().__init__(tools)
        self._failure = ""
        self._done = False

    def on_event(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one event."""
        if kind in ("item.started", "item.updated", "item.completed"):
            self._on_item(event, kind == "item.completed")
        elif kind == "turn.completed":
            self._done = self.complete = True
            self._count(event)
        elif kind == "turn.failed":
            self.complete = True
            self._failure = text_in(event, "error", "message") or self._failure or "turn failed"
        elif kind == "error":
            message = text_in(event, "message")
            if not message.startswith(_RETRYING):
                self._failure = message
        elif kind in ("thread.started", "turn.started"):
            self.request_id = text_in(event, "thread_id") or self.request_id
            self.moved()

    def failure(self, ended: Ended) -> CallError | None:
        """Return why the turn failed, if it did."""
        return self.said(self._failure) if self._failure and not self._done else None

    def _on_item(self, event: Mapping[str, Any], completed: bool) -> None:
        item = within(event, "item")
        kind = text_in(item, "type")
        if kind == "agent_message":
            if completed:
                # The ones before were said on the way.
                self.restart()
                self.moved(text_in(item, "text"))
        elif kind in _TOOLS or kind.endswith("_call"):
            self._on_tool(item, kind, completed)
        elif kind not in _HARMLESS or kind == "reasoning":
            self.moved()

    def _on_tool(self, item: Any, kind: str, completed: bool) -> None:
        call_id = text_in(item, "id")
        arguments = within(item, "command") or within(item, "arguments") or within(item, "query")
        self.used(text_in(item, "tool") or kind, call_id, arguments)
        if completed:
            ok = within(item, "status") == "completed"
            self.returned(call_id, within(item, "aggregated_output"), ok)

    def _count(self, event: Mapping[str, Any]) -> None:
        self.moved()
        if not isinstance(within(event, "usage"), Mapping):
            return
        self.usage = Usage(
            prompt_tokens=count_in(event, "usage", "input_tokens"),
            completion_tokens=count_in(event, "usage", "output_tokens"),
            cached_tokens=count_in(event, "usage", "cached_input_tokens"),
            reasoning_tokens=count_in(event, "usage", "reasoning_output_tokens"),
        )
