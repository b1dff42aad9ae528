"""langgraph hand-made round-robin: one node per seat, a router, a closing node; compiled once, reused.
variant '' = no checkpointer; ckpt = InMemorySaver (resume point after every turn)."""

import common, operator, uuid
from typing import Annotated, TypedDict
from langgraph.graph import StateGraph, START, END
from langgraph.checkpoint.memory import InMemorySaver

V = ""
APP = {}


class St(TypedDict):
    hist: Annotated[list, operator.add]
    n: int
    summary: str


def build(S, R, m):
    g = StateGraph(St)

    def seat(i):
        p = common.PERSONA.format(i=i)

        async def node(s):
            m.sent(len(p) + len(common.TOPIC) + sum(len(x["content"]) for x in s["hist"]))
            await m.wait()
            r = s["n"] // S + 1
            return {"hist": [{"seat": i, "round": r, "content": m.text(i, r)}], "n": s["n"] + 1}

        return node

    async def close(s):
        m.sent(
            len("You are the chairman.")
            + len(common.TOPIC)
            + sum(len(x["content"]) for x in s["hist"])
        )
        await m.wait()
        return {"summary": m.text(0, R + 1)}

    route = lambda s: "close" if s["n"] >= S * R else f"seat{s['n'] % S}"
    targets = [f"seat{i}" for i in range(S)] + ["close"]
    for i in range(S):
        g.add_node(f"seat{i}", seat(i))
        g.add_conditional_edges(f"seat{i}", route, targets)
    g.add_node("close", close)
    g.add_edge("close", END)
    g.add_conditional_edges(START, route, targets)
    return g.compile(checkpointer=InMemorySaver() if V == "ckpt" else None)


async def debate(S, R, L, m):
    app = APP.get((S, R)) or APP.setdefault((S, R), build(S, R, m))
    out = await app.ainvoke(
        {"hist": [], "n": 0, "summary": ""},
        {"recursion_limit": S * R + 10, "configurable": {"thread_id": uuid.uuid4().hex}},
    )
    return len(out["hist"])


def setup(a):
    global V
    V = a.variant


common.main("langgraph", "langgraph", debate, setup=setup)
