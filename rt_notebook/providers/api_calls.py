"""One call to a model API: the prompt out, the stream in, tools in between, and what the end means.

Loads the client libraries; only `api_doors.load_heavy` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Final

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from rt_notebook.domain.usage import UNKNOWN, Usage
from rt_notebook.errors import CallError, one_line
from rt_notebook.providers.api_errors import MESSAGE_CHARS, call_error
from rt_notebook.providers.api_models import Line, settings_of
from rt_notebook.providers.api_tools import Toolbox
from rt_notebook.providers.api_usage import total, usage_of
from rt_notebook.providers.base import Call, Completion, Message, Progress
from rt_notebook.providers.policies import MAX_ANSWER
from rt_notebook.providers.redaction import redact

MAX_TOOL_ROUNDS: Final = 8
"""Times that a model may call tools within one call; then it has to answer."""

_UNTOLD_END: Final = "the stream ended before the answer did"


class BilledCallError(CallError):
    """A failure after tools were used: another try would run and bill them again."""

    @property
    def retryable(self) -> bool:
        """False: what was billed isn't asked again."""
        return False


class Exchange:
    """Answers one call over a line.

    Args:
        line: the model.
        call: the request.
        progress: told the characters so far, those of reasoning and tool calls included.
    """

    def __init__(self, line: Line, call: Call, progress: Progress) -> None:
        self._line = line
        self._door = line.door
        self._progress = progress
        self._tools = Toolbox(call.tools, call.seat)
        self._messages = prompt_of(call.messages)
        self._settings = settings_of(call, line.model, line.door)
        self._spent: list[Usage] = []
        self._chars = 0
        self._said: list[str] = []
        call.came = lambda: redact("".join(self._said), line.door.secrets)

    async def run(self) -> Completion:
        """Return the answer.

        Raises:
            CallError: with its kind and with what was billed, when there is none.
        """
        calls: list[ToolCallPart] = []
        try:
            for rounds_left in range(MAX_TOOL_ROUNDS, -1, -1):
                response = await self._ask(may_call=rounds_left > 0)
                if response.finish_reason is not None:  # what broke off has told no final figures
                    self._spent.append(usage_of(response, self._door))
                calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
                if not calls or response.finish_reason in ("length", "content_filter"):
                    return self._completion(response)
                if not self._tools.definitions:
                    break
                self._messages += [response, await self._tools.answer(calls)]
        except CallError as error:
            raise self._billed(error) from None
        raise self._billed(self._tool_error(calls))

    async def _ask(self, *, may_call: bool) -> ModelResponse:
        self._said.clear()
        tools = self._tools.definitions
        settings = self._settings
        if tools and not may_call:
            settings = ModelSettings(**settings, tool_choice="none")
        return await stream_response(
            self._line,
            self._messages,
            settings,
            ModelRequestParameters(function_tools=tools),
            self._count,
        )

    def _count(self, event: ModelResponseStreamEvent) -> None:
        self._chars += _chars_of(event)
        self._said.append(_words_of(event))
        self._progress(self._chars)
        if self._chars > MAX_ANSWER:
            raise CallError(
                f"{self._door.vendor}: more than {MAX_ANSWER:,} characters came; it was stopped",
                kind="output_limit",
            )

    def _completion(self, response: ModelResponse) -> Completion:
        text = checked_text(response, self._line)
        return Completion(
            text,
            tuple(self._tools.record),
            total(self._spent),
            response.model_name,
            response.provider_response_id,
        )

    def _tool_error(self, calls: Sequence[ToolCallPart]) -> CallError:
        names = ", ".join(sorted({call.tool_name for call in calls}))
        text = f"called {names}, though the seat has no tools"
        if self._tools.definitions:
            text = f"called tools in {MAX_TOOL_ROUNDS} rounds without an answer"
        return CallError(
            one_line(f"{self._door.vendor}: {text}", MESSAGE_CHARS), kind="tool_policy"
        )

    def _billed(self, error: CallError) -> CallError:
        """Return a failure with what the call has cost so far."""
        made = BilledCallError if self._tools.record else CallError
        spent = total(self._spent)
        return made(
            str(error),
            kind=error.kind,
            provider=self._door.vendor,
            model=f"{self._door.vendor}:{self._door.model}",
            partial=redact(error.partial, self._door.secrets),
            retry_after_s=error.retry_after_s,
            usage=None if spent == UNKNOWN else spent,
        )


def prompt_of(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return a prompt in Pydantic AI's form; the system's words go where the vendor wants them."""
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    found: list[ModelMessage] = []
    for message in messages:
        if message.role == "user":
            found.append(ModelRequest([UserPromptPart(message.text)], instructions=system or None))
        elif message.role == "assistant":
            found.append(ModelResponse([TextPart(message.text)]))
    return found


async def stream_response(
    line: Line,
    messages: Sequence[ModelMessage],
    settings: ModelSettings,
    parameters: ModelRequestParameters,
    count: Any,
) -> ModelResponse:
    """Return one response, streamed where the vendor can, so that its progress is seen.

    Args:
        line: the model.
        messages: the prompt.
        settings: as Pydantic AI knows them.
        parameters: the tools.
        count: called with every event; what it raises ends the stream.

    Raises:
        CallError: the vendor failed, with the text that had come.
    """
    stream: StreamedResponse | None = None
    try:
        if not _streams(line.model):
            return await model_request(
                line.model,
                messages,
                model_settings=settings,
                model_request_parameters=parameters,
                instrument=False,
            )
        async with model_request_stream(
            line.model,
            messages,
            model_settings=settings,
            model_request_parameters=parameters,
            instrument=False,
        ) as stream:
            events: Any = aiter(stream)
            async with aclosing(events):
                async for event in events:
                    count(event)
            return stream.get()
    except Exception as exc:
        # The edge to the client libraries: whatever they raise fails this call alone.
        partial = text_of(stream.get()) if stream is not None else ""
        if isinstance(exc, CallError):  # `count` ended it
            failed = CallError(str(exc), kind=exc.kind, partial=partial)
        else:
            failed = call_error(exc, line.door, partial=partial)
    # Not from within: the client library's own error, which may quote the key, stays behind.
    raise failed


def _streams(model: Model) -> bool:
    # A few vendors' classes leave the base's method, which only says that it isn't there.
    return type(model).request_stream is not Model.request_stream


def text_of(response: ModelResponse) -> str:
    """Return the words of a response, without reasoning."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def checked_text(response: ModelResponse, line: Line) -> str:
    """Return a response's words if it is a whole answer.

    Raises:
        CallError: it was cut off, refused, broken off or empty.
    """
    text = text_of(response)
    kind, why = _fault(response, text)
    if kind is None:
        return text
    why = redact(f"{line.door.vendor}: {why}", line.door.secrets)
    raise CallError(one_line(why, MESSAGE_CHARS), kind=kind, partial=text)


def _fault(response: ModelResponse, text: str) -> tuple[str | None, str]:
    details = response.provider_details or {}
    match response.finish_reason:
        case "length":
            return "output_limit", "the answer was cut off at its token limit; raise max_tokens"
        case "content_filter":
            return "refused", f"the model or its content filter refused: {_refusal(details)}"
        case "error":
            return "provider", f"the answer failed: {details.get('finish_reason', 'no reason')}"
        case None:
            return "connection", _UNTOLD_END
    untold = "finish_reason" not in details and not _has_usage(response)
    if response.state == "incomplete" or untold:
        return "connection", _UNTOLD_END
    return (None, "") if text.strip() else ("empty", "the answer is empty")


def _has_usage(response: ModelResponse) -> bool:
    # Pydantic AI takes a chat stream that just stops for one that ended well. Usage comes last,
    # so that a stream which has it did end, whether or not it gave a reason.
    return not response.usage.unmeasured_requests


def _refusal(details: dict[str, Any]) -> str:
    for name in ("refusal", "block_reason_message", "block_reason", "finish_reason"):
        if details.get(name):
            return str(details[name])
    return "no reason given"


def _words_of(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
    return ""


def _chars_of(event: ModelResponseStreamEvent) -> int:
    match event:
        case PartStartEvent(part=TextPart(content=text) | ThinkingPart(content=text)):
            return len(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return len(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=thought)):
            return len(thought or "")
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(arguments))):
            return len(arguments)
    return 0
