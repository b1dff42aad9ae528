"""A cell that runs a `FakeDebate` with a real live view; loaded inside kernels by the tests."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from IPython.core.getipython import get_ipython

from rt_notebook.domain.reply import Reply
from rt_notebook.domain.spec import DebateSpec
from rt_notebook.engine.runner import Job
from rt_notebook.frontends.cell_runner import run_job_async
from rt_notebook.frontends.live_view import LiveView
from rt_notebook.frontends.publisher import remember_publisher
from tests.frontends.scenes import FakeDebate, make_reply, make_spec


class StaticResult:
    """Stands for a result."""

    def __init__(self, answers: list[tuple[Any, ...]]) -> None:
        self.calls = answers

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        words = f"static result {self.calls!r}"
        html = f'<div class="rt-static">{words.replace("<", "&lt;")}</div>'
        return {"text/plain": words, "text/html": html, "text/markdown": words}


class FakeCell:
    """The cell's job: shows the view, plays the debate, shows the result."""

    def __init__(self, debate: FakeDebate, *, background: bool = False, shown: bool = True) -> None:
        self.debate, self.background, self._shown = debate, background, shown
        self.view: LiveView | None = None

    def start_view(self, job: Job[Any]) -> None:
        """Shows the view."""
        self.view = LiveView(get_ipython(), job.post, self.debate, background=self.background)
        self.debate.listener = self.view.listener
        self.debate.turn_listener = self.view.turns_changed
        if self._shown:
            self.view.show()

    def main(self, job: Job[Any]) -> Coroutine[Any, Any, Any]:
        """Plays the debate."""
        assert self.view is not None
        return self.debate.run(self.view.ready)

    def seen(self) -> bool:
        """Tells whether the cell may return."""
        return self.view is not None and self.view.settled

    def finish(self, job: Job[Any]) -> None:
        """Shows the result."""
        assert self.view is not None
        self.view.finish(StaticResult(self.debate.calls))

    def interruption(self) -> str:
        """Says what an interrupt left."""
        return "interrupted"


def two_rounds(first: Mapping[str, Reply] | None = None) -> list[Mapping[str, Reply]]:
    """Returns an opening with two questions, and a round in which one seat moves."""
    opening = {
        "pm": make_reply(
            1, new=["One deployment is simpler to run."], question="What is the budget?"
        ),
        "dev": make_reply(2, disagree=["The module's tests take 40 minutes."]),
        "rv": make_reply(
            3, question="Modular monolith or Microservice, if you had to choose today?"
        ),
    }
    later = {
        "pm": make_reply(1, agree_with=["rv"], assumptions=["The team stays at six people."]),
        "dev": make_reply(
            1, agree_with=["pm"], new=["**Boundaries** can be enforced by `import-linter`."]
        ),
        "rv": Reply(valid=True, passed=True, stance_key="PASS", raw="PASS"),
    }
    return [first or opening, later]


async def play(
    rounds: Sequence[Mapping[str, Reply]] | None = None,
    *,
    spec: DebateSpec | None = None,
    background: bool = False,
    human: str | None = None,
    refuse: str | None = None,
    **settings: Any,
) -> FakeCell:
    """Runs a fake debate in the running cell."""
    remember_publisher(get_ipython())
    debate = FakeDebate(spec or make_spec(), rounds or two_rounds(), **settings)
    debate.human, debate.error = human, refuse
    cell = FakeCell(debate, background=background)
    await run_job_async(cell)
    return cell
