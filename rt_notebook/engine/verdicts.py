"""The chairman's part: one fresh call, at most one repair, and nothing that stands in for it."""

from __future__ import annotations

from rt_notebook.contract.verdict import read_verdict
from rt_notebook.domain.reply import VerdictText
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.turn import REPAIR, VERDICT
from rt_notebook.engine.commands import Body
from rt_notebook.engine.tries import Desk, Failed, Tries, ending_refused, with_repair
from rt_notebook.providers.base import Message


class VerdictTaker:
    """Asks the chairman, from whatever the log already holds of the verdict.

    Args:
        desk: the debate.
        seat: the chairman.
    """

    def __init__(self, desk: Desk, seat: Seat) -> None:
        self._desk = desk
        self._seat = seat
        state = desk.state
        self._tries = Tries(desk, seat, state.chairman_name, max(state.round, 0))

    async def take(self) -> None:
        """Ask until the verdict is written or failed."""
        desk = self._desk
        messages = (
            Message("system", desk.prompts.chairman_system(desk.state.spec.chairman)),
            Message("user", desk.prompts.verdict(desk.state)),
        )
        try:
            text = self._logged(REPAIR)
            if text is not None:
                await desk.post(_outcome(self._read(text)))
                return
            text = self._logged(VERDICT)
            before: tuple[Body, ...] = ()
            if text is None:
                refused = ending_refused(desk, self._seat)
                if refused is not None:
                    await desk.post(refused)
                    return
                answer = await self._tries.answer(VERDICT, messages)
                text, before = answer.text, (answer.event,)
            read = self._read(text)
            if read.valid or not desk.budget.take_extra(self._seat.vendor, reserve=False):
                await desk.post(*before, _outcome(read))
                return
            if before:
                await desk.post(*before)
            request = desk.prompts.repair(read.errors, verdict=True)
            answer = await self._tries.answer(REPAIR, with_repair(messages, text, request))
            await desk.post(answer.event, _outcome(self._read(answer.text)))
        except Failed as exc:
            await desk.post(("verdict_failed", {"error": exc.error.kind, "message": str(exc)}))

    def _logged(self, purpose: str) -> str | None:
        """Return what the chairman answered before the process died, or None."""
        calls = reversed(self._desk.state.verdict_calls)
        return next((call.text for call in calls if call.purpose == purpose and call.text), None)

    def _read(self, text: str) -> VerdictText:
        return read_verdict(text, options=self._desk.state.spec.brief.options)


def _outcome(read: VerdictText) -> Body:
    if read.valid:
        return "verdict_written", {"verdict": read.to_json()}
    message = "the chairman's verdict can't be read: " + "; ".join(read.errors)
    return "verdict_failed", {"error": "protocol", "message": message}
