"""Seats for whole debates: one at each vendor's wire, and a command that answers like Claude's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rt_notebook.domain.seat import Seat
from tests.engine.debates import reply
from tests.providers.cli.fakes import fake
from tests.wire.server import WireServer

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-canary-1f3a9b7c1d2e4f60",
    "OPENAI_API_KEY": "sk-canary-2f3a9b7c1d2e4f60",
    "GOOGLE_API_KEY": "AIzaCanary-3f3a9b7c1d2e4f60",
}
"""The planted keys: they may stand nowhere but in a request's header."""

MODELS = {
    "ada": ("anthropic", "anthropic:claude-sonnet-4-6"),
    "ben": ("responses", "openai:gpt-5"),
    "cleo": ("google", "google:gemini-2.5-pro"),
    "chair": ("chat", "openai-chat:gpt-4o"),
}
"""Each seat's wire and model."""

# As the real command does: it reads all of its input first, and names its model.
_CLAUDE = """
import json
prompt = sys.stdin.read()
open({folder!r} + "/environment.json", "w").write(json.dumps(dict(os.environ)))
open({folder!r} + "/prompt.txt", "w").write(prompt)
{before}
text = {text!r}
say(json.dumps({{"type": "system", "subtype": "init", "model": "claude-fake-1",
                 "apiKeySource": "none"}}) + "\\n")
say(json.dumps({{"type": "assistant", "message": {{"id": "m1", "model": "claude-fake-1",
                 "content": [{{"type": "text", "text": text}}]}}}}) + "\\n")
say(json.dumps({{"type": "result", "subtype": "success", "is_error": False, "result": text,
                 "modelUsage": {{"claude-fake-1": {{"inputTokens": 900, "outputTokens": 50}}}},
                 "total_cost_usd": 0.5}}) + "\\n")
"""


def claude_folder(
    place: Path, text: str | None = None, *, before: str = "grandchild(True)"
) -> Path:
    """Makes a folder with a command `claude` in it; returns the folder.

    Args:
        place: where.
        text: what it answers; None: a reply for the second option.
        before: code that it runs once it has read its prompt; a tool of its own, by default.
    """
    folder = place / "bin"
    folder.mkdir()
    text = text or reply("opt-2", "The command says so.")
    fake(folder, _CLAUDE.format(folder=str(place), before=before, text=text), "claude")
    return folder


def seat(wire: WireServer, name: str, **fields: Any) -> Seat:
    """Returns a seat whose vendor's server is the loopback server."""
    format_, model = MODELS[name]
    return Seat(name, model=model, base_url=wire.base_url(format_), **fields)


def model_of(name: str) -> str:
    """Returns a seat's model as the vendor names it."""
    return MODELS[name][1].partition(":")[2]
