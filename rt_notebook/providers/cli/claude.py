"""Claude Code (`claude -p`): how it's told to only answer, and what its stream means.

Seen with 2.1.197. Success is nothing but `is_error` false with a text: its errors come as a
result of subtype "success" whose text is the error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from rt_notebook.contract.text import is_blank
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import (
    StreamParser,
    count_in,
    items_in,
    number_in,
    text_in,
    within,
)
from rt_notebook.providers.cli.vendor import NO_KEY, Ask, Plan, Status, Vendor, not_a_command
from rt_notebook.providers.cli.workspace import Workspace

# Its own words for what went wrong, where they say more than the text beside them.
_ERRORS: Final = {
    "authentication_failed": "auth",
    "billing_error": "quota",
    "max_output_tokens": "output_limit",
    "rate_limit": "rate_limit",
}
_STOPS: Final = {
    "refusal": ("refused", "the model refused to answer"),
    "max_tokens": ("output_limit", "the answer was cut off at the model's output limit"),
}
_LOGINS: Final = frozenset({"", "none", "oauth"})
_SEARCH: Final = "WebSearch"
_FLAGS: Final = (
    "-p",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--setting-sources",
    "",
    "--strict-mcp-config",
    "--disable-slash-commands",
    "--no-session-persistence",
)
_QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    # Without this, `@path` in a prompt reads that file, wherever it lies.
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    # Tries are the seat's to count and to show.
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
}


class Claude(Vendor):
    """Anthropic's command."""

    name: ClassVar[str] = "claude"
    command: ClassVar[str] = "claude"
    package: ClassVar[str] = "npm install -g @anthropic-ai/claude-code"
    key_variables: ClassVar[Sequence[str]] = ("ANTHROPIC_API_KEY",)
    state_variables: ClassVar[Sequence[str]] = ("CLAUDE_CONFIG_DIR",)
    prompt_limit: ClassVar[int | None] = 10_000_000
    search_tools: ClassVar[Sequence[str]] = (_SEARCH,)
    ignored: ClassVar[Sequence[str]] = ("temperature",)
    status_arguments: ClassVar[Sequence[str] | None] = ("auth", "status")

    def plan(self, ask: Ask, place: Workspace) -> Plan:
        """Return what to run for one call, having written the files it needs."""
        arguments = [*_FLAGS, "--tools", _SEARCH if ask.searches else ""]
        if ask.searches:
            arguments += ["--allowedTools", _SEARCH]
        if ask.system:
            path = place.write("system.md", ask.system)
            arguments += ["--system-prompt-file", str(path)]
        if ask.model:
            arguments += ["--model", ask.model]
        if ask.effort:
            arguments += ["--effort", ask.effort]
        environment = {**_QUIET, "API_TIMEOUT_MS": str(int(ask.deadline_s * 1000))}
        if ask.max_tokens:
            environment["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(ask.max_tokens)
        if ask.keyed:
            environment |= self.place_of(place.folder("home"))
            environment |= {"HOME": str(place.folder("home"))}
            environment["ANTHROPIC_API_KEY"] = ask.key or NO_KEY
            if ask.base_url:
                environment["ANTHROPIC_BASE_URL"] = ask.base_url.removesuffix("/v1")
        elif ask.home:
            environment |= self.place_of(ask.home)
        return Plan(arguments, environment, not_a_command(ask.prompt))

    def parser(self) -> StreamParser:
        """Return a parser for one call."""
        return ClaudeParser()

    def login(self, home: Path | None) -> str:
        """Return the line a person types to log in, on the default or a named account."""
        return "claude auth login"

    def place_of(self, home: Path) -> Mapping[str, str]:
        """Return the variables that move the command's state below `home`."""
        return {"CLAUDE_CONFIG_DIR": str(home / ".claude")}

    def status(self, ended: Ended, output: str) -> Status:
        """Read the answer of `claude auth status`."""
        try:
            found = json.loads(output)
        except ValueError:
            return Status(None, "claude auth status answers in a way this version can't read")
        ready = within(found, "loggedIn") is True
        return Status(ready, f"logged in ({text_in(found, 'authMethod')})" if ready else "no login")


class ClaudeParser(StreamParser):
    """Reads `--output-format stream-json`, with partial messages or without."""

    def __init__(self, tools: Sequence[str] = ()) -> None:
        super().__init__(tools)
        self._result: Mapping[str, Any] | None = None
        self._error = ""
        self._message = ""
        self._streamed = False
        self._key_source = ""

    def on_event(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one event."""
        if kind == "stream_event":
            self._on_part(within(event, "event"))
        elif kind == "assistant":
            self._on_message(event)
        elif kind == "user":
            for item in items_in(event, "message", "content"):
                if within(item, "type") == "tool_result":
                    ok = within(item, "is_error") is not True
                    self.returned(text_in(item, "tool_use_id"), within(item, "content"), ok)
        elif kind == "result":
            self._on_result(event)
        elif kind == "system" and within(event, "subtype") == "init":
            self._key_source = text_in(event, "apiKeySource")
            self.model = text_in(event, "model") or None
            self.moved()

    def answer(self) -> str:
        """Return the final answer; a result that lost it leaves it in the last message."""
        result = text_in(self._result, "result")
        return self.text if is_blank(result) else result

    def failure(self, ended: Ended) -> CallError | None:
        """Return the error that the result is, if it is one."""
        if self._result is None:
            return None
        if within(self._result, "is_error") is not False:
            return self._as_error(self._result)
        stop = text_in(self._result, "stop_reason")
        if stop in _STOPS:
            kind, message = _STOPS[stop]
            return CallError(message, kind=kind, partial=self.answer())
        return None

    def _as_error(self, result: Mapping[str, Any]) -> CallError:
        listed = [item for item in items_in(result, "errors") if isinstance(item, str)]
        text = text_in(result, "result") or "; ".join(listed) or text_in(result, "subtype")
        error = self.said(text, count_in(result, "api_error_status") or None)
        if self._error in _ERRORS and error.kind in ("provider", "connection"):
            return CallError(str(error), kind=_ERRORS[self._error], partial=self.text)
        return error

    def _on_part(self, part: Any) -> None:
        kind = within(part, "type")
        if kind == "message_start":
            self._message, self._streamed = text_in(part, "message", "id"), True
            self.restart()
            self.moved()
        elif kind == "content_block_delta":
            self.moved(text_in(part, "delta", "text"))

    def _on_message(self, event: Mapping[str, Any]) -> None:
        self._error = text_in(event, "error")
        model = text_in(event, "message", "model")
        if model == "<synthetic>":
            return
        self.model = model or self.model
        self.request_id = text_in(event, "request_id") or self.request_id
        self._begin(text_in(event, "message", "id"))
        for item in items_in(event, "message", "content"):
            kind = within(item, "type")
            if kind == "text":
                self.moved("" if self._streamed else text_in(item, "text"))
            elif kind in ("tool_use", "server_tool_use"):
                self.used(text_in(item, "name"), text_in(item, "id"), within(item, "input"))

    def _begin(self, message: str) -> None:
        if message != self._message:
            self._message, self._streamed = message, False
            self.restart()

    def _on_result(self, event: Mapping[str, Any]) -> None:
        self._result = event
        self.complete = True
        self.moved()
        per_model = within(event, "modelUsage")
        rows = list(per_model.values()) if isinstance(per_model, Mapping) else []
        if not rows:
            return
        read = sum(count_in(row, "cacheReadInputTokens") for row in rows)
        written = sum(count_in(row, "cacheCreationInputTokens") for row in rows)
        paid = self._key_source.lower() not in _LOGINS
        self.usage = Usage(
            prompt_tokens=sum(count_in(row, "inputTokens") for row in rows) + read + written,
            completion_tokens=sum(count_in(row, "outputTokens") for row in rows),
            cached_tokens=read,
            # On a login nothing is paid for by the token, whatever the command reckons.
            cost=number_in(event, "total_cost_usd") if paid else None,
        )
