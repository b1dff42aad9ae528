"""Notebooks that nobody watches: nothing waits, and the file keeps a result without a kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.environment import ROOT, scrubbed_environment
from tests.notebook.runner import (
    ALL_KERNELS,
    Executed,
    RunNotebook,
    make_notebook,
    read_notebook,
    write_notebook,
)

SETUP = """
%load_ext rt_notebook
import rt_notebook as rt
def seat(name, *stances, ask=None):
    says = [rt.say(stance=s, new=[f"{name} {n}"], question=None if n else ask)
            for n, s in enumerate(stances)]
    return rt.Seat(name, model=rt.scripted(says))
pro, con = seat("pro", "Ship", "Ship", ask="What is the budget?"), seat("con", "Wait", "Wait")
"""
DEBATE = "--seats pro,con --question-wait-s 600\nShip now?\n\noptions:\n- Ship\n- Wait\n"
HEAD, BODY = DEBATE.split("\n", 1)
FACTS = "print([out.status, out.stop_reason, len(out.replies), out.questions.answer.isna().all()])"

CELLS = (
    SETUP,
    "6 * 7",
    f"%%roundtable out {DEBATE}",
    f"print(_); {FACTS}",
    f"# a comment\n\n%%time\n%%roundtable timed {DEBATE}",
    f"%%capture held\n%%roundtable caught {DEBATE}",
    "print([timed.status, caught.status, len(held.outputs), list(held.outputs[0].data)])",
    f"get_ipython().run_cell({'%%roundtable nested ' + DEBATE!r});",
    "def go():\n"
    f"    get_ipython().run_cell_magic('roundtable', 'called ' + {HEAD!r}, {BODY!r})\ngo()",
    "print([nested.status, called.status])",
    f"%%roundtable back --background {DEBATE}",
    "print(type(back).__name__, back.status)",
    "made = dict(question='Ship?', options=['Ship', 'Wait'], seats=[pro, con],\n"
    "            question_wait_s=600)\n"
    "one = await rt.Review(**made).run()\n"
    "two = rt.Review(**made).run_sync()\n"
    "three = await rt.Review(**made).start()\n"
    "print([r.status for r in (one, two, three)], len({r.id for r in (one, two, three)}))",
    "out = await rt.Review(**made, gates='blocking').run()\nprint(out.status, out.warnings)",
    "%%roundtable\nShip?\n\noptions:\n- Only one",
    f"%%roundtable x --roundz 2 {DEBATE}",
    "%roundtable stauts",
    f"%%roundtable x --max-calls many {DEBATE}",
    "import sys; print('notebook' in sys.modules, 'x' in globals())",
)


@pytest.fixture(scope="module", params=ALL_KERNELS)
def executed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Executed:
    """Gives the notebook of all these cells, run in each supported ipykernel."""
    from tests.notebook.runner import execute

    folder = tmp_path_factory.mktemp("headless")
    return execute(make_notebook(CELLS, request.param), folder, allow_errors=True)


def assert_static(notebook: nbformat.NotebookNode) -> list[dict[str, Any]]:
    """Checks that no output needs a kernel or a widget; returns the displayed bundles."""
    assert "widgets" not in notebook.metadata
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    bundles = [dict(out["data"]) for out in outputs if "data" in out]
    for bundle in bundles:
        assert not [kind for kind in bundle if "widget" in kind], bundle
    return bundles


def test_cell_sets_variable_and_leaves_underscore(executed: Executed) -> None:
    assert executed.error(2) is None
    assert executed.printed(3).split("\n")[0] == "42"
    assert "['done', 'rounds', 4, " in executed.printed(3)


def test_result_is_static_in_three_formats(executed: Executed) -> None:
    (bundle,) = [out["data"] for out in executed.outputs(2) if "data" in out]
    assert set(bundle) == {"text/html", "text/markdown", "text/plain"}
    assert "What is the budget?" in bundle["text/html"]
    assert "out.replies" in bundle["text/html"]
    assert_static(executed.notebook)


@pytest.mark.parametrize("cell", [4, 7, 8], ids=["time", "run_cell", "function"])
def test_cell_works_in_unusual_places(executed: Executed, cell: int) -> None:
    assert executed.error(cell) is None
    assert len(executed.data(cell, "text/html")) == 1
    assert executed.printed(9).strip() == "['done', 'done']"


def test_time_and_capture_do_their_work(executed: Executed) -> None:
    assert "Wall time" in executed.printed(4)
    assert executed.outputs(5) == []
    said = executed.printed(6)
    assert said.startswith("['done', 'done', 1, [")
    assert "text/html" in said


def test_background_runs_in_the_foreground(executed: Executed) -> None:
    assert executed.printed(11).strip() == "Result done"
    assert len(executed.data(10, "text/html")) == 1


def test_every_python_way_runs_in_a_kernel(executed: Executed) -> None:
    assert executed.error(12) is None
    assert executed.printed(12).strip() == "['done', 'done', 'done'] 3"
    assert "gates='blocking'" in executed.printed(13)


def test_mistakes_are_error_outputs_of_one_line(executed: Executed) -> None:
    expected = {14: "BriefError", 15: "OptionError", 16: "OptionError", 17: "OptionError"}
    for cell, name in expected.items():
        (output,) = executed.outputs(cell)
        assert output["output_type"] == "error"
        assert output["ename"] == name
        assert output["traceback"] == [f"{name}: {output['evalue']}"]
        assert "\n" not in output["evalue"]
    assert "False" in executed.printed(18)
    assert executed.counts() == list(range(1, len(CELLS) + 1))


def test_run_all_stops_at_a_mistake(run_notebook: RunNotebook) -> None:
    from nbclient.exceptions import CellExecutionError

    with pytest.raises(CellExecutionError, match="OptionError: unknown option '--roundz'"):
        run_notebook([SETUP, f"%%roundtable x --roundz 2 {DEBATE}", "print('never')"])


# ---- other tools --------------------------------------------------------------------------------

FILE = [SETUP, f"%%roundtable out {DEBATE}", FACTS]


def _tool(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=scrubbed_environment(folder),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )


def test_papermill_waits_for_nobody(tmp_path: Path) -> None:
    write_notebook(make_notebook(FILE), tmp_path / "in.ipynb")
    _tool(["-m", "papermill", "in.ipynb", "out.ipynb", "--no-progress-bar"], tmp_path)
    done = Executed(read_notebook(tmp_path / "out.ipynb"))
    assert "['done', 'rounds', 4" in done.printed(2)
    assert_static(done.notebook)


def test_nbconvert_makes_readable_page(tmp_path: Path) -> None:
    write_notebook(make_notebook(FILE), tmp_path / "in.ipynb")
    _tool(["-m", "nbconvert", "--to", "html", "--execute", "in.ipynb"], tmp_path)
    page = (tmp_path / "in.html").read_text(encoding="utf-8")
    assert "What is the budget?" in page
    assert "application/vnd.jupyter.widget-view+json" not in page


@pytest.mark.slow
def test_quick_start_runs_headless_in_a_minute(tmp_path: Path) -> None:
    source = ROOT / "notebooks" / "01-quickstart.ipynb"
    notebook = read_notebook(source)
    notebook.metadata.kernelspec = make_notebook([]).metadata.kernelspec
    write_notebook(notebook, tmp_path / "quick.ipynb")
    _tool(
        ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done", "quick.ipynb"],
        tmp_path,
    )
    done = read_notebook(tmp_path / "done.ipynb")
    bundles = assert_static(done)
    assert any("VERDICT" in str(bundle.get("text/plain")) for bundle in bundles)
    assert not [o for c in done.cells for o in c.get("outputs", []) if o.output_type == "error"]
