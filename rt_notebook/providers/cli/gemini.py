"""Gemini CLI (`gemini`): how it's told to only answer, and what its stream means.

Seen with 0.61.0. After a drop in mid-stream it begins anew without a word, so that the text
comes twice; an answer cut at the output limit can't be told from a whole one.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Final

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import StreamParser, count_in, text_in, within
from rt_notebook.providers.cli.vendor import NO_KEY, Ask, Plan, Vendor, not_a_command
from rt_notebook.providers.cli.workspace import Workspace

_SEARCH: Final = "google_web_search"
_FLAGS: Final = ("-o", "stream-json", "-e", "none", "--skip-trust")
_NO_SERVERS: Final = ("--allowed-mcp-server-names", "__none__")
_QUIET: Final = {
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "NO_COLOR": "1",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
}
_SETTINGS: Final[Mapping[str, Any]] = {
    "security": {"folderTrust": {"enabled": True}, "disableYoloMode": True},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "maxAttempts": 1,
        "retryFetchErrors": False,
        "topicUpdateNarration": False,
        "sessionRetention": {"enabled": False},
    },
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "tools": {"core": []},
    "mcp": {"allowed": []},
    "mcpServers": {},
    "useWriteTodos": False,
    "context": {
        "fileName": ["__none__.md"],
        "includeDirectoryTree": False,
        "discoveryMaxDirs": 0,
    },
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "extensions": {"disabled": ["*"]},
    "advanced": {"ignoreLocalEnv": True, "autoConfigureMemory": False},
    "experimental": {"enableAgents": False, "extensionManagement": False},
    "admin": {
        "mcp": {"enabled": False},
        "extensions": {"enabled": False},
        "skills": {"enabled": False},
    },
}
_BUDGETS: Final = {"low": 1024, "medium": 8192, "high": 24_576}
_EXITS: Final = {41: "auth", 42: "provider", 44: "provider", 55: "provider"}
_STATUSES: Final = (400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529)
# A new attempt begins after a wait; and no model repeats itself for so long by chance.
_WAIT_S: Final = 0.5
_WAITS_LOOKED_AT: Final = 8
_REPEATED: Final = 40


class Gemini(Vendor):
    """Google's command."""

    name: ClassVar[str] = "gemini"
    command: ClassVar[str] = "gemini"
    package: ClassVar[str] = "npm install -g @google/gemini-cli"
    key_variables: ClassVar[Sequence[str]] = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    state_variables: ClassVar[Sequence[str]] = ("GEMINI_CLI_HOME",)
    prompt_limit: ClassVar[int | None] = 8 * 1024 * 1024
    search_tools: ClassVar[Sequence[str]] = (_SEARCH,)
    leaks: ClassVar[Sequence[str]] = (
        "GEMINI.md in its state folder reaches the model",
        "an answer cut off at the output limit looks like a whole one",
        "without a model named, it asks another model first which one to take",
    )

    def plan(self, ask: Ask, place: Workspace) -> Plan:
        """Return what to run for one call, having written the files it needs."""
        arguments = [*_FLAGS, *_NO_SERVERS]
        if ask.model:
            arguments += ["-m", ask.model]
        environment = dict(_QUIET)
        warnings: tuple[str, ...] = ()
        if ask.system:
            environment["GEMINI_SYSTEM_MD"] = str(place.write("system.md", ask.system))
        settings = _settings(ask)
        if ask.keyed:
            settings["security"]["auth"] = {"selectedType": "gemini-api-key"}
            place.write("home/.gemini/settings.json", json.dumps(settings))
            home = place.folder("home")
            environment |= {**self.place_of(home), "HOME": str(home)}
            environment["GEMINI_API_KEY"] = ask.key or NO_KEY
            if ask.base_url:
                environment["GOOGLE_GEMINI_BASE_URL"] = ask.base_url.removesuffix("/v1beta")
        else:
            if ask.home:
                environment |= self.place_of(ask.home)
            path = _written(ask.settings_folder, json.dumps(settings, sort_keys=True))
            if path is not None:
                environment["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] = str(path)
            else:
                warnings = ("its own settings, hooks and extensions stay on",)
        return Plan(arguments, environment, not_a_command(ask.prompt), warnings)

    def parser(self) -> StreamParser:
        """Return a parser for one call."""
        return GeminiParser()

    def login(self, home: Path | None) -> str:
        """Return the line a person types to log in, on the default or a named account."""
        return "gemini"

    def place_of(self, home: Path) -> Mapping[str, str]:
        """Return the variables that move the command's state below `home`."""
        return {"GEMINI_CLI_HOME": str(home)}


def _settings(ask: Ask) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(json.dumps(_SETTINGS))
    if ask.searches:
        settings["tools"] = {"core": [_SEARCH], "allowed": [_SEARCH]}
    config: dict[str, Any] = {}
    if ask.temperature is not None:
        config["temperature"] = ask.temperature
    if ask.max_tokens is not None:
        config["maxOutputTokens"] = ask.max_tokens
    if ask.effort in _BUDGETS and (ask.model or "").startswith("gemini-2.5"):
        config["thinkingConfig"] = {"thinkingBudget": _BUDGETS[ask.effort]}
    if config and ask.model:
        override = {"match": {"model": ask.model}, "modelConfig": {"generateContentConfig": config}}
        settings["modelConfigs"] = {"customOverrides": [override]}
    return settings


def _written(folder: Path, text: str) -> Path | None:
    """Write settings where the command will read them: in no folder that others may write to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        open_to_all = (place.stat().st_mode & stat.S_IWOTH for place in (folder, *folder.parents))
        if os.name != "nt" and any(open_to_all):
            return None
        path = folder / f"gemini-{sha256(text.encode()).hexdigest()[:16]}.json"
        if not path.exists():
            half = path.with_suffix(f".{secrets.token_hex(4)}")
            half.write_text(text, encoding="utf-8")
            half.replace(path)
    except OSError:
        return None
    return path


class GeminiParser(StreamParser):
    """Reads `gemini -o stream-json`."""

    def __init__(self, tools: Sequence[str] = ()) -> None:
        super().__init__(tools)
        self._result: Mapping[str, Any] | None = None
        self._error = ""
        self._last: float | None = None
        # Where the text may begin anew: the wait before, and the number of parts by then.
        self._waits: list[tuple[float, int]] = []

    @property
    def text(self) -> str:
        """The answer so far, of the last attempt alone."""
        return _last_attempt(self._parts, self._waits)

    def restart(self) -> None:
        """Forget the text so far: the answer begins anew."""
        super().restart()
        self._waits.clear()

    def on_event(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one event."""
        if kind == "message" and within(event, "role") == "assistant":
            self._on_text(event)
        elif kind == "tool_use":
            name, call_id = text_in(event, "tool_name"), text_in(event, "tool_id")
            self.used(name, call_id, within(event, "parameters"))
        elif kind == "tool_result":
            ok = within(event, "status") == "success"
            self.returned(text_in(event, "tool_id"), within(event, "output"), ok)
            self.restart()
        elif kind == "error" and within(event, "severity") == "error":
            self._error = text_in(event, "message")
        elif kind == "result":
            self._on_result(event)
        elif kind == "init":
            self.model = text_in(event, "model") or None
            self.moved()

    def failure(self, ended: Ended) -> CallError | None:
        """Return the error that the result or the exit code tells."""
        code = ended.returncode or 0
        if self._result is None:
            if ended.why != "exit" or code not in _EXITS:
                return None
            words = ended.stderr.strip() or f"exit code {code}"
            return CallError(one_line(words), kind=_EXITS[code], partial=self.text)
        if within(self._result, "status") == "success":
            return None
        status = next((known for known in _STATUSES if known % 256 == code and code > 1), None)
        message = text_in(self._result, "error", "message") or self._error
        return self.said(message.removeprefix("[API Error: ").rstrip("]"), status)

    def _on_text(self, event: Mapping[str, Any]) -> None:
        now = _seconds(text_in(event, "timestamp"))
        if now is not None:
            if self._last is not None and now - self._last >= _WAIT_S and self._parts:
                self._waits.append((now - self._last, len(self._parts)))
                if len(self._waits) > _WAITS_LOOKED_AT:
                    self._waits.remove(min(self._waits))
            self._last = now
        self.moved(text_in(event, "content"))

    def _on_result(self, event: Mapping[str, Any]) -> None:
        self._result = event
        self.complete = True
        self.moved()
        prompt = count_in(event, "stats", "input_tokens")
        shown = count_in(event, "stats", "output_tokens")
        if not prompt and not shown:
            return
        thoughts = max(0, count_in(event, "stats", "total_tokens") - prompt - shown)
        self.usage = Usage(
            prompt_tokens=prompt,
            completion_tokens=shown + thoughts,
            cached_tokens=count_in(event, "stats", "cached"),
            reasoning_tokens=thoughts,
        )


def _last_attempt(parts: Sequence[str], waits: Sequence[tuple[float, int]]) -> str:
    """Return the text without the attempts that broke off: what follows begins as they did."""
    begin = 0
    cuts = [*sorted(place for _, place in waits), len(parts)]
    for cut, following in pairwise(cuts):
        before, after = "".join(parts[begin:cut]), "".join(parts[cut:following])
        same = min(len(before), len(after))
        if same >= _REPEATED and before[:same] == after[:same]:
            begin = cut
    return "".join(parts[begin:])


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
