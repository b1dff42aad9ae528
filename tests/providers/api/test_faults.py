"""Each fault of each vendor: its kind, what came before it, and that it was tried once."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelTimeoutError

from rt_notebook.domain.usage import Usage
from rt_notebook.providers.api_errors import kind_of
from rt_notebook.providers.base import Call, Message
from rt_notebook.providers.policies import MAX_ANSWER, complete_bounded
from tests.providers.api.sitting import MODELS, VENDORS, Sitting
from tests.wire.script import Fail, Hang, Raw, Say, Step
from tests.wire.server import sse

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
]

every_vendor = pytest.mark.parametrize("vendor", VENDORS)

TEXT = "0123456789" * 6
HALF = "0123456789" * 2  # one of three deltas

KINDS: dict[str, tuple[Step, str]] = {
    "401": (Fail(401), "auth"),
    "403": (Fail(403), "auth"),
    "404": (Fail(404), "not_found"),
    "429": (Fail(429), "rate_limit"),
    "500": (Fail(500), "overloaded"),
    "503": (Fail(503), "overloaded"),
    "529": (Fail(529), "overloaded"),
    "400": (Fail(400), "provider"),
    "dropped": (Say(TEXT, ends="drop"), "connection"),
    "ended early": (Say(TEXT, ends="eof"), "connection"),
    "failed in stream": (Say(TEXT, ends="error"), "overloaded"),
    "malformed JSON": (Raw(b'{"this is": not json'), "protocol"),
    "malformed stream": (Raw(sse('{"type": "mess'), "text/event-stream"), "protocol"),
    "login page": (Raw(b"<html>Sign in</html>", "text/html"), "protocol"),
    "no body": (Raw(b""), "protocol"),
    "empty": (Say(""), "empty"),
    "blank": (Say(" \n"), "empty"),
    "null": (Say(None), "empty"),
    "refused": (Say("I won't.", stop="refusal"), "refused"),
    "filtered": (Say("I wo", stop="filter"), "refused"),
    "cut off": (Say("And so", stop="length"), "output_limit"),
}


@every_vendor
@pytest.mark.parametrize("fault", KINDS)
async def test_fault_has_its_kind(sitting: Sitting, vendor: str, fault: str) -> None:
    step, kind = KINDS[fault]
    sitting.wire.script(step)

    error = await sitting.fail(vendor)

    assert error.kind == kind, str(error)
    assert len(sitting.wire.asked) == 1, "the client library tried again by itself"
    assert (error.facts["provider"], error.facts["model"]) == (
        MODELS[vendor].partition(":")[0],
        MODELS[vendor],
    )


@every_vendor
async def test_error_message_says_what_to_do(sitting: Sitting, vendor: str) -> None:
    name = MODELS[vendor].partition(":")[0]
    sitting.wire.script(Fail(401, "no such key"))
    error = await sitting.fail(vendor)
    assert str(error) == (
        f"{name}: HTTP 401: no such key; check the key in THE_KEY (request req_wire)"
    )


@every_vendor
async def test_retry_after_seconds_are_kept(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Fail(429, retry_after="7"))
    error = await sitting.fail(vendor)
    assert (error.retry_after_s, error.retryable) == (7.0, True)


@every_vendor
async def test_retry_after_date_becomes_seconds(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Fail(429, retry_after=formatdate(time.time() + 60, usegmt=True)))
    error = await sitting.fail(vendor)
    assert error.retry_after_s is not None
    assert 50 < error.retry_after_s <= 60


@every_vendor
@pytest.mark.parametrize("end", ["drop", "eof", "error"])
async def test_broken_stream_keeps_what_came(sitting: Sitting, vendor: str, end: str) -> None:
    sitting.wire.script(Say(TEXT, ends=end))  # type: ignore[arg-type]  # one of them
    error = await sitting.fail(vendor)
    assert (error.partial, error.usage) == (HALF, None)
    assert error.retryable


@every_vendor
@pytest.mark.parametrize("stop", ["length", "filter"])
async def test_billed_failure_tells_its_cost(sitting: Sitting, vendor: str, stop: str) -> None:
    sitting.wire.script(Say("And so", stop=stop))  # type: ignore[arg-type]  # one of them

    error = await sitting.fail(vendor)

    assert error.partial == "And so"
    assert isinstance(error.usage, Usage)
    assert (error.usage.prompt_tokens, error.usage.completion_tokens) == (1000, 60)
    assert error.usage.cost is not None
    assert not error.retryable


@every_vendor
async def test_refusal_is_quoted(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say("I won't.", stop="refusal"))
    error = await sitting.fail(vendor)
    shown = {"google": "PROHIBITED_CONTENT", "anthropic": "refusal"}.get(vendor, "I won't.")
    assert str(error).endswith(f"the model or its content filter refused: {shown}")


@pytest.mark.parametrize(
    ("vendor", "fail", "kind"),
    [
        ("chat", Fail(429, "no credit", "insufficient_quota"), "quota"),
        ("responses", Fail(429, "no credit", "insufficient_quota"), "quota"),
        ("anthropic", Fail(402, "no credit"), "quota"),
        ("chat", Fail(400, "too long", "context_length_exceeded"), "context_length"),
        ("responses", Fail(400, "too long", "context_length_exceeded"), "context_length"),
        (
            "anthropic",
            Fail(400, "prompt is too long: 300000 tokens > 200000 maximum"),
            "context_length",
        ),
        (
            "google",
            Fail(
                400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."
            ),
            "context_length",
        ),
        ("chat", Fail(400, "blocked", "content_policy_violation"), "refused"),
        ("responses", Fail(400, "blocked", "invalid_prompt"), "refused"),
    ],
)
async def test_vendor_codes_tell_kinds_apart(
    sitting: Sitting, vendor: str, fail: Fail, kind: str
) -> None:
    sitting.wire.script(fail)
    error = await sitting.fail(vendor)
    assert error.kind == kind, str(error)
    assert not error.retryable


@every_vendor
@pytest.mark.parametrize("step", [Hang(), Say(TEXT, ends="hang")], ids=["at once", "in stream"])
async def test_hanging_call_ends_with_its_deadline(
    sitting: Sitting, vendor: str, step: Step
) -> None:
    sitting.wire.script(step)
    call = Call([Message("user", "Hi")], "Ada", 0, "opening", deadline_s=0.4)
    await sitting.ask_ready(vendor)

    with pytest.raises(Exception, match=r"no answer within 0\.4 s") as caught:
        await complete_bounded(sitting.provider(vendor), call, sitting.progress.append)

    assert caught.value.kind == "timeout"  # type: ignore[attr-defined]  # a CallError
    came = "" if isinstance(step, Hang) else HALF
    assert caught.value.partial == came  # type: ignore[attr-defined]
    assert await asyncio.to_thread(sitting.wire.left.wait, 5), "the connection was left open"


@every_vendor
async def test_silent_stream_is_a_stall(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say(TEXT, ends="hang"))
    call = Call([Message("user", "Hi")], "Ada", 0, "opening", deadline_s=30)
    await sitting.ask_ready(vendor)

    with pytest.raises(Exception, match=r"no progress for 0\.4 s") as caught:
        await complete_bounded(sitting.provider(vendor), call, sitting.progress.append, stall_s=0.4)

    assert caught.value.kind == "stall"  # type: ignore[attr-defined]  # a CallError
    assert caught.value.partial == HALF  # type: ignore[attr-defined]
    assert sitting.progress[-1] == len(HALF)


@every_vendor
async def test_slow_drip_is_no_stall(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say(TEXT, pieces=10, pause_s=0.08))
    call = Call([Message("user", "Hi")], "Ada", 0, "opening", deadline_s=30)
    await sitting.ask_ready(vendor)

    answer = await complete_bounded(
        sitting.provider(vendor), call, sitting.progress.append, stall_s=0.4
    )

    assert answer.text == TEXT


@every_vendor
async def test_cancelled_call_lets_go(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Hang())
    task = asyncio.create_task(sitting.ask(vendor))
    assert await asyncio.to_thread(sitting.wire.reached.wait, 5)

    task.cancel()

    await asyncio.wait([task])
    assert task.cancelled()
    assert await asyncio.to_thread(sitting.wire.left.wait, 5)


@every_vendor
async def test_endless_answer_is_stopped(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Say("0123456789" * (1024 * 1024), pieces=160))  # 10 MiB

    error = await sitting.fail(vendor)

    assert error.kind == "output_limit"
    assert f"more than {MAX_ANSWER:,} characters" in str(error)
    assert MAX_ANSWER < sitting.progress[-1] < 10 * 1024 * 1024
    assert error.partial == ("0123456789" * 6554)[: 64 * 1024]


@every_vendor
async def test_unreachable_server_is_named(sitting: Sitting, vendor: str) -> None:
    sitting.wire.__exit__()
    error = await sitting.fail(vendor)
    assert error.kind == "connection"
    assert str(error).endswith(f"; does a server listen at {sitting.wire.base_url(vendor)}?")


async def test_hostile_error_text_is_one_short_line(sitting: Sitting) -> None:
    sitting.wire.script(Fail(400, "bad\n\x1b[31mred\x1b[0m\u2028" + "x" * 5000))
    error = await sitting.fail("chat")
    assert "\x1b" not in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("phase", "kind"),
    [("connect", "connection"), ("pool", "connection"), ("read", "timeout"), (None, "timeout")],
)
async def test_unsent_request_that_timed_out_is_no_timeout(phase: Any, kind: str) -> None:
    """Another try can help where the server never saw the first one."""
    assert kind_of(ModelTimeoutError("m", "timed out", phase=phase)) == kind
