"""Every reader of text from outside, as one function from a text to nothing.

Each takes any text. What it may raise is a RoundtableError; anything else, and a broken promise of
its own, is a finding. The property tests and the coverage-guided fuzzer run the same functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from rt_notebook.contract import (
    Reply,
    VerdictText,
    read_question,
    read_reply,
    read_verdict,
    render_reply,
)
from rt_notebook.contract.cell import open_fence, read_cell, section_names
from rt_notebook.contract.fill import fill, fill_cell
from rt_notebook.contract.line import parse_line
from rt_notebook.contract.naming import match_option, match_stance
from rt_notebook.contract.options import SECTIONS
from rt_notebook.contract.record import lines_of, read_record
from rt_notebook.contract.similarity import similarity
from rt_notebook.contract.speech import read_speech, read_summary, spoken_text
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.errors import RoundtableError
from rt_notebook.frontends.agent_arguments import ARGUMENTS, read_arguments
from rt_notebook.frontends.agent_errors import error_json
from rt_notebook.frontends.agent_schema import parse_json
from rt_notebook.frontends.cell_transform import split_cell
from rt_notebook.frontends.setup_json import parse as parse_settings
from rt_notebook.frontends.setup_json import with_entry, without_entry
from rt_notebook.frontends.verbs import new_limits, read_verb
from rt_notebook.providers.cli.failures import kind_of, missing_answer, unwrapped
from rt_notebook.providers.cli.process import Ended
from rt_notebook.providers.cli.searching import read_sources
from rt_notebook.providers.redaction import redact
from rt_notebook.store.record import public_error

OPTIONS: Final = ("Ship", "Ship later", "Ship*", "出荷する")
SEATS: Final = ("pm", "dev", "Seat A", "Žofie")
_VALUES: Final = ("passed", "stance", "stance_key", "agree_with", "disagree", "new", "assumptions",
                  "question")  # fmt: skip
# The round trip is promised for values without these.
_BREAKS: Final = frozenset("\u2028\u2029\r")
_SECRET: Final = "hunter2-hunter2"  # noqa: S105 (planted, to be looked for)


def reply(text: str) -> None:
    """Read a seat's reply in every way there is, render it, and read it again."""
    for number, trim in ((0, True), (1, True), (1, False)):
        read = read_reply(text, options=OPTIONS, round=number, trim=trim, seat="dev", seats=SEATS)
        assert read.valid is not bool(read.errors)
        assert read.raw is text
        assert Reply.from_json(json.loads(json.dumps(read.to_json()))) == read
        assert len(set(read.notes)) == len(read.notes)
        assert not read.valid or read.stance_key is not None
        if not _BREAKS & set(text):
            again = read_reply(
                render_reply(read, OPTIONS), options=OPTIONS, round=number, trim=trim,
                seat="dev", seats=SEATS,
            )  # fmt: skip
            assert [getattr(again, n) for n in _VALUES] == [getattr(read, n) for n in _VALUES]


def verdict(text: str) -> None:
    """Read a chairman's verdict."""
    read = read_verdict(text, options=OPTIONS)
    assert read.valid is not bool(read.errors)
    assert VerdictText.from_json(json.loads(json.dumps(read.to_json()))) == read
    assert not read.valid or read.pick in ("none", "opt-1", "opt-2", "opt-3", "opt-4")


def question(text: str) -> None:
    """Read what stands behind the header of a question."""
    found = read_question(text)
    assert found is None or read_question(f"- {found}") == found


def naming(text: str) -> None:
    """Find the option or stance that a few words name."""
    option, stance = match_option(text, OPTIONS), match_stance(text, OPTIONS)
    assert option is None or stance == option
    assert stance is None or match_stance(stance, OPTIONS) == stance


def speech(text: str) -> None:
    """Read a turn of a discussion, and a summary."""
    said = read_speech(text)
    assert said.valid is not bool(said.errors)
    assert Reply.from_json(said.to_json()) == said
    assert not said.valid or spoken_text(said).strip()
    assert VerdictText.from_json(read_summary(text).to_json()).recommendation is not None
    assert 0.0 <= similarity(text, text[::-1]) <= 1.0


def cell(text: str) -> None:
    """Read a cell's body, and make a brief and seats of it."""
    names = section_names(text)
    assert set(names) <= set(SECTIONS)
    assert open_fence(text) <= text.count("\n") + 1
    with suppress(RoundtableError):
        read = read_cell(text)
        assert read.question.strip()
        assert len(set(names)) == len(names)
        if not names:
            assert read.question in text, "the body isn't left as it is"
        assert fill_cell(read, values={}).cell == read
        with suppress(RoundtableError):
            Brief(**read.brief_fields())
        for seat in read.seats:
            with suppress(RoundtableError):
                Seat(**{"model": "scripted", **seat})


def line(text: str) -> None:
    """Read the line of a cell magic and of a line magic, and a whole cell."""
    with suppress(RoundtableError):
        options = parse_line(text)
        assert options.variable is None or options.variable.isidentifier()
        assert options.settings() is not None
    with suppress(RoundtableError):
        command = read_verb(text)
        if command is not None:
            new_limits(command)
    split = split_cell(text.splitlines(keepends=True))
    assert split is None or text.endswith(split.body)


class _Value:
    """A value whose format is its own."""

    def __format__(self, spec: str) -> str:
        if len(spec) > 9:
            raise ValueError(spec)
        return f"<{spec}>"


def filling(text: str) -> None:
    """Fill variables in, each once, whatever they hold."""
    values = {"x": "{y} {x}", "y": 7.25, "z": _Value(), "_": None}
    assert fill(text, (), values) == text
    with suppress(RoundtableError):
        filled = fill(text, ("x", "y", "z"), values)
        if "{" not in text:
            assert filled == text
    with suppress(RoundtableError):
        assert fill(text.replace("{", "("), ("x", "y", "z"), values) == text.replace("{", "(")


def record(text: str) -> None:
    """Read a record; what is read is written and read to the same."""
    with suppress(RoundtableError):
        found = read_record(text, "r.jsonl")
        # What JSON can't hold is gone after the first writing; then nothing changes any more.
        again = read_record(lines_of(found.events), "again")
        assert lines_of(again.events) == lines_of(found.events)
        assert again.state.status == found.state.status


def json_input(text: str) -> None:
    """Read what programs say: as JSON, then as every verb's arguments."""
    try:
        data = parse_json(text)
    except RoundtableError as error:
        json.dumps(error_json(error))
        return
    for verb in ARGUMENTS:
        for said in (data, {"id": "last", "input": data}):
            try:
                read_arguments(verb, said)
            except RoundtableError as error:
                json.dumps(error_json(error))


def stderr(text: str) -> None:
    """Make sense of what a command printed about its failure."""
    message, status = unwrapped(text)
    assert kind_of(message, status)
    assert str(missing_answer(Ended("exit", 1, text, 1.0), text))
    report, sources = read_sources(text)
    assert report == report.strip()
    json.dumps([source.to_json() for source in sources.all()])


def hiding(text: str) -> None:
    """Hide what nobody may read: keys, paths and hosts; again changes nothing more."""
    planted = f"{text} {_SECRET} {text}"
    once = redact(planted, [_SECRET])
    assert _SECRET not in once
    assert _SECRET not in public_error(planted, [_SECRET])


def settings_file(text: str) -> None:
    """Add our entry to another program's settings and take it away; the rest stays as it is."""
    path = ("mcpServers", "rt-notebook")
    try:
        before = parse_settings(text)
        changed = with_entry(text, path, {"command": "x"})
    except (RoundtableError, ValueError, RecursionError):
        return  # `setup` shows what can't be changed and leaves it alone
    after = parse_settings(changed)
    assert after["mcpServers"]["rt-notebook"] == {"command": "x"}
    expected: dict[str, Any] = json.loads(json.dumps(before))
    expected.setdefault("mcpServers", {})["rt-notebook"] = {"command": "x"}
    assert after == expected
    removed = parse_settings(without_entry(changed, path))
    del expected["mcpServers"]["rt-notebook"]
    assert removed == expected


TARGETS: Final[dict[str, Callable[[str], None]]] = {
    target.__name__: target
    for target in (
        reply, verdict, question, naming, speech, cell, line, filling, record, json_input, stderr,
        hiding, settings_file,
    )
}  # fmt: skip
"""By name; each takes any text."""
