"""Reading replies: ordinary ones, then half and a whole megabyte of each hostile shape.

    python -m benchmarks.contract

Seconds of this process on its processor, so that a busy machine doesn't count. A shape's ratio is
how many times as long the whole takes as the half: more than 2.5 isn't linear any more.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

from benchmarks._report import Cell, Report
from rt_notebook.contract import read_reply, read_verdict, similarity

OPTIONS = ["Ship now", "Wait a sprint", "*Rewrite*"]
SEATS = ["pm", "dev", "qa"]
HALF = 500_000
MOST = 2.5
ORDINARY_MBS = 10
ANY_MBS = 2
RUNS = 3
ROUNDS = 20
PAUSE_S = 0.3
FLOOR_S = 0.01
ORDINARY = """STANCE: opt-2
AGREE_WITH: pm, dev
DISAGREE:
- The migration cost is understated: the data team needs six more weeks for the backfill.
- Traffic grows faster than the plan assumes; the cache has no headroom for a second region.
- Nobody has named an owner for the rollback, so the claim that it is reversible stands alone.
NEW:
- A staged launch to five percent of users would answer the open question at a tenth of the cost.
- The vendor contract can be prolonged by one month without penalty.
ASSUMPTIONS:
- steady traffic
- the team stays at six people
QUESTION_FOR_HUMAN: What is the budget?
"""
REST = "AGREE_WITH: []\nDISAGREE:\n- cost\nNEW: none\nASSUMPTIONS: none\n"
VALID = f"STANCE: opt-1\n{REST}"
# What is repeated, and where: {} is replaced by the repeats.
SHAPES = {
    "asterisks": ("*", "{}"),
    "asterisks as stance": ("*", f"**STANCE: {{}}**\n{REST}"),
    "lines of asterisks": ("*\n", f"STANCE: {{}}\n{REST}"),
    "nested quotes": ("\"'`*", f"STANCE: {{}}x\n{REST}"),
    "matching quotes": ('"', f"STANCE: {{}}\n{REST}"),
    "quotes with full stops": ('".', f"STANCE: {{}}\n{REST}"),
    "U+2028": ("\u2028", f"STANCE: {{}}x\n{REST}"),
    "U+2028 in headers": ("NEW: a\u2028b\n", "{}" + VALID),
    "STANCE lines": ("STANCE: x\n", "{}"),
    "STANCE in one line": ("STANCE:", "{}"),
    "every header": (VALID, "{}"),
    "decorated headers": ("### **STANCE:** x\n", "{}"),
    "decoration": ("#>-*_` ", "{}STANCE: opt-1"),
    "fences": ("```\n", "{}" + VALID),
    "fences of both kinds": ("~~~\n```\n", VALID + "{}"),
    "fenced templates": ("```\nSTANCE: x\n```\n", "{}" + VALID),
    "fences with info": ("```a\n", f"```\n{VALID}{{}}"),
    "long fence mark": ("`", "{}\n" + VALID),
    "opening think tags": ("<think>", "{}\n" + VALID),
    "closing think tags": ("</think>", "{}\n" + VALID),
    "closing tags by line": ("</think>\n", "{}" + VALID),
    "closing tags, JSON": ("</think>{\n", "{}}}"),
    "think blocks": ("*<think>x</think>", "{}\n" + VALID),
    "combining marks": ("\u0301\u0323\u0316", f"STANCE: e{{}}\n{REST}"),
    "combining marks as seats": ("e\u0301\u0323\u0316,", "STANCE: opt-1\nAGREE_WITH: {}\n"),
    "marks, long seats": (
        "e" + "\u0316\u0323\u0301" * 330 + ",",
        "STANCE: opt-1\nAGREE_WITH: {}\n",
    ),
    "marks, many stances": (f"```\nSTANCE: {'*e' + chr(0x323) * 99 + '*'}\n```\n", "{}" + VALID),
    "ligatures": ("\ufdfa", f"STANCE: {{}}\n{REST}"),
    "JSON arrays": ("[", '{"stance": {}}'),
    "JSON objects": ('{"a":', "{}}"),
    "JSON digits": ("1", '{"stance": {}}'),
    "braces": ("{", "{}}"),
    "CSI openings": ("\x1b[", "{}" + VALID),
    "CSI sequences": ("\x1b[1;31m", "{}" + VALID),
    "CSI never ended": ("0", "\x1b[{}\n" + VALID),
    "OSC openings": ("\x1b]0;", "{}" + VALID),
    "lone ESC": ("\x1b", "{}" + VALID),
    "surrogates": ("\ud800", f"STANCE: {{}}\n{REST}"),
    "byte-order marks": ("\ufeff", "{}" + VALID),
    "backticks": ("`", f"STANCE: {{}}\n{REST}"),
    "brackets": ("[]", "STANCE: opt-1\nAGREE_WITH: {}\n"),
    "commas": (",;", "STANCE: opt-1\nAGREE_WITH: {}\n"),
    "colons": (":", "STANCE{}"),
    "colons of both kinds": ("：:", f"STANCE: other{{}}\n{REST}"),
    "white space": (" ", f"STANCE: opt-1{{}}Ship now\n{REST}"),
    "white space in front": (" ", "{}" + VALID),
    "tabs before a colon": ("\t", f"STANCE{{}}: opt-1\n{REST}"),
    "empty lines": ("\n", "STANCE: opt-1\nDISAGREE:{}- a\nNEW:"),
    "carriage returns": ("\r", f"STANCE: {{}}x\n{REST}"),
    "CRLF": ("\r\n", "STANCE: opt-1\nDISAGREE:{}- a\nNEW:"),
    "bullets": ("- a\n", f"{VALID}{{}}"),
    "quoted bullets": ("> - a\n", f"{VALID}{{}}"),
    "quote marks": ("> ", f"{VALID}{{}}a"),
    "numbers": ("1", f"{VALID}{{}}. a"),
    "numbered lines": ("1. a\n", f"{VALID}{{}}"),
    "placeholder": ("none ", f"{VALID}QUESTION_FOR_HUMAN: {{}}"),
    "bookkeeping": ("treat x as unknown, ", f"{VALID}QUESTION_FOR_HUMAN: none; {{}}"),
    "no further": ("further ", f"{VALID}QUESTION_FOR_HUMAN: no {{}}questions"),
    "ids": ("opt-1 ", f"STANCE: {{}}\n{REST}"),
    "prose": ("Some words of prose. ", f"{VALID}{{}}"),
}
VERDICTS = {
    "verdict: doubtful lines": ("Dissent from pm was weighed.\n", "RECOMMENDATION: opt-1\n{}"),
    "verdict: headers": ("RECOMMENDATION x\n", "{}"),
    "verdict: closing tags": ("</think>\n", "{}RECOMMENDATION: opt-1\n"),
    "verdict: asterisks": ("*", "**RECOMMENDATION {}**\nDISSENT: none"),
    "verdict: fences": ("```\nRECOMMENDATION: x\n```\n", "{}RECOMMENDATION: opt-1\n"),
}

Reader = Callable[[str], object]


def _reply(text: str) -> object:
    return read_reply(text, options=OPTIONS, round=1, seat="qa", seats=SEATS)


def _verdict(text: str) -> object:
    return read_verdict(text, options=OPTIONS)


def _similarity(text: str) -> object:
    return similarity(text, text[1:])


def _fastest(read: Reader, text: str, runs: int) -> float:
    """Returns the processor seconds of the fastest run: noise only ever adds."""
    fastest = float("inf")
    for _ in range(runs):
        start = time.process_time()
        read(text)
        fastest = min(fastest, time.process_time() - start)
    return fastest


def _shape(read: Reader, unit: str, around: str) -> tuple[float, float, float]:
    """Returns the seconds for half a text and for the whole, and how many times as long that is."""
    # Bytes as they come from a model; a lone surrogate counts as if it could be sent.
    size = len(unit.encode("utf-8", "surrogatepass"))
    half = around.replace("{}", unit * (HALF // size), 1)
    whole = around.replace("{}", unit * (2 * HALF // size), 1)
    one = two = float("inf")
    for _ in range(ROUNDS):
        one, two = min(one, _fastest(read, half, RUNS)), min(two, _fastest(read, whole, RUNS))
        if _ratio(one, two) <= MOST and 2 * HALF / two / 1e6 >= ANY_MBS:
            break  # only what looks quadratic or slow is measured again, a moment later
        time.sleep(PAUSE_S)
    return one, two, _ratio(one, two)


def _ratio(one: float, two: float) -> float:
    """Returns how many times as long two is; times too short to measure count as the shortest."""
    return max(two, FLOOR_S) / max(one, FLOOR_S / 2)


def _ordinary(report: Report) -> None:
    size = len(ORDINARY.encode())
    # Every text differs: nothing remembers one.
    many = [ORDINARY.replace("six people", f"{number} people") for number in range(4_500)]
    one = _fastest(lambda text: [_reply(text) for _ in range(1_000)], ORDINARY, RUNS) / 1_000
    review = _fastest(lambda _: [_reply(text) for text in many], "", RUNS)
    speed = size * len(many) / review / 1e6
    report.table(
        ["ordinary replies", "us each", "MB/s"],
        [
            [f"one of {size} bytes, again and again", one * 1e6, size / one / 1e6],
            [f"{len(many):,} different ones", review / len(many) * 1e6, speed],
        ],
    )
    report.limit("ordinary replies", speed, ORDINARY_MBS, "MB/s", at_least=True)


def main() -> int:
    """Print the tables."""
    gc.disable()  # a collection in the midst of a run is no property of the reader
    report = Report()
    _ordinary(report)
    shapes: list[tuple[str, Reader, str, str]] = [
        *((name, _reply, *shape) for name, shape in SHAPES.items()),
        *((name, _verdict, *shape) for name, shape in VERDICTS.items()),
        ("similarity: prose", _similarity, "Some words of prose. ", "{}"),
        ("similarity: letters", _similarity, "".join(map(chr, range(0x4E00, 0x9000))), "{}"),
    ]
    rows: list[list[Cell]] = []
    worst = slowest = ("", 0.0)
    for name, read, unit, around in shapes:
        half, whole, ratio = _shape(read, unit, around)
        rows.append([name, half * 1e3, whole * 1e3, f"{ratio:.2f}", 2 * HALF / whole / 1e6])
        worst = max(worst, (name, ratio), key=lambda pair: pair[1])
        slowest = max(slowest, (name, whole), key=lambda pair: pair[1])
        gc.collect()
    report.table(["shape", "0.5 MB, ms", "1 MB, ms", "ratio", "MB/s"], rows)
    speed = 2 * HALF / slowest[1] / 1e6
    report.limit(f"the slowest shape, {slowest[0]}", speed, ANY_MBS, "MB/s", at_least=True)
    report.limit(f"the steepest shape, {worst[0]}: twice the text", worst[1], MOST, "×")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
