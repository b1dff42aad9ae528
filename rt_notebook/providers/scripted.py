"""Scripted seats: offline, free, deterministic. They play a script, or answer from the brief.

Shipped as a product: demonstrations, dry runs and tests of every fault use it in place of mocks.
"""

from __future__ import annotations

import asyncio
import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rt_notebook.contract.prompts import shown_names
from rt_notebook.contract.render import render_reply
from rt_notebook.contract.text import without_empty
from rt_notebook.domain.brief import Brief
from rt_notebook.domain.positions import at_round
from rt_notebook.domain.reply import PASS, Reply
from rt_notebook.domain.script import Script, Step, scripted
from rt_notebook.domain.seat import Seat
from rt_notebook.domain.snapshot import final_tally, tally_at
from rt_notebook.domain.state import State
from rt_notebook.domain.turn import SUMMARY
from rt_notebook.domain.usage import Usage
from rt_notebook.errors import CallError, SeatError, one_line
from rt_notebook.providers.base import Call, Completion, Progress
from rt_notebook.providers.scripted_talk import scripted_summary, speech

_FREE: Final = Usage(cost=0.0)
_PASS: Final[Step] = {"reply": PASS}


class ScriptProvider:
    """Plays a script, a step a try; used up, it passes.

    Args:
        steps: the script.
        position: tries that the log already holds: where to go on after a resume.
        names: seats' names as the others see them, by real name: scripts may name seats by either.
    """

    def __init__(
        self, steps: Sequence[Step], position: int = 0, names: Mapping[str, str] | None = None
    ) -> None:
        self._steps = steps
        self._position = position
        self._names = names or {}

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Take the next step.

        Raises:
            CallError: the step says so.
        """
        step = self._steps[self._position] if self._position < len(self._steps) else _PASS
        self._position += 1
        if step.get("wait_s"):
            await asyncio.sleep(step["wait_s"])
        if "hang" in step:
            await asyncio.get_running_loop().create_future()
        if "fail" in step:
            message = step.get("message") or f"scripted failure: {step['fail']}"
            raise CallError(message, kind=step["fail"], retry_after_s=step.get("retry_after_s"))
        text = self._text(step, call)
        progress(len(text))
        return Completion(text, usage=_FREE, model="scripted")

    def _text(self, step: Step, call: Call) -> str:
        if "say" not in step:
            return str(step["reply"] if "reply" in step else step["garbage"])
        fields = step["say"]
        named = [self._names.get(name, name) for name in fields["agree_with"]]
        options = call.brief.options if call.brief else ()
        return render_reply(Reply(**{**fields, "agree_with": named}), options)


class BelievableProvider:
    """Answers from the brief alone, the same for the same brief, seat and debate so far.

    Args:
        seat: who speaks; its lens and mood colour the words.
        state: gives the debate so far.
        variant: another voice for the same seat (`scripted:NAME`).
    """

    def __init__(self, seat: Seat, state: Callable[[], State], variant: str = "") -> None:
        self._seat = seat
        self._state = state
        self._variant = variant

    async def complete(self, call: Call, progress: Progress) -> Completion:
        """Give a reply, or a verdict when the seat chairs."""
        state = self._state()
        text = self._speech(call, state) if state.discusses else self._reply(call, state)
        progress(len(text))
        return Completion(text, usage=_FREE, model="scripted")

    def _speech(self, call: Call, state: State) -> str:
        if call.purpose == SUMMARY:
            return scripted_summary(state)
        return speech(self._seat, state, call.round, self._variant)

    def _reply(self, call: Call, state: State) -> str:
        brief = state.spec.brief
        if call.purpose == "verdict" or (
            call.purpose == "repair" and self._seat.name == state.chairman_name
        ):
            return scripted_verdict(state)
        if call.round == 0:
            return self._opening(brief)
        return self._critique(brief, state, call.round)

    def _dice(self, *parts: object) -> int:
        words = "\0".join(str(part) for part in (self._seat.name, self._variant, *parts))
        return int.from_bytes(hashlib.sha256(words.encode("utf-8", "replace")).digest()[:4], "big")

    def _opening(self, brief: Brief) -> str:
        stance = self._dice(brief.question, *brief.options) % len(brief.options)
        other = brief.options[(stance + 1) % len(brief.options)]
        label = brief.options[stance]
        asks = self._dice(brief.question, "asks") % 2 == 0 or not brief.known
        return _reply(
            stance=f"opt-{stance + 1}",
            disagree=[f"“{other}” is argued without saying what it costs if it goes wrong."],
            new=[
                f"Seen for {self._view()}, “{label}” leaves the most room to correct course.",
                *self._fact(brief),
            ],
            assumptions=[*brief.assumed[:1], f"Nothing outside the brief rules out “{label}”."],
            question=f"What would make you give up “{label}” within a month?" if asks else None,
        )

    def _critique(self, brief: Brief, state: State, number: int) -> str:
        own = at_round(state.history, number - 1).get(self._seat.name)
        if own is None:
            return self._opening(brief)
        tally = tally_at(state, number - 1)
        leading = max(tally, key=lambda key: len(tally[key])) if tally else own.key
        moves = (
            leading != own.key
            and len(tally[leading]) > len(tally.get(own.key, []))
            and self._seat.mood not in ("contrarian", "grill")
            and self._dice(brief.question, "moves", number) % 3 > 0
        )
        key = leading if moves else own.key
        shown = shown_names(state.spec)
        allies = [shown[name] for name in tally.get(key, []) if name != self._seat.name]
        if not moves and number > 1 and self._dice(brief.question, "passes", number) % 2 == 0:
            return PASS
        label = brief.label_of(key) or key
        rival = next((brief.label_of(other) for other in tally if other != key), None)
        objection = (
            f"“{rival}” still rests on an assumption that nobody has checked." if rival else "none"
        )
        point = (
            f"The argument for “{label}” holds for {self._view()} too; I change my stance."
            if moves
            else f"In round {number} nothing was said that outweighs “{label}” for {self._view()}."
        )
        return _reply(
            stance=key if key.startswith("opt-") else f"other: {label}",
            agree_with=allies,
            disagree=[objection],
            new=[point, *self._answers(state)],
            assumptions=[*brief.assumed[:1]] or ["The facts in the brief stay as they are."],
        )

    def _view(self) -> str:
        return self._seat.lens or {"grill": "risk", "builder": "feasibility"}.get(
            self._seat.mood or "", "the goal"
        )

    def _fact(self, brief: Brief) -> list[str]:
        if not brief.known:
            return []
        fact = brief.known[self._dice("fact") % len(brief.known)]
        return [f"The brief states: {one_line(fact, 160)}"]

    def _answers(self, state: State) -> list[str]:
        notes = [
            note for note in state.notes if note.question is not None and note.round < state.round
        ]
        return (
            [f"The person's answer counts here: {one_line(notes[-1].text, 120)}"] if notes else []
        )


def scripted_verdict(state: State) -> str:
    """Return the built-in chairman's verdict, from the log alone.

    The option with most seats, who stands elsewhere, and what the majority takes for granted. Seats
    stand under the names that the debate shows.
    """
    brief, shown = state.spec.brief, shown_names(state.spec)
    tally = final_tally(state)
    options = {key: names for key, names in tally.items() if key in brief.option_ids}
    best = max((len(names) for names in options.values()), default=0)
    leaders = [key for key, names in options.items() if len(names) == best]
    if len(leaders) == 1:
        pick = leaders[0]
        named = ", ".join(shown[name] for name in tally[pick])
        reason = (
            f"{best} of {len(state.spec.counted)} counted seats end at "
            f"“{brief.label_of(pick)}” ({named})."
        )
    else:
        pick, reason = "none", "No option has more seats than every other; a person decides."
    dissent = [
        f"- {', '.join(shown[name] for name in names)}: {brief.label_of(key)}"
        for key, names in tally.items()
        if key != pick
    ]
    unknown = [f"- {one_line(question.text, 300)}" for question in state.open_questions()]
    lines = [
        "RECOMMENDATION:",
        pick,
        f"{reason} This verdict was scripted from the tally; no model weighed the arguments.",
        "DISSENT:",
        *(dissent or ["none"]),
        "KILL_CRITERIA:",
        *(_kill_criteria(state, tally.get(pick, [])) or ["none"]),
        "OPEN_QUESTIONS:",
        *(unknown or ["none"]),
    ]
    return "\n".join(lines)


def _kill_criteria(state: State, majority: Sequence[str]) -> list[str]:
    replies = state.final_replies()
    assumed = (
        text
        for name in majority
        if name in replies and (reply := replies[name].reply) is not None
        for text in without_empty(reply.assumptions)[:1]
    )
    return list(dict.fromkeys(f"- this turns out wrong: {one_line(text, 200)}" for text in assumed))


def load_script(path: str) -> Script:
    """Return the script in a TOML file: an array `steps`, each a step as `rt.scripted` takes it.

    Raises:
        SeatError: the file can't be read, or a step is wrong.
    """
    try:
        data: dict[str, Any] = tomllib.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as exc:
        raise SeatError(f"script {path!r} can't be read: {exc.strerror}") from exc
    except (ValueError, RecursionError) as exc:  # of its bytes, its numbers, its path, its depth
        raise SeatError(f"script {path!r} is not TOML: {one_line(str(exc))}") from exc
    steps = data.get("steps")
    if not isinstance(steps, list) or set(data) != {"steps"}:
        raise SeatError(f"script {path!r} must hold one array, [[steps]], and nothing else")
    try:
        return scripted(steps)
    except SeatError as exc:
        raise SeatError(f"script {path!r}: {exc}") from exc


def _reply(**fields: Any) -> str:
    return render_reply(
        Reply(**{name: value for name, value in fields.items() if value is not None})
    )
