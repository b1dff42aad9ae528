"""What a person types: put together from its parts, it reads back as them."""

from __future__ import annotations

import shlex
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from rt_notebook.contract.cell import read_cell
from rt_notebook.contract.fill import fill, fill_cell
from rt_notebook.contract.line import parse_line
from rt_notebook.contract.options import LINE_OPTIONS, SEAT_FIELDS, Form, Option
from rt_notebook.domain.normal import normal_form
from tests.fuzz.budget import tried

# One line that begins like no bullet, fence or section, and holds no line end of any kind.
_LETTERS: Final = st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp", "Zs"))
entries = (
    st.text(_LETTERS | st.just(" "), min_size=1, max_size=30)
    .map(lambda text: f"x{text}".strip())
    .filter(lambda text: ":" not in text and "：" not in text)
)
lists = st.lists(entries, min_size=1, max_size=4, unique_by=normal_form)
lines = st.sampled_from(("", "Why now? {x} ${y}", "- a bullet", "1. one", "> quoted", "    code"))
questions = st.lists(lines | entries, min_size=1, max_size=4).filter(
    lambda found: bool(found[0].strip() and found[-1].strip())
)
seats = st.fixed_dictionaries(
    {"name": st.from_regex(r"[a-zž][a-z0-9]{0,8}", fullmatch=True)},
    optional={
        "model": st.sampled_from(("scripted", "human", "openai:x-1", "cli:claude/y")),
        "lens": st.sampled_from(("risk", "own words, with a comma")),
        "mood": st.just("grill"),
        "timeout_s": st.sampled_from((5.0, 0.25)),
        "retries": st.integers(0, 9),
    },
)


@tried(120)
@given(
    question=questions,
    found=st.fixed_dictionaries(
        {},
        optional={
            "options": st.lists(entries, min_size=2, max_size=4, unique_by=normal_form),
            "known": lists,
            "assumed": lists,
            "constraints": lists,
            "reversibility": entries,
            "deadline": entries,
            "context": entries,
        },
    ),
    sits=st.lists(seats, max_size=3),
    ends=st.sampled_from(("\n", "\r\n")),
    mark=st.sampled_from(("- ", "* ", "• ", "1. ", "  - ")),
    upper=st.booleans(),
)
def test_cell_reads_back_as_it_was_put_together(
    question: list[str], found: dict[str, Any], sits: list[dict[str, Any]], ends: str, mark: str,
    upper: bool,
) -> None:  # fmt: skip
    parts = [*question, ""]
    for name, value in found.items():
        head = f"{name.upper() if upper else name}:"
        parts += [head, *(mark + each for each in value)] if isinstance(value, list) else [
            f"{head} {value}"
        ]  # fmt: skip
    if sits:
        parts += ["seats:", *(f"{mark}{_seat(seat)}" for seat in sits)]
    read = read_cell(ends.join(parts))
    assert read.question.split("\n") == [
        line + ("\r" if ends == "\r\n" and place < len(question) - 1 else "")
        for place, line in enumerate(question)
    ]
    for name, value in found.items():
        expected = tuple(value) if isinstance(value, list) else value
        assert getattr(read, name) == expected, name
    assert list(read.seats) == sits
    assert fill_cell(read, values={}).cell == read


def _seat(seat: dict[str, Any]) -> str:
    fields = "; ".join(f"{name}={seat[name]}" for name in seat if name in SEAT_FIELDS)
    model = f"={seat['model']}" if "model" in seat else ""
    return f"{seat['name']}{model};{fields}"


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


def _value(option: Option) -> st.SearchStrategy[str]:
    if option.form is Form.COUNT:
        least = int(option.least) + option.positive
        return st.integers(least, int(min(option.most, 10**6))).map(str)
    if option.form is Form.NUMBER:
        return st.sampled_from(("0.5", "1", ".25", "1e-1"))
    if option.form is Form.CHOICE:
        return st.sampled_from(option.choices)
    names = st.from_regex(r"[a-z]{1,4}", fullmatch=True)
    if option.form is Form.COUNTS:
        return st.dictionaries(names, st.integers(0, 99), min_size=1, max_size=3).map(
            lambda found: ",".join(f"{name}={count}" for name, count in found.items())
        )
    if option.form is Form.TEXT:
        return words.filter(lambda text: bool(text.strip()))
    return st.lists(names, min_size=1, max_size=3, unique=True).map(",".join).filter(
        lambda text: not {"as", "if", "in", "is", "or", "def", "del", "for", "not", "and", "try",
                          "elif", "else", "from", "pass", "with"} & set(text.split(","))
    )  # fmt: skip


@st.composite
def given_options(draw: st.DrawFn) -> list[tuple[Option, str | None]]:
    """Return some options of the line, each once, with a value where they take one."""
    names = draw(st.lists(st.sampled_from(sorted(set(LINE_OPTIONS) - {"help"})), unique=True))
    found: list[tuple[Option, str | None]] = []
    for name in names:
        option = LINE_OPTIONS[name]
        flag = option.form is Form.FLAG
        found.append((option, None if flag else draw(_value(option))))
    return found


@tried(150)
@given(given_options(), st.booleans(), st.sampled_from((None, "result", "žluť")))
def test_line_reads_back_as_it_was_put_together(
    options: list[tuple[Option, str | None]], equals: bool, variable: str | None
) -> None:
    typed = [] if variable is None else [variable]
    for option, text in options:
        if text is None:
            typed.append(option.typed)
        elif equals or text.startswith(("-", "–", "—", "−")):
            typed.append(shlex.quote(f"{option.typed}={text}"))
        else:
            typed += [option.typed, shlex.quote(text)]
    read = parse_line(" ".join(typed))
    assert read.variable == variable
    for option, text in options:
        where = read.limits if option.key in read.limits else vars_of(read)
        assert where[option.key] == (True if text is None else option.read(text)), option.name


def vars_of(read: Any) -> dict[str, Any]:
    """Return the fields of a line that was read."""
    return {name: getattr(read, name) for name in type(read).__dataclass_fields__}


VALUES: Final = {"x": "{y} {x} {{x}}", "y": 7.25, "long_name": ["a", None], "ž": "\\1 \\g<0>"}
literals = st.text(st.characters(codec="utf-8", exclude_characters="{}"), max_size=6)
tokens = st.one_of(
    literals.map(lambda text: (text, text)),
    st.sampled_from([(f"{{{name}}}", str(value)) for name, value in VALUES.items()]),
    st.sampled_from([("{y:.1f}", "7.2"), ("{y:>8}", "    7.25"), ("{ž:5}", "\\1 \\g<0>")]),
    st.sampled_from([(text, text) for text in ("{{x}}", "{nope}", "{x!r}", "{x.real}", "{ x }",
                                               "{}", "{x", "{{y:.1f}}")]),
)  # fmt: skip


@tried(200)
@given(st.lists(tokens, max_size=12))
def test_variables_are_filled_in_once_and_nothing_else_is(parts: list[tuple[str, str]]) -> None:
    # What isn't closed would take in what follows it.
    parts = [part for place, part in enumerate(parts) if part[0] != "{x" or place + 1 == len(parts)]
    text = "".join(typed for typed, _ in parts)
    expected = "".join(filled for _, filled in parts)
    assert fill(text, tuple(VALUES), VALUES) == expected
