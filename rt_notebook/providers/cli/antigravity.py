"""Antigravity CLI (`agy`): by its documented behaviour only; it could not be tried.

Its headless mode reads one JSON line from its input and writes one JSON object a line: `init`,
`step_update`s and one `result`. It can't be told to leave its tools, rules and servers alone,
and its terms speak against being driven by other programs: hence both consents.
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
from rt_notebook.providers.cli.vendor import Ask, Plan, Vendor, not_a_command
from rt_notebook.providers.cli.workspace import Workspace

_FLAGS: Final = ("--input-format", "stream-json", "--output-format", "stream-json")


class Antigravity(Vendor):
    """Google's other command."""

    name: ClassVar[str] = "antigravity"
    command: ClassVar[str] = "agy"
    package: ClassVar[str] = "see antigravity.google/docs/cli"
    ignored: ClassVar[Sequence[str]] = ("effort", "temperature", "max_tokens")
    leaks: ClassVar[Sequence[str]] = (
        "its own tools, rules, skills and servers stay on",
        "the conversation stays in its own history",
        "it was never tried with this version",
    )
    limited: ClassVar[bool] = True
    terms: ClassVar[str | None] = (
        "Google's terms for Antigravity warn against using it through other programs, and accounts "
        "have been suspended for it; whether this use is allowed is for you to find out"
    )
    untested: ClassVar[bool] = True

    def plan(self, ask: Ask, place: Workspace) -> Plan:
        """Return what to run for one call; for want of a flag the system prompt leads the rest."""
        arguments = [*_FLAGS, "--print-timeout", f"{int(ask.deadline_s) + 1}s"]
        if ask.model:
            arguments += ["--model", ask.model]
        prompt = "\n\n".join(filter(None, [ask.system, ask.prompt]))
        turn = {"event": "user", "message": {"content": not_a_command(prompt)}}
        return Plan(arguments, {"AGY_CLI_DISABLE_AUTO_UPDATE": "1"}, json.dumps(turn) + "\n")

    def parser(self) -> StreamParser:
        """Return a parser for one call."""
        return AntigravityParser()

    def login(self, home: Path | None) -> str:
        """Return the line a person types to log in."""
        return "agy"


class AntigravityParser(StreamParser):
    """Reads `--output-format stream-json` as it is documented."""

    kind_key: ClassVar[str] = "event"

    def __init__(self, tools: Sequence[str] = ()) -> None:
        super().__init__(tools)
        self._result: Any = None

    def on_event(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one event."""
        if kind == "init":
            self.model = text_in(event, "init", "model") or None
            self.request_id = text_in(event, "init", "conversation_id") or None
            self.moved()
        elif kind == "step_update":
            self._on_step(within(event, "step_update"))
        elif kind == "result":
            self._result = within(event, "result")
            self.complete = True
            self._count()

    def answer(self) -> str:
        """Return the final answer."""
        return text_in(self._result, "response")

    def failure(self, ended: Ended) -> CallError | None:
        """Return the error that the result is, if it is one."""
        if self._result is None or within(self._result, "status") == "SUCCESS":
            return None
        return self.said(text_in(self._result, "error") or text_in(self._result, "status"))

    def _on_step(self, step: Any) -> None:
        tool = within(step, "tool_info")
        if isinstance(tool, Mapping):
            name = text_in(tool, "name") or text_in(tool, "tool_name") or "a tool"
            self.used(name, text_in(tool, "id") or name, within(tool, "arguments"))
        self.moved()

    def _count(self) -> None:
        self.moved()
        usage = within(self._result, "usage")
        if not isinstance(usage, Mapping):
            return
        cached, thoughts = count_in(usage, "cache_read_tokens"), count_in(usage, "thinking_tokens")
        prompt, shown = count_in(usage, "input_tokens"), count_in(usage, "output_tokens")
        # The total tells whether the cached tokens and the thoughts are counted within.
        if count_in(usage, "total_tokens") > prompt + shown:
            prompt, shown = prompt + cached, shown + thoughts
        self.usage = Usage(prompt, shown, cached, thoughts)
