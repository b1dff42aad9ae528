"""What people may ask of a running debate: each command is checked and becomes events. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rt_notebook.characters import whole
from rt_notebook.domain.gate import Gate
from rt_notebook.domain.state import State
from rt_notebook.errors import UsageError, nearest, one_line

MAX_ANSWER: Final = 8_000
"""Characters of one answer or message."""

Body = tuple[str, dict[str, Any]]


def answer(
    state: State,
    answers: Mapping[str, str] | None,
    message: str | None,
    round: int | None,
    source: str,
) -> list[Body]:
    """Return the events of an answer to the open gate, or of a word in a running discussion.

    Args:
        state: the debate.
        answers: texts by question id; blank ones stay unanswered.
        message: a free message.
        round: the round the answer is for; None: the open gate's.
        source: person or agent.

    Raises:
        UsageError: no gate is open for that round, a question id is unknown, or a text is too long;
            a discussion isn't running, or the message is empty. `kept` holds the texts, and the
            message shows them.
    """
    check_answers(answers, message)
    words = _words(message)
    given = {str(key): said for key, text in (answers or {}).items() if (said := _words(text))}
    kept = {"answers": given, "message": words or None}
    if state.discusses:
        return _interject(state, kept, source)
    gate = _open_gate(state, round, "answer", kept)
    known = [question.id for question in gate.questions]
    for key, text in given.items():
        if key not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(
                f"answer: round {gate.round} has no question {key!r} (open: {listed})"
                f"{nearest(key, known)}{not_sent(kept)}",
                kept=kept,
            )
        _bounded(f"the answer to {key}", text, kept)
    _bounded("the message", words, kept)
    body = {"round": gate.round, "answers": given, "message": words or None, "source": source}
    return [("gate_answered", body), ("gate_closed", {"round": gate.round, "why": "answered"})]


def check_answers(answers: object, message: object) -> None:
    """Check the form of what a person answers.

    Raises:
        UsageError: the answers are no dict of texts; `kept` holds the texts.
    """
    if _is_texts(answers):
        return
    loose = {"message": _words(message) or _words(answers)}
    raise UsageError(
        "answer: answers is a dict of texts by question id, such as {'q1': '...'}"
        f"{not_sent(loose)}",
        kept=loose,
    )


def hold(state: State, round: int | None, source: str, now: int) -> list[Body]:
    """Return the event that extends the open gate by its own window.

    Args:
        state: the debate.
        round: the round meant; None: the open gate's.
        source: person or agent.
        now: milliseconds since 1970 UTC.

    Raises:
        UsageError: no gate is open, it waits anyway, or it was held three times.
    """
    gate = _open_gate(state, round, "hold", {})
    if gate.closes_at is None:
        raise UsageError(
            f"hold: the gate of round {gate.round} waits until it is answered; there is nothing to "
            "extend"
        )
    if gate.holds_left <= 0:
        raise UsageError(
            f"hold: the gate of round {gate.round} was extended {gate.holds} times; answer it or "
            "let it close"
        )
    window = state.spec.question_wait_s if gate.questions else state.spec.checkpoint_wait_s
    closes_at = max(now, gate.closes_at) + int(window * 1000)
    return [("gate_held", {"round": gate.round, "closes_at": closes_at, "source": source})]


def finish(state: State, source: str) -> list[Body]:
    """Return the events of going to the verdict now.

    Raises:
        UsageError: the debate isn't running or waiting, or no complete round has a usable reply.
    """
    if state.status not in ("running", "waiting"):
        raise UsageError(
            f"finish: the debate is {state.status}; it works while it is running or waiting"
        )
    complete = (r for r in range(len(state.turns)) if state.round_complete(r))
    if not any(turn.usable for r in complete for turn in state.counted_turns(r)):
        raise UsageError(
            "finish: no complete round has a usable reply yet; wait for "
            f"{'the first round' if state.discusses else 'the opening'}, or stop"
        )
    return [("finish_asked", {"source": source}), *_close(state, "finished")]


def stop(state: State, source: str) -> list[Body]:
    """Return the events of ending now; completed replies are kept.

    Raises:
        UsageError: the debate has ended.
    """
    if not state.live:
        raise UsageError(f"stop: the debate is {state.status}; there is nothing to stop")
    return [("stop_asked", {"source": source}), *_close(state, "stopped")]


def not_sent(kept: Mapping[str, Any]) -> str:
    """Return what to add to a refusal so that a person's words are shown again, else ''.

    Args:
        kept: answers, message and text (of a turn), as far as there are any.
    """
    texts = [f"{key}: {text}" for key, text in (kept.get("answers") or {}).items()]
    texts += [f"{key}: {kept[key]}" for key in ("message", "text") if kept.get(key)]
    return f"; not sent: {one_line('; '.join(texts), 500)}" if texts else ""


def _interject(state: State, kept: dict[str, Any], source: str) -> list[Body]:
    """Return the event of a word in a discussion, which has no gates and asks nothing."""
    if kept["answers"]:
        raise UsageError(
            f"answer: a discussion asks no questions; give a message{not_sent(kept)}", kept=kept
        )
    if state.status != "running":
        raise UsageError(
            f"answer: the discussion is {state.status}; what is said now changes nothing"
            f"{not_sent(kept)}",
            kept=kept,
            status=state.status,
        )
    if not kept["message"]:
        raise UsageError("answer: the message is empty; write what the seats should hear")
    _bounded("the message", kept["message"], kept)
    return [("interjection", {"text": kept["message"], "source": source})]


def _close(state: State, why: str) -> list[Body]:
    gate = state.gate
    return [("gate_closed", {"round": gate.round, "why": why})] if gate is not None else []


def _open_gate(state: State, round: int | None, verb: str, kept: dict[str, Any]) -> Gate:
    gate = state.gate
    if gate is None:
        raise UsageError(
            f"{verb}: no gate is open (status {state.status}, round {state.round}){not_sent(kept)}",
            kept=kept,
            status=state.status,
        )
    if round is not None and round != gate.round:
        raise UsageError(
            f"{verb}: the gate of round {round!r} isn't open, the one of round {gate.round} is"
            f"{not_sent(kept)}",
            kept=kept,
            status=state.status,
        )
    return gate


def _is_texts(answers: object) -> bool:
    return answers is None or isinstance(answers, Mapping)


def _words(text: object) -> str:
    return "" if text is None else whole(str(text)).strip()


def _bounded(what: str, text: str, kept: dict[str, Any]) -> None:
    if len(text) > MAX_ANSWER:
        raise UsageError(
            f"answer: {what} has {len(text):,} characters; {MAX_ANSWER:,} are allowed", kept=kept
        )
