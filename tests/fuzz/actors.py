"""Seats for generated debates: what they do, as plain data, and functions that do it.

Every seat checks what the engine promises about a call before it answers: that the log has told of
it, and that it is the only one of its seat.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from rt_notebook.contract.render import render_reply
from rt_notebook.domain.reply import Reply
from rt_notebook.domain.script import fail, garbage, hang, say, scripted, wait
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CALL_ERROR_KINDS, CallError
from rt_notebook.providers.base import Call, Completion
from tests.fuzz.texts import fragments

OPTIONS: Final = ("Ship", "Ship later", "出荷する")
STANCES: Final = ("opt-1", "opt-2", "opt-3", "Ship", "other: rent it", "other: Rent  it", "opt-9")
QUESTIONS: Final = (None, None, "Who pays?", "who  PAYS?", "By when?", "None of these fits.")
POINTS: Final = ("it is costly", "nobody has tried", "none", "- 5 %", "STANCE: opt-2")
KINDS: Final = sorted(CALL_ERROR_KINDS)


@dataclass(frozen=True)
class Act:
    """What a seat does with one call."""

    does: str
    """say, fail, raise, give, hang, deaf."""
    value: Any = None
    """The text, error kind, exception or value."""
    wait_s: float = 0.0
    """Seconds before it does it."""


class Actor:
    """A function seat: takes the next act at each call, and begins anew once they are used up.

    Args:
        acts: what it does, call by call.
        closing: what it says when it is asked for a verdict.
    """

    def __init__(self, acts: list[Act], closing: str) -> None:
        self.acts = acts
        self.closing = closing
        self.taken = 0
        self.watch: Callable[[Call], None] = lambda call: None
        """Told each call before anything is done with it."""

    async def __call__(self, call: Call) -> Any:
        """Answer one call."""
        self.watch(call)
        act = self.acts[self.taken % len(self.acts)]
        self.taken += 1
        if act.wait_s:
            await asyncio.sleep(act.wait_s)
        if act.does == "say" and call.purpose in ("verdict", "summary"):
            return self.closing
        return await _DO[act.does](act.value)


async def _say(value: Any) -> Any:
    return value


async def _fail(value: Any) -> Any:
    kind, after, partial, usage = value
    raise CallError("it failed", kind=kind, retry_after_s=after, partial=partial, usage=usage)


async def _raise(value: Any) -> Any:
    raise value("raised by a seat")


async def _hang(value: Any) -> Any:
    await asyncio.get_running_loop().create_future()


async def _deaf(value: Any) -> Any:
    """Go on after a cancellation, as code that catches everything does."""
    try:
        await asyncio.sleep(value)
    except asyncio.CancelledError:
        await asyncio.sleep(value)
    return "STANCE: opt-1\nDISAGREE:\nNEW:\nASSUMPTIONS:\nAGREE_WITH: []"


_DO: Final = {
    "say": _say, "give": _say, "fail": _fail, "raise": _raise, "hang": _hang, "deaf": _deaf,
}  # fmt: skip

RAISED: Final = (
    ValueError, KeyError, RuntimeError, TimeoutError, OSError, StopAsyncIteration, SystemExit,
    asyncio.CancelledError, UnicodeError, RecursionError, AssertionError, GeneratorExit,
)  # fmt: skip
"""What seats raise that isn't a call's error."""


class Nameless:
    """A value that can't be shown."""

    def __repr__(self) -> str:
        raise ValueError("there are no words for it")


seconds = st.sampled_from((0.0, 0.0, 0.0, 0.01, 0.3, 2.0, 40.0))

counts = st.sampled_from(
    (None, 0, 1, 700, -1, 10**12, 10**25, 9 * 10**4299, 1.5, math.nan, "7", True)
)
"""Counts of tokens as a provider may report them, true or not."""

usages = st.builds(
    Usage,
    prompt_tokens=counts,
    completion_tokens=counts,
    cached_tokens=counts,
    reasoning_tokens=counts,
    cost=st.sampled_from((None, 0.0, 0.01, 3, -1.0, math.nan, math.inf, 1e300, "free", 10**400)),
)

replies = st.builds(
    lambda stance, agree, points, new, question: render_reply(
        Reply(True, stance=stance, agree_with=agree, disagree=points, new=new, question=question)
    ),
    st.sampled_from(STANCES),
    st.lists(st.sampled_from(("a", "B", "Seat A", "nobody")), max_size=2),
    st.lists(st.sampled_from(POINTS), max_size=4),
    st.lists(st.sampled_from(POINTS), max_size=2),
    st.sampled_from(QUESTIONS),
)
"""Replies, most of them valid."""

texts = st.one_of(replies, replies, replies, st.just("PASS"), fragments)

junk = st.one_of(
    st.sampled_from((None, 5, b"bytes", "", " \n\t", "\u200b\ufeff", ["PASS"], {"text": "PASS"})),
    st.builds(
        Completion,
        text=st.one_of(replies, st.sampled_from((None, 7, "x" * 300_000))),
        tool_calls=st.sampled_from(((), None, [1, {}], [{"name": "x", "preview": Nameless()}])),
        usage=usages,
        model=st.sampled_from((None, "model-1", 5, "a\nb\x1b[1m")),
        request_id=st.sampled_from((None, "r-1", b"r")),
        timings=st.sampled_from(({}, None, {"queued": math.nan, 5: 1, "total": "soon"})),
    ),
)

failures = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from((None, 0.0, 1.0, 50.0, -1.0, math.nan, math.inf, "soon")),
    st.sampled_from(("", "STANCE: opt-1 and", "\ud800")),
    st.none() | usages,
)

acts = st.one_of(
    st.builds(Act, st.just("say"), texts, seconds),
    st.builds(Act, st.just("say"), replies, seconds),
    st.builds(Act, st.just("fail"), failures, seconds),
    st.builds(Act, st.just("give"), junk, seconds),
    st.builds(Act, st.just("raise"), st.sampled_from(RAISED), seconds),
    st.builds(Act, st.just("hang")),
    st.builds(Act, st.just("deaf"), st.sampled_from((0.2, 3.0))),
)

verdicts = st.one_of(
    st.builds(
        lambda pick, rest: f"RECOMMENDATION:\n{pick}\nBecause.\n{rest}",
        st.sampled_from(("opt-1", "Ship later", "none", "opt-7", "")),
        st.sampled_from((
            "DISSENT:\nnone\nKILL_CRITERIA:\n- it breaks\nOPEN_QUESTIONS:\nnone",
            "DISSENT:\nsome\nKILL_CRITERIA:\nOPEN_QUESTIONS:",
        )),
    ),
    fragments,
    st.just("It was said that all is well."),
)  # fmt: skip
"""What a chairman or observer says."""

actors = st.builds(Actor, st.lists(acts, min_size=1, max_size=8), verdicts)

steps = st.one_of(
    st.builds(
        say,
        stance=st.sampled_from(STANCES),
        disagree=st.lists(st.sampled_from(POINTS), max_size=2),
        agree_with=st.lists(st.sampled_from(("a", "B")), max_size=1),
        question=st.sampled_from(QUESTIONS),
    ),
    st.builds(say, texts),
    st.builds(fail, st.sampled_from(KINDS), retry_after_s=st.sampled_from((None, 2.0))),
    st.builds(garbage),
    st.builds(hang),
    st.builds(wait, st.sampled_from((0.05, 5.0)), replies),
)
scripts = st.lists(steps, max_size=8).map(scripted)
"""The product's own scripted seats."""
