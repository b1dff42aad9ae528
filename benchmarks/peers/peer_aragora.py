"""aragora-debate Arena (propose -> critique -> vote each round). Only propose is charged to the model;
critique and vote are answered by the agent object without a model call."""

import common, asyncio
from aragora_debate import Arena, DebateConfig
from aragora_debate.types import Agent, Critique, Vote


class Seat(Agent):
    def __init__(self, m, i):
        super().__init__(name=f"seat{i}")
        self.m, self.i, self.r = m, i, 0

    async def generate(self, prompt, context=None):
        self.m.sent(len(prompt) + sum(len(x.content) for x in (context or ())))
        await self.m.wait()
        self.r += 1
        return self.m.text(self.i, self.r)

    async def critique(self, proposal, task, context=None, target_agent=None):
        return Critique(
            agent=self.name,
            target_agent=target_agent,
            target_content="",
            issues=["thin"],
            reasoning="r",
        )

    async def vote(self, proposals, task):
        return Vote(agent=self.name, choice=self.name, reasoning="mine")


async def debate(S, R, L, m):
    ag = [Seat(m, i) for i in range(S)]
    a = Arena(common.TOPIC, ag, DebateConfig(rounds=R, early_stopping=False))
    res = await a.run()
    m.sent(sum(len(x.content) for x in res.messages))
    await m.wait()
    return sum(1 for x in res.messages if x.role == "proposer")


common.main(
    "aragora-debate",
    "aragora-debate",
    debate,
    note="parallel seats; critique+vote without model calls",
)
