"""A discussion in a cell of a real kernel that nobody watches."""

from __future__ import annotations

from pathlib import Path

from tests.notebook.runner import NEWEST, execute, make_notebook

CELLS = (
    "%load_ext rt_notebook\nimport rt_notebook as rt",
    "%%roundtable talk --seats pm,dev,rv --rounds 2\nHow should we ship it?",
    "print(talk.status, len(talk.replies), talk.summary.status, talk.title)",
    "%roundtable extend last --rounds 1 'Go deeper on the costs'",
    "print(roundtable_result.fold.rounds, len(roundtable_result.replies))",
    "one = await rt.Discussion('T?', seats=['pm', 'dev']).run()\n"
    "two = await rt.Discussion('T?', seats=['pm', 'dev']).start()\n"
    "print(one.status, two.status, one.id != two.id)",
    "%%roundtable x --kind review\nHow should we ship it?",
    "%%roundtable back --background --seats pm,dev\nT?",
    "print(type(back).__name__, back.status)",
)


def test_cell_without_options_leaves_a_static_discussion(tmp_path: Path) -> None:
    executed = execute(make_notebook(CELLS, NEWEST), tmp_path, allow_errors=True)
    assert executed.printed(2).strip() == ("done 6 ready (Roundtable) - How should we ship it? ✓")
    (bundle,) = [out["data"] for out in executed.outputs(1) if "data" in out]
    assert set(bundle) == {"text/html", "text/markdown", "text/plain"}
    assert bundle["text/plain"].startswith("━━━ Roundtable Concluded ━━━")
    assert "What was said" in bundle["text/html"]
    assert executed.printed(4).strip() == "3 9"
    assert executed.printed(5).strip() == "done done True"
    (refused,) = executed.outputs(6)
    assert refused["ename"] == "BriefError"
    assert "a review needs at least 2 options" in refused["evalue"]
    assert executed.printed(8).strip() == "Result done"
    assert "widgets" not in executed.notebook.metadata
