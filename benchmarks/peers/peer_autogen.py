"""autogen-agentchat RoundRobinGroupChat. variant '' = minimal custom ChatCompletionClient;
variant replay = the shipped ReplayChatCompletionClient (which also counts tokens)."""

import warnings

warnings.filterwarnings("ignore")
import logging

logging.disable(logging.WARNING)
import common
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import TextMessage
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage, ModelFamily
from autogen_ext.models.replay import ReplayChatCompletionClient

INFO = dict(
    vision=False,
    function_calling=False,
    json_output=False,
    family=ModelFamily.UNKNOWN,
    structured_output=False,
)
V = ""
U = RequestUsage(prompt_tokens=0, completion_tokens=0)


def nchars(messages):
    return sum(
        len(x.content) if isinstance(x.content, str) else len(str(x.content)) for x in messages
    )


class Scripted(ChatCompletionClient):
    def __init__(self, m, i):
        self.m, self.i, self.r = m, i, 0

    async def create(self, messages, **kw):
        self.m.sent(nchars(messages))
        await self.m.wait()
        self.r += 1
        return CreateResult(
            finish_reason="stop", content=self.m.text(self.i, self.r), usage=U, cached=False
        )

    async def create_stream(self, messages, **kw):
        yield await self.create(messages)

    async def close(self):
        pass

    def actual_usage(self):
        return U

    def total_usage(self):
        return U

    def count_tokens(self, messages, **kw):
        return 0

    def remaining_tokens(self, messages, **kw):
        return 10**9

    @property
    def capabilities(self):
        return INFO

    @property
    def model_info(self):
        return INFO


class Rep(ReplayChatCompletionClient):
    def __init__(self, m, texts):
        super().__init__(texts)
        self.m = m

    async def create(self, messages, **kw):
        self.m.sent(nchars(messages))
        await self.m.wait()
        return await super().create(messages, **kw)


async def debate(S, R, L, m):
    def mk(i):
        return Rep(m, [m.text(i, r) for r in range(1, R + 2)]) if V == "replay" else Scripted(m, i)

    seats = [
        AssistantAgent(f"seat{i}", model_client=mk(i), system_message=common.PERSONA.format(i=i))
        for i in range(S)
    ]
    team = RoundRobinGroupChat(seats, termination_condition=MaxMessageTermination(S * R + 1))
    res = await team.run(task=common.TOPIC)
    turns = [x for x in res.messages if isinstance(x, TextMessage) and x.source != "user"]
    chair = AssistantAgent("chairman", model_client=mk(0), system_message="You are the chairman.")
    await chair.run(task=[x for x in res.messages if isinstance(x, TextMessage)])
    return len(turns)


def setup(a):
    global V
    V = a.variant


common.main("autogen-agentchat", "autogen-agentchat", debate, setup=setup)
