"""What is known of a process that answered a call: from the provider into the log and the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.errors import CallError
from tests.engine.debates import reply
from tests.providers.cli.fakes import call_of, fake, provider_of

FACTS = {"exit_code": -9, "stdout_bytes": 12, "stderr_bytes": 3, "idle_s": 0.25}
COLUMNS = ["exit_code", "stdout_bytes", "stderr_bytes", "idle_s"]


@pytest.mark.asyncio
async def test_commands_answer_brings_them(tmp_path: Path) -> None:
    provider = provider_of(fake(tmp_path, 'replay("gemini/ok")\nsay("note", sys.stderr)'), "gemini")
    done = await provider.complete(call_of(), lambda chars: None)
    assert done.process is not None
    facts = dict(done.process)
    assert facts.pop("idle_s") < 30
    assert facts.pop("stdout_bytes") > len(done.text)
    assert facts == {"exit_code": 0, "stderr_bytes": 4}


@pytest.mark.asyncio
async def test_commands_failure_brings_them(tmp_path: Path) -> None:
    provider = provider_of(fake(tmp_path, 'say("broken", sys.stderr)\nsys.exit(7)'), "gemini")
    with pytest.raises(CallError, match="broken") as caught:
        await provider.complete(call_of(), lambda chars: None)
    assert caught.value.process is not None
    assert caught.value.process["exit_code"] == 7
    assert caught.value.process["stderr_bytes"] == 6


def test_table_of_calls_has_them_also_where_a_call_failed() -> None:
    def answers(call: rt.Call) -> Any:
        return rt.Completion(reply("opt-1"), process=FACTS)

    def fails(call: rt.Call) -> Any:
        error = CallError("it broke", kind="provider")
        error.process = FACTS
        raise error

    seats = [rt.Seat("a", model=answers), rt.Seat("b", model="scripted"), rt.Seat("c", model=fails)]
    result = rt.Review("Ship?", options=["Ship", "Wait"], seats=seats, rounds=0).run_sync()
    calls = result.calls.set_index("seat")[COLUMNS]
    assert [*calls.loc["a"]] == [*calls.loc["c"]] == [-9, 12, 3, 0.25]
    assert calls.loc["b"].isna().all()
    assert rt.load(result.id).calls.set_index("seat").loc["a", "exit_code"] == -9


@pytest.mark.parametrize(
    "told", ["x", {"exit_code": "0"}, {"other": 1}, {"idle_s": float("nan")}, {"exit_code": True}]
)
def test_what_is_none_of_them_is_dropped(told: Any) -> None:
    def answers(call: rt.Call) -> Any:
        return rt.Completion(reply("opt-1"), process=told)

    seats = [rt.Seat("a", model=answers), rt.Seat("b", model="scripted")]
    result = rt.Review("Ship?", options=["Ship", "Wait"], seats=seats, rounds=0).run_sync()
    assert result.status == "done"
    assert result.calls[COLUMNS].isna().all().all()
