"""What the live view costs: bytes from the kernel to the page, and the time from reply to page.

    python -m benchmarks.live

A real JupyterLab in headless Chromium. A reply's clock starts where its seat returns it and ends
where its words stand in the page; both read this machine's clock. Bytes are whole messages on the
page's websocket, headers included, as they are sent.
"""

from __future__ import annotations

import json
import statistics
import struct
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._report import Cell, Report
from tests.browser.labdriver import NotebookPage, chromium, notebook_page
from tests.browser.servers import Server
from tests.browser.traffic import Frame

SEATS = 4
ROUNDS = 10
REPLIES = SEATS * ROUNDS
MOST_MS = 100
MOST_BYTES = 2_000

_SETUP = """
%load_ext rt_notebook
import asyncio, json, time
import rt_notebook as rt
SAID = []
PROSE = "the queue costs the team latency, and a pilot can be taken back within a sprint; " * 3
def sitting(number):
    async def speak(call):
        await asyncio.sleep(0.2 + 0.07 * number)
        mark = f"mark-{call.round}-{number}."
        text = (f"STANCE: opt-{1 + (number + call.round) % 2}\\nAGREE_WITH: []\\n"
                f"DISAGREE:\\n- {mark} {PROSE}\\nNEW:\\n- {PROSE[40:]}\\nASSUMPTIONS:\\n- none\\n")
        SAID.append([mark, time.time() * 1000, text])
        return text
    return rt.Seat(f"seat{number}", model=speak)
"""
_CELL = """%%roundtable out --seats {seats} --rounds {rounds} --gates off --loop-threshold 0
Ship now?

options:
- Ship
- Wait
"""
_WATCH = """() => {
    const seen = window.__seen = {};
    const look = () => {
        const now = Date.now();
        for (const card of document.querySelectorAll('.rt-card')) {
            const mark = /mark-\\d+-\\d+\\./.exec(card.textContent)?.[0];
            if (!mark || seen[mark]) continue;
            seen[mark] = [now, now];
            requestAnimationFrame(() => { seen[mark][1] = Date.now(); });
        }
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""
_SAID = "print('FACTS', json.dumps(SAID))"
# From the model: what has been scrolled out of sight isn't in the page.
_PRINTED = """() => window.__panel.content.widgets.filter(c => c.model.type === 'code')
    .flatMap(c => c.model.outputs.toJSON()).filter(o => o.output_type === 'stream')
    .map(o => Array.isArray(o.text) ? o.text.join('') : o.text)
    .find(text => text.startsWith('FACTS '))"""


class Received(NamedTuple):
    """One message from the kernel to the page."""

    kind: str
    """Its `msg_type`."""
    size: int
    """Bytes on the websocket."""
    body: bytes
    """As it was sent."""


def received(frames: Iterable[Frame]) -> list[Received]:
    """Return the kernel's messages among a websocket's frames."""
    incoming = (frame.payload for frame in frames if frame.direction == "received")
    return [
        Received(_kind(payload), len(body), body)
        for payload in incoming
        if (body := payload if isinstance(payload, bytes) else payload.encode())
    ]


def _kind(payload: str | bytes) -> str:
    """Return a message's type, from either of the two protocols that a front end may speak."""
    if isinstance(payload, str):
        return str(json.loads(payload)["header"]["msg_type"])
    # v1.kernel.websocket.jupyter.org: how many offsets, the offsets, then channel, header, ...
    (count,) = struct.unpack_from("<Q", payload)
    offsets = struct.unpack_from(f"<{count}Q", payload, 8)
    return str(json.loads(payload[offsets[1] : offsets[2]])["msg_type"])


def main() -> int:
    """Hold the debate and print the tables."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with (
            Server("lab", home / "lab") as server,
            chromium(home) as browser,
            notebook_page(browser, server) as tab,
        ):
            said, seen, version = _debate(tab, server)
            messages = received(tab.frames)
    _times(report, said, seen)
    _bytes(report, said, messages)
    report.say(f"{SEATS} seats, {ROUNDS} rounds, {len(said)} replies; Chromium {version}.")
    return report.end()


def _debate(tab: NotebookPage, server: Server) -> tuple[list[Any], dict[str, Any], str]:
    names = [f"seat{number}" for number in range(SEATS)]
    seats = "\n".join(f"{name} = sitting({number})" for number, name in enumerate(names))
    cell = _CELL.replace("{seats}", ",".join(names)).replace("{rounds}", str(ROUNDS - 1))
    tab.open(server.write("live.ipynb", [_SETUP + seats, cell, _SAID]))
    tab.page.evaluate(_WATCH)
    tab.run_all()
    tab.wait_finished(120)
    printed = tab.page.evaluate(_PRINTED)
    if printed is None:
        raise SystemExit(f"the debate failed:\n{tab.outputs()}")
    seen: dict[str, Any] = tab.page.evaluate("window.__seen")
    said: list[Any] = json.loads(printed.removeprefix("FACTS "))
    version = tab.page.context.browser
    return said, seen, version.version if version is not None else ""


def _times(report: Report, said: list[Any], seen: dict[str, Any]) -> None:
    missing = [mark for mark, _, _ in said if mark not in seen]
    if missing or len(said) != REPLIES:
        raise SystemExit(f"{len(said)} replies, and never seen in the page: {missing}")
    in_page = [seen[mark][0] - at for mark, at, _ in said]
    drawn = [seen[mark][1] - at for mark, at, _ in said]
    report.table(
        ["from a seat's reply to", "median ms", "90 % ms", "worst ms"],
        [
            ["its words in the page", *_spread(in_page)],
            ["the next frame that is drawn", *_spread(drawn)],
        ],
    )
    report.limit("reply to page, median", statistics.median(in_page), MOST_MS, "ms")


def _spread(values: list[float]) -> tuple[float, float, float]:
    return statistics.median(values), statistics.quantiles(values, n=10)[-1], max(values)


def _bytes(report: Report, said: list[Any], messages: list[Received]) -> None:
    texts = sum(len(json.dumps(text)) for _, _, text in said)
    kinds: dict[str, list[int]] = defaultdict(list)
    for message in messages:
        kinds[message.kind].append(message.size)
    rows: list[list[Cell]] = [
        [kind, len(sizes), sum(sizes) / 1000, sum(sizes) / REPLIES]
        for kind, sizes in sorted(kinds.items(), key=lambda pair: -sum(pair[1]))
    ]
    report.say("From the kernel to the page, setting-up and the static result included:")
    report.table(["message", "count", "kB", "bytes a reply"], rows)
    early, late = _halves(messages)
    beyond = (sum(kinds["comm_msg"]) - texts) / REPLIES
    report.table(
        ["a reply", "bytes"],
        [
            ["its own text", texts / REPLIES],
            ["comm messages beyond it", beyond],
            ["comm messages, first half of the debate", early],
            ["comm messages, second half", late],
        ],
    )
    report.limit("comm messages a reply beyond its text", beyond, MOST_BYTES, "bytes")


def _halves(messages: list[Received]) -> tuple[float, float]:
    """Return the bytes a reply of comm messages up to the middle's last reply, and behind it."""
    comm = [message for message in messages if message.kind == "comm_msg"]
    middle = f"mark-{ROUNDS // 2 - 1}-{SEATS - 1}.".encode()
    at = next(place for place, message in enumerate(comm) if middle in message.body) + 1
    sizes = [message.size for message in comm]
    return sum(sizes[:at]) / (REPLIES / 2), sum(sizes[at:]) / (REPLIES / 2)


if __name__ == "__main__":
    sys.exit(main())
