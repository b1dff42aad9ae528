"""Whole debates with hostile seats, tools, errors and answers: through engine, store and back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.characters import plain, whole
from rt_notebook.contract.prompts import brief_token
from rt_notebook.providers.base import Call, Completion
from rt_notebook.rendering import report_html, report_markdown, report_text
from tests.hostile.checks import assert_harmless_html, assert_harmless_text
from tests.hostile.corpus import FAMILIES
from tests.hostile.debates import brief_of, line_of, name_of

every_family = pytest.mark.parametrize("family", FAMILIES)


class _Speaker:
    """Says a family's texts one after the other, in form or without any."""

    def __init__(self, texts: list[str], *, in_form: bool) -> None:
        self.texts, self.in_form = texts, in_form
        self.said: list[str] = []
        self.calls: list[Call] = []

    def __call__(self, call: Call) -> Completion:
        self.calls.append(call)
        text = self.texts[len(self.said) % len(self.texts)]
        answer = text
        if self.in_form:
            one = line_of(text, 2_000)
            answer = (
                f"STANCE: other: {one}\nAGREE_WITH: {one}\nDISAGREE:\n- {one}\nNEW:\n- {one}\n"
                f"ASSUMPTIONS:\n- {one}\nQUESTION_FOR_HUMAN: {one}?\n{text}"
            )
        self.said.append(answer)
        tools = [{"name": text[:100], "preview": text}]
        return Completion(answer, tool_calls=tools, model=text[:200], request_id=text[:200])


def _review(family: str, **fields: Any) -> tuple[rt.Review, list[_Speaker]]:
    texts = [text[:4_000] for text in FAMILIES[family]]
    first = texts[0]
    half = len(texts) // 2
    speakers = [
        _Speaker(texts[:half], in_form=True),
        _Speaker(texts[half:], in_form=True),
        _Speaker(texts, in_form=False),
    ]

    def broken(call: Call) -> str:
        raise ValueError(texts[call.round % len(texts)])

    names = [name_of(first), "second", "no form", "broken"]
    models = [*speakers, broken]
    seats = [rt.Seat(name, model=model) for name, model in zip(names, models, strict=True)]
    brief = brief_of(first)
    review = rt.Review(
        brief.question,
        options=list(brief.options),
        known=[text[:1_900] for text in texts[:50] if plain(text).strip()],
        seats=seats,
        rounds=2,
        unattended=True,
        loop_threshold=0,
        title=line_of(first, 190),
        **fields,
    )
    return review, speakers


@every_family
def test_hostile_review_ends_and_comes_back_as_it_was(family: str) -> None:
    review, speakers = _review(family)
    result = review.run_sync()
    assert result.status == "done"
    again = rt.load(result.id)
    for found in (result, again):
        for reply in found.fold.latest_replies().values():
            assert reply.reply is not None
        said = set(found.replies.text.dropna())
        assert said <= {whole(text) for speaker in speakers for text in speaker.said}
        assert_harmless_text(str(found))
        assert_harmless_html(report_html(found.fold))
        assert_harmless_text(report_markdown(found.fold))
        assert_harmless_text(report_text(found.fold))
    assert rt.debates().title.tolist() == [whole(result.title)]
    errors = [error["message"] for error in again.state.to_json()["errors"]]
    assert errors
    for message in errors:
        assert_harmless_text(message)
    token = brief_token(result.spec)
    prompts = [message.text for speaker in speakers for call in speaker.calls
               for message in call.messages if message.role == "user"]  # fmt: skip
    assert prompts
    for prompt in prompts:
        marks = [line for line in prompt.split("\n") if line.startswith("<<<")]
        assert all(line.startswith(f"<<<{token} ") and line.endswith(">>>") for line in marks)
        ends = [line == f"<<<{token} end>>>" for line in marks]
        assert ends == [False, True] * (len(marks) // 2)


def _chunks(family: str, count: int) -> list[str]:
    """Returns a family's texts in so many pieces, each as long as an answer may be."""
    texts = [text[:3_000] for text in FAMILIES[family] if len(text) <= 3_000]
    return ["\n".join(texts[place::count])[:7_900].strip() for place in range(count)]


@every_family
def test_hostile_answers_reach_the_log_as_they_were_sent(family: str) -> None:
    chunks = _chunks(family, 4)
    sent = list(chunks)

    def asks(call: Call) -> str:
        return (
            "STANCE: opt-1\nAGREE_WITH: []\nDISAGREE: none\nNEW: none\nASSUMPTIONS: none\n"
            f"QUESTION_FOR_HUMAN: What about {call.round}?"
        )

    async def answered() -> rt.Result:
        review = rt.Review(
            "Ship?", options=["a", "b"], seats=[rt.Seat("pm", model=asks), rt.Seat("dev")],
            rounds=2, unattended=False, question_wait_s=30, loop_threshold=0, display=False,
        )  # fmt: skip
        handle = review.start()
        while not handle.done():
            state = rt.wait(handle.id, seconds=5)
            if state.gate is not None and state.gate.questions:
                handle.answer({"q1": sent.pop()}, message=sent.pop(), round=state.gate.round)
        return await handle

    result = asyncio.run(answered())  # noqa: TID251  (a person's own loop)
    assert sent == []
    given = [note.text for note in result.fold.notes]
    assert sorted(given) == sorted(whole(chunk) for chunk in chunks)
    assert [note.text for note in rt.load(result.id).fold.notes] == given
    assert result.questions.answer.dropna().tolist() == given[::2]
    assert_harmless_html(report_html(result.fold))
    assert_harmless_text(str(result))
