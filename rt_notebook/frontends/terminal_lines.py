"""What a debate says in a terminal: the live view's messages as lines with some colour in them.

Owns wording and layout of the running transcript. Must not know threads, prompts or streams: text
goes in as it came and comes out without anything that a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rich.style import Style
from rich.text import Text

from rt_notebook.frontends.gate_words import gate_heading, gate_hint
from rt_notebook.frontends.live_parts import Message
from rt_notebook.rendering.palette import ALERT
from rt_notebook.rendering.plain import cells, clip, cut_cells, one_line, plain, wrap
from rt_notebook.rendering.wording import money, plural

DIM: Final = Style(dim=True)
BOLD: Final = Style(bold=True)
WARN: Final = Style(color=ALERT)

LABEL: Final = 9
"""Columns of the words in front of a reply's points."""
_INDENT: Final = "    "
# Columns that a long head leaves for the text behind it.
_LEAST: Final = 20
_ASKING: Final = (f"{_INDENT}… asking ", DIM)
_QUESTION_LIMIT: Final = 2_000
_POINT_LIMIT: Final = 600
_EXCERPT: Final = 300
_POINTS: Final = (("disagree", "against"), ("new", "new"), ("assumptions", "assumes"))
_TONES: Final[Mapping[str, Style]] = {"warning": WARN, "good": BOLD}


def hanging(head: Sequence[tuple[str, Style | None]], text: str, width: int) -> list[Text]:
    """Return text wrapped behind a styled head, its further lines set under its beginning.

    Args:
        head: words with their styles; joined as they are.
        text: made harmless here.
        width: columns.
    """
    room = max(8, width - _LEAST)
    safe: list[tuple[str, Style | None]] = []
    for words, style in head:
        shown = _fitted(_on_line(words), room)
        room -= cells(shown)
        safe.append((shown, style))
    front = "".join(words for words, _ in safe)
    lines = [Text(row) for row in wrap(plain(text), width, " " * cells(front), front)]
    place = 0
    for words, style in safe:
        if style is not None:
            lines[0].stylize(style, place, place + len(words))
        place += len(words)
    return lines


def flow(parts: Sequence[tuple[str, Style]], width: int) -> list[Text]:
    """Return styled parts side by side, two columns apart; one that doesn't fit begins a line."""
    lines = [Text("")]
    for words, style in parts:
        shown = _fitted(_on_line(words), width - len(_INDENT))
        if lines[-1].plain.strip() and cells(lines[-1].plain) + 2 + cells(shown) > width:
            lines.append(Text(_INDENT))
        elif lines[-1].plain:
            lines[-1].append("  ")
        lines[-1].append(shown, style)
    return lines


def _on_line(words: str) -> str:
    """Return harmless words on one line, their spaces kept."""
    return plain(words[:400]).replace("\n", " ")


def _fitted(words: str, width: int) -> str:
    return words if cells(words) <= width else cut_cells(words, max(0, width - 1)) + "…"


def numbered(labels: Sequence[str]) -> str:
    """Return labels on one line, each behind the number that stands for it."""
    return " · ".join(f"{n} {one_line(label, 80)}" for n, label in enumerate(labels, 1))


def rule(title: str, width: int, right: str = "") -> Text:
    """Return a line with a title in it and a few words at its end."""
    title = _fitted(one_line(title), max(8, width - 12))
    right = one_line(right, 60)
    fits = right and cells(title) + cells(right) + 12 <= width
    tail = f" {right} ──" if fits else ""
    fill = "─" * max(2, width - cells(title) - cells(tail) - 4)
    line = Text(f"── {title} {fill}{tail}", style=DIM)
    line.stylize(Style(bold=True, dim=False), 3, 3 + len(title))
    return line


class Transcript:
    """Turns messages into lines; remembers the seats' colours and what was used so far.

    Args:
        chips: True where a stance may stand on its colour; else it stands in brackets.
    """

    def __init__(self, *, chips: bool = True) -> None:
        self._chips = chips
        self._colors: dict[str, str] = {}
        self._used = ""

    def lines(self, messages: Sequence[Message], width: int) -> list[Text]:
        """Return what is printed for messages that belong together."""
        for message in messages:
            if message["type"] == "progress":
                self._used = _used(message)
        found: list[Text] = []
        for message in messages:
            maker = self._MAKERS.get(message["type"])
            if maker is not None:
                found += maker(self, message, width)
        return found

    def name(self, seat: str) -> tuple[str, Style]:
        """Return a seat's name in its colour."""
        color = self._colors.get(seat)
        return one_line(seat, 60), Style(color=color, bold=True) if color else BOLD

    def asked(self, seats: Sequence[str], width: int) -> list[Text]:
        """Return the line that names the seats now at work."""
        return hanging([_ASKING], ", ".join(one_line(seat, 60) for seat in seats), width)

    def _chip(self, message: Message) -> tuple[str, Style]:
        label = one_line(message.get("label") or "not readable", 80)
        color = message.get("color")
        if not self._chips or color is None:
            return f"[{label}]", BOLD
        return f" {label} ", Style(color=message["ink"], bgcolor=color)

    def _header(self, message: Message, width: int) -> list[Text]:
        self._colors = {seat["name"]: seat["color"] for seat in message["seats"]}
        question, left_out = clip(plain(message["question"]).strip(), _QUESTION_LIMIT)
        more = f" ({left_out:,} more characters)" if left_out else ""
        lines = [rule("Roundtable", width, message["id"])]
        first, _, rest = (question + more).partition("\n")
        rows = [*wrap(first, width), *(wrap(rest, width, "  ") if rest else [])]
        lines += [Text(row, style=BOLD) for row in rows]
        for number, option in enumerate(message["options"], 1):
            color = Style(color=option["color"], bold=True)
            lines += hanging([(f"  {number:>2}  ", color)], option["label"], width)
        if message["banner"]:
            lines += [Text(row, style=DIM) for row in wrap(plain(message["banner"]), width, "! ")]
        for seat in message["seats"]:
            traits = " · ".join(
                filter(None, (seat["model"], seat["role"], "not counted" if seat["hidden"] else ""))
            )
            lines += hanging([("  ", None), self.name(seat["name"]), ("  ", None)], traits, width)
        if message["vendors"]:
            goes = f"The brief goes to {', '.join(message['vendors'])}."
            lines += hanging([("  ", None)], goes, width)
        return lines

    def _standing(self, message: Message, width: int) -> list[Text]:
        lines = [rule("So far", width, self._used)]
        for seat, label in message["positions"]:
            lines += hanging([("  ", None), self.name(seat), ("  ", None)], label, width)
        return lines

    def _round(self, message: Message, width: int) -> list[Text]:
        number = message["round"]
        title = "Opening" if number == 0 else f"Round {number} of {message['rounds']}"
        return [Text(""), rule(title, width, self._used if number else "")]

    def _asked(self, message: Message, width: int) -> list[Text]:
        repair = message.get("repair")
        why = "its reply wasn't in form" if repair else f"try {message.get('attempt', 1)}"
        head = [_ASKING, self.name(message["seat"]), (" ", None)]
        return hanging(head, f"again: {why}", width)

    def _reply(self, message: Message, width: int) -> list[Text]:
        head = [self.name(message["seat"]), self._chip(message)]
        if message.get("changed_from"):
            head.append((f"changed, was {one_line(message['changed_from'], 60)}", BOLD))
        if "took_ms" in message:
            head.append((f"{message['took_ms'] / 1000:.1f} s", DIM))
        lines = flow(head, width)
        errors = message.get("errors", [])
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            lines += hanging([(f"{_INDENT}not in form: ", WARN)], errors[0] + more, width)
            text = one_line(message["text"], _EXCERPT)
            return lines + (hanging([(_INDENT, None)], text, width) if text else [])
        return lines + self._points(message, width)

    def _speech(self, message: Message, width: int) -> list[Text]:
        took = f"{message['took_ms'] / 1000:.1f} s" if "took_ms" in message else ""
        lines = flow([self.name(message["seat"]), (took, DIM)], width)
        lines += [Text(row) for row in wrap(plain(message["text"]), width, _INDENT)]
        for tool in message["tools"]:
            used = one_line(tool["preview"], _EXCERPT)
            lines += hanging([(_INDENT, None), (f"- {tool['name']}  ", DIM)], used, width)
        return lines

    def _points(self, message: Message, width: int) -> list[Text]:
        lines: list[Text] = []
        if message.get("agree_with"):
            lines += _labelled("with", ", ".join(message["agree_with"]), width)
        for field, label in _POINTS:
            for number, point in enumerate(message.get(field, ())):
                text = one_line(_resolved(point, message["text"]), _POINT_LIMIT)
                lines += _labelled("" if number else label, text, width, bullet=True)
        if message.get("question"):
            text = one_line(_resolved(message["question"], message["text"]), _POINT_LIMIT)
            lines += _labelled("asks", text, width)
        return lines

    def _failed(self, message: Message, width: int) -> list[Text]:
        why = ": ".join(filter(None, (message["kind"], one_line(message["message"], _POINT_LIMIT))))
        if message.get("retry_in_s") is not None:
            why += f" (again in {message['retry_in_s']:.0f} s)"
        elif message.get("down"):
            why += " (not asked again until the debate is resumed)"
        elif message.get("next"):
            why += f" ({message['next']})"
        return hanging([self.name(message["seat"]), ("  failed  ", WARN)], why, width)

    def _gate(self, message: Message, width: int) -> list[Text]:
        maker: Callable[[Message, int], list[Text]] | None = {
            "open": _gate_open,
            "held": _gate_held,
            "answered": _gate_answered,
            "closed": _gate_closed,
        }.get(message["state"])
        return maker(message, width) if maker is not None else []

    def _notice(self, message: Message, width: int) -> list[Text]:
        style = _TONES.get(message["tone"])
        return [Text(row, style=style or "") for row in wrap(plain(message["text"]), width)]

    def _note(self, message: Message, width: int) -> list[Text]:
        return hanging([(f"{one_line(message['source'], 40)}: ", BOLD)], message["text"], width)

    def _verdict(self, message: Message, width: int) -> list[Text]:
        by = f"{one_line(message['by'], 60)} ({one_line(message['model'], 60)})"
        if message["state"] == "started":
            title = rule(message["word"], width, self._used)
            return [Text(""), title, *hanging([_ASKING], by, width)]
        if message["state"] == "failed":
            failed = f"the {message['word'].lower()} failed  "
            return hanging([(failed, WARN)], message["message"], width)
        if "text" in message:
            return [Text(row) for row in wrap(plain(message["text"]), width, _INDENT)]
        return flow([("verdict", BOLD), self._chip(message), (f"by {by}", DIM)], width)

    def _concluded(self, message: Message, width: int) -> list[Text]:
        used = f" · {self._used}" if self._used else ""
        status, text = message["status"], message["text"]
        title = text if text.startswith(status) else f"{status}: {text}"
        return [Text(""), rule(title + used, width)]

    _MAKERS: Final[Mapping[str, Callable[[Transcript, Message, int], list[Text]]]] = {
        "header": _header,
        "standing": _standing,
        "round": _round,
        "asked": _asked,
        "reply": _reply,
        "speech": _speech,
        "failed": _failed,
        "gate": _gate,
        "notice": _notice,
        "note": _note,
        "verdict": _verdict,
        "concluded": _concluded,
    }


def _labelled(label: str, text: str, width: int, *, bullet: bool = False) -> list[Text]:
    head = [(_INDENT, None), (f"{label:<{LABEL}}", DIM), ("- " if bullet else "", None)]
    return hanging(head, text, width)


def _resolved(point: str | list[int], text: str) -> str:
    """Return a point's words; a pair says where they stand in the text, in UTF-16 units."""
    if isinstance(point, str):
        return point
    start, end = point
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")


def _used(progress: Message) -> str:
    calls = plural(progress["calls"], "call") if progress["calls"] else ""
    cost = money(progress["cost"]) if progress["cost"] else ""
    return " · ".join(filter(None, (calls, cost)))


def _gate_open(message: Message, width: int) -> list[Text]:
    lines = [Text(""), rule(gate_heading(message), width)]
    lines += [Text(row, style=DIM) for row in wrap(gate_hint(message), width)]
    for question in message["questions"]:
        who = ", ".join(one_line(name, 60) for name in question["askers"])
        head = [(question["id"], BOLD), (f"  {who} asks: ", DIM)]
        lines += hanging(head, question["text"], width)
        if question["choices"]:
            named = numbered(question["choices"])
            lines += hanging([(_INDENT, None)], named, width)
    return lines


def _gate_held(message: Message, width: int) -> list[Text]:
    left = message["holds_left"]
    return [Text(f"more time given; {plural(left, 'more extension')} left", style=DIM)]


def _gate_answered(message: Message, width: int) -> list[Text]:
    who = "you" if message["source"] == "person" else one_line(message["source"] or "somebody", 40)
    lines: list[Text] = []
    for answer in message["answers"]:
        said = f"{one_line(answer['question'], 200)} → {answer['text']}"
        lines += hanging([(f"{who}: ", BOLD)], said, width)
    if message["message"]:
        lines += hanging([(f"{who}: ", BOLD)], message["message"], width)
    by = "" if who == "you" else f"{who} "
    return lines or [Text(f"{by}continued without an answer", style=DIM)]


def _gate_closed(message: Message, width: int) -> list[Text]:
    words = {"timeout": "The time is up: it goes on.", "clock": "The debate's time is used up."}
    text = words.get(message["why"])
    return [Text(text, style=DIM)] if text else []
