"""What goes wrong with cells and lines: braces, options, loops, reloads, lost memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import rt_notebook as rt
from tests.cases.catalogue import case, given
from tests.frontends.shells import Counted, Shell

OPTIONS = "\n\noptions:\n- Ship\n- Wait\n"


def _body(id: str) -> str:
    """Returns a case's cell without its first line and without the remark behind it."""
    return given(id).partition("\n")[2].partition("   (")[0]


@case("a1-cell-03")
def test_braces_of_a_cell_and_of_its_line_stay(shell: Shell) -> None:
    counted = Counted()
    shell.put(fn=counted, retries=1)
    title = '{"retries": 4} {retries} $retries'
    line = f"%%roundtable out --seats a=fn,b=scripted --title '{title}'"
    shell.run(f"{line}\n{_body('a1-cell-03')}{OPTIONS}")
    spec = shell.names["out"].spec
    assert spec.brief.question == 'Our config is {"retries": 4, "mode": "safe"} - is 4 right?'
    assert (spec.title, all(spec.brief.question in text for text in counted.prompts)) == (
        title,
        True,
    )


@case("a1-cell-06")
def test_value_with_braces_is_put_in_once(shell: Shell) -> None:
    """Ours has single braces; the doubled ones of the report stay as they are."""
    counted = Counted()
    shell.put(fn=counted, snippet="run({a}) -> {{b}}", a=1, b=2)
    line = "%%roundtable out --seats a=fn,b=scripted --with snippet,a,b"
    shell.run(f"{line}\n{_body('a1-cell-06').replace('{{', '{').replace('}}', '}')}{OPTIONS}")
    assert "Question:\nLook at run({a}) -> {{b}}\n" in counted.prompts[0]
    shell.run(f"{line}\n{_body('a1-cell-06')}{OPTIONS}")
    assert shell.names["out"].spec.brief.question == "Look at {{snippet}}"


@case("a1-cell-07")
def test_placeholder_is_a_name_and_never_evaluated(shell: Shell) -> None:
    class Loud(set[int]):
        def __iter__(self) -> Iterator[int]:
            raise AssertionError("it was evaluated")

    counted = Counted()
    shell.put(fn=counted, ids=Loud({3, 1}))
    body = _body("a1-cell-07").replace("{{", "{").replace("}}", "}")
    with pytest.raises(rt.OptionError, match=r"--with takes plain names .*; got 'sorted\(ids\)'"):
        shell.run(f"%%roundtable out --seats a=fn,b=scripted --with sorted(ids)\n{body}{OPTIONS}")
    assert counted.prompts == []
    shell.run(f"%%roundtable out --seats a=fn,b=scripted\n{body}{OPTIONS}")
    assert shell.names["out"].spec.brief.question == "Ids: {sorted(ids)}"


@case("a1-cell-08")
def test_unknown_placeholder_is_refused_before_any_call(shell: Shell) -> None:
    counted = Counted()
    shell.put(fn=counted)
    body = _body("a1-cell-08").replace("{{", "{").replace("}}", "}") + OPTIONS
    with pytest.raises(rt.OptionError, match="there is no variable 'not_defined_here'"):
        shell.run(f"%%roundtable out --seats a=fn,b=scripted --with not_defined_here\n{body}")
    assert counted.prompts == []
    assert rt.debates().empty


@case("a1-line-11")
def test_every_unknown_flag_is_named(shell: Shell) -> None:
    shell.put(ana=rt.Seat("ana"), bo=rt.Seat("bo"))
    told = re.escape("unknown options '--stuff', '--round' (did you mean '--rounds'?); ")
    with pytest.raises(rt.OptionError, match=f"^{told}"):
        shell.run(f"{given('a1-line-11')}{OPTIONS}")
    assert rt.debates().empty


@case("a1-line-12")
def test_flag_that_never_was_names_the_one_that_is(shell: Shell) -> None:
    """`-r` was never one of ours, and none was ever renamed; the nearest one is offered."""
    with pytest.raises(rt.OptionError, match=r"'-r': there are no short options.*'--rounds'"):
        shell.run(f"{given('a1-line-12').partition('   (')[0]}{OPTIONS}")
    assert rt.debates().empty


@case("a1-scn-16")
@pytest.mark.filterwarnings("error")
def test_cell_leaves_a_result_and_no_coroutine(shell: Shell) -> None:
    value = shell.run(f"%%roundtable out\nShip?{OPTIONS}")
    assert value is None
    assert isinstance(shell.names["out"], rt.Result)
    assert shell.names["roundtable_result"] is shell.names["out"]
    assert isinstance(shell.run("rt.Review('Q?', options=['A', 'B']).run_sync()"), rt.Result)


_RELOADS = """
import importlib, json, sys
import rt_notebook as rt
made = dict(options=["Ship", "Wait"], unattended=True)
old = rt.Review("Ship?", **made).run_sync()
old.replies, str(old)
names = [name for name in sys.modules if name.startswith("rt_notebook.")]
for name in sorted(names):
    importlib.reload(sys.modules[name])
importlib.reload(rt)
print(json.dumps([
    old.status == "done", old.status, len(old.replies), old.verdict.status,
    old.state.status, str(old)[:9], rt.load(old.id).status,
    len(names) > 50,
]))
"""


@case("a1-scn-22")
def test_old_result_outlives_a_reload_of_every_module() -> None:
    """What it says is told by words; nothing is asked whose class it is of."""
    done = subprocess.run(
        [sys.executable, "-c", _RELOADS], capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [
        True, "done", 6, "ready", "done", "! No mode", "done", True,
    ]  # fmt: skip


@case("a1-scn-24")
def test_question_that_follows_is_told_that_nothing_is_remembered(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = Counted()
    shell.put(counted=counted)
    shell.run(
        "%%roundtable first --seats ana=counted,bo=scripted\nWhich of the two options is better?"
    )
    first = shell.names["first"]
    capsys.readouterr()
    shell.run(f"%%roundtable second --seats ana=counted,bo=scripted\n{_body('a1-scn-24')}")
    told = capsys.readouterr().out
    assert f"A new debate, which knows nothing of {first.id}" in told
    assert f"`%roundtable extend {first.id} '…'` goes on" in told
    assert shell.names["second"].id != first.id
    assert "Which of the two options" not in counted.prompts[-1]
    # The way that is named keeps what was said.
    shell.run(f"%roundtable extend {first.id} '{_body('a1-scn-24')}'")
    assert "Which of the two options" in counted.prompts[-1]
    assert "point 1" in counted.prompts[-1]
    assert shell.names["roundtable_result"].id == first.id
    # A question with a brief of its own is meant as it stands.
    capsys.readouterr()
    shell.run(f"%%roundtable third\nAnd now?{OPTIONS}")
    assert "knows nothing" not in capsys.readouterr().out
