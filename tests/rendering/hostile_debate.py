"""A debate in which every text that comes from outside is a hostile one."""

from __future__ import annotations

from rt_notebook.domain.reply import Reply, VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.state import State
from rt_notebook.rendering.plain import one_line
from tests.rendering.events import Story, spec_of, stance


def hostile_story(text: str) -> Story:
    """A debate in which every text that comes from outside is `text`."""
    label = one_line(text, 100) or "x"
    spec = spec_of(
        (Seat("pm", lens=text, persona=text), Seat("dev", model="function:f", mood="rant")),
        question=text[:15_000],
        options=(f"{label} 1", f"{label} 2"),
        anonymous=True,
    )
    points = [text, "plain"]
    story = Story(spec).start_round()
    story.reply("pm", stance("opt-1", text, disagree=points, new=points, question=text))
    story.reply("dev", stance(f"other:{text}", text, agree_with=points, assumptions=points))
    story.gate({"q1": text}, message=text).start_round()
    story.reply("pm", Reply(errors=points, stance=text, raw=text))
    story.fails("dev", "provider", text)
    verdict = VerdictText(True, [], "opt-1", f"opt-1\n{text}", text, points, points)
    return story.verdict(verdict, model=f"scripted {text}").conclude()


def everywhere(text: str) -> State:
    """The state of such a debate."""
    return hostile_story(text).state()
