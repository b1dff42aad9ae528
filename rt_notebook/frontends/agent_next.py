"""What an agent does next with a debate, as ready-made command lines or tool calls.

Owns how a verb is written for whoever asks; what there is to do stands in `next_steps`.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from rt_notebook.domain.snapshot import GatePart, Snapshot

PROGRAM: Final = "rt-notebook"
"""The console script."""

_BLANK: Final = "..."


class Speech(Protocol):
    """How a verb is written for who is to use it."""

    def at(self, store: str | None) -> Speech:
        """Return the same for another store."""
        ...

    def verb(
        self,
        name: str,
        debate: str,
        *,
        flags: Mapping[str, object] | None = None,
        input: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the words that call a verb.

        Args:
            name: the verb.
            debate: the debate's id.
            flags: its arguments beside the id.
            input: its input.
        """
        ...


@dataclass(frozen=True)
class CommandLines:
    """Verbs as command lines.

    Args:
        store: the store that was named on the line; None: none was.
    """

    store: str | None = None
    """The store that was named; None: none was."""

    def at(self, store: str | None) -> CommandLines:
        """Return the same for another store."""
        return CommandLines(store)

    def verb(
        self,
        name: str,
        debate: str,
        *,
        flags: Mapping[str, object] | None = None,
        input: Mapping[str, Any] | None = None,
    ) -> str:
        """Return a command line for a shell."""
        words = [*program(), "agent", name, "--id", debate]
        for flag, value in (flags or {}).items():
            words += [f"--{flag.replace('_', '-')}", str(value)]
        if input is not None:
            words += ["--input", json.dumps(input, ensure_ascii=False)]
        return shlex.join([*words, *_store_words(self.store)])


@dataclass(frozen=True)
class ToolCalls:
    """Verbs as calls of MCP tools.

    Args:
        store: the store that was named; None: none was.
    """

    store: str | None = None
    """The store that was named; None: none was."""

    def at(self, store: str | None) -> ToolCalls:
        """Return the same for another store."""
        return ToolCalls(store)

    def verb(
        self,
        name: str,
        debate: str,
        *,
        flags: Mapping[str, object] | None = None,
        input: Mapping[str, Any] | None = None,
    ) -> str:
        """Return a tool's name and its arguments."""
        arguments = {"id": debate, **(flags or {}), **({} if input is None else {"input": input})}
        if self.store is not None:
            arguments["store"] = self.store
        return f"{tool_name(name)} {json.dumps(arguments, ensure_ascii=False)}"


def tool_name(verb: str) -> str:
    """Return the name of a verb's MCP tool."""
    return f"roundtable_{verb}"


def program() -> list[str]:
    """Return the words that start this program, wherever it is installed."""
    found = shutil.which(PROGRAM)
    return [PROGRAM] if found is not None else [sys.executable, "-P", "-m", "rt_notebook"]


def watch_line(debate: str, store: str | None = None) -> str:
    """Return the command that shows a debate live in a terminal."""
    return typed_line(store)("watch", debate)


def typed_line(store: str | None = None) -> Callable[[str, str], str]:
    """Return what writes a verb as a person types it in a shell."""
    return lambda verb, debate: shlex.join([*program(), verb, debate, *_store_words(store)])


def described(found: Snapshot, speech: Speech, store: str | None = None) -> dict[str, Any]:
    """Return a debate's state as an agent gets it: with `watch`, `next` and its next action."""
    data = found.to_json()
    action = _action(found, speech)
    data["next_action"] = {**data["next_action"], **action}
    data["watch"] = watch_line(found.id, store)
    data["next"] = _next(found, action, speech)
    return data


def follow_up(debate: str, speech: Speech, store: str | None, verb: str) -> dict[str, str]:
    """Return `watch` and `next` for an answer that holds no state."""
    return {"watch": watch_line(debate, store), "next": speech.verb(verb, debate)}


def _action(found: Snapshot, speech: Speech) -> dict[str, Any]:
    kind = found.next_action.type
    lines: dict[str, Any] = {"command": None, "wait_command": None, "hold_command": None}
    if found.turns and kind == "ask_user":
        turn = found.turns[0]
        said = {"round": turn.round, "seat": turn.seat, "text": _BLANK}
        lines["command"] = speech.verb("answer", found.id, input=said)
        lines["wait_command"] = speech.verb("wait", found.id)
        lines["instruction"] = (
            f"Seat {turn.seat} is a person. Show its prompt (in `turns`) to the person and send "
            f"their text, word for word.{_until(turn.closes_at)}"
        )
    elif found.gate is not None and kind in ("ask_user", "await_user", "wait"):
        lines |= _at_gate(found, found.gate, speech)
    elif kind == "wait":
        lines["wait_command"] = speech.verb("wait", found.id)
        lines["command"] = lines["wait_command"]
    elif kind in ("resume", "verdict"):
        lines["command"] = speech.verb(kind, found.id)
    else:
        lines["command"] = speech.verb("show", found.id)
    return lines


def _at_gate(found: Snapshot, gate: GatePart, speech: Speech) -> dict[str, Any]:
    said: dict[str, Any] = {"round": gate.round}
    if gate.questions:
        said["answers"] = [{"id": question.id, "text": _BLANK} for question in gate.questions]
    else:
        said["message"] = _BLANK
    shown = found.next_action.type != "wait"
    after = {"after_round": gate.round} if shown else None
    lines: dict[str, Any] = {
        "command": speech.verb("answer", found.id, input=said),
        "wait_command": speech.verb("wait", found.id, flags=after),
        "hold_command": None,
        "instruction": _words(found, gate),
    }
    if gate.holds_left:
        lines["hold_command"] = speech.verb("hold", found.id, flags={"round": gate.round})
    return lines


def _words(found: Snapshot, gate: GatePart) -> str:
    until = _until(gate.closes_at)
    if found.next_action.type == "await_user":
        return (
            "The gate was shown; wait for the person's answer, or for the debate to go on. Never "
            f"answer for them.{until}"
        )
    if gate.reopen_calls:
        return (
            f"Everybody agrees. Tell the person that any text costs {gate.reopen_calls} calls (one "
            f"more round), and that without one it goes to the verdict.{until}"
        )
    if gate.questions:
        return (
            "Show the questions and the deadline to the person, read the status again, and send "
            f"what they answer, word for word. Leave out what they don't answer.{until}"
        )
    if gate.closes_at is None:
        return "It waits for the person: ask whether to go on, with or without a message."
    return f"The person may add a message before the next round; nobody has to be asked.{until}"


def _until(closes_at: int | None) -> str:
    if closes_at is None:
        return ""
    clock = time.strftime("%H:%M:%S UTC", time.gmtime(closes_at / 1000))
    left = max(0, round(closes_at / 1000 - time.time()))
    return f" It goes on by itself at {clock}, in {left} s."


def _next(found: Snapshot, action: Mapping[str, Any], speech: Speech) -> str:
    """Return the one command that never does harm: waiting while it runs, else the action's."""
    line = action["wait_command"] or action["command"]
    return str(line or speech.verb("status", found.id))


def _store_words(store: str | None) -> list[str]:
    return ["--store", store] if store is not None else []
