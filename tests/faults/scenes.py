"""Debates that between them show every kind of event, and what a person does in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Deed = tuple[str, Mapping[str, Any]]

_ANSWER: Deed = ("answer", {"answers": {"q1": "12 000"}})
_CHECKPOINT = {"checkpoint_wait_s": 0.02, "question_wait_s": 20.0}

CONFIG = """
[seats.ann]
model = "python:tests.faults.voices:ann"
[seats.bob]
model = "python:tests.faults.voices:bob"
[seats.moody]
model = "scripted:{folder}/moody.toml"
[seats.chair]
model = "python:tests.faults.voices:chair"
[seats.observer]
model = "python:tests.faults.voices:observer"
"""
"""The user's own file: it may name code, which no input can."""

MOODY = """
steps = [
    { fail = "overloaded", retry_after_s = 0.01 },
    { say = { stance = "Ship", new = ["first"] } },
    { garbage = "well" },
    { say = { stance = "Wait", new = ["second"] } },
    { fail = "timeout" },
]
"""
"""A seat that fails, babbles and is repaired."""


@dataclass(frozen=True)
class Scene:
    """One debate."""

    kinds: str
    """The kinds of events at which it is killed."""
    input: Mapping[str, Any]
    """The debate, as the command line takes it."""
    deeds: Mapping[str, Deed] = field(default_factory=dict)
    """What a person does, by the event that it follows: `kind`, `kind@round` or `kind:seat`."""
    interrupted_at: str | None = None
    """The kind of event at which Ctrl-C is pressed."""
    extended: bool = False
    """Whether it is extended once it is done; the kill comes then."""
    resumed: bool = False
    """Whether it was killed once before; the kill comes in the resumed run."""
    ends_alike: bool = True
    """Whether it ends as if nobody had killed it."""


def _review(question: str, *seats: str, **more: Any) -> dict[str, Any]:
    return {
        "question": question, "options": ["Ship", "Wait"], "seats": list(seats),
        "chairman": "chair", "loop_threshold": 0, "unattended": True, **more,
    }  # fmt: skip


def _talk(question: str, **more: Any) -> dict[str, Any]:
    return {
        "question": question, "kind": "discussion", "seats": ["ann", "bob"],
        "observer": "observer", **more,
    }  # fmt: skip


_ATTENDED = {"unattended": False, "rounds": 2, **_CHECKPOINT}
_RESEARCH = {"query": "What did it cost?", "model": "anthropic:claude-haiku-5-5"}

SCENES: dict[str, Scene] = {
    "a person answers": Scene(
        "created round_started call_started call_failed call_finished reply_read repaired "
        "gate_opened gate_held gate_answered gate_closed verdict_started verdict_written concluded",
        _review("Ship it now?", "ann", "bob", "moody", **_ATTENDED),
        {"gate_opened": ("hold", {}), "gate_held": _ANSWER},
    ),
    "research finds": Scene(
        "research_started research_finished",
        _review("Ship it now?", "ann", "bob", rounds=0, research=_RESEARCH),
    ),
    "research fails": Scene(
        "research_failed",
        _review("Ship it now, research fails?", "ann", "bob", rounds=0, research=_RESEARCH),
    ),
    "all agree, no verdict": Scene(
        "consensus verdict_failed", _review("Do all agree, with no verdict?", "ann", "bob")
    ),
    "nothing new": Scene("nothing_new", _review("Is there nothing new?", "ann", "bob", rounds=3)),
    "money runs out": Scene(
        "limit_reached",
        _review("Ship it now?", "ann", "bob", rounds=9, limits={"max_calls": 6}),
        ends_alike=False,  # a call in flight is asked, and counted, again
    ),
    "a word in a discussion": Scene(
        "interjection",
        _talk("Where to?", rounds=2),
        {"reply_read": ("answer", {"message": "Think of the budget."})},
        ends_alike=False,  # the word is said again
    ),
    "in circles": Scene("loop", _talk("Do we go in circles?", rounds=4)),
    "extended": Scene(
        "extended", _talk("Where to?", rounds=1, loop_threshold=0), extended=True, ends_alike=False
    ),
    "finished": Scene(
        "finish_asked",
        _review("Ship it now?", "ann", "bob", **_ATTENDED),
        {"gate_opened": ("finish", {})},
        ends_alike=False,  # who asked for it is gone
    ),
    "stopped": Scene(
        "stop_asked",
        _review("Ship it now?", "ann", "bob", **_ATTENDED),
        {"gate_opened": ("stop", {})},
        ends_alike=False,
    ),
    "interrupted": Scene(
        "interrupted", _review("Ship it slowly?", "ann", "bob"), interrupted_at="reply_read"
    ),
    "resumed": Scene("resumed", _review("Ship it now?", "ann", "bob"), resumed=True),
}
"""By name."""

_DAN: Mapping[str, Any] = {"name": "dan", "model": "cli:claude", "timeout_s": 60}
_MINUTE: Mapping[str, Any] = {"max_minutes": 0.02}


ANSWERS: Mapping[str, str] = {"consensus": "opt-1", "nothing_new": "PASS"}
"""What the command says where it isn't `opt-2`, by the kind of event of the kill."""


def with_command(scene: Scene) -> Scene:
    """Returns a scene in which a command sits, as dan."""
    seats = [*scene.input["seats"], dict(_DAN)]
    changes: dict[str, Any] = {"limits": _MINUTE} if "limits" in scene.input else {}
    deeds = dict(scene.deeds)
    if "interjection" in scene.kinds:
        deeds = {"call_started:dan": scene.deeds["reply_read"]}
    if scene.kinds == "finish_asked":
        deeds = {"gate_opened": ("answer", {}), "reply_read@1": ("finish", {})}
    if scene.kinds == "stop_asked":
        deeds = {"reply_read": ("stop", {})}
    return replace(scene, input={**scene.input, "seats": seats, **changes}, deeds=deeds)


HANGS: Mapping[str, int] = {
    **dict.fromkeys(("call_started", "call_failed", "call_finished", "reply_read"), 0),
    **dict.fromkeys(("limit_reached", "stop_asked", "interrupted", "interjection"), 0),
    **dict.fromkeys(("repaired", "finish_asked"), 1),
}
"""In which of its calls, from 0, the command never answers, by the kind of event of the kill.

At the other kinds no call can be under way, or none of the command's.
"""

PLACES = {kind: name for name, scene in SCENES.items() for kind in scene.kinds.split()}
"""The scene in which each kind of event is met."""


def write_files(folder: Path) -> Path:
    """Writes the configuration and the script that it names; returns the configuration."""
    (folder / "moody.toml").write_text(MOODY, encoding="utf-8")
    config = folder / "config.toml"
    config.write_text(CONFIG.format(folder=folder), encoding="utf-8")
    return config
