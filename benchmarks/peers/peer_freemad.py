"""freemad Orchestrator (threads): generation round + R-1 critique rounds; no closing call in the protocol,
so the harness makes one itself. A seat sees only its own and its peers' LATEST answer."""

import logging

logging.disable(logging.CRITICAL)
import common, threading
from freemad import Config, AgentConfig
import freemad.config as fc
from freemad.agents.base import Agent, AgentResponse, CritiqueResponse, Metadata
from freemad.agents.registry import register_agent
from freemad.prompts.templates import build_generation_prompt, build_critique_prompt
from freemad.types import Decision
from freemad.utils import compute_answer_id
from freemad.orchestrator import Orchestrator

M = None
LOCK = threading.Lock()


class Seat(Agent):
    def __init__(self, cfg, ac):
        super().__init__(cfg, ac)
        self.i = int(ac.id[4:])
        self.r = 0

    def _call(self, prompt):
        with LOCK:
            M.sent(len(prompt))
        M.wait_sync()
        self.r += 1
        return M.text(self.i, self.r)

    def generate(self, requirement):
        t = self._call(build_generation_prompt(requirement))
        return AgentResponse(self.agent_cfg.id, t, "r", compute_answer_id(t), Metadata())

    def critique_and_refine(self, requirement, own, peers):
        t = self._call(build_critique_prompt(requirement, own, peers))
        return CritiqueResponse(
            self.agent_cfg.id, Decision.REVISE, True, t, "r", compute_answer_id(t), Metadata()
        )


register_agent("scripted", Seat)


def debate_sync(S, R, L, m):
    global M
    M = m
    cfg = Config(
        agents=[AgentConfig(id=f"seat{i}", type="scripted") for i in range(S)],
        deadlines=fc.DeadlinesConfig(soft_timeout_ms=60000, hard_timeout_ms=120000, min_agents=S),
        budget=fc.BudgetConfig(
            max_total_time_sec=None, max_round_time_sec=None, max_agent_time_sec=None
        ),
        logging=fc.LoggingConfig(console=False),
    )
    res = Orchestrator(cfg).run(common.TOPIC, max_rounds=R - 1)
    with LOCK:
        m.sent(len(res["final_solution"]) + len(common.TOPIC))
    m.wait_sync()
    return sum(len(t["agents"]) for t in res["transcript"])


common.main(
    "freemad",
    "freemad",
    debate_sync=debate_sync,
    note="threads; seat sees only latest answers; built-in validators run",
)
