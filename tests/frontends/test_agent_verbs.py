"""The agent's command line in one process: the form of answers, errors and exit statuses."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.domain.snapshot import Snapshot
from rt_notebook.frontends import agent
from rt_notebook.frontends.agent_arguments import ARGUMENTS
from rt_notebook.frontends.agent_errors import error_of
from rt_notebook.frontends.agent_next import CommandLines, ToolCalls, described
from rt_notebook.frontends.agent_table import VERBS, agent_help
from tests.frontends.agents import Line, asking, end_runners


@pytest.fixture
def waiting() -> Iterator[str]:
    """Gives a debate of this process that waits at its first gate."""
    seats = [rt.Seat("pm", lens="cost"), rt.Seat("dev", lens="risk")]
    review = rt.Review(
        "Ship now?",
        options=["Ship", "Wait"],
        seats=seats,
        question_wait_s=60,
        checkpoint_wait_s=60,
        unattended=False,
    )
    handle = review.start()
    assert rt.wait(handle.id, 10).gate is not None
    yield handle.id
    if not handle.done():
        handle.stop()
        handle.result(10)


@pytest.fixture
def done() -> str:
    """Gives a debate that is done."""
    return rt.Review("Ship now?", options=["Ship", "Wait"], gates="off").run_sync().id


# ---- the line ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("", "a verb is missing", None),
        ("strat", "there is no verb 'strat'", "did you mean 'start'?"),
        ("wait --id x --sekonds 3", "'--sekonds' is no flag", "did you mean '--seconds'?"),
        ("wait", "wait needs --id", None),
        ("wait --id", "--id needs a value", None),
        ("wait --id x --id y", "--id is given twice", None),
        ("wait --id x --seconds 0", "--seconds", None),
        ("wait --id x --seconds 31", "--seconds", None),
        ("wait --id x --seconds nan", "--seconds", None),
        ("wait --id x --seconds soon", "'soon' is not a number", None),
        ("wait --id x --after-round 51", "--after-round", None),
        ("status x", "'x' is no flag", None),
        ("start", "start needs --input", None),
        ("export --id x", "export needs --dir", None),
    ],
)
def test_wrong_line_is_told_with_status_two(line: str, message: str, hint: str | None) -> None:
    found = Line(*shlex.split(line))
    assert found.status == 2
    assert message in found.error["message"]
    assert found.error.get("hint") == hint


def test_table_and_arguments_know_the_same_verbs() -> None:
    assert list(VERBS) == [name for name in VERBS if name in ARGUMENTS]
    assert set(ARGUMENTS) == set(VERBS)
    for name, model in ARGUMENTS.items():
        usage = VERBS[name].usage
        flags = {f"--{field.replace('_', '-')}" for field in model.model_fields}
        assert flags == {
            word.strip("[]") for word in usage.split() if word.strip("[").startswith("--")
        }
        assert f"  {name}" in agent_help()


def test_nothing_but_the_answer_reaches_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert agent.main(["guide"]) == 0
    out, _ = capsys.readouterr()
    assert out.count("\n") == 1
    assert out.endswith("\n")
    assert json.loads(out)["guide"].startswith("# Roundtable")


def test_hostile_text_stays_on_one_harmless_line() -> None:
    text = agent.json_line({"title": "a\u2028b\x1b[2J\x9bm\x7f\ud800\nc"})
    assert text == '{"title":"a\\u2028b\\u001b[2J\\u009bm\\u007f\\ud800\\nc"}'
    text.encode("utf-8")
    assert agent.json_line({"title": "a\x7f"}) == '{"title":"a\\u007f"}'


def test_error_of_another_process_keeps_only_facts_that_an_error_takes() -> None:
    names = ("self", "facts", "args", "with_traceback", "x y", "field")
    found = error_of({"kind": "option", "message": "no", "hint": "h", **dict.fromkeys(names, 1)})
    assert (type(found), str(found), found.facts) == (rt.OptionError, "no", {"field": 1})


def test_huge_input_is_refused_unread(tmp_path: Path, waiting: str) -> None:
    path = tmp_path / "huge.json"
    path.write_text(json.dumps({"round": 0, "message": "x" * 10_000_000}), encoding="utf-8")
    before = rt.state(waiting)
    for given in (str(path), path.read_text(encoding="utf-8")):
        found = Line("answer", "--id", waiting, "--input", given)
        assert found.status == 1
        assert "4,194,304" in found.error["message"]
    assert rt.state(waiting) == before


# ---- debates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["status", "wait", "hold", "finish", "stop", "resume", "show"])
@pytest.mark.parametrize("name", ["../../x", "no-such-debate", "A\u202eB"])
def test_unknown_debate_is_told(verb: str, name: str) -> None:
    found = Line(verb, "--id", name)
    assert (found.status, found.error["kind"]) == (1, "unknown_debate")
    assert set(found.answer) == {"ok", "error"}


def test_closed_round_keeps_the_text(waiting: str) -> None:
    before = len(rt.load(waiting).events)
    given = {"round": 3, "answers": [{"id": "q1", "text": "kept"}]}
    found = Line("answer", "--id", waiting, "--input", json.dumps(given))
    assert (found.status, found.error["kind"]) == (1, "usage")
    assert found.error["kept"]["answers"] == {"q1": "kept"}
    assert found.answer["state"]["gate"]["round"] == 0
    assert found.answer["next"] == found.answer["state"]["next"]
    assert len(rt.load(waiting).events) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"round": 0, "message": "x" * 8_001}, "8,001 characters; 8,000 are allowed"),
        ({"round": 0, "answers": [{"id": "q9", "text": "x"}]}, "q9"),
        ({"round": 0, "answers": [{"id": "q1", "text": "x"}] * 2}, "answered twice"),
        ({"answers": [{"id": "q1", "text": "x"}]}, "the round is missing"),
        ({"round": 0, "seat": "pm"}, "seat and text belong together"),
        ({"round": 0, "seat": "pm", "text": "PASS"}, "no turn of 'pm' is open"),
        ({"round": -1}, "round"),
        ({"round": 0, "answer": []}, "did you mean 'answers'?"),
    ],
)
def test_answer_that_does_not_fit_changes_nothing(
    waiting: str, given: dict[str, Any], message: str
) -> None:
    before = rt.state(waiting)
    found = Line("answer", "--id", waiting, "--input", json.dumps(given))
    assert found.status == 1
    assert message in found.error["message"]
    assert rt.state(waiting) == before


def test_answer_is_marked_as_the_agents(waiting: str) -> None:
    given = {"round": 0, "answers": [{"id": "q1", "text": "8 000 €"}], "message": "Hurry."}
    found = Line("answer", "--id", waiting, "--input", json.dumps(given))
    assert found.status == 0
    (answered,) = [e.body for e in rt.load(waiting).events if e.kind == "gate_answered"]
    assert answered["source"] == "agent"
    assert (answered["answers"], answered["message"]) == ({"q1": "8 000 €"}, "Hurry.")


def test_gate_comes_with_ready_made_lines(waiting: str) -> None:
    found = Line("wait", "--id", waiting).answer
    action = found["next_action"]
    assert action["type"] == "ask_user"
    assert "in 60 s" in action["instruction"] or "in 59 s" in action["instruction"]
    words = shlex.split(action["command"])
    given = json.loads(words[words.index("--input") + 1])
    assert given["round"] == 0
    assert given["answers"][0] == {"id": "q1", "text": "..."}
    assert action["wait_command"].endswith(f"agent wait --id {waiting} --after-round 0")
    assert action["hold_command"].endswith(f"agent hold --id {waiting} --round 0")
    assert found["watch"].endswith(f"watch {waiting}")
    assert found["next"] == action["wait_command"]


def test_lines_name_the_store_that_was_named(tmp_path: Path) -> None:
    store = tmp_path / "my store.db"
    review = rt.Review("Ship now?", options=["Ship", "Wait"], gates="off", store=store)
    name = review.run_sync().id
    assert Line("status", "--id", name).error["kind"] == "unknown_debate"
    found = Line("status", "--id", name, "--store", str(store)).answer
    for line in (found["watch"], found["next"], found["next_action"]["command"]):
        assert shlex.split(line)[-2:] == ["--store", str(store)]


def test_store_of_the_input_is_named(tmp_path: Path) -> None:
    store = str(tmp_path / "other.db")
    found = Line("start", "--input", asking(gates="off", store=store)).answer
    assert shlex.split(found["next"])[-2:] == ["--store", store]
    assert session.rows() == []
    both = Line("start", "--store", "a.db", "--input", asking(store=store))
    assert "name two; keep one" in both.error["message"]
    session.wait(found["id"], 20, store)


def test_project_file_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RT_NOTEBOOK_STORE")
    (tmp_path / "roundtable.toml").write_text('[defaults]\nstore = "kept.db"\n', encoding="utf-8")
    name = rt.Review("Ship now?", options=["Ship", "Wait"], gates="off").run_sync().id
    assert (tmp_path / "kept.db").exists()
    assert Line("status", "--id", name).answer["status"] == "done"
    assert [row["id"] for row in Line("list").answer["debates"]] == [name]


def test_tools_are_named_for_mcp(waiting: str) -> None:
    found: Snapshot = rt.state(waiting)
    action = described(found, ToolCalls())["next_action"]
    name, _, arguments = action["hold_command"].partition(" ")
    assert (name, json.loads(arguments)) == ("roundtable_hold", {"id": waiting, "round": 0})
    assert described(found, CommandLines())["next_action"]["command"] != action["command"]


def test_finished_debate_is_shown_whole(done: str) -> None:
    found = Line("show", "--id", "last").answer
    assert (found["id"], found["verdict"]["status"]) == (done, "ready")
    assert found["next_action"]["type"] == "none"
    assert len(found["replies"]) == 6
    assert found["text"] == str(rt.load(done))
    assert Line("status", "--id", done).answer["next"].endswith(f"agent show --id {done}")


@pytest.mark.parametrize("verb", ["finish", "stop", "hold", "resume", "verdict"])
def test_verb_that_does_not_fit_shows_the_state(verb: str, done: str) -> None:
    before = len(rt.load(done).events)
    found = Line(verb, "--id", done)
    assert found.status == 1
    assert found.answer["state"]["status"] == "done"
    assert len(rt.load(done).events) == before


def test_status_without_id_tells_the_installation(waiting: str) -> None:
    found = Line("status").answer
    assert [row["id"] for row in found["running"]] == [waiting]
    assert found["defaults"]["rounds"] == "1"
    names = {provider["name"]: provider for provider in found["providers"]}
    assert names["scripted"]["ready"] is True
    assert all({"models", "efforts", "ready", "detail"} <= set(p) for p in names.values())
    assert all({"provider", "notice", "url"} == set(term) for term in found["terms"])


def test_free_checks_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(tmp_path / "debates.db"))

    def of(name: str, *words: str) -> dict[str, Any]:
        found = Line("status", *words).answer["providers"]
        return next(provider for provider in found if provider["name"] == name)

    assert of("cli:claude")["ready"] is None
    assert of("cli:claude", "--refresh")["ready"] is False
    assert of("cli:claude")["next_step"] == "npm install -g @anthropic-ai/claude-code"
    (tmp_path / "readiness.json").write_text("[", encoding="utf-8")
    assert of("cli:claude")["ready"] is None


def test_seats_that_can_be_named_are_told() -> None:
    found = Line("status").answer
    assert [seat["name"] for seat in found["seats"]] == ["pm", "dev", "rv"]
    assert next(p for p in found["providers"] if p["name"] == "openai")["ready"] is False


def test_export_lists_its_paths_and_delete_forgets(done: str, tmp_path: Path) -> None:
    found = Line("export", "--id", done, "--dir", str(tmp_path / "adr")).answer
    assert found["id"] == done
    assert all(Path(path).is_file() for path in found["paths"])
    assert Line("delete", "--id", done).answer == {"ok": True, "deleted": done}
    assert Line("list").answer["debates"] == []


def test_running_debate_is_not_deleted(waiting: str) -> None:
    found = Line("delete", "--id", waiting)
    assert found.status == 1
    assert rt.state(waiting).status == "waiting"


def test_full_disk_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "no place"
    folder.mkdir()
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(folder / "debates.db"))
    monkeypatch.setattr(os, "open", _full)
    found = Line("start", "--input", asking())
    monkeypatch.undo()
    assert (found.status, found.error["kind"]) == (1, "store")
    assert "No space left on device; nothing was started" in found.error["message"]


def _full(*given: object, **said: object) -> int:
    raise OSError(28, "No space left on device")


def test_runner_that_cannot_store_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kept"
    (folder / "logs").mkdir(parents=True)
    (folder / "debates.db").write_bytes(b"no database at all" * 100)
    monkeypatch.setenv("RT_NOTEBOOK_STORE", str(folder / "debates.db"))
    found = Line("start", "--input", asking())
    assert (found.status, found.error["kind"]) == (1, "store")
    assert list((folder / "logs").iterdir()) == []


def test_limits_are_changed_by_resume() -> None:
    steps = {name: [rt.say(stance=name, new=[f"point {n}"]) for n in range(9)] for name in "AB"}
    seats = [rt.Seat(f"for {name}", model=rt.scripted(steps[name])) for name in "AB"]
    limits = rt.Limits(max_calls=4, on_limit="pause")
    review = rt.Review(
        "Ship?", options=["A", "B"], seats=seats, gates="off", rounds=3, limits=limits
    )
    result = review.run_sync()
    assert result.status == "paused"
    given = json.dumps({"limits": {"max_calls": 40}})
    found = Line("resume", "--id", result.id, "--input", given)
    assert found.status == 0, found.answer
    ended = rt.wait(result.id, 20)
    assert ended.status == "done"
    (resumed,) = [event.body for event in rt.load(result.id).events if event.kind == "resumed"]
    assert (resumed["limits"]["max_calls"], resumed["limits"]["on_limit"]) == (40, "pause")
    assert resumed["source"] == "agent"
    end_runners()
