"""A sweep's budget: what all its debates together may use, in one call and over several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.analysis.sweep import LIMITED, NO_BUDGET
from rt_notebook.errors import StoreError
from rt_notebook.store.sqlite import SqliteStore
from tests.analysis.sweeps import QUESTIONS, Speaker, run


@pytest.mark.parametrize("concurrency", [1, 4])
def test_calls_stay_within_budget(concurrency: int, store: Path) -> None:
    briefs = [f"Q{n}?" for n in range(10)]
    found = run(briefs, store, budget=rt.Limits(max_calls=16), concurrency=concurrency)
    debates = found.debates
    used = int(debates["calls"].sum())
    assert 12 <= used <= 16
    left = debates[debates["status"] == "not started"]
    assert 5 <= len(left) < 10
    assert set(left["error"]) == {NO_BUDGET}


@pytest.mark.parametrize("concurrency", [1, 3])
def test_budget_counts_what_earlier_calls_used(concurrency: int, store: Path) -> None:
    down = {"Ship now?"}

    def act(call: rt.Call, number: int) -> None:
        if call.brief is not None and call.brief.question in down:
            raise RuntimeError("down")

    given: dict[str, Any] = {"budget": rt.Limits(max_calls=12), "concurrency": concurrency}
    first = run(store=store, speaker=Speaker(act), rounds=0, **given)
    used = [result.state.usage["calls"] for result in first]
    assert first.failures == {first.ids[0]: "RuntimeError: down"}
    down.clear()
    more = ["Ship now?", "Ship ever?", *QUESTIONS[1:]]
    second = run(more, store=store, speaker=Speaker(act), rounds=0, **given)
    spent = {result.id: result.state.usage["calls"] for result in second}
    assert sum(used) < sum(spent.values()) <= 12
    assert all(second[name].status == "done" for name in first.ids)


def test_debate_that_goes_on_has_what_it_used_in_its_share(store: Path) -> None:
    down = True

    def act(call: rt.Call, number: int) -> None:
        if down:
            raise RuntimeError("down")

    # The debate needs 5 with the 2 of the first call: counted twice they would leave too little.
    given: dict[str, Any] = {"rounds": 0, "budget": rt.Limits(max_calls=5), "concurrency": 1}
    speaker = Speaker(act)
    first = run(QUESTIONS[:1], store, speaker=speaker, **given)
    assert (first[0].status, first[0].state.usage["calls"]) == ("error", 2)
    down = False
    second = run(QUESTIONS[:2], store, speaker=speaker, **given)
    assert second[0].status == "done"
    assert int(second.debates["calls"].sum()) == 5
    assert second.failures == {second.ids[1]: NO_BUDGET}


def test_debate_that_failed_often_still_gets_what_it_needs(store: Path) -> None:
    down = True

    def act(call: rt.Call, number: int) -> None:
        if down:
            raise RuntimeError("down")

    given: dict[str, Any] = {"rounds": 0, "budget": rt.Limits(max_calls=99)}
    speaker = Speaker(act)
    for _ in range(5):
        failed = run(["Q?"], store, speaker=speaker, **given)
        assert failed.failures == {failed.ids[0]: "RuntimeError: down"}
    down = False
    found = run(["Q?"], store, speaker=speaker, **given)
    assert (found[0].status, found[0].state.usage["calls"]) == ("done", 5 * 2 + 3)


def test_stopped_by_its_share_a_debate_says_so(store: Path) -> None:
    down = True

    def act(call: rt.Call, number: int) -> None:
        if down and "Ship now?" in call.prompt:
            raise RuntimeError("down")

    given: dict[str, Any] = {"budget": rt.Limits(max_calls=9), "concurrency": 1}
    speaker = Speaker(act)
    first = run(store=store, speaker=speaker, **given)
    assert first.failures == {first.ids[0]: "RuntimeError: down"}
    down = False
    second = run(store=store, speaker=speaker, **given)
    assert int(second.debates["calls"].sum()) <= 9
    assert second.failures == {second.ids[0]: LIMITED}


def test_unreadable_debate_leaves_the_others_their_budget(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(QUESTIONS[:1], store)
    broken = found.ids[0]
    events = SqliteStore.events

    def torn(self: SqliteStore, debate: str, *rest: Any) -> Any:
        if debate == broken:
            raise StoreError("torn")
        return events(self, debate, *rest)

    monkeypatch.setattr(SqliteStore, "events", torn)
    again = run(QUESTIONS[:2], store, budget=rt.Limits(max_calls=9))
    assert again[1].status == "done"
    assert again.failures == {broken: "StoreError: torn"}


def test_higher_budget_goes_on(store: Path) -> None:
    briefs = [f"Q{n}?" for n in range(6)]
    _ = run(briefs, store, budget=rt.Limits(max_calls=10))
    found = run(briefs, store, budget=rt.Limits(max_calls=15))
    # What the first call spent counts.
    assert int(found.debates["calls"].sum()) <= 15
    assert run(briefs, store).debates["status"].tolist() == ["done"] * 6


def test_vendors_and_tokens_are_bounded(store: Path) -> None:
    briefs = [f"Q{n}?" for n in range(6)]
    found = run(briefs, store, budget=rt.Limits(max_calls_per_vendor={"function": 5}))
    calls = found.calls
    assert len(calls[calls["model"].str.startswith("function")]) <= 5
    found = run(briefs, store, budget=rt.Limits(max_tokens=4_000))
    assert 0 < (found.debates["status"] == "done").sum() < 6


def test_time_of_sweep_is_bounded(store: Path) -> None:
    found = run(store=store, budget=rt.Limits(max_minutes=1e-9))
    assert found.debates["status"].tolist() == ["not started"] * 3
    # The default of a debate's own half an hour isn't a sweep's.
    assert run(store=store, budget=rt.Limits(max_calls=99)).debates["status"].eq("done").all()
