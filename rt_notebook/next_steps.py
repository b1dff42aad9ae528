"""What to do next with a debate, in words and as a command: what people and agents act on."""

from __future__ import annotations

from rt_notebook.domain.gate import Gate
from rt_notebook.domain.snapshot import NextAction, Snapshot, TurnPart, snapshot
from rt_notebook.domain.state import RESUMABLE, State


def snapshot_of(
    state: State, turns: list[TurnPart] | None = None, status: str | None = None
) -> Snapshot:
    """Return the snapshot of a fold with its next action.

    Args:
        state: the fold.
        turns: human seats' open turns.
        status: overrides the fold's status.
    """
    turns = turns or []
    return snapshot(state, turns, next_action(state, turns, status or state.status), status)


def next_action(state: State, turns: list[TurnPart], status: str) -> NextAction:
    """Return what to do next with a debate of this status."""
    name = state.id
    if status in RESUMABLE:
        return NextAction(
            type="resume",
            instruction=f"The debate is {status}; resume goes on where it stopped, without "
            "repeating a finished call.",
            command=f"%roundtable resume {name}",
        )
    if turns:
        turn = turns[0]
        return NextAction(
            type="ask_user",
            instruction=f"Seat {turn.seat} is a person: show the turn of round {turn.round} and "
            "send their text.",
        )
    if state.gate is not None and status == "waiting":
        return _at_gate(state, state.gate)
    if status == "stopped" or (status == "done" and state.verdict_status != "ready"):
        who = "observer" if state.discusses else "chairman"
        return NextAction(
            type="verdict",
            instruction=f"There is no {state.spec.ending_name}; the {who} can be asked from the "
            "saved replies.",
            command=f"%roundtable verdict {name}",
        )
    if status == "done":
        return NextAction(
            type="none", instruction="The debate is finished.", command=f"%roundtable show {name}"
        )
    wait = f"%roundtable wait {name}"
    if state.discusses and status == "running":
        return NextAction(
            type="wait",
            instruction="The discussion is at work; what the person says goes into the next turn's "
            "prompt.",
            command=f"%roundtable answer {name} --message '…'",
            wait_command=wait,
        )
    return NextAction(type="wait", instruction="The debate is at work.", wait_command=wait)


def _at_gate(state: State, gate: Gate) -> NextAction:
    answers = " ".join(f"{question.id}='…'" for question in gate.questions)
    command = f"%roundtable answer {state.id} --round {gate.round} {answers}".rstrip()
    if gate.reopen_calls:
        text = (
            f"Everybody agrees. Any text costs {gate.reopen_calls} calls (one more round); none "
            "goes to the verdict."
        )
    elif gate.questions:
        text = "Show the questions and the deadline to the person, and send what they answer."
    else:
        text = "The person may add a message before the next round."
    asks = bool(gate.questions) or gate.mode == "blocking" or bool(gate.reopen_calls)
    return NextAction(
        type="ask_user" if asks else "wait",
        instruction=text,
        command=command,
        wait_command=f"%roundtable wait {state.id}",
        hold_command=f"%roundtable hold {state.id} --round {gate.round}"
        if gate.holds_left
        else None,
    )


def awaiting(found: Snapshot, after_round: int | None) -> Snapshot:
    """Return a snapshot for whom has shown a gate to the person already.

    Args:
        found: the debate.
        after_round: the round whose gate was shown; None: none was.
    """
    gate, action = found.gate, found.next_action
    shown = after_round is not None and gate is not None and gate.round <= after_round
    if not shown or action.type != "ask_user" or found.turns:
        return found
    words = "The gate was shown; wait for the person's answer, or for the debate to go on."
    awaited = action.model_copy(update={"type": "await_user", "instruction": words})
    return found.model_copy(update={"next_action": awaited})
