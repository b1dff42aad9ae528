"""Physical limit: an asyncio loop that makes the same calls and appends to lists.
variant '' : seats speak one after another, full history sent each time (as group chats do).
variant par: seats of a round speak at once (blind within the round)."""

import asyncio, common

V = ""


async def call(m, msgs, i, r):
    m.sent(sum(map(len, msgs)))
    await m.wait()
    return m.text(i, r)


async def debate(S, R, L, m):
    personas = [common.PERSONA.format(i=i) for i in range(S)]
    hist, rows = [], []
    for r in range(1, R + 1):
        if V == "par":
            outs = await asyncio.gather(
                *(call(m, [personas[i], common.TOPIC, *hist], i, r) for i in range(S))
            )
            hist += outs
            rows += [(r, i, o) for i, o in enumerate(outs)]
        else:
            for i in range(S):
                o = await call(m, [personas[i], common.TOPIC, *hist], i, r)
                hist.append(o)
                rows.append((r, i, o))
    await call(m, ["You are the chairman.", common.TOPIC, *hist], 0, R + 1)
    return len(rows)


def setup(a):
    global V
    V = a.variant


common.main("lower_bound", "", debate, setup=setup)
