"""Shared harness: the workload, the instant scripted model, timing and the JSON line.

Workload (one debate): S seats x R rounds, each reply ~600 characters, then 1 closing
summary call that sees whatever the peer gives a summariser.  Calls = S*R + 1 unless the
peer's protocol forces extra model calls (reported in `calls` and flagged in `note`).
Each script supplies `async def debate(S, R, L, m)` that returns the number of seat turns
it recorded, with `m` a Meter; or, for thread-based peers, a sync `debate_sync`.
"""

import argparse, asyncio, json, resource, sys, time, importlib.metadata as md
from concurrent.futures import ThreadPoolExecutor

TOPIC = (
    "Should the team move its monolithic order service to an event-sourced design this year? "
    "Options: A) move now, B) move one bounded context as a pilot, C) stay and refactor in place."
)
PERSONA = "You are seat {i} at a round table. Argue from your own expertise, name one option, and answer the others."
_W = (
    "the option costs team event latency schema replay audit risk pilot rollback context order service "
    "write read model queue budget owner testing"
).split()


def reply(i, r):
    """Deterministic 600-character reply for seat i in round r (never repeats)."""
    k = i * 7919 + r * 104729 + 13
    out, n = [f"Seat {i} round {r}: I choose {'ABC'[(i + r) % 3]}."], 30
    while n < 600:
        k = (k * 1103515245 + 12345) & 0x7FFFFFFF
        w = _W[k % len(_W)]
        out.append(w)
        n += len(w) + 1
    return " ".join(out)[:600]


_CACHE = {}


class Meter:
    """The scripted model's counter: calls, characters sent, characters received."""

    __slots__ = ("calls", "prompt_chars", "L")

    def __init__(self, L):
        self.calls = 0
        self.prompt_chars = 0
        self.L = L

    def text(self, i, r):
        t = _CACHE.get((i, r))
        if t is None:
            t = _CACHE[(i, r)] = reply(i, r)
        return t

    def sent(self, chars):
        self.calls += 1
        self.prompt_chars += chars

    async def wait(self):
        if self.L:
            await asyncio.sleep(self.L)

    def wait_sync(self):
        if self.L:
            time.sleep(self.L)


def rss_mb():
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def main(peer, dist, debate=None, debate_sync=None, note="", setup=None):
    a = arguments()
    if setup:
        setup(a)
    m = Meter(a.L)
    for i in range(a.S):  # pre-build replies so the script's own cost is not measured
        for r in range(1, a.R + 2):
            m.text(i, r)
    rss0 = rss_mb()
    wall, got = run_async(a, m, debate) if debate is not None else run_threads(a, m, debate_sync)
    report(a, m, peer, dist, wall, sum(got), rss0, note)


def arguments():
    ap = argparse.ArgumentParser()
    ap.add_argument("-S", type=int, default=3)
    ap.add_argument("-R", type=int, default=2)
    ap.add_argument("-D", type=int, default=1)
    ap.add_argument("-L", type=float, default=0.0)
    ap.add_argument("--mode", choices=["seq", "conc"], default="seq")
    ap.add_argument("--tag", default="")
    ap.add_argument("--variant", default="")
    return ap.parse_args()


def run_async(a, m, debate):
    async def go():
        if a.mode == "conc":
            return await asyncio.gather(*(debate(a.S, a.R, a.L, m) for _ in range(a.D)))
        return [await debate(a.S, a.R, a.L, m) for _ in range(a.D)]

    t0 = time.perf_counter()
    got = asyncio.run(go())
    return time.perf_counter() - t0, got


def run_threads(a, m, debate_sync):
    t0 = time.perf_counter()
    if a.mode == "conc" and a.D > 1:
        with ThreadPoolExecutor(a.D) as ex:
            got = list(ex.map(lambda _: debate_sync(a.S, a.R, a.L, m), range(a.D)))
    else:
        got = [debate_sync(a.S, a.R, a.L, m) for _ in range(a.D)]
    return time.perf_counter() - t0, got


def report(a, m, peer, dist, wall, turns, rss0, note):
    if turns != a.S * a.R * a.D:
        note = (note + "; " if note else "") + f"TURNS {turns} != expected {a.S * a.R * a.D}"
    try:
        v = md.version(dist) if dist else "-"
    except Exception:
        v = "?"
    line = {
        "peer": peer + (("-" + a.variant) if a.variant else ""),
        "version": v,
        "S": a.S,
        "R": a.R,
        "D": a.D,
        "latency": a.L,
        "mode": a.mode,
        "wall_s": round(wall, 5),
        "turns": turns,
        "turns_per_s": round(turns / wall, 1),
        "peak_rss_mb": rss_mb(),
        "rss_before_run_mb": rss0,
        "prompt_chars_total": m.prompt_chars,
        "calls": m.calls,
        "note": note,
        "tag": a.tag,
    }
    print(json.dumps(line))
    sys.stdout.flush()
