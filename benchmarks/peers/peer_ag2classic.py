"""ag2 0.x (classic ConversableAgent/GroupChat, speaker_selection_method=round_robin), async path,
each seat's model replaced by an async reply function (so no LLM-client overhead is charged)."""

import warnings

warnings.filterwarnings("ignore")
import logging

logging.disable(logging.WARNING)
import os

os.environ["AUTOGEN_USE_DOCKER"] = "False"
import common
from autogen import ConversableAgent, GroupChat, GroupChatManager
from autogen.io.base import IOStream


class Quiet:
    def print(self, *a, **k):
        pass

    def send(self, *a, **k):
        pass

    def input(self, *a, **k):
        return ""


IOStream.set_global_default(Quiet())
IOStream.set_default(Quiet()) if False else None


def scripted(m, i):
    st = {"r": 0}

    async def fn(recipient, messages=None, sender=None, config=None):
        msgs = messages if messages is not None else recipient._oai_messages[sender]
        m.sent(len(recipient.system_message) + sum(len(x.get("content") or "") for x in msgs))
        await m.wait()
        st["r"] += 1
        return True, m.text(i, st["r"])

    return fn


async def debate(S, R, L, m):
    def mk(name, i, sysm):
        a = ConversableAgent(
            name,
            system_message=sysm,
            llm_config=False,
            human_input_mode="NEVER",
            code_execution_config=False,
        )
        a.register_reply(
            [ConversableAgent, None], scripted(m, i), position=0, remove_other_reply_funcs=True
        )
        return a

    seats = [mk(f"seat{i}", i, common.PERSONA.format(i=i)) for i in range(S)]
    chair = mk("chairman", 0, "You are the chairman.")
    user = ConversableAgent(
        "user", llm_config=False, human_input_mode="NEVER", code_execution_config=False
    )
    gc = GroupChat(
        [*seats], messages=[], max_round=S * R + 1, speaker_selection_method="round_robin"
    )
    mgr = GroupChatManager(gc, llm_config=False, human_input_mode="NEVER", silent=True)
    with IOStream.set_default(Quiet()):
        # seat0 is last in the order so that round robin starts at seat0 after the user's opening message
        await user.a_initiate_chat(mgr, message=common.TOPIC, silent=True)
        turns = sum(1 for x in gc.messages if x.get("name", "").startswith("seat"))
        await chair.a_generate_reply(messages=list(gc.messages), sender=user)
    return turns


common.main("ag2-0.x", "ag2", debate)
