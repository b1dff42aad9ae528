"""Definitions of generated debates: reviews and discussions with every setting there is.

A seat asks for research only over a model's own web search, so generated debates have none.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from rt_notebook.domain.brief import Brief
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.spec import DebateSpec, Limits
from rt_notebook.errors import UsageError
from tests.fuzz.actors import OPTIONS, actors, scripts
from tests.fuzz.texts import fragments

NAMES: Final = ("a", "B", "Žofie Č", "出荷係")
LONGEST_S: Final = 60.0
"""Seconds that a seat may take for a turn, at most."""

_fields: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "mood": st.sampled_from(("grill", "builder", "rant")),
        "lens": st.sampled_from(("risk", "{x} ‮ lens")),
        "persona": fragments,
        "effort": st.sampled_from(("low", "high")),
        "timeout_s": st.sampled_from((0.2, 5.0, LONGEST_S)),
        "stall_s": st.sampled_from((0.5, 3.0)),
        "retries": st.integers(0, 3),
    },
)
_models = st.one_of(actors, actors, scripts, st.just("scripted"), st.just("human"))


@st.composite
def _seats(draw: st.DrawFn) -> tuple[Seat, ...]:
    count = draw(st.integers(2, 4))
    fields: list[dict[str, Any]] = [{"timeout_s": LONGEST_S, **draw(_fields)} for _ in range(count)]
    if all(each.get("mood") == "rant" for each in fields):
        del fields[0]["mood"]
    # Prompts hold what is printable or not alike; a seat's own fields are checked by their rules.
    for each in fields:
        if "persona" in each:
            each["persona"] = each["persona"].encode("utf-8", "replace").decode() or None
    return tuple(
        Seat(name, model=draw(_models), **each)
        for name, each in zip(NAMES[:count], fields, strict=True)
    )


_limits: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"max_minutes": st.sampled_from((0.02, 0.5, 3.0))},
    optional={
        "max_calls": st.integers(3, 14),
        "max_calls_per_vendor": st.dictionaries(
            st.sampled_from(("function", "scripted", "human")), st.integers(0, 9), max_size=2
        ),
        "max_tokens": st.sampled_from((3_000, 8_000, 60_000)),
        "max_cost": st.sampled_from((0.001, 0.05)),
        "on_limit": st.sampled_from(("verdict", "pause")),
    },
)
_shared: Final[dict[str, st.SearchStrategy[Any]]] = {
    "anonymous": st.booleans(),
    "loop_threshold": st.sampled_from((0, 0.5, 0.85)),
    "title": st.sampled_from((None, "Ship it", "../\u202ex")),
    "language": st.sampled_from((None, "Czech")),
    "tool_preview": st.sampled_from((0, 500)),
}
_reviews = st.fixed_dictionaries({
    "rounds": st.integers(0, 3),
    "memory": st.sampled_from(("stateless", "full")),
    "gates": st.sampled_from(("timed", "timed", "blocking", "off")),
    "question_wait_s": st.sampled_from((0.0, 20.0)),
    "checkpoint_wait_s": st.sampled_from((0.0, 15.0)),
    **_shared,
})  # fmt: skip
_talks = st.fixed_dictionaries({
    "rounds": st.integers(1, 3),
    "memory": st.sampled_from(("full", "turn", "window:2")),
    "observer_prompt": st.sampled_from((None, "Be brief.")),
    **_shared,
})  # fmt: skip


@st.composite
def definitions(draw: st.DrawFn) -> DebateSpec:
    """Return a debate that may be started, if its limits allow it."""
    review = draw(st.integers(0, 3)) > 0
    question = draw(st.sampled_from(("Ship now?", "# Move\n\nto `{cloud}`?")))
    closer = draw(st.none() | _models)
    fields = draw(_reviews if review else _talks)
    if closer is not None:
        closing = {"timeout_s": draw(st.sampled_from((0.2, LONGEST_S)))}
        fields["chairman" if review else "observer"] = Seat("boss", model=closer, **closing)
    return DebateSpec(
        kind="review" if review else "discussion",
        brief=Brief(question=question, options=OPTIONS if review else ()),
        seats=draw(_seats()),
        limits=Limits(**draw(_limits)),
        **fields,
    )


def startable(spec: DebateSpec) -> bool:
    """Return whether a debate's limits allow its least."""
    from rt_notebook.session import check_spec

    try:
        check_spec(spec)
    except UsageError:
        return False
    return True
