"""What stands beside the seats' own words in a prompt: tools that were used, pages that were found.

Plain lines; quoting and neutralising them is the prompts' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rt_notebook.contract.text import clean
from rt_notebook.domain.research import Source
from rt_notebook.domain.turn import Turn

MAX_TOOLS: Final = 50
"""Tool calls of one turn that the others see."""


def tool_lines(turn: Turn, limit: int) -> Iterator[str]:
    """Yield a line for each tool that a turn used, its output cut at `limit` characters."""
    used = [tool for call in turn.calls for tool in call.tool_calls]
    for tool in used[:MAX_TOOLS]:
        preview = clean(str(tool.get("preview") or ""))[0].strip()[:limit]
        yield f"[tool {tool.get('name')}]{f' {preview}' if preview else ''}"


def source_lines(sources: Iterable[Source]) -> str:
    """Return the pages that research found, numbered, each with its words."""
    parts = []
    for number, source in enumerate(sources, 1):
        words = clean(source.excerpt)[0].strip()
        parts.append(f"[{number}] {source.title}\n{source.url}" + (f"\n{words}" if words else ""))
    return "\n\n".join(parts)
