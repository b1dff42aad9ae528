"""What an open gate or turn says, in words that forms, notes and the terminal share.

Pure functions of the messages of `live_parts`; must not know widgets or terminals.
"""

from __future__ import annotations

from rt_notebook.domain.snapshot import TurnPart
from rt_notebook.frontends.live_parts import Message


def gate_heading(gate: Message) -> str:
    """Return the line that says what an open gate is about."""
    if gate.get("reopen_calls"):
        return f"Everybody agrees on {gate.get('agreed') or 'one option'}"
    done = "The opening is done" if gate["round"] == 0 else f"Round {gate['round']} is done"
    count = len(gate["questions"])
    if not count:
        return done
    return f"{done}: {count} question{'s' if count > 1 else ''} for you"


def gate_hint(gate: Message) -> str:
    """Return what happens with and without an answer."""
    calls = gate.get("reopen_calls")
    if calls:
        return (
            "Without a text this goes straight to the verdict. Any text runs one more round: "
            f"{calls} call{'s' if calls > 1 else ''}."
        )
    if gate["closes_at"] is None:
        return "This waits until you continue. What you leave empty stays open."
    return "It goes on by itself when the time is up. What you leave empty stays open."


def turn_heading(turn: TurnPart) -> str:
    """Return the line that says whose turn it is."""
    return f"Your turn as {turn.seat}: {'opening' if turn.round == 0 else f'round {turn.round}'}"


def plain_gate(gate: Message, debate: str) -> str:
    """Return an open gate's questions and the command that answers them, as plain text."""
    lines = [gate_heading(gate)]
    lines += [f"  {q['id']} ({', '.join(q['askers'])}): {q['text']}" for q in gate["questions"]]
    command = f"%roundtable answer {debate} --round {gate['round']}"
    command += "".join(f" {question['id']}='...'" for question in gate["questions"])
    ends = "; it goes on by itself when the time is up." if gate["closes_at"] else "."
    lines.append(f"Answer with `{command} --message '...'`{ends}")
    return "\n".join(lines)
