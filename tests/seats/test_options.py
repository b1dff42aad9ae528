"""What a call may say about real seats, and what only a call or the user's own file may say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook.config import load_config, seat_table
from tests.engine.debates import reply
from tests.environment import ROOT, scrubbed_environment
from tests.providers.cli.fakes import fake
from tests.seats.table import KEYS, claude_folder, model_of, seat
from tests.wire.script import Asked, Say, Step, ToolUse
from tests.wire.server import WireServer

pytestmark = pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning")

OPTIONS = ["Ship", "Wait"]


def _review(*seats: rt.Seat, **settings: Any) -> rt.Review:
    return rt.Review("Ship?", options=OPTIONS, seats=seats, unattended=True, **settings)


@pytest.mark.parametrize(
    ("effort", "higher"), [(None, "high"), ("low", "medium"), ("medium", "high"), ("high", "high")]
)
def test_first_real_model_chairs_one_step_higher(effort: Any, higher: str) -> None:
    named = {"base_url": "http://localhost:1", "api_key_env": "K", "timeout_s": 9.0}
    first = rt.Seat("b", model="openai:gpt-5", effort=effort, persona="p", lens="cost", **named)
    chairman = _review(rt.Seat("a"), first, rt.Seat("c", model="cli:claude")).spec.chairman
    assert chairman is not None
    assert (chairman.name, chairman.model, chairman.effort) == ("chairman", "openai:gpt-5", higher)
    assert (chairman.persona, chairman.lens, chairman.mood, chairman.tools) == (
        None,
        None,
        None,
        (),
    )
    assert {name: getattr(chairman, name) for name in named} == named
    assert _review(rt.Seat("a"), rt.Seat("b", model=lambda call: "PASS")).spec.chairman is None


def test_antigravity_needs_both_consents_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "", "agy")
    monkeypatch.setenv("PATH", str(tmp_path))
    seats = [rt.Seat("a", model="cli:antigravity"), rt.Seat("b")]
    with pytest.raises(rt.SeatError, match=r"warn against .* acknowledge_terms=\['antigravity'\]"):
        _review(*seats).check()
    with pytest.raises(rt.SeatError, match="allow_limited_isolation=True"):
        _review(*seats, acknowledge_terms=["antigravity"]).check()
    both = _review(*seats, acknowledge_terms=["antigravity"], allow_limited_isolation=True)
    assert any("it was never tried" in line for line in both.check().warnings)
    with pytest.raises(rt.OptionError, match="a list is expected"):
        _review(*seats, acknowledge_terms="antigravity")


def test_files_cannot_consent_and_projects_cannot_bill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "roundtable.toml"
    for line, words in {
        "[review]\nallow_limited_isolation = true": "is a consent, which only the call itself",
        "[defaults]\napi_billing = true": "a project's file can't say it",
        "[seats.a]\nbase_url = 'https://x'": "could send a key",
        "[seats.a]\napi_key_env = 'X'": "could send a key",
        "[seats.a]\nmodel = 'python:os:system'": "runs code",
    }.items():
        project.write_text(line, encoding="utf-8")
        with pytest.raises(rt.OptionError, match=words):
            load_config(tmp_path)
    project.unlink()
    user = tmp_path / "own.toml"
    user.write_text("[defaults]\napi_billing = true\n[seats.a]\napi_key_env = 'X'", "utf-8")
    monkeypatch.setenv("RT_NOTEBOOK_CONFIG", str(user))
    assert _review(rt.Seat("a"), rt.Seat("b")).spec.api_billing is True
    monkeypatch.setenv("RT_NOTEBOOK_API_BILLING", "0")
    assert _review(rt.Seat("a"), rt.Seat("b")).spec.api_billing is False
    assert _review(rt.Seat("a"), rt.Seat("b"), api_billing=True).spec.api_billing is True


def test_command_is_billed_by_key_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(claude_folder(tmp_path, before="")))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEYS["ANTHROPIC_API_KEY"])
    seats = [rt.Seat("dan", model="cli:claude"), rt.Seat("b")]

    def environment(**settings: Any) -> dict[str, str]:
        _review(*seats, chairman="scripted", rounds=0, **settings).run_sync()
        found: dict[str, str] = json.loads((tmp_path / "environment.json").read_text("utf-8"))
        return found

    assert "ANTHROPIC_API_KEY" not in environment()
    assert environment(api_billing=True)["ANTHROPIC_API_KEY"] == KEYS["ANTHROPIC_API_KEY"]
    monkeypatch.setenv("RT_NOTEBOOK_API_BILLING", "1")
    assert "ANTHROPIC_API_KEY" in environment()


def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: forty-two"


@pytest.mark.usefixtures("keys")
def test_tools_are_called_and_shown_to_the_others(wire: WireServer) -> None:
    def ada(asked: Asked) -> Step:
        if "forty-two" in json.dumps(asked.body["messages"][-1]):
            return Say(reply("opt-1", "It is forty-two."))
        return Say("", tools=(ToolUse("look_up", {"word": "answer"}),))

    wire.script(ada, model=model_of("ada"))
    ben = [Say(reply("opt-2", "No.")), Say(reply("opt-1"))]
    wire.script(*ben, model=model_of("ben"))
    seats = [seat(wire, "ada", tools=[look_up]), seat(wire, "ben")]
    result = _review(*seats, chairman="scripted", rounds=1).run_sync()

    assert result.status == "done"
    (call, *_) = (call for call in result.events if call.kind == "call_finished")
    tools = [e.body["tool_calls"] for e in result.events if e.kind == "call_finished"]
    assert any(used and used[0]["name"] == "look_up" for used in tools), call
    asked = [a for a in wire.asked if a.model == model_of("ben")]
    assert "[tool look_up]" in json.dumps(asked[-1].body)
    assert "[tool" not in json.dumps(asked[0].body)
    assert result.events[0].body["spec"]["seats"][0]["tools"] == ["look_up"]


@pytest.mark.usefixtures("keys")
def test_resume_wants_the_tools_again(wire: WireServer) -> None:
    from tests.wire.script import Fail

    wire.script(Fail(401))
    seats = [seat(wire, "ada", tools=[look_up]), seat(wire, "ben")]
    result = _review(*seats, chairman="scripted", rounds=0).run_sync()
    assert result.status == "error"
    wire.script(Say(reply("opt-1")))
    with pytest.raises(rt.NotResumableError, match="seat 'ada' had the tool 'look_up'"):
        rt.resume(result.id).stop()
    assert rt.resume(result.id, models={"look_up": look_up}).result(20).status == "done"


def test_what_cannot_sit_is_refused_before_any_call(tmp_path: Path) -> None:
    with pytest.raises(rt.SeatError, match="no key: set the environment variable OPENAI_API_KEY"):
        _review(rt.Seat("a", model="openai:gpt-5"), rt.Seat("b")).check()
    with pytest.raises(rt.SeatError, match=r"'codex' isn't on PATH"):
        _review(rt.Seat("a", model="cli:codex"), rt.Seat("b")).check()
    with pytest.raises(rt.SeatError, match="a list of functions is expected"):
        rt.Seat("a", tools=look_up)
    with pytest.raises(rt.SeatError, match="3 is no function"):
        rt.Seat("a", tools=(3,))


def test_seats_show_how_they_are_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(claude_folder(tmp_path)))
    monkeypatch.setenv("OPENAI_API_KEY", KEYS["OPENAI_API_KEY"])
    variables = {
        "one": rt.Seat("one", model="openai:gpt-5"),
        "three": rt.Seat("three", model="cli:codex"),
        "two": rt.Seat("two", model="cli:claude"),
        "zero": rt.Seat("zero", model="anthropic:claude-sonnet-4-6"),
    }
    rows = seat_table(load_config(tmp_path), variables)
    found = {row["name"]: (row["auth"], row["problem"]) for row in rows}
    assert (found["one"], found["two"], found["pm"]) == (
        ("key", None),
        ("login", None),
        ("none", None),
    )
    assert "isn't on PATH" in str(found["three"][1])
    assert (found["zero"][0], "ANTHROPIC_API_KEY" in str(found["zero"][1])) == ("none", True)


@pytest.mark.usefixtures("keys")
def test_unknown_price_is_said_once(wire: WireServer) -> None:
    wire.script(Say(reply("opt-1")))
    mine = rt.Seat("x", model="openai-compatible:mine", base_url=wire.base_url("chat"))
    review = _review(mine, rt.Seat("y"), chairman="scripted", rounds=0)
    words = "no price is known for openai-compatible:mine: what they cost is missing, not 0"
    assert review.check().warnings.count(words) == 1
    result = review.run_sync()
    assert result.warnings.count(words) == 1
    assert result.state.usage["vendors"]["openai-compatible"]["cost"] is None


_WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pydantic_ai", "genai_prices", "openai", "anthropic", "google"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import rt_notebook as rt
"""


def _python(code: str, home: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**scrubbed_environment(home), **environment},
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_missing_extra_is_one_line_with_its_command(tmp_path: Path) -> None:
    ask = "[rt.Seat('a', model='openai:gpt-5'), rt.Seat('b')]"
    code = (
        f"{_WITHOUT}\ntry:\n    rt.Review('Q', options=['x', 'y'], seats={ask}).check()\n"
        "except rt.MissingExtraError as e:\n    print(e)"
    )
    said = _python(code, tmp_path, OPENAI_API_KEY="sk-x")
    assert said == (
        "seat 'a': model APIs need an extra package (pydantic_ai): "
        'pip install "rt-notebook[api]"\n'
    )


def test_nothing_heavy_is_loaded_without_a_real_seat(tmp_path: Path) -> None:
    code = (
        f"{_WITHOUT}\nseats = [rt.Seat('a'), rt.Seat('b', model=lambda call: 'STANCE: opt-1')]\n"
        "rt.Review('Q', options=['x', 'y'], seats=seats, unattended=True).run_sync()\n"
        "heavy = {'pydantic_ai', 'genai_prices', 'openai', 'rt_notebook.providers.cli.provider'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert _python(code, tmp_path) == "[]\n"


def test_free_chairman_makes_no_price_for_unpriced_seats(wire: WireServer) -> None:
    wire.script(Say(reply("opt-1")))
    own = {"model": "openai-compatible:mine", "base_url": wire.base_url("chat")}
    result = _review(rt.Seat("a", **own), rt.Seat("b", **own), chairman="scripted").run_sync()

    assert result.verdict.status == "ready"
    assert result.state.usage["cost"] is None
    costs = result.usage.set_index(["scope", "name"])["cost"]
    assert costs["seat", "chairman"] == 0.0
    assert costs[[("seat", "a"), ("vendor", "openai-compatible"), ("all", "all")]].isna().all()
    assert "$" not in str(result)
