"""Lower bound WITH a resume point after every turn (what a crash-safe debate must at least pay).
Seats of a round speak at once (blind within the round), like lower_bound-par.
variant jsonl: append one JSON line per turn + flush;  fsync: the same + os.fsync per turn;
variant sqlite: one INSERT + commit per turn (WAL, synchronous=NORMAL), one file for all debates."""

import asyncio, json, os, sqlite3, tempfile, common

V = ""
DIR = tempfile.mkdtemp(prefix="dur_")
CON = None
N = 0


async def call(m, msgs, i, r):
    m.sent(sum(map(len, msgs)))
    await m.wait()
    return m.text(i, r)


async def debate(S, R, L, m):
    global CON, N
    N += 1
    did = N
    if V == "sqlite":
        if CON is None:
            CON = sqlite3.connect(os.path.join(DIR, "d.db"), isolation_level=None)
            CON.execute("PRAGMA journal_mode=WAL")
            CON.execute("PRAGMA synchronous=NORMAL")
            CON.execute("CREATE TABLE t(d INT, r INT, i INT, o TEXT, PRIMARY KEY(d, r, i))")
        save = lambda r, i, o: CON.execute("INSERT INTO t VALUES(?,?,?,?)", (did, r, i, o))
    else:
        f = open(os.path.join(DIR, f"{did}.jsonl"), "a")

        def save(r, i, o):
            f.write(json.dumps({"debate": did, "round": r, "seat": i, "text": o}) + "\n")
            f.flush()
            if V == "fsync":
                os.fsync(f.fileno())

    personas = [common.PERSONA.format(i=i) for i in range(S)]
    hist, rows = [], []

    async def seat(i, r):
        o = await call(m, [personas[i], common.TOPIC, *hist], i, r)
        save(r, i, o)
        return o

    for r in range(1, R + 1):
        outs = await asyncio.gather(*(seat(i, r) for i in range(S)))
        hist += outs
        rows += [(r, i, o) for i, o in enumerate(outs)]
    save(R + 1, -1, await call(m, ["You are the chairman.", common.TOPIC, *hist], 0, R + 1))
    if V != "sqlite":
        f.close()
    return len(rows)


def setup(a):
    global V
    V = a.variant or "jsonl"


common.main("durable_bound", "", debate, setup=setup)
