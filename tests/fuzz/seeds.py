"""What mutations begin with: real recordings, the contract's cases, records of real debates."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

from tests.environment import ROOT

_CELLS: Final = (
    "Should the payments module become its own service?\n\noptions:\n- Modular monolith\n"
    "- Microservice\n\nknown:\n- Six people\n  - two on call\nassumed: load doubles\n"
    "constraints: no downtime\nreversibility: costly\ndeadline: 2027-01-31\n"
    "context:\n```\noptions:\n- no\n```\nresearch: prices\nmax_searches: 2\n"
    "seats:\n- pm=scripted; lens=risk; mood=grill; timeout_s=5\n- dev = human\n",
    "Topic only\r\nwith a second line\r\n\r\nseats: pm, dev, rv\r\n",
)
_LINES: Final = (
    "payments --seats pm,dev=openai:x --rounds 2 --with p95,df --record reviews/p.jsonl",
    "--max-calls-per-vendor a=5,b=3 --memory window:3 --no-unattended --title 'it''s' --check",
    "answer last --round 1 q1='forty' --message \"be brief\"",
    "resume d-1 --max-calls 9 --max-cost 0.5",
    "# a comment\n%%time\n%%capture out\n%%roundtable pay --rounds 2\nbody\n",
)
_FILLED: Final = ("p95 is {y:.1f} ms, {x}, {{x}}, {z:>9}, {w}, {x!r}, {y.real}",)
_INPUTS: Final = (
    '{"question": "Ship now?", "options": ["Ship", "Wait"], "seats": ["pm", {"name": "dev", '
    '"model": "scripted", "mood": "grill"}], "limits": {"max_calls": 9}, "rounds": 1, '
    '"research": {"query": "prices"}, "chairman": "pm"}',
    '{"round": 0, "answers": [{"id": "q1", "text": "forty"}], "message": "go on"}',
    '{"prompt": "go deeper", "rounds": 2, "mode": "continue"}',
    '{"limits": {"max_calls": 20, "max_calls_per_vendor": {"openai": 4}, "on_limit": "pause"}}',
)
_SAID: Final = (
    'API Error: 429 {"error": {"message": "slow down", "code": 429}} key=sk-abcdefgh12345678',
    "Answer.\n\nSOURCES:\n- [Title](https://example.invalid/a(b)): its words\n- https://x.invalid",
    "Authorization: Bearer abcdefgh at /home/user/secret/file.py and C:\\Users\\x on host.local:80",
)
_SETTINGS: Final = (
    '{\n  // servers\n  "mcpServers": {\n    "other": {"command": "y", "args": ["a", "b",],},\n'
    '  },\n  "theme": "dark",\n}\n',
    '{"mcpServers": {}, "a": [1, {"b": null}]}',
    "",
)


@cache
def vectors(*kinds: str) -> tuple[str, ...]:
    """Return the texts of the contract's cases of these kinds."""
    folder = ROOT / "tests" / "vectors"
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        for row in path.read_text(encoding="utf-8").strip().split("\n"):
            case = json.loads(row)
            if case["fn"] in kinds:
                found.append(case["text"])
    return tuple(found)


@cache
def records() -> tuple[str, ...]:
    """Return records of debates that the repository holds."""
    folder = ROOT / "notebooks"
    found = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("**/*.jsonl"))]
    assert found
    return tuple(sorted(found, key=len)[:3])


@cache
def seeds(target: str) -> tuple[bytes, ...]:
    """Return the texts that a target's mutations begin with."""
    texts: dict[str, tuple[str, ...]] = {
        "reply": vectors("reply")[:60],
        "verdict": vectors("verdict")[:60],
        "question": vectors("question")[:60],
        "naming": vectors("option", "stance", "pick")[:60],
        "speech": ("<think>\nhm\n</think>\nI say no.", "Yes.", "a\n<think>b"),
        "cell": _CELLS,
        "line": _LINES,
        "filling": _FILLED,
        "record": records(),
        "json_input": _INPUTS,
        "stderr": _SAID,
        "hiding": _SAID,
        "settings_file": _SETTINGS,
    }
    return tuple(text.encode("utf-8", "surrogatepass") for text in texts[target])


def recorded_streams() -> dict[str, list[Path]]:
    """Return the recorded outputs of the vendors' commands, by vendor."""
    folder = ROOT / "tests" / "fixtures" / "cli"
    return {
        place.name: sorted(place.glob("*.stdout")) for place in folder.iterdir() if place.is_dir()
    }
