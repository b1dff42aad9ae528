"""The vendors' parsers as targets: what any output must come to, however it is cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError
from rt_notebook.providers.base import Completion
from rt_notebook.providers.cli.antigravity import AntigravityParser
from rt_notebook.providers.cli.claude import ClaudeParser
from rt_notebook.providers.cli.codex import CodexParser
from rt_notebook.providers.cli.gemini import GeminiParser
from rt_notebook.providers.cli.opencode import OpenCodeParser
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.stream import StreamParser

PARSERS: Final[dict[str, type[StreamParser]]] = {
    "antigravity": AntigravityParser,
    "claude": ClaudeParser,
    "codex": CodexParser,
    "gemini": GeminiParser,
    "opencode": OpenCodeParser,
}


def outcome(vendor: str, pieces: Sequence[bytes], ended: Ended) -> tuple[Any, ...]:
    """Return what a parser makes of an output; checks what holds for every one."""
    parser = PARSERS[vendor](("WebSearch",))
    for piece in pieces:
        parser.feed(piece)
        assert parser.chars >= 0
    try:
        found = parser.completion(ended)
    except CallError as error:
        return error.kind, str(error), error.partial, error.retry_after_s
    assert isinstance(found, Completion)
    assert isinstance(found.text, str)
    assert found.text.strip()
    found.text.encode()
    json.dumps(list(found.tool_calls)).encode()
    usage = found.usage
    assert usage is None or isinstance(usage, Usage)
    for count in () if usage is None else (usage.prompt_tokens, usage.completion_tokens):
        assert count is None or count >= 0
    return found.text, list(found.tool_calls), usage, found.model, found.request_id


_EXITED: Final = Ended("exit", 0, "", 1.5)


def read_in_pieces(data: bytes) -> None:
    """Read an output with the parser that its first byte names, whole and in two pieces."""
    if len(data) < 2:
        return
    vendor = sorted(PARSERS)[data[0] % len(PARSERS)]
    whole, cut = data[2:], data[1] * len(data) // 256
    expected = outcome(vendor, [whole], _EXITED)
    assert outcome(vendor, [whole[:cut], whole[cut:]], _EXITED) == expected
