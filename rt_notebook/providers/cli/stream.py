"""Reads a command's output as JSON lines, in whatever pieces it comes; linear in its length.

Owns lines, decoding, tolerance for what isn't known, and the way from events to a completion.
What an event means is each vendor's own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Final

from rt_notebook.characters import whole
from rt_notebook.contract.text import clean, is_blank
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.base import Completion
from rt_notebook.providers.cli.failures import kind_of, last_words, missing_answer, unwrapped
from rt_notebook.providers.cli.process import Ended

PREVIEW: Final = 500
"""Characters kept of a tool's arguments and of its result."""

# Characters kept of a line that is for people.
_ASIDE: Final = 500
# What ended a call before its answer was there, and the kind that is.
_BOUNDS: Final = {"timeout": "timeout", "stall": "stall", "output": "output_limit"}


class Lines:
    """Cuts bytes into lines at line feeds alone; a carriage return before one goes with it."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that `chunk` ends."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._begun.append(end)
            yield self.rest()
        if rest:
            self._begun.append(rest)

    def rest(self) -> str:
        """Return what came since the last line feed, and begin anew."""
        line, self._begun = b"".join(self._begun), []
        # No character of UTF-8 holds the byte of a line feed, so none is cut by the lines.
        return line.removesuffix(b"\r").decode("utf-8", "replace")


class StreamParser:
    """Base of the vendors' parsers: fed with bytes, asked for the completion at the end.

    Args:
        tools: names of the tools the seat may use; any other use stops the call.
    """

    kind_key: ClassVar[str] = "type"
    """Where an event says what it is."""

    def __init__(self, tools: Collection[str] = ()) -> None:
        self._allowed = frozenset(tools)
        self._most: int | None = None
        self._lines = Lines()
        self._calls: dict[str, dict[str, Any]] = {}
        self._parts: list[str] = []
        self._fatal: CallError | None = None
        self._aside = ""
        self.chars = 0
        self.steps = 0
        self.complete = False
        self.usage: Usage | None = None
        self.model: str | None = None
        self.request_id: str | None = None

    def allow(self, tools: Collection[str], most: int) -> None:
        """Let these tools be used, so many times in all; one more use stops the call."""
        self._allowed, self._most = frozenset(tools), most

    @property
    def stopped(self) -> bool:
        """Whether the call must not go on."""
        return self._fatal is not None

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._parts)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        for line in self._lines.feed(chunk):
            self._line(line)

    def completion(self, ended: Ended) -> Completion:
        """Return the answer, once the command has ended.

        Raises:
            CallError: there is none, or it isn't one.
        """
        self._line(self._lines.rest())
        if self._fatal is not None:
            raise self._fatal
        if not self.complete and ended.why in _BOUNDS:
            text = f"{_bound_text(ended)}{last_words(ended, self._aside)}"
            raise CallError(text, kind=_BOUNDS[ended.why], partial=self.text)
        failure = self.failure(ended)
        if failure is not None:
            raise failure
        if not self.complete:
            raise missing_answer(ended, self._aside, self.text)
        answer = self.answer()
        if is_blank(answer):
            raise CallError("the answer is empty", kind="empty", partial=answer)
        return Completion(
            answer,
            tool_calls=tuple(self._calls.values()),
            usage=self.usage,
            model=self.model,
            request_id=self.request_id,
            timings=_timings(ended),
        )

    def answer(self) -> str:
        """Return the final answer; only asked for where there is one."""
        return self.text

    def failure(self, ended: Ended) -> CallError | None:
        """Return what the stream or the exit says went wrong, or None."""
        return None

    def on_event(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take one event; unknown ones are to be ignored."""
        raise TypeError(f"{type(self).__name__} takes no events")

    def moved(self, text: str = "") -> None:
        """Note progress: some more of the answer, or a sign of work on it."""
        self.steps += 1
        if text:
            self._parts.append(text)
            self.chars += len(text)

    def restart(self) -> None:
        """Forget the text so far: the answer begins anew."""
        self._parts.clear()

    def used(self, name: str, call_id: str, arguments: Any) -> None:
        """Note a tool's use; one that isn't allowed stops the call."""
        self.steps += 1
        self._calls.setdefault(call_id, {"name": name, "preview": preview(arguments)})
        if name not in self._allowed:
            self.fail("tool_policy", f"it used the tool {name!r}, which this seat doesn't allow")
        elif self._most is not None and len(self._calls) > self._most:
            self.fail("tool_policy", f"it searched more than {self._most} times")

    def returned(self, call_id: str, result: Any, ok: bool) -> None:
        """Note what a tool gave back."""
        self.steps += 1
        if call_id in self._calls:
            self._calls[call_id].update(result=preview(result), ok=ok)

    def fail(self, kind: str, message: str) -> None:
        """Stop the call; the first reason counts."""
        if self._fatal is None:
            self._fatal = CallError(one_line(message), kind=kind, partial=self.text)

    def said(
        self, text: str, status: int | None = None, retry_after_s: float | None = None
    ) -> CallError:
        """Return the error that a vendor's words mean."""
        message, found = unwrapped(text)
        return CallError(
            one_line(message) or "the command reports an error without a word",
            kind=kind_of(message, status or found),
            partial=self.text,
            retry_after_s=retry_after_s,
        )

    def _line(self, line: str) -> None:
        if line.isspace() or not line or self._fatal is not None:
            return
        if "\x1b" in line:  # a terminal's title or colour; JSON's own are escaped
            line = clean(line)[0]
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):  # a line for people between those for programs
            self._aside = line[:_ASIDE]
            return
        kind = event.get(self.kind_key) if isinstance(event, dict) else None
        if isinstance(kind, str):
            self.on_event(kind, event)


def within(value: Any, *path: str) -> Any:
    """Return what lies under `path` in nested objects, or None."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def text_in(value: Any, *path: str) -> str:
    """Return the text under `path`, or an empty one; lone surrogates become U+FFFD."""
    found = within(value, *path)
    return whole(found) if isinstance(found, str) else ""


def count_in(value: Any, *path: str) -> int:
    """Return the count under `path`, or 0."""
    found = within(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


def number_in(value: Any, *path: str) -> float | None:
    """Return the number under `path`, or None."""
    found = within(value, *path)
    good = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if good and abs(found) < 1e15 else None


def items_in(value: Any, *path: str) -> list[Any]:
    """Return the list under `path`, or an empty one."""
    found = within(value, *path)
    return found if isinstance(found, list) else []


def preview(value: Any) -> str:
    """Return the first characters of a tool's arguments or result."""
    if isinstance(value, str):
        text = value
    else:
        text = "" if value is None else json.dumps(value, ensure_ascii=False)
    return text[:PREVIEW].encode("utf-8", "replace").decode("utf-8")


def _timings(ended: Ended) -> dict[str, float]:
    timings = {"total": round(ended.seconds, 3)}
    if ended.first_output_s is not None:
        timings["first_output"] = round(ended.first_output_s, 3)
    return timings


def _bound_text(ended: Ended) -> str:
    return {
        "timeout": f"no answer within {ended.seconds:.0f} s",
        "stall": f"no progress for a while, stopped after {ended.seconds:.0f} s",
        "output": "the output is longer than 8 MiB",
    }[ended.why]
