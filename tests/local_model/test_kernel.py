"""A review that a real small model holds, in a headless notebook cell."""

from __future__ import annotations

from pathlib import Path

from tests.local_model.debates import MODEL, OPTIONS, QUESTION
from tests.local_model.relay import Relay
from tests.notebook.runner import execute, make_notebook

CELLS = (
    "%load_ext rt_notebook\nimport rt_notebook as rt",
    "given = dict(model={model!r}, base_url={url!r}, max_tokens={tokens})\n"
    "pm, dev, rv = (rt.Seat(name, **given, lens=lens) for name, lens in\n"
    "               [('pm', 'user impact'), ('dev', 'cost'), ('rv', 'risk')])\n"
    "chair = rt.Seat('chair', **given)",
    "%%roundtable out --seats pm,dev,rv --chairman chair\n{question}\n\noptions:\n{options}",
    "print([out.status, out.verdict.status, len(out.replies), out.state.usage['calls']])",
)


def test_headless_cell_holds_a_review(model: Relay, tmp_path: Path) -> None:
    words = {
        "model": MODEL,
        "url": model.url,
        "tokens": 60,
        "question": QUESTION,
        "options": "".join(f"- {option}\n" for option in OPTIONS),
    }
    cells = [cell.format(**words) for cell in CELLS]
    done = execute(make_notebook(cells), tmp_path, timeout_s=1500)

    status, verdict, replies, calls = eval(done.printed(3))  # noqa: S307 (a list of literals)
    assert (status, replies) == ("done", 6)
    assert verdict in ("ready", "failed")
    assert calls == len(model.passed)
    assert model.in_flight == []
    assert "Sundays" in done.data(2, "text/html")[0]
