"""A discussion that a real small model holds, with an observer."""

from __future__ import annotations

import rt_notebook as rt
from tests.local_model.debates import ENDINGS, QUESTION, assert_counted, assert_whole, seat
from tests.local_model.relay import Relay


def test_discussion_is_summed_up_by_its_observer(model: Relay) -> None:
    result = rt.Discussion(
        QUESTION,
        seats=[seat(model, "pm", max_tokens=400), seat(model, "dev", max_tokens=400)],
        observer=seat(model, "eve", max_tokens=600),
    ).run_sync()

    assert (result.status, result.stop_reason in ENDINGS) == ("done", True), str(result)
    assert_whole(result)
    assert_counted(result, model.passed)
    if result.summary.status == "ready":
        assert result.summary.text in str(result)
    else:
        assert "The summary failed: " in str(result)
    first, second = model.passed[:2]
    if first.ends == "stop":  # else it failed, and nobody is shown half of a turn
        assert first.text.strip()[:30] in second.prompt
