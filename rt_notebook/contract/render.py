"""Writes a reply in the form that the reader reads: what a human seat's form hands in, and scripts.

The counterpart of `contract.reply`: what was read, rendered and read again, has the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rt_notebook.contract.headers import (
    AGREE_WITH,
    ASSUMPTIONS,
    DISAGREE,
    NEW,
    QUESTION,
    STANCE,
    is_reply_header,
)
from rt_notebook.contract.naming import match_stance
from rt_notebook.domain.reply import PASS, Reply

_LOST_MARKS: Final = "-•"


def render_reply(reply: Reply, options: Sequence[str] | None = None) -> str:
    """Return the reply as text that `read_reply` reads back to the same values.

    Args:
        reply: what to write; only the values count, not errors, trimmed, notes and their like.
        options: the labels of the options. When given, a stance whose text doesn't name
            `reply.stance_key` is written as the key.

    Returns:
        The text, without a line break at its end.
    """
    if reply.passed:
        return PASS
    lines: list[str] = []
    stance = _stance(reply, options)
    if stance is not None:
        lines.append(f"{STANCE}: {stance}")
    lines.append(f"{AGREE_WITH}: [{', '.join(map(_one_line, reply.agree_with))}]")
    for name, texts in (
        (DISAGREE, reply.disagree),
        (NEW, reply.new),
        (ASSUMPTIONS, reply.assumptions),
    ):
        lines.append(f"{name}:")
        lines += [_bullet(line) for text in texts if (line := _one_line(text))]
    if reply.question is not None:
        question = _one_line(reply.question)
        # The reader takes one leading mark off.
        lines.append(f"{QUESTION}: {'- ' if question[:1] in _LOST_MARKS else ''}{question}")
    return "\n".join(lines)


def _stance(reply: Reply, options: Sequence[str] | None) -> str | None:
    if reply.stance is None:
        return reply.stance_key
    if options is not None and reply.stance_key is not None:
        stance = _one_line(reply.stance)
        return stance if match_stance(stance, options) == reply.stance_key else reply.stance_key
    return _one_line(reply.stance)


def _bullet(text: str) -> str:
    line = f"- {text}"  # reads back as the text, unless it would read as a header
    return f"1. {text}" if is_reply_header(line) else line


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).strip() if "\n" in text else text.strip()
