"""The agent's verbs by name: how each is called and what it does.

Loads nothing, so that help and mistakes on the command line cost no time; the arguments' schema
stands in `agent_arguments`, what the verbs do in `agent_verbs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class AgentVerb:
    """One verb of `rt-notebook agent`."""

    name: str
    """What is typed."""
    usage: str
    """Its arguments as typed."""
    help: str
    """What it does, for people, agents and MCP clients alike."""
    reads_only: bool = True
    """True when it changes nothing."""
    destroys: bool = False
    """True when something is gone afterwards."""


VERBS: Final = {
    verb.name: verb
    for verb in (
        AgentVerb("guide", "", "How to use all this, for an agent that has never seen it."),
        AgentVerb(
            "status",
            "[--id ID] [--refresh]",
            "Without an id: providers, models, terms, defaults and running debates; with one: the "
            "debate's state.",
        ),
        AgentVerb(
            "check",
            "--input DEBATE",
            "Check a debate and estimate calls, tokens and cost; nothing is started or called.",
        ),
        AgentVerb(
            "start",
            "--input DEBATE",
            "Start a debate in a process of its own; returns its id at once. A started debate is "
            "not a finished one: call wait.",
            reads_only=False,
        ),
        AgentVerb(
            "wait",
            "--id ID [--seconds 1..30] [--after-round 0..50]",
            "Block until there is something to do, the debate is over, or the seconds (25) have "
            "passed; returns the state.",
        ),
        AgentVerb(
            "answer",
            "--id ID --input ANSWER",
            "Send what the person answers to an open gate, or a human seat's turn.",
            reads_only=False,
        ),
        AgentVerb(
            "hold",
            "--id ID [--round N]",
            "Give the person more time at an open gate; only when they ask for it.",
            reads_only=False,
        ),
        AgentVerb(
            "finish",
            "--id ID",
            "Go to the verdict with the complete replies; only when the person asks for it.",
            reads_only=False,
        ),
        AgentVerb("stop", "--id ID", "End the debate; replies are kept.", reads_only=False),
        AgentVerb(
            "resume",
            "--id ID [--input LIMITS]",
            "Go on with an interrupted, failed or paused debate; no finished call is repeated.",
            reads_only=False,
        ),
        AgentVerb(
            "verdict",
            "--id ID",
            "Ask the chairman again, for a debate that is stopped or done without a verdict.",
            reads_only=False,
        ),
        AgentVerb(
            "extend",
            "--id ID [--input EXTENSION]",
            "Go on with a debate that is done: more rounds, then a new ending.",
            reads_only=False,
        ),
        AgentVerb("list", "[--status STATUS] [--limit N]", "The newest debates."),
        AgentVerb(
            "show", "--id ID", "A debate's state, brief, replies and ending, and all of it as text."
        ),
        AgentVerb(
            "export",
            "--id ID --dir DIR",
            "Write decision record, transcript, log, report and tables into a folder.",
            reads_only=False,
        ),
        AgentVerb(
            "delete",
            "--id ID",
            "Delete a debate for good; only when the person asks for it.",
            reads_only=False,
            destroys=True,
        ),
        AgentVerb("schema", "", "The JSON Schema of all inputs."),
    )
}
"""The verbs in the order in which help shows them."""


def agent_help() -> str:
    """Return the help of `rt-notebook agent`."""
    lines = [
        f"  {verb.name} {verb.usage}".rstrip() + f"\n      {verb.help}" for verb in VERBS.values()
    ]
    return "\n".join(
        [
            "rt-notebook agent VERB [--store PATH]: JSON in, one JSON line out, nothing else on",
            "stdout. Exit status: 0 ok, 1 error, 2 wrong command line. For programs and coding",
            "agents; `rt-notebook agent guide` explains everything.",
            "",
            "An input is a JSON file, `-` for standard input, or the JSON object itself.",
            "",
            *lines,
        ]
    )
