"""Reviews that a real small model holds: they end properly, however badly it answers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rt_notebook.providers.prices import UNLISTED
from tests.local_model.debates import ENDINGS, MODEL, assert_counted, assert_whole, review, seat
from tests.local_model.relay import Relay
from tests.local_model.server import NAME, ModelServer

STOP_S = 2.0
"""Seconds within which whatever is stopped has ended."""


def test_review_ends_and_replays_without_server(model_server: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "review.jsonl"
    with Relay(model_server.address) as model:
        debate = review(model, record=path)
        result = debate.run_sync()
        assert model.in_flight == []

    assert (result.status, result.stop_reason in ENDINGS) == ("done", True), str(result)
    assert_whole(result)
    assert_counted(result, model.passed)
    assert set(result.calls["model"]) == {MODEL}
    if result.verdict.status == "failed":
        assert "The verdict failed: " in str(result)

    kept, asked = path.read_bytes(), len(model.passed)
    again = debate.run_sync()  # nothing listens at the seats' address any more
    assert (path.read_bytes(), len(model.passed)) == (kept, asked)
    assert again.events == result.events
    assert str(again) == str(result)


@pytest.mark.parametrize("vendor", sorted(UNLISTED))
def test_limit_reaches_the_server_by_every_door(model: Relay, vendor: str) -> None:
    seats = [seat(model, name, model=f"{vendor}:{NAME}", max_tokens=9) for name in ("a", "b")]
    result = review(model, seats=seats, chairman="scripted", rounds=0).run_sync()

    assert_whole(result)
    assert [one.body["model"] for one in model.passed] == [NAME] * len(model.passed)
    assert all(len(one.text.split()) <= 9 for one in model.passed)


def test_openais_own_door_leads_here_too(model: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's name for the limit means nothing to this server, so only time ends an answer."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    seats = [seat(model, name, model=f"openai-chat:{NAME}", timeout_s=20.0) for name in ("a", "b")]
    result = review(model, seats=seats, chairman="scripted", rounds=0).run_sync()

    assert_whole(result)
    assert {one.status for one in model.passed if one.text} == {200}
    assert "sk-of-nobody" not in str(result)


def test_answers_cut_off_by_the_limit_are_named(model: Relay) -> None:
    seats = [seat(model, name, max_tokens=5) for name in ("a", "b")]
    result = review(model, seats=seats).run_sync()

    assert (result.status, result.stop_reason) == ("error", "error")
    assert_whole(result)
    assert {one.ends for one in model.passed} == {"length"}
    assert set(result.calls["error"]) == {"output_limit"}
    assert str(result).count("raise max_tokens") == 2


def test_prompt_longer_than_the_context_is_hinted_at(model: Relay) -> None:
    """This server says so only to who doesn't ask for a stream; a stream just ends."""
    context = "Bread is baked at night. " * 3_000
    result = review(model, context=context, rounds=0).run_sync()

    assert (result.status, result.stop_reason) == ("error", "error")
    assert_whole(result)
    assert set(result.calls["error"]) == {"protocol"}
    assert {one.text for one in model.passed} == {""}
    assert "a prompt that is longer than its context" in " ".join(str(result).split())


def test_stop_ends_a_generating_model_in_time(model: Relay) -> None:
    handle = review(model).start()
    model.wait(lambda: any(one.text for one in model.passed))
    began = time.monotonic()
    handle.stop()
    result = handle.result(STOP_S)

    model.wait(lambda: not model.in_flight, STOP_S)
    assert time.monotonic() - began < STOP_S
    assert (result.status, result.stop_reason) == ("stopped", "stopped")
    assert any(one.left for one in model.passed)
    assert_whole(result)
    # The server has noticed too: it answers the next one.
    seats = [seat(model, name, max_tokens=5) for name in ("a", "b")]
    after = review(model, seats=seats, rounds=0).run_sync()
    assert {one.ends for one in model.passed[-2:]} == {"length"}
    assert_whole(after)


def test_timed_out_turn_is_skipped(model: Relay) -> None:
    seats = [seat(model, "slow", timeout_s=0.3), seat(model, "pm", max_tokens=5)]
    result = review(model, seats=seats, rounds=0, chairman="scripted").run_sync()

    assert_whole(result)
    assert result.calls.set_index("seat")["error"]["slow"] == "timeout"
    assert "no answer within" in str(result)
