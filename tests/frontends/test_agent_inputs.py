"""What a program may say to the agent's verbs: one schema, and every mistake is one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rt_notebook as rt
from rt_notebook import session
from rt_notebook.frontends.agent_arguments import read_arguments
from rt_notebook.frontends.agent_table import VERBS
from tests.frontends.agents import Line, asking


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"optoins": []}, "option", "unknown key 'optoins'; did you mean 'options'?"),
        ({"seats": [{"name": "pm", "lense": "x"}]}, "option", "did you mean 'lens'?"),
        ({"limits": {"max_call": 3}}, "option", "did you mean 'max_calls'?"),
        ({"rounds": "2"}, "option", "rounds: input should be a valid integer"),
        ({"rounds": 99}, "option", "rounds=99"),
        ({"question": " "}, "brief", "the question is empty"),
        ({"options": ["A"]}, "brief", "2 to 12"),
        ({"seats": ["pmm", "dev"]}, "seat", "no seat is named 'pmm'"),
        ({"seats": ["a=python:os:abort", "dev"]}, "seat", "runs code"),
        ({"seats": [{"name": "a", "model": "python:os:abort"}, "dev"]}, "seat", "runs code"),
        ({"chairman": " Python:os:abort"}, "seat", "runs code"),
        ({"limits": {"max_calls": 1}}, "limit", "max_calls"),
        ({"store": "postgresql://u:secret@h/d"}, "option", "keeps debates in a file"),
    ],
)
def test_input_that_does_not_fit_starts_nothing(
    changes: dict[str, Any], kind: str, message: str
) -> None:
    for verb in ("check", "start"):
        if verb == "check" and "store" in changes:
            continue
        found = Line(verb, "--input", asking(**changes))
        assert (found.status, found.error["kind"]) == (1, kind)
        assert message in found.error["message"]
        assert "secret" not in json.dumps(found.answer)
    assert session.rows() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the input is no JSON"),
        ("[1]", "input is an object; got [1]"),
        ('{"question": "a", "question": "b"}', "the key 'question' is there twice"),
        ('{"question": "a", "rounds": NaN}', "NaN is no JSON number"),
        ('{"question": "\\ud800", "options": ["A", "B"]}', "half character"),
        ('{"a":' * 100_000, "the input"),
        ("{}", "the input has no 'question'"),
        ("no-such-file.json", "can't be read: No such file"),
    ],
)
def test_unreadable_input_is_one_line(text: str, message: str) -> None:
    found = Line("check", "--input", text)
    assert found.status == 1
    assert message in found.error["message"]
    assert len(found.error["message"]) < 400


def test_input_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "debate.json"
    path.write_text("\ufeff" + asking(), encoding="utf-8")
    found = Line("check", "--input", str(path))
    assert found.answer["seats"] == [
        {"name": "pm", "model": "scripted"},
        {"name": "dev", "model": "scripted"},
    ]
    assert found.answer["estimate"]["calls"]["expected"] == 5
    assert session.rows() == []


def test_schema_names_every_argument_of_python() -> None:
    from rt_notebook.frontends.discussion import DiscussionSettings
    from rt_notebook.frontends.review import ReviewSettings

    schema = Line("schema").answer["schema"]
    python = {*ReviewSettings.__annotations__, *DiscussionSettings.__annotations__}
    # The view is the caller's own; who pays is for code and the person's own file to say.
    expected = python - {"display", "api_billing"} | {"question", "options", "seats", "kind"}
    assert set(schema["properties"]) == expected
    assert schema["additionalProperties"] is False
    assert set(Line("schema").answer["verbs"]) == set(VERBS)


def test_verb_without_arguments_takes_an_object_all_the_same() -> None:
    with pytest.raises(rt.OptionError, match=r"^the input is an object such as \{\}; got \[5\]"):
        read_arguments("guide", [5])
