"""One review with a seat at each vendor's wire and a command, and a fault in every phase."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from genai_prices import Usage, calc_price

import rt_notebook as rt
from tests.engine.debates import VERDICT, reply
from tests.providers.cli.fakes import alive, children
from tests.seats.table import model_of, seat
from tests.wire.script import Fail, Hang, Say
from tests.wire.server import WireServer

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning"),
    pytest.mark.usefixtures("keys"),
]


def _review(wire: WireServer, **settings: object) -> rt.Review:
    seats = [
        seat(wire, "ada", timeout_s=30),
        seat(wire, "ben", timeout_s=4),
        seat(wire, "cleo", timeout_s=30),
        rt.Seat("dan", model="cli:claude/opus", timeout_s=30),
    ]
    return rt.Review(
        "Ship the release now?",
        options=["Ship", "Wait"],
        seats=seats,
        chairman=seat(wire, "chair"),
        unattended=True,
        **settings,  # type: ignore[arg-type]  # checked by Review itself
    )


def _faults(wire: WireServer) -> None:
    """429 in round 0, a hang in round 1, a dropped stream at the verdict."""
    say = {"ada": reply("opt-1", "It is ready."), "cleo": reply("opt-1", "Users wait.")}
    wire.script(Fail(429, retry_after="1"), Say(say["ada"]), model=model_of("ada"))
    wire.script(Say(reply("opt-2", "It is not.")), Hang(), model=model_of("ben"))
    wire.script(Say(say["cleo"]), model=model_of("cleo"))
    wire.script(Say(VERDICT, ends="drop"), Say(VERDICT), model=model_of("chair"))


def test_review_survives_a_fault_in_every_phase(wire: WireServer, claude: Path) -> None:
    _faults(wire)
    result = _review(wire).run_sync()

    assert (result.status, result.stop_reason) == ("done", "rounds")
    assert result.verdict.status == "ready"
    assert result.verdict.pick == "opt-1"
    failed = result.calls[result.calls["error"].notna()]
    assert sorted(zip(failed["seat"], failed["error"], strict=True)) == [
        ("ada", "rate_limit"),
        ("ben", "timeout"),
        ("chair", "connection"),
    ]
    text = str(result)
    assert "ben" in text
    assert "no answer within" in text
    assert {p.seat: p.stance_key for p in result.state.positions} == {
        "ada": "opt-1",
        "ben": "opt-2",
        "cleo": "opt-1",
        "dan": "opt-2",
    }
    assert result.state.tally == {"opt-1": ["ada", "cleo"], "opt-2": ["ben", "dan"]}
    assert alive(claude) == []
    assert children() == []


def test_cost_is_what_the_server_counted(
    wire: WireServer, claude: Path, keys: dict[str, str]
) -> None:
    _faults(wire)
    result = _review(wire).run_sync()

    usage = result.state.usage
    vendors = {"anthropic": ("ada", "ANTHROPIC_API_KEY"), "google": ("cleo", "GOOGLE_API_KEY")}
    for vendor, (name, variable) in vendors.items():
        billed, told = wire.billed[keys[variable]], usage["vendors"][vendor]
        assert (told["prompt_tokens"], told["completion_tokens"]) == (
            billed.prompt,
            billed.completion,
        )
        price = calc_price(
            Usage(
                input_tokens=billed.prompt,
                output_tokens=billed.completion,
                cache_read_tokens=told["cached_tokens"],
            ),
            model_of(name),
            provider_id=vendor,
        ).total_price
        assert told["cost"] == pytest.approx(float(price))
    # Ben and the chairman share OpenAI's key; the command's login costs nobody knows what.
    both = wire.billed[keys["OPENAI_API_KEY"]]
    openai = [usage["vendors"]["openai"], usage["vendors"]["openai-chat"]]
    assert sum(one["prompt_tokens"] for one in openai) == both.prompt
    assert usage["vendors"]["cli:claude"]["cost"] is None
    assert usage["vendors"]["cli:claude"]["prompt_tokens"] == 2 * 900
    known = [one["cost"] for name, one in usage["vendors"].items() if name != "cli:claude"]
    assert usage["cost"] == pytest.approx(sum(known))
    assert usage["calls"] == sum(wire.calls.values()) + 2


def test_keys_are_nowhere_but_in_the_requests(
    wire: WireServer,
    claude: Path,
    keys: dict[str, str],
    tmp_path: Path,
    home: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    _faults(wire)
    leak = Fail(401, message=f"Incorrect API key provided: {keys['GOOGLE_API_KEY']}")
    wire.script(leak, model=model_of("cleo"))
    store = tmp_path / "store.db"
    review = _review(wire, store=store)
    result = review.run_sync()

    assert {asked.key for asked in wire.asked} == set(keys.values())
    shown = [
        repr(review), repr(review.spec), str(review.check()), repr(result), str(result),
        json.dumps(result._repr_mimebundle_()), json.dumps(result.state.to_json()),
        repr(result.events), result.calls.to_csv(), "\n".join(result.warnings), caplog.text,
        (tmp_path / "environment.json").read_text(encoding="utf-8"),
        (tmp_path / "prompt.txt").read_text(encoding="utf-8"),
    ]  # fmt: skip
    for folder in (tmp_path, home):
        for path in folder.rglob("*"):
            if path.is_file():
                shown.append(path.read_bytes().decode("utf-8", "replace"))
    for key in keys.values():
        assert [text[:200] for text in shown if key in text] == []
    environment = json.loads((tmp_path / "environment.json").read_text(encoding="utf-8"))
    assert not any(name.endswith(("_API_KEY", "_BASE_URL", "_TOKEN")) for name in environment)


def test_every_receiver_of_the_brief_is_named(wire: WireServer, claude: Path) -> None:
    found = _review(wire).check()
    assert set(found.vendors) == {"anthropic", "openai", "google", "cli:claude", "openai-chat"}
    assert found.cost is None
    assert found.vendors["anthropic"]["cost"] is not None
    assert wire.asked == []
